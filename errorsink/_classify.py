"""The stable machine code of an error, from what the error carries."""

from __future__ import annotations

import errno
from typing import Any, Callable

from errorsink.errors import HarnessError

__all__ = ["code_of", "errno_name", "is_control_flow", "named", "raw_code"]

MAX_NAME = 200
"""Code points of a class, frame, model or provider name."""

_CONTROL_FLOW_TYPES = (KeyboardInterrupt, SystemExit, GeneratorExit)
_CONTROL_FLOW_NAMES = frozenset({"AbortError", "APIUserAbortError", "CancelledError", "Cancelled", "UserAbortError"})
_NAME_MARKS = frozenset("_.<>:/@+-")
_dict_of: Callable[[type], dict[str, Any]] = type.__dict__["__dict__"].__get__
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_errno_of: Callable[[OSError], Any] = OSError.__dict__["errno"].__get__


def raw_code(error: BaseException, facts: dict[str, Any]) -> Any:
    """What may be the error's code, unchecked: read from its own dictionary and slots, so that no code of it runs.

    `facts` is the exception's instance dictionary. In this order: `code` (of a HarnessError and its kin),
    `reason_code`, the errno of an OSError, `status_code`, `status`, the status code of a `response`, `errno`.
    """
    if facts:
        for name in ("reason_code", "code", "status_code", "status", "errno"):
            if name in facts:
                return facts[name]
        if "response" in facts:
            response: Any = getattr(facts["response"], "__dict__", None)
            if type(response) is dict:
                return response.get("status_code", response.get("status"))
    cls = type(error)
    if issubclass(cls, OSError):
        return _errno_of(error)  # type: ignore[arg-type]
    if issubclass(cls, HarnessError):
        return error.code  # type: ignore[attr-defined]
    return _class_code(cls)


def _class_code(cls: type) -> Any:
    """A `reason_code` that stands on the class."""
    for base in _mro_of(cls):
        if base is Exception or base is BaseException:
            return None
        if "reason_code" in _dict_of(base):
            return _dict_of(base)["reason_code"]
    return None


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


def is_control_flow(error: BaseException, name: str) -> bool:
    """True for what isn't an error but a way to leave: Ctrl-C, exit, a closed generator, a cancellation."""
    return issubclass(type(error), _CONTROL_FLOW_TYPES) or name.rpartition(".")[2] in _CONTROL_FLOW_NAMES


def named(value: str) -> str:
    """A class, frame, entrypoint, model or provider name; `other` where it isn't one."""
    fits = 0 < len(value) <= MAX_NAME and all(c.isalnum() or c in _NAME_MARKS for c in value)
    return value if fits else "other"
