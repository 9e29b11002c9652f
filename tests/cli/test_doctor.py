"""`errorsink doctor`."""

from __future__ import annotations

import os
import socket
from typing import Callable

import pytest

from errorsink._settings import TABLE
from errorsink.cli import main
from errorsink.cli.receiver import Inbox, Receiver

Findings = dict[str, list[str]]


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from the environment of the tests, and no proxy stands before this machine."""
    for name in list(os.environ):
        if name.startswith("ERRORSINK_") or name in {row.env for row in TABLE.values()}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def findings(capsys: pytest.CaptureFixture[str]) -> Callable[[], Findings]:
    """What was printed: the findings by their first column."""

    def read() -> Findings:
        found: Findings = {}
        for line in capsys.readouterr().out.splitlines():
            what, _, text = line.partition(" ")
            found.setdefault(what, []).append(text.strip())
        return found

    return read


def test_all_is_well(monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings]) -> None:
    """Exit status 0: one test error has arrived as log and span."""
    inbox = Inbox()
    with Receiver(inbox, grpc_port=None) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.http_endpoint)
        assert main(["doctor", "--timeout", "60"]) == 0
    found = findings()
    assert found["otel_logs"] == found["otel_spans"] == ["delivered a test error"]
    assert found["datadog"] == ["off; ERRORSINK_DATADOG=1 switches it on, and says what it lacks"]
    assert [log.attributes["errorsink.code"] for log in inbox.logs] == ["DOCTOR"]


def test_a_collector_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings]) -> None:
    """Exit status 1, and the sink says what it saw."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets this port, and it refuses
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}/v1/logs")
        monkeypatch.setenv("ERRORSINK_RETRY_WINDOW", "0")
        assert main(["doctor", "--timeout", "60"]) == 1
    (text,) = findings()["otel_logs"]
    assert text.startswith("delivered nothing: ")
    assert "can't be reached" in text


def test_a_wrong_path(monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings]) -> None:
    """A base endpoint that ends in a signal's path is doubted before it fails."""
    with Receiver(Inbox(), grpc_port=None) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{receiver.http_endpoint}/v1/logs")
        assert main(["doctor", "--timeout", "60"]) == 1
    found = findings()
    assert found["setting"][0].startswith("OTEL_EXPORTER_OTLP_ENDPOINT ends in /v1/logs")
    assert "404" in found["otel_logs"][0]


@pytest.mark.parametrize(
    ("variables", "status", "what", "said"),
    [
        ({}, 2, "otel_logs", "off; ERRORSINK_OTEL_LOGS=1 switches it on, and says what it lacks"),
        ({"DISABLE_ERROR_REPORTING": "1"}, 2, "gate", "closed (disabled): nothing is kept or sent"),
        ({"ERRORSINK_OTEL_LOGS": "0"}, 2, "otel_logs", "off: ERRORSINK_OTEL_LOGS says so"),
        ({"ERRORSINK_DATADOG": "1"}, 2, "datadog", "off, though ERRORSINK_DATADOG is set: standard error says what"),
        ({"ERRORSINK_DEBUGG": "1"}, 2, "setting", "ERRORSINK_DEBUGG is no setting; did you mean ERRORSINK_DEBUG?"),
        ({"ERRORSINK_BATCH_SIZE": "x"}, 2, "setting", "ERRORSINK_BATCH_SIZE: expected a whole number"),
    ],
    ids=["nothing is on", "gate", "switched off", "lacking", "misspelt", "unusable"],
)
def test_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch,
    findings: Callable[[], Findings],
    variables: dict[str, str],
    status: int,
    what: str,
    said: str,
) -> None:
    """Exit status 2 where no sink is on, and the reason why."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["doctor", "--timeout", "60"]) == status
    assert findings()[what][0].startswith(said)


@pytest.mark.parametrize(
    ("port", "protocol", "doubtful"),
    [
        ("4317", "http/protobuf", True),
        ("4318", "grpc", True),
        ("4318", "http/protobuf", False),
        ("4317", "grpc", False),
    ],
)
def test_ports_of_the_other_protocol(
    monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings], port: str, protocol: str, doubtful: bool
) -> None:
    """4317 is gRPC's and 4318 HTTP's, by custom."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    monkeypatch.setenv("DISABLE_ERROR_REPORTING", "1")
    assert main(["doctor"]) == 2
    assert bool(findings().get("setting")) == doubtful
