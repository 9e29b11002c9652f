"""Growth: how the cost of a report grows with what is reported; past the limits it may not grow at all."""

from __future__ import annotations

import json
import sys
from functools import partial
from time import perf_counter
from typing import Any, Callable, Iterator, NamedTuple

from benchmarks._contestants import errorsink_no_sink
from benchmarks._errors import bare_snapshot, raised
from benchmarks._run import in_fresh_process, table
from benchmarks._timing import Call, per_call

Report = Callable[..., object]
MADE = (1, 100, 1_000, 10_000, 100_000, 1_000_000)


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


def sizes() -> list[Any]:
    report = errorsink_no_sink().report
    return [(one.what, one.size, per_call(one.call, one.number, 3)) for one in _sizes(report)]


def reports() -> list[tuple[str, int, float]]:
    """Microseconds a report, of those between one number of reports in a process and the next."""
    import errorsink

    errorsink.configure(datadog=False, otel_logs=False, otel_spans=False)
    error = raised(16)
    found: list[tuple[str, int, float]] = []
    done = 0
    for number in MADE:
        start = perf_counter()
        for _ in range(number - done):
            errorsink.report_error(error)
        found.append(
            (
                "the first report" if number == 1 else "reports made",
                number,
                (perf_counter() - start) / (number - done) * 1e6,
            )
        )
        done = number
    return found


def main() -> str:
    first: dict[str, float] = {}
    found = [*in_fresh_process("benchmarks.growth", "sizes"), *in_fresh_process("benchmarks.growth", "reports")]
    rows = [(what, size, micros / first.setdefault(what, micros), micros) for what, size, micros in found]
    return "## Growth\n\n" + table(("what grows", "size", "cost / smallest", "µs"), rows)


if __name__ == "__main__":
    print(json.dumps({"sizes": sizes, "reports": reports}[sys.argv[1]]()) if len(sys.argv) > 1 else main())
