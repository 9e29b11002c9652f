"""Calls that block in C, under gevent or eventlet.

Neither can patch what waits outside of Python, as gRPC does: one silent collector would stop every greenlet of the
process. Both offer a pool of real threads for such calls.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, TypeVar

__all__ = ["blocking"]

T = TypeVar("T")


def blocking(call: Callable[[], T]) -> T:
    """What `call` returns or raises; other greenlets run on meanwhile."""
    pool = _pool()
    if pool is None:
        return call()
    done: list[T] = []
    failed: list[Exception] = []

    def settle() -> None:
        try:
            done.append(call())
        except Exception as error:  # noqa: BLE001  # raised below, and not by gevent, which would print it as well
            failed.append(error)

    pool(settle)
    if failed:
        raise failed[0]
    return done[0]


def _pool() -> Callable[[Callable[[], None]], object] | None:
    """The pool of real threads of a process that has patched itself; what it needs is imported then."""
    modules: Any = sys.modules
    if "gevent.monkey" in modules and modules["gevent.monkey"].is_module_patched("threading"):
        apply: Callable[[Callable[[], None]], object] = modules["gevent"].get_hub().threadpool.apply
        return apply
    if "eventlet.patcher" in modules and modules["eventlet.patcher"].is_monkey_patched("thread"):
        execute: Callable[[Callable[[], None]], object] = importlib.import_module("eventlet.tpool").execute
        return execute
    return None
