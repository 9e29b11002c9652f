"""Every kind in the table: what it masks, and what only looks like it."""

from __future__ import annotations

from functools import cache

import pytest

from errorsink._redact import Redactor, mask, table
from tests.redact import secrets
from tests.redact.naive import MASK
from tests.redact.samples import SAMPLES, Samples, tokens

KINDS = [rule.kind for rule in table() if rule.kind != "custom-key"]
ALL = Redactor(enable=["public-ip"])


@cache
def _samples(kind: str) -> Samples:
    return SAMPLES[kind] if kind in SAMPLES else tokens(kind)


def _only(kind: str) -> Redactor:
    return Redactor(disable=[rule.kind for rule in table() if rule.kind != kind], enable=[kind])


def test_the_samples_and_the_table_name_the_same_kinds() -> None:
    """No row goes untested, and no samples are left of a row that is gone."""
    assert {*SAMPLES, *secrets.TOKENS} == set(KINDS)


def test_a_kind_names_one_row() -> None:
    """Two rows of one name could not be told apart in the settings and the counts."""
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_three_samples_and_three_near_misses(kind: str) -> None:
    """A rule that is tried on less shows nothing."""
    samples = _samples(kind)
    assert min(len(set(samples.positive)), len(set(samples.near))) >= 3


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_masks_the_secret_alone(kind: str) -> None:
    """All of the secret goes, and nothing around it."""
    redactor = _only(kind)
    expected = {text: text.replace("§", mask(kind)) for text, _ in _samples(kind).positive}
    assert {text: redactor.redact(text.replace("§", secret)) for text, secret in _samples(kind).positive} == expected


@pytest.mark.parametrize("kind", KINDS)
def test_all_rules_together_leave_no_part_of_the_secret(kind: str) -> None:
    """Where other rules match as well, no eight characters of it stay."""
    left = [
        text
        for text, secret in _samples(kind).positive
        for redacted in [MASK.sub("", ALL.redact(text.replace("§", secret)))]
        if any(secret[start : start + 8] in redacted for start in range(max(1, len(secret) - 7)))
    ]
    assert left == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_leaves_near_misses_alone(kind: str) -> None:
    """What only looks like a secret of the kind stays as it is."""
    redactor = _only(kind)
    assert [redactor.redact(text) for text in _samples(kind).near] == list(_samples(kind).near)
