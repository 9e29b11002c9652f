"""`errorsink redact`: text in, redacted text out, what was masked on standard error."""

from __future__ import annotations

import io
import sys

import pytest

from errorsink._redact import OVERLAP
from errorsink.cli import main, redact
from tests.redact import secrets

SECRET = secrets.password("command")


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def _run(monkeypatch: pytest.MonkeyPatch, data: bytes, *options: str) -> int:
    monkeypatch.setattr(sys, "stdin", _Input(data))
    return main(["redact", *options])


def test_it_prints_the_text_redacted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything else stays, line breaks as well."""
    status = _run(monkeypatch, f"a\nb password={SECRET}\r\n".encode())
    assert (status, capsys.readouterr().out) == (0, "a\nb password=[REDACTED:password]\r\n")


def test_it_counts_the_kinds_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The most frequent first."""
    _run(monkeypatch, f"ssn 123-45-6789 password={SECRET}\npassword={SECRET}\n".encode())
    assert [line.split() for line in capsys.readouterr().err.splitlines()] == [["2", "password"], ["1", "us-ssn"]]


def test_it_says_that_nothing_was_masked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Silence could mean that it didn't run."""
    _run(monkeypatch, b"nothing here")
    assert capsys.readouterr().err == "nothing masked\n"


def test_a_secret_of_many_lines_is_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The text is redacted as a whole, not line by line."""
    _run(monkeypatch, f"key:\n{secrets.pem()}\nend\n".encode())
    assert capsys.readouterr().out == "key:\n[REDACTED:private-key]\nend\n"


def test_bytes_that_are_no_utf8_are_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log is seldom clean."""
    _run(monkeypatch, b"a\xffb")
    assert capsys.readouterr().out == "a\ufffdb"


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        (["--disable", "us-ssn"], "123-45-6789", "123-45-6789"),
        (["--enable", "public-ip"], "8.8.8.8", "[REDACTED:public-ip]"),
        (
            ["--key", "tenant_ref", "--key", "pin"],
            "pin=4711 tenantRef=abc",
            "pin=[REDACTED:custom-key] tenantRef=[REDACTED:custom-key]",
        ),
    ],
)
def test_options_change_the_rules(
    options: list[str], text: str, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the settings of the same names do."""
    _run(monkeypatch, text.encode(), *options)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("options", [["--disable", "pasword"], ["--key", "*"]])
def test_a_bad_option_is_named(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is printed, and the status is 2."""
    status = _run(monkeypatch, b"x", *options)
    captured = capsys.readouterr()
    assert (status, captured.out, repr(options[1]) in captured.err) == (2, "", True)


def test_it_lists_the_kinds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each row, with what is off by default."""
    _run(monkeypatch, b"", "--list")
    lines = capsys.readouterr().out.splitlines()
    assert "public-ip" in lines[-1]
    assert lines[-1].endswith("(off by default)")


def test_of_a_text_over_the_limit_the_beginning_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory is bounded, and what the limit may have split is dropped."""
    monkeypatch.setattr(redact, "MOST_BYTES", 10_000)
    status = _run(monkeypatch, b"x " * 10_000)
    captured = capsys.readouterr()
    assert (status, len(captured.out), "only the first 10,000 bytes were read" in captured.err) == (
        1,
        10_000 - OVERLAP,
        True,
    )
