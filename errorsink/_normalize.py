"""Total functions from any value to bounded text: they never raise, whatever a class does.

Built-in values are read through their own types' slots, so that no method of the application runs. Where only the
application's code can tell (a `__str__` or a `__repr__` of its own), it runs at most once for a value, marked by
`in_user_code`: a report that is made from inside is refused and counted, so that formatting an error can't report
another without end.

KeyboardInterrupt and SystemExit pass: they may be a real Ctrl-C or SIGTERM that arrives meanwhile.
"""

from __future__ import annotations

import _thread
from collections import deque
from itertools import chain, islice
from typing import Any, Callable, Iterable, Iterator

__all__ = ["RAW_TEXT", "attributes", "caller_text", "exact", "in_user_code", "message", "text", "type_name"]

RAW_TEXT = 32_768
"""Code points of a raw text that are kept for rendering: the stack's 16,000, and room for redaction to look ahead."""
MAX_KEY = 200
"""Code points of an attribute's key; Datadog advises fewer than 50, OpenTelemetry sets no limit."""
MAX_ITEMS = 128
"""Items of a list attribute (OpenTelemetry's default limit of attributes in a collection)."""
MAX_NODES = 1_000
"""Values inside a container that are looked at before its text is cut."""
MAX_CONTAINER_TEXT = 4_000
"""Code points after which the text of a container is cut: more could not be shown in a message."""
MAX_DEPTH = 20
"""Nesting of containers that is shown; deeper ones are `[...]`, as Python prints a cycle."""
MAX_DIGITS = 4_000
"""Decimal digits of an integer; CPython refuses more than 4,300 (PEP 678's sibling, the int digits limit)."""

CUT = "…[cut]"

in_user_code: set[int] = set()
"""The threads that run the application's code on the SDK's behalf, or other people's code that may log: what is
reported from there is refused. Ids come from `_thread` at each call: gevent and eventlet put their own in its place."""

_plain_str = str.__str__
_qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_module_of: Callable[[type], Any] = type.__dict__["__module__"].__get__
_args_of: Callable[[BaseException], tuple[Any, ...]] = BaseException.__dict__["args"].__get__
_base_str = BaseException.__str__
_key_error_str = KeyError.__str__
_LEAVES = frozenset({str, int, float, bool, type(None), bytes, bytearray, complex})
_QUICK = frozenset({float, bool, type(None)})
"""Types whose values have a short repr that never fails: a list of them is shown in one call."""
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
}
_CONTAINERS: tuple[Any, ...] = tuple(_BRACKETS)


def type_name(cls: type) -> str:
    """The class's name as Python prints it in a traceback, without running a metaclass's code."""
    module = _module_of(cls)
    name = _qualname_of(cls)
    if module == "builtins" or module == "__main__":
        return name
    return f"{module}.{name}" if type(module) is str else f"<unknown>.{name}"


def exact(value: str) -> str:
    """A `str` subclass's characters as an exact `str`, so that none of its methods can interfere."""
    return value if type(value) is str else _plain_str(value)


def bounded(value: str, limit: int = RAW_TEXT) -> str:
    """The text, or its beginning with a mark; never longer than `limit`."""
    return value if len(value) <= limit else value[: limit - len(CUT)] + CUT


# ------------------------------------------------------------------------------------------------------- exceptions


def message(error: BaseException) -> str:
    """`str(error)`, at most `RAW_TEXT` code points."""
    cls = type(error)
    try:
        formatter = cls.__str__
    except Exception:  # noqa: BLE001 - a metaclass may raise anything
        formatter = None
    if formatter is _base_str or formatter is _key_error_str:
        args = _args_of(error)
        if len(args) == 1:
            only = args[0]
            if type(only) is str and formatter is _base_str:
                return only if len(only) <= RAW_TEXT else only[:RAW_TEXT]
            if type(only) in _LEAVES or _kind(only) is not None:
                return _container_or_leaf(only)
        elif not args:
            return ""
        else:
            return _container_or_leaf(args)
    return caller_text(error, str)


