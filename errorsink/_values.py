"""Any value as a bounded text: what `str` and `repr` say, without running more of the application's code than needed.

Containers are walked with a budget, so that a text of millions of characters is never built only to be cut.
"""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from errorsink._containers import MAX_NODES, Form, form_of
from errorsink._normalize import CUT, RAW_TEXT, bounded, caller_text, defined, head, type_name
from errorsink._typing import Any, NamedTuple

__all__ = ["is_leaf", "message", "said", "says_args", "shown", "text"]

MAX_CONTAINER_TEXT = 4_000
"""Code points after which no further member of a container is shown: more would not fit a message. The last member
is shown whole, so that no secret is split before redaction has seen it."""
MAX_DEPTH = 30
"""Nesting of containers that is shown; deeper ones are `[...]`, as Python prints a cycle."""
MAX_BITS = 12_000
"""Bits of an integer that is shown in digits; CPython refuses more than 4,300 digits (sys.set_int_max_str_digits)."""

SHORT = 1_000
"""Characters of a string and bits of an integer that are shown without further ado."""

_args_of: Callable[[BaseException], tuple[Any, ...]] = BaseException.__dict__["args"].__get__
_import_error_msg: Callable[[Any], Any] = ImportError.__dict__["msg"].__get__
_syntax_error_msg: Callable[[Any], Any] = SyntaxError.__dict__["msg"].__get__
_os_fields: tuple[Callable[[Any], Any], ...] = tuple(
    OSError.__dict__[name].__get__ for name in ("errno", "strerror", "filename", "filename2")
)
_base_str = BaseException.__str__
_key_error_str = KeyError.__str__
_os_error_str = OSError.__str__
_import_error_str = ImportError.__str__
_syntax_error_str = SyntaxError.__str__
_LEAVES = frozenset({str, int, float, bool, type(None), bytes, bytearray, complex})
_PLAIN = (str, bytes, bytearray, int)
"""Types whose subclasses are shown as they are, where they have no `__repr__` of their own."""


# ------------------------------------------------------------------------------------------------------- exceptions


def says_args(cls: type) -> bool:
    """True for an exception class whose text is that of its arguments: most are."""
    return type(cls) is type and defined(cls, "__str__") is _base_str


def message(error: BaseException, says_args: bool = False) -> str:
    """`str(error)`, at most `RAW_TEXT` code points. `says_args` is what was once found of the class."""
    if says_args and type(error).__str__ is _base_str:
        args = _args_of(error)
        if len(args) == 1 and type(args[0]) is str:
            return args[0] if len(args[0]) <= RAW_TEXT else args[0][:RAW_TEXT]
    for _ in range(MAX_DEPTH):  # an exception made of one other exception says what that one says
        formatter = defined(type(error), "__str__")
        if formatter is not _base_str:
            own = _own_text(error, formatter)
            if own is not None:
                return own
        args = _args_of(error)
        if len(args) != 1:
            return shown(args) if args else ""
        only = args[0]
        cls = type(only)
        if cls is str:
            return head(only)
        if not issubclass(cls, BaseException):
            return said(only)
        error = only
    return "<exceptions within exceptions>"


def _own_text(error: BaseException, formatter: object) -> str | None:
    """The text of an exception with a `__str__` of its own; None where that says what BaseException's does."""
    if formatter is _key_error_str:
        args = _args_of(error)
        return shown(args[0]) if len(args) == 1 else None
    if formatter is _os_error_str:
        return _os_error(error)
    if formatter is _import_error_str and type(_import_error_msg(error)) is not str:
        return None
    if formatter is _syntax_error_str and type(_syntax_error_msg(error)) is not str:
        return text(_syntax_error_msg(error))
    return caller_text(error, str)


def _os_error(error: BaseException) -> str | None:
    """`[Errno 2] No such file or directory: 'x'`, whatever the four parts are."""
    number, reason, name, other_name = (field(error) for field in _os_fields)
    if number is None and reason is None:
        return None
    if all(part is None or is_leaf(type(part)) for part in (number, reason, name, other_name)):
        return caller_text(error, str)  # knows the errors of Windows too
    names = "" if name is None else f": {shown(name)}"
    names += "" if other_name is None else f" -> {shown(other_name)}"
    return head(f"[Errno {text(number)}] {text(reason)}{names}")


def said(value: object) -> str:
    """`str(value)`: for a built-in container that is its `repr`."""
    cls = type(value)
    if cls is str:
        return head(value)  # type: ignore[arg-type]
    if issubclass(cls, BaseException):
        return message(value)  # type: ignore[arg-type]
    if is_leaf(cls) or (defined(cls, "__str__") is object.__str__ and form_of(value) is not None):
        return shown(value)
    return caller_text(value, str)


# ------------------------------------------------------------------------------------------------------- any value


