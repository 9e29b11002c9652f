"""rotel, a collector in Rust from PyPI. It writes no files, so it forwards to a gRPC sink in the test process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
import tempfile
from pathlib import Path

from tests.collectors.contract import CollectorUnavailable, Endpoints
from tests.collectors.grpc_sink import GrpcSink
from tests.collectors.process import DidNotStart, ServerProcess, free_ports
from tests.collectors.received import ReceivedLog, ReceivedSpan

_STARTS = 3


class RotelServer:
    """The process and the sink behind it. A `Server`."""

    name = "rotel"
    datadog: str | None = None

    def __init__(self, binary: Path) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="rotel-"))
        self._sink = GrpcSink()
        try:
            self._first_start(binary)
        except BaseException:
            self.close()
            raise

    def _first_start(self, binary: Path) -> None:
        """Starts it on free ports, and on others if somebody else has taken one meanwhile."""
        for attempt in range(1, _STARTS + 1):
            grpc, http = free_ports(2)
            self.endpoints = Endpoints(f"http://127.0.0.1:{grpc}", f"http://127.0.0.1:{http}")
            self._process = ServerProcess(
                self._command(binary, grpc, http), [grpc, http], self._directory / "output.log", _environ()
            )
            try:
                return self._process.start()
            except DidNotStart as error:
                if attempt == _STARTS:
                    raise CollectorUnavailable(f"rotel did not start: {error}\n{self._log()}") from error
        return None

    @property
    def running(self) -> bool:
        return self._process.running

    def start(self) -> None:
        self._process.start()

    def stop(self) -> None:
        self._process.stop()

    def close(self) -> None:
        """Stops it and its sink, and removes its files."""
        if hasattr(self, "_process"):
            self._process.stop()
        self._sink.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def all_logs(self) -> list[ReceivedLog]:
        return self._sink.logs()

    def all_spans(self) -> list[ReceivedSpan]:
        return self._sink.spans()

    def all_datadog_logs(self) -> list[ReceivedLog]:
        return []

    def report(self) -> str:
        return f"{self._process.report()}\n{self._log()}"

    def _command(self, binary: Path, grpc: int, http: int) -> list[str]:
        return [
            str(binary),
            "start",
            *("--otlp-grpc-endpoint", f"127.0.0.1:{grpc}"),
            *("--otlp-http-endpoint", f"127.0.0.1:{http}"),
            *("--exporter", "otlp"),
            *("--otlp-exporter-endpoint", self._sink.url),
            *("--otlp-exporter-protocol", "grpc"),
            *("--otlp-exporter-compression", "none"),
            *("--batch-timeout", "20ms"),
            *("--pid-file", str(self._directory / "pid")),
            *("--log-file", str(self._directory / "rotel.log")),
        ]

    def _log(self) -> str:
        path = self._directory / "rotel.log"
        return f"its log:\n{path.read_text(errors='replace')[-4000:]}" if path.exists() else "its log: none"


def start_rotel() -> RotelServer:
    """Starts rotel from its wheel. CollectorUnavailable if there is no wheel, or no shared libpython for it."""
    package = importlib.util.find_spec("rotel")
    if package is None or package.origin is None:
        raise CollectorUnavailable("the package rotel is not installed (it has no wheel for this machine, perhaps)")
    binary = Path(package.origin).with_name("rotel-agent")
    if not binary.exists():
        raise CollectorUnavailable(f"the package rotel has no {binary.name}")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") and os.name == "posix":
        raise CollectorUnavailable("rotel needs a shared libpython, and this Python was built without one")
    return RotelServer(binary)


def _environ() -> dict[str, str]:
    """Lets the program find libpython, and keeps it from reaching the sink through a proxy."""
    library = str(sysconfig.get_config_var("LIBDIR") or "")
    already = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{library}{os.pathsep}{already}" if already else library, "NO_PROXY": "127.0.0.1"}
