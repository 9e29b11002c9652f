"""Random mixes of hostile objects: whatever is reported, and with whatever, is one good record.

`pytest tests/capture/test_properties.py --hypothesis-profile=long` tries 10,000 new ones.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import errorsink
from errorsink import _normalize, _ring, _selflog
from tests.capture.groups import ExceptionGroup
from tests.capture.hostile import Maker
from tests.capture.reported import check, plain, python_stack, renderer


@given(seed=st.integers(0, 2**32), nodes=st.integers(8, 80))
def test_anything_is_one_good_record(seed: int, nodes: int) -> None:
    """Any mix of hostile objects: accepted, one entry within every limit, nothing contained, the guard cleared."""
    make = Maker(seed, nodes)
    error, attributes, level, handling, fingerprint, owner, attempt, recovered = [make.value() for _ in range(8)]
    _ring.clear()
    contained = _selflog.contained.value
    receipt = errorsink.report_error(
        error,
        attributes=attributes,
        level=level,
        handling=handling,
        fingerprint=fingerprint,
        owner=owner,
        attempt=attempt,
        recovered=recovered,
    )
    assert receipt.accepted
    (snapshot,) = _ring.snapshots()
    record = renderer().record(snapshot)
    assert record.id == receipt.id
    check(record)
    assert _selflog.contained.value == contained
    assert not _normalize.in_user_code


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def tree(dice: random.Random, pool: list[BaseException], depth: int = 0) -> BaseException:
    """Exceptions around exceptions, some of them in several places, in cycles too."""
    kind = dice.random()
    if pool and kind < 0.15:
        return dice.choice(pool)
    error: BaseException
    if kind < 0.55 or depth > 3:
        error = dice.choice([ValueError, KeyError, TypeError])(dice.choice(["a", "", "two\nlines", "\u2028sep"]))
    elif kind < 0.85:
        members = [tree(dice, pool, depth + 1) for _ in range(dice.choice([1, 2, 3, 17]))]
        error = ExceptionGroup(f"group {depth}", members)  # type: ignore[type-var]
    else:
        place: tuple[Any, ...] = dice.choice(
            [("f", 1, 2, "  abc\n"), ("f", 1, None, "x"), (None, 1, 1, "abc", 1, 3), ("f", 2, 0, "x")]
        )
        error = SyntaxError("m", place)
    pool.append(error)
    if dice.random() < 0.5:
        error = raised(error)
    if dice.random() < 0.3:
        error.__cause__ = tree(dice, pool, depth + 1)
    if dice.random() < 0.3:
        error.__context__ = tree(dice, pool, depth + 1)
    if dice.random() < 0.2:
        error.__suppress_context__ = True
    if sys.version_info >= (3, 11) and dice.random() < 0.2:
        error.add_note(dice.choice(["n", "several\nlines", ""]))
    return error


MARKS = ("left out]", "a cycle]", "more exception")


@given(seed=st.integers(0, 2**32))
def test_any_tree_is_shown_as_python_shows_it(seed: int) -> None:
    """Chains and groups in any arrangement equal `traceback.format_exception`, where nothing had to be left out."""
    error = raised(tree(random.Random(seed), []))
    _ring.clear()
    assert errorsink.report_error(error)
    (snapshot,) = _ring.snapshots()
    stack = renderer().record(snapshot).stack
    if not any(mark in stack for mark in MARKS):
        assert plain(stack) == python_stack(error)
