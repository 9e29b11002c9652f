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


def sample(call: Call, number: int, between: Call | None = None, every: int = 250) -> Sample:
    """The percentiles of `number` calls; `between` runs off the clock after each `every` calls."""
    taken: list[int] = []
    gc.collect()
    for turn in range(number):
        start = perf_counter_ns()
        call()
        taken.append(perf_counter_ns() - start)
        if between is not None and turn % every == every - 1:
            between()
    taken.sort()
    return Sample(taken[number // 2] / 1000, taken[number * 99 // 100] / 1000)


def compared(case: Call, yardstick: Call, number: int, rounds: int = 9, between: Call | None = None) -> Compared:
    """Case and yardstick in turn, so that a drift of the machine's speed touches both."""
    pairs = [(sample(yardstick, number), sample(case, number, between)) for _ in range(rounds)]
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
