"""`errorsink demo`: a collector, a program that fails, and the proof that every error arrived."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Mapping, NamedTuple, Sequence

from errorsink._settings import environment
from errorsink.cli._command import Subparsers
from errorsink.cli._show import Display
from errorsink.cli._terminal import Palette, counted, escape
from errorsink.cli.receiver import Inbox, Received, ReceivedLog, Receiver, error_id

_DESCRIPTION = """\
Starts a local collector, runs a small program that fails in several ways, and shows what was reported, what arrived,
and how long it took. Nothing leaves this machine. The exit status is 0 only if every error arrived as a log and as a
span."""
_PROGRAM_SECONDS = 60.0
_ARRIVAL_SECONDS = 5.0
_EXIT_SECONDS = 30.0
"""The program ends right after its last error; a busy machine may take more than the default to import an exporter."""
_OURS = ("ERRORSINK_", "OTEL_", "DD_", "CLAUDE_CODE_", "DISABLE_ERROR_REPORTING")
"""Variables that could close a gate, switch a sink, or send the demo's errors somewhere else."""


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("demo", help="watch a program fail, and its errors arrive", description=_DESCRIPTION)
    parser.add_argument("--protocol", choices=["http/protobuf", "grpc"], default="http/protobuf", help="of OTLP")
    parser.set_defaults(run=run)


class _Error(NamedTuple):
    """What the program says of one error that it reported."""

    what: str
    id: str
    type: str
    microseconds: float | None


class _Arrivals(Inbox):
    """Keeps when each error's log and span arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.times: dict[tuple[str, bool], int] = {}

    def __call__(self, records: Sequence[Received]) -> None:
        """Takes the records of one request."""
        now = time.time_ns()
        for record in records:
            self.times.setdefault((error_id(record), isinstance(record, ReceivedLog)), now)
        super().__call__(records)

    def has(self, errors: Sequence[_Error]) -> bool:
        """True when the log and the span of each of these errors are there."""
        return all((error.id, is_log) in self.times for error in errors for is_log in (True, False))


def run(args: argparse.Namespace) -> int:
    """Runs the demo."""
    arrivals = _Arrivals()
    with Receiver(arrivals) as receiver:
        endpoint = receiver.grpc_endpoint if args.protocol == "grpc" else receiver.http_endpoint
        target = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": args.protocol,
            "ERRORSINK_SHUTDOWN_TIMEOUT": f"{_EXIT_SECONDS:g}",
        }
        started = time.perf_counter()
        try:
            program = _run_program(target)
        except subprocess.TimeoutExpired:
            print(f"errorsink demo: the program did not end within {_PROGRAM_SECONDS:g} s", file=sys.stderr)
            return 1
        taken = time.perf_counter() - started
        errors = [_Error(**json.loads(line)) for line in program.stdout.splitlines()]
        arrived = arrivals.wait_until(lambda _: arrivals.has(errors), _ARRIVAL_SECONDS)
    _Report(errors, arrivals).print(target, taken)
    if program.returncode != 0 or not errors or not arrived:
        print(f"\nThe program ended with status {program.returncode}, and said:\n{program.stderr}", file=sys.stderr)
        return 1
    return 0


def environment_for(target: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process with errorsink's settings replaced by `target`, and UTF-8 output."""
    env = {name: value for name, value in environment().items() if not name.startswith(_OURS)}
    # A proxy of the environment must not be asked for an address of this machine.
    env.update(target, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1", PYTHONIOENCODING="utf-8", PYTHONUTF8="1")
    return env


def _run_program(target: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = environment_for(target)
    command = [sys.executable, "-m", "errorsink.cli._demo_program"]
    return subprocess.run(  # noqa: S603 - our own program
        command, env=env, capture_output=True, encoding="utf-8", errors="replace", timeout=_PROGRAM_SECONDS, check=False
    )


class _Report:
    """What the demo prints."""

    def __init__(self, errors: Sequence[_Error], arrivals: _Arrivals) -> None:
        self._errors = errors
        self._arrivals = arrivals
        self._paint = Palette.of(sys.stdout)
        self._logs = {error_id(log): log for log in arrivals.logs}

    def print(self, target: dict[str, str], taken: float) -> None:
        """Prints the whole report."""
        print(f"A program that fails in {counted(len(self._errors), 'way')} ran with")
        for name, value in target.items():
            print(f"  {name}={value}")
        print()
        print(self._paint(f"{'reported':<22} {'':<34} {'the call':>9} {'log after':>10} {'span after':>10}", "bold"))
        for error in self._errors:
            print(self._row(error))
        print(self._paint("The first calls of a process are its slowest: an exporter is imported meanwhile.", "dim"))
        self._print_first()
        print(f"\n{self._summary()} The program ran for {taken:.2f} s, its exit included.")

    def _row(self, error: _Error) -> str:
        call = "by a hook" if error.microseconds is None else f"{error.microseconds:.0f} µs"
        kind, what = f"{escape(error.type):<22}", f"{escape(error.what.rstrip('.')):<34}"
        return f"{self._paint(kind, 'red')} {what} {call:>9} {self._arrival(error, True)} {self._arrival(error, False)}"

    def _arrival(self, error: _Error, is_log: bool) -> str:
        at = self._arrivals.times.get((error.id, is_log))
        if at is None:
            return self._paint(f"{'missing':>10}", "red", "bold")
        log = self._logs.get(error.id)
        since = f"{max(at - log.time_unix_nano, 0) / 1_000_000:.0f} ms" if log else "arrived"
        return self._paint(f"{since:>10}", "green")

    def _print_first(self) -> None:
        first = next((self._logs[error.id] for error in self._errors if error.id in self._logs), None)
        if first is not None:
            print("\nOne of them, as `errorsink listen` shows it:\n")
            print("\n".join(Display(self._paint).lines(first)))

    def _summary(self) -> str:
        logs = sum((error.id, True) in self._arrivals.times for error in self._errors)
        spans = sum((error.id, False) in self._arrivals.times for error in self._errors)
        complete = logs == spans == len(self._errors) > 0
        reported = counted(len(self._errors), "error")
        text = f"{reported} reported: {counted(logs, 'log')} and {counted(spans, 'span')} arrived."
        return self._paint(text, "green" if complete else "red", "bold")
