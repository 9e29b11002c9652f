"""An exception and all that Python shows with it: causes, contexts, group members, notes, the place of a SyntaxError.

Facts are read through the slots of the built-in types: special methods and properties of the application's classes
are passed by. Which of two links to the same exception is shown, and which is left out, is decided in the order in
which `traceback.TracebackException` decides it.
"""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from types import TracebackType

from errorsink import _classify, _values
from errorsink._limits import MAX_CAUSES
from errorsink._normalize import RAW_TEXT, head
from errorsink._trace import Places, places_of
from errorsink._typing import Any, NamedTuple

__all__ = ["Link", "SyntaxFacts", "group_types", "instance_facts", "linked", "stands_alone", "traceback_of"]

MAX_EXCEPTIONS = 64
"""Exceptions of one report, over all chains and groups."""
TEXT_SHARE = 2_048
"""Code points of message and notes for which an exception counts as one more."""
GROUP_WIDTH = 15
GROUP_DEPTH = 10
"""The children and levels of a group that Python's own traceback shows."""
GROUP_LOOK = 100
"""Members of a group that are remembered as met."""
MAX_NOTES = 20
COUNTED_BEYOND = 50
"""Links behind the last one kept that are still counted, so that the cost stays flat in the chain's length."""


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
    places: Places
    notes: tuple[str, ...] = ()
    behind: Link | None = None
    is_cause: bool = False
    """True when `behind` is the cause, False when it is the context."""
    more_behind: int = 0
    """Links that are left out after this one; COUNTED_BEYOND stands for that many or more."""
    in_cycle: bool = False
    """True when the chain comes back here to an exception that stands further down."""
    children: tuple[Link, ...] | None = None
    more_children: int = 0
    too_deep: bool = False
    syntax: SyntaxFacts | None = None


_dict_of: Callable[[BaseException], Any] = BaseException.__dict__["__dict__"].__get__
traceback_of: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_cause_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__cause__"].__get__
_context_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__context__"].__get__
_suppresses: Callable[[BaseException], bool] = BaseException.__dict__["__suppress_context__"].__get__


def instance_facts(error: BaseException) -> dict[str, Any]:
    """The exception's own dictionary; an empty one where a look-up in it could run code of the application's."""
    facts = _dict_of(error)
    if type(facts) is not dict:
        return {}
    try:
        for key in facts:
            if type(key) is not str:
                return {}
    except RuntimeError:  # another thread is changing it
        return {}
    return facts


def stands_alone(error: BaseException) -> bool:
    """True when Python shows no other exception before this one."""
    return (_context_of(error) is None or _suppresses(error)) and _cause_of(error) is None


# ------------------------------------------------------------------------------------------------------- the walk


class _Node:
    """An exception that is being linked. Nodes refer in one direction only: a cycle would keep the exceptions alive."""

    def __init__(self, error: BaseException, places: Places, chain: set[int], level: int) -> None:
        cls = type(error)
        kind = _classify.facts_of(cls)
        self.error = error
        self.level = level
        """How many groups it is in."""
        self.chain = chain
        """The ids of the exceptions of its chain that Python shows after it, and its own."""
        chain.add(id(error))
        self.facts = Link(
            kind.name,
            _values.message(error, kind.says_args),
            places,
            _notes(error),
            syntax=_syntax(error) if kind.is_syntax_error else None,
        )
        self.behind: _Node | None = None
        self.children: list[_Node] | None = None

    def link(self) -> Link:
        """The node and what belongs to it as a value."""
        if self.behind is None and self.children is None:
            return self.facts
        nodes: list[_Node] = [self]
        while nodes[-1].behind is not None:
            nodes.append(nodes[-1].behind)
        behind: Link | None = None
        for node in reversed(nodes):
            children = None if node.children is None else tuple(child.link() for child in node.children)
            behind = node.facts._replace(behind=behind, children=children)
        assert behind is not None
        return behind


def linked(error: BaseException, places: Places) -> Link:
    """The exception with everything around it, within the budget of one report."""
    return _Walk().from_(error, places)


