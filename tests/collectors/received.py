"""What arrived at a collector, as plain Python values.

OTLP/JSON is turned into the protobuf messages first, so one code decodes both encodings.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Iterable, Union

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Value = Union[None, bool, int, float, str, bytes, "list[Value]", "dict[str, Value]"]

_ID_KEYS = frozenset({"traceId", "spanId", "parentSpanId"})


@dataclass(frozen=True)
class Scope:
    """The instrumentation scope of a record."""

    name: str
    version: str
    attributes: dict[str, Value]


@dataclass(frozen=True)
class ReceivedLog:
    """One log record. Ids are hex, and empty when the record has none; times are nanoseconds since the epoch."""

    time_unix_nano: int
    observed_time_unix_nano: int
    severity_number: int
    severity_text: str
    event_name: str
    body: Value
    attributes: dict[str, Value]
    trace_id: str
    span_id: str
    flags: int
    resource: dict[str, Value]
    scope: Scope


@dataclass(frozen=True)
class ReceivedEvent:
    """One event of a span."""

    name: str
    time_unix_nano: int
    attributes: dict[str, Value]


@dataclass(frozen=True)
class ReceivedLink:
    """One link of a span."""

    trace_id: str
    span_id: str
    attributes: dict[str, Value]


@dataclass(frozen=True)
class ReceivedSpan:
    """One span. `kind` and `status_code` are OTLP's numbers: kind 1 is internal, status 2 is an error."""

    name: str
    kind: int
    start_time_unix_nano: int
    end_time_unix_nano: int
    status_code: int
    status_message: str
    trace_id: str
    span_id: str
    parent_span_id: str
    flags: int
    attributes: dict[str, Value]
    events: list[ReceivedEvent]
    links: list[ReceivedLink]
    resource: dict[str, Value]
    scope: Scope


def logs_of(request: ExportLogsServiceRequest) -> list[ReceivedLog]:
    """Decodes the log records of a request, in the order in which it holds them."""
    return [
        _log(record, _attributes(of_resource.resource.attributes), _scope(of_scope.scope))
        for of_resource in request.resource_logs
        for of_scope in of_resource.scope_logs
        for record in of_scope.log_records
    ]


def spans_of(request: ExportTraceServiceRequest) -> list[ReceivedSpan]:
    """Decodes the spans of a request, in the order in which it holds them."""
    return [
        _span(span, _attributes(of_resource.resource.attributes), _scope(of_scope.scope))
        for of_resource in request.resource_spans
        for of_scope in of_resource.scope_spans
        for span in of_scope.spans
    ]


def logs_of_json(line: str | bytes) -> list[ReceivedLog]:
    """Decodes the log records of one OTLP/JSON request."""
    return logs_of(json_format.ParseDict(_with_base64_ids(json.loads(line)), ExportLogsServiceRequest()))


def spans_of_json(line: str | bytes) -> list[ReceivedSpan]:
    """Decodes the spans of one OTLP/JSON request."""
    return spans_of(json_format.ParseDict(_with_base64_ids(json.loads(line)), ExportTraceServiceRequest()))


def _with_base64_ids(node: Any) -> Any:
    """Writes ids as protobuf's own JSON has them. OTLP/JSON writes them in hex, against that mapping."""
    if isinstance(node, list):
        return [_with_base64_ids(item) for item in node]
    if isinstance(node, dict):
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode()
            if key in _ID_KEYS and isinstance(value, str)
            else _with_base64_ids(value)
            for key, value in node.items()
        }
    return node


def _log(record: LogRecord, resource: dict[str, Value], scope: Scope) -> ReceivedLog:
    return ReceivedLog(
        time_unix_nano=record.time_unix_nano,
        observed_time_unix_nano=record.observed_time_unix_nano,
        severity_number=int(record.severity_number),
        severity_text=record.severity_text,
        event_name=record.event_name,
        body=_value(record.body),
        attributes=_attributes(record.attributes),
        trace_id=record.trace_id.hex(),
        span_id=record.span_id.hex(),
        flags=record.flags,
        resource=resource,
        scope=scope,
    )


def _span(span: Span, resource: dict[str, Value], scope: Scope) -> ReceivedSpan:
    return ReceivedSpan(
        name=span.name,
        kind=int(span.kind),
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        status_code=int(span.status.code),
        status_message=span.status.message,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        flags=span.flags,
        attributes=_attributes(span.attributes),
        events=[ReceivedEvent(e.name, e.time_unix_nano, _attributes(e.attributes)) for e in span.events],
        links=[ReceivedLink(li.trace_id.hex(), li.span_id.hex(), _attributes(li.attributes)) for li in span.links],
        resource=resource,
        scope=scope,
    )


def _scope(scope: InstrumentationScope) -> Scope:
    return Scope(scope.name, scope.version, _attributes(scope.attributes))


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Value]:
    decoded: dict[str, Value] = {}
    for pair in pairs:
        # OTLP forbids a key twice; a dict would hide that it was sent.
        assert pair.key not in decoded, f"attribute {pair.key!r} arrived twice"
        decoded[pair.key] = _value(pair.value)
    return decoded


def _value(value: AnyValue) -> Value:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    plain: Value = getattr(value, kind)
    return plain
