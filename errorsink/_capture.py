"""The raw facts of a report, taken on the caller's thread in microseconds.

What dies with the stack is taken now; what can be worked out of it is left to the render thread. No frame, no
traceback, no exception and no local is kept. Special methods and properties of the application's classes are passed
by: facts are read through the slots of the built-in types.
"""

from __future__ import annotations

import _thread
import builtins
import os
import sys
import threading
from itertools import count
from time import time_ns
from types import TracebackType
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from errorsink import _classify, _context, _normalize
from errorsink._classify import ClassFacts
from errorsink._normalize import RAW_TEXT
from errorsink._trace import Place, call_site, walk
from errorsink.model import MAX_CAUSES

__all__ = ["CURRENT", "Link", "Snapshot", "SyntaxFacts", "renew_identity", "take"]

CURRENT: Any = type("CurrentException", (), {"__repr__": lambda self: "<the current exception>"})()
"""Stands for the exception that is being handled."""

MAX_EXCEPTIONS = 64
"""Exceptions of one report, over all chains and groups."""
GROUP_WIDTH = 15
GROUP_DEPTH = 10
"""The children and levels of a group that Python's own traceback shows."""
MAX_NOTES = 20
COUNTED_BEYOND = 50
"""Links behind the last one kept that are still counted, so that the cost stays flat in the chain's length."""

UNKNOWN_TYPE = "errorsink.HarnessError"


class SyntaxFacts(NamedTuple):
    """Where a SyntaxError points to; only values of the right types."""

    filename: str | None
    line: int | None
    text: str | None
    offset: int | None
    end_line: int | None
    end_offset: int | None
    message: str | None


class Link(NamedTuple):
    """One exception of a report."""

    type: str
    message: str
    places: list[Place]
    notes: tuple[str, ...] = ()
    behind: Link | None = None
    is_cause: bool = False
    """True when `behind` is the cause, False when it is the context."""
    more_behind: int = 0
    """Links that are left out after this one; COUNTED_BEYOND stands for that many or more."""
    in_cycle: bool = False
    """True when the chain comes back here to an exception that was met before."""
    children: tuple[Link, ...] | None = None
    more_children: int = 0
    too_deep: bool = False
    syntax: SyntaxFacts | None = None


class Snapshot(NamedTuple):
    """The raw facts of one report."""

    number: int
    time_ns: int
    link: Link
    level: Any
    handling: Any
    thread_id: int
    thread_name: str = ""
    trace: tuple[int, int, int] | None = None
    context: dict[str, Any] | None = None
    attributes: dict[str, Any] | None = None
    fingerprint: str | None = None
    code: Any = None
    control_flow: bool = False
    owner: str | None = None
    attempt: int | None = None
    recovered: bool | None = None
    previous: tuple[int, int] | None = None
    """Time and number of the earlier report of this object, where it was reported as handled."""


_new_link = _new_snapshot = tuple.__new__
"""A named tuple's own constructor takes four times as long."""
_NOTHING_ELSE = tuple(Link._field_defaults.values())
_dict_of: Callable[[BaseException], dict[str, Any]] = BaseException.__dict__["__dict__"].__get__
_traceback_of: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_cause_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__cause__"].__get__
_context_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__context__"].__get__
_suppresses: Callable[[BaseException], bool] = BaseException.__dict__["__suppress_context__"].__get__
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
    level: str,
    handling: str,
    attributes: object,
    fingerprint: object,
    owner: object,
    attempt: object,
    recovered: object,
) -> Snapshot:
    """The snapshot of a report. The caller's frame is the first one outside this package."""
    if error is CURRENT:
        error = sys.exc_info()[1]
        if error is None:
            error = "report_error() was called without an error while no exception was being handled"
    thread = _thread.get_ident()
    previous: tuple[int, int] | None = None
    number = _base + next(_counter) & 0x3FFF_FFFF_FFFF_FFFF
    now = time_ns()
    given_traceback: TracebackType | None = None
    if type(error) is tuple and len(error) == 3:
        error, given_traceback = _unpack(error)
    cls = type(error)
    if issubclass(cls, BaseException):
        facts = _facts(error)  # type: ignore[arg-type]
        kind = _classify.facts_of(cls)
        link = _link(error, kind, facts, given_traceback)  # type: ignore[arg-type]
        code = _classify.raw_code(error, kind, facts)  # type: ignore[arg-type]
        control_flow = kind.control_flow
        previous = _mark(facts, error, now, number, handling)
    else:
        link = Link(UNKNOWN_TYPE, _normalize.text(error), call_site(sys._getframe(1)))
        code, control_flow = "UNKNOWN", False
    known = _threads.get(thread)
    return _new_snapshot(
        Snapshot,
        (
            number,
            now,
            link,
            level,
            handling,
            thread,
            known.name if known is not None else "",
            _context.active_trace(),
            _context.attributes(),
            None if attributes is None else _normalize.attributes(attributes),
            None if fingerprint is None else _normalize.text(fingerprint),
            code,
            control_flow,
            None if owner is None else _normalize.text(owner),
            attempt if type(attempt) is int else None,
            recovered if type(recovered) is bool else None,
            previous,
        ),
    )


