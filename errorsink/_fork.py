"""The locks of other modules around a fork that waits until errorsink's thread has imported the exporters.

Hooks run last first: one that was registered after errorsink's has its lock when errorsink begins to wait, and an
import that needs this lock would never end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from errorsink._typing import Any

__all__ = ["absent", "at_fork", "catch_up", "come_first", "logging_unlocked"]

_LOCKS = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}
"""The modules of the standard library that hold a lock of theirs around every fork."""
_PATIENCE = 1.0

_waits: list[Callable[[], object]] = []
_modules = 0
"""How many modules there were when the wait was last registered: each may have brought a hook of its own."""
_earlier: set[str] = set()
"""Those of these modules whose hooks run after errorsink's, since they were there before it."""


def at_fork(
    wait: Callable[[], object],
    before: Callable[[], object],
    after_in_parent: Callable[[], object],
    after_in_child: Callable[[], object],
) -> None:
    """Calls them around every fork: `wait` before the hooks of other modules, `before` after those of later ones."""
    _waits.append(wait)
    _earlier.update(name for name in _LOCKS if name in sys.modules)
    os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)


def come_first() -> None:
    """Registers the waits once more, so that they run before any later hook has taken a lock.

    They hold nothing when they return: to take errorsink's locks before those of others, and to keep them, would be
    a deadlock with every thread that reports while it holds such a lock.
    """
    global _modules
    if _waits and len(sys.modules) > _modules:
        _modules = len(sys.modules)
        for wait in _waits:
            os.register_at_fork(before=wait)


@contextmanager
def logging_unlocked() -> Generator[None, None, None]:
    """Lets go of what logging's own hook has taken already, where logging was imported only after errorsink."""
    lock = None if "logging" in _earlier else _lock("logging")
    try:
        if lock is not None:
            lock.release()
    except RuntimeError:  # not this thread's: logging was imported in the middle of this fork
        lock = None
    try:
        yield
    finally:
        if lock is not None:
            lock.acquire(timeout=_PATIENCE)


def absent() -> list[str]:
    """Which of these modules nobody has imported yet."""
    return [name for name in _LOCKS if name not in sys.modules]


def catch_up(names: list[str]) -> None:
    """Takes the locks of those among them that were imported meanwhile.

    Their handlers came too late to be called before this fork, but will be called after it, to release the lock.
    """
    for name in names:
        lock = _lock(name)
        if lock is not None and not getattr(getattr(sys.modules[name], "__spec__", None), "_initializing", False):
            lock.acquire(timeout=_PATIENCE)


def _lock(name: str) -> Any:
    return getattr(sys.modules.get(name), _LOCKS[name], None)
