"""The official OpenTelemetry Collector, built from `tests/otelcol/`.

`python -m tests.collectors.otelcol` builds it and prints where it is.
"""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.collectors.contract import CollectorUnavailable, Endpoints, wait_until
from tests.collectors.json_lines import GrowingFile
from tests.collectors.otelcol_build import otelcol_binary
from tests.collectors.process import START_TIMEOUT
from tests.collectors.received import ReceivedLog, ReceivedSpan, logs_of_json, spans_of_json
from tests.collectors.server import ProcessServer, url

_REFUSING = b"Refusing data"


class OtelcolServer(ProcessServer):
    """The process, and the files to which it writes all that arrives. A `Server`.

    Beside its open OTLP endpoints it has guarded ones, which ask for `Authorization: Bearer` with `token`, and
    refusing ones, whose memory limiter is always over its limit: they answer what the Collector answers under
    pressure. What passes the guard lands in the same files.
    """

    name = "otelcol"
    port_count = 7
    # The limiter that is always over its limit says so all the time.
    noise = "memorylimiter"

    def __init__(self, binary: Path) -> None:
        self.token = uuid.uuid4().hex
        self._binary = binary
        super().__init__()
        self._logs = GrowingFile(self.directory / "logs.jsonl", logs_of_json)
        self._spans = GrowingFile(self.directory / "spans.jsonl", spans_of_json)
        self._datadog_logs = GrowingFile(self.directory / "datadog.jsonl", logs_of_json)

    def command(self, ports: list[int]) -> list[str]:
        self.guarded = Endpoints(url(ports[2]), url(ports[3]))
        self.refusing = Endpoints(url(ports[4]), url(ports[5]))
        self.datadog = url(ports[6])
        config = self.directory / "config.yaml"
        # JSON is YAML.
        config.write_text(json.dumps(_config(ports, self.token, self.directory), indent=2))
        return [str(self._binary), "--config", str(config)]

    def start(self) -> None:
        written = self.output.stat().st_size if self.output.exists() else 0
        super().start()
        # The memory limiter takes data until it has looked at the memory for the first time.
        assert wait_until(lambda: _REFUSING in self.output.read_bytes()[written:], START_TIMEOUT), self.report()

    def all_logs(self) -> list[ReceivedLog]:
        return self._logs.records()

    def all_spans(self) -> list[ReceivedSpan]:
        return self._spans.records()

    def all_datadog_logs(self) -> list[ReceivedLog]:
        return self._datadog_logs.records()


def start_otelcol() -> OtelcolServer:
    """Builds the Collector if need be and starts it. CollectorUnavailable if this machine can't."""
    return OtelcolServer(otelcol_binary())


def _config(ports: list[int], token: str, directory: Path) -> dict[str, Any]:
    addresses = [f"127.0.0.1:{port}" for port in ports]

    def otlp(grpc: str, http: str, **settings: Any) -> dict[str, Any]:
        return {"protocols": {"grpc": {"endpoint": grpc, **settings}, "http": {"endpoint": http, **settings}}}

    def file(name: str) -> dict[str, Any]:
        # Appends, so that what arrived before a restart stays.
        return {"path": str(directory / name), "append": True, "flush_interval": "20ms"}

    def pipeline(receivers: list[str], limiter: str, exporters: list[str]) -> dict[str, Any]:
        return {"receivers": receivers, "processors": [limiter], "exporters": exporters}

    taken, counted = ["otlp", "otlp/guarded"], "debug"
    return {
        "extensions": {"bearertokenauth": {"token": token}},
        "receivers": {
            "otlp": otlp(*addresses[0:2]),
            "otlp/guarded": otlp(*addresses[2:4], auth={"authenticator": "bearertokenauth"}),
            "otlp/refusing": otlp(*addresses[4:6]),
            "datadog": {"endpoint": addresses[6]},
        },
        "processors": {
            "memory_limiter": {"check_interval": "1s", "limit_mib": 1024},
            "memory_limiter/full": {"check_interval": "20ms", "limit_mib": 1},
        },
        "exporters": {
            "debug": {"verbosity": "basic"},
            "file/logs": file("logs.jsonl"),
            "file/spans": file("spans.jsonl"),
            "file/datadog": file("datadog.jsonl"),
        },
        "service": {
            "extensions": ["bearertokenauth"],
            "pipelines": {
                "logs": pipeline(taken, "memory_limiter", ["file/logs", counted]),
                "traces": pipeline(taken, "memory_limiter", ["file/spans", counted]),
                "logs/datadog": pipeline(["datadog"], "memory_limiter", ["file/datadog", counted]),
                "logs/refusing": pipeline(["otlp/refusing"], "memory_limiter/full", [counted]),
                "traces/refusing": pipeline(["otlp/refusing"], "memory_limiter/full", [counted]),
            },
        },
    }


if __name__ == "__main__":
    try:
        print(otelcol_binary())
    except CollectorUnavailable as unavailable:
        sys.exit(str(unavailable))
