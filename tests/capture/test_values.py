"""Values that are no exception, and the texts of those that are."""

from __future__ import annotations

import array
import sys
import types
import uuid
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from enum import Enum, IntEnum
from unittest import mock

import pytest

from tests.capture.reported import last_line, report

Point = namedtuple("Point", "x y")  # noqa: PYI024 - the classic form


@dataclass
class Item:
    name: str


class Colour(Enum):
    RED = 1


class Number(IntEnum):
    ONE = 1


PLAIN = [
    None, 0, False, True, b"", b"raw", (), [], {}, set(), frozenset(), 3.5, float("nan"), float("-inf"), 2j, ...,
    NotImplemented,
    (None, None, None), (ValueError,), (ValueError, "msg", "not a tb"), sys.exc_info(), (1, 2, 3),
    Point(1, (2, 3)), Item("x"), Colour.RED, Number.ONE, OrderedDict(a=[1]), defaultdict(list, a=1), Counter("aab"),
    deque([1, 2], 5),
    bytearray(b"x"), range(5), slice(1, 2), array.array("i", [1, 2]), types.SimpleNamespace(a=1, b=[2]),
    {1: 2}.keys(), {1: 2}.values(),
    {1: {2: (3,)}}.items(), types.MappingProxyType({"a": 1}), UserDict(a=1), 10**400, -(2**63),
    [1, "a", None, {2.5: (b"x",)}],
    [[], [[]], ((),)], {"k": {"k": {"k": ["v"]}}}, frozenset({1}), {1}, [ValueError("x"), KeyError(1, 2)],
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:40])
def test_a_value_is_an_unknown_error_with_its_repr(value: object) -> None:
    """A value that is no exception becomes a HarnessError whose message is what `repr` says."""
    record = report(value)
    assert (record.type, record.code, record.message) == ("errorsink.HarnessError", "UNKNOWN", repr(value))


@pytest.mark.parametrize("text", ["", "text", "two\nlines", "Größe 😀"])
def test_a_string_is_its_own_message(text: str) -> None:
    """A string keeps its text as the message."""
    assert report(text).message == text


@pytest.mark.parametrize(
    "value", [object(), len, mock.Mock(), (n for n in ()), lambda: 1, types, memoryview(b"x"), iter([1])]
)
def test_an_opaque_value_is_shown_by_its_repr(value: object) -> None:
    """Objects, functions, modules and mocks are shown by their repr."""
    assert report(value).message == repr(value)


@pytest.mark.parametrize(("cls", "name"), [(int, "int"), (ValueError, "ValueError"), (Item, f"{__name__}.Item")])
def test_a_class_is_named(cls: type, name: str) -> None:
    """A class is named and not instantiated."""
    assert report(cls).message == f"the class {name}"


def test_an_exception_class_is_never_instantiated() -> None:
    """Reporting an exception class makes no instance of it."""
    made: list[int] = []

    class Counted(Exception):
        def __init__(self) -> None:
            made.append(1)

    report(Counted)
    assert made == []


def test_a_triple_of_exc_info_is_unpacked() -> None:
    """A triple as `sys.exc_info()` gives it is the exception in it."""
    assert report((ValueError, ValueError("v"), None)).type == "ValueError"


@pytest.mark.parametrize(
    "triple", [(1, ValueError("v"), None), (ValueError, ValueError("v"), "not a tb"), (ValueError, "v", None)]
)
def test_any_other_triple_is_a_value(triple: object) -> None:
    """A triple that only resembles it is a value like any other."""
    assert report(triple).message == repr(triple)


def test_a_triple_s_traceback_is_the_one_shown() -> None:
    """The traceback of a triple is shown, also where the exception has lost its own."""

    def origin_marker() -> None:
        raise ValueError("v")

    try:
        origin_marker()
    except ValueError:
        triple = sys.exc_info()
    assert triple[1] is not None
    triple[1].__traceback__ = None
    assert "origin_marker" in report(triple).stack


