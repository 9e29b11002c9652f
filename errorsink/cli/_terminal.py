"""Text for a terminal: colours where they are wanted, and nothing in received text that could drive it."""

from __future__ import annotations

import unicodedata
from typing import Literal, Mapping, TextIO

from errorsink._settings import variable

Colour = Literal["red", "green", "yellow", "cyan", "dim", "bold"]

_CODES: Mapping[Colour, str] = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats (which turn the direction of text, or hide), surrogates, line and paragraph separators."""


def escape(text: str) -> str:
    """The text on one line, its control characters shown as Python escapes: `\\x1b`, `\\n`, `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def escape_lines(text: str) -> list[str]:
    """The lines of a text, each escaped; only LF ends a line, and a tab becomes four spaces."""
    return [escape(line.replace("\t", "    ")) for line in text.split("\n")]


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the mark of the cut included."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Palette:
    """Colours a text, or leaves it as it is."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    @classmethod
    def of(cls, stream: TextIO) -> Palette:
        """Colours on a terminal, unless NO_COLOR is set (https://no-color.org) or the terminal is a dumb one."""
        return cls(stream.isatty() and not variable("NO_COLOR") and variable("TERM") != "dumb")

    def __call__(self, text: str, *colours: Colour) -> str:
        if not self.enabled or not colours:
            return text
        return f"\x1b[{';'.join(_CODES[colour] for colour in colours)}m{text}\x1b[0m"
