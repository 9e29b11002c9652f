"""Runs the benchmarks and prints their tables: `python -m benchmarks [PART ...]`.

Ratios come first, since they hold when the machine's speed drifts. Nothing here decides whether a test passes.
"""

from __future__ import annotations

import os
import platform
import sys

PARTS = ("ladder", "growth", "threads", "end_to_end", "memory", "startup", "profile", "bench_redact")


def machine() -> str:
    """The machine and the interpreter, for the head of the tables."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main(parts: list[str]) -> int:
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    print(f"Measured on {machine()}.\n", flush=True)
    for part in parts or PARTS:
        module = __import__(f"benchmarks.{part}", fromlist=["main"])
        print(module.main() or "", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
