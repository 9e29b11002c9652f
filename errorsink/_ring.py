"""The last errors, in memory: raw facts, rendered when somebody reads them."""

from __future__ import annotations

from collections import deque

from errorsink._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from errorsink._capture import Snapshot

__all__ = ["SIZE", "add", "clear", "snapshots"]

SIZE = 100

_ring: deque[Snapshot] = deque(maxlen=SIZE)
add = _ring.append
clear = _ring.clear


def snapshots() -> list[Snapshot]:
    """A copy of the ring, oldest first, whatever other threads add meanwhile."""
    while True:
        try:
            return list(_ring)
        except RuntimeError:  # noqa: PERF203 - the ring grew while it was copied; the next copy will do
            continue
