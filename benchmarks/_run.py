"""Runs a part of a benchmark in a fresh interpreter, and reads what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Sequence


def in_fresh_process(module: str, *arguments: str, env: dict[str, str] | None = None) -> Any:
    """The JSON that `python -m module arguments` prints last; its own errors go to our standard error."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "DD_", "ERRORSINK_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**environment, **(env or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers are aligned to the right."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    lines += ["| " + " | ".join(map(shown, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
