"""Keeps what other libraries log about our own calls off the user's terminal.

Without any logging set up, Python prints each WARNING on standard error. Some of these lines have a header's value or
a URL in them, and each tells once more what our own diagnostic tells. So a filter on the loggers concerned drops the
records that are made inside our calls, in our context; everybody else's pass as before.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generator

from opentelemetry.context import attach, detach, set_value

__all__ = ["quiet"]

_LOGGERS = (
    "opentelemetry.util.re",
    "opentelemetry.attributes",
    "opentelemetry.sdk.resources",
    "opentelemetry.exporter.otlp.common.http",
    "opentelemetry.exporter.otlp.proto.common._internal",
    "opentelemetry.exporter.otlp.proto.http._common",
    "opentelemetry.exporter.otlp.proto.http._log_exporter",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "urllib3.connection",
    "urllib3.connectionpool",
    "grpc._channel",
    "grpc._common",
    "grpc._plugin_wrapping",
)

_inside: ContextVar[bool] = ContextVar("errorsink_otel_inside", default=False)


def _is_foreign(_record: logging.LogRecord) -> bool:
    return not _inside.get()


for _name in _LOGGERS:
    logging.getLogger(_name).addFilter(_is_foreign)


@contextmanager
def quiet() -> Generator[None, None, None]:
    """Our own calls of other libraries: not logged, and not traced by the instrumentation of an HTTP client."""
    inside = _inside.set(True)
    suppressed = attach(set_value("suppress_instrumentation", True))
    try:
        yield
    finally:
        detach(suppressed)
        _inside.reset(inside)