def _facts(error: BaseException) -> dict[str, Any]:
    """The exception's own dictionary; an empty one where a class has put something else in its place."""
    facts = _dict_of(error)
    return facts if type(facts) is dict else {}


def bare(error: object, level: str, handling: str) -> Snapshot:
    """The least that can be said of a report whose capture failed: the class, and where it was reported."""
    link = Link(_normalize.type_name(type(error)), "<capture failed>", call_site(sys._getframe(1)))
    number = _base + next(_counter) & 0x3FFF_FFFF_FFFF_FFFF
    return Snapshot(number, time_ns(), link, level, handling, _thread.get_ident())


def _unpack(triple: tuple[Any, Any, Any]) -> tuple[object, TracebackType | None]:
    """The exception of a `sys.exc_info()` triple and its traceback; any other triple is a value like any other."""
    _, value, traceback = triple
    if issubclass(type(value), BaseException):
        return value, traceback if type(traceback) is TracebackType else None
    return triple, None


MARK = "__errorsink__"


def _mark(facts: dict[str, Any], error: object, time_ns: int, number: int, handling: str) -> tuple[int, int] | None:
    """Notes on the exception that it was reported; the earlier report's identity where this one escalates it.

    The mark holds the object's id, so that a copy or an unpickled twin, which carries the same dictionary, doesn't
    count as reported; it refers to nothing, so it keeps nothing alive.
    """
    earlier = facts.get(MARK)
    facts[MARK] = (id(error), time_ns, number, handling)
    if handling != "handled" and type(earlier) is tuple and earlier[0] == id(error) and earlier[3] == "handled":
        return earlier[1], earlier[2]
    return None


def reported_as(error: BaseException) -> str | None:
    """How this very object was reported before (its `handling`); None where it wasn't."""
    mark = _facts(error).get(MARK)
    if type(mark) is tuple and mark[0] == id(error):
        handling: str = mark[3]
        return handling
    return None


# ------------------------------------------------------------------------------------------------- chain and group


def _link(error: BaseException, kind: ClassFacts, facts: dict[str, Any], traceback: TracebackType | None) -> Link:
    """The exception and all that it shows: in the common case nothing behind it, no group, no notes."""
    own = _traceback_of(error)
    places = walk(own if own is not None else traceback)
    if not places:
        places = call_site(sys._getframe(1))
    if (
        (_context_of(error) is None or _suppresses(error))
        and _cause_of(error) is None
        and not kind.is_syntax_error
        and "__notes__" not in facts
        and not issubclass(type(error), _group_types())
    ):
        return _new_link(Link, (kind.name, _normalize.message(error), places, *_NOTHING_ELSE))
    return _Walker().chain(error, places, 0)


