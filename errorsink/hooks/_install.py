"""One hook in a chain of hooks: put in front of the one that is there, and taken out again."""

from __future__ import annotations

from collections.abc import Callable

from errorsink._typing import Any

__all__ = ["install"]


def install(owner: Any, name: str, report: Callable[..., None]) -> Callable[[], None]:
    """Lets `report` see every call of the hook `owner.name`, before the hook that is there, which runs in any case.

    Returns:
        What takes it out again. A hook that others have chained to can't be taken out, only switched off.
    """
    before: Callable[..., object] = getattr(owner, name)
    reports = [True]

    def hook(*args: Any) -> None:
        try:
            if reports:
                report(*args)
        finally:
            before(*args)

    def undo() -> None:
        reports.clear()
        if getattr(owner, name) is hook:
            setattr(owner, name, before)

    setattr(owner, name, hook)
    return undo
