"""The spool: undelivered records on disk, shared by processes, and there for the next one when this one is gone.

Every record is pending for some sinks, and each of these rows has one owner: the process that looks after it. An
owner is alive as long as it holds its lock file (`_spool_lock`), so a row is free for others at the very moment its
process dies. The spool is a copy of what its owner has in memory: an owner delivers from there and says `done`.

No call waits longer than `PATIENCE` for others, and none leaves a transaction open. A call that fails raises
`SpoolError`; the caller may repeat it without harm, since records are known by their ids.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sqlite3
import time
from collections import deque
from typing import Callable, Collection, Iterator, Sequence, TypeVar

from errorsink import _spool_rows as rows
from errorsink._spool_codec import decode, encode
from errorsink._spool_file import SpoolError, SpoolFile
from errorsink._spool_lock import OwnerLock, is_gone, sweep
from errorsink._spool_rows import Body, Dropped
from errorsink._spool_session import PATIENCE, READ, Session
from errorsink.model import ErrorRecord

__all__ = ["PATIENCE", "Dropped", "Spool", "SpoolError"]

T = TypeVar("T")


class Spool:
    """Records on disk; several processes may use one directory, and all threads of a process one Spool."""

    def __init__(
        self,
        directory: str,
        *,
        max_bytes: int,
        max_age: float,
        diagnose: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Opens the spool, and makes the directory where it is missing.

        Args:
            directory: on a local disk; network file systems have no shared memory for SQLite's log.
            max_bytes: what the database and its log may take together, from 1,000,000 up; with less, the log of a
                single transaction may be more than that.
            max_age: seconds that a record is kept.
            diagnose: told what the user should know; never of a record's content.
            clock: seconds since the epoch, for `max_age`.

        Raises:
            SpoolError: the directory can't be used at all.
        """
        self._directory = os.path.abspath(directory)
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._diagnose = diagnose
        self._clock = clock
        self._file = SpoolFile(self._directory, max_bytes, diagnose)
        self._owner = OwnerLock(self._directory)
        self._unsettled: deque[tuple[str, str]] = deque()  # What `done` was told and couldn't write yet.
        self._process = os.getpid()
        self._session = Session(self._file)
        try:
            self._session.open()
            sweep(self._directory)
        except (OSError, sqlite3.Error) as error:
            if not _is_contention(error):  # Where siblings are busy with it, it can be used: the next call opens it.
                raise SpoolError(
                    f"ERRORSINK_SPOOL_DIR: {self._directory} can't be used: {error}; "
                    "name a directory on a local disk that this user may write to"
                ) from error

    # ------------------------------------------------------------------------------------------------- the records

    def append(self, records: Sequence[ErrorRecord], sinks: Sequence[str], *, owned: bool = True) -> list[Dropped]:
        """Stores the records as pending for each of the sinks. When it returns, they outlive the process.

        A record that is there already is written anew, and belongs to this process from now on.

        Args:
            records: oldest first.
            sinks: names of the sinks that need them.
            owned: False leaves them to whoever claims first, this process included.

        Returns:
            What there is no room for: the oldest of what no living sibling owns, the given records included.

        Raises:
            SpoolError: not all is stored; the caller still has to look after all the records.
        """
        bodies, dropped = _encoded(records, sinks, self._max_bytes // 8)
        for portion in _portions(bodies, self._file.max_log) if sinks else ():
            dropped += self._write(functools.partial(self._store, portion, sinks, owned))
        return dropped

    def done(self, sink: str, ids: Collection[str]) -> None:
        """The sink needs these records no more. What can't be written now is written by the next call."""
        self._unsettled.extend((sink, record_id) for record_id in ids)
        with contextlib.suppress(SpoolError):
            self._write(self._file.trim)

    def claim(self, sink: str, limit: int) -> list[ErrorRecord]:
        """Takes over records for this sink that nobody looks after, oldest first; this process owns them from now on.

        Raises:
            SpoolError: it can't be told now.
        """
        while limit > 0:
            # A look first, which waits for nobody: most of the time there is nothing to claim.
            free = self._read(lambda db: rows.free_owners(db, sink, self._is_free))
            taken = self._write(functools.partial(self._take, sink, free, limit)) if free else []
            records = self._readable(sink, taken)
            if records or not taken:
                return records
        return []

    def expire(self) -> list[Dropped]:
        """Removes what is older than `max_age`, except what a living sibling owns: that is the sibling's to do.

        Raises:
            SpoolError: it can't be done now.
        """
        with contextlib.suppress(OSError):
            sweep(self._directory)
        before = self._clock() - self._max_age
        return self._write(lambda db: self._expel(db, "spool-expired", before=before, pages=math.inf))

    def counts(self, *, owned: bool = False) -> dict[str, int]:
        """Pending records by sink; with `owned`, only those that this process looks after.

        Raises:
            SpoolError: they can't be counted now.
        """
        return self._read(lambda db: rows.count(db, (self._owner.token or "-") if owned else None))

    # ------------------------------------------------------------------------------------------- the process's life

    def release(self) -> None:
        """At shutdown: leaves all that this process owns to others, at once and without touching the database."""
        with contextlib.ExitStack() as turn:
            with contextlib.suppress(SpoolError):
                turn.enter_context(self._session.turn())
            self._owner.release()

    def close(self) -> None:
        """Writes what is unsettled, releases what this process owns, closes the file. A later call opens it again."""
        if self._unsettled:
            self.done("", ())
        if self._unsettled:
            self._diagnose(
                f"the spool in {self._directory} can't be written now: {len(self._unsettled)} reports that were "
                "delivered may be delivered once more"
            )
        self.release()
        self._session.close()

    def before_fork(self) -> None:
        """Waits until no thread is in the spool, and closes the file; `after_fork_in_parent` must follow."""
        self._session.before_fork()

    def after_fork_in_parent(self) -> None:
        """Lets the threads go on; the next call opens the file again."""
        self._session.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """Makes the child a process of its own: the parent's rows and lock stay the parent's."""
        self._process = os.getpid()
        self._session.after_fork_in_child()
        self._unsettled.clear()
        self._owner.after_fork_in_child()

    # ------------------------------------------------------------------------------------------------- transactions

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._notice_fork()
        return self._session.transact(work, READ)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, in one transaction with what `done` was told before."""
        self._notice_fork()
        settled: list[tuple[str, str]] = []

        def settle_and_work(database: sqlite3.Connection) -> T:
            while self._unsettled:
                settled.append(self._unsettled.popleft())
            rows.settle(database, settled)
            return work(database)

        try:
            return self._session.transact(settle_and_work)
        except BaseException:
            self._unsettled.extendleft(reversed(settled))
            raise

    def _notice_fork(self) -> None:
        if self._process != os.getpid():  # Forked by code that runs no hooks.
            self.after_fork_in_child()

    # ---------------------------------------------------------------------------------------- parts of transactions

    def _store(
        self, portion: Sequence[Body], sinks: Sequence[str], owned: bool, database: sqlite3.Connection
    ) -> list[Dropped]:
        rows.store(database, portion, sinks, self._own(database) if owned else rows.UNOWNED, self._clock())
        dropped: list[Dropped] = []
        while (excess := self._file.excess(database)) > 0:
            expelled = self._expel(database, "spool-full", before=math.inf, pages=excess)
            if not expelled:  # All the rest is owned by living siblings.
                break
            dropped += expelled
        self._file.trim(database)
        return dropped

    def _take(self, sink: str, free: Sequence[str], limit: int, database: sqlite3.Connection) -> list[rows.Row]:
        return rows.take(database, sink, self._own(database), free, limit)

    def _expel(self, database: sqlite3.Connection, reason: str, *, before: float, pages: float) -> list[Dropped]:
        return rows.expel(database, reason, self._owner.token, self._is_free, before=before, pages=pages)

    def _own(self, database: sqlite3.Connection) -> str:
        """This process's token; where its lock was lost, its rows get the new one before others take them."""
        previous, token = self._owner.token, self._owner.hold()
        if previous not in ("", token):
            rows.adopt(database, previous, token)
        return token

    def _is_free(self, owner: str) -> bool:
        """Whether others may take what carries this token; what is ours stays, even where its lock was lost."""
        return owner == rows.UNOWNED or (owner != self._owner.token and is_gone(self._directory, owner))

    def _readable(self, sink: str, taken: Sequence[rows.Row]) -> list[ErrorRecord]:
        """The records of these rows; a row that holds none is removed, and told of."""
        records = [_decoded(row.body) for row in taken]
        unreadable = [row.id for row, record in zip(taken, records, strict=True) if record is None]
        if unreadable:
            self.done(sink, unreadable)
            self._diagnose(
                f"the spool in {self._directory}: {len(unreadable)} reports for {sink} are unreadable and were removed"
            )
        return [record for record in records if record is not None]


def _decoded(body: bytes) -> ErrorRecord | None:
    try:
        return decode(body)
    except (TypeError, ValueError):  # TypeError: the column holds no bytes.
        return None


def _encoded(records: Sequence[ErrorRecord], sinks: Sequence[str], limit: int) -> tuple[list[Body], list[Dropped]]:
    """The records' bytes; and those that have none, or more than the limit."""
    bodies: list[Body] = []
    dropped: list[Dropped] = []
    for record in records:
        reason, body = "spool-full", b""
        try:
            body = encode(record)
        except (TypeError, ValueError, RecursionError):
            reason = "spool-encoding"
        if body and len(body) <= limit:
            bodies.append((record.id, body))
        else:
            dropped += [Dropped(record.id, sink, reason, True) for sink in sinks]
    return bodies, dropped


def _portions(bodies: Sequence[Body], limit: int) -> Iterator[list[Body]]:
    """Slices of at most `limit` bytes, or of one record: what the log has room for in one transaction."""
    portion: list[Body] = []
    size = 0
    for entry in bodies:
        if portion and size + len(entry[1]) > limit:
            yield portion
            portion, size = [], 0
        portion.append(entry)
        size += len(entry[1])
    if portion:
        yield portion


def _is_contention(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or (isinstance(error, sqlite3.OperationalError) and "lock" in str(error))
