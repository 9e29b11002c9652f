"""ErrorRecord ⇄ JSON bytes, exact within one version and tolerant between versions.

The form is one strict JSON object (RFC 8259, UTF-8) with the record's fields under their own names; frames and causes
are arrays in the order of their fields. Three things that JSON can't say are said by an object, which no attribute
value is: `{"float": "nan"}`, also `inf` and `-inf`, and `{"tuple": […]}`.

Between versions: unknown fields are passed over, a missing one gets its default, and so does one whose value this
version doesn't know (a level that was added later). New fields of frames and causes are added at the end.
"""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any, Callable, Mapping, cast, get_args

from errorsink.model import Cause, ErrorRecord, Frame, Handling, Level

__all__ = ["decode", "encode"]


def encode(record: ErrorRecord) -> bytes:
    """The record as JSON bytes.

    Raises:
        TypeError, ValueError, RecursionError: a field holds what the model doesn't allow.
    """
    fields = record._asdict()
    fields["attributes"] = {key: _packed(value) for key, value in record.attributes.items()}
    try:
        return _json(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate, which the model rules out: escaped, it is still strict JSON and comes back as it was.
        return _json(fields, ensure_ascii=True).encode()


def decode(body: bytes) -> ErrorRecord:
    """The record that these bytes hold.

    Raises:
        ValueError: the bytes aren't JSON, or what makes a record is missing: id, time, type, message, stack or
            fingerprint.
    """
    try:
        return _record(json.loads(body, parse_constant=_refused))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _record(data: Any) -> ErrorRecord:
    if not isinstance(data, dict):
        raise ValueError("not an object")
    fields = cast("dict[str, Any]", data)
    values: dict[str, Any] = {}
    for name, read in READERS.items():
        with contextlib.suppress(KeyError, TypeError, ValueError):
            values[name] = read(fields[name])
    missing = set(ErrorRecord._fields) - ErrorRecord._field_defaults.keys() - values.keys()
    if missing:
        raise ValueError(f"no usable {', '.join(sorted(missing))}")
    return ErrorRecord(**values)


def _json(fields: Mapping[str, Any], *, ensure_ascii: bool) -> str:
    return json.dumps(fields, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"))


def _packed(value: Any) -> Any:
    several: Any = value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [_packed(item) for item in several]}
    if isinstance(value, list):
        return [_packed(item) for item in several]
    return value


def _unpacked(value: Any) -> Any:
    coded: Any = value
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [_unpacked(item) for item in coded]
    if isinstance(value, dict) and "float" in value:
        return float(coded["float"])
    if isinstance(value, dict) and "tuple" in value:
        return tuple(_unpacked(item) for item in _items(coded["tuple"]))
    raise ValueError("a kind of value that this version doesn't know")


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


# ------------------------------------------------------------------------------------------------ readers of fields


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _word(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError
        return _text(value)

    return read


def _items(value: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError
    return cast(Any, value)


def _frame(values: Any) -> Frame:
    function, module, file, line, in_app = _items(values)[:5]
    return Frame(_text(function), _text(module), _text(file), _optional(_whole)(line), _flag(in_app))


def _cause(values: Any) -> Cause:
    kind, message, stack = _items(values)[:3]
    return Cause(_text(kind), _text(message), _text(stack))


def _attributes(value: Any) -> dict[str, Any]:
    """Those attributes that this version can read; one of a kind that was added later is passed over alone."""
    if not isinstance(value, dict):
        raise TypeError
    attributes: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        with contextlib.suppress(TypeError, ValueError):
            attributes[key] = _unpacked(item)
    return attributes


READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": _text,
    "time_ns": _whole,
    "type": _text,
    "message": _text,
    "stack": _text,
    "fingerprint": _text,
    "frames": lambda value: tuple(map(_frame, _items(value))),
    "causes": lambda value: tuple(map(_cause, _items(value))),
    "code": _optional(_text),
    "errno": _optional(_text),
    "top_frame": _optional(_text),
    "level": _word(get_args(Level)),
    "handling": _word(get_args(Handling)),
    "control_flow": _flag,
    "pid": _whole,
    "thread_id": _whole,
    "thread_name": _text,
    "main_thread": _flag,
    "trace_id": _optional(_text),
    "span_id": _optional(_text),
    "trace_flags": _whole,
    "attributes": _attributes,
    "owner": _optional(_text),
    "attempt": _optional(_whole),
    "recovered": _optional(_flag),
    "previous_id": _optional(_text),
    "entrypoint": _optional(_text),
    "model": _optional(_text),
    "provider": _optional(_text),
    "repeat_count": _whole,
    "last_time_ns": _optional(_whole),
}
"""How each field of `ErrorRecord` is read and checked; a test holds the two together."""
