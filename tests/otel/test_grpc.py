"""OTLP over gRPC: what is sent, and what each status is taken for."""

from __future__ import annotations

from typing import Any, Callable

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]

from errorsink.sinks import Outcome, Sink
from tests.collectors.received import logs_of, spans_of
from tests.otel.conftest import MakeSink
from tests.otel.peers import CLOSED_PORT, GrpcPeer, HttpPeer, Say, abort, answer, hang
from tests.otel.samples import CANARY, EXCEPTION_ATTRIBUTES, NOW_NS, OWN_ATTRIBUTES, RECORD, record

StartPeer = Callable[..., GrpcPeer]
Code = grpc.StatusCode
LONG = 30.0
SOON = 0.3


def send(sink: Sink, count: int = 3, timeout: float = LONG) -> Outcome:
    """Sends some records, each with an id of its own."""
    return sink.send([sink.prepare(record(id=f"id-{number}")) for number in range(count)], timeout)


@pytest.fixture
def exchange(grpc_peer: StartPeer, make_sink: MakeSink, signal: str) -> Callable[..., tuple[Outcome, GrpcPeer]]:
    """Sends to a peer that behaves so, and tells the outcome."""

    def run(*peer: Any, timeout: float = LONG, **env: str) -> tuple[Outcome, GrpcPeer]:
        started = grpc_peer(*peer)
        sink = make_sink(
            signal, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": started.url, **env}
        )
        return send(sink, timeout=timeout), started

    return run


def test_call(exchange: Any) -> None:
    """One call, with the given headers and our name."""
    outcome, peer = exchange(OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20t,x-tenant=7")
    assert outcome == Outcome.delivered()
    (metadata,) = peer.metadata
    assert (metadata["authorization"], metadata["x-tenant"]) == ("Bearer t", "7")
    assert metadata["user-agent"].startswith("errorsink/")


def test_records_on_the_wire(exchange: Any, signal: str) -> None:
    """All records of a batch arrive, with their attributes."""
    _, peer = exchange()
    (request,) = peer.requests
    received: list[Any] = logs_of(request) if signal == "logs" else spans_of(request)
    own = {**OWN_ATTRIBUTES, **RECORD.attributes, **(EXCEPTION_ATTRIBUTES if signal == "logs" else {})}
    assert [one.attributes for one in received] == [{**own, "errorsink.id": f"id-{number}"} for number in range(3)]


def test_log_on_the_wire(grpc_peer: StartPeer, make_sink: MakeSink) -> None:
    """A log has the trace and the time of its report."""
    peer = grpc_peer()
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}
    send(make_sink("logs", env), 1)
    (log,) = logs_of(peer.requests[0])
    assert (log.trace_id, log.span_id, log.time_unix_nano) == (RECORD.trace_id, RECORD.span_id, NOW_NS)


def test_gzip(exchange: Any) -> None:
    """OTEL_EXPORTER_OTLP_COMPRESSION=gzip compresses the call."""
    outcome, peer = exchange(OTEL_EXPORTER_OTLP_COMPRESSION="gzip")
    assert outcome == Outcome.delivered()
    assert len(peer.requests) == 1


@pytest.mark.parametrize(
    "code", [Code.CANCELLED, Code.DEADLINE_EXCEEDED, Code.ABORTED, Code.OUT_OF_RANGE, Code.UNAVAILABLE, Code.DATA_LOSS]
)
def test_retried_codes(code: grpc.StatusCode, exchange: Any) -> None:
    """What OTLP calls retryable is retried, by the core: one call is made."""
    outcome, peer = exchange(abort(code))
    assert (outcome.status, outcome.reason) == ("retry", f"grpc-{code.name.lower().replace('_', '-')}")
    assert len(peer.requests) == 1


@pytest.mark.parametrize(
    "code",
    [
        Code.INVALID_ARGUMENT,
        Code.NOT_FOUND,
        Code.ALREADY_EXISTS,
        Code.PERMISSION_DENIED,
        Code.FAILED_PRECONDITION,
        Code.UNIMPLEMENTED,
        Code.INTERNAL,
        Code.UNAUTHENTICATED,
        Code.UNKNOWN,
        Code.RESOURCE_EXHAUSTED,
    ],
)
def test_rejected_codes(code: grpc.StatusCode, exchange: Any) -> None:
    """All others are final; RESOURCE_EXHAUSTED is one of them unless the server says when to come again."""
    outcome, peer = exchange(abort(code))
    assert outcome.status == "rejected"
    assert len(peer.requests) == 1


