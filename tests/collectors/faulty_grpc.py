"""A loopback OTLP/gRPC server that misbehaves as a test tells it to."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Iterable, Literal, Mapping, Union, final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]  # it ships no types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.collectors.contract import ARRIVAL_TIMEOUT
from tests.collectors.grpc_sink import LOGS_SERVICE, SERVER_OPTIONS, TRACE_SERVICE, export_service
from tests.collectors.process import free_ports
from tests.collectors.received import ReceivedLog, ReceivedSpan, logs_of, spans_of

_CALLS_AT_ONCE = 16
"""A silent call occupies a thread; more silent ones than this would make the next ones wait unanswered, too."""


@dataclass(frozen=True)
class Taken:
    """Everything was taken."""


@dataclass(frozen=True)
class Failing:
    """Fails with a status code; `retry_delay`, in seconds, is told as google.rpc.RetryInfo in the status details."""

    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    message: str = "told to fail"
    retry_delay: float | None = None


@dataclass(frozen=True)
class PartlyTaken:
    """Succeeds, and tells that it rejected some; 0 with a message is OTLP's way to warn."""

    rejected: int = 1
    message: str = ""


@dataclass(frozen=True)
class SilentCall:
    """Never answers. Fails with UNAVAILABLE when the test releases the server, or it closes."""


@dataclass(frozen=True)
class HeldCall:
    """Succeeds when the test releases the server."""


GrpcBehaviour = Union[Taken, Failing, PartlyTaken, SilentCall, HeldCall]


@dataclass(frozen=True)
class GrpcRequest:
    """A call as it arrived."""

    signal: Literal["logs", "traces"]
    metadata: Mapping[str, str | bytes]
    logs: tuple[ReceivedLog, ...] = ()
    spans: tuple[ReceivedSpan, ...] = ()


@final
class FaultyGrpcServer:
    """Listens on a free loopback port while its `with` block lasts. The twin of `FaultyServer`."""

    def __init__(self, default: GrpcBehaviour = Taken()) -> None:
        self._default = default
        self._script: deque[GrpcBehaviour] = deque()
        self._requests: list[GrpcRequest] = []
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._closing = threading.Event()
        self._server: grpc.Server | None = None
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE, "faulty-grpc")
        self.port = free_ports(1)[0]
        self.listen()

    @property
    def url(self) -> str:
        """The endpoint as OTLP settings have it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[GrpcRequest]:
        """The calls so far, in order of arrival."""
        with self._changed:
            return list(self._requests)

    def script(self, behaviours: Iterable[GrpcBehaviour], then: GrpcBehaviour | None = None) -> None:
        """Sets how the next calls are answered, and with `then` how all after them are."""
        with self._changed:
            self._script = deque(behaviours)
            if then is not None:
                self._default = then

    def release(self) -> None:
        """Ends every silence and every hold, now and from now on."""
        self._released.set()

    def wait_for(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[GrpcRequest]:
        """Waits until at least `count` calls have arrived and returns all. AssertionError after `timeout` seconds."""
        with self._changed:
            if self._changed.wait_for(lambda: len(self._requests) >= count, timeout):
                return list(self._requests)
            raise AssertionError(f"{len(self._requests)} of {count} calls arrived within {timeout} s: {self._requests}")

    def listen(self) -> None:
        """Listens again, on the same port, after `stop_listening`.

        A gRPC client of this process that has met the closed port comes back after its back-off, about a second.
        """
        assert self._server is None, "the server listens already"
        server = grpc.server(self._threads, options=SERVER_OPTIONS)
        server.add_generic_rpc_handlers(
            (
                export_service(LOGS_SERVICE, ExportLogsServiceRequest, ExportLogsServiceResponse, self._logs),
                export_service(TRACE_SERVICE, ExportTraceServiceRequest, ExportTraceServiceResponse, self._spans),
            )
        )
        server.add_insecure_port(f"127.0.0.1:{self.port}")
        server.start()
        self._server = server

    def stop_listening(self) -> None:
        """From now on the port refuses connections; calls that wait for an answer are cut off."""
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def close(self) -> None:
        """Ends everything."""
        self._closing.set()
        self._released.set()
        self.stop_listening()
        self._threads.shutdown(wait=True)

    def __enter__(self) -> FaultyGrpcServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _logs(self, request: ExportLogsServiceRequest, context: grpc.ServicerContext) -> ExportLogsServiceResponse:
        answer = ExportLogsServiceResponse()
        partly = self._perform(GrpcRequest("logs", _metadata(context), logs=tuple(logs_of(request))), context)
        if partly is not None:
            answer.partial_success.rejected_log_records = partly.rejected
            answer.partial_success.error_message = partly.message
        return answer

    def _spans(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        answer = ExportTraceServiceResponse()
        partly = self._perform(GrpcRequest("traces", _metadata(context), spans=tuple(spans_of(request))), context)
        if partly is not None:
            answer.partial_success.rejected_spans = partly.rejected
            answer.partial_success.error_message = partly.message
        return answer

    def _perform(self, request: GrpcRequest, context: grpc.ServicerContext) -> PartlyTaken | None:
        """Records a call and fails it as told. A call that succeeds may still have been taken in part."""
        with self._changed:
            self._requests.append(request)
            behaviour = self._script.popleft() if self._script else self._default
            self._changed.notify_all()
        if isinstance(behaviour, (SilentCall, HeldCall)):
            self._released.wait()
            if self._closing.is_set() or isinstance(behaviour, SilentCall):
                behaviour = Failing(message="released from silence")
        if isinstance(behaviour, Failing):
            _fail(context, behaviour)
        return behaviour if isinstance(behaviour, PartlyTaken) else None


def _metadata(context: grpc.ServicerContext) -> dict[str, str | bytes]:
    return dict(context.invocation_metadata())


def _fail(context: grpc.ServicerContext, failing: Failing) -> None:
    if failing.retry_delay is not None:
        delay = Duration()
        delay.FromNanoseconds(round(failing.retry_delay * 1e9))
        detail = AnyMessage()
        detail.Pack(RetryInfo(retry_delay=delay))
        status = Status(code=failing.code.value[0], message=failing.message, details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(failing.code, failing.message)
