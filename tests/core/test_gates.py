"""The gates: a closed one keeps everything out, and the receipt says which."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import errorsink
from errorsink import _settings

PROVIDERS = list(_settings.PROVIDER_GATES)
REASONS = {
    **{name: f"provider:{name}" for name in PROVIDERS},
    "DISABLE_ERROR_REPORTING": "disabled",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "essential-traffic",
    "ERRORSINK_ESSENTIAL_TRAFFIC_ONLY": "essential-traffic",
}
CLOSING = ["1", "true", "yes", "on", " TRUE ", "2", "maybe", "no way"]
OPENING = ["", "0", "false", "no", "off", "  ", " Off ", "FALSE", "No"]


@pytest.mark.parametrize("name", REASONS)
def test_a_set_variable_closes_its_gate(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The receipt names the gate and nothing is kept."""
    monkeypatch.setenv(name, "1")
    before = errorsink.stats().gated.get(REASONS[name], 0)
    receipt = errorsink.report_error(ValueError("x"))
    assert (receipt.accepted, receipt.reason, receipt.id) == (False, REASONS[name], "")
    assert errorsink.recent_errors() == []
    assert errorsink.stats().gated[REASONS[name]] == before + 1


@pytest.mark.parametrize("value", CLOSING)
def test_any_word_but_the_five_closes(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISABLE_ERROR_REPORTING", value)
    assert not errorsink.report_error(ValueError("x"))


@pytest.mark.parametrize("value", OPENING)
@pytest.mark.parametrize("name", REASONS)
def test_these_words_leave_a_gate_open(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert errorsink.report_error(ValueError("x"))


def test_the_gates_are_asked_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is set or unset while the program runs counts at once."""
    accepted = []
    for value in ("1", "0", "1"):
        monkeypatch.setenv("DISABLE_ERROR_REPORTING", value)
        accepted.append(bool(errorsink.report_error(ValueError("x"))))
    assert accepted == [False, True, False]


def test_the_provider_gate_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in REASONS:
        monkeypatch.setenv(name, "1")
    assert errorsink.report_error(ValueError("x")).reason == f"provider:{PROVIDERS[0]}"


@pytest.mark.parametrize(("listed", "closed"), [("MY_GATE, OTHER", True), ("OTHER", False), ("", False)])
def test_the_list_of_provider_gates_can_be_replaced(listed: str, closed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable replaces the six; an empty one leaves none."""
    monkeypatch.setenv("ERRORSINK_PROVIDER_GATES", listed)
    monkeypatch.setenv("MY_GATE", "1")
    monkeypatch.setenv(PROVIDERS[0], "1")
    assert errorsink.report_error(ValueError("x")).reason == ("provider:MY_GATE" if closed else None)


def test_code_can_close_a_gate_and_open_it_again() -> None:
    errorsink.configure(disable_error_reporting=True)
    assert errorsink.report_error(ValueError("x")).reason == "disabled"
    errorsink.configure()
    assert errorsink.report_error(ValueError("x")).accepted


@pytest.mark.parametrize("name", REASONS)
def test_behind_a_closed_gate_nothing_happens(name: str) -> None:
    """No thread, no exporter imported, no socket: seen from inside a fresh process with everything switched on."""
    code = """
        import sys, threading, _thread
        events = []
        sys.addaudithook(lambda event, args: events.append(event) if event.startswith("socket.") else None)
        import errorsink
        threads = _thread._count()
        receipt = errorsink.report_error(ValueError("x"))
        assert errorsink.flush(1.0)
        print(receipt.reason, _thread._count() - threads, len(events), len(errorsink._ring.snapshots()))
        print(any(name.startswith(("opentelemetry", "errorsink_")) for name in sys.modules))
    """
    environment = {
        name: "1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "ERRORSINK_OTEL_LOGS": "1",
        "ERRORSINK_OTEL_SPANS": "1",
        "DD_API_KEY": "0" * 32,
        "ERRORSINK_DATADOG_URL": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.split("\n")[:2] == [f"{REASONS[name]} 0 0 0", "False"]
    assert done.stderr == ""
