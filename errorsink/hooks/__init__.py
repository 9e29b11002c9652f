"""Reports what nobody caught: in the main thread, in other threads, and where Python can only print."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from errorsink.hooks._install import install
from errorsink.hooks._uncaught import in_main, in_thread
from errorsink.hooks._uncaught import unraisable as report_unraisable

__all__ = ["install_hooks"]

Undo = Callable[[], None]


def install_hooks(*, main: bool = True, threads: bool = True, unraisable: bool = True) -> Undo:
    """Reports uncaught errors from now on; what was installed before still runs, exactly once.

    An error that ends the target of a `multiprocessing.Process` is none of them: multiprocessing prints it itself.

    KeyboardInterrupt, SystemExit, GeneratorExit and cancellations are no errors here and aren't reported. An error
    that was reported already isn't reported again, unless it was reported as handled and goes uncaught after all:
    then it is sent once more, with `errorsink.previous_id`.

    Args:
        main: `sys.excepthook`, for errors that end the program.
        threads: `threading.excepthook`, for errors that end a thread.
        unraisable: `sys.unraisablehook`, for errors in finalisers and exit callbacks, which Python can only print.
            The program runs on, so they have the handling `unhandled_rejection`; the attribute `unraisable` names
            the place.

    Returns:
        A function that takes the hooks out again. Where somebody has put a hook on top meanwhile, that one stays,
        and ours does nothing more than to call the one before it, until it can be taken out too.
    """
    hooks = (
        (main, sys, "excepthook", in_main),
        (threads, threading, "excepthook", in_thread),
        (unraisable, sys, "unraisablehook", report_unraisable),
    )
    installed = [install(owner, name, report) for wanted, owner, name, report in hooks if wanted]

    def undo() -> None:
        for uninstall in reversed(installed):
            uninstall()

    return undo
