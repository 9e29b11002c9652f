"""`sys.unraisablehook`: errors in finalisers and callbacks, which Python can only print."""

from __future__ import annotations

import sys
from typing import Any, Callable

from errorsink._values import text
from errorsink.hooks._uncaught import Switch, report_uncaught

__all__ = ["install"]


def install() -> Callable[[], None]:
    """Puts the hook in front of the one that is there; returns what takes it out again."""
    before = sys.unraisablehook
    switch = Switch()

    def unraisablehook(args: Any) -> None:
        try:
            if switch.on:
                where = {"unraisable": text(args.err_msg)} if args.err_msg else {}
                report_uncaught(args.exc_value, args.exc_traceback, **where)
        finally:
            before(args)

    sys.unraisablehook = unraisablehook

    def undo() -> None:
        switch.on = False
        if sys.unraisablehook is unraisablehook:
            sys.unraisablehook = before

    return undo
