"""Errors as OpenTelemetry logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from opentelemetry._logs import LogRecord, SeverityNumber

from errorsink.model import ErrorRecord
from errorsink_otel import _map
from errorsink_otel._config import SignalName
from errorsink_otel._context import parent_context

if TYPE_CHECKING:  # a provider may be another vendor's, without OpenTelemetry's SDK
    from errorsink_otel._own import Wire

__all__ = ["Logs"]


class Logs:
    """The signal `logs`."""

    name: SignalName = "logs"

    def item(self, record: ErrorRecord) -> tuple[LogRecord, int]:
        attributes = _map.log_attributes(record)
        number, text = _map.severity(record)
        time_ns, _ = _map.times(record)
        log = LogRecord(
            timestamp=time_ns,
            observed_timestamp=time_ns,
            context=parent_context(_map.parent(record)),
            severity_number=SeverityNumber(number),
            severity_text=text,
            body=record.message,
            attributes=attributes,
            event_name=_map.EXCEPTION,
        )
        return log, _map.check((record.message,), attributes)

    def hand_over(self, provider: Any, version: str) -> Callable[[LogRecord], None]:
        emit: Callable[[LogRecord], None] = provider.get_logger("errorsink", version).emit
        return emit

    def wire(self) -> Wire[LogRecord]:
        from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
        from opentelemetry.sdk._logs import ReadableLogRecord

        from errorsink_otel._own import Wire

        return Wire(ReadableLogRecord, encode_logs, ExportLogsServiceResponse, _http_exporter, _grpc_stub)


def _http_exporter() -> Callable[..., Any]:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    return OTLPLogExporter


def _grpc_stub() -> Callable[..., Any]:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import (  # pyright: ignore[reportMissingTypeStubs]
        LogsServiceStub,
    )

    return LogsServiceStub
