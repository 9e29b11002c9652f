"""The raw facts of a report, taken on the caller's thread in microseconds.

What dies with the stack is taken now; what can be worked out of it is left to the render thread. No frame, no
traceback, no exception and no local is kept. Special methods and properties of the application's classes are passed
by: facts are read through the slots of the built-in types.
"""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from itertools import count
from operator import itemgetter
from time import time_ns
from types import TracebackType

from errorsink import _attributes, _classify, _context, _normalize, _values
from errorsink._chain import Link, group_types, instance_facts, linked, stands_alone, traceback_of
from errorsink._classify import ClassFacts
from errorsink._trace import Places, call_site, running_frame, walk
from errorsink._typing import Any

__all__ = ["CURRENT", "Link", "Snapshot", "renew_identity", "take"]

CURRENT: Any = type("CurrentException", (), {"__repr__": lambda self: "<the current exception>"})()
"""Stands for the exception that is being handled."""

UNKNOWN_TYPE = "errorsink.HarnessError"


_FACTS = 19


def _fact(place: int) -> Any:
    """A property that reads one of the facts behind the places."""
    return property(itemgetter(place - _FACTS))


class Snapshot(list[Any]):
    """The raw facts of one report: the parts of its places, and behind them `_FACTS` others.

    All stand in one list: whatever the garbage collector has to count brings its next run nearer, and it runs in the
    caller's time. With one object a report it runs at every 700th.
    """

    __slots__ = ()

    number: int = _fact(0)
    time_ns: int = _fact(1)
    type: str = _fact(2)
    message: str = _fact(3)
    level: Any = _fact(4)
    handling: Any = _fact(5)
    thread_id: int = _fact(6)
    thread_name: str = _fact(7)
    trace: tuple[int, int, int] | None = _fact(8)
    context: dict[str, Any] | None = _fact(9)
    attributes: dict[str, Any] | None = _fact(10)
    fingerprint: str | None = _fact(11)
    code: Any = _fact(12)
    control_flow: bool = _fact(13)
    owner: str | None = _fact(14)
    attempt: int | None = _fact(15)
    recovered: bool | None = _fact(16)
    previous: tuple[int, int] | None = _fact(17)
    """Time and number of the earlier report of this object, where it was reported as handled."""
    linked: Link | None = _fact(18)
    """The error with all that Python shows with it; None in the common case that it stands alone."""

    @property
    def places(self) -> Places:
        """Where the error was raised, or reported."""
        return self[:-_FACTS]

    @property
    def link(self) -> Link:
        """The error as one link, whether it stands alone or not."""
        return Link(self.type, self.message, self.places) if self.linked is None else self.linked


_NOTHING_MORE = (None, None, None, None, None, False, None, None, None, None, None)
"""The facts from `trace` on, of a report of which nothing more is known."""
_thread_facts: Callable[[threading.Thread], Any] = next(
    vars(cls)["__dict__"]
    for cls in threading.Thread.__mro__
    if "__dict__" in vars(cls)  # gevent's is a subclass
).__get__
_threads: Mapping[int, threading.Thread] = getattr(threading, "_active", {})
"""Thread names by id. `threading.current_thread()` takes a lock and registers a foreign thread for ever."""


# -------------------------------------------------------------------------------------------------------- identity

_counter = count()
_base = 0


def renew_identity() -> None:
    """New random bits for this process's ids; called at import and in every forked child."""
    global _base, _counter
    _base = int.from_bytes(os.urandom(8), "big")
    _counter = count()


renew_identity()


# --------------------------------------------------------------------------------------------------------- capture


