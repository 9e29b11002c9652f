"""The stable machine code of an error, from what the error carries."""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import errno
import weakref
from collections.abc import Callable
from types import GetSetDescriptorType

from errorsink._normalize import defined, type_name
from errorsink._typing import Any, NamedTuple
from errorsink._values import says_args
from errorsink.errors import HarnessError

__all__ = ["ClassFacts", "code_of", "errno_name", "facts_of", "named", "raw_code"]

MAX_NAME = 200
"""Code points of a class, frame, model or provider name."""

MAX_CODE = 64
"""Code points of a code."""

_CONTROL_FLOW_TYPES = (KeyboardInterrupt, SystemExit, GeneratorExit)
_CONTROL_FLOW_NAMES = frozenset({"AbortError", "APIUserAbortError", "CancelledError", "Cancelled", "UserAbortError"})
_CODE_KEYS = frozenset({"reason_code", "code", "response", "status_code", "status", "errno"})
"""What an exception's dictionary may hold a code under. Most hold none, which one look tells."""
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
    says_args: bool
    """True when its text is that of its arguments."""


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
        says_args(cls),
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


def _class_code(cls: type) -> str | int | None:
    for base in _mro_of(cls):
        if base is Exception or base is BaseException:
            return None
        for name in ("reason_code", "code") if issubclass(base, HarnessError) else ("reason_code",):
            code = _usable(_dict_of(base).get(name))
            if code is not None:
                return code
    return None


def raw_code(error: BaseException, kind: ClassFacts, facts: dict[str, Any]) -> str | int | None:
    """What may be the error's code, unchecked: read from its own dictionary and slots, so that no code of it runs.

    `facts` is the exception's instance dictionary. In this order: its `reason_code`, its `code`, an HTTP
    `status_code` or `status` (its own, or its `response`'s), an errno, a code that stands on the class. What is
    neither a string nor a number is passed over.
    """
    if not _CODE_KEYS.isdisjoint(facts):
        for name in ("reason_code", "code"):
            if name in facts and (code := _usable(facts[name])) is not None:
                return code
        for holder in (facts, _facts_of_value(facts["response"])) if "response" in facts else (facts,):
            for name in ("status_code", "status"):
                if name in holder and type(code := _usable(holder[name])) is int:
                    return code
        if "errno" in facts and (code := _usable(facts["errno"])) is not None:
            return code
    return kind.code if kind.errno is None else _usable(kind.errno(error))


def _usable(value: object) -> str | int | None:
    """A value that may be a code, as it is; None for anything else, so that a report keeps no object alive."""
    cls = type(value)
    if cls is str:
        return value if len(value) <= MAX_CODE else None  # type: ignore[arg-type, return-value]
    if issubclass(cls, int) and cls is not bool:
        number = int.__add__(value, 0)  # type: ignore[operator]
        return number if -(2**31) <= number < 2**31 else None
    return None


def _facts_of_value(value: object) -> dict[str, Any]:
    """The instance dictionary of any object, where reading it runs none of its code."""
    slot = defined(type(value), "__dict__")
    facts = slot.__get__(value) if type(slot) is GetSetDescriptorType else None
    return facts if type(facts) is dict else {}


def code_of(raw: object) -> str | None:
    """A code as it goes out: an errno's or a controlled name, or an HTTP status; None for anything else."""
    cls = type(raw)
    if cls is str:
        name: str = raw  # type: ignore[assignment]
        return name if len(name) <= MAX_CODE and name[:1].isalpha() and named(name) == name else None
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
