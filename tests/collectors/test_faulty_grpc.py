"""A `FaultyGrpcServer` does what it is told, and no more."""

from __future__ import annotations

from typing import Iterator

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]  # it ships no types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.collectors.contract import Endpoints
from tests.collectors.faulty_grpc import (
    Failing,
    FaultyGrpcServer,
    GrpcBehaviour,
    HeldCall,
    PartlyTaken,
    SilentCall,
)
from tests.collectors.grpc_sink import LOGS_SERVICE, TRACE_SERVICE
from tests.collectors.official import Sender


@pytest.fixture
def server() -> Iterator[FaultyGrpcServer]:
    """A server that does well unless it is told otherwise."""
    with FaultyGrpcServer() as running:
        yield running


class Client:
    """Calls one server with empty requests."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel

    def logs(self, timeout: float = 10.0) -> ExportLogsServiceResponse:
        """Calls the logs service."""
        call = self._channel.unary_unary(
            f"/{LOGS_SERVICE}/Export",
            request_serializer=ExportLogsServiceRequest.SerializeToString,
            response_deserializer=ExportLogsServiceResponse.FromString,
        )
        answer: ExportLogsServiceResponse = call(ExportLogsServiceRequest(), timeout=timeout)
        return answer

    def traces(self) -> ExportTraceServiceResponse:
        """Calls the trace service."""
        call = self._channel.unary_unary(
            f"/{TRACE_SERVICE}/Export",
            request_serializer=ExportTraceServiceRequest.SerializeToString,
            response_deserializer=ExportTraceServiceResponse.FromString,
        )
        answer: ExportTraceServiceResponse = call(ExportTraceServiceRequest(), timeout=10.0)
        return answer

    def begin_logs(self) -> grpc.CallFuture[ExportLogsServiceResponse]:
        """Calls the logs service, and doesn't wait for its answer."""
        call = self._channel.unary_unary(
            f"/{LOGS_SERVICE}/Export",
            request_serializer=ExportLogsServiceRequest.SerializeToString,
            response_deserializer=ExportLogsServiceResponse.FromString,
        )
        return call.future(ExportLogsServiceRequest(), timeout=10.0)


@pytest.fixture
def client(server: FaultyGrpcServer) -> Iterator[Client]:
    """A client of the server."""
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Client(channel)


def test_it_records_a_call(server: FaultyGrpcServer) -> None:
    """Metadata and decoded records are kept."""
    Sender(Endpoints(server.url, ""), "grpc", "gzip", {"x-one": "1"}).log()
    (request,) = server.requests
    assert (request.signal, request.metadata["x-one"], [log.body for log in request.logs], request.spans) == (
        "logs",
        "1",
        ["it broke"],
        (),
    )


def test_it_records_spans(server: FaultyGrpcServer) -> None:
    """The trace service is its, too."""
    Sender(Endpoints(server.url, ""), "grpc").span()
    (request,) = server.requests
    assert (request.signal, [span.name for span in request.spans]) == ("traces", ["report_error"])


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNIMPLEMENTED,
    ],
    ids=lambda code: code.name,
)
def test_it_fails_with_a_status(server: FaultyGrpcServer, client: Client, code: grpc.StatusCode) -> None:
    """The client sees the status, and the next call does well."""
    server.script([Failing(code, "why")])
    with pytest.raises(grpc.RpcError) as failure:
        client.logs()
    assert isinstance(failure.value, grpc.Call)
    assert (failure.value.code(), failure.value.details()) == (code, "why")
    assert client.logs() == ExportLogsServiceResponse()


def test_it_tells_when_to_come_again(server: FaultyGrpcServer, client: Client) -> None:
    """RetryInfo travels in the status details."""
    server.script([Failing(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", retry_delay=1.5)])
    with pytest.raises(grpc.RpcError) as failure:
        client.logs()
    assert isinstance(failure.value, grpc.Call)
    details = Status.FromString(dict(failure.value.trailing_metadata() or ())["grpc-status-details-bin"])
    info = RetryInfo()
    assert details.details[0].Unpack(info)
    assert (info.retry_delay.seconds, info.retry_delay.nanos) == (1, 500_000_000)


def test_it_takes_a_part_of_the_logs(server: FaultyGrpcServer, client: Client) -> None:
    """Partial success, in the logs' own field."""
    server.script([PartlyTaken(2, "full")])
    answer = client.logs().partial_success
    assert (answer.rejected_log_records, answer.error_message) == (2, "full")


def test_it_takes_a_part_of_the_spans(server: FaultyGrpcServer, client: Client) -> None:
    """Partial success, in the spans' own field."""
    server.script([PartlyTaken(2, "full")])
    answer = client.traces().partial_success
    assert (answer.rejected_spans, answer.error_message) == (2, "full")


@pytest.mark.parametrize("behaviour", [SilentCall(), HeldCall()], ids=["silent", "held"])
def test_it_is_silent(server: FaultyGrpcServer, client: Client, behaviour: GrpcBehaviour) -> None:
    """The client hears nothing until its own patience ends."""
    server.script([behaviour])
    with pytest.raises(grpc.RpcError) as failure:
        client.logs(timeout=0.1)
    assert isinstance(failure.value, grpc.Call)
    assert failure.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_silence_ends_when_it_is_released(server: FaultyGrpcServer, client: Client) -> None:
    """Then the call fails."""
    server.script([SilentCall()])
    call = client.begin_logs()
    server.wait_for(1)
    server.release()
    assert call.code() is grpc.StatusCode.UNAVAILABLE


def test_a_held_call_succeeds_when_it_is_released(server: FaultyGrpcServer, client: Client) -> None:
    """The call is known before, its answer comes after."""
    server.script([HeldCall()])
    call = client.begin_logs()
    server.wait_for(1)
    server.release()
    assert call.result() == ExportLogsServiceResponse()


def test_it_can_be_down_and_come_back(server: FaultyGrpcServer, client: Client) -> None:
    """Down it refuses connections; back it answers on the same port."""
    server.stop_listening()
    with pytest.raises(grpc.RpcError) as failure:
        client.logs()
    assert isinstance(failure.value, grpc.Call)
    assert failure.value.code() is grpc.StatusCode.UNAVAILABLE
    server.listen()
    # A pool of its own: channels of one process share a peer's back-off otherwise.
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"127.0.0.1:{server.port}", options) as again:
        assert Client(again).logs() == ExportLogsServiceResponse()


def test_waiting_for_calls_has_an_end(server: FaultyGrpcServer) -> None:
    """The failure says how many arrived."""
    with pytest.raises(AssertionError, match="0 of 1 calls arrived within 0 s"):
        server.wait_for(1, timeout=0)
