"""The project's own collector, `errorsink listen --json`, as a `Server`."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, Iterator

from tests.collectors.contract import CollectorUnavailable, Endpoints
from tests.collectors.process import ServerProcess, free_ports
from tests.collectors.received import ReceivedEvent, ReceivedLink, ReceivedLog, ReceivedSpan, Scope, Value


class Listen:
    """`errorsink listen --json` on ports of its own. Its output is kept over restarts."""

    name = "listen"
    datadog = None

    def __init__(self, directory: Path) -> None:
        """Keeps its output in `directory`. CollectorUnavailable where the extra `otel` isn't installed."""
        if importlib.util.find_spec("grpc") is None:
            raise CollectorUnavailable("errorsink listen needs the extra errorsink[otel]")
        grpc, http = free_ports(2)
        self.endpoints = Endpoints(f"http://127.0.0.1:{grpc}", f"http://127.0.0.1:{http}")
        self._output = directory / "listen.jsonl"
        options = ["--json", "--grpc-port", str(grpc), "--http-port", str(http)]
        self._process = ServerProcess(
            [sys.executable, "-m", "errorsink", "listen", *options], [grpc, http], self._output
        )

    @property
    def running(self) -> bool:
        return self._process.running

    def start(self) -> None:
        self._process.start()

    def stop(self) -> None:
        self._process.stop()

    def close(self) -> None:
        self.stop()
        self._output.unlink(missing_ok=True)

    def all_logs(self) -> list[ReceivedLog]:
        return [_log(fields) for fields in self._lines("log")]

    def all_spans(self) -> list[ReceivedSpan]:
        return [_span(fields) for fields in self._lines("span")]

    def all_datadog_logs(self) -> list[ReceivedLog]:
        return []

    def report(self) -> str:
        return self._process.report()

    def _lines(self, signal: str) -> Iterator[dict[str, Any]]:
        """The whole lines of one signal; what it says on standard error is in the same file."""
        written = self._output.read_text("utf-8") if self._output.exists() else ""
        for line in written[: written.rfind("\n") + 1].splitlines():
            if line.startswith("{"):
                fields: dict[str, Any] = json.loads(line)
                if fields.pop("signal") == signal:
                    yield fields


def _log(fields: dict[str, Any]) -> ReceivedLog:
    return ReceivedLog(**_common(fields), body=_value(fields.pop("body")), **fields)


def _span(fields: dict[str, Any]) -> ReceivedSpan:
    events = [ReceivedEvent(**_with_attributes(event)) for event in fields.pop("events")]
    links = [ReceivedLink(**_with_attributes(link)) for link in fields.pop("links")]
    return ReceivedSpan(**_common(fields), events=events, links=links, **fields)


def _common(fields: dict[str, Any]) -> dict[str, Any]:
    """Takes out what logs and spans share and what isn't plain."""
    return {
        "attributes": _value(fields.pop("attributes")),
        "resource": _value(fields.pop("resource")),
        "scope": Scope(**_with_attributes(fields.pop("scope"))),
    }


def _with_attributes(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "attributes": _value(fields["attributes"])}


def _value(value: Any) -> Value:
    """A value of a JSON line; bytes are an object with the one key `bytes`."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"bytes"}:
            return base64.b64decode(value["bytes"])
        return {key: _value(item) for key, item in value.items()}
    plain: Value = value
    return plain
