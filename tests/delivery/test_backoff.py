"""Back-off: bounds, jitter, the peer's own wish."""

from __future__ import annotations

import pytest

from errorsink._backoff import BASE, MAX_RETRY_AFTER, Backoff


@pytest.mark.parametrize(("failures", "bound"), [(1, BASE), (2, 2 * BASE), (3, 4 * BASE), (9, 5.0), (5000, 5.0)])
def test_the_bound_doubles_up_to_the_longest_delay(failures: int, bound: float) -> None:
    """With the jitter at its top, the wait is the bound itself."""
    backoff = Backoff(5.0, lambda: 1.0)
    for _ in range(failures):
        delay = backoff.failed()
    assert delay == bound


@pytest.mark.parametrize("draw", [0.0, 0.3, 1.0])
def test_the_jitter_is_full(draw: float) -> None:
    """A wait may be anything between nothing and the bound."""
    assert Backoff(30.0, lambda: draw).failed() == BASE * draw


@pytest.mark.parametrize(("asked", "waits"), [(0.0, BASE), (7.5, 7.5), (1e12, MAX_RETRY_AFTER), (-3.0, BASE)])
def test_what_the_peer_asks_for_is_clamped(asked: float, waits: float) -> None:
    """Never more than five minutes, and never less than our own back-off."""
    assert Backoff(30.0, lambda: 1.0).failed(asked) == waits


def test_a_success_forgets_the_failures() -> None:
    backoff = Backoff(30.0, lambda: 1.0)
    for _ in range(6):
        backoff.failed()
    backoff.succeeded()
    assert (backoff.state, backoff.failed()) == ("closed", BASE)


def test_somebody_who_waits_gets_short_waits_again() -> None:
    """After `ease` the next bound is the second one, however often it has failed."""
    backoff = Backoff(30.0, lambda: 1.0)
    for _ in range(6):
        backoff.failed()
    backoff.ease()
    assert backoff.failed() == 2 * BASE
