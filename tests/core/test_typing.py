"""The stand-ins for `typing` do what the real ones do, where a class made with them can show it."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

import errorsink
from errorsink import Receipt, _typing


class Real(typing.NamedTuple):
    """A class."""

    first: int
    second: str | None = None

    @property
    def twice(self) -> int:
        return self.first * 2

    def __bool__(self) -> bool:
        return self.second is None


class Ours(_typing.NamedTuple):
    """A class."""

    first: int
    second: str | None = None

    @property
    def twice(self) -> int:
        return self.first * 2

    def __bool__(self) -> bool:
        return self.second is None


@pytest.mark.parametrize("made", [Real, Ours])
def test_a_named_tuple(made: type[typing.Any]) -> None:
    """Fields, defaults, methods, documentation, a place to be found in."""
    one = made(2)
    assert (one, one.first, one.second, one.twice, bool(one), bool(made(1, "x"))) == (
        (2, None),
        2,
        None,
        4,
        True,
        False,
    )
    assert repr(one) == f"{made.__name__}(first=2, second=None)"
    assert (made._fields, made._field_defaults, made.__doc__) == (("first", "second"), {"second": None}, "A class.")
    assert (made.__module__, made.__qualname__, made.__match_args__) == (__name__, made.__name__, ("first", "second"))
    assert one._replace(first=3) == made(3)
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert type(pickle.loads(pickle.dumps(one))) is made
    with pytest.raises(AttributeError):
        one.first = 3


def test_what_a_receipt_holds_can_be_told() -> None:
    """Its annotations need nothing of `typing`."""
    assert typing.get_type_hints(Receipt) == {"time_ns": int, "number": int, "reason": str | None}


@pytest.mark.parametrize("public", [errorsink.ErrorRecord, errorsink.Frame, errorsink.Cause, errorsink.Item])
def test_what_a_record_holds_can_be_told(public: type[typing.Any]) -> None:
    """Libraries that build on annotations can read those of the public data."""
    assert set(typing.get_type_hints(public)) == set(public._fields)


def test_every_public_name_is_there() -> None:
    """Those that are imported when they are asked for, too; any other name is no attribute."""
    assert [name for name in errorsink.__all__ if not hasattr(errorsink, name)] == []
    assert set(errorsink.__all__) <= set(dir(errorsink))
    with pytest.raises(AttributeError, match="'errorsink' has no attribute 'Receit'"):
        _ = errorsink.Receit  # type: ignore[attr-defined]
