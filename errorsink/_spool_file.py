"""The spool's file: an SQLite database that is opened, checked, set aside when it is no good, and kept to its size.

The layout's number is part of the file's name, so that versions of errorsink with different layouts share a
directory without touching each other's file.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
import time
from typing import Callable

from errorsink._spool_lock import POLL, exclusive
from errorsink.errors import HarnessError

__all__ = ["PAGE", "SpoolError", "SpoolFile", "is_damage", "wait_until"]

LAYOUT = 1
NAME = f"spool-{LAYOUT}.sqlite3"
PAGE = 4096
"""Bytes of one page of the file."""
APPLICATION_ID = 0x45534E4B  # "ESNK": marks the file as ours in SQLite's header.
MAX_SET_ASIDE = 8
"""Files that may lie set aside in the directory. With more, the disk or its neighbours need a look first."""

_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA wal_autocheckpoint = 0",  # `SpoolFile.checkpoint` does it, by the limit that is ours.
)
_NEW_FILE = (f"PRAGMA page_size = {PAGE}", "PRAGMA auto_vacuum = INCREMENTAL")
_SCHEMA = (
    """CREATE TABLE record (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, stored REAL NOT NULL, body BLOB NOT NULL
    )""",
    "CREATE INDEX record_by_age ON record (stored)",
    # One row for each record and sink that still needs it. The owner is the token of the process that looks after it.
    """CREATE TABLE pending (
        sink TEXT NOT NULL, owner TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (seq, sink)
    ) WITHOUT ROWID""",
    "CREATE INDEX pending_by_owner ON pending (sink, owner, seq)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {LAYOUT}",
)
# What SQLite says of a file whose tables aren't ours; these come as OperationalError, as "busy" does.
_WRONG_TABLES = re.compile(r"no such (table|column|index)|has no column|could not decode", re.IGNORECASE)
_SET_ASIDE = re.compile(re.escape(NAME) + r"\.aside-\w+-\w+")


class SpoolError(HarnessError):
    """The spool can't do this now, and nothing of it was done: the caller still has what it had."""

    code = "SPOOL"


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is at fault, rather than the moment (locked, disk full) or the caller."""
    if isinstance(error, (sqlite3.OperationalError, sqlite3.ProgrammingError)):
        return _WRONG_TABLES.search(str(error)) is not None
    return isinstance(error, sqlite3.DatabaseError)


class SpoolFile:
    """The database under one directory; `open` gives a connection to it, `set_aside` makes way for a fresh one."""

    def __init__(self, directory: str, max_bytes: int, diagnose: Callable[[str], None]) -> None:
        self.directory = directory
        self.path = os.path.join(directory, NAME)
        self._gate = os.path.join(directory, "spool.lock")
        self._diagnose = diagnose
        self._identity: os.stat_result | None = None
        # What the limit is spent on: three quarters for the records, a quarter for the write-ahead log, which between
        # two transactions holds one or two sixteenths, and in one transaction the rest.
        self.max_pages = max_bytes * 3 // 4 // PAGE
        self.max_log = min(max_bytes // 16, 4_000_000)

    # ------------------------------------------------------------------------------------------------- opening

    def open(self, deadline: float) -> sqlite3.Connection:
        """A connection to a file that is ours; what else has its name is set aside first.

        Raises:
            sqlite3.Error, OSError: it can't be opened now.
        """
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        with exclusive(self._gate, deadline):  # One process at a time creates, judges or sets aside.
            try:
                return self._connect(deadline)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._rename(str(error))
            return self._connect(deadline)

    def _connect(self, deadline: float) -> sqlite3.Connection:
        self._create()
        for path in (self.path, f"{self.path}-wal", f"{self.path}-shm"):
            if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
                raise sqlite3.DatabaseError(f"{os.path.basename(path)} is no regular file")
        database = sqlite3.connect(
            self.path, timeout=max(0.0, deadline - time.monotonic()), isolation_level=None, check_same_thread=False
        )
        try:
            self._check(database)
        except BaseException:
            database.close()
            raise
        self._identity = os.stat(self.path)
        return database

    def _create(self) -> None:
        """Makes the file before SQLite does, so that its mode, which the log's follows, is never wider than 0600.

        An existing file isn't opened here: closing it again would end the locks of this process's other connections.
        """
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            if not os.path.islink(self.path):
                with contextlib.suppress(OSError):  # Somebody else's file: SQLite will say whether it can be used.
                    os.chmod(self.path, 0o600)

    def _check(self, database: sqlite3.Connection) -> None:
        """Makes the tables in a new file, and refuses a file that isn't ours."""
        for pragma in (*_SETTINGS, f"PRAGMA journal_size_limit = {self.max_log}"):
            database.execute(pragma)
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, tables) == (0, 0, 0):
            for pragma in _NEW_FILE:
                database.execute(pragma)
            _set_log_mode(database)
            if database.execute("PRAGMA auto_vacuum").fetchone() != (2,):
                raise sqlite3.DatabaseError("it is another program's")
            database.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                database.execute(statement)
            database.execute("COMMIT")
        elif application != APPLICATION_ID:
            raise sqlite3.DatabaseError("it is another program's")
        elif version != LAYOUT:
            raise sqlite3.DatabaseError(f"its layout is {version}, and this version of errorsink knows {LAYOUT}")
        else:
            _set_log_mode(database)

    def is_current(self) -> bool:
        """Whether the path still names the file that was opened. A sibling may have set it aside meanwhile."""
        try:
            return self._identity is not None and os.path.samestat(os.stat(self.path), self._identity)
        except OSError:
            return False

    # --------------------------------------------------------------------------------------------- setting aside

    def set_aside(self, reason: str, deadline: float) -> None:
        """Renames the file that was opened last, whose connection is closed; unless a sibling already did.

        Raises:
            OSError: it can't be renamed.
        """
        with exclusive(self._gate, deadline):
            if self.is_current():
                self._rename(reason)

    def _rename(self, reason: str) -> None:
        if sum(1 for name in os.listdir(self.directory) if _SET_ASIDE.fullmatch(name)) >= MAX_SET_ASIDE:
            raise OSError(f"{MAX_SET_ASIDE} files were set aside already; remove them")
        target = f"{self.path}.aside-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(2).hex()}"
        # The log first: beside a new file, the old log would be taken for the new file's.
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{self.path}{suffix}", f"{target}{suffix}")
        self._diagnose(
            f"ERRORSINK_SPOOL_DIR: {self.path} can't be used ({reason}). It was set aside as {target}, with the "
            "undelivered reports in it, and a new spool was begun. Remove it when you have no more use for it."
        )

    # ------------------------------------------------------------------------------------------------------ size

    def excess(self, database: sqlite3.Connection) -> int:
        """How many pages in use are over the limit; negative: how many more there may be. Exact in a transaction."""
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        (free,) = database.execute("PRAGMA freelist_count").fetchone()
        return int(pages - free - self.max_pages)

    def trim(self, database: sqlite3.Connection) -> None:
        """In a transaction: gives back pages that are free, should the file be over its size or half empty."""
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        (free,) = database.execute("PRAGMA freelist_count").fetchone()
        surplus = max(pages - self.max_pages, min(free - max(pages // 2, 64), 512))
        for _ in range(surplus):  # One at a time: `execute` takes one step of a statement that has no columns.
            database.execute("PRAGMA incremental_vacuum(1)")

    def checkpoint(self, database: sqlite3.Connection) -> None:
        """After a transaction: moves a log that has grown into the file, while others go on writing."""
        if self._log_size() > self.max_log:
            database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def await_log(self, database: sqlite3.Connection, deadline: float) -> None:
        """Before a transaction that writes: where others write so much that no checkpoint ends, all wait for one.

        Raises:
            sqlite3.OperationalError: there was none until the deadline.
        """
        while self._log_size() > 2 * self.max_log:
            wait_until(deadline, database)
            (blocked, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if blocked and time.monotonic() >= deadline:
                raise sqlite3.OperationalError("the log is locked")
            if blocked:  # Another process is at it; SQLite doesn't wait for that by itself.
                time.sleep(POLL)

    def _log_size(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size
        except OSError:
            return 0


def wait_until(deadline: float, database: sqlite3.Connection) -> None:
    """Lets SQLite wait for other processes until then, in seconds of `time.monotonic`."""
    database.execute(f"PRAGMA busy_timeout = {max(1, round((deadline - time.monotonic()) * 1000))}")


def _set_log_mode(database: sqlite3.Connection) -> None:
    (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise sqlite3.OperationalError("no write-ahead log here: the directory must be on a local disk")