@pytest.mark.parametrize("code", [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED])
def test_retry_info(code: grpc.StatusCode, exchange: Any) -> None:
    """A RetryInfo in the status's details is when to come again."""
    outcome, _ = exchange(abort(code, retry_delay=9))
    assert (outcome.status, outcome.retry_after) == ("retry", 9.0)


def test_retry_info_in_a_trailer(exchange: Any) -> None:
    """A RetryInfo in a trailer of its own, as some servers send it, is understood too."""

    def behave(_peer: GrpcPeer, context: Any) -> None:
        info = RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000))
        context.set_trailing_metadata((("google.rpc.retryinfo-bin", info.SerializeToString()),))
        context.abort(Code.UNAVAILABLE, "later")

    assert exchange(behave)[0].retry_after == 2.5


def test_garbled_retry_info(exchange: Any) -> None:
    """One that can't be read is none."""

    def behave(_peer: GrpcPeer, context: Any) -> None:
        context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff"),))
        context.abort(Code.UNAVAILABLE, "later")

    outcome, _ = exchange(behave)
    assert (outcome.status, outcome.retry_after) == ("retry", None)


def test_too_large(exchange: Any) -> None:
    """A message over the server's limit asks for a smaller batch."""
    outcome, _ = exchange(abort(Code.RESOURCE_EXHAUSTED, "grpc: received message larger than max (9 vs. 4)"))
    assert outcome.status == "too_large"


def test_partial_success(exchange: Any) -> None:
    """How many records the collector refused, and why, as far as it may be shown."""
    outcome, _ = exchange(None, (2, f"too old {CANARY}"), OTEL_EXPORTER_OTLP_HEADERS=f"authorization=Bearer {CANARY}")
    assert (outcome.status, outcome.refused, outcome.reason) == ("delivered", 2, "partial-success")
    assert "too old ***" in outcome.detail


def test_details_are_masked(exchange: Any) -> None:
    """A server that repeats a header's value doesn't get it shown."""
    outcome, _ = exchange(abort(Code.UNAUTHENTICATED, f"bad token {CANARY}"), OTEL_EXPORTER_OTLP_HEADERS=f"k={CANARY}")
    assert CANARY not in outcome.detail


def test_silent_server(exchange: Any) -> None:
    """A server that doesn't answer is left at the deadline."""
    outcome, peer = exchange(hang, timeout=SOON)
    assert (outcome.status, outcome.reason) == ("retry", "grpc-deadline-exceeded")
    assert not peer.ended.is_set()


def test_own_timeout_is_heeded(exchange: Any) -> None:
    """OTEL_EXPORTER_OTLP_TIMEOUT bounds a call further."""
    outcome, _ = exchange(hang, timeout=600.0, OTEL_EXPORTER_OTLP_TIMEOUT="200")
    assert outcome.reason == "grpc-deadline-exceeded"


def test_refused(make_sink: MakeSink, signal: str) -> None:
    """Nobody listens: tried again."""
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{CLOSED_PORT}"}
    outcome = send(make_sink(signal, env))
    assert (outcome.status, outcome.reason) == ("retry", "grpc-unavailable")


def test_not_grpc(http_peer: Callable[[Say], HttpPeer], make_sink: MakeSink) -> None:
    """A server that speaks HTTP/1: tried again, within the deadline."""
    peer = http_peer(answer(200))
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}
    assert send(make_sink("logs", env), timeout=5).status == "retry"


def test_server_comes_back(grpc_peer: StartPeer, make_sink: MakeSink) -> None:
    """The first try after the server is back succeeds: gRPC's own back-off doesn't stand in the way."""
    behaviours = iter([abort(Code.UNAVAILABLE), abort(Code.UNAVAILABLE)])

    def behave(peer: GrpcPeer, context: Any) -> None:
        for fault in behaviours:
            fault(peer, context)

    peer = grpc_peer(behave)
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}
    sink = make_sink("logs", env)
    assert [send(sink).status for _ in range(3)] == ["retry", "retry", "delivered"]


def test_unencodable_batch(grpc_peer: StartPeer, make_sink: MakeSink) -> None:
    """A record that got past all checks asks for a smaller batch, so that it ends up alone."""
    peer = grpc_peer()
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}
    sink = make_sink("logs", env)
    item = sink.prepare(RECORD)
    item.payload.content.body = object()
    assert sink.send([item], LONG).status == "too_large"
    assert peer.requests == []


def test_bad_environment_is_nothing_to_it(exchange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that the official exporter can't even be built with don't matter."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "10s")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "10s")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "zip")
    assert exchange()[0] == Outcome.delivered()