def caller_text(value: object, formatter: Callable[[Any], object]) -> str:
    """What the application's own formatter says of a value, called once; a placeholder where it fails."""
    thread = _thread.get_ident()
    nested = thread in in_user_code
    in_user_code.add(thread)
    try:
        said = formatter(value)
        if issubclass(type(said), str):
            return _plain_str(said)[:RAW_TEXT]  # type: ignore[arg-type, unused-ignore]
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001, S110 - said by the placeholder below
        pass
    finally:
        if not nested:
            in_user_code.discard(thread)
    return f"<unprintable {_qualname_of(type(value))} object>"


# ------------------------------------------------------------------------------------------------------- any value


def text(value: object) -> str:
    """Any value as a text of at most `RAW_TEXT` code points: a string is itself, a class its name."""
    cls = type(value)
    if issubclass(cls, str):
        return _plain_str(value)[:RAW_TEXT]  # type: ignore[arg-type, unused-ignore]
    if cls in _LEAVES or _kind(value) is not None:
        return _container_or_leaf(value)
    if issubclass(cls, BaseException):
        shown = message(value)  # type: ignore[arg-type]
        return f"{type_name(cls)}: {shown}" if shown else type_name(cls)
    if issubclass(cls, type):
        return f"the class {type_name(value)}"  # type: ignore[arg-type]
    return caller_text(value, repr)


def _container_or_leaf(value: object) -> str:
    """The `repr` of a built-in value, cut after `MAX_NODES` values or `MAX_CONTAINER_TEXT` code points."""
    if type(value) in _LEAVES:
        return _leaf(value)
    budget = _Budget()
    parts: list[str] = []
    _walk(value, parts, budget, 0)
    joined = "".join(parts)
    return joined if not budget.spent else bounded(joined, MAX_CONTAINER_TEXT - len(CUT)) + CUT


class _Budget:
    """What is left to spend on one value."""

    __slots__ = ("characters", "nodes", "spent", "trail")

    def __init__(self) -> None:
        self.nodes = MAX_NODES
        self.characters = MAX_CONTAINER_TEXT
        self.spent = False
        self.trail: set[int] = set()

    def take(self, part: str, nodes: int = 1) -> None:
        self.nodes -= nodes
        self.characters -= len(part) + 2
        self.spent = self.nodes < 0 or self.characters < 0


def _walk(value: Any, parts: list[str], budget: _Budget, depth: int) -> None:
    """Appends the repr of `value` to `parts`, depth first, until the budget is spent."""
    kind = _kind(value)
    if kind is None:
        part = _leaf(value)
        budget.take(part)
        parts.append(part)
        return
    opening, closing = _brackets(value, kind)
    if depth >= MAX_DEPTH or id(value) in budget.trail:
        parts.append(f"{opening}...{closing}")
        return
    budget.trail.add(id(value))
    parts.append(opening)
    budget.take(opening)
    members = list(islice(_members(value, kind), max(budget.nodes, 0) + 1))
    if kind is not dict and _quick(members):
        part = repr(members)[1:-1]
        budget.take(part, len(members))
        parts.append(part)
    else:
        _walk_members(members, kind, parts, budget, depth + 1)
    parts.append(",)" if kind is tuple and tuple.__len__(value) == 1 else closing)
    budget.trail.discard(id(value))


def _quick(members: list[Any]) -> bool:
    """True when one call can show all the members: numbers of ordinary size, True, False and None."""
    kinds = set(map(type, members))
    if int in kinds:
        kinds.discard(int)
        if not all(-(2**63) <= member < 2**63 for member in members if type(member) is int):
            return False
    return kinds <= _QUICK


def _walk_members(members: list[Any], kind: type, parts: list[str], budget: _Budget, depth: int) -> None:
    separator = ""
    for member in members:
        if budget.spent:
            return
        parts.append(separator)
        separator = ", "
        if kind is dict:
            _walk(member[0], parts, budget, depth)
            parts.append(": ")
            member = member[1]
        _walk(member, parts, budget, depth)


