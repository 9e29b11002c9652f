"""OTLP requests made by hand, and a client that sends them raw."""

from __future__ import annotations

import http.client
from typing import Mapping, NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from errorsink.cli.receiver import ReceivedLog, ReceivedSpan, Receiver, Scope, SpanEvent, SpanLink, Value

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}

VALUES: dict[str, Value] = {
    "text": "täxt",
    "yes": True,
    "whole": -(2**63),
    "real": 0.5,
    "raw": b"\x00\xff",
    "list": ["a", 1],
    "map": {"k": "v"},
    "none": None,
}

LOG = ReceivedLog(
    time_unix_nano=1_700_000_000_123_456_789,
    observed_time_unix_nano=1_700_000_000_123_456_790,
    severity_number=17,
    severity_text="ERROR",
    event_name="exception",
    body="it broke",
    attributes={"errorsink.id": "id-1", "exception.type": "ValueError", **VALUES},
    trace_id=TRACE,
    span_id=SPAN,
    flags=1,
    resource={"service.name": "shop"},
    scope=Scope("errorsink", "1", {"s": 1}),
)
REAL_SPAN = ReceivedSpan(
    name="report_error",
    kind=1,
    start_time_unix_nano=1,
    end_time_unix_nano=1_700_000_000_123_456_789,
    status_code=2,
    status_message="it broke",
    attributes={"errorsink.id": "id-1", "error.type": "ValueError"},
    events=[SpanEvent("exception", 5, {"exception.type": "ValueError", "exception.stacktrace": "Traceback"})],
    links=[SpanLink(TRACE, PARENT, {"l": 1})],
    trace_id=TRACE,
    span_id=SPAN,
    parent_span_id=PARENT,
    flags=1,
    resource={"service.name": "shop"},
    scope=Scope("errorsink", "1", {}),
)


def any_value(value: object) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=map(any_value, value)))
    if isinstance(value, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(value)))
    return AnyValue()


def pairs(values: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in values.items()]


def _scope(scope: Scope) -> InstrumentationScope:
    return InstrumentationScope(name=scope.name, version=scope.version, attributes=pairs(scope.attributes))


def log_request(*logs: ReceivedLog) -> ExportLogsServiceRequest:
    """The request that carries these logs, each under a resource of its own."""
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=Resource(attributes=pairs(log.resource)),
                scope_logs=[ScopeLogs(scope=_scope(log.scope), log_records=[_log_record(log)])],
            )
            for log in logs
        ]
    )


def _log_record(log: ReceivedLog) -> LogRecord:
    return LogRecord(
        time_unix_nano=log.time_unix_nano,
        observed_time_unix_nano=log.observed_time_unix_nano,
        severity_number=log.severity_number,  # type: ignore[arg-type]
        severity_text=log.severity_text,
        event_name=log.event_name,
        body=any_value(log.body),
        attributes=pairs(log.attributes),
        trace_id=bytes.fromhex(log.trace_id),
        span_id=bytes.fromhex(log.span_id),
        flags=log.flags,
    )


def span_request(span: ReceivedSpan) -> ExportTraceServiceRequest:
    """The request that carries this span."""
    message = Span(
        name=span.name,
        kind=span.kind,  # type: ignore[arg-type]
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        status=Status(code=span.status_code, message=span.status_message),  # type: ignore[arg-type]
        attributes=pairs(span.attributes),
        events=[
            Span.Event(name=event.name, time_unix_nano=event.time_unix_nano, attributes=pairs(event.attributes))
            for event in span.events
        ],
        links=[
            Span.Link(
                trace_id=bytes.fromhex(link.trace_id),
                span_id=bytes.fromhex(link.span_id),
                attributes=pairs(link.attributes),
            )
            for link in span.links
        ],
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id),
        flags=span.flags,
    )
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=Resource(attributes=pairs(span.resource)),
                scope_spans=[ScopeSpans(scope=_scope(span.scope), spans=[message])],
            )
        ]
    )


class Answer(NamedTuple):
    status: int
    media: str
    body: bytes


def post(
    receiver: Receiver,
    body: bytes,
    headers: Mapping[str, str] = PROTOBUF,
    *,
    path: str = "/v1/logs",
    method: str = "POST",
) -> Answer:
    """One HTTP request on a connection of its own."""
    connection = http.client.HTTPConnection(receiver.host, receiver.http_port, timeout=10)
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, response.headers.get("Content-Type", ""), response.read())
    finally:
        connection.close()
