"""A record in OpenTelemetry's words: names, severity, times and ids. Pure; imports no OpenTelemetry.

Names: https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-logs/ and /registry/attributes/code/.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from typing import Mapping, NamedTuple

from errorsink.model import AttributeValue, ErrorRecord, Level

__all__ = [
    "EXCEPTION",
    "SPAN_NAME",
    "Parent",
    "check",
    "event_attributes",
    "log_attributes",
    "new_ids",
    "parent",
    "severity",
    "span_attributes",
    "times",
]

EXCEPTION = "exception"
"""The event's name, for a log and for a span's event."""
SPAN_NAME = "report_error"

Attributes = dict[str, AttributeValue]

_MAX_TIME_NS = 2**63 - 1
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1
_OVERHEAD = 400
"""Bytes of a record beside its texts: the names of its attributes, ids, times, and protobuf's tags."""

DEBUG, INFO, WARN, ERROR, FATAL = (5, "DEBUG"), (9, "INFO"), (13, "WARN"), (17, "ERROR"), (21, "FATAL")
_SEVERITIES: Mapping[Level, tuple[int, str]] = {
    "debug": DEBUG,
    "info": INFO,
    "warning": WARN,
    "error": ERROR,
    "critical": FATAL,
}


class Parent(NamedTuple):
    """The caller's span."""

    trace_id: int
    span_id: int
    flags: int


def severity(record: ErrorRecord) -> tuple[int, str]:
    """The number and the text of OpenTelemetry's severity."""
    if record.control_flow:
        return DEBUG
    if record.handling == "uncaught_exception" and record.main_thread:
        return FATAL
    return _SEVERITIES.get(record.level, ERROR)


def log_attributes(record: ErrorRecord) -> Attributes:
    """All attributes of a log. Ours come last: a provider that must drop some drops the first ones."""
    return {**record.attributes, **event_attributes(record), **_common(record)}


def span_attributes(record: ErrorRecord) -> Attributes:
    """The attributes of a span: those of the log but for the exception's own, which its event carries."""
    return {**record.attributes, **_common(record)}


def event_attributes(record: ErrorRecord) -> Attributes:
    """The exception itself."""
    return {
        "exception.type": record.type,
        "exception.message": record.message,
        "exception.stacktrace": record.stack,
    }


def _common(record: ErrorRecord) -> Attributes:
    optional: dict[str, AttributeValue | None] = {
        "error.type": record.type,
        "errorsink.id": record.id,
        "errorsink.handling": record.handling,
        "errorsink.fingerprint": record.fingerprint,
        "errorsink.code": record.code,
        "errorsink.owner": record.owner,
        "errorsink.attempt": record.attempt,
        "errorsink.recovered": record.recovered,
        "errorsink.previous_id": record.previous_id,
        "thread.id": record.thread_id or None,
        "thread.name": record.thread_name or None,
    }
    if record.frames:
        frame = record.frames[-1]
        optional["code.function.name"] = f"{frame.module}.{frame.function}" if frame.module else frame.function
        optional["code.file.path"] = frame.file
        optional["code.line.number"] = frame.line
    if record.repeat_count > 1:
        optional["errorsink.repeat_count"] = record.repeat_count
        if record.last_time_ns is not None:
            optional["errorsink.last_time"] = _iso(times(record)[1])
    return {name: value for name, value in optional.items() if value is not None}


def times(record: ErrorRecord) -> tuple[int, int]:
    """The moments of the report and of the last one merged into it: nanoseconds, in order, that protobuf can hold."""
    first = min(max(record.time_ns, 0), _MAX_TIME_NS)
    return first, min(max(record.last_time_ns or 0, first), _MAX_TIME_NS)


def _iso(time_ns: int) -> str:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}Z"


def parent(record: ErrorRecord) -> Parent | None:
    """The caller's span, where there was an active one."""
    if not record.trace_id or not record.span_id:
        return None
    ids = int(record.trace_id, 16), int(record.span_id, 16)
    return Parent(*ids, record.trace_flags & 0xFF) if all(ids) else None


def new_ids(record: ErrorRecord) -> tuple[int, int]:
    """A trace id and a span id that are the record's own.

    They are derived from its id, so that a record that is sent again, even by another process, is the same span;
    and hashed, since samplers take a trace id for evenly random.
    """
    digest = hashlib.blake2b(record.id.encode(), digest_size=24).digest()
    return int.from_bytes(digest[:16], "big") or 1, int.from_bytes(digest[16:], "big") or 1


def check(texts: tuple[str, ...], attributes: Mapping[str, AttributeValue]) -> int:
    """The bytes that a record takes on the wire, about; protobuf must be able to hold all of it.

    Raises:
        ValueError, TypeError: it can't. One such record would otherwise cost its whole batch.
    """
    size = _OVERHEAD + sum(map(_bytes, texts))
    for key, value in attributes.items():
        size += _bytes(key) + 8
        if type(value) is str:  # nearly all are
            size += _bytes(value) + 4
        else:
            size += sum(map(_size, value)) if isinstance(value, (list, tuple)) else _size(value)
    return size


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _size(value: object) -> int:
    if isinstance(value, str):
        return _bytes(value) + 4
    if isinstance(value, int):
        if not _MIN_INT <= value <= _MAX_INT:
            raise ValueError("an attribute's integer needs more than 64 bits")
        return 12
    if isinstance(value, float):
        return 12
    raise TypeError(f"an attribute's value is a {type(value).__name__}")
