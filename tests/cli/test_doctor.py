"""`errorsink doctor`."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Callable

import pytest

from errorsink._settings import TABLE
from errorsink._spool import Spool
from errorsink.cli import main
from errorsink.cli.receiver import Inbox, Receiver
from errorsink.model import ErrorRecord

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
        (
            {"OTEL_SDK_DISABLED": "true"},
            2,
            "otel_spans",
            "off: OTEL_SDK_DISABLED=true says so; ERRORSINK_OTEL_SPANS=1 ",
        ),
        (
            {"OTEL_LOGS_EXPORTER": "None"},
            2,
            "otel_logs",
            "off: OTEL_LOGS_EXPORTER=none says so; ERRORSINK_OTEL_LOGS=1 ",
        ),
        ({"OTEL_LOGS_EXPORTER": "none"}, 2, "otel_spans", "off; ERRORSINK_OTEL_SPANS=1 switches it on, and says"),
        ({"OTEL_TRACES_EXPORTER": "none"}, 2, "otel_spans", "off: OTEL_TRACES_EXPORTER=none says so"),
        ({"DD_API_KEY": "k", "DD_SITE": "a b"}, 2, "datadog", "off: standard error says why"),
        ({"ERRORSINK_OTEL_LOGS": "perhaps"}, 2, "otel_logs", "off; ERRORSINK_OTEL_LOGS=1 switches it on, and says"),
        ({"ERRORSINK_DATADOG": "1"}, 2, "datadog", "off, though ERRORSINK_DATADOG is set: standard error says what"),
        ({"ERRORSINK_DEBUGG": "1"}, 2, "setting", "ERRORSINK_DEBUGG is no setting; did you mean ERRORSINK_DEBUG?"),
        ({"ERRORSINK_BATCH_SIZE": "x"}, 2, "setting", "ERRORSINK_BATCH_SIZE: expected a whole number"),
    ],
    ids=[
        *("nothing is on", "gate", "switched off", "disabled", "no logs", "no logs, yet spans", "no traces"),
        *("unusable site", "unusable switch", "lacking", "misspelt", "unusable"),
    ],
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


def test_a_problem_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A variable that can't be used is a finding, and no diagnostic on standard error beside it."""
    monkeypatch.setenv("ERRORSINK_BATCH_SIZE", "x")
    assert main(["doctor", "--timeout", "60"]) == 2
    said = capsys.readouterr()
    assert said.out.count("ERRORSINK_BATCH_SIZE") == 1
    assert said.err == ""


def test_an_unusable_endpoint_leaves_nothing_on(
    monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings]
) -> None:
    """Exit status 2, that no sink is on, and not 1, that a setting can't be used, where both are true."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://127.0.0.1")
    assert main(["doctor", "--timeout", "60"]) == 2
    assert findings()["setting"][0].startswith("OTEL_EXPORTER_OTLP_ENDPOINT: expected")


@pytest.fixture
def spool_finding(
    monkeypatch: pytest.MonkeyPatch, findings: Callable[[], Findings]
) -> Callable[[Path], tuple[int, list[str]]]:
    """The exit status, and what is said of a spool in a folder, while a collector takes the test error."""

    def look(directory: Path) -> tuple[int, list[str]]:
        with Receiver(Inbox(), grpc_port=None) as receiver:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.http_endpoint)
            monkeypatch.setenv("ERRORSINK_SPOOL_DIR", str(directory))
            status = main(["doctor", "--timeout", "60"])
        return status, findings()["spool"]

    return look


def test_a_spool_that_is_not_there_yet(tmp_path: Path, spool_finding: Callable[[Path], tuple[int, list[str]]]) -> None:
    """It is not made, since the program may be another user's."""
    directory = tmp_path / "a" / "spool"
    assert spool_finding(directory) == (0, [f"{directory} is made at the first report"])
    assert not directory.exists()


def test_a_spool_with_reports(tmp_path: Path, spool_finding: Callable[[Path], tuple[int, list[str]]]) -> None:
    """It says how many wait for each sink, and leaves them there."""
    spool = Spool(str(tmp_path), max_bytes=1_000_000, max_age=60, diagnose=print)
    records = [ErrorRecord(str(number), 0, "ValueError", "boom", "ValueError: boom", "print") for number in range(3)]
    spool.append(records, ["otel_logs"])
    spool.append(records[:1], ["datadog"])
    spool.close()
    said = f"{tmp_path} can be used; reports in it: 1 wait for datadog, 3 wait for otel_logs"
    assert [spool_finding(tmp_path), spool_finding(tmp_path)] == [(0, [said])] * 2


def test_a_spool_that_cannot_be_used(tmp_path: Path, spool_finding: Callable[[Path], tuple[int, list[str]]]) -> None:
    """Exit status 1, although every sink has delivered."""
    file = tmp_path / "file"
    file.touch()
    status, (inside,) = spool_finding(file / "spool")
    assert (status, inside) == (1, f"{file / 'spool'} isn't there and can't be made: {file} can't be written")
    status, (itself,) = spool_finding(file)
    assert status == 1
    assert itself.startswith(f"off: ERRORSINK_SPOOL_DIR: {file} can't be used")
