"""The work grows with the text, whatever the text.

Counted in places that the engine looks at and characters that it masks.
"""

from __future__ import annotations

import pytest

from errorsink._redact import Redactor
from tests.redact.adversarial import UNITS, grown

SIZE = 16_000


def _steps(text: str) -> int:
    redactor = Redactor(enable=["public-ip"])
    redactor.redact(text)
    return redactor.steps


@pytest.mark.parametrize("name", UNITS)
def test_twice_the_text_takes_about_twice_the_steps(name: str) -> None:
    """No place is looked at again because of what stands elsewhere."""
    once, twice = (_steps(grown(name, size)) for size in (SIZE, 2 * SIZE))
    assert twice <= 2.2 * once + 200


@pytest.mark.parametrize("name", UNITS)
def test_the_steps_are_bounded_by_the_length(name: str) -> None:
    """A few for each character at most, over all rules and passes; in code each key of a line may read to its end."""
    most = 50 if name == "code in long lines" else 4
    assert _steps(grown(name, SIZE)) <= most * SIZE


@pytest.mark.parametrize("name", ["small letters", "digits", "slashes", "capitals", "backslashes", "failing rows"])
def test_four_megabytes_take_as_many_steps_a_character(name: str) -> None:
    """Linear far beyond the size of any report."""
    size = 4_000_000
    small, large = (_steps(grown(name, length)) for length in (SIZE, size))
    assert large <= 1.1 * small * (size / SIZE) + 200
