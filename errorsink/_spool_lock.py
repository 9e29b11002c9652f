"""Which process holds what in the spool's directory: file locks that end with the process, however it ends.

A lock is the operating system's (`flock`, on Windows `msvcrt.locking`), so it ends at a kill -9 too, at once, and no
process id can be mistaken for an earlier one. A forked child inherits the descriptor, and with it a share in the
lock: `OwnerLock.after_fork_in_child` closes the child's descriptor, which leaves the parent's lock as it is.

A lock file that is missing means the same as one that nobody holds: its owner is gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from typing import Generator, cast

__all__ = ["POLL", "OwnerLock", "exclusive", "is_gone", "sweep"]

_TOKEN = re.compile(r"[0-9]{1,10}-[0-9a-f]{16}")
POLL = 0.005
"""Seconds between two looks at a lock that another process holds for a moment."""

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        """Takes the lock unless somebody has it. It is the descriptor's, and ends when its last copy is closed."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _open(path: str, flags: int = 0) -> int:
    return os.open(path, os.O_RDWR | flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _path(directory: str, token: str) -> str:
    return os.path.join(directory, f"owner-{token}.lock")


class OwnerLock:
    """This process's mark in the directory: while it is held, what carries its token is nobody else's."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._descriptor: int | None = None
        self._identity: os.stat_result | None = None
        self.token = ""

    def hold(self) -> str:
        """The token, with the lock held. It is a new one where the old lock was lost.

        A lock is lost when somebody cleans the directory, or closes descriptors that aren't theirs, as some ways to
        become a daemon do.
        """
        if not self._is_held():
            self.release()
            while not self._take():
                continue
        return self.token

    def _take(self) -> bool:
        """One try with a fresh token; false when a sibling took the new file for that of a dead process."""
        token = f"{os.getpid()}-{os.urandom(8).hex()}"
        descriptor = _open(_path(self._directory, token), os.O_CREAT | os.O_EXCL)
        self.token, self._descriptor, self._identity = token, descriptor, os.fstat(descriptor)
        if _lock(descriptor) and self._is_held():
            return True
        self._close()
        return False

    def _is_held(self) -> bool:
        """Whether others see our file under our name, and we still have it open."""
        try:
            theirs = os.stat(_path(self._directory, self.token))
        except OSError:
            return False
        return self._is_open() and os.path.samestat(theirs, cast(os.stat_result, self._identity))

    def _is_open(self) -> bool:
        """Whether the descriptor is still our file's, and not closed or used again by others."""
        if self._descriptor is None or self._identity is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._identity)
        except OSError:
            return False

    def release(self) -> None:
        """Gives up the token: from now on others may take what carries it."""
        if self._is_held():
            with contextlib.suppress(OSError):  # Windows removes no open file: the next sweep does.
                os.unlink(_path(self._directory, self.token))
        self._close()
        self.token = ""

    def after_fork_in_child(self) -> None:
        """Leaves the parent's lock to the parent."""
        self._close()
        self.token = ""

    def _close(self) -> None:
        if self._is_open():
            os.close(cast(int, self._descriptor))
        self._descriptor = self._identity = None


def is_gone(directory: str, token: str) -> bool:
    """Whether the process that had this token has ended, or has released it. Its lock file goes with it."""
    if not _TOKEN.fullmatch(token):
        return True
    path = _path(directory, token)
    try:
        descriptor = _open(path)
    except FileNotFoundError:
        return True
    except OSError:  # It can't be told; a record sent late is better than one sent twice.
        return False
    try:
        if not _lock(descriptor):
            return False
        with contextlib.suppress(OSError):
            os.unlink(path)
        return True
    finally:
        os.close(descriptor)


def sweep(directory: str) -> None:
    """Removes the lock files that dead processes have left."""
    for name in os.listdir(directory):
        if name.startswith("owner-") and name.endswith(".lock"):
            is_gone(directory, name[len("owner-") : -len(".lock")])


@contextlib.contextmanager
def exclusive(path: str, deadline: float) -> Generator[None, None, None]:
    """Holds a lock on `path` between processes; waits until `deadline`, in seconds of `time.monotonic`.

    Raises:
        TimeoutError: another process had it all the time.
        OSError: the file can't be made, or the file system knows no locks.
    """
    descriptor = _open(path, os.O_CREAT)
    try:
        while not _lock(descriptor):
            if time.monotonic() >= deadline:
                raise TimeoutError("another process holds it")
            time.sleep(POLL)
        yield
    finally:
        os.close(descriptor)
