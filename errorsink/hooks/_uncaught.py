"""What each of Python's hooks is given, and what of it is reported, and as what."""

from __future__ import annotations

from threading import ExceptHookArgs
from types import TracebackType

from errorsink import _capture, _classify, _selflog
from errorsink._api import report_error
from errorsink._typing import TYPE_CHECKING, Any
from errorsink.hooks._place import place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from errorsink.model import Handling

__all__ = ["in_main", "in_thread", "unraisable"]


def in_main(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """`sys.excepthook`: an error that ends the program."""
    _report(error, traceback, "uncaught_exception")


def in_thread(args: ExceptHookArgs) -> None:
    """`threading.excepthook`: an error that ends a thread."""
    _report(args.exc_value, args.exc_traceback, "uncaught_exception")


def unraisable(args: Any) -> None:
    """`sys.unraisablehook`: an error in a finaliser or a callback, which Python can only print.

    The program runs on, in the main thread too. So it is no `uncaught_exception`, which says there that it ends.
    """
    _report(args.exc_value, args.exc_traceback, "unhandled_rejection", args)


def _report(error: object, traceback: TracebackType | None, handling: Handling, unraisable: Any = None) -> None:
    """Reports an error, unless it is control flow or a hook has reported it before. It raises nothing."""
    try:
        if not issubclass(type(error), BaseException):
            return
        uncaught: BaseException = error  # type: ignore[assignment]
        if _classify.facts_of(type(uncaught)).control_flow:
            return
        if _capture.reported_as(uncaught) in (None, "handled"):
            attributes = None if unraisable is None else _attributes(unraisable)
            report_error((type(uncaught), uncaught, traceback), handling=handling, attributes=attributes)
    except Exception as fault:  # noqa: BLE001 - the border: Python would print this instead of the error itself
        _selflog.contain("a hook", fault)


def _attributes(unraisable: Any) -> Mapping[str, object] | None:
    where = place(unraisable.err_msg, unraisable.object)
    return {"unraisable": where} if where else None
