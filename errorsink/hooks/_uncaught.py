"""What the hooks have in common: reporting an object that nobody caught, and stepping out of a chain of hooks."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from errorsink import _capture, _classify, _selflog
from errorsink._api import report_error

__all__ = ["Switch", "report_uncaught"]


class Switch:
    """Whether a hook still reports; a hook that others have chained to can't be taken out, only switched off."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = True


def report_uncaught(error: object, traceback: TracebackType | None, **attributes: Any) -> None:
    """Reports an error as uncaught, unless it is control flow or was reported as uncaught before. It raises nothing."""
    try:
        if issubclass(type(error), BaseException):
            _report(error, traceback, attributes)  # type: ignore[arg-type]
    except Exception as fault:  # noqa: BLE001 - the border: Python would print this instead of the error itself
        _selflog.contain("a hook", fault)


def _report(error: BaseException, traceback: TracebackType | None, attributes: dict[str, Any]) -> None:
    if _classify.facts_of(type(error)).control_flow:
        return
    if _capture.reported_as(error) in (None, "handled"):
        report_error((type(error), error, traceback), handling="uncaught_exception", attributes=attributes or None)
