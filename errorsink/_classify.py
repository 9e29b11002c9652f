"""The stable machine code of an error, from what the error carries."""

from __future__ import annotations

import errno
import weakref
from typing import Any, Callable, NamedTuple

from errorsink._normalize import type_name
from errorsink.errors import HarnessError

__all__ = ["ClassFacts", "code_of", "errno_name", "facts_of", "named", "raw_code"]

MAX_NAME = 200
"""Code points of a class, frame, model or provider name."""

_CONTROL_FLOW_TYPES = (KeyboardInterrupt, SystemExit, GeneratorExit)
_CONTROL_FLOW_NAMES = frozenset({"AbortError", "APIUserAbortError", "CancelledError", "Cancelled", "UserAbortError"})
_NAME_MARKS = frozenset("_.<>:/@+-")
_dict_of: Callable[[type], dict[str, Any]] = type.__dict__["__dict__"].__get__
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_errno_of: Callable[[OSError], Any] = OSError.__dict__["errno"].__get__


class ClassFacts(NamedTuple):
    """What is known of an exception class, whatever the instance."""

    name: str
    """As Python prints it."""
    control_flow: bool
    code: Any
    """A `reason_code` or a HarnessError's `code` that stands on the class."""
    errno: Callable[[Any], Any] | None
    """How to read the errno of an OSError."""
    is_syntax_error: bool


_known: dict[int, tuple[weakref.ref[type], ClassFacts]] = {}
KNOWN_SIZE = 1_024
"""Classes that are remembered. By id and a weak reference: no class is kept alive, and no metaclass's code runs."""


def facts_of(cls: type) -> ClassFacts:
    """The facts of an exception class, remembered."""
    known = _known.get(id(cls))
    if known is not None and known[0]() is cls:
        return known[1]
    facts = ClassFacts(
        type_name(cls),
        _is_control_flow(cls),
        _class_code(cls),
        _errno_of if issubclass(cls, OSError) else None,
        issubclass(cls, SyntaxError),
    )
    if len(_known) >= KNOWN_SIZE:
        _known.clear()
    _known[id(cls)] = (weakref.ref(cls), facts)
    return facts


def _is_control_flow(cls: type) -> bool:
    """True for what isn't an error but a way to leave: Ctrl-C, exit, a closed generator, a cancellation."""
    if issubclass(cls, _CONTROL_FLOW_TYPES):
        return True
    return any(type_name(base).rpartition(".")[2] in _CONTROL_FLOW_NAMES for base in _mro_of(cls))


def _class_code(cls: type) -> Any:
    for base in _mro_of(cls):
        if base is Exception or base is BaseException:
            return None
        for name in ("reason_code", "code") if issubclass(base, HarnessError) else ("reason_code",):
            if name in _dict_of(base):
                return _dict_of(base)[name]
    return None


def raw_code(error: BaseException, kind: ClassFacts, facts: dict[str, Any]) -> Any:
    """What may be the error's code, unchecked: read from its own dictionary and slots, so that no code of it runs.

    `facts` is the exception's instance dictionary. In this order: its `reason_code`, its `code`, an HTTP
    `status_code` or `status` (its own, or its `response`'s), an errno, a code that stands on the class.
    """
    if facts:
        for name in ("reason_code", "code"):
            if name in facts:
                return facts[name]
        for holder in (facts, getattr(facts.get("response"), "__dict__", None)):
            if type(holder) is dict:
                for name in ("status_code", "status"):
                    if type(holder.get(name)) is int:
                        return holder[name]
        if "errno" in facts:
            return facts["errno"]
    return kind.code if kind.errno is None else kind.errno(error)


def code_of(raw: object) -> str | None:
    """A code as it goes out: an errno's or a controlled name, or an HTTP status; None for anything else."""
    cls = type(raw)
    if cls is str:
        name: str = raw  # type: ignore[assignment]
        return name if len(name) <= 64 and name[:1].isalpha() and named(name) == name else None
    if cls is int:
        number: int = raw  # type: ignore[assignment]
        if 400 <= number <= 599:
            return str(number)
        return errno.errorcode.get(number)
    return None


def errno_name(code: str | None) -> str | None:
    """The code where it looks like a symbolic errno (`ECONNREFUSED`)."""
    if code is not None and len(code) <= 24 and code[0] == "E" and code.isalnum() and code.isupper():
        return code
    return None


def named(value: str) -> str:
    """A class, frame, entrypoint, model or provider name; `other` where it isn't one."""
    fits = 0 < len(value) <= MAX_NAME and all(c.isalnum() or c in _NAME_MARKS for c in value)
    return value if fits else "other"
