"""The envelope: one `ErrorRecord` as a log that Datadog's Error Tracking reads. Pure functions.

Error Tracking takes a log with `error.kind` or `error.stack`, a service and a status of error or above; Datadog's
pre-processing reads `ddsource`, `hostname`, `service`, `status`, `ddtags`, `timestamp` and `dd.trace_id` at the top.
What the user gave stands under `ctx`, where it can't take the place of any of these.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Iterator, Mapping, Sequence, TypeGuard

from errorsink.model import MAX_ATTRIBUTES, MAX_CAUSES, MAX_FRAMES, MAX_MESSAGE, MAX_STACK, ErrorRecord, Frame
from errorsink_datadog._resource import Resource

__all__ = ["MAX_LOG", "encode", "envelope"]

MAX_LOG = 1_000_000
"""Bytes of one log before compression; a larger one would be cut by the intake, and answered 202."""
MAX_KEY = 49
"""Characters of an attribute's key; Datadog asks for fewer than 50."""

OLDEST = 17 * 3_600_000
NEWEST = 3_600_000
"""Milliseconds before and after now that a timestamp may be; the intake takes 18 hours and 2 hours, no more."""

STATUS = {"debug": "debug", "info": "info", "warning": "warn", "error": "error", "critical": "critical"}
"""The status of each level. Datadog takes a word that it doesn't know for `info`."""

_NAME = re.compile(r"[\w.<>:/@+-]{1,200}")
_ERRNO = re.compile(r"E[A-Z0-9]{1,23}")
_SURROGATES = re.compile("[\ud800-\udfff]")
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode(record: ErrorRecord, resource: Resource, now_ms: int) -> bytes:
    """The record's log as strict JSON in UTF-8, of `MAX_LOG` bytes at most.

    A number that JSON can't say becomes a string, a surrogate U+FFFD. A log that would be larger loses, in this order,
    the length of its attributes, all of its attributes, and the length of everything but its message and stack;
    `errorsink.cut` says so.
    """
    try:
        fields = _json(_fields(record, resource, now_ms))
        data = f'{fields[:-1]},"frames":{_frames_json(record.frames)}}}'.encode()
    except (ValueError, TypeError, RecursionError):  # not finite, not plain, a surrogate, too deep
        data = _json(_plain(envelope(record, resource, now_ms))).encode()
    if len(data) > MAX_LOG:
        for smaller in _shrunk(_plain(envelope(record, resource, now_ms))):
            data = _json(smaller).encode()
            if len(data) <= MAX_LOG:
                break
    return data


def envelope(record: ErrorRecord, resource: Resource, now_ms: int) -> dict[str, Any]:
    """The record's log as a dictionary. `now_ms` is the time of sending, in milliseconds since the epoch."""
    return {**_fields(record, resource, now_ms), "frames": _frames(record.frames)}


def _fields(record: ErrorRecord, resource: Resource, now_ms: int) -> dict[str, Any]:
    """All but the frames."""
    message = _cut(record.message, MAX_MESSAGE)
    time_ms = record.time_ns // 1_000_000
    timestamp = min(max(time_ms, now_ms - OLDEST), now_ms + NEWEST)
    log: dict[str, Any] = {
        "ddsource": "python",
        "ddtags": resource.tags,
        "hostname": resource.hostname,
        "service": resource.service or _name(record.entrypoint or "python"),
        "status": _status(record),
        "timestamp": timestamp,
        "message": message or record.type,
        "error": _error(record, message),
        "errorsink": _own(record, time_ms if timestamp != time_ms else None),
    }
    for name in ("top_frame", "entrypoint", "model", "provider"):
        value: str | None = getattr(record, name)
        if value is not None:
            log[name] = _name(value)
    if record.errno is not None:
        log["errno"] = record.errno if _ERRNO.fullmatch(record.errno) else "other"
    if record.thread_name:
        log["logger"] = {"name": "errorsink", "thread_name": record.thread_name}
    if record.trace_id is not None and record.span_id is not None:
        log.update(_trace(record.trace_id, record.span_id))
    if record.attributes:
        log["ctx"] = _context(record.attributes)
    return log


def _status(record: ErrorRecord) -> str:
    """By the level; `emergency` where the program goes down, as Datadog reads OpenTelemetry's FATAL."""
    if record.control_flow:
        return "debug"
    if record.handling == "uncaught_exception" and record.main_thread:
        return "emergency"
    return STATUS[record.level]


