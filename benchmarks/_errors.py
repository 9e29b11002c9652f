"""The errors that are reported: the same for every contestant."""

from __future__ import annotations

from types import CodeType
from typing import Any


def _fail(depth: int, message: str) -> None:
    if depth == 1:
        raise ValueError(message)
    _fail(depth - 1, message)


def raised(frames: int = 16, message: str = "order 1017 was not paid") -> ValueError:
    """An exception with a traceback of so many frames."""
    try:
        _fail(frames - 1, message)
    except ValueError as error:
        return error
    raise AssertionError("unreachable")


def bare_snapshot(error: BaseException) -> tuple[list[tuple[CodeType, int]], str]:
    """The floor: the least that must be taken while the traceback lives."""
    places: list[tuple[CodeType, int]] = []
    traceback: Any = error.__traceback__
    while traceback is not None:
        places.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    return places, str(error)
