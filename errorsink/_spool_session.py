"""One process's turns at the spool's file: one thread at a time, each in a transaction of bounded length, across forks.

A fork must not copy an open SQLite connection (https://www.sqlite.org/howtocorrupt.html, section 2.6), nor may it come
while a thread is inside SQLite, whose mutexes the child would find locked for ever. So the file is closed before a
fork, and opened again by the next call.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from typing import Callable, Generator, TypeVar

from errorsink._spool_file import SpoolError, SpoolFile, is_damage, wait_until

__all__ = ["PATIENCE", "READ", "WRITE", "Session"]

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds that a call waits for other threads and processes together, before it raises SpoolError."""
READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"
_ABANDONED: list[sqlite3.Connection] = []
"""Connections that a fork has copied: SQLite allows no use of them in the child, not even to close them."""


class Session:
    """The connection to the file, and the lock around it."""

    def __init__(self, file: SpoolFile) -> None:
        self._file = file
        self._database: sqlite3.Connection | None = None
        self._unusable = ""
        self._inside = 0  # The thread whose turn it is.
        self._lock = threading.RLock()

    def open(self) -> None:
        """Opens the file now rather than at the first transaction.

        Raises:
            sqlite3.Error, OSError: it can't be opened now.
        """
        self._database = self._file.open(time.monotonic() + PATIENCE)

    def close(self) -> None:
        """Closes the file, unless other threads keep it busy; the next transaction opens it again."""
        with contextlib.suppress(SpoolError), self.turn():
            self._disconnect()

    @contextlib.contextmanager
    def turn(self) -> Generator[float, None, None]:
        """Keeps other threads out. Gives the time, of `time.monotonic`, at which the turn should be over.

        Raises:
            SpoolError: others don't let us in, or this thread is in already.
        """
        deadline = time.monotonic() + PATIENCE
        if self._unusable:
            raise SpoolError(f"the spool in {self._file.directory} is off: {self._unusable}")
        if self._inside == threading.get_ident():
            raise SpoolError("the spool is busy further up in this very thread (a finaliser or a signal handler?)")
        lock = self._lock
        if not lock.acquire(timeout=PATIENCE):
            raise SpoolError("the spool is busy in another thread")
        try:
            self._inside = threading.get_ident()
            yield deadline
        finally:
            self._inside = 0
            lock.release()

    def transact(self, work: Callable[[sqlite3.Connection], T], begin: str = WRITE) -> T:
        """What `work` returns, done in one transaction; done again where the file proves bad or was set aside.

        Raises:
            SpoolError: it can't be done now, and is not done.
        """
        with self.turn() as deadline:
            try:
                for _ in range(3):
                    with self._setting_damage_aside(deadline):
                        result = self._attempt(work, begin, deadline)
                        if self._file.is_current():
                            return result
            except (OSError, sqlite3.Error) as error:
                raise SpoolError(f"the spool in {self._file.directory} can't be used now: {error}") from error
        raise SpoolError(f"the spool in {self._file.directory} is damaged again and again")

    @contextlib.contextmanager
    def _setting_damage_aside(self, deadline: float) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self._disconnect()
            self._file.set_aside(str(error), deadline)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], begin: str, deadline: float) -> T:
        database = self._connected(deadline)
        if begin == WRITE:
            self._file.await_log(database, deadline)
        wait_until(deadline, database)
        try:
            database.execute(begin)
            result = work(database)
            database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                database.rollback()
            raise
        self._file.checkpoint(database)
        return result

    def _connected(self, deadline: float) -> sqlite3.Connection:
        if self._database is None or not self._file.is_current():
            self._disconnect()
            self._database = self._file.open(deadline)
        return self._database

    def _disconnect(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            with contextlib.suppress(sqlite3.Error):
                database.close()

    # -------------------------------------------------------------------------------------------------------- forks

    def before_fork(self) -> None:
        """Waits until no thread is inside SQLite, and closes the file, so that the child gets no copy of it."""
        if self._lock.acquire(timeout=2 * PATIENCE):
            self._disconnect()

    def after_fork_in_parent(self) -> None:
        """Lets the threads go on."""
        with contextlib.suppress(RuntimeError):  # `before_fork` had given up waiting.
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """Begins anew. Where a thread was inside SQLite during the fork, the spool stays off in this process."""
        if not self._lock.acquire(blocking=False):
            self._unusable = "the process was forked while another thread was busy in it"
        if self._database is not None:
            _ABANDONED.append(self._database)
            self._database = None
        self._inside = 0
        self._lock = threading.RLock()
