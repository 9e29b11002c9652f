"""OpenTelemetry's SDK where no thread can be started any more.

Its resource detectors run in a thread pool, already while it is imported. A program whose first report is made while
the interpreter exits can't have that: CPython then refuses threads, or at least a first thread pool.
"""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, TypeVar

__all__ = ["build"]

T = TypeVar("T")


class _Inline:
    """An executor that does the work at once, in the calling thread."""

    def __init__(self, max_workers: int | None = None) -> None:
        pass

    def __enter__(self) -> "_Inline":  # noqa: PYI034, UP037  # typing.Self came with Python 3.11
        return self

    def __exit__(self, *_exc_info: object) -> None:
        pass

    def submit(self, work: Callable[[], Any]) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001  # as an executor does: it is the future's
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass


def build(make: Callable[[], T]) -> T:
    """What `make` returns; where it fails for want of threads, it is called again with a pool that needs none."""
    try:
        return make()
    except RuntimeError:
        module: Any = concurrent.futures
        before: Any = vars(concurrent.futures).get("ThreadPoolExecutor")  # absent until somebody asks for it
        module.ThreadPoolExecutor = _Inline
        try:
            return make()
        finally:
            if before is None:
                del module.ThreadPoolExecutor
            else:
                module.ThreadPoolExecutor = before
