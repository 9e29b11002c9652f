"""`errorsink demo`."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Callable, Sequence

import pytest

from errorsink.cli import demo, main
from errorsink.cli.receiver import Received
from tests.cli.listening import COMMAND
from tests.cli.otlp import LOG, REAL_SPAN

KINDS = ("PaymentError", "ExceptionGroup", "LookupError", "dict", "RecursionError")


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_every_error_arrives_over_both_signals(protocol: str) -> None:
    """Exit status 0, and a row for each of five errors with both arrivals."""
    ended = subprocess.run(
        [*COMMAND, "demo", "--protocol", protocol], capture_output=True, encoding="utf-8", timeout=120
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "5 errors reported: 5 logs and 5 spans arrived." in ended.stdout
    assert "missing" not in ended.stdout
    assert re.findall(r"^(\w+) .* (?:\d+ µs|by a hook) +\d+ ms +\d+ ms$", ended.stdout, re.MULTILINE) == list(KINDS)


@pytest.mark.parametrize(
    "hostile",
    [
        {"DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_USE_BEDROCK": "1"},
        {"OTEL_SDK_DISABLED": "true", "ERRORSINK_OTEL_LOGS": "0", "OTEL_TRACES_EXPORTER": "none"},
        {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "grpc_proxy": "http://127.0.0.1:9"},
    ],
    ids=["gates", "switches", "proxies"],
)
def test_the_environment_can_not_spoil_it(hostile: dict[str, str]) -> None:
    """Whatever a shell has set, the demo shows errorsink at work."""
    ended = subprocess.run(
        [*COMMAND, "demo"], capture_output=True, encoding="utf-8", timeout=120, env={**os.environ, **hostile}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Replaces the program that the demo watches by one that says this and ends so."""

    def replace(said: str, status: int) -> None:
        ended = subprocess.CompletedProcess([], status, said, "its complaint")
        monkeypatch.setattr(demo, "_run_program", lambda target: ended)
        monkeypatch.setattr(demo, "_ARRIVAL_SECONDS", 0.01)

    return replace


REPORTED = '{"what": "w", "id": "nowhere", "type": "E", "microseconds": 1.0}\n'


@pytest.mark.parametrize(("said", "status"), [(REPORTED, 0), ("", 0), ("", 1)], ids=["lost", "silent", "crashed"])
def test_what_did_not_arrive_is_a_failure(
    program: Callable[[str, int], None], capsys: pytest.CaptureFixture[str], said: str, status: int
) -> None:
    """Exit status 1, with what the program said."""
    program(said, status)
    assert main(["demo"]) == 1
    out, err = capsys.readouterr()
    assert "its complaint" in err
    assert out.count("missing") == 2 * bool(said)


def test_an_arrival_is_one_of_both_signals() -> None:
    """A log alone isn't enough."""
    arrivals = demo._Arrivals()
    error = demo._Error("w", "id-1", "E", None)

    def after(records: Sequence[Received]) -> bool:
        arrivals(records)
        return arrivals.has([error])

    assert [after([LOG]), after([REAL_SPAN])] == [False, True]
