"""A `FaultyServer` does what it is told, and no more."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import zlib
from typing import Iterator

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.collectors.faults import (
    ACCEPTED,
    Answer,
    Behaviour,
    Closed,
    Exchange,
    Garbage,
    Held,
    PartialSuccess,
    Redirect,
    Reset,
    Silent,
    Slow,
    TooLarge,
    Trickling,
)
from tests.collectors.faulty import FaultyServer, refusing_url


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server that does well unless it is told otherwise."""
    with FaultyServer() as running:
        yield running


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client that no proxy setting reaches, and that loads no certificates, which takes 0.2 s."""
    with httpx.Client(trust_env=False, verify=False) as running:
        yield running


def test_it_records_a_request(server: FaultyServer, client: httpx.Client) -> None:
    """Method, path with its query, headers and body are kept as they came."""
    client.post(f"{server.url}/v1/logs?a=1", content=b"body", headers={"X-One": "1"})
    (request,) = server.requests
    assert (request.method, request.path, request.headers["x-one"], request.body, request.sent_bytes) == (
        "POST",
        "/v1/logs?a=1",
        "1",
        b"body",
        4,
    )


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_it_uncompresses_the_body(server: FaultyServer, client: httpx.Client, encoding: str) -> None:
    """The body is recorded as it was before its compression, and its length on the wire beside it."""
    encoded = gzip.compress(b"body" * 9) if encoding == "gzip" else zlib.compress(b"body" * 9)
    client.post(server.url, content=encoded, headers={"Content-Encoding": encoding})
    (request,) = server.requests
    assert (request.body, request.sent_bytes) == (b"body" * 9, len(encoded))


def test_it_takes_a_chunked_body(server: FaultyServer, client: httpx.Client) -> None:
    """A body without a length arrives whole, and the connection stays good."""
    client.post(server.url, content=iter([b"one, ", b"two"]))
    client.post(server.url, json=[1])
    assert [(request.body, request.connection) for request in server.requests] == [(b"one, two", 1), (b"[1]", 1)]


def test_a_script_is_used_up(server: FaultyServer, client: httpx.Client) -> None:
    """Each request takes one behaviour; those after the last one take the default."""
    server.script([Answer(503), Answer(429, {"Retry-After": "7"})], then=ACCEPTED)
    answers = [client.post(server.url) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [503, 429, 202, 202]
    assert answers[1].headers["Retry-After"] == "7"


def test_waiting_for_requests_has_an_end(server: FaultyServer, client: httpx.Client) -> None:
    """The failure says what did arrive."""
    client.get(f"{server.url}/only")
    with pytest.raises(AssertionError, match=r"1 of 2 requests arrived within 0 s:\n  GET /only"):
        server.wait_for(2, timeout=0)


def test_nothing_listens_at_the_refusing_url(client: httpx.Client) -> None:
    """Connections are refused."""
    with pytest.raises(httpx.ConnectError):
        client.get(refusing_url())


def test_it_can_be_down_and_come_back(server: FaultyServer, client: httpx.Client) -> None:
    """Down it refuses connections; back it answers on the same port."""
    server.stop_listening()
    with pytest.raises(httpx.ConnectError):
        client.get(server.url)
    server.listen()
    assert client.get(server.url).status_code == 200


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (Closed(), httpx.RemoteProtocolError),
        (Closed(sent=20), httpx.RemoteProtocolError),
        (Garbage(), httpx.RemoteProtocolError),
        (Reset("before"), httpx.ReadError),
        (Reset("head"), httpx.ReadError),
        (Reset("body"), httpx.ReadError),
    ],
    ids=["closed", "closed in the head", "garbage", "reset", "reset in the head", "reset in the body"],
)
def test_it_breaks_the_answer_off(
    server: FaultyServer, client: httpx.Client, behaviour: Behaviour, error: type[Exception]
) -> None:
    """An orderly end, a reset and nonsense are each seen as such, and the next request does well."""
    server.script([behaviour])
    with pytest.raises(error):
        client.get(server.url)
    assert client.get(server.url).status_code == 200


@pytest.mark.parametrize("behaviour", [Silent(), Silent(reads=False), Held()], ids=["silent", "unread", "held"])
def test_it_is_silent(server: FaultyServer, client: httpx.Client, behaviour: Behaviour) -> None:
    """The client hears nothing until its own patience ends."""
    server.script([behaviour])
    with pytest.raises(httpx.ReadTimeout):
        client.get(server.url, timeout=httpx.Timeout(5, read=0.05))


def test_a_silence_ends_when_it_is_released(server: FaultyServer) -> None:
    """Then the connection ends without an answer."""
    server.script([Silent()])
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        server.wait_for(1)
        server.release()
        assert connection.recv(100) == b""


def test_a_silence_ends_when_the_server_closes() -> None:
    """No thread waits for a client that never goes."""
    with FaultyServer(Silent()) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        server.wait_for(1)
        server.close()
        assert connection.recv(100) == b""


def test_unread_silence_blocks_a_large_request(server: FaultyServer, client: httpx.Client) -> None:
    """What the server never reads fills the buffers between, and then the sender waits."""
    server.script([Silent(reads=False)])
    with pytest.raises(httpx.WriteTimeout):
        client.post(server.url, content=b"x" * 30_000_000, timeout=httpx.Timeout(5, write=0.2))
    assert server.requests == []


def test_a_held_answer_comes_when_it_is_released(server: FaultyServer) -> None:
    """The request is known before, the answer comes after."""
    server.script([Held(ACCEPTED)])
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        server.wait_for(1)
        server.release()
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 202


def test_a_slow_answer_is_a_good_one(server: FaultyServer, client: httpx.Client) -> None:
    """It comes late and whole."""
    server.script([Slow(0.01, ACCEPTED)])
    assert client.get(server.url).status_code == 202


@pytest.mark.parametrize("part", ["head", "body"])
def test_it_trickles_byte_by_byte(server: FaultyServer, part: str) -> None:
    """Bytes keep coming, so that no wait for the next one ever ends the request; the answer is far from its end."""
    server.script([Trickling("head" if part == "head" else "body", pause=0.001)])
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        received = b""
        while len(received) < 100:
            received += connection.recv(1)
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (b"\r\n\r\nxx" in received) == (part == "body")


def test_a_trickle_comes_to_its_end(server: FaultyServer, client: httpx.Client) -> None:
    """Without padding it is a slow but whole answer."""
    server.script([Trickling("body", pause=0, padding=0, answer=Answer(200, {}, b"whole"))])
    assert client.get(server.url).content == b"whole"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_it_redirects(server: FaultyServer, client: httpx.Client, status: int) -> None:
    """The answer names the other place."""
    server.script([Redirect("http://localhost:1/there", status)])
    answer = client.post(server.url)
    assert (answer.status_code, answer.headers["Location"]) == (status, "http://localhost:1/there")


@pytest.mark.parametrize(
    ("limit", "items", "status"),
    [
        (TooLarge(max_items=2), 2, 202),
        (TooLarge(max_items=2), 3, 413),
        (TooLarge(max_bytes=9), 3, 202),
        (TooLarge(max_bytes=8), 3, 413),
        (TooLarge(max_bytes=9, max_items=2), 3, 413),
    ],
    ids=["items at limit", "items over", "bytes at limit", "bytes over", "one of two over"],
)
def test_it_finds_a_request_too_large(
    server: FaultyServer, client: httpx.Client, limit: TooLarge, items: int, status: int
) -> None:
    """413 by the length before compression, or by the number of items."""
    server.script([limit])
    body = gzip.compress(json.dumps([1] * items).encode())
    assert client.post(server.url, content=body, headers={"Content-Encoding": "gzip"}).status_code == status


def test_it_takes_a_part_of_the_logs(server: FaultyServer, client: httpx.Client) -> None:
    """The answer is OTLP's partial success for logs."""
    server.script([PartialSuccess(3, "full")])
    answer = ExportLogsServiceResponse.FromString(client.post(f"{server.url}/v1/logs").content)
    assert (answer.partial_success.rejected_log_records, answer.partial_success.error_message) == (3, "full")


def test_it_takes_a_part_of_the_spans(server: FaultyServer, client: httpx.Client) -> None:
    """The answer is OTLP's partial success for traces."""
    server.script([PartialSuccess(3, "full")])
    answer = ExportTraceServiceResponse.FromString(client.post(f"{server.url}/v1/traces").content)
    assert (answer.partial_success.rejected_spans, answer.partial_success.error_message) == (3, "full")


def test_a_test_may_bring_its_own_behaviour(server: FaultyServer, client: httpx.Client) -> None:
    """Anything that performs an exchange will do."""

    class Teapot:
        def perform(self, exchange: Exchange) -> None:
            Answer(418, body=exchange.request.body).perform(exchange)

    server.script([Teapot()])
    assert client.post(server.url, content=b"tea").content == b"tea"


def test_it_leaves_no_thread_behind(client: httpx.Client) -> None:
    """After its end all its threads have ended."""
    before = set(threading.enumerate())
    with FaultyServer() as server:
        client.get(server.url)
    assert set(threading.enumerate()) <= before
