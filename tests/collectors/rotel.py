"""rotel, a collector in Rust from PyPI. It writes no files, so it forwards to a gRPC sink in the test process."""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from pathlib import Path

from tests.collectors.contract import CollectorUnavailable
from tests.collectors.grpc_sink import GrpcSink
from tests.collectors.received import ReceivedLog, ReceivedSpan
from tests.collectors.server import ProcessServer


class RotelServer(ProcessServer):
    """The process and the sink behind it. A `Server`."""

    name = "rotel"

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self._sink = GrpcSink()
        super().__init__()

    def command(self, ports: list[int]) -> list[str]:
        return [
            str(self._binary),
            "start",
            *("--otlp-grpc-endpoint", f"127.0.0.1:{ports[0]}"),
            *("--otlp-http-endpoint", f"127.0.0.1:{ports[1]}"),
            *("--exporter", "otlp"),
            *("--otlp-exporter-endpoint", self._sink.url),
            *("--otlp-exporter-protocol", "grpc"),
            *("--otlp-exporter-compression", "none"),
            *("--batch-timeout", "20ms"),
            *("--pid-file", str(self.directory / "pid")),
            *("--log-file", str(self.directory / "log")),
        ]

    def environ(self) -> dict[str, str]:
        """Lets the program find libpython, and keeps it from reaching the sink through a proxy."""
        library = str(sysconfig.get_config_var("LIBDIR") or "")
        already = os.environ.get("LD_LIBRARY_PATH")
        return {"LD_LIBRARY_PATH": f"{library}{os.pathsep}{already}" if already else library, "NO_PROXY": "127.0.0.1"}

    def close(self) -> None:
        super().close()
        self._sink.close()

    def all_logs(self) -> list[ReceivedLog]:
        return self._sink.logs()

    def all_spans(self) -> list[ReceivedSpan]:
        return self._sink.spans()


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
