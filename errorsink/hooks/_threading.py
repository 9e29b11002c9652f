"""`threading.excepthook`: errors that end a thread."""

from __future__ import annotations

import threading
from typing import Callable

from errorsink.hooks._uncaught import Switch, report_uncaught

__all__ = ["install"]


def install() -> Callable[[], None]:
    """Puts the hook in front of the one that is there; returns what takes it out again."""
    before = threading.excepthook
    switch = Switch()

    def excepthook(args: threading.ExceptHookArgs) -> None:
        try:
            if switch.on:
                report_uncaught(args.exc_value, args.exc_traceback)
        finally:
            before(args)

    threading.excepthook = excepthook

    def undo() -> None:
        switch.on = False
        if threading.excepthook is excepthook:
            threading.excepthook = before

    return undo