class _Walk:
    """Walks the chains and groups of one report, each exception once."""

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._left = MAX_EXCEPTIONS

    def from_(self, error: BaseException, places: Places) -> Link:
        first = self._node(error, places, set(), 0)
        waiting = [first]
        while waiting:
            node = waiting.pop()
            behind = self._behind(node)
            if behind is not None:
                waiting.append(behind)
            waiting += self._children(node)
        return first.link()

    def _node(self, error: BaseException, places: Places, chain: set[int], level: int) -> _Node:
        self._met.add(id(error))
        node = _Node(error, places, chain, level)
        size = len(node.facts.message) + sum(map(len, node.facts.notes))
        self._left -= 1 + size // TEXT_SHARE
        return node

    def _shown_behind(self, error: BaseException) -> tuple[BaseException | None, bool]:
        """What Python shows before this exception, and whether it is the cause."""
        cause = _cause_of(error)
        if cause is not None and id(cause) not in self._met:
            return cause, True
        context = _context_of(error)
        if context is not None and id(context) not in self._met and not _suppresses(error):
            return context, False
        return None, False

    def _behind(self, node: _Node) -> _Node | None:
        if stands_alone(node.error):
            return None
        error, is_cause = self._shown_behind(node.error)
        if error is None:
            hidden = _cause_of(node.error)
            if hidden is None and not _suppresses(node.error):
                hidden = _context_of(node.error)
            if hidden is not None and id(hidden) in node.chain:
                node.facts = node.facts._replace(in_cycle=True)
            return None
        if len(node.chain) > MAX_CAUSES or self._left <= 0:
            node.facts = node.facts._replace(is_cause=is_cause, more_behind=self._count(error))
            return None
        node.facts = node.facts._replace(is_cause=is_cause)
        node.behind = self._node(error, places_of(traceback_of(error)), node.chain, node.level)
        return node.behind

    def _count(self, error: BaseException | None) -> int:
        counted = 0
        while error is not None and counted < COUNTED_BEYOND:
            self._met.add(id(error))
            counted += 1
            error, _ = self._shown_behind(error)
        return counted

    def _children(self, node: _Node) -> list[_Node]:
        """The members of a group, as far as they are shown."""
        members = _members(node.error)
        if members is None:
            return []
        node.children = []
        if node.level >= GROUP_DEPTH:
            node.facts = node.facts._replace(too_deep=True)
            return []
        for member in members[:GROUP_WIDTH]:
            if self._left <= 0:
                break
            if issubclass(type(member), BaseException):  # pyright: ignore[reportUnnecessaryIsInstance] - a hostile group
                node.children.append(self._node(member, places_of(traceback_of(member)), set(), node.level + 1))
        self._met.update(map(id, islice(members, GROUP_WIDTH, GROUP_LOOK)))
        node.facts = node.facts._replace(more_children=len(members) - len(node.children))
        return node.children


# ----------------------------------------------------------------------------------------------------------- groups


_NATIVE_GROUPS: tuple[type, ...] = tuple(filter(None, [getattr(builtins, "BaseExceptionGroup", None)]))


def group_types() -> tuple[type, ...]:
    """The classes of exception groups; on 3.10 the backport's, which may be imported at any time."""
    if _NATIVE_GROUPS:
        return _NATIVE_GROUPS
    backport = getattr(sys.modules.get("exceptiongroup"), "BaseExceptionGroup", None)
    return (backport,) if backport is not None else ()


def _members(error: BaseException) -> Sequence[BaseException] | None:
    """The exceptions of a group; None for what is no group."""
    groups = group_types()
    if not groups or not issubclass(type(error), groups):
        return None
    if _NATIVE_GROUPS:
        members = groups[0].__dict__["exceptions"].__get__(error)
    else:
        members = instance_facts(error).get("_exceptions")
    return members if type(members) is tuple or type(members) is list else ()


# ------------------------------------------------------------------------------------------------ notes and syntax


def _notes(error: BaseException) -> tuple[str, ...]:
    """The notes as Python prints them: of a list each as a text, of anything else its repr."""
    notes = instance_facts(error).get("__notes__")
    if notes is None:
        return ()
    if type(notes) is not list and type(notes) is not tuple:
        return (_values.shown(notes),)
    shown: list[str] = []
    room = RAW_TEXT
    for note in notes[:MAX_NOTES]:
        shown.append(head(note) if type(note) is str else _values.said(note))
        room -= len(shown[-1])
        if room <= 0:
            break
    left_out = len(notes) - len(shown)
    if left_out > 0:
        shown.append(f"[{left_out:,} more {'note' if left_out == 1 else 'notes'}]")
    return tuple(shown)


def _syntax(error: BaseException) -> SyntaxFacts:
    def field(name: str) -> Any:
        return SyntaxError.__dict__[name].__get__(error)

    def string(name: str) -> str | None:
        value = field(name)
        return head(value) if issubclass(type(value), str) else None

    def number(name: str) -> int | None:
        value = field(name)
        return value if type(value) is int and -(2**31) <= value < 2**31 else None

    message = field("msg")
    return SyntaxFacts(
        string("filename"),
        number("lineno"),
        string("text"),
        number("offset"),
        number("end_lineno"),
        number("end_offset"),
        None if message is None else _values.text(message),
    )
