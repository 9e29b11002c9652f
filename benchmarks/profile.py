"""Where the time goes: a profile of the call, and one of rendering a report."""

from __future__ import annotations

import cProfile
import io
import pstats
import sys
from typing import Callable

from benchmarks._contestants import errorsink_no_sink
from benchmarks._errors import raised
from benchmarks._run import table
from benchmarks._timing import per_call

ROWS = 14


def _profiled(call: Callable[[], object], number: int) -> str:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(number):
        call()
    profile.disable()
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(ROWS)
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    start = next(index for index, line in enumerate(lines) if "ncalls" in line)
    return "```text\n" + "\n".join(lines[start:]) + "\n```\n"


def main() -> str:
    from errorsink import _capture
    from errorsink._dispatch import new_renderer, redactor
    from errorsink._settings import Settings

    report = errorsink_no_sink().report
    error = raised(16)
    settings, _ = Settings.load({}, {})
    renderer = new_renderer(settings, redactor(settings))

    def snapshot(number: int) -> _capture.Snapshot:
        return _capture.take(
            raised(16, f"order {number} was not paid"), 1, "error", "handled", None, None, None, None, None
        )

    snapshots = iter([snapshot(number) for number in range(50_000)])
    known = per_call(lambda: renderer.record(next(snapshots)), 2_000)
    return (
        "## Where the time goes\n\n"
        + table(("step", "µs"), [("rendering a report with a known stack", known)])
        + "\nOn the calling thread:\n\n"
        + _profiled(lambda: report(error), 20_000)
        + "\nRendering:\n\n"
        + _profiled(lambda: renderer.record(next(snapshots)), 5_000)
    )


if __name__ == "__main__":
    sys.exit(print(main()))
