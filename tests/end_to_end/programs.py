"""Small programs that report errors and end, run as a user would run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from typing import Any, NamedTuple

OVERHEAD = 8.0
"""Seconds that starting an interpreter and importing exporters may take on a busy machine: no limit of the product."""

FIVE_LINES = """
    import errorsink
    try:
        1 / 0
    except ZeroDivisionError as exc:
        errorsink.report_error(exc, attributes={"order.id": 7})
"""


class Ended(NamedTuple):
    """A program that has run."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def diagnostics(self) -> list[str]:
        return self.err.splitlines()

    @property
    def last(self) -> Any:
        """The JSON of its last line."""
        return json.loads(self.out.splitlines()[-1])


def run(code: str, **env: str) -> Ended:
    """Runs a program in a plain environment, with these variables added.

    The exit may take its time, unless a test says otherwise: on a busy machine importing an exporter takes seconds.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH") if name in os.environ}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**kept, "ERRORSINK_SHUTDOWN_TIMEOUT": "30", **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


ACCOUNTS = """
def accounts():
    import errorsink, json
    found = errorsink.stats()
    sinks = {name: {**account._asdict(), "balanced": account.balanced} for name, account in found.sinks.items()}
    print(json.dumps({"reported": found.reported, "recorded": found.recorded, "sinks": sinks}), flush=True)
"""


def with_accounts(code: str) -> str:
    """The program with a function `accounts()` that prints what `stats()` says, as JSON."""
    return ACCOUNTS + textwrap.dedent(code)
