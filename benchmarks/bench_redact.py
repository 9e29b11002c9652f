"""What redaction costs, beside the loop over all rules that it replaces.

    python benchmarks/bench_redact.py          # ratios first; then doubling, up to 4 million characters: some minutes
    python benchmarks/bench_redact.py --quick  # smaller adversarial texts

Two rivals: a loop over patterns, in which each rule searches the whole text for its literals with one pattern (it only
finds, and masks nothing); and the naive twin that the tests hold the engine against, which also finds literals that
overlap, masks, and looks again.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import timeit
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from errorsink._redact import Redactor, table
from errorsink._redact_rules import Rule, View
from tests.redact import secrets
from tests.redact.adversarial import UNITS, grown
from tests.redact.naive import NaiveRedactor

LENGTHS = (200, 16_000)
SMALLEST = 16_000
LARGEST = 4_096_000


class Row(NamedTuple):
    """Microseconds for one text."""

    name: str
    engine: float
    loop: float
    naive: float


class PatternLoop:
    """What most redactors do: one pattern after the other over the whole text."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [(rule, self._pattern(rule)) for rule in rules if rule.literals]

    def find(self, text: str) -> list[tuple[int, int] | None]:
        """What the rules find."""
        return [rule.find(text, *found.span()) for rule, pattern in self._rules for found in pattern.finditer(text)]

    @staticmethod
    def _pattern(rule: Rule) -> re.Pattern[str]:
        shapes = {"0": "[0-9]", "A": "[A-Z]", "a": "[a-z]"} if rule.view is View.SHAPE else {}
        literals = ("".join(shapes.get(letter, re.escape(letter)) for letter in literal) for literal in rule.literals)
        return re.compile("|".join(literals), re.ASCII | (re.IGNORECASE if rule.view is View.FOLDED else 0))


def clean_text(length: int) -> str:
    """A stack of the standard library's frames, as long as wanted."""
    try:
        compile("f(" * 90 + ")" * 90, "m.py", "eval")
        timeit.Timer("int('x')", globals={}).timeit(1)
    except ValueError:
        frames = traceback.format_exc()
    names = [
        f'  File "/srv/app/{name}.py", line {number}, in handle_{name}\n    return self.{name}(request, timeout=30)\n'
        for number, name in enumerate(sorted(sys.stdlib_module_names), 1)
    ]
    stack = frames + "".join(names)
    return (stack * (length // len(stack) + 1))[:length]


def with_secrets(text: str) -> str:
    """The text with three secrets in its beginning, its middle and its end."""
    found = (
        f" password={secrets.password()} ",
        f" https://bob:{secrets.password(1)}@host/ ",
        f" {secrets.TOKENS['github-token'][0](0)} ",
    )
    third = len(text) // 3
    return "".join(secret + text[index * third : (index + 1) * third] for index, secret in enumerate(found))


def measure(function: Callable[[str], object], text: str) -> float:
    """The best of several rounds, in microseconds."""
    timer = timeit.Timer(lambda: function(text))
    number = max(1, timer.autorange()[0] // 4)
    return min(timer.repeat(5, number)) / number * 1e6


def rows() -> list[Row]:
    """The four texts."""
    engine = Redactor()
    rules = [rule for rule in table() if rule.default]
    loop = PatternLoop(rules)
    naive = NaiveRedactor(rules)
    texts: dict[str, str] = {}
    for length in LENGTHS:
        texts[f"{length:>6,} characters, clean"] = clean_text(length)
        texts[f"{length:>6,} characters, three secrets"] = with_secrets(clean_text(length))
    for text in texts.values():
        assert engine.redact(text) == naive.redact(text)
    return [
        Row(name, measure(engine.redact, text), measure(loop.find, text), measure(naive.redact, text))
        for name, text in texts.items()
    ]


def doubling(largest: int) -> Iterator[tuple[str, list[float]]]:
    """Seconds for each adversarial text at each size from the smallest on, the size four times as large each time."""
    sizes = [SMALLEST]
    while sizes[-1] * 4 <= largest:
        sizes.append(sizes[-1] * 4)
    redactor = Redactor()
    for name in UNITS:
        yield name, [timeit.timeit(partial(redactor.redact, grown(name, size)), number=1) for size in sizes]


def main(quick: bool = False) -> None:
    """Prints everything."""
    print("## Redaction\n")
    print(f"{'':<32}{'engine / loop':>15}{'engine / twin':>15}{'engine':>12}{'loop':>12}{'twin':>12}")
    for row in rows():
        ratios = f"{row.engine / row.loop:>15.3f}{row.engine / row.naive:>15.3f}"
        print(f"{row.name:<32}{ratios}{row.engine:>9.0f} µs{row.loop:>9.0f} µs{row.naive:>9.0f} µs")
    print(f"\n{'adversarial text':<36}{'growth of the time when the text doubles':>42}{'largest':>12}")
    factors: list[float] = []
    for name, seconds in doubling(256_000 if quick else LARGEST):
        growth = [(later / earlier) ** 0.5 for earlier, later in itertools.pairwise(seconds)]
        factors += growth
        print(f"{name:<36}{'  '.join(f'{factor:.2f}' for factor in growth):>42}{seconds[-1]:>10.2f} s", flush=True)
    print(f"\nmedian {median(factors):.2f}, largest {max(factors):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="adversarial texts of up to 256,000 characters")
    main(parser.parse_args().quick)
