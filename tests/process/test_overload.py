"""More reports than anybody takes: memory stays bounded, and the accounts add up."""

from __future__ import annotations

from tests.process.children import Program
from tests.process.conftest import LONG_RUNS

REPORTS = 1_000_000 if LONG_RUNS else 48_000
THREADS = 8
MEMORY = 64_000_000
"""Bytes by which the resident memory may grow, once the first reports have filled the caches."""

OVERLOAD = f"""
    import json, resource, sys, threading, time
    import errorsink
    def resident():
        with open("/proc/self/statm") as file: return int(file.read().split()[1]) * resource.getpagesize()
    def work(which):
        for number in range({REPORTS} // {THREADS}):
            try: raise ValueError(f"{{which}} {{number}}")
            except ValueError as error: errorsink.report_error(error)
    for number in range(10): errorsink.report_error(ValueError("warm"))
    while len(errorsink.stats().sinks) < 3: time.sleep(0.01)
    before = resident() if sys.platform == "linux" else 0
    threads = [threading.Thread(target=work, args=(which,)) for which in range({THREADS})]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    grown = resident() - before if sys.platform == "linux" else 0
    errorsink.flush(0.5)
    stats = errorsink.stats()
    print(json.dumps([grown, stats.recorded, [[a.recorded, a.balanced, a.delivered] for a in stats.sinks.values()]]))
    """


def test_all_peers_are_down(program: Program) -> None:
    """Eight threads report without a pause while all sinks are down: memory grows by less than 64 MB, and each sink's
    account has all the reports."""
    child = program.run(
        OVERLOAD,
        environ={
            "JOURNAL_PEER": "down",
            "ERRORSINK_JOURNAL_B": "1",
            "ERRORSINK_JOURNAL_C": "1",
            "ERRORSINK_SHUTDOWN_TIMEOUT": "0.2",
        },
        limit=900 if LONG_RUNS else None,
    )
    assert child.code == 0, child.err
    grown, recorded, accounts = child.answer
    assert recorded == REPORTS + 10
    assert accounts == [[REPORTS + 10, True, 0]] * 3
    assert grown < MEMORY
    if LONG_RUNS:
        print(f"{REPORTS:,} reports: resident memory grew by {grown / 1e6:.1f} MB")  # shown with -rP
