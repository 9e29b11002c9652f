"""Programs in processes of their own, which end with their test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import pytest

from tests.process.children import Program

LONG_RUNS = os.environ.get("LONG_RUNS", "") not in ("", "0")
"""True where the tests shall run at full length; see CONTRIBUTING.md, "Long runs"."""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Starts programs whose errors go to a journal of the test's own."""
    program = Program(tmp_path)
    yield program
    program.end()
