"""What each of Python's hooks is given, and what of it is reported as uncaught."""

from __future__ import annotations

from threading import ExceptHookArgs
from types import TracebackType

from errorsink import _capture, _classify, _selflog
from errorsink._api import report_error
from errorsink._typing import Any
from errorsink._values import text

__all__ = ["in_main", "in_thread", "unraisable"]


def in_main(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """`sys.excepthook`: an error that ends the program."""
    _report(error, traceback)


def in_thread(args: ExceptHookArgs) -> None:
    """`threading.excepthook`: an error that ends a thread."""
    _report(args.exc_value, args.exc_traceback)


def unraisable(args: Any) -> None:
    """`sys.unraisablehook`: an error in a finaliser or a callback, which Python can only print."""
    _report(args.exc_value, args.exc_traceback, where=args.err_msg)


def _report(error: object, traceback: TracebackType | None, where: object = None) -> None:
    """Reports an error, unless it is control flow or was reported as uncaught before. It raises nothing."""
    try:
        if not issubclass(type(error), BaseException):
            return
        uncaught: BaseException = error  # type: ignore[assignment]
        if _classify.facts_of(type(uncaught)).control_flow:
            return
        if _capture.reported_as(uncaught) in (None, "handled"):
            attributes = {"unraisable": text(where)} if where else None
            report_error((type(uncaught), uncaught, traceback), handling="uncaught_exception", attributes=attributes)
    except Exception as fault:  # noqa: BLE001 - the border: Python would print this instead of the error itself
        _selflog.contain("a hook", fault)
