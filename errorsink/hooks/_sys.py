"""`sys.excepthook`: errors that end the program."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Callable

from errorsink.hooks._uncaught import Switch, report_uncaught

__all__ = ["install"]


def install() -> Callable[[], None]:
    """Puts the hook in front of the one that is there; returns what takes it out again."""
    before = sys.excepthook
    switch = Switch()

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        try:
            if switch.on:
                report_uncaught(error, traceback)
        finally:
            before(kind, error, traceback)

    sys.excepthook = excepthook

    def undo() -> None:
        switch.on = False
        if sys.excepthook is excepthook:
            sys.excepthook = before

    return undo