def _kind(value: Any) -> Any:
    """The built-in container that a value is, and is shown as; None for what shows itself.

    A subclass with a `__repr__` of its own (a named tuple, a defaultdict) shows itself, unless it is so large that
    its text could only be thrown away.
    """
    cls = type(value)
    if cls in _CONTAINERS:
        return cls
    kind: Any
    for kind in _CONTAINERS:
        if issubclass(cls, kind):
            size: int = kind.__len__(value)
            if size > MAX_NODES:
                return kind
            try:
                return kind if cls.__repr__ is kind.__repr__ else None
            except Exception:  # noqa: BLE001 - a metaclass may raise anything
                return kind
    return None


def _members(value: Any, kind: Any) -> Iterator[Any]:
    """A container's members by its built-in type's own iterator; one that changes meanwhile just ends."""
    iterator = iter(dict.items(value)) if kind is dict else kind.__iter__(value)
    while True:
        try:
            member = next(iterator)
        except (StopIteration, RuntimeError):
            return
        yield member


def _brackets(value: Any, kind: type) -> tuple[str, str]:
    """What opens and closes the container's repr."""
    if kind is set and not set.__len__(value):
        return "set(", ")"
    if kind is frozenset and not frozenset.__len__(value):
        return "frozenset(", ")"
    return _BRACKETS[kind]


def _leaf(value: Any) -> str:
    """The repr of one value that is no container, bounded."""
    cls = type(value)
    if cls is str or cls is bytes or cls is bytearray:
        return repr(value if len(value) <= RAW_TEXT else value[:RAW_TEXT])[:RAW_TEXT]
    if cls is int and value.bit_length() > 3 * MAX_DIGITS:
        return f"<int of {value.bit_length():,} bits>"
    if cls in _LEAVES:
        return repr(value)
    return caller_text(value, repr)


# ------------------------------------------------------------------------------------------------------ attributes


def attributes(given: object) -> dict[str, Any]:
    """A report's attributes as plain values: str, bool, int64, float, or tuples of one of these; None is left out.

    Anything that is no mapping becomes the one attribute `value`.
    """
    if not issubclass(type(given), dict):
        given = _as_dict(given)
    plain: dict[str, Any] = {}
    for key, value in islice(_members(given, dict), MAX_ITEMS):
        if value is not None:
            name = key if type(key) is str and len(key) <= MAX_KEY else bounded(text(key), MAX_KEY)
            cls = type(value)
            if cls is bool or cls is float or (cls is str and len(value) <= RAW_TEXT):
                plain[name] = value
            else:
                plain[name] = _attribute(value)
    return plain


def _as_dict(given: object) -> dict[Any, Any]:
    """A mapping of the application's own as a dict; it runs that mapping's code, once, and takes what it can get."""
    thread = _thread.get_ident()
    nested = thread in in_user_code
    in_user_code.add(thread)
    pairs: dict[Any, Any] = {}
    try:
        keys: Iterable[Any] = given.keys()  # type: ignore[attr-defined]
        for key in islice(keys, MAX_ITEMS):
            pairs[bounded(text(key), MAX_KEY)] = given[key]  # type: ignore[index]
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - what the mapping didn't give is told as its own text
        pairs.setdefault("value", text(given))
    finally:
        if not nested:
            in_user_code.discard(thread)
    return pairs


def _attribute(value: object) -> Any:
    cls = type(value)
    if cls is int:
        return value if -(2**63) <= value < 2**63 else text(value)  # type: ignore[operator]
    if cls is list or cls is tuple:
        return _attribute_list(value)  # type: ignore[arg-type]
    return text(value)


def _attribute_list(values: list[Any] | tuple[Any, ...]) -> tuple[Any, ...]:
    """A list attribute: of one scalar kind as it is, of mixed kinds as texts; bounded, with a mark where it is cut."""
    head = [item for item in islice(values, MAX_ITEMS) if item is not None]
    kinds = set(map(type, head))
    if len(kinds) == 1 and len(values) <= MAX_ITEMS:
        kind = kinds.pop()
        if kind is bool or kind is float:
            return tuple(head)
        if kind is int and all(-(2**63) <= item < 2**63 for item in head):
            return tuple(head)
    texts = map(text, head) if len(values) <= MAX_ITEMS else chain(map(text, head), (CUT,))
    return tuple(texts)
