"""Errors as OpenTelemetry spans, children of the span in which they were reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from errorsink.model import AttributeValue, ErrorRecord
from errorsink_otel import _map
from errorsink_otel._config import SignalName
from errorsink_otel._context import parent_context, span_context

if TYPE_CHECKING:  # a provider may be another vendor's, without OpenTelemetry's SDK
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    from errorsink_otel._own import Wire

__all__ = ["Spans"]


class ErrorSpan(NamedTuple):
    """One error's span, before it has a provider's or our own resource."""

    start_ns: int
    end_ns: int
    parent: _map.Parent | None
    own_ids: tuple[int, int]
    description: str
    attributes: Mapping[str, AttributeValue]
    event: Mapping[str, AttributeValue] | None


class Spans:
    """The signal `traces`; the exception's event can be left out, for those who have it in their logs."""

    name: SignalName = "traces"

    def __init__(self, *, with_event: bool) -> None:
        self._with_event = with_event

    def item(self, record: ErrorRecord) -> tuple[ErrorSpan, int]:
        attributes = _map.span_attributes(record)
        event = _map.event_attributes(record) if self._with_event else None
        start, end = _map.times(record)
        span = ErrorSpan(start, end, _map.parent(record), _map.new_ids(record), record.message, attributes, event)
        texts = (record.message, record.type, record.message, record.stack) if event else (record.message,)
        return span, _map.check(texts, attributes)

    def hand_over(self, provider: Any, version: str) -> Callable[[ErrorSpan], None]:
        tracer = provider.get_tracer("errorsink", version)

        def emit(error: ErrorSpan) -> None:
            span = tracer.start_span(
                _map.SPAN_NAME,
                context=parent_context(error.parent),
                attributes=error.attributes,
                start_time=error.start_ns,
                record_exception=False,
                set_status_on_exception=False,
            )
            if error.event is not None:
                span.add_event(_map.EXCEPTION, error.event, timestamp=error.start_ns)
            span.set_status(Status(StatusCode.ERROR, error.description))
            span.end(end_time=error.end_ns)

        return emit

    def wire(self) -> Wire[ErrorSpan]:
        from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

        from errorsink_otel._own import Wire

        return Wire(_readable, encode_spans, ExportTraceServiceResponse, _http_exporter, _grpc_stub)


def _readable(error: ErrorSpan, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    from opentelemetry.sdk.trace import Event, ReadableSpan

    trace_id, span_id = error.own_ids
    return ReadableSpan(
        _map.SPAN_NAME,
        context=SpanContext(
            error.parent.trace_id if error.parent else trace_id,
            span_id,
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        ),
        parent=span_context(error.parent) if error.parent else None,
        resource=resource,
        attributes=error.attributes,
        events=() if error.event is None else (Event(_map.EXCEPTION, error.event, error.start_ns),),
        status=Status(StatusCode.ERROR, error.description),
        start_time=error.start_ns,
        end_time=error.end_ns,
        instrumentation_scope=scope,
    )


def _http_exporter() -> Callable[..., Any]:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter


def _grpc_stub() -> Callable[..., Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

    return TraceServiceStub
