"""The queue of one sink: bounded; when it is full, equal records are merged before any is pushed out."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Iterable, Iterator

from errorsink.model import ErrorRecord

__all__ = ["Entry", "RecordQueue"]


class Entry:
    """A record on its way, and the equal ones that were merged into it."""

    __slots__ = ("first_try", "last_time_ns", "record", "repeats", "sequence", "since", "stored")

    def __init__(self, record: ErrorRecord, sequence: int, since: float, stored: bool) -> None:
        self.record = record
        self.sequence = sequence
        self.since = since
        """When it was queued, by the delivery's clock."""
        self.stored = stored
        """True when the spool has it too."""
        self.repeats = record.repeat_count
        self.last_time_ns = record.last_time_ns
        self.first_try: float | None = None

    def join(self, record: ErrorRecord) -> None:
        self.repeats += record.repeat_count
        self.last_time_ns = record.last_time_ns or record.time_ns

    def final(self) -> ErrorRecord:
        """The record as it goes out."""
        if self.repeats == self.record.repeat_count:
            return self.record
        return self.record._replace(repeat_count=self.repeats, last_time_ns=self.last_time_ns)


class RecordQueue:
    """Entries, oldest first. Its user holds a lock around every call."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: deque[Entry] = deque()
        self._newest: dict[str, Entry] = {}
        """The newest entry of each fingerprint."""
        self.sequence = 0
        """How many entries there have been: each has its number in this sequence."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @property
    def oldest(self) -> Entry | None:
        return self._entries[0] if self._entries else None

    def join(self, record: ErrorRecord) -> bool:
        """Where the queue is full, merges the record into an equal one; True when that was possible."""
        if len(self._entries) < self._capacity:
            return False
        equal = self._newest.get(record.fingerprint)
        if equal is None:
            return False
        equal.join(record)
        return True

    def put(self, record: ErrorRecord, since: float, stored: bool) -> Entry | None:
        """Appends a record; the oldest entry, where that had to make room."""
        pushed_out = self.take(1)[0] if len(self._entries) >= self._capacity else None
        self.sequence += 1
        entry = Entry(record, self.sequence, since, stored)
        self._entries.append(entry)
        self._newest[record.fingerprint] = entry
        return pushed_out

    def take(self, number: int) -> list[Entry]:
        """Removes the oldest entries."""
        taken = list(islice(self._entries, number))
        for entry in taken:
            self._entries.popleft()
            if self._newest.get(entry.record.fingerprint) is entry:
                del self._newest[entry.record.fingerprint]
        return taken

    def put_back(self, entries: Iterable[Entry]) -> None:
        """Returns entries to the front, in their order."""
        self._entries.extendleft(reversed(list(entries)))
