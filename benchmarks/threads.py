"""Threads: what 1 to 32 of them report together, beside what one does.

Twice: with everything on and until all is delivered, as a program has it; and the calls alone, with no sink, beside
the bare snapshot, which shows what the interpreter's own lock costs any code whatever.
"""

from __future__ import annotations

import json
import sys
import threading
from statistics import median
from time import perf_counter
from typing import Any, Callable

from benchmarks._contestants import Ready, errorsink_no_sink, errorsink_three_sinks
from benchmarks._errors import bare_snapshot, raised
from benchmarks._loopback import loopback
from benchmarks._run import in_fresh_process, table

THREADS = (1, 2, 8, 32)
DELIVERED = 16_000
"""Reports of one measurement until all is delivered, over all its threads."""
CALLED = 8_000
"""Those of one of the calls alone: few enough that all are made before the render thread looks."""
ROOM = 4 * DELIVERED
"""Each queue holds a measurement's reports: every one is delivered, none merged or dropped."""
DELIVERED_ROUNDS = 7
CALLED_ROUNDS = 41

Report = Callable[..., object]
Rates = dict[int, list[float]]
"""Reports a second, round by round, by the number of threads."""


def _seconds(report: Report, number: int, reports: int) -> float:
    """The time that so many threads take for their calls together."""
    error = raised(16)
    barrier = threading.Barrier(number + 1)

    def work() -> None:
        barrier.wait()
        for _ in range(reports // number):
            report(error)

    workers = [threading.Thread(target=work) for _ in range(number)]
    for worker in workers:
        worker.start()
    barrier.wait()
    start = perf_counter()
    for worker in workers:
        worker.join()
    return perf_counter() - start


def _settle(ready: Ready) -> float:
    start = perf_counter()
    if ready.settle is not None:
        ready.settle()
    return perf_counter() - start


def _empty() -> Rates:
    return {number: [] for number in THREADS}


def _beside_one(rates: Rates, number: int) -> float:
    return median(many / one for many, one in zip(rates[number], rates[1], strict=True))


def delivered() -> list[tuple[int, float, float, float, float]]:
    """Three sinks: calls, and reports delivered, beside one thread's; then both a second."""
    ready = errorsink_three_sinks(queue_size=ROOM)
    calls, arrived = _empty(), _empty()
    for _ in range(DELIVERED_ROUNDS):
        for number in THREADS:
            seconds = _seconds(ready.report, number, DELIVERED)
            calls[number].append(DELIVERED / seconds)
            arrived[number].append(DELIVERED / (seconds + _settle(ready)))
    return [(n, _beside_one(calls, n), _beside_one(arrived, n), median(calls[n]), median(arrived[n])) for n in THREADS]


def called() -> list[tuple[int, float, float, float]]:
    """No sink: calls beside one thread's, the same of the bare snapshot, and calls a second."""
    ready = errorsink_no_sink(queue_size=ROOM)
    ours, bare = _empty(), _empty()
    for _ in range(CALLED_ROUNDS):
        for number in THREADS:
            bare[number].append(CALLED / _seconds(bare_snapshot, number, CALLED))
            ours[number].append(CALLED / _seconds(ready.report, number, CALLED))
            _settle(ready)
    return [(n, _beside_one(ours, n), _beside_one(bare, n), median(ours[n])) for n in THREADS]


def main() -> str:
    with loopback() as server:
        whole: list[Any] = in_fresh_process("benchmarks.threads", "delivered", env={"BENCH_URL": server.url})
    alone: list[Any] = in_fresh_process("benchmarks.threads", "called")
    head = ("threads, three sinks", "calls / one thread's", "delivered / one thread's", "calls/s", "delivered/s")
    return (
        "## Threads\n\n"
        + table(head, whole)
        + "\n"
        + table(("threads, calls alone", "calls / one thread's", "the bare snapshot's", "calls/s"), alone)
    )


if __name__ == "__main__":
    print(json.dumps({"delivered": delivered, "called": called}[sys.argv[1]]()) if len(sys.argv) > 1 else main())
