"""The ladder: what a report costs on the calling thread, from nothing to every peer; a 16-frame exception."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks._contestants import LADDER
from benchmarks._errors import bare_snapshot, raised
from benchmarks._loopback import loopback
from benchmarks._run import in_fresh_process, table
from benchmarks._timing import compared


def measure(name: str) -> dict[str, Any]:
    prepare, number = LADDER[name]
    contestant = prepare()
    error = raised(16)
    for _ in range(number):
        contestant.report(error)
    found = compared(lambda: contestant.report(error), lambda: bare_snapshot(error), number, between=contestant.settle)
    return {"p50": found.case.p50, "p99": found.case.p99, "p50_ratio": found.p50_ratio, "p99_ratio": found.p99_ratio}


def main() -> str:
    with loopback() as server:
        found = {name: in_fresh_process("benchmarks.ladder", name, env={"BENCH_URL": server.url}) for name in LADDER}
    ours = found["errorsink, three sinks"]
    rows = [
        (
            name,
            row["p50_ratio"],
            row["p99_ratio"],
            row["p50_ratio"] / ours["p50_ratio"],
            row["p50"],
            row["p99"],
        )
        for name, row in found.items()
    ]
    head = ("call", "p50 / floor", "p99 / floor", "p50 / errorsink with three sinks", "p50 µs", "p99 µs")
    return "## On the calling thread\n\n" + table(head, rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        print(main())
