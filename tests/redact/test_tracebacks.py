"""Ordinary tracebacks stay as they are."""

from __future__ import annotations

import sys
import traceback

import pytest

from errorsink._redact import Redactor
from tests.redact.provoked import PROVOKED

if sys.version_info < (3, 11):
    import exceptiongroup

    format_exception = exceptiongroup.format_exception
else:
    format_exception = traceback.format_exception

REDACTOR = Redactor(disable=["home-user", "windows-user"])  # whoever runs the tests may do so below a home directory


def test_at_least_thirty_libraries_are_provoked() -> None:
    """Enough to show that the rules aren't fitted to one of them."""
    assert len({name.partition("-")[0] for name in PROVOKED}) >= 30


@pytest.mark.parametrize("name", PROVOKED)
def test_an_ordinary_traceback_is_left_alone(name: str) -> None:
    """Nothing in it is masked: not in messages, source lines or paths."""
    with pytest.raises(BaseException) as caught:  # pytest's own failures are no Exception
        PROVOKED[name]()
    stack = "".join(format_exception(caught.value))
    assert REDACTOR.redact(stack) == stack
