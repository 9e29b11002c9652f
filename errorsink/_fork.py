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

_before: list[Callable[[], object]] = []
_modules = 0
"""How many modules there were when the hook was last registered: each may have brought one of its own."""


def at_fork(
    before: Callable[[], object], after_in_parent: Callable[[], object], after_in_child: Callable[[], object]
) -> None:
    """Calls them around every fork, `before` perhaps more than once."""
    _before.append(before)
    os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)


def come_first() -> None:
    """Registers what runs before a fork once more, so that it waits before any later hook has taken a lock."""
    global _modules
    if _before and len(sys.modules) > _modules:
        _modules = len(sys.modules)
        for callback in _before:
            os.register_at_fork(before=callback)


@contextmanager
def logging_unlocked() -> Generator[None, None, None]:
    """Lets go of the lock that logging's own hook may have taken already: logging was imported only meanwhile."""
    lock = _lock("logging")
    try:
        lock.release()
    except (AttributeError, RuntimeError):  # no such module yet, or its lock isn't this thread's
        yield
        return
    try:
        yield
    finally:
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
