"""OTLP requests, binary and JSON, to plain records; and one table of the signals for both protocols."""

from __future__ import annotations

import base64
import json
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence, cast

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from errorsink.cli.receiver._records import (
    Attributes,
    Received,
    ReceivedLog,
    ReceivedSpan,
    Scope,
    SpanEvent,
    SpanLink,
    Value,
)

_ID_FIELDS = frozenset({"traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id"})


class Malformed(ValueError):
    """A request that is no OTLP; the text says what is wrong with it."""


class Signal(NamedTuple):
    """How one signal is called, read and answered."""

    path: str
    service: str
    request: type[Message]
    response: type[Message]
    unpack: Callable[[Any], Iterator[Received]]

    def from_protobuf(self, body: bytes) -> list[Received]:
        """The records of a binary request. Raises `Malformed`."""
        message = self.request()
        try:
            message.ParseFromString(body)
        except (DecodeError, ValueError) as error:
            raise Malformed(f"not a protobuf {self.request.__name__}: {error}") from None
        return list(self.unpack(message))

    def from_json(self, body: bytes) -> list[Received]:
        """The records of a JSON request: OTLP's JSON, whose ids are hexadecimal. Raises `Malformed`."""
        message = self.request()
        try:
            fields = json.loads(body, object_hook=_ids_to_base64)
            if not isinstance(fields, dict):
                raise Malformed("not a JSON object")
            json_format.ParseDict(cast("dict[str, Any]", fields), message, ignore_unknown_fields=True)
        except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise Malformed(f"not a JSON {self.request.__name__}: {error}") from None
        return list(self.unpack(message))


def _ids_to_base64(fields: dict[str, Any]) -> dict[str, Any]:
    """Protobuf's own JSON has bytes in base64; OTLP's has ids in hexadecimal."""
    for name in _ID_FIELDS & fields.keys():
        if isinstance(fields[name], str):
            fields[name] = base64.b64encode(bytes.fromhex(fields[name])).decode("ascii")
    return fields


# ------------------------------------------------------------------------------------------------------------ values


def _value(value: AnyValue) -> Value:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    plain: str | bool | int | float | bytes = getattr(value, kind)
    return plain


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Value]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _scope(scope: InstrumentationScope) -> Scope:
    return Scope(scope.name, scope.version, _attributes(scope.attributes))


# ----------------------------------------------------------------------------------------------------------- signals


def _logs(request: ExportLogsServiceRequest) -> Iterator[Received]:
    for of_resource in request.resource_logs:
        resource = _attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_logs:
            scope = _scope(of_scope.scope)
            for record in of_scope.log_records:
                yield _log(record, resource, scope)


def _log(record: LogRecord, resource: Attributes, scope: Scope) -> ReceivedLog:
    return ReceivedLog(
        time_unix_nano=record.time_unix_nano,
        observed_time_unix_nano=record.observed_time_unix_nano,
        severity_number=record.severity_number,
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


def _spans(request: ExportTraceServiceRequest) -> Iterator[Received]:
    for of_resource in request.resource_spans:
        resource = _attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            scope = _scope(of_scope.scope)
            for span in of_scope.spans:
                yield _span(span, resource, scope)


def _span(span: Span, resource: Attributes, scope: Scope) -> ReceivedSpan:
    return ReceivedSpan(
        name=span.name,
        kind=span.kind,
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        status_code=span.status.code,
        status_message=span.status.message,
        attributes=_attributes(span.attributes),
        events=[SpanEvent(event.name, event.time_unix_nano, _attributes(event.attributes)) for event in span.events],
        links=[SpanLink(link.trace_id.hex(), link.span_id.hex(), _attributes(link.attributes)) for link in span.links],
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        flags=span.flags,
        resource=resource,
        scope=scope,
    )


def _nothing(request: ExportMetricsServiceRequest) -> Iterator[Received]:
    """Metrics are taken, so that an application that exports them too isn't told off, and aren't kept."""
    return iter(())


SIGNALS: Sequence[Signal] = (
    Signal(
        "/v1/logs",
        "opentelemetry.proto.collector.logs.v1.LogsService",
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
        _logs,
    ),
    Signal(
        "/v1/traces",
        "opentelemetry.proto.collector.trace.v1.TraceService",
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
        _spans,
    ),
    Signal(
        "/v1/metrics",
        "opentelemetry.proto.collector.metrics.v1.MetricsService",
        ExportMetricsServiceRequest,
        ExportMetricsServiceResponse,
        _nothing,
    ),
)
"""Every signal that the receiver takes."""
