"""Sinks and peers that are closed at a test's end; an environment without proxies and without OTEL_*."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, Protocol

import pytest
from errorsink_otel import logs_sink, spans_sink

from errorsink.sinks import Sink
from tests.otel.peers import GrpcPeer, HttpPeer, Say
from tests.otel.samples import config

FACTORIES = {"logs": logs_sink, "traces": spans_sink}


class MakeSink(Protocol):
    """Builds a sink for a signal, with an environment, and closes it when the test ends."""

    def __call__(self, signal: str, env: dict[str, str], **options: Any) -> Sink: ...


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine has set must decide nothing."""
    for name in os.environ:
        if name.lower().endswith("_proxy") or name.startswith("OTEL_"):
            monkeypatch.delenv(name)


@pytest.fixture(params=["logs", "traces"])
def signal(request: pytest.FixtureRequest) -> str:
    """Each signal."""
    name: str = request.param
    return name


@pytest.fixture
def make_sink() -> Iterator[MakeSink]:
    """Builds sinks."""
    sinks: list[Sink] = []

    def make(signal: str, env: dict[str, str], **options: Any) -> Sink:
        sink = FACTORIES[signal](config(env, **options))
        assert sink is not None
        sinks.append(sink)
        return sink

    yield make
    for sink in sinks:
        sink.close()


@pytest.fixture
def http_peer() -> Iterator[Callable[[Say], HttpPeer]]:
    """Starts HTTP peers."""
    peers: list[HttpPeer] = []

    def start(say: Say) -> HttpPeer:
        peers.append(HttpPeer(say))
        return peers[-1]

    yield start
    for peer in peers:
        peer.close()


@pytest.fixture
def grpc_peer() -> Iterator[Callable[..., GrpcPeer]]:
    """Starts gRPC peers."""
    peers: list[GrpcPeer] = []

    def start(*args: Any, **options: Any) -> GrpcPeer:
        peers.append(GrpcPeer(*args, **options))
        return peers[-1]

    yield start
    for peer in peers:
        peer.close()
