"""What a sink gives, held against the contract: sinks are anybody's code, and one's mistake must not harm another."""

# A foreign sink may break its own annotations, which is what is looked for here.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from errorsink import _native
from errorsink.sinks import Item, Outcome, Sink

__all__ = ["checked_item", "checked_outcome", "checked_reason", "checked_sink", "passes"]

_STATUSES = frozenset(get_args(get_type_hints(Outcome)["status"]))
_CALLS = ("skips", "prepare", "send", "close")


def checked_sink(sink: Any, name: str) -> Sink:
    """The sink that a factory has built for the entry point of this name.

    Raises:
        TypeError: it is none; the message says what is missing.
    """
    if getattr(sink, "name", None) != name:
        raise TypeError(f"a sink's name is its entry point's, {name!r}; got {getattr(sink, 'name', None)!r}")
    for limit in ("max_records", "max_bytes"):
        value = getattr(sink, limit, None)
        if not isinstance(value, int) or value < 1:
            raise TypeError(f"{limit} is a whole number from 1 up, got {value!r}")
    missing = [call for call in _CALLS if not callable(getattr(sink, call, None))]
    if missing:
        raise TypeError(f"it has no {', '.join(missing)}")
    found: Sink = sink
    return found


def checked_reason(reason: Any) -> str | None:
    """What `skips` has returned. TypeError where that is neither a text nor None."""
    if reason is None or isinstance(reason, str):
        return reason
    raise TypeError(f"skips returns a reason or None, got {type(reason).__name__}")


def checked_item(item: Any) -> Item:
    """What `prepare` has returned. TypeError where that is no item."""
    if isinstance(item, Item) and isinstance(item.size, int):
        return item
    raise TypeError(f"prepare returns an Item with a whole number of bytes, got {type(item).__name__}")


def checked_outcome(outcome: Any) -> Outcome:
    """What `send` has returned. TypeError where that is no outcome."""
    if (
        isinstance(outcome, Outcome)
        and outcome.status in _STATUSES
        and isinstance(outcome.reason, str)
        and isinstance(outcome.detail, str)
        and isinstance(outcome.retry_after, (int, float, type(None)))
        and isinstance(outcome.refused, int)
    ):
        return outcome
    raise TypeError(f"send returns an Outcome made by one of its constructors, got {type(outcome).__name__}")


def passes(error: BaseException) -> bool:
    """True for a Ctrl-C or an exit in a thread of the application's: it is meant for the application.

    In a thread of the SDK's own nobody can press Ctrl-C. Anything else that a sink raises is the sink's, also what is
    no `Exception`: asyncio's CancelledError, or the panic of an extension.
    """
    return isinstance(error, (KeyboardInterrupt, SystemExit)) and not _native.in_own_thread()
