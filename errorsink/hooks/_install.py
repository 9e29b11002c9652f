"""One hook in a chain of hooks: put in front of the one that is there, and taken out again."""

from __future__ import annotations

from collections.abc import Callable

from errorsink._typing import Any

__all__ = ["install"]


class _Hook:
    """Reports what the hook is called with, until it is switched off, and calls the hook before it in any case."""

    __slots__ = ("before", "report")

    def __init__(self, report: Callable[..., None], before: Callable[..., object]) -> None:
        self.report: Callable[..., None] | None = report
        self.before = before

    def __call__(self, *args: Any) -> None:
        try:
            report = self.report
            if report is not None:
                report(*args)
        finally:
            self.before(*args)


def install(owner: Any, name: str, report: Callable[..., None]) -> Callable[[], None]:
    """Lets `report` see every call of the hook `owner.name`, before the hook that is there, which runs in any case.

    Returns:
        What takes it out again. A hook that others have chained to can't be taken out, only switched off; it goes
        once a hook of ours that stands above it is taken out, or another one is installed above it.
    """
    hook = _Hook(report, _in_use(getattr(owner, name)))
    setattr(owner, name, hook)

    def undo() -> None:
        hook.report = None
        top = getattr(owner, name)
        in_use = _in_use(top)
        if in_use is not top:
            setattr(owner, name, in_use)

    return undo


def _in_use(hook: Callable[..., object]) -> Callable[..., object]:
    """The hook, or where it is one of ours that is switched off, the first one before it that isn't."""
    while isinstance(hook, _Hook) and hook.report is None:
        hook = hook.before
    return hook
