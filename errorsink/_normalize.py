"""Total functions from any value to bounded text: they never raise, whatever a class does.

Built-in values are read through their own types' slots, so that no method of the application runs. Where only the
application's code can tell (a `__str__` or a `__repr__` of its own), it runs at most once for a value, within `ask`.

KeyboardInterrupt and SystemExit pass: they may be a real Ctrl-C or SIGTERM that arrives meanwhile.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from time import perf_counter

from errorsink._typing import Any

__all__ = [
    "CUT",
    "RAW_TEXT",
    "ask",
    "bounded",
    "caller_text",
    "defined",
    "exact",
    "in_user_code",
    "new_report",
    "type_name",
]

RAW_TEXT = 32_768
"""Code points of a raw text that are kept for rendering: the stack's 16,000, and room for redaction to look ahead."""
USER_SECONDS = 0.1
"""Seconds that the application's own formatters may take in one report; once they are spent, no further one runs."""

CUT = "…[cut]"

in_user_code: set[int] = set()
"""The threads that run the application's code on the SDK's behalf, or other people's code that may log: what is
reported from there is refused. Ids come from `_thread` at each call: gevent and eventlet put their own in its place."""

clock: Callable[[], float] = perf_counter
_spent: dict[int, float] = {}
"""Seconds that formatters have taken so far, by thread."""

_plain_str = str.__str__
_slice_of = str.__getitem__
_first = slice(0, RAW_TEXT)
_name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
_qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_module_of: Callable[[type], Any] = type.__dict__["__module__"].__get__
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_dict_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__


# ------------------------------------------------------------------------------------------------ texts and classes


def exact(value: str) -> str:
    """A `str` subclass's characters as an exact `str`, so that none of its methods can interfere."""
    return value if type(value) is str else _plain_str(value)


def head(value: str) -> str:
    """The first `RAW_TEXT` characters, as an exact `str`."""
    if type(value) is str and len(value) <= RAW_TEXT:
        return value
    return _slice_of(value, _first)


def bounded(value: str, limit: int = RAW_TEXT) -> str:
    """The text, or its beginning with a mark; never longer than `limit`."""
    return value if len(value) <= limit else value[: limit - len(CUT)] + CUT


def type_name(cls: type) -> str:
    """The class's name as Python prints it in a traceback, without running a metaclass's code."""
    name = head(_qualname_of(cls))
    module = _module_of(cls)
    if not issubclass(type(module), str):
        return f"<unknown>.{name}"
    module = head(module)
    if module == "builtins" or module == "__main__":
        return name
    return head(f"{module}.{name}")


def simple_name(cls: type) -> str:
    """The class's name without its module, as Python prints it in a `repr`."""
    return head(_name_of(cls))


def defined(cls: type, name: str) -> Any:
    """What stands in the class or the nearest of its bases under that name, as it is: no descriptor is run."""
    for base in cls.__mro__ if type(cls) is type else _mro_of(cls):
        members = base.__dict__ if type(base) is type else _dict_of(base)
        if name in members:
            return members[name]
    return None


# --------------------------------------------------------------------------------------------- the application's code


def new_report() -> None:
    """The time for formatters begins anew."""
    if _spent:
        _spent.clear()


def ask(function: Callable[[Any], Any], value: object, otherwise: Any = None) -> Any:
    """What the application's code says of a value; `otherwise` where it fails, or where the report's time is spent.

    While it runs, the thread is marked: a report that is made from inside is refused and counted, so that formatting
    an error can't report another without end.
    """
    thread = _thread.get_ident()
    before = _spent.get(thread, 0.0)
    if before > USER_SECONDS:
        return otherwise
    nested = thread in in_user_code
    in_user_code.add(thread)
    started = clock()
    try:
        return function(value)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - whatever it is, it was raised by the application's code
        return otherwise
    finally:
        _spent[thread] = before + clock() - started
        if not nested:
            in_user_code.discard(thread)


def caller_text(value: object, formatter: Callable[[Any], object]) -> str:
    """What `str` or `repr` says of a value, called once; a placeholder where it fails."""
    said = ask(formatter, value)
    if issubclass(type(said), str):
        return head(said)
    return f"<unprintable {head(_qualname_of(type(value)))} object>"
