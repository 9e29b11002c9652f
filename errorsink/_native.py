"""Threads and locks of the operating system, also where gevent or eventlet has put green ones in their place.

Green threads run when the application's hub lets them, in the thread that started them: a thread of errorsink that is
green would be late, or would never run, and one that was started before the patch couldn't share a lock with one that
was started after it. Native ones work in every order.
"""

from __future__ import annotations

import _thread
import time
from collections import deque
from collections.abc import Callable

from errorsink._typing import Any

__all__ = ["Condition", "Mutex", "Thread", "allocate_lock", "in_own_thread"]

_BUILTIN: Any = type(len)
_POLL = 0.005
"""Seconds between two looks of a green thread that waits."""


def _unpatched() -> Any:
    """The module `_thread` as Python has it: gevent and eventlet write into the one that everybody imports."""
    if type(_thread.allocate_lock) is _BUILTIN and type(_thread.start_new_thread) is _BUILTIN:
        return _thread
    spec: Any = _thread.__spec__
    module = spec.loader.create_module(spec)
    spec.loader.exec_module(module)
    return module


_native = _unpatched()
allocate_lock: Callable[[], Any] = _native.allocate_lock
_start_new_thread: Callable[[Callable[[], object], tuple[()]], int] = _native.start_new_thread
_RLock: Callable[[], Any] = _native.RLock
_get_ident: Callable[[], int] = _native.get_ident
_own: set[int] = set()
"""The running threads that were started here."""


def in_own_thread() -> bool:
    """True in a thread that was started here, to its last line: it must not wait for itself."""
    return _get_ident() in _own


def _is_green() -> bool:
    """True where the caller may be a green thread, whose neighbours would stand still if it blocked."""
    return type(_thread.start_new_thread) is not _BUILTIN and not in_own_thread()


def _acquire(lock: Any, timeout: float | None) -> bool:
    """Waits for a lock; a green thread lets others run meanwhile."""
    if not _is_green():
        return bool(lock.acquire(True, -1 if timeout is None else min(max(timeout, 0), _native.TIMEOUT_MAX)))
    ends = float("inf") if timeout is None else time.monotonic() + timeout
    while not lock.acquire(False):
        if time.monotonic() >= ends:
            return False
        time.sleep(_POLL)
    return True


class Mutex:
    """A `threading.RLock`. It has slots, since eventlet replaces the locks that it finds in dictionaries."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = _RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_exc_info: object) -> None:
        self._lock.release()

    def acquire(self, timeout: float) -> bool:
        """Waits at most so many seconds; True when the lock is held."""
        return _acquire(self._lock, timeout)

    def release(self) -> None:
        self._lock.release()


class Condition:
    """A `threading.Condition` on an RLock, as far as it is needed here."""

    __slots__ = ("_lock", "_waiters")

    def __init__(self) -> None:
        self._lock = _RLock()
        self._waiters: deque[Any] = deque()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_exc_info: object) -> None:
        self._lock.release()

    def wait(self, timeout: float | None = None) -> None:
        """Lets go of the lock until `notify_all`, or for `timeout` seconds. May return early: look again."""
        waiter = allocate_lock()
        waiter.acquire()
        self._waiters.append(waiter)
        state = self._lock._release_save()
        try:
            _acquire(waiter, timeout)
        finally:
            self._lock._acquire_restore(state)
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def notify_all(self) -> None:
        """Wakes all who wait. The lock is held."""
        while self._waiters:
            self._waiters.popleft().release()


class Thread:
    """A thread that doesn't keep the process from ending."""

    __slots__ = ("_running",)

    def __init__(self, run: Callable[[], object]) -> None:
        """Starts it. RuntimeError where no thread can be started: at exit, or at the system's limit."""
        self._running = allocate_lock()
        self._running.acquire()

        def life() -> None:
            thread = _get_ident()
            _own.add(thread)
            try:
                run()
            finally:
                self._running.release()
                _own.discard(thread)

        _start_new_thread(life, ())

    def is_alive(self) -> bool:
        return bool(self._running.locked())

    def join(self, timeout: float) -> None:
        """Waits for its end, at most so many seconds."""
        if _acquire(self._running, timeout):
            self._running.release()
