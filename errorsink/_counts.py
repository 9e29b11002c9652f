"""The counts of one process: every report that was made, and what became of the call."""

from __future__ import annotations

from errorsink._receipt import Receipt
from errorsink._tally import Tally

__all__ = ["Counts", "Refusals", "current", "renew"]


class Refusals(Tally):
    """How many reports were kept out for one reason, and the receipt that they get."""

    __slots__ = ("receipt",)

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.receipt = Receipt(reason=reason)


class Counts:
    """The counts of one process."""

    def __init__(self) -> None:
        self.reported = Tally()
        self.recorded = Tally()
        self.gated: dict[str, Refusals] = {}
        self.refused = {"internal": Refusals("internal")}


current = Counts()
"""Taken once by each call: a fork within a call must not count one half of it here, and the other half there."""


def renew() -> None:
    """A forked child counts from nothing."""
    global current
    current = Counts()
