"""Attributes that belong to every report inside a block, and the trace that is active there."""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from errorsink._attributes import attributes as _read
from errorsink._typing import Any

__all__ = ["active_trace", "attributes", "context"]

_attributes: ContextVar[dict[str, Any] | None] = ContextVar("errorsink_attributes", default=None)
attributes = _attributes.get
"""The attributes of the blocks around this call: a dict that is never changed, or None."""


@contextmanager
def context(**given: Any) -> Generator[None, None, None]:
    """Adds attributes to every report made inside the block, in this task and in tasks it starts.

    Inner blocks add to outer ones, and win where names meet; attributes of the report itself win over both. Values
    are read once, when the block is entered. At most 128 attributes are kept of one block.

    Example:
        with errorsink.context(job_id=job.id):
            run(job)
    """
    outer = _attributes.get()
    token = _attributes.set({**(outer or {}), **_read(given)})
    try:
        yield
    finally:
        with suppress(ValueError):  # a generator may be closed in another context, whose attributes these never were
            _attributes.reset(token)


def active_trace() -> tuple[int, int, int] | None:
    """Trace id, span id and flags of the caller's active OpenTelemetry span; None where there is none.

    Where nobody has imported OpenTelemetry there can be no span, so nothing is imported to find out.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    try:
        span = trace.get_current_span().get_span_context()
        trace_id, span_id, flags = span.trace_id, span.span_id, span.trace_flags
        if type(trace_id) is int and type(span_id) is int and 0 < trace_id < 1 << 128 and 0 < span_id < 1 << 64:
            return trace_id, span_id, int(flags) & 0xFF
    except Exception:  # noqa: BLE001 - a foreign tracer's fault leaves the report without a trace, not unsent
        return None
    return None
