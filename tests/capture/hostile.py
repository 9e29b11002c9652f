"""Hostile objects for the property test, built of each other: as arguments, notes, keys, causes and group members."""

from __future__ import annotations

import random
import types
from collections import OrderedDict, UserDict, defaultdict, deque
from typing import Any, Callable
from unittest import mock

import errorsink
from tests.capture.groups import BaseExceptionGroup, ExceptionGroup

BASES: list[type] = [
    object, Exception, BaseException, str, int, float, list, tuple, dict, set, frozenset, bytes, bytearray, deque,
    OrderedDict,
    KeyError, OSError, SyntaxError, ImportError, UnicodeDecodeError, StopIteration, SystemExit, KeyboardInterrupt,
    AttributeError,
    errorsink.HarnessError,
]  # fmt: skip
SPECIAL = [
    "__str__", "__repr__", "__eq__", "__ne__", "__hash__", "__bool__", "__len__", "__iter__", "__getattr__",
    "__getattribute__",
    "__format__", "__getitem__", "__contains__", "__next__", "__index__", "__int__", "__float__",
    "__setattr__",
]  # fmt: skip
FIELDS = [
    "__class__",
    "__dict__",
    "__traceback__",
    "__cause__",
    "__context__",
    "args",
    "__notes__",
    "code",
    "__module__",
]


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no")


def recurse(*args: Any, **__: Any) -> Any:
    return recurse(*args)


def report_again(*args: Any, **__: Any) -> Any:
    errorsink.report_error(args[0] if args else None)
    raise ValueError("inner")


def cancel(*_: Any, **__: Any) -> Any:
    raise GeneratorExit


def huge(*_: Any, **__: Any) -> Any:
    return "h" * 100_000


def surrogate(*_: Any, **__: Any) -> Any:
    return "\ud800\0"


def an_object(*_: Any, **__: Any) -> Any:
    return object()


BEHAVIOURS: list[Callable[..., Any]] = [fail, recurse, report_again, cancel, huge, surrogate, an_object]


class Meta(type):
    """A metaclass that lets nobody read, compare or hash its classes."""

    __getattribute__ = __eq__ = __ne__ = __hash__ = __repr__ = __bool__ = __instancecheck__ = fail  # type: ignore[assignment]
    __subclasscheck__ = fail


TEXTS = [
    "", "text", "\ud83d", "\0", "\x1b[31m", "x" * 5_000, "y" * 40_000, "\u2028", "a\nb\n", "{}", "%s",
    "password=" + "q" * 9, "é😀",
]  # fmt: skip
PLAIN: list[Any] = [
    None, True, False, 0, -1, 2**63, 10**5000, -(10**400), 1.5, float("nan"), float("-inf"), 2j, b"", b"raw" * 99,
    ..., NotImplemented,
    fail, int, ValueError, range(5), bytearray(b"b"), object(),
]  # fmt: skip
FACTS = [
    "code", "reason_code", "status_code", "response", "errno", "msg", "lineno", "text", "offset", "filename",
    "end_offset", "end_lineno",
]  # fmt: skip
ORDINARY: list[type[BaseException]] = [
    ValueError, KeyError, OSError, SyntaxError, ImportError, RuntimeError, errorsink.HarnessError, KeyboardInterrupt,
    StopIteration,
]  # fmt: skip