def _error(record: ErrorRecord, message: str) -> dict[str, Any]:
    error: dict[str, Any] = {
        "kind": _name(record.type),
        "message": message,
        "stack": _cut(record.stack, MAX_STACK),
        "fingerprint": record.fingerprint,
        "handling": record.handling,
    }
    if record.code is not None:
        error["code"] = record.code
    if record.causes:
        error["causes"] = [
            {
                "message": _cut(cause.message, MAX_MESSAGE),
                "type": _name(cause.type),
                "stack": _cut(cause.stack, MAX_STACK),
            }
            for cause in record.causes[:MAX_CAUSES]
        ]
    return error


def _own(record: ErrorRecord, time_ms: int | None) -> dict[str, Any]:
    """What errorsink knows and Datadog has no name for. `time` is there where `timestamp` had to differ from it."""
    own: dict[str, Any] = {"id": record.id}
    if record.repeat_count != 1:
        own["repeat_count"] = record.repeat_count
    if time_ms is not None:
        own["time"] = time_ms
    if record.last_time_ns is not None:
        own["last_time"] = record.last_time_ns // 1_000_000
    for name in ("owner", "attempt", "recovered", "previous_id"):
        value = getattr(record, name)
        if value is not None:
            own[name] = value
    return own


def _trace(trace_id: str, span_id: str) -> dict[str, Any]:
    """The trace's ids in both notations: Datadog's decimal 64 bits, and OpenTelemetry's hexadecimal digits.

    The names stay whole, as Datadog's tracers write them into logs: what stands between reads them by these names.
    """
    try:
        low, span = int(trace_id[-16:], 16), int(span_id, 16)
    except ValueError:
        return {}
    return {
        "dd.trace_id": str(low),
        "dd.span_id": str(span),
        "otel.trace_id": trace_id,
        "otel.span_id": span_id,
    }


def _context(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The user's attributes, with keys that Datadog takes; of two keys that become one the first stays."""
    context: dict[str, Any] = {}
    for key, value in attributes.items():
        context.setdefault(key if len(key) <= MAX_KEY else key[: MAX_KEY - 1] + "…", value)
        if len(context) == MAX_ATTRIBUTES:
            break
    return context


def _name(value: str) -> str:
    """A name that passes the strict pattern, or `other`."""
    return value if _NAME.fullmatch(value) else "other"


def _frames(frames: tuple[Frame, ...]) -> list[dict[str, Any]]:
    kept = frames if len(frames) <= MAX_FRAMES else frames[:3] + frames[3 - MAX_FRAMES :]
    return [
        {"function": function, "module": module, "file": file, "line": line, "in_app": in_app}
        for function, module, file, line, in_app in kept
    ]


@lru_cache(maxsize=128)
def _frames_json(frames: tuple[Frame, ...]) -> str:
    """The frames' JSON. Most errors come from few places, and the frames are half of the work."""
    return _json(_frames(frames))


def _cut(text: str, limit: int) -> str:
    """The text within its limit. A record's texts keep to them; so this only holds what a sink of its own may pass."""
    if len(text) <= limit:
        return text
    head = limit // 4
    return f"{text[:head]}…{text[head + 1 - limit :]}"


# ------------------------------------------------------------------------------------------- what isn't plain, or large


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))


def _plain(value: Any, text_limit: int = MAX_LOG, depth: int = 8) -> Any:
    """A value of JSON's own types for any value; texts are cut to the limit, and lists and nesting are bounded."""
    if isinstance(value, str):
        text = _SURROGATES.sub("\ufffd", value)
        return text if len(text) <= text_limit else text[: text_limit - 1] + "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else "<an integer of more than 64 bits>"
    if isinstance(value, float):
        return float(value) if value - value == 0 else repr(float(value))
    if depth > 0 and _is_mapping(value):
        return {_plain(str(key), text_limit): _plain(item, text_limit, depth - 1) for key, item in value.items()}
    if depth > 0 and _is_list(value):
        return [_plain(item, text_limit, depth - 1) for item in value[:1_000]]
    return f"<{type(value).__name__}>"


def _shrunk(log: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Smaller and smaller forms of a log that is too large. The last one is always small enough: its message and stack
    have at most 24,000 characters together, its tags 25,700, and each of its other texts, fewer than 200, has 256."""
    own = {**log["errorsink"], "cut": True}
    attributes = log.get("ctx", {})
    for limit in (4_000, 256):
        yield {**log, "errorsink": own, "ctx": {key: _short(value, limit) for key, value in attributes.items()}}
    yield {key: value for key, value in {**log, "errorsink": own}.items() if key != "ctx"}
    error = log["error"]
    small: dict[str, Any] = {key: _plain(value, 256) for key, value in log.items() if key != "ctx"}
    small["error"].update(message=error["message"], stack=error["stack"])
    small["errorsink"]["cut"] = True
    yield {**small, "message": log["message"], "ddtags": log["ddtags"]}


def _short(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else value[: limit - 1] + "…"
    return [_short(item, limit) for item in value[:20]] if _is_list(value) else value
