"""The engine's naive twin: every rule reads the whole text, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from errorsink._redact import mask
from errorsink._redact_rules import MASK_OPENING, Rule, View
from errorsink._redact_scan import united
from errorsink._redact_source import CodeMap

MASK = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")


class NaiveRedactor:
    """What the engine must agree with, for any table."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = [(rule, _trigger(rule)) for rule in rules if rule.literals]

    def redact(self, text: str) -> str:
        """The masked text."""
        while True:
            hits = united(
                (*span, row) for row, (rule, trigger) in enumerate(self.rules) for span in _spans(rule, trigger, text)
            )
            if not hits:
                return text
            for start, end, row in reversed(hits):
                text = text[:start] + mask(self.rules[row][0].kind) + text[end:]


def _trigger(rule: Rule) -> re.Pattern[str]:
    """One pattern for all literals, the longest first; a look-ahead, so that they may overlap."""
    shapes = {"0": "[0-9]", "A": "[A-Z]", "a": "[a-z]"} if rule.view is View.SHAPE else {}
    literals = sorted(rule.literals, key=len, reverse=True)
    alternatives = ["".join(shapes.get(letter, re.escape(letter)) for letter in literal) for literal in literals]
    flags = re.ASCII | (re.IGNORECASE if rule.view is View.FOLDED else 0)
    return re.compile(f"(?=({'|'.join(alternatives)}))", flags)


def _spans(rule: Rule, trigger: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    masks = [found.span() for found in MASK.finditer(text)] if MASK_OPENING in text else []
    code = CodeMap(text)
    resume = 0
    for found in trigger.finditer(text):
        start, stop = found.span(1)
        if start < resume or any(first <= start < last for first, last in masks):
            continue
        span = rule.find(text, start, stop)
        if span is None or any(first <= span[0] < last for first, last in masks):
            continue
        if not rule.in_code and code.covers(span[0]):
            continue
        yield span
        resume = span[1]
