"""The receiver over gRPC, and what both protocols share."""

from __future__ import annotations

import socket
from typing import Iterator

import grpc
import pytest

from errorsink.cli.receiver import CannotListen, Inbox, Receiver
from tests.cli.conftest import Running
from tests.cli.otlp import LOG, REAL_SPAN, log_request, post, span_request

SERVICES = "/opentelemetry.proto.collector."
LOGS, SPANS, METRICS = (
    f"{SERVICES}{name}/Export" for name in ("logs.v1.LogsService", "trace.v1.TraceService", "metrics.v1.MetricsService")
)


@pytest.fixture
def channel(running: Running) -> Iterator[grpc.Channel]:
    """A gRPC channel to the running receiver."""
    with grpc.insecure_channel(f"{running.receiver.host}:{running.receiver.grpc_port}") as channel:
        yield channel


def _send(
    channel: grpc.Channel, body: bytes, method: str = LOGS, compression: grpc.Compression | None = None
) -> grpc.StatusCode:
    """One call with a body as it is."""
    call = channel.unary_unary(method, request_serializer=bytes, response_deserializer=bytes)
    try:
        call(body, timeout=10, compression=compression)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip], ids=["plain", "gzip"])
def test_a_log_arrives_field_by_field(running: Running, channel: grpc.Channel, compression: grpc.Compression) -> None:
    """The same record as over HTTP, plain and compressed."""
    assert _send(channel, log_request(LOG).SerializeToString(), LOGS, compression) is grpc.StatusCode.OK
    assert running.inbox.logs == [LOG]


def test_a_span_arrives_field_by_field(running: Running, channel: grpc.Channel) -> None:
    """The same span as over HTTP."""
    assert _send(channel, span_request(REAL_SPAN).SerializeToString(), SPANS) is grpc.StatusCode.OK
    assert running.inbox.spans == [REAL_SPAN]


def test_metrics_are_taken_and_dropped(running: Running, channel: grpc.Channel) -> None:
    """An application that exports metrics to the same endpoint gets no errors for it."""
    assert _send(channel, b"", METRICS) is grpc.StatusCode.OK
    assert running.inbox.logs == []


@pytest.mark.parametrize(
    "body", [b"\xff\xff garbage", log_request(LOG).SerializeToString()[:-5]], ids=["garbage", "cut"]
)
def test_what_is_no_otlp_is_an_invalid_argument(running: Running, channel: grpc.Channel, body: bytes) -> None:
    """A malformed call is refused for good, and the next one works."""
    assert _send(channel, body) is grpc.StatusCode.INVALID_ARGUMENT
    assert _send(channel, log_request(LOG).SerializeToString()) is grpc.StatusCode.OK
    assert running.inbox.logs == [LOG]


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip], ids=["plain", "gzip"])
def test_a_message_over_the_limit_is_refused(channel: grpc.Channel, compression: grpc.Compression) -> None:
    """20 MiB is the limit, as over HTTP, for what is sent and for what it unpacks to."""
    body = b"\0" * (20 * 1024 * 1024 + 1)
    assert _send(channel, body, LOGS, compression) is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_one_protocol_may_be_left_out() -> None:
    """None instead of a port leaves the protocol out."""
    with Receiver(Inbox(), grpc_port=None) as receiver:
        assert receiver.grpc_port == 0
        assert post(receiver, b"").status == 200


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_taken_port_is_told(protocol: str) -> None:
    """The message names the address, the port, the protocol and the option that helps; nothing is left open."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        grpc_port, http_port = (port, 0) if protocol == "grpc" else (0, port)
        receiver = Receiver(Inbox(), grpc_port=grpc_port, http_port=http_port)
        with pytest.raises(CannotListen, match=rf"127\.0\.0\.1 port {port}.*--{protocol}-port 0"):
            receiver.start()
    assert receiver.http_port == receiver.grpc_port == 0


def test_two_receivers_never_share_a_port() -> None:
    """On Linux gRPC would let a second server take the same port, and half of the calls."""
    with Receiver(Inbox(), http_port=None) as first, pytest.raises(CannotListen):
        Receiver(Inbox(), http_port=None, grpc_port=first.grpc_port).start()


def test_a_port_can_be_used_again_at_once() -> None:
    """A receiver that comes back finds its old port free."""
    with Receiver(Inbox()) as first:
        post(first, b"")
        grpc_port, http_port = first.grpc_port, first.http_port
    with Receiver(Inbox(), grpc_port=grpc_port, http_port=http_port) as second:
        assert post(second, b"").status == 200


def test_an_address_of_another_machine_is_told() -> None:
    """192.0.2.1 is a documentation address: no machine has it."""
    with pytest.raises(CannotListen, match=r"192\.0\.2\.1"):
        Receiver(Inbox(), host="192.0.2.1").start()


def test_a_host_that_does_not_exist_is_told() -> None:
    """A name without an address is a clear error."""
    with pytest.raises(CannotListen, match="no such"):
        Receiver(Inbox(), host="no such host")


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)]
)
def test_loopback_is_told_from_the_rest(host: str, loopback: bool) -> None:
    """Only an address that no other machine reaches is loopback."""
    assert Receiver(Inbox(), host=host).loopback is loopback


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6 loopback address")
def test_ipv6_works_for_both_protocols() -> None:
    """An IPv6 address is bracketed where it must be."""
    inbox = Inbox()
    with Receiver(inbox, host="::1") as receiver:
        assert receiver.http_endpoint == f"http://[::1]:{receiver.http_port}"
        post(receiver, log_request(LOG).SerializeToString())
        with grpc.insecure_channel(f"[::1]:{receiver.grpc_port}") as channel:
            assert _send(channel, log_request(LOG).SerializeToString()) is grpc.StatusCode.OK
    assert inbox.logs == [LOG, LOG]
