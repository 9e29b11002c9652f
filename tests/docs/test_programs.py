"""The programs in the documentation run, and print what the pages say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Sequence

import pytest

from errorsink.cli.demo import environment_for
from tests.docs.pages import ROOT, blocks

DOCS = ROOT / "docs"


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command where a reader would: in the clone."""
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment_for({}), capture_output=True, encoding="utf-8", timeout=60
    )


@pytest.mark.parametrize(
    ("page", "number", "printed"),
    [
        ("explanation/accounting.md", 0, "2 1 {'disabled': 1}\nTrue\n"),
        ("how-to/own-sink.md", 0, "delivered\nValueError: 'no address'\n"),
        ("how-to/uncaught-errors.md", 0, "uncaught_exception stock-keeper KeyError\n"),
        ("how-to/uncaught-errors.md", 1, "order 7 has no address\n"),
        ("how-to/uncaught-errors.md", 2, "exit status 1\n"),
        ("how-to/uncaught-errors.md", 3, "unhandled_rejection\n"),
        ("how-to/uncaught-errors.md", 4, "order 7 failed\n"),
        (
            "reference/api.md",
            1,
            "order 7 has no address {}\norder 8 has no address {'customer_tier': 'gold'}\n",
        ),
        ("reference/api.md", 0, "PAYMENT 2 {'customer_tier': 'gold', 'order.id': 'A-1001'} True\n"),
    ],
)
def test_a_program_prints_what_its_page_says(tmp_path: Path, page: str, number: int, printed: str) -> None:
    """It ends well, and its last words are those that the page quotes."""
    program = tmp_path / "program.py"
    program.write_text(blocks(DOCS / page)[number], "utf-8")
    ended = run([str(program)])
    assert (ended.returncode, ended.stdout) == (0, printed), ended.stderr
    text = " ".join((DOCS / page).read_text("utf-8").split())
    assert all(f"`{line}`" in text for line in printed.splitlines())


@pytest.mark.parametrize(("number", "passed"), [(0, 2), (1, 1)])
def test_the_tests_that_users_are_shown_pass(tmp_path: Path, number: int, passed: int) -> None:
    """What the page on tests shows is a test file that passes."""
    program = tmp_path / "test_shop.py"
    program.write_text(blocks(DOCS / "how-to" / "test-your-code.md")[number], "utf-8")
    ended = run(["-m", "pytest", "-q", "-c", "/dev/null" if sys.platform != "win32" else "NUL", str(program)])
    assert ended.stdout.splitlines()[-1].startswith(f"{passed} passed"), ended.stdout
