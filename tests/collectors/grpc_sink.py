"""A small OTLP/gRPC server in the test process that takes everything and keeps it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, TypeVar

import grpc
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.collectors.received import ReceivedLog, ReceivedSpan, logs_of, spans_of

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)

LOGS_SERVICE = "opentelemetry.proto.collector.logs.v1.LogsService"
TRACE_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"

# A second server on a taken port is an error, not a silent half of the traffic; requests have no limit of size.
SERVER_OPTIONS = (("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1))


def export_service(
    service: str,
    request: type[RequestT],
    response: type[ResponseT],
    answer: Callable[[RequestT, grpc.ServicerContext], ResponseT],
) -> grpc.GenericRpcHandler[RequestT, ResponseT]:
    """The one method of an OTLP service, answered by a function."""
    method = grpc.unary_unary_rpc_method_handler(
        answer,
        request_deserializer=request.FromString,
        response_serializer=response.SerializeToString,
    )
    return grpc.method_handlers_generic_handler(service, {"Export": method})


class GrpcSink:
    """Listens on a free loopback port from its creation to `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: list[ReceivedLog] = []
        self._spans: list[ReceivedSpan] = []
        self._server = grpc.server(ThreadPoolExecutor(2, "grpc-sink"), options=SERVER_OPTIONS)
        self._server.add_generic_rpc_handlers(
            (
                export_service(LOGS_SERVICE, ExportLogsServiceRequest, ExportLogsServiceResponse, self._take_logs),
                export_service(TRACE_SERVICE, ExportTraceServiceRequest, ExportTraceServiceResponse, self._take_spans),
            )
        )
        self.url = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def logs(self) -> list[ReceivedLog]:
        """Every log that has arrived, in order."""
        with self._lock:
            return list(self._logs)

    def spans(self) -> list[ReceivedSpan]:
        """Every span that has arrived, in order."""
        with self._lock:
            return list(self._spans)

    def close(self) -> None:
        """Ends the server; calls that are being answered are cut off."""
        self._server.stop(None).wait()

    def _take_logs(self, request: ExportLogsServiceRequest, _: grpc.ServicerContext) -> ExportLogsServiceResponse:
        arrived = logs_of(request)
        with self._lock:
            self._logs.extend(arrived)
        return ExportLogsServiceResponse()

    def _take_spans(self, request: ExportTraceServiceRequest, _: grpc.ServicerContext) -> ExportTraceServiceResponse:
        arrived = spans_of(request)
        with self._lock:
            self._spans.extend(arrived)
        return ExportTraceServiceResponse()
