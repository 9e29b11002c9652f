"""Modules that are imported for errorsink while a fork waits for that."""

from __future__ import annotations

import sys

__all__ = ["absent", "catch_up"]

_LOCKS = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}
"""The modules of the standard library that hold a lock of theirs around every fork."""
_PATIENCE = 1.0


def absent() -> list[str]:
    """Which of these modules nobody has imported yet."""
    return [name for name in _LOCKS if name not in sys.modules]


def catch_up(names: list[str]) -> None:
    """Takes the locks of those among them that were imported meanwhile.

    Their handlers came too late to be called before this fork, but will be called after it, to release the lock.
    """
    for name in names:
        module = sys.modules.get(name)
        lock = getattr(module, _LOCKS[name], None)
        if lock is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            lock.acquire(timeout=_PATIENCE)
