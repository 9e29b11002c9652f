"""Growth: how the cost of a report grows with what is reported; past the limits it may not grow at all."""

from __future__ import annotations

import json
import sys
import threading
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, Callable, Iterator, NamedTuple

from benchmarks._contestants import Ready, errorsink_no_sink
from benchmarks._errors import bare_snapshot, raised
from benchmarks._run import in_fresh_process, table
from benchmarks._timing import Call, per_call

Report = Callable[..., object]
THREADS = (1, 2, 8, 32)
REPORTS = 16_000
"""Of one measurement of threads, over all of them."""
ROUNDS = 15


def _chain(length: int) -> BaseException:
    error: BaseException = ValueError("the first")
    for number in range(length):
        later = ValueError(number)
        later.__cause__ = error
        error = later
    return error


def _group(width: int) -> BaseException:
    kind: Any = getattr(__import__("builtins"), "ExceptionGroup", None)
    return kind("several", [ValueError(number) for number in range(width)]) if kind else ValueError("no groups here")


class Size(NamedTuple):
    """One measurement: what grows, how large it is, the call, and how often it is made."""

    what: str
    size: int
    call: Call
    number: int


def _sizes(report: Report) -> Iterator[Size]:
    sys.setrecursionlimit(50_000)
    for size in (2, 16, 100, 1_000, 20_000):
        error = raised(size)
        yield Size("frames", size, partial(report, error), max(20_000 // size, 5))
        yield Size("frames, the bare snapshot", size, partial(bare_snapshot, error), max(20_000 // size, 5))
    for size in (1, 10, 100, 1_000, 50_000):
        yield Size("chain", size, partial(report, _chain(size)), 500)
    for size in (1, 15, 100, 10_000):
        yield Size("group", size, partial(report, _group(size)), 500)
    for size in (10, 4_000, 1_000_000, 10_000_000):
        yield Size("message", size, partial(report, ValueError("x" * size)), 500)
    for size in (10, 1_000, 200_000):
        yield Size("dict", size, partial(report, dict.fromkeys(range(size), "v" * 100)), 200)
    error = raised(16)
    for size in (0, 10, 100):
        attributes = {f"key.{number}": number for number in range(size)}
        yield Size("attributes", size, partial(report, error, attributes=attributes), 1_000)


def _threads(report: Report, number: int, each: int) -> float:
    """Reports a second of so many threads together."""
    error = raised(16)
    barrier = threading.Barrier(number + 1)

    def work() -> None:
        barrier.wait()
        for _ in range(each):
            report(error)

    workers = [threading.Thread(target=work) for _ in range(number)]
    for worker in workers:
        worker.start()
    barrier.wait()
    start = perf_counter()
    for worker in workers:
        worker.join()
    return number * each / (perf_counter() - start)


def _compared_threads(ready: Ready) -> list[tuple[int, float, float, float]]:
    """For so many threads the throughput beside that of one, the bare snapshot's, and reports a second.

    Medians of rounds taken in turn. A round's reports fit into the inbox; they are settled off the clock.
    """
    ours: dict[int, list[float]] = {number: [] for number in THREADS}
    bare: dict[int, list[float]] = {number: [] for number in THREADS}
    for _ in range(ROUNDS):
        for number in THREADS:
            bare[number].append(_threads(bare_snapshot, number, REPORTS // number))
            ours[number].append(_threads(ready.report, number, REPORTS // number))
            if ready.settle is not None:
                ready.settle()
    return [(number, _ratio(ours, number), _ratio(bare, number), median(ours[number])) for number in THREADS]


def _ratio(rates: dict[int, list[float]], number: int) -> float:
    return median(many / one for many, one in zip(rates[number], rates[1], strict=True))


def measure() -> dict[str, Any]:
    ready = errorsink_no_sink(queue_size=4 * REPORTS)
    return {
        "sizes": [(one.what, one.size, per_call(one.call, one.number, 3)) for one in _sizes(ready.report)],
        "threads": _compared_threads(ready),
    }


def main() -> str:
    found = in_fresh_process("benchmarks.growth", "measure")
    first: dict[str, float] = {}
    rows = [(what, size, micros / first.setdefault(what, micros), micros) for what, size, micros in found["sizes"]]
    return (
        "## Growth\n\n"
        + table(("what grows", "size", "cost / smallest", "µs"), rows)
        + "\n"
        + table(("threads", "throughput / one thread", "the bare snapshot's", "reports a second"), found["threads"])
    )


if __name__ == "__main__":
    print(json.dumps(measure()) if len(sys.argv) > 1 else main())
