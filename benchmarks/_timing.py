"""Timing: many samples of one call, each case beside the same yardstick in the same process."""

from __future__ import annotations

import gc
from statistics import median
from time import perf_counter_ns
from typing import Callable, NamedTuple

Call = Callable[[], object]


class Sample(NamedTuple):
    """Microseconds of one call."""

    p50: float
    p99: float


class Compared(NamedTuple):
    """A case and the yardstick, and the medians of their ratios round by round."""

    case: Sample
    yardstick: Sample
    p50_ratio: float
    p99_ratio: float


def sample(call: Call, number: int) -> Sample:
    """The percentiles of `number` calls."""
    taken: list[int] = []
    gc.collect()
    for _ in range(number):
        start = perf_counter_ns()
        call()
        taken.append(perf_counter_ns() - start)
    taken.sort()
    return Sample(taken[number // 2] / 1000, taken[number * 99 // 100] / 1000)


def compared(case: Call, yardstick: Call, number: int, rounds: int = 15, between: Call | None = None) -> Compared:
    """Case and yardstick in turn, so that a drift of the machine's speed touches both.

    `between` runs off the clock after each round of the case: it settles what the calls have set going.
    """
    pairs: list[tuple[Sample, Sample]] = []
    for _ in range(rounds):
        pairs.append((sample(yardstick, number), sample(case, number)))
        if between is not None:
            between()
    return Compared(
        Sample(median(case.p50 for _, case in pairs), median(case.p99 for _, case in pairs)),
        Sample(median(base.p50 for base, _ in pairs), median(base.p99 for base, _ in pairs)),
        median(case.p50 / base.p50 for base, case in pairs),
        median(case.p99 / base.p99 for base, case in pairs),
    )


def per_call(call: Call, number: int, repeat: int = 5) -> float:
    """Microseconds a call, the best of some repetitions: for comparing sizes, not for percentiles."""
    best = float("inf")
    for _ in range(repeat):
        start = perf_counter_ns()
        for _ in range(number):
            call()
        best = min(best, (perf_counter_ns() - start) / number)
    return best / 1000
