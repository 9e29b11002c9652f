"""What the collectors that are processes have in common."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Mapping

from tests.collectors.contract import CollectorUnavailable, Endpoints
from tests.collectors.process import DidNotStart, ServerProcess, free_ports
from tests.collectors.received import ReceivedLog, ReceivedSpan

_STARTS = 3


class ProcessServer(ABC):
    """A collector process with a directory of its own, started by its creation. A `Server`.

    CollectorUnavailable if it doesn't start. What a subclass's `command` needs must be there before this `__init__`.
    """

    name: str
    datadog: str | None = None
    port_count = 2
    noise: str | None = None

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix=f"{self.name}-"))
        self.output = self.directory / "output"
        self._process: ServerProcess | None = None
        try:
            self._first_start()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def command(self, ports: list[int]) -> list[str]:
        """The command that listens on these ports: OTLP over gRPC on the first and over HTTP on the second."""

    @abstractmethod
    def all_logs(self) -> list[ReceivedLog]: ...

    @abstractmethod
    def all_spans(self) -> list[ReceivedSpan]: ...

    def all_datadog_logs(self) -> list[ReceivedLog]:
        return []

    def environ(self) -> Mapping[str, str]:
        """What the process needs in its environment beyond the tests' own."""
        return {}

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    def start(self) -> None:
        assert self._process is not None
        self._process.start()

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()

    def close(self) -> None:
        """Stops it and removes its files."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def report(self) -> str:
        return "never started" if self._process is None else self._process.report()

    def _first_start(self) -> None:
        """Starts it on free ports, and on others if somebody else has taken one meanwhile."""
        for attempt in range(1, _STARTS + 1):
            ports = free_ports(self.port_count)
            self.endpoints = Endpoints(url(ports[0]), url(ports[1]))
            self._process = ServerProcess(self.command(ports), ports, self.output, self.environ(), self.noise)
            try:
                return self.start()
            except DidNotStart as error:
                if attempt == _STARTS:
                    raise CollectorUnavailable(f"{self.name} did not start: {error}") from error
        return None


def url(port: int) -> str:
    """The base URL of a loopback port."""
    return f"http://127.0.0.1:{port}"
