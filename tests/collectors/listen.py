"""The project's own collector, `errorsink listen --json`, as a `Server`."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from typing import Any

from tests.collectors.contract import CollectorUnavailable
from tests.collectors.json_lines import GrowingFile
from tests.collectors.received import ReceivedEvent, ReceivedLink, ReceivedLog, ReceivedSpan, Scope, Value
from tests.collectors.server import ProcessServer


class ListenServer(ProcessServer):
    """The process, and the file of its output, which is kept over restarts. A `Server`."""

    name = "listen"

    def __init__(self) -> None:
        super().__init__()
        self._logs = GrowingFile(self.output, lambda line: [_log(fields) for fields in _fields(line, "log")])
        self._spans = GrowingFile(self.output, lambda line: [_span(fields) for fields in _fields(line, "span")])

    def command(self, ports: list[int]) -> list[str]:
        options = ["--json", "--grpc-port", str(ports[0]), "--http-port", str(ports[1])]
        return [sys.executable, "-m", "errorsink", "listen", *options]

    def all_logs(self) -> list[ReceivedLog]:
        return self._logs.records()

    def all_spans(self) -> list[ReceivedSpan]:
        return self._spans.records()


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