class _Walker:
    """Walks the chains and groups of one report within its budget, each exception once."""

    def __init__(self) -> None:
        self.met: set[int] = set()
        self.left = MAX_EXCEPTIONS

    def chain(self, error: BaseException, places: list[Place] | None, depth: int) -> Link:
        """The exception with what is behind it, linked from the far end to the near one."""
        links: list[tuple[Link, bool]] = []
        more, cycle = 0, False
        current: BaseException | None = error
        is_cause = False
        while current is not None:
            self.met.add(id(current))
            self.left -= 1
            links.append((self._one(current, places if current is error else None, depth), is_cause))
            current, is_cause, cycle = self._behind(current)
            if current is not None and (len(links) > MAX_CAUSES or self.left <= 0):
                more = self._count(current)
                break
        behind: Link | None = None
        for position in range(len(links) - 1, -1, -1):
            link, _ = links[position]
            last = position == len(links) - 1
            behind = link._replace(
                behind=behind,
                is_cause=links[position + 1][1] if not last else False,
                more_behind=more if last else 0,
                in_cycle=cycle and last,
            )
        assert behind is not None
        return behind

    def _behind(self, error: BaseException) -> tuple[BaseException | None, bool, bool]:
        """What Python shows before this exception; whether it is the cause; whether a cycle hides it."""
        cause = _cause_of(error)
        if cause is not None and id(cause) not in self.met:
            return cause, True, False
        context = _context_of(error)
        if context is not None and not _suppresses(error):
            if id(context) not in self.met:
                return context, False, False
            return None, False, True
        return None, False, cause is not None

    def _count(self, error: BaseException | None) -> int:
        counted = 0
        while error is not None and counted < COUNTED_BEYOND:
            self.met.add(id(error))
            counted += 1
            error, _, _ = self._behind(error)
        return counted

    def _one(self, error: BaseException, places: list[Place] | None, depth: int) -> Link:
        cls = type(error)
        syntax = _syntax(error) if issubclass(cls, SyntaxError) else None
        link = Link(
            _normalize.type_name(cls),
            _normalize.message(error),
            walk(_traceback_of(error)) if places is None else places,
            _notes(error),
            syntax=syntax,
        )
        members = _members(error)
        if members is None:
            return link
        if depth >= GROUP_DEPTH:
            return link._replace(children=(), too_deep=True)
        shown, size = members
        children: list[Link] = []
        for member in shown:
            if self.left <= 0:
                break
            children.append(self.chain(member, None, depth + 1))
        return link._replace(children=tuple(children), more_children=size - len(children))


_NATIVE_GROUPS: tuple[type, ...] = tuple(filter(None, [getattr(builtins, "BaseExceptionGroup", None)]))


def _group_types() -> tuple[type, ...]:
    """The classes of exception groups; on 3.10 the backport's, which may be imported at any time."""
    if _NATIVE_GROUPS:
        return _NATIVE_GROUPS
    backport = getattr(sys.modules.get("exceptiongroup"), "BaseExceptionGroup", None)
    return (backport,) if backport is not None else ()


def _members(error: BaseException) -> tuple[Sequence[BaseException], int] | None:
    """The first exceptions of a group, and how many it has; None for what is no group."""
    groups = _group_types()
    if not groups or not issubclass(type(error), groups):
        return None
    try:
        members: Any = groups[0].__dict__["exceptions"].__get__(error)
    except Exception:  # noqa: BLE001 - a half-built group of the backport has none
        return None
    if not issubclass(type(members), (tuple, list)):
        return None
    shown = [member for member in members[:GROUP_WIDTH] if issubclass(type(member), BaseException)]
    return shown, len(members)


def _notes(error: BaseException) -> tuple[str, ...]:
    """The notes as Python prints them: of a list each as a text, of anything else its repr."""
    notes = _facts(error).get("__notes__")
    if notes is None:
        return ()
    if type(notes) in (list, tuple):
        shown = [
            _normalize.caller_text(note, str) if type(note) is not str else note[:RAW_TEXT]
            for note in notes[:MAX_NOTES]
        ]
        if len(notes) > MAX_NOTES:
            shown.append(f"[{len(notes) - MAX_NOTES:,} more notes]")
        return tuple(shown)
    return (_normalize.caller_text(notes, repr),)


_SYNTAX_FIELDS: tuple[tuple[str, type], ...] = (
    ("filename", str),
    ("lineno", int),
    ("text", str),
    ("offset", int),
    ("end_lineno", int),
    ("end_offset", int),
    ("msg", str),
)


def _syntax(error: BaseException) -> SyntaxFacts:
    def field(name: str, kind: type) -> Any:
        value = SyntaxError.__dict__[name].__get__(error)
        return value if type(value) is kind else None

    return SyntaxFacts(*(field(name, kind) for name, kind in _SYNTAX_FIELDS))
