"""How the end of the process makes itself known.

A process ends with `atexit`, a child of multiprocessing with finalizers of its own, and a first report may be made
when that has begun already.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable

from errorsink._trace import running_frame
from errorsink._typing import Any

__all__ = ["TornDown", "at_exit", "begun", "come_first", "drain_when_child_ends", "torn_down"]

_FORKERS = ("multiprocessing", "billiard", "multiprocess")
"""multiprocessing and its twins: Celery's, and the one with dill."""


_at_exit: list[Callable[[], object]] = []


def at_exit(callback: Callable[[], object]) -> None:
    """Calls it when the process ends."""
    _at_exit.append(callback)
    atexit.register(callback)


def come_first() -> None:
    """Registers the callbacks once more, so that they run before all that were registered meanwhile.

    Exit callbacks run last first. A provider of the application that was set up after `import errorsink` would be
    shut down before it is handed the last reports. The earlier registration stays: where the exit has begun, a new
    one isn't called any more, and a second call finds nothing left to do.
    """
    for callback in _at_exit:
        atexit.register(callback)


def _imported_too_late() -> bool:
    """True where an exit callback imports errorsink for the first time: what it registers isn't called any more.

    `threading` knows whether the main thread has ended, unless it is itself imported only now; then the stack tells:
    in an exit callback no module is being run below.
    """
    main = threading.main_thread()
    if main.ident != threading.get_ident():
        return False
    if not main.is_alive():
        return True
    modules = list(sys.modules)
    if modules.index("threading") < modules.index(__package__ or "errorsink"):
        return False
    frame = running_frame(1)
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_name not in ("<module>", "_run_module_as_main", "_find_and_load")


begun: list[bool] = [True] if _imported_too_late() else []
"""Not empty once the exit has begun, as far as errorsink is concerned: nobody will wait for a new thread's work."""


class TornDown(Exception):
    """A finaliser reports while the interpreter takes its modules down: nothing can be delivered any more."""


def torn_down() -> bool:
    """True once nothing can be imported any more: libraries that still run then hang, lie or crash."""
    return getattr(sys, "meta_path", None) is None


def drain_when_child_ends(owner: object, drain: Callable[[], object]) -> None:
    """Calls `drain` at the end of a child of multiprocessing, which ends without `atexit`.

    A child of a fork server may get here before it knows that it is one, so the end is looked after once more when
    it learns of it.
    """
    process = os.getpid()
    for name in _FORKERS:
        util, processes = sys.modules.get(f"{name}.util"), sys.modules.get(f"{name}.process")
        if util is None or processes is None:
            continue

        def register(_owner: object, util: Any = util) -> None:
            if os.getpid() == process:
                util.Finalize(None, drain, exitpriority=-100)

        if type(processes.current_process()).__name__ != "_MainProcess":
            register(owner)
        util.register_after_fork(owner, register)