TEXTS = [
    ValueError(), ValueError("x"), ValueError(1), ValueError(1, "two"), ValueError(None), ValueError(""),
    ValueError({"a": [1, 2]}),
    ValueError(("a", 1)), KeyError("k"), KeyError(("a", 1)), KeyError(), KeyError(1, 2),
    OSError(2, "No such file", "name"), OSError(5, "x"),
    OSError("only text"), OSError(1, 2, 3), OSError(2, "x", "a", None, "b"), OSError([1], {2}), OSError(),
    ImportError("m"), ImportError([1]),
    ImportError(), ConnectionError(TimeoutError("slow")), ValueError(KeyError("k")),
    ValueError(ValueError(ValueError([1]))), StopIteration(3),
    SystemExit(3), SystemExit("bye"), SystemExit([1]), KeyboardInterrupt(), GeneratorExit(),
    UnicodeDecodeError("ascii", b"x", 0, 1, "why"),
    UnicodeEncodeError("ascii", "x", 0, 1, "why"), AttributeError("a", name="n"), NameError("n"),
    ValueError(b"bytes"), ValueError(Point(1, 2)),
    ValueError(Item("i")), SyntaxError("m", ("f.py", 3, 1, "x")), SyntaxError([1]), SyntaxError(),
    TypeError(ValueError), ValueError([[]], ()),
    MemoryError(), RecursionError("deep"), AssertionError((1,)), FileNotFoundError(2, "gone", "p"),
    BlockingIOError(11, "w", 3),
]  # fmt: skip


@pytest.mark.parametrize("error", TEXTS, ids=repr)
def test_the_message_is_what_str_says(error: BaseException) -> None:
    """The message of an exception is `str(error)`, whatever it was made with."""
    assert report(error).message == str(error)


class Text(str):
    def __getitem__(self, index: object) -> str:
        raise RuntimeError("no slicing")

    def __len__(self) -> int:
        raise RuntimeError("no len")

    def encode(self, *_: object) -> bytes:  # type: ignore[override]
        raise RuntimeError("no encode")

    def __format__(self, spec: str) -> str:
        raise RuntimeError("no format")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no eq")

    __hash__ = None  # type: ignore[assignment]
    __str__ = __repr__ = __iter__ = splitlines = isascii = startswith = replace = __ne__ = __eq__  # type: ignore[assignment]


@pytest.mark.parametrize(
    "error", [type("S", (Exception,), {"__str__": lambda self: Text("hello")})(), Text("hello")], ids=type
)
def test_a_hostile_string_is_read_as_its_characters(error: object) -> None:
    """A subclass of `str` with failing methods is turned into its characters first."""
    assert report(error).message == "hello"


@pytest.mark.parametrize("answer", [5, b"bytes", None, ["a"], object(), ValueError])
def test_a_str_that_is_no_string_leaves_a_placeholder(answer: object) -> None:
    """Where `__str__` returns something else, type and stack are kept and a placeholder is the message."""
    record = report(type("Odd", (Exception,), {"__str__": lambda self: answer})("x"))
    assert record.message.startswith("<unprintable ")
    assert last_line(record).endswith("Odd object>")


HALF_BUILT = [
    uuid.UUID.__new__(uuid.UUID),
    UserDict.__new__(UserDict),
    Item.__new__(Item),
    mock.Mock.__new__(mock.Mock),
    types.SimpleNamespace.__new__(types.SimpleNamespace),
    OrderedDict.__new__(OrderedDict),
    deque.__new__(deque),
    OSError.__new__(OSError),
    SyntaxError.__new__(SyntaxError),
    UnicodeDecodeError.__new__(UnicodeDecodeError),
    ImportError.__new__(ImportError),
]


@pytest.mark.parametrize("half", HALF_BUILT, ids=type)
def test_half_built_objects_are_reported(half: object) -> None:
    """Objects whose `__init__` never ran are reported, by themselves and as an argument."""
    report(half)
    assert report(ValueError(half)).type == "ValueError"


def test_args_may_be_replaced() -> None:
    """An exception's arguments may be anything that can be made a tuple."""
    error = ValueError("before")
    error.args = {"k": 1}  # type: ignore[assignment]
    assert report(error).message == "k"


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(0), SystemExit("bye"), GeneratorExit(), StopIteration(1)], ids=repr
)
def test_control_flow_reported_by_hand_is_recorded(error: BaseException) -> None:
    """Control flow that is reported explicitly is recorded, and not raised again."""
    assert report(error).type == type(error).__name__


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_control_flow_is_marked(kind: type[BaseException]) -> None:
    """What is no error but a way to leave is marked as such."""
    assert report(kind()).control_flow
