"""What the hooks have in common: reporting an object that nobody caught, and stepping out of a chain of hooks."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable

from errorsink import _capture, _classify
from errorsink._api import report_error

__all__ = ["Switch", "report_uncaught"]


class Switch:
    """Whether a hook still reports; a hook that others have chained to can't be taken out, only switched off."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = True


def report_uncaught(error: object, traceback: TracebackType | None, **attributes: Any) -> None:
    """Reports an error as uncaught, unless it is control flow or was reported as uncaught before."""
    if not issubclass(type(error), BaseException):
        return
    exception: BaseException = error  # type: ignore[assignment]
    if _classify.facts_of(type(exception)).control_flow:
        return
    if _capture.reported_as(exception) not in (None, "handled"):
        return
    report_error((type(exception), exception, traceback), handling="uncaught_exception", attributes=attributes or None)


Hook = Callable[..., Any]
