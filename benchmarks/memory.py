"""Memory: what the ring and full queues hold, and what a million reports with every sink down leave behind."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from benchmarks._run import in_fresh_process, table

MILLION = 1_000_000
THREADS = 8
DEAD = "http://127.0.0.1:9"


def _resident() -> float:
    """Resident memory now, in MB (Linux)."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def measure() -> dict[str, Any]:
    import errorsink

    errorsink.configure(
        otel_exporter_otlp_endpoint=DEAD,
        datadog_url=DEAD,
        dd_api_key="0" * 32,
        shutdown_timeout=0.1,
        retry_window=86_400,
    )
    for number in range(200):
        errorsink.report_error(ValueError(number))
    errorsink.flush(3)
    before = _resident()

    def work() -> None:
        for number in range(MILLION // THREADS):
            try:
                raise ValueError(f"order {number} was not paid")
            except ValueError as error:
                errorsink.report_error(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errorsink.flush(10)
    found = errorsink.stats()
    return {
        "grown": _resident() - before,
        "recorded": found.recorded,
        "balanced": all(account.balanced for account in found.sinks.values()),
        "sinks": {name: account._asdict() for name, account in found.sinks.items()},
    }


def main() -> str:
    found = in_fresh_process("benchmarks.memory", "measure")
    rows: list[tuple[object, ...]] = [
        ("resident memory, MB", found["grown"]),
        ("reports recorded", found["recorded"]),
        ("every account adds up", str(found["balanced"])),
    ]
    for name, account in found["sinks"].items():
        rows.append((f"{name}: queued / merged / dropped", _three(account)))
    return "## A million reports from 8 threads with every sink down\n\n" + table(("what", "grown or counted"), rows)


def _three(account: dict[str, Any]) -> str:
    return f"{account['queued']:,} / {account['merged']:,} / {sum(account['dropped'].values()):,}"


if __name__ == "__main__":
    print(json.dumps(measure()) if len(sys.argv) > 1 else main())
