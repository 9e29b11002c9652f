"""What a rule is, and where a token may begin."""

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

Span = tuple[int, int]
Finder = Callable[[str, int, int], Span | None]
"""Given the text and the start and end of a trigger literal: the characters to mask, or None."""

MASK_OPENING = "[REDACTED:"

WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")

ESCAPES = r"\\(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,8}m"
"""Escapes whose last character is a letter or digit though a new word begins after them.

``\\n``, ``%3D``, a colour code.
"""

_ENDS_IN_ESCAPE = re.compile(rf"(?:{ESCAPES})\Z", re.ASCII)
_LONGEST_ESCAPE = 11


class View(Enum):
    """The form of the text in which a rule's literals are looked for. All have one byte a character."""

    EXACT = "exact"  # as it is
    FOLDED = "folded"  # ASCII letters in lower case
    SHAPE = "shape"  # every ASCII letter an `A` or `a`, every digit a `0`


class Rule(NamedTuple):
    """One row of the table.

    ``literals`` are the triggers: no match without one of them. ``find`` looks at one place only, where a literal was
    found, and its work is bounded, or paid for by the characters that it masks. ``in_code`` says that the rule also
    holds in the code of a source line, outside of quotes and comments: true of tokens that are known by their prefix.
    ``fused`` says that a literal may stand in the middle of a longer word; otherwise ``find`` must refuse a place where
    no word starts.
    """

    kind: str
    meaning: str
    literals: tuple[str, ...]
    find: Finder
    view: View = View.EXACT
    in_code: bool = False
    fused: bool = False
    default: bool = True


def words(*lines: str) -> list[str]:
    """The words of a table that is written as running text."""
    return [word for line in lines for word in line.split()]


def starts_word(text: str, position: int, joiners: str = "") -> bool:
    """Whether a token may begin here.

    No letter, digit, underscore or joiner stands before it, or an escape ends there.
    """
    if position == 0:
        return True
    before = text[position - 1]
    if before not in WORD and before not in joiners:
        return True
    tail = text[max(0, position - _LONGEST_ESCAPE) : position]
    return ("\\" in tail or "%" in tail or "\x1b" in tail) and _ENDS_IN_ESCAPE.search(tail) is not None


def matching(
    pattern: str,
    *,
    flags: int = 0,
    joiners: str = "",
    before: int = 0,
    bounded: bool = True,
    accept: Callable[[re.Match[str]], bool] | None = None,
) -> Finder:
    """A finder from a pattern that is tried where the literal begins (or ``before`` characters earlier).

    What is masked is the group ``secret`` if the pattern has one, else the whole match. A look-behind in a pattern
    makes ``re`` several times slower; that is why the left neighbour is looked at here, and first, when ``bounded``.
    """
    compiled: re.Pattern[str] | None = None

    def find(text: str, start: int, stop: int) -> Span | None:
        nonlocal compiled
        start -= before
        if start < 0 or (bounded and not starts_word(text, start, joiners)):
            return None
        if compiled is None:
            compiled = re.compile(pattern, re.ASCII | flags)
        match = compiled.match(text, start)
        if match is None or (accept is not None and not accept(match)):
            return None
        return match.span("secret") if "secret" in compiled.groupindex else match.span()

    return find
