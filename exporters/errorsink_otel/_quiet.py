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

__all__ = ["building", "quiet"]

_LOGGERS = (
    "opentelemetry.util.re",
    "opentelemetry.attributes",
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


_DETECTORS = "opentelemetry.sdk.resources"
"""They run in threads of their own, where no context tells whose work it is."""

_builders = 0


def _is_foreign(_record: logging.LogRecord) -> bool:
    return not _inside.get()


for _name in _LOGGERS:
    logging.getLogger(_name).addFilter(_is_foreign)

logging.getLogger(_DETECTORS).addFilter(lambda _record: not _builders)


@contextmanager
def building() -> Generator[None, None, None]:
    """The SDK is imported and a resource made: what is wrong with its variables is told by us, and once."""
    global _builders
    _builders += 1
    try:
        yield
    finally:
        _builders -= 1


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
