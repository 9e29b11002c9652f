"""The collectors as pytest fixtures: one process a session, one view of it a test.

A collector that this machine can't run is a skip with the reason; with `CI` set it is a failure, since nobody reads
the skips of a CI run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Callable, Iterator

import pytest

from tests.collectors.contract import Collector, CollectorUnavailable, Server, View

if TYPE_CHECKING:
    from tests.collectors.otelcol import OtelcolServer


# Imported when first asked for: these fixtures load for every test, also where grpc is not installed.
def _otelcol() -> Server:
    from tests.collectors.otelcol import start_otelcol

    return start_otelcol()


def _rotel() -> Server:
    from tests.collectors.rotel import start_rotel

    return start_rotel()


def _listen() -> Server:
    from tests.collectors.listen import start_listen

    return start_listen()


STARTERS: dict[str, Callable[[], Server]] = {"listen": _listen, "otelcol": _otelcol, "rotel": _rotel}
"""Every implementation by its name; the `collector` fixture runs a test once with each."""

_NO = {"", "0", "false", "no", "off"}


class RunningServers:
    """The servers of a session, each started when it is first asked for."""

    def __init__(self, starters: dict[str, Callable[[], Server]]) -> None:
        self._starters = starters
        self._started: dict[str, Server | CollectorUnavailable] = {}

    def get(self, name: str) -> Server:
        """Returns a running server. CollectorUnavailable, every time, if it could not be started."""
        if name not in self._started:
            try:
                self._started[name] = self._starters[name]()
            except CollectorUnavailable as error:
                self._started[name] = error
            except ImportError as error:
                self._started[name] = CollectorUnavailable(f"its tests need a package more: {error}")
        server = self._started[name]
        if isinstance(server, CollectorUnavailable):
            raise server
        return server

    def close(self) -> None:
        """Stops them all."""
        for server in self._started.values():
            if not isinstance(server, CollectorUnavailable):
                server.close()


@pytest.fixture(scope="session")
def running_servers() -> Iterator[RunningServers]:
    """The servers of this session."""
    servers = RunningServers(STARTERS)
    yield servers
    servers.close()


def server_or_skip(servers: RunningServers, name: str) -> Server:
    """Returns a running server; skips the test, or fails it in CI, when this machine can't run it."""
    try:
        return servers.get(name)
    except CollectorUnavailable as error:
        if os.environ.get("CI", "").strip().lower() in _NO:
            pytest.skip(f"no {name}: {error}")
        pytest.fail(f"no {name}, and CI is set: {error}", pytrace=False)


@pytest.fixture(params=list(STARTERS))
def collector(request: pytest.FixtureRequest, running_servers: RunningServers) -> Collector:
    """Each collector in turn, holding nothing yet."""
    return View(server_or_skip(running_servers, request.param))


@pytest.fixture
def otelcol(running_servers: RunningServers) -> Collector:
    """The OpenTelemetry Collector, holding nothing yet; it has a Datadog intake too."""
    return View(server_or_skip(running_servers, "otelcol"))


@pytest.fixture
def otelcol_server(otelcol: Collector, running_servers: RunningServers) -> OtelcolServer:
    """The process behind `otelcol`, for its guarded and its refusing endpoints."""
    from tests.collectors.otelcol import OtelcolServer

    server = running_servers.get("otelcol")
    assert isinstance(server, OtelcolServer)
    return server
