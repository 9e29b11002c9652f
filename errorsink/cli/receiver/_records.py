"""What the receiver makes of OTLP: plain data, and the JSON line that carries it.

The shape of a JSON line is that of the tuples below, with `"signal": "log"` or `"signal": "span"` in front. Ids are
lower-case hexadecimal, `""` where there is none; times are nanoseconds since the Unix epoch, 0 where there is none.
Values are JSON's own, but for bytes (`{"bytes": "<base64>"}`) and the numbers that JSON lacks (`"NaN"`,
`"Infinity"`, `"-Infinity"`).
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, Mapping, NamedTuple, Sequence, TypeAlias, Union

Value: TypeAlias = "str | bool | int | float | bytes | list[Value] | dict[str, Value] | None"
Attributes = Mapping[str, Value]


class Scope(NamedTuple):
    """The instrumentation scope that made a record."""

    name: str
    version: str
    attributes: Attributes


class ReceivedLog(NamedTuple):
    """One log record."""

    time_unix_nano: int
    observed_time_unix_nano: int
    severity_number: int
    severity_text: str
    event_name: str
    body: Value
    attributes: Attributes
    trace_id: str
    span_id: str
    flags: int
    resource: Attributes
    scope: Scope


class SpanEvent(NamedTuple):
    """One event of a span."""

    name: str
    time_unix_nano: int
    attributes: Attributes


class SpanLink(NamedTuple):
    """One link of a span."""

    trace_id: str
    span_id: str
    attributes: Attributes


class ReceivedSpan(NamedTuple):
    """One span."""

    name: str
    kind: int
    start_time_unix_nano: int
    end_time_unix_nano: int
    status_code: int
    """0 unset, 1 ok, 2 error."""
    status_message: str
    attributes: Attributes
    events: Sequence[SpanEvent]
    links: Sequence[SpanLink]
    trace_id: str
    span_id: str
    parent_span_id: str
    flags: int
    resource: Attributes
    scope: Scope


Received = Union[ReceivedLog, ReceivedSpan]

ERROR_ID = "errorsink.id"
_WARN = 13
_STATUS_ERROR = 2


def error_id(record: Received) -> str:
    """The id that errorsink gave the error; the same on its log and on its span. Empty for what others sent."""
    found = record.attributes.get(ERROR_ID, "")
    return found if isinstance(found, str) else ""


def is_error(record: Received) -> bool:
    """True for what tells of an error: errorsink's own, an exception, a severity from WARN up, a failed span."""
    if error_id(record) or "exception.type" in record.attributes:
        return True
    if isinstance(record, ReceivedLog):
        return record.severity_number >= _WARN
    return record.status_code == _STATUS_ERROR or any(event.name == "exception" for event in record.events)


def json_line(record: Received) -> str:
    """The record as one line of ASCII JSON, without the line's end."""
    fields = record._asdict()
    fields["scope"] = record.scope._asdict()
    if isinstance(record, ReceivedSpan):
        fields["events"] = [event._asdict() for event in record.events]
        fields["links"] = [link._asdict() for link in record.links]
    signal = "log" if isinstance(record, ReceivedLog) else "span"
    # DEL is the one control character that JSON leaves as it is.
    return json.dumps({"signal": signal, **_json_value(fields)}, allow_nan=False).replace("\x7f", "\\u007f")


def _json_value(value: Value) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