class Maker:
    """Makes values by throwing dice: the same seed makes the same values, fewer nodes simpler ones."""

    def __init__(self, seed: int, nodes: int) -> None:
        self._dice = random.Random(seed)
        self._nodes = nodes
        self._made: list[Any] = []
        self._kinds: list[Callable[[], Any]] = [
            self.plain,
            self.error,
            self.instance,
            self.container,
            self.group,
            self.again,
        ]

    def number(self, below: int) -> int:
        return self._dice.randrange(below)

    def one_of(self, choices: list[Any]) -> Any:
        return choices[self.number(len(choices))]

    def some_of(self, choices: list[Any], most: int) -> list[Any]:
        return [self.one_of(choices) for _ in range(self.number(most + 1))]

    def values(self, most: int) -> list[Any]:
        return [self.value() for _ in range(self.number(most + 1))]

    def value(self) -> Any:
        """Anything at all."""
        self._nodes -= 1
        made = self.plain() if self._nodes < 0 else self.one_of(self._kinds)()
        self._made.append(made)
        return made

    def plain(self) -> Any:
        return self.one_of(TEXTS) if self.number(2) else self.one_of(PLAIN)

    def again(self) -> Any:
        """A value that stands somewhere else already."""
        return self.one_of(self._made) if self._made else None

    def instance(self) -> Any:
        """An instance of a class with some hostile methods, properties and names, never initialised."""
        members: dict[str, Any] = {name: self.one_of(BEHAVIOURS) for name in self.some_of(SPECIAL, 6)}
        members.update({name: property(self.one_of(BEHAVIOURS)) for name in self.some_of(FIELDS, 2)})
        if not self.number(9):
            members["__module__"] = self.value()
        base = self.one_of(BASES)
        try:
            cls = self.one_of([type, Meta])(self.one_of(["Hostile", "N" * 300, "Ω"]), (base,), members)
            made = base.__new__(cls)
        except BaseException:  # not every base bears every member
            return object()
        if issubclass(type(made), BaseException):
            self.decorate(made)
        return made

    def error(self) -> BaseException:
        """An ordinary exception with anything in it and around it, sometimes raised."""
        cls = self.one_of(ORDINARY)
        try:
            # A SyntaxError reads its second argument to its end, which a `__getitem__` that never fails doesn't have.
            error: BaseException = cls(*self.values(1 if cls is SyntaxError else 3))
        except BaseException:  # an argument that the class can't take
            error = cls()
        self.decorate(error)
        if self.number(2):
            try:
                raise error
            except BaseException as raised:
                return raised
        return error

    def decorate(self, error: BaseException) -> None:
        """Arguments, notes, links and facts of any kind, set past the class's own methods."""
        if self.number(2):
            put(error, "args", tuple(self.values(3)))
        for name in ("__cause__", "__context__"):
            if not self.number(4):
                put(error, name, self.value())
        if not self.number(4):
            put(error, "__notes__", self.values(3) if self.number(3) else self.value())
        if not self.number(6):
            put(error, "__suppress_context__", bool(self.number(2)))
        for name in self.some_of(FACTS, 2):
            put(error, name, self.value())

    def group(self) -> BaseException:
        """A group of what is an exception among some values."""
        members = [value for value in self.values(4) if issubclass(type(value), BaseException)]
        try:
            return BaseExceptionGroup("group", members or [ValueError("only")])
        except BaseException:  # a member that can't even be tested for being an Exception
            return ExceptionGroup("group", [ValueError("instead")])

    def container(self) -> Any:
        """A container of anything, sometimes of itself."""
        items = self.values(4)
        kinds: list[Callable[[], Any]] = [
            lambda: items,
            lambda: tuple(items),
            lambda: deque(items),
            lambda: mapping(items),
            lambda: OrderedDict(mapping(items)),
            lambda: defaultdict(fail, mapping(items)),
            lambda: UserDict(mapping(items)),
            lambda: types.SimpleNamespace(**{str(n): item for n, item in enumerate(items)}),
            lambda: mock.Mock(side_effect=items),
            lambda: (ValueError, items, None),
            lambda: (ValueError, self.error(), None),
            lambda: items.append(items) or items,  # type: ignore[func-returns-value]
        ]
        return self.one_of(kinds)()


def put(error: BaseException, name: str, value: object) -> None:
    """Sets an attribute past the class's own `__setattr__`."""
    try:
        BaseException.__setattr__(error, name, value)
    except BaseException:  # a property of the class's own stands there, or the value has the wrong type
        return


def mapping(items: list[Any]) -> dict[Any, Any]:
    """A dict of the items by themselves, as far as they can be hashed."""
    made: dict[Any, Any] = {}
    for item in items:
        try:
            made[item] = item
        except BaseException:  # the key's own hash
            made[id(item)] = item
    return made