def take(
    error: object,
    thread: int,
    level: str,
    handling: str,
    attributes: object,
    fingerprint: object,
    owner: object,
    attempt: object,
    recovered: object,
) -> Snapshot:
    """The snapshot of a report of this thread. The caller's frame is the first one outside this package."""
    if error is CURRENT:
        error = sys.exc_info()[1]
        if error is None:
            error = "report_error() was called without an error while no exception was being handled"
    _normalize.new_report()
    if type(handling) is not str:
        handling = "handled"
    previous: tuple[int, int] | None = None
    number = _base + next(_counter) & 0x3FFF_FFFF_FFFF_FFFF
    now = time_ns()
    given_traceback: TracebackType | None = None
    if type(error) is tuple and len(error) == 3:
        error, given_traceback = _unpack(error)
    cls = type(error)
    snapshot = Snapshot()
    link: Link | None = None
    if issubclass(cls, BaseException):
        facts = instance_facts(error)  # type: ignore[arg-type]
        kind = _classify.facts_of(cls)
        name = kind.name
        walk(traceback_of(error) if given_traceback is None else given_traceback, snapshot)  # type: ignore[arg-type]
        if not snapshot:
            call_site(running_frame(1), snapshot)
        if _is_simple(error, kind, facts):  # type: ignore[arg-type]
            message = _values.message(error, kind.says_args)  # type: ignore[arg-type]
        else:
            link = linked(error, snapshot.copy())  # type: ignore[arg-type]
            message = link.message
        code = _classify.raw_code(error, kind, facts)  # type: ignore[arg-type]
        control_flow = kind.control_flow
        previous = _mark(facts, error, now, number, handling)
    else:
        name, message = UNKNOWN_TYPE, _values.text(error)
        call_site(running_frame(1), snapshot)
        code, control_flow = "UNKNOWN", False
    snapshot += (
        number,
        now,
        name,
        message,
        level if type(level) is str else "",
        handling,
        thread,
        thread_name(thread),
        _context.active_trace(),
        _context.attributes(),
        None if attributes is None else _attributes.attributes(attributes),
        None if fingerprint is None else _values.text(fingerprint),
        code,
        control_flow,
        None if owner is None else _values.text(owner),
        attempt if type(attempt) is int and -(2**63) <= attempt < 2**63 else None,
        recovered if type(recovered) is bool else None,
        previous,
        link,
    )
    return snapshot


def thread_name(thread: int) -> str:
    """The name of a thread as its own dictionary holds it: `name` may be a property of the application's."""
    known = _threads.get(thread)
    try:
        facts = _thread_facts(known) if known is not None else None
    except TypeError:  # eventlet has a second Thread class
        facts = None
    name = facts.get("_name") if type(facts) is dict else None
    return name if type(name) is str else ""


def bare(error: object, thread: int, level: str, handling: str) -> Snapshot:
    """The least that can be said of a report whose capture failed: the class, and where it was reported."""
    snapshot = Snapshot()
    call_site(running_frame(1), snapshot)
    number = _base + next(_counter) & 0x3FFF_FFFF_FFFF_FFFF
    name = _normalize.type_name(type(error))
    given = (level if type(level) is str else "", handling if type(handling) is str else "handled")
    snapshot += (number, time_ns(), name, "<capture failed>", *given, thread, "", *_NOTHING_MORE)
    return snapshot


def _unpack(triple: tuple[Any, Any, Any]) -> tuple[object, TracebackType | None]:
    """The exception of a `sys.exc_info()` triple and its traceback; any other triple is a value like any other."""
    kind, value, traceback = triple
    is_class = issubclass(type(kind), type)
    is_traceback = traceback is None or type(traceback) is TracebackType
    if is_class and is_traceback and issubclass(type(value), BaseException):
        return value, traceback
    return triple, None


MARK = "__errorsink__"
ESCALATIONS = ("unhandled_rejection", "uncaught_exception")
"""What a handled error may still become; a `handling` that is none of the known words counts as `handled`."""


def _mark(facts: dict[str, Any], error: object, time_ns: int, number: int, handling: str) -> tuple[int, int] | None:
    """Notes on the exception that it was reported; the earlier report's identity where this one escalates it.

    The mark holds the object's id, so that a copy or an unpickled twin, which carries the same dictionary, doesn't
    count as reported; it refers to nothing, so it keeps nothing alive.
    """
    earlier = facts.get(MARK)
    facts[MARK] = (id(error), time_ns, number, handling)
    if type(earlier) is tuple and earlier[0] == id(error) and handling in ESCALATIONS and earlier[3] not in ESCALATIONS:
        return earlier[1], earlier[2]
    return None


def reported_as(error: BaseException) -> str | None:
    """How this very object was reported before (its `handling`); None where it wasn't."""
    mark = instance_facts(error).get(MARK)
    if type(mark) is tuple and mark[0] == id(error):
        return mark[3] if mark[3] in ESCALATIONS else "handled"  # as the record has it, whatever the caller passed
    return None


def _is_simple(error: BaseException, kind: ClassFacts, facts: dict[str, Any]) -> bool:
    """True where there is nothing behind it, no group and no note: the common case."""
    return (
        stands_alone(error)
        and not kind.is_syntax_error
        and "__notes__" not in facts
        and not issubclass(type(error), group_types())
    )
