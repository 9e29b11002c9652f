"""The project's own collector, `errorsink listen --json`, as a `Server`."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.collectors.contract import CollectorUnavailable, Endpoints
from tests.collectors.json_lines import GrowingFile
from tests.collectors.process import DidNotStart, ServerProcess, free_ports
from tests.collectors.received import ReceivedEvent, ReceivedLink, ReceivedLog, ReceivedSpan, Scope, Value

_STARTS = 3


class ListenServer:
    """The process, and the file of its output, which is kept over restarts. A `Server`."""

    name = "listen"
    datadog: str | None = None

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="listen-"))
        output = self._directory / "output.jsonl"
        self._logs = GrowingFile(output, lambda line: [_log(fields) for fields in _fields(line, "log")])
        self._spans = GrowingFile(output, lambda line: [_span(fields) for fields in _fields(line, "span")])
        try:
            self._first_start(output)
        except BaseException:
            self.close()
            raise

    def _first_start(self, output: Path) -> None:
        """Starts it on free ports, and on others if somebody else has taken one meanwhile."""
        for attempt in range(1, _STARTS + 1):
            grpc, http = free_ports(2)
            self.endpoints = Endpoints(f"http://127.0.0.1:{grpc}", f"http://127.0.0.1:{http}")
            options = ["--json", "--grpc-port", str(grpc), "--http-port", str(http)]
            command = [sys.executable, "-m", "errorsink", "listen", *options]
            self._process = ServerProcess(command, [grpc, http], output)
            try:
                return self._process.start()
            except DidNotStart as error:
                if attempt == _STARTS:
                    raise CollectorUnavailable(f"errorsink listen did not start: {error}") from error
        return None

    @property
    def running(self) -> bool:
        return self._process.running

    def start(self) -> None:
        self._process.start()

    def stop(self) -> None:
        self._process.stop()

    def close(self) -> None:
        """Stops it and removes its file."""
        if hasattr(self, "_process"):
            self._process.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def all_logs(self) -> list[ReceivedLog]:
        return self._logs.records()

    def all_spans(self) -> list[ReceivedSpan]:
        return self._spans.records()

    def all_datadog_logs(self) -> list[ReceivedLog]:
        return []

    def report(self) -> str:
        return self._process.report()


def start_listen() -> ListenServer:
    """Starts the project's own collector. CollectorUnavailable where the extra `otel` isn't installed."""
    if importlib.util.find_spec("grpc") is None:
        raise CollectorUnavailable("errorsink listen needs the extra: pip install 'errorsink[otel]'")
    return ListenServer()


def _fields(line: bytes, signal: str) -> list[dict[str, Any]]:
    """The fields of a line of this signal; none of other lines, such as those of standard error."""
    if not line.startswith(b"{"):
        return []
    fields: dict[str, Any] = json.loads(line)
    return [fields] if fields.pop("signal") == signal else []


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
