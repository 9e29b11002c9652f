"""`errorsink settings`, and the reference page that it writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from errorsink._settings import TABLE
from errorsink.cli import main
from errorsink.cli.settings import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_reference_page_is_up_to_date() -> None:
    """docs/reference/settings.md is what `make docs` writes."""
    assert PAGE.read_text("utf-8").splitlines() == list(reference())


def test_every_setting_is_on_the_page_once() -> None:
    """No row of the table falls between the sections."""
    lines = list(reference())
    assert all(sum(line.startswith(f"| `{row.env}` |") for line in lines) == 1 for row in TABLE.values())


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from the environment of the tests."""
    for name in list(os.environ):
        if name.startswith("ERRORSINK_") or name in {row.env for row in TABLE.values()}:
            monkeypatch.delenv(name)


def output(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["settings", "--set"]) == 0
    return capsys.readouterr().out.splitlines()


def test_only_what_is_set_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """`--set` of an empty environment shows nothing."""
    assert output(capsys) == []


def test_everything_is_shown_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Each setting has a line with its default."""
    assert main(["settings"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == [row.env for row in TABLE.values()]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("ERRORSINK_QUEUE_SIZE", "12", "12"),
        ("ERRORSINK_DATADOG", "on", "1"),
        ("ERRORSINK_REDACT_KEYS", "pin, cvv", "pin,cvv"),
        ("ERRORSINK_SPOOL_DIR", "a\x1b[2Jb", "a\\x1b[2Jb"),
        ("DD_SITE", "datadoghq.eu", "datadoghq.eu"),
    ],
)
def test_a_value_in_force_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, shown: str
) -> None:
    """As it is understood, and where it comes from."""
    monkeypatch.setenv(name, value)
    assert [line.split() for line in output(capsys)] == [[name, shown, "(environment)"]]


def test_the_password_of_a_url_is_masked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A setting that is no secret may hold one: every value passes the redaction."""
    word = "s3cret" * 2
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"https://user:{word}@collector.example:4318")
    line = output(capsys)[0]
    assert "collector.example:4318" in line
    assert word not in line


@pytest.mark.parametrize("name", [row.env for row in TABLE.values() if row.secret])
def test_secrets_are_hidden(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """It says that a secret is set, and nothing of it."""
    monkeypatch.setenv(name, "ab12" * 8)
    lines = output(capsys)
    assert "(hidden)" in lines[0]
    assert "ab12" not in lines[0]


def test_a_value_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 1, the reason on standard error, and the default in force."""
    monkeypatch.setenv("ERRORSINK_QUEUE_SIZE", "10k")
    assert main(["settings", "--set"]) == 1
    out, err = capsys.readouterr()
    assert out.split()[:2] == ["ERRORSINK_QUEUE_SIZE", "4096"]
    assert err.startswith("ERRORSINK_QUEUE_SIZE: expected a whole number from 1 to 1,000,000, got '10k'")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ERRORSINK_QUEUESIZE", "ERRORSINK_QUEUESIZE is no setting; did you mean ERRORSINK_QUEUE_SIZE?\n"),
        ("ERRORSINK_COLOUR", "ERRORSINK_COLOUR is no setting, unless a sink of yours reads it\n"),
        ("ERRORSINK_OTEL_LOGS", ""),
    ],
)
def test_a_misspelt_variable_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    """What begins like a setting and is none is named, with the setting that it resembles."""
    monkeypatch.setenv(name, "1")
    assert main(["settings", "--set"]) == 0
    assert capsys.readouterr().err == said
