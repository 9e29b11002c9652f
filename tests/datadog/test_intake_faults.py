"""One attempt at an intake that misbehaves, over real sockets.

A peer that is silent or trickles would hold a sender without a deadline for hours; that these tests end is their point.
"""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
from typing import Any, Callable, Iterator

import pytest
from errorsink_datadog._sink import DatadogSink

from errorsink.sinks import Item
from tests.collectors.faults import (
    ACCEPTED,
    Answer,
    Behaviour,
    Closed,
    Garbage,
    Redirect,
    Reset,
    Silent,
    TooLarge,
    Trickling,
)
from tests.collectors.faulty import FaultyServer, refusing_url
from tests.datadog.samples import KEY, config, item

LOGS = [item(b'{"n":1}')]
SHORT = 0.3
"""Seconds that an attempt gets where it is to run out of time."""
ENOUGH = 20.0

MakeSink = Callable[..., DatadogSink]


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A peer that takes everything, until a test tells it otherwise."""
    with FaultyServer(ACCEPTED) as server:
        yield server


@pytest.fixture
def make_sink() -> Iterator[MakeSink]:
    """Makes sinks that send to a URL, and closes them."""
    made: list[DatadogSink] = []

    def make(url: str, **env: str) -> DatadogSink:
        made.append(DatadogSink(config({"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": url, **env})))
        return made[-1]

    yield make
    for sink in made:
        sink.close()


@pytest.fixture
def sink(server: FaultyServer, make_sink: MakeSink) -> DatadogSink:
    """A sink that sends to the server."""
    return make_sink(server.url)


def incompressible(size: int) -> list[Item]:
    """A batch that stays as large on the wire, larger than what sockets buffer."""
    return [item(random.Random(7).randbytes(size))]


@pytest.mark.parametrize(
    "behaviour",
    [
        Silent(),
        Silent(reads=False),
        Trickling("head"),
        Reset("before"),
        Reset("head"),
        Closed(),
        Closed(20),
        Garbage(),
        Garbage(b"HTTP/1.1 999999 what\r\n\r\n"),
        Garbage(b"HTTP/1.1 202 Accepted\r\nX: " + b"x" * 300_000),
        Garbage(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000),
    ],
    ids=str,
)
def test_no_answer(behaviour: Behaviour, server: FaultyServer, sink: DatadogSink) -> None:
    """However an answer fails to come, the attempt ends in its time and may be made again."""
    server.script([behaviour], then=ACCEPTED)

    first = sink.send(LOGS, SHORT)
    second = sink.send(LOGS, ENOUGH)

    assert (first.status, first.reason, second.status) == ("retry", "network", "delivered")


def test_a_peer_that_reads_nothing(server: FaultyServer, sink: DatadogSink) -> None:
    """A batch that can't be written ends in its time too."""
    server.script([Silent(reads=False)])

    assert sink.send(incompressible(12_000_000), SHORT).reason == "network"


def test_a_refused_connection(make_sink: MakeSink) -> None:
    """Nobody listens: to be tried again, and told with what to check."""
    outcome = make_sink(refusing_url()).send(LOGS, ENOUGH)

    assert (outcome.status, outcome.reason) == ("retry", "network")
    assert "ERRORSINK_DATADOG_URL" in outcome.detail


@pytest.mark.parametrize("behaviour", [Trickling("body", answer=ACCEPTED), Reset("body")], ids=str)
def test_the_status_decides(behaviour: Behaviour, server: FaultyServer, sink: DatadogSink) -> None:
    """Once the intake has said that it has the batch, a body that never ends or breaks changes nothing: sent once."""
    server.script([behaviour])

    assert sink.send(LOGS, ENOUGH).status == "delivered"


def test_a_trickling_refusal(server: FaultyServer, sink: DatadogSink) -> None:
    """The same for an answer to be tried again, with its wait."""
    server.script([Trickling("body", answer=Answer(503, {"Retry-After": "7"}))])

    outcome = sink.send(LOGS, ENOUGH)

    assert (outcome.status, outcome.reason, outcome.retry_after) == ("retry", "http-503", 7.0)


def test_a_connection_is_used_again(server: FaultyServer, sink: DatadogSink) -> None:
    """Batch after batch on one connection, also after a refusal."""
    server.script([ACCEPTED, Answer(429), Answer(413), ACCEPTED])

    for _ in range(4):
        sink.send(LOGS, ENOUGH)

    assert (len(server.requests), server.connections) == (4, 1)


def test_no_cookie_is_kept(server: FaultyServer, sink: DatadogSink) -> None:
    """What a balancer before the intake wants to have remembered isn't."""
    server.script([Answer(202, {"Set-Cookie": "a=b"}), ACCEPTED])

    for _ in range(2):
        sink.send(LOGS, ENOUGH)

    assert "cookie" not in server.requests[1].headers


def test_a_large_body_is_not_read(server: FaultyServer, sink: DatadogSink) -> None:
    """An answer with megabytes is taken by its status, and its connection given up."""
    server.script([Answer(202, body=b"x" * 50_000_000), ACCEPTED])

    statuses = [sink.send(LOGS, ENOUGH).status for _ in range(2)]

    assert (statuses, server.connections) == (["delivered"] * 2, 2)


def test_a_connection_that_the_peer_closed(server: FaultyServer, sink: DatadogSink) -> None:
    """A connection that ended between two batches costs none of them."""
    sink.send(LOGS, ENOUGH)
    server.stop_listening()
    server.listen()

    assert sink.send(LOGS, ENOUGH).status == "delivered"