def text(value: object) -> str:
    """Any value as a text of at most `RAW_TEXT` code points: a string is itself, a class its name."""
    cls = type(value)
    if issubclass(cls, str):
        return head(value)  # type: ignore[arg-type]
    if issubclass(cls, BaseException):
        own = message(value)  # type: ignore[arg-type]
        return head(f"{type_name(cls)}: {own}" if own else type_name(cls))
    if issubclass(cls, type):
        return f"the class {type_name(value)}"  # type: ignore[arg-type]
    return shown(value)


def shown(value: object) -> str:
    """`repr(value)`, cut after `MAX_NODES` values or `MAX_CONTAINER_TEXT` code points of a container."""
    form = None if is_leaf(type(value)) else form_of(value)
    return bounded(_leaf(value) if form is None else _Walk().text(value, form))


def is_leaf(cls: type) -> bool:
    """True for the built-in types that hold no other values."""
    return type(cls) is type and cls in _LEAVES  # the hash of a class is its metaclass's code


def _leaf(value: Any) -> str:
    """The repr of one value that is no container, bounded."""
    cls = type(value)
    if cls is str:
        return repr(value) if len(value) <= SHORT else head(repr(head(value)))
    if not is_leaf(cls):
        kind = next((plain for plain in _PLAIN if issubclass(cls, plain)), None)
        if kind is None or defined(cls, "__repr__") is not kind.__repr__:
            return caller_text(value, repr)
        cls = kind
        value = _plain(value, kind)
    if cls is int:
        return _integer(value)
    if cls is str or cls is bytes or cls is bytearray:
        return head(repr(value[:RAW_TEXT]))
    return repr(value)


def _integer(value: int) -> str:
    bits = value.bit_length()
    if bits > MAX_BITS:
        return f"<int of {bits:,} bits>"
    return repr(value) if bits <= SHORT else caller_text(value, repr)  # the application may allow fewer digits still


def _plain(value: Any, kind: Any) -> Any:
    """A subclass's value as the built-in type's own."""
    if kind is int:
        return int.__add__(value, 0)
    return kind.__getitem__(value, slice(0, RAW_TEXT + 1))


# ------------------------------------------------------------------------------------------------------- containers


class _Level(NamedTuple):
    """A container whose members are being written."""

    tokens: Iterator[tuple[str, Any]]
    closing: str
    identity: int


class _Walk:
    """Writes a container and what is in it, depth first, until its budget is spent."""

    def __init__(self) -> None:
        self._nodes = MAX_NODES
        self._room = MAX_CONTAINER_TEXT
        self._parts: list[str] = []
        self._levels: list[_Level] = []
        self._trail: set[int] = set()

    def text(self, value: object, form: Form) -> str:
        """The whole text, with a mark at its end where it was cut."""
        self._enter(value, form)
        parts, levels = self._parts, self._levels
        while levels:
            level = levels[-1]
            try:
                before, member = next(level.tokens)
            except Exception:  # noqa: BLE001 - the end; or another thread is changing the container
                levels.pop()
                self._trail.discard(level.identity)
                parts.append(level.closing)
                continue
            if self._nodes <= 0 or self._room <= 0:
                parts.append(CUT)
                break
            parts.append(before)
            leaf = is_leaf(type(member))
            inner = None if leaf else form_of(member)
            if inner is None:
                part = _leaf(member)
                parts.append(part)
                self._nodes -= 1
                self._room -= len(part) + 2
            else:
                self._container(member, inner)
        return "".join(parts)

    def _container(self, value: object, form: Form) -> None:
        if id(value) in self._trail or len(self._levels) >= MAX_DEPTH:
            self._write(f"{form.opening}...{form.closing.lstrip(',')}")
        else:
            self._enter(value, form)

    def _write(self, part: str, nodes: int = 1) -> None:
        self._parts.append(part)
        self._nodes -= nodes
        self._room -= len(part) + 2

    def _enter(self, value: object, form: Form) -> None:
        self._write(form.opening)
        tokens = _pairs(form) if form.between else self._members(form)
        self._levels.append(_Level(tokens, form.closing, id(value)))
        self._trail.add(id(value))

    def _members(self, form: Form) -> Iterator[tuple[str, Any]]:
        """The members; those of a long row of numbers are written at once."""
        row = list(islice(form.members, max(self._nodes, 0)))
        separator = ""
        if _quick(row):
            self._write(repr(row)[1:-1], len(row))
            row = []
            separator = ", "
        for member in row:
            yield separator, member
            separator = ", "
        for member in form.members:
            yield separator, member
            separator = ", "


def _pairs(form: Form) -> Iterator[tuple[str, Any]]:
    separator, between = "", form.between
    if form.named:
        for key, member in form.members:
            yield f"{separator}{text(key)}{between}", member
            separator = ", "
        return
    for key, member in form.members:
        yield separator, key
        yield between, member
        separator = ", "


def _quick(row: list[Any]) -> bool:
    """True when one call can show all of a row: numbers of ordinary size, True, False and None."""
    for member in row:
        cls = type(member)
        if cls is int:
            if not -(2**63) <= member < 2**63:
                return False
        elif cls is not float and cls is not bool and member is not None:
            return False
    return bool(row)
