"""How long a sink waits after a failure, and whether it is tried at all: back-off with full jitter, circuit breaker."""

from __future__ import annotations

from typing import Callable, Literal

__all__ = ["Backoff", "State"]

BASE = 0.25
"""Seconds: the first wait is anything up to this; each further one up to twice the one before."""
THRESHOLD = 3
"""Failures in a row that open the circuit."""
MAX_RETRY_AFTER = 300.0
"""Seconds that a peer may ask us to wait."""

State = Literal["closed", "open", "half-open", "stopped"]


class Backoff:
    """Failures in a row of one sink.

    Full jitter (a uniform draw between nothing and the exponential bound) spreads the tries of many processes after
    a common failure; see the AWS Architecture Blog, "Exponential Backoff And Jitter".
    """

    def __init__(self, max_delay: float, random: Callable[[], float]) -> None:
        self._max_delay = max_delay
        self._random = random
        self._failures = 0
        self.state: State = "closed"

    def failed(self, retry_after: float | None = None) -> float:
        """Counts a failure; the seconds to wait before the next try."""
        self._failures += 1
        if self.state == "half-open" or self._failures >= THRESHOLD:
            self.state = "open"
        bound = min(self._max_delay, BASE * 2.0 ** min(self._failures - 1, 30))
        delay = bound * self._random()
        # A peer that asks for no wait at all, again and again, must not be asked in a tight loop.
        return delay if retry_after is None else max(delay, min(retry_after, MAX_RETRY_AFTER))

    def trying(self) -> None:
        """A try begins; after an open circuit it is a probe."""
        if self.state == "open":
            self.state = "half-open"

    def succeeded(self) -> None:
        self._failures = 0
        self.state = "closed"

    def ease(self) -> None:
        """Somebody waits for the result: the next waits are short again."""
        self._failures = min(self._failures, 1)
