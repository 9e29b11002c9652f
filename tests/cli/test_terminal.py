"""Text for a terminal."""

from __future__ import annotations

import io

import pytest

from errorsink.cli._terminal import Palette, counted, escape, escape_lines, shorten


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – täxt 🙂", "plain – täxt 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\r\nFAKE", "a\\r\\nFAKE"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("\u2028\u2029\u0085", "\\u2028\\u2029\\x85"),
        ("\u202etxt.exe\ufeff\u2066", "\\u202etxt.exe\\ufeff\\u2066"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_could_drive_a_terminal_is_escaped(text: str, shown: str) -> None:
    """Controls, direction marks, other line ends and surrogates are shown, not sent."""
    assert escape(text) == shown


def test_only_a_line_feed_ends_a_line() -> None:
    """Whatever else some terminals take for a line's end stays inside its line."""
    assert escape_lines("a\rb\n\tc\x0bd\u2028e") == ["a\\rb", "    c\\x0bd\\u2028e"]


def test_a_cut_is_marked_inside_the_limit() -> None:
    """The mark counts."""
    assert [shorten("abcdef", limit) for limit in (5, 6)] == ["abcd…", "abcdef"]


@pytest.mark.parametrize(("number", "text"), [(0, "0 errors"), (1, "1 error"), (1200, "1,200 errors")])
def test_numbers_agree_with_their_noun(number: int, text: str) -> None:
    """One error, two errors."""
    assert counted(number, "error") == text


def test_colours_go_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets colours."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Palette.of(Terminal())("x", "red", "bold") == "\x1b[31;1mx\x1b[0m"


def test_a_pipe_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What isn't a terminal gets text alone."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Palette.of(io.StringIO())("x", "red") == "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_declined(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """NO_COLOR and a dumb terminal mean: no colours."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert Palette.of(Terminal())("x", "red") == "x"


def test_an_empty_no_color_declines_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The convention counts NO_COLOR only when it isn't empty."""
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "xterm")
    assert Palette.of(Terminal()).enabled
