"""Programs that run in a process of their own, and what reached their sinks."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from tests.collectors.contract import wait_until

__all__ = ["LIMIT", "Child", "Journal", "Program"]

LIMIT = 30
"""Seconds after which a program counts as hung, on a machine however busy: its processes tell then where they are."""
PLUGIN = Path(__file__).parent / "plugin"
ROOT = Path(__file__).parents[2]
_PRELUDE = """
import faulthandler as _faulthandler, signal as _signal
_faulthandler.register(_signal.SIGUSR1)
"""
_FOREIGN = ("OTEL_", "DD_", "ERRORSINK_", "CLAUDE_CODE_", "DISABLE_ERROR", "COVERAGE", "PYTEST_", "JOURNAL")


class Child(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """What it printed, which was JSON."""
        return json.loads(self.out)

    def well(self) -> Child:
        """The same; an AssertionError where it failed, or said anything on standard error."""
        assert (self.code, self.err) == (0, ""), f"ended with {self.code}\n{self.out}\n{self.err}"
        return self


class Journal:
    """What arrived at a sink of `plugin/journal_sink.py`, in the order of arrival."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[dict[str, Any]]:
        """The records; a line that isn't whole yet is left out."""
        written = self.path.read_text("utf-8") if self.path.exists() else ""
        return [json.loads(line) for line in written[: written.rfind("\n") + 1].splitlines()]

    def messages(self) -> list[str]:
        """Their messages, sorted."""
        return sorted(entry["message"] for entry in self.entries())

    def wait_for(self, count: int) -> list[str]:
        """The same, once there are so many; AssertionError where they don't come."""
        wait_until(lambda: len(self.entries()) >= count, LIMIT)
        messages = self.messages()
        assert len(messages) >= count, f"only {messages}"
        return messages


class Program:
    """Runs Python code in processes whose errors go to one journal."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.journal = Journal(directory / "journal")
        self._started: list[subprocess.Popen[str]] = []

    def environment(self, **variables: str) -> dict[str, str]:
        """This process's environment without what concerns errorsink, with the journal's sinks."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        path = os.pathsep.join([str(PLUGIN), str(ROOT), str(ROOT / "exporters")])
        patient = {
            "ERRORSINK_SHUTDOWN_TIMEOUT": "20",  # a busy machine must not decide what arrives
            "PYTHONWARNINGS": "ignore:This process:DeprecationWarning",  # Python 3.12's, of forks beside threads
        }
        return {**kept, **patient, "PYTHONPATH": path, "JOURNAL": str(self.journal.path), **variables}

    def start(
        self, code: str, *arguments: str, environ: Mapping[str, str] | None = None, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Starts the program in a session of its own. It ends with the test."""
        file = self.directory / f"program{len(self._started)}.py"
        file.write_text(_PRELUDE + textwrap.dedent(code), "utf-8")
        return self.start_command([sys.executable, *options, str(file), *arguments], environ)

    def start_command(self, command: list[str], environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """The same for any command."""
        process = subprocess.Popen(
            command,
            cwd=self.directory,
            env=self.environment(**(environ or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def run(
        self,
        code: str,
        *arguments: str,
        environ: Mapping[str, str] | None = None,
        options: tuple[str, ...] = (),
        limit: float | None = None,
    ) -> Child:
        """Runs the program until it, and all that it has started, has ended."""
        process = self.start(code, *arguments, environ=environ, options=options)
        return self.ended(process, limit)

    def ended(self, process: subprocess.Popen[str], limit: float | None = None) -> Child:
        """Waits for the end of a process and of all its children; AssertionError where they don't end in time."""
        try:
            out, err = process.communicate(timeout=limit or LIMIT)
        except subprocess.TimeoutExpired:
            out, err = self._stacks(process)
            raise AssertionError(f"a child hangs\n{out}\n{err}") from None
        return Child(process.returncode, out, err)

    def end(self) -> None:
        """Kills what is still running."""
        for process in self._started:
            self._kill(process)
            process.communicate()

    def _stacks(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        """What a hung program had said, and where each of its processes is."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGUSR1)
        try:
            return process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            self._kill(process)
            return process.communicate()

    def _kill(self, process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
