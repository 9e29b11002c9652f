"""The engine: finds the rules that can match by looking at a text's words once, then tries them only where they can.

A loop over all patterns reads the text once a rule. Here the text is read a few times in all: it becomes a set of
words, and each rule's trigger literals are looked up in that set. Only what is found there is searched for and tried.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import NamedTuple

from errorsink._redact_rules import ESCAPES, MASK_OPENING, Rule, View
from errorsink._redact_source import CodeMap

_LETTERS = bytes(byte | 32 if chr(byte).isalpha() and byte < 128 else 32 for byte in range(256))
_SHAPES = bytes(
    ord("A" if chr(byte).isupper() else "a" if chr(byte).islower() else "0" if chr(byte).isdigit() else chr(byte))
    if byte < 128
    else byte
    for byte in range(256)
)
_RUN = re.compile(rb"[a-z]+")
_ESCAPE = re.compile(ESCAPES.encode())
_MASK = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")
_PREFIX = 3
_LONGEST_ESCAPE = 6
_ALPHABET = [bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyz"]

Hit = tuple[int, int, int]
"""Start, end, and the number of the row."""


class _Trigger(NamedTuple):
    """One literal of one row."""

    row: int
    literal: bytes
    view: View


class Scanner:
    """A table made ready.

    It doesn't change once built, so any thread may scan; ``steps`` is a mere tally, for tests.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.steps = 0
        self._words: dict[bytes, list[_Trigger]] = {}  # the literal's first run of letters is a word of the text
        self._prefixes: dict[bytes, list[_Trigger]] = {}  # a word begins with these three letters
        # The literal is part of a word; below what several literals have in common.
        self._parts: dict[bytes, dict[bytes, list[_Trigger]]] = {}
        # All runs of the literal are words; below the first of them.
        self._phrases: dict[bytes, list[tuple[tuple[bytes, ...], _Trigger]]] = {}
        # Nothing to go by but characters; below what is quick to find in that view.
        self._rest: dict[View, dict[bytes, list[_Trigger]]] = {}
        for row, rule in enumerate(self.rules):
            for literal in rule.literals:
                self._index(rule, _Trigger(row, literal.encode(), rule.view))
        self._word_set = frozenset(self._words)
        self._prefix_set = frozenset(self._prefixes)
        self._phrase_set = frozenset(self._phrases)

    def _index(self, rule: Rule, trigger: _Trigger) -> None:
        """Files a literal under the cheapest test that never misses it."""
        folded = trigger.literal.lower()
        runs = tuple(_RUN.findall(folded))
        if rule.view is View.SHAPE or not runs:
            self._rest.setdefault(rule.view, {}).setdefault(_quick_part(trigger), []).append(trigger)
        elif rule.fused and len(runs) == 1:
            common = next((part for part in _COMMON_PARTS if part in runs[0]), runs[0])
            self._parts.setdefault(common, {}).setdefault(runs[0], []).append(trigger)
        elif rule.fused:
            self._phrases.setdefault(runs[0], []).append((runs, trigger))
        elif not folded.endswith(runs[0]):
            self._words.setdefault(runs[0], []).append(trigger)
        else:
            begun = (
                [runs[0][:_PREFIX]]
                if len(runs[0]) >= _PREFIX
                else [runs[0], *(runs[0] + letter for letter in _ALPHABET)]
            )
            for prefix in begun:
                self._prefixes.setdefault(prefix, []).append(trigger)

    def scan(self, text: str) -> list[Hit]:
        """What to mask in a text: ascending, not overlapping. Linear in the length of the text."""
        views = _Views(text)
        by_row: dict[int, list[_Trigger]] = {}
        for trigger in self._triggers(views):
            by_row.setdefault(trigger.row, []).append(trigger)
        if not by_row:
            return []
        masks = [edge for mask in _MASK.finditer(text) for edge in mask.span()] if MASK_OPENING in text else []
        code = CodeMap(text)
        return united(hit for row in sorted(by_row) for hit in self._try(row, by_row[row], views, masks, code))

    def _triggers(self, views: "_Views") -> Iterator[_Trigger]:
        """The literals that may be in the text: all that are, and some that are not."""
        yield from self._by_words(views.words())
        for view, quick_parts in self._rest.items():
            characters = views[view]
            for quick, triggers in quick_parts.items():
                if quick in characters:
                    yield from (trigger for trigger in triggers if trigger.literal in characters)

    def _by_words(self, words: set[bytes]) -> Iterator[_Trigger]:
        for word in self._word_set & words:
            yield from self._words[word]
        for prefix in self._prefix_set & {word[:_PREFIX] for word in words}:
            yield from self._prefixes[prefix]
        for first in self._phrase_set & words:
            yield from (trigger for runs, trigger in self._phrases[first] if words.issuperset(runs))
        row_of_words = b" ".join(words)
        for common, parts in self._parts.items():
            if common in row_of_words:
                yield from (trigger for part, found in parts.items() if part in row_of_words for trigger in found)

    def _try(
        self, row: int, triggers: list[_Trigger], views: "_Views", masks: list[int], code: CodeMap
    ) -> Iterator[Hit]:
        """One rule at every place where a literal of it stands; the longest literal if several begin there."""
        rule = self.rules[row]
        resume = 0
        tried = -1
        places = [_places(views[trigger.view], trigger.literal) for trigger in triggers]
        for position, _, size in places[0] if len(places) == 1 else merge(*places):
            if position < resume or position == tried:
                continue
            tried = position
            self.steps += 1
            if masks and bisect_right(masks, position) % 2 == 1:
                continue
            span = rule.find(views.text, position, position + size)
            if span is None:
                continue
            self.steps += span[1] - span[0]
            if masks and bisect_right(masks, span[0]) % 2 == 1:
                continue
            if not rule.in_code and code.covers(span[0]):
                continue
            yield (*span, row)
            resume = span[1]


