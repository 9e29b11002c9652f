"""Spools and sibling processes that end with their test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from errorsink._spool import Spool

ROOT = Path(__file__).parents[2]


class Clock:
    """Seconds since the epoch, as the test has them."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Sibling:
    """A process of its own on the same directory; its calls are those of `worker.Worker`."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spool.worker", str(directory), *options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def call(self, name: str, *arguments: object) -> Any:
        """The answer to one call."""
        self.ask(name, *arguments)
        return self.answer()

    def ask(self, name: str, *arguments: object) -> None:
        """Sends a call without waiting for its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """The next line that the process says."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def kill(self) -> list[Any]:
        """Ends the process as `kill -9` does, and no child of its; what it had said until then."""
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        return [json.loads(line) for line in self.process.stdout.read().splitlines(keepends=True) if line[-1] == "\n"]

    def end(self) -> None:
        """Ends the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


MakeSpool = Callable[..., Spool]
MakeSibling = Callable[..., Sibling]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where the spool lives; not there yet."""
    return tmp_path / "spool"


@pytest.fixture
def told() -> list[str]:
    """The diagnostics so far."""
    return []


@pytest.fixture
def clock() -> Clock:
    """The spools' clock."""
    return Clock()


@pytest.fixture
def make_spool(directory: Path, told: list[str], clock: Clock) -> Iterator[MakeSpool]:
    """Makes spools on the directory, each an owner of its own, as if in several processes."""
    with contextlib.ExitStack() as spools:

        def make(max_bytes: int = 8_000_000, max_age: float = 3600.0) -> Spool:
            spool = Spool(str(directory), max_bytes=max_bytes, max_age=max_age, diagnose=told.append, clock=clock)
            spools.callback(spool.close)
            return spool

        yield make


@pytest.fixture
def spool(make_spool: MakeSpool) -> Spool:
    """A spool of its own."""
    return make_spool()


@pytest.fixture
def make_sibling(directory: Path) -> Iterator[MakeSibling]:
    """Starts processes on the directory."""
    with contextlib.ExitStack() as siblings:

        def make(*options: str, ready: bool = True) -> Sibling:
            sibling = Sibling(directory, *options)
            siblings.callback(sibling.end)
            if ready:
                assert sibling.answer() == "ready"
            return sibling

        yield make
