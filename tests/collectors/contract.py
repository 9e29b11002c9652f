"""What a test sees of a collector, and what a collector has to bring along to be seen so."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Protocol, TypeVar

if TYPE_CHECKING:
    # For its types alone: the fixtures must load where protobuf is not installed.
    from tests.collectors.received import ReceivedLog, ReceivedSpan

T = TypeVar("T")

ARRIVAL_TIMEOUT = 10.0
"""Seconds that a record may take from its sender to the test; a loaded machine needs some of them."""


@dataclass(frozen=True)
class Endpoints:
    """Where a collector takes OTLP: base URLs without a path."""

    grpc: str
    http: str


class CollectorUnavailable(Exception):
    """This machine can't run the collector; the text says what is missing."""


class Collector(Protocol):
    """A running collector, as one test sees it: only what arrived since the test began."""

    @property
    def name(self) -> str:
        """Which implementation it is."""
        ...

    @property
    def endpoints(self) -> Endpoints:
        """Where it takes OTLP."""
        ...

    @property
    def datadog(self) -> str | None:
        """The base URL of its Datadog intake, if it has one."""
        ...

    def logs(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedLog]:
        """Waits until at least `count` logs have arrived and returns all. AssertionError after `timeout` seconds."""
        ...

    def spans(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedSpan]:
        """Waits until at least `count` spans have arrived and returns all. AssertionError after `timeout` seconds."""
        ...

    def datadog_logs(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedLog]:
        """The same for what its Datadog intake has decoded."""
        ...

    def stop(self) -> None:
        """Ends the process. Its ports are closed then, and refuse connections."""
        ...

    def start(self) -> None:
        """Starts it again on the same ports, ready when this returns."""
        ...

    def restart(self) -> None:
        """Stops and starts it."""
        ...


class Server(Protocol):
    """What an implementation brings along: the process, and everything that has ever arrived at it."""

    @property
    def name(self) -> str: ...
    @property
    def endpoints(self) -> Endpoints: ...
    @property
    def datadog(self) -> str | None: ...
    @property
    def running(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None:
        """Stops it for good and removes its files."""

    def all_logs(self) -> list[ReceivedLog]: ...
    def all_spans(self) -> list[ReceivedSpan]: ...
    def all_datadog_logs(self) -> list[ReceivedLog]: ...
    def report(self) -> str:
        """What is known of it, for a failure message: command, exit status, the last lines that it wrote."""
        ...


class View:
    """A `Server` as one test sees it. A `Collector`."""

    def __init__(self, server: Server) -> None:
        if not server.running:
            server.start()
        self._server = server
        self._logs_before = len(server.all_logs())
        self._spans_before = len(server.all_spans())
        self._datadog_before = len(server.all_datadog_logs())

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def endpoints(self) -> Endpoints:
        return self._server.endpoints

    @property
    def datadog(self) -> str | None:
        return self._server.datadog

    def logs(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedLog]:
        return self._arrived("logs", lambda: self._server.all_logs()[self._logs_before :], count, timeout)

    def spans(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedSpan]:
        return self._arrived("spans", lambda: self._server.all_spans()[self._spans_before :], count, timeout)

    def datadog_logs(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[ReceivedLog]:
        read = self._server.all_datadog_logs
        return self._arrived("Datadog logs", lambda: read()[self._datadog_before :], count, timeout)

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()

    def restart(self) -> None:
        self._server.stop()
        self._server.start()

    def _arrived(self, what: str, read: Callable[[], list[T]], count: int, timeout: float) -> list[T]:
        if wait_until(lambda: len(read()) >= count, timeout):
            return read()
        arrived = read()
        listed = "\n".join(f"  {record}" for record in arrived) or "  none"
        raise AssertionError(
            f"{self.name}: {len(arrived)} of {count} {what} arrived within {timeout} s:\n{listed}\n"
            f"{self._server.report()}"
        )


def wait_until(condition: Callable[[], bool], timeout: float) -> bool:
    """Tells whether `condition` came true within `timeout` seconds. It is asked every 10 ms."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not condition():
        if time.monotonic() >= deadline:
            return False
        pause.wait(0.01)
    return True