class _Views:
    """The forms of one text that rules look at, one byte a character, made when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._made = {View.EXACT: text.encode("ascii", "replace")}

    def __getitem__(self, view: View) -> bytes:
        made = self._made.get(view)
        if made is None:
            exact = self._made[View.EXACT]
            made = self._made[view] = exact.lower() if view is View.FOLDED else exact.translate(_SHAPES)
        return made

    def words(self) -> set[bytes]:
        """The text's runs of ASCII letters, in lower case; also as they are after an escape, as `key` in `\\nkey`."""
        exact = self._made[View.EXACT]
        words = set(exact.translate(_LETTERS).split())
        if b"\\" in exact or b"%" in exact or b"\x1b" in exact:
            words.update(_ESCAPE.sub(b" ", exact).translate(_LETTERS).split())
        return words


_COMMON_PARTS = (b"pass", b"secret", b"auth", b"key")


def _quick_part(trigger: _Trigger) -> bytes:
    """A part of the literal that is found at the speed of `memchr`, or that several literals share."""
    rare = next((byte for byte in trigger.literal if byte in b"$@%"), None)
    if rare is not None:
        return bytes([rare])
    return b"0000" if b"0000" in trigger.literal else trigger.literal


def _places(view: bytes, literal: bytes) -> Iterator[tuple[int, int, int]]:
    """Where a literal stands: position, its length negated (so that the longest sorts first) and its length."""
    size = len(literal)
    if literal.count(literal[:1]) == size > 1:
        yield from ((position, -size, size) for position in _starts_of_runs(view, literal))
        return
    position = view.find(literal)
    while position >= 0:
        yield position, -size, size
        position = view.find(literal, position + 1)


def _starts_of_runs(view: bytes, literal: bytes) -> Iterator[int]:
    """For a literal such as eight digits.

    In a long run of digits only the first few places, where an escape may end.
    """
    size = len(literal)
    for run in re.finditer(re.escape(literal[:1]) + b"{%d,}" % size, view):
        yield from range(run.start(), min(run.start() + _LONGEST_ESCAPE, run.end() - size + 1))


def united(hits: Iterable[Hit]) -> list[Hit]:
    """Overlapping hits become one, which the first row of them names."""
    result: list[Hit] = []
    for start, end, row in sorted(hits):
        if result and start < result[-1][1]:
            before = result[-1]
            result[-1] = (before[0], max(before[1], end), min(before[2], row))
        else:
            result.append((start, end, row))
    return result