def test_too_large_by_size(server: FaultyServer, sink: DatadogSink) -> None:
    """413 says so, and its half may pass."""
    server.script([], then=TooLarge(max_items=2))

    statuses = [sink.send(LOGS * count, ENOUGH).status for count in (4, 3, 2, 1)]

    assert statuses == ["too_large", "too_large", "delivered", "delivered"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host(code: int, server: FaultyServer, sink: DatadogSink) -> None:
    """The other host is never connected to."""
    with FaultyServer(ACCEPTED) as evil:
        server.script([Redirect(f"{evil.url}/api/v2/logs", code)])
        outcome = sink.send(LOGS, ENOUGH)

        assert (outcome.status, evil.connections) == ("rejected", 0)


def test_the_key_travels_in_its_header_only(server: FaultyServer, sink: DatadogSink) -> None:
    """On the wire it is in one place."""
    sink.send(LOGS, ENOUGH)

    (request,) = server.requests
    assert [name for name, value in request.headers.items() if KEY in value] == ["dd-api-key"]
    assert KEY not in request.path
    assert KEY.encode() not in request.body


def test_no_thread_is_left(server: FaultyServer, sink: DatadogSink) -> None:
    """The deadline is kept by the calling thread itself."""
    server.script([Silent()])
    before = set(threading.enumerate())

    sink.send(LOGS, SHORT)

    left = set(threading.enumerate()) - before
    assert {thread.name.split("-")[0] for thread in left} <= {"connection"}


def test_tls_with_a_silent_peer(server: FaultyServer, make_sink: MakeSink) -> None:
    """A handshake that isn't answered ends in its time."""
    server.script([Silent(reads=False)])
    sink = make_sink(server.url.replace("http:", "https:"))

    assert sink.send(LOGS, SHORT).reason == "network"


def test_the_next_address_is_tried(server: FaultyServer, make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with several addresses is reached by the first that answers."""
    found: list[Any] = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 1, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port)),
    ]
    look_up = socket.getaddrinfo
    names = {"two.example": found}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *a, **k: names.get(host) or look_up(host, *a, **k))

    assert make_sink(f"http://two.example:{server.port}").send(LOGS, ENOUGH).status == "delivered"


def test_a_name_that_cannot_be_looked_up(make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server's failure is the network's."""

    def fail(*args: object, **kwargs: object) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    outcome = make_sink("http://nowhere.example").send(LOGS, ENOUGH)

    assert (outcome.reason, "looked up" in outcome.detail) == ("network", True)


FORKING = """
import os, sys
from errorsink_datadog._sink import DatadogSink
from tests.datadog.samples import KEY, config, item
sink = DatadogSink(config({"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": sys.argv[1]}))
def send(name):
    assert sink.send([item(name)], 20).status == "delivered"
send(b'"parent"')
child = os.fork()
send(b'"child"' if child == 0 else b'"again"')
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_connections_of_its_own(server: FaultyServer) -> None:
    """Parent and child never write to one connection."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    subprocess.run([sys.executable, "-c", FORKING, server.url], check=True, timeout=60, cwd=root)

    came_on = {request.json()[0]: request.connection for request in server.requests}
    assert came_on["parent"] == came_on["again"] != came_on["child"]


def test_a_proxy(server: FaultyServer, make_sink: MakeSink) -> None:
    """Through the proxy of the usual variables, with its user and password, and the intake's name in the request."""
    word = "pass" + "word"
    proxy = server.url.replace("http://", f"http://me:{word}@")

    outcome = make_sink("http://intake.example", http_proxy=proxy).send(LOGS, ENOUGH)

    (request,) = server.requests
    assert (outcome.status, request.path) == ("delivered", "http://intake.example/api/v2/logs")
    assert request.headers["proxy-authorization"].startswith("Basic ")


def test_no_proxy(server: FaultyServer, make_sink: MakeSink) -> None:
    """A host that no_proxy lists is reached directly, whatever the proxy is."""
    sink = make_sink(server.url, http_proxy=refusing_url(), no_proxy="127.0.0.1,localhost")

    assert sink.send(LOGS, ENOUGH).status == "delivered"


def test_a_dead_proxy(make_sink: MakeSink) -> None:
    """The proxy is named in what is told, without its password."""
    word = "pass" + "word"
    proxy = refusing_url().replace("http://", f"me:{word}@")

    outcome = make_sink("http://intake.example", http_proxy=proxy).send(LOGS, ENOUGH)

    assert (outcome.status, outcome.reason) == ("retry", "network")
    assert "through the proxy 127.0.0.1:" in outcome.detail
    assert word not in outcome.detail


@pytest.mark.parametrize("answer", [Answer(407), Answer(200), Answer(502), Closed(), Garbage()], ids=str)
def test_a_tunnel_that_does_not_open(answer: Behaviour, server: FaultyServer, make_sink: MakeSink) -> None:
    """A proxy that refuses, or opens a way to nothing, fails each attempt, and takes no place of a later one."""
    server.script([], then=answer)
    sink = make_sink("https://intake.example", https_proxy=server.url)

    reasons = [sink.send(LOGS, ENOUGH).reason for _ in range(12)]

    assert reasons == ["network"] * 12
    assert sum(request.method == "CONNECT" for request in server.requests) == 12


def test_a_silent_proxy(server: FaultyServer, make_sink: MakeSink) -> None:
    """A proxy that never opens the way is given up in time."""
    server.script([Silent()])

    assert make_sink("https://intake.example", https_proxy=server.url).send(LOGS, SHORT).reason == "network"
