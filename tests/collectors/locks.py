"""A lock between processes, for what the workers of one test run must not do twice."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

if sys.platform == "win32":
    import msvcrt

    from tests.collectors.contract import wait_until

    _FOR_EVER = 3600.0

    @contextmanager
    def locked(path: Path) -> Iterator[None]:
        """Holds an exclusive lock on a file, which stays behind. Waits for whoever holds it; their end frees it."""

        with path.open("ab") as file:

            def taken() -> bool:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                except OSError:
                    return False
                return True

            assert wait_until(taken, _FOR_EVER), f"{path} was locked for {_FOR_EVER} s"
            try:
                yield
            finally:
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    @contextmanager
    def locked(path: Path) -> Iterator[None]:
        """Holds an exclusive lock on a file, which stays behind. Waits for whoever holds it; their end frees it."""
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
