"""Every kind in the table: what it masks, and what only looks like it."""

from __future__ import annotations

from functools import cache

import pytest

from errorsink._redact import Redactor, mask, table
from tests.redact import secrets
from tests.redact.naive import MASK
from tests.redact.samples import SAMPLES, Samples, tokens

KINDS = [rule.kind for rule in table() if rule.kind != "custom-key"]
REDACTOR = Redactor(enable=["public-ip"])


def _samples(kind: str) -> Samples:
    return SAMPLES[kind] if kind in SAMPLES else tokens(kind)


@cache
def _only(kind: str) -> Redactor:
    return Redactor(disable=[rule.kind for rule in table() if rule.kind != kind], enable=[kind])


POSITIVE = [(kind, text, secret) for kind in KINDS for text, secret in _samples(kind).positive]
NEAR = [(kind, text) for kind in KINDS for text in _samples(kind).near]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_three_samples_and_three_near_misses(kind: str) -> None:
    """No row of the table goes untested."""
    samples = _samples(kind)
    assert min(len(samples.positive), len(samples.near)) >= 3


def test_no_samples_are_left_of_kinds_that_are_gone() -> None:
    """The samples and the table name the same kinds."""
    assert {*SAMPLES, *secrets.TOKENS} == set(KINDS)


def test_kinds_are_unique() -> None:
    """A kind names one row."""
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize(("kind", "text", "secret"), POSITIVE)
def test_the_secret_alone_is_masked(kind: str, text: str, secret: str) -> None:
    """The rule masks all of the secret, and nothing around it."""
    assert _only(kind).redact(text.replace("§", secret)) == text.replace("§", mask(kind))


@pytest.mark.parametrize(("kind", "text", "secret"), POSITIVE)
def test_no_part_of_the_secret_is_left_by_all_rules_together(kind: str, text: str, secret: str) -> None:
    """Other rules that match as well leave no eight characters of it."""
    redacted = MASK.sub("", REDACTOR.redact(text.replace("§", secret)))
    pieces = {secret[start : start + 8] for start in range(max(1, len(secret) - 7))}
    assert not [piece for piece in pieces if piece in redacted]


@pytest.mark.parametrize(("kind", "text"), NEAR)
def test_a_near_miss_is_left_alone(kind: str, text: str) -> None:
    """What only looks like a secret of the kind stays as it is."""
    assert _only(kind).redact(text) == text
