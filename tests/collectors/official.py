"""Sends one log and one span with the official SDK and exporters, as a program of their makers would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Mapping

import grpc
from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression as HttpCompression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags

from tests.collectors.contract import Endpoints

Protocol = Literal["grpc", "http"]
Compression = Literal["none", "gzip"]

RESOURCE = {"service.name": "shop", "service.version": "1.2.3"}
SCOPE = ("tests.official", "0.9")
PARENT = SpanContext(
    trace_id=0x0AF7651916CD43DD8448EB211C80319C,
    span_id=0x00F067AA0BA902B7,
    is_remote=True,
    trace_flags=TraceFlags(TraceFlags.SAMPLED),
)
START, END, EVENT = 1_700_000_000_000_000_001, 1_700_000_000_123_456_789, 1_700_000_000_000_000_777
ATTRIBUTES: dict[str, Any] = {
    "text": "täxt \N{SNOWMAN} \x00 \N{PILE OF POO}",
    "empty": "",
    "yes": True,
    "no": False,
    "zero": 0,
    "least": -(2**63),
    "most": 2**63 - 1,
    "real": 0.1,
    "texts": ["a", "", "ö"],
    "numbers": [1, 2, 3],
}


@dataclass(frozen=True)
class Sender:
    """How the official exporters reach a collector."""

    endpoints: Endpoints
    protocol: Protocol = "http"
    compression: Compression = "none"
    headers: Mapping[str, str] | None = None

    def log(self) -> None:
        """Sends one log, and returns when it was sent or has failed."""
        provider = LoggerProvider(resource=Resource(RESOURCE), shutdown_on_exit=False)
        provider.add_log_record_processor(SimpleLogRecordProcessor(self.log_exporter()))
        provider.get_logger(*SCOPE).emit(_record())
        provider.shutdown()

    def span(self) -> SpanContext:
        """Sends one span, and returns its context when it was sent or has failed."""
        provider = TracerProvider(resource=Resource(RESOURCE), shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.span_exporter()))
        span = provider.get_tracer(*SCOPE).start_span(
            "report_error",
            context=trace.set_span_in_context(NonRecordingSpan(PARENT)),
            attributes=ATTRIBUTES,
            start_time=START,
            links=[trace.Link(PARENT, {"why": "test"})],
        )
        span.add_event("exception", {"exception.type": "ValueError"}, timestamp=EVENT)
        span.set_status(Status(StatusCode.ERROR, "it broke"))
        span.end(END)
        provider.shutdown()
        return span.get_span_context()

    def log_exporter(self) -> HttpLogExporter | GrpcLogExporter:
        """The exporter of logs."""
        if self.protocol == "grpc":
            return GrpcLogExporter(
                self.endpoints.grpc, insecure=True, headers=self._metadata(), compression=_GRPC[self.compression]
            )
        url, headers = f"{self.endpoints.http}/v1/logs", dict(self.headers or {})
        return HttpLogExporter(url, headers=headers, compression=HttpCompression(self.compression))

    def span_exporter(self) -> HttpSpanExporter | GrpcSpanExporter:
        """The exporter of spans."""
        if self.protocol == "grpc":
            return GrpcSpanExporter(
                self.endpoints.grpc, insecure=True, headers=self._metadata(), compression=_GRPC[self.compression]
            )
        url, headers = f"{self.endpoints.http}/v1/traces", dict(self.headers or {})
        return HttpSpanExporter(url, headers=headers, compression=HttpCompression(self.compression))

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return tuple((name.lower(), value) for name, value in (self.headers or {}).items())


def one_log() -> ReadableLogRecord:
    """The log, ready for an exporter."""
    return ReadableLogRecord(_record(), Resource(RESOURCE), InstrumentationScope(*SCOPE))


def _record() -> LogRecord:
    return LogRecord(
        timestamp=START,
        observed_timestamp=END,
        context=trace.set_span_in_context(NonRecordingSpan(PARENT)),
        severity_number=SeverityNumber.ERROR,
        severity_text="ERROR",
        body="it broke",
        attributes=ATTRIBUTES,
        event_name="exception",
    )


_GRPC = {"none": grpc.Compression.NoCompression, "gzip": grpc.Compression.Gzip}
