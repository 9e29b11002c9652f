"""How Python writes its containers: the brackets, and the members by the built-in type's own iterator.

No method of a subclass runs: `repr` of a large container can so be cut while it is written.
"""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType, SimpleNamespace

from errorsink._normalize import caller_text, defined, simple_name
from errorsink._typing import Any, NamedTuple

__all__ = ["MAX_NODES", "Form", "form_of"]

MAX_NODES = 1_000
"""Values inside containers that are looked at before the text is cut."""

_SLOT = type(list.__repr__)
_NONE: dict[Any, Any] = {}
_args_of = BaseException.__dict__["args"].__get__


class Form(NamedTuple):
    """How a container is written."""

    opening: str
    closing: str
    members: Iterator[Any]
    """The members; where there is something between, pairs of key and value."""
    between: str = ""
    """What stands between a key and its value; empty where there are no keys."""
    named: bool = False
    """True where keys are written as they are (`Point(x=1)`)."""


def _list(value: list[Any], cls: type) -> Form:
    return Form("[", "]", list.__iter__(value))


def _tuple(value: tuple[Any, ...], cls: type) -> Form:
    return Form("(", ",)" if tuple.__len__(value) == 1 else ")", tuple.__iter__(value))


def _dict(value: dict[Any, Any], cls: type) -> Form:
    return Form("{", "}", iter(dict.items(value)), ": ")


def _set(value: set[Any], cls: type) -> Form:
    empty = not set.__len__(value)
    opening, closing = ("(", ")") if empty else ("{", "}") if cls is set else ("({", "})")
    return Form(opening if opening == "{" else simple_name(cls) + opening, closing, set.__iter__(value))


def _frozenset(value: frozenset[Any], cls: type) -> Form:
    opening, closing = ("({", "})") if frozenset.__len__(value) else ("(", ")")
    return Form(simple_name(cls) + opening, closing, frozenset.__iter__(value))


def _deque(value: deque[Any], cls: type) -> Form:
    limit = deque.__dict__["maxlen"].__get__(value)
    closing = "])" if limit is None else f"], maxlen={limit})"
    return Form(f"{simple_name(cls)}([", closing, deque.__iter__(value))


def _ordered(value: OrderedDict[Any, Any], cls: type) -> Form:
    members = iter(OrderedDict.items(value))
    if not dict.__len__(value):
        return Form(f"{simple_name(cls)}(", ")", members)
    if sys.version_info >= (3, 12):
        return Form(simple_name(cls) + "({", "})", members, ": ")
    return Form(simple_name(cls) + "([", "])", members)


def _defaulting(value: defaultdict[Any, Any], cls: type) -> Form:
    factory = defaultdict.__dict__["default_factory"].__get__(value)
    shown = "None" if factory is None else caller_text(factory, repr)
    return Form(f"{simple_name(cls)}({shown}, {{", "})", iter(dict.items(value)), ": ")


def _named_tuple(value: tuple[Any, ...], cls: type) -> Form:
    fields = defined(cls, "_fields")
    if type(fields) is not tuple:
        return _tuple(value, cls)
    return Form(f"{simple_name(cls)}(", ")", zip(fields, tuple.__iter__(value), strict=False), "=", True)


def _namespace(value: SimpleNamespace, cls: type) -> Form:
    facts = SimpleNamespace.__dict__["__dict__"].__get__(value)
    name = "namespace" if cls is SimpleNamespace else simple_name(cls)
    return Form(f"{name}(", ")", iter(dict.items(facts)), "=", True)


def _exception(value: BaseException, cls: type) -> Form:
    return Form(f"{simple_name(cls)}(", ")", iter(_args_of(value)))


def _array(value: Any, cls: Any) -> Form:
    code = cls.__dict__["typecode"].__get__(value)
    return Form(f"array({code!r}, [", "])", iter(value))


def _view(value: Iterable[Any], cls: type) -> Form:
    return Form(f"{simple_name(cls)}([", "])", cls.__dict__["__iter__"](value))


_READERS: tuple[tuple[Any, Callable[[Any, type], Form]], ...] = (
    (list, _list),
    (OrderedDict, _ordered),
    (defaultdict, _defaulting),
    (dict, _dict),
    (tuple, _tuple),
    (set, _set),
    (frozenset, _frozenset),
    (deque, _deque),
    (BaseException, _exception),
    (SimpleNamespace, _namespace),
    *((type(view), _view) for view in (_NONE.keys(), _NONE.values(), _NONE.items())),
)
_SIZED = (list, dict, tuple, set, frozenset, deque)
_Named = namedtuple("_Named", "x")  # noqa: PYI024  # pyright: ignore[reportUntypedNamedTuple] - for what all share
_NAMED_REPR = _Named.__dict__["__repr__"].__code__


def form_of(value: Any) -> Form | None:
    """How a value is written, where it is a built-in container; None for what shows itself.

    A subclass with a `__repr__` of its own shows itself, unless it is so large that its text could only be thrown
    away.
    """
    cls = type(value)
    for kind, read in _READERS:
        if cls is kind:
            return read(value, cls)
        if issubclass(cls, kind):
            own = defined(cls, "__repr__")
            if own is kind.__repr__:
                return read(value, cls)
            if kind is tuple and type(own) is FunctionType and own.__code__ is _NAMED_REPR:
                return _named_tuple(value, cls)
            if kind in _SIZED and kind.__len__(value) > MAX_NODES:
                return read(value, kind)
    array = sys.modules.get("array")
    if type(array) is ModuleType and cls is array.__dict__.get("array") and type(defined(cls, "__repr__")) is _SLOT:
        return _array(value, cls)
    return None
