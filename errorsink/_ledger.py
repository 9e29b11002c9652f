"""Where every report is: the account of each sink, and the counts of all."""

from __future__ import annotations

from collections import Counter
from typing import Callable, NamedTuple

__all__ = ["Account", "Ledger", "Stats"]


class Account(NamedTuple):
    """Reports of one sink. At any quiet moment `recorded + recovered` is the sum of the seven that follow them."""

    recorded: int
    recovered: int
    """Taken over from the spool: records of processes that are gone."""
    delivered: int
    """The peer has taken them."""
    filtered: dict[str, int]
    """This sink doesn't want them, by reason."""
    rejected: dict[str, int]
    """The peer, or the encoder, refused them for good, by reason."""
    dropped: dict[str, int]
    """Lost, by reason: `inbox-full`, `queue-full`, `retry-window`, `spool-full`, `spool-expired`, `render`."""
    merged: int
    """Told of by the `repeat_count` of an equal report."""
    queued: int
    """In memory, on their way."""
    spooled: int
    """On disk alone, for this process or another to deliver later."""
    state: str
    """`closed` (all is well), `open` (failing: it waits), `half-open` (it is being tried), `stopped` (for good)."""
    last_error: str | None
    last_error_time: float | None
    """Seconds since the epoch."""
    last_success_time: float | None

    @property
    def balanced(self) -> bool:
        """True when every report is accounted for."""
        out = self.delivered + sum(self.filtered.values()) + sum(self.rejected.values()) + sum(self.dropped.values())
        return self.recorded + self.recovered == out + self.merged + self.queued + self.spooled


class Stats(NamedTuple):
    """What became of the reports of this process. `reported = recorded + gated + refused`, by reason."""

    reported: int
    """Calls of `report_error`."""
    recorded: int
    """In the ring, and on the way to every enabled sink."""
    gated: dict[str, int]
    """Kept out by a closed gate, by `Receipt.reason`."""
    refused: dict[str, int]
    """Not accepted for another reason: after `shutdown`, or from inside the SDK's own work (`internal`)."""
    contained: int
    """Errors inside the SDK itself that were kept from the application; each kind was told on standard error."""
    redactions: dict[str, int]
    """Secrets that were masked since the last `configure`, by kind."""
    sinks: dict[str, Account]
    """The account of every enabled sink, since the last `configure`."""


class Ledger:
    """The counts behind an account. Its user holds a lock around every change."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self.recorded = 0
        self.recovered = 0
        self.delivered = 0
        self.merged = 0
        self.spilled: set[str] = set()
        """Ids of records that were moved from memory to the spool."""
        self.filtered: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._last_error: tuple[str | None, float | None] = (None, None)
        self._last_success: float | None = None

    def record(self, repeats: int) -> None:
        """One record that stands for so many reports."""
        self.recorded += repeats
        self.merged += repeats - 1

    def deliver(self, number: int) -> None:
        self.delivered += number
        if number:
            self._last_success = self._wall()

    def fail(self, detail: str) -> None:
        self._last_error = (detail, self._wall())

    def account(self, queued: int, state: str) -> Account:
        return Account(
            self.recorded,
            self.recovered,
            self.delivered,
            dict(self.filtered),
            dict(self.rejected),
            dict(self.dropped),
            self.merged,
            queued,
            len(self.spilled),
            state,
            *self._last_error,
            self._last_success,
        )
