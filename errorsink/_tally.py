"""Counting without a lock."""

from __future__ import annotations

from itertools import count

__all__ = ["Tally"]


class Tally:
    """A count that any thread may raise at any line, a finaliser's and a signal handler's included.

    `x += 1` is three steps, between which another thread may run, and a lock could be held by the very thread that
    a signal handler interrupts. One step of an `itertools.count` is atomic.
    """

    __slots__ = ("_count", "add")

    def __init__(self) -> None:
        self._count = count()
        self.add = self._count.__next__
        """Raises the count by one; returns what it was before."""

    @property
    def value(self) -> int:
        """The count now. `itertools.count` shows its state in its repr alone without moving on."""
        return int(repr(self._count)[6:-1])
