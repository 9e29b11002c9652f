"""Redact, then cut: a secret on the border of a limit leaves no part of itself."""

from __future__ import annotations

import pytest

from errorsink._redact import OVERLAP, Redactor, without_end
from tests.redact import secrets

REDACTOR = Redactor()
CANARY = "CANARY" + secrets.run(secrets.ALNUM, 34)
MESSAGE_LIMIT = 4_000
STACK_LIMIT = 16_000

PLACES = {
    "message": f" password={CANARY} ",
    "URL": f" https://user:{CANARY}@host/ ",
    "source line": f'\n  File "/srv/a.py", line 3, in f\n    connect(password="{CANARY}")\n',
    "note": f"\nnote: token is {CANARY}\n",
    "cause": f"\nKeyError: {{'api_key': '{CANARY}'}}\n\nDuring handling of the above exception\n",
    "path": f'\n  File "/srv/token={CANARY}/a.py", line 3, in f\n',
    "header": f" Authorization: Bearer {CANARY}\n",
}


def _has_a_part(text: str) -> bool:
    return any(CANARY[start : start + 8] in text for start in range(len(CANARY) - 7))


@pytest.mark.parametrize("limit", [MESSAGE_LIMIT, STACK_LIMIT])
@pytest.mark.parametrize("place", PLACES)
def test_no_offset_around_a_limit_leaves_a_part(place: str, limit: int) -> None:
    """At each offset at which the secret touches the limit."""
    secret = PLACES[place]
    offsets = range(limit - len(secret) - 1, limit + 2)
    filler = ("lorem ipsum dolor sit amet " * (limit // 27 + 8))[: limit + 2]
    leaks = [
        offset for offset in offsets if _has_a_part(REDACTOR.redact(filler[:offset] + secret + filler[:200])[:limit])
    ]
    assert leaks == []


@pytest.mark.parametrize("place", PLACES)
def test_no_offset_around_the_bound_of_a_huge_text_leaves_a_part(place: str) -> None:
    """What the bound splits is dropped with the characters before it."""
    bound = 20_000
    secret = PLACES[place]
    filler = "lorem ipsum dolor sit amet " * 1_000
    leaks = [
        offset
        for offset in range(bound - len(secret) - 1, bound + 2, 3)
        if _has_a_part(without_end(REDACTOR.redact((filler[:offset] + secret + filler)[:bound])))
    ]
    assert leaks == []


def test_what_is_dropped_is_what_a_secret_may_fill() -> None:
    """The last 8,192 characters: more than a secret is expected to have."""
    assert without_end("x " * 10_000) == ("x " * 10_000)[:-OVERLAP]
