"""The command line: `errorsink <command>`, also `python -m errorsink`.

Each command is a module with `add_parser(subparsers)`, which adds the command's parser and sets `run`, a function from
the parsed arguments to an exit status. Only the module of the command that is called is imported: `errorsink listen`
never pays for the packages that another command needs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Callable, Mapping, NamedTuple, Sequence

from errorsink import __version__

__all__ = ["main"]


class _Command(NamedTuple):
    module: str
    summary: str
    extra: str | None = None
    """The extra whose packages the command needs."""


_COMMANDS: Mapping[str, _Command] = {
    "demo": _Command("errorsink.cli.demo", "watch a program fail, and its errors arrive", "otel"),
    "listen": _Command("errorsink.cli.listen", "a local OTLP collector that prints each error as it arrives", "otel"),
    "doctor": _Command("errorsink.cli.doctor", "why does nothing arrive?"),
    "settings": _Command("errorsink.cli.settings", "every setting, its value in force, and where it comes from"),
    "redact": _Command("errorsink.cli.redact", "show what redaction makes of a text"),
    "spool": _Command("errorsink.cli.spool", "show or send the reports that wait on disk"),
    "datadog": _Command("errorsink.cli.datadog", "check the Datadog key, and that errors arrive"),
}

_INTERRUPTED = 130
_BROKEN_PIPE = 141
"""128 plus the number of the signal, as a shell would say it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0 success, 1 failure, 2 wrong use or a missing extra."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _tolerate_any_text()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return _BROKEN_PIPE


def _run(arguments: Sequence[str]) -> int:
    called = next((word for word in arguments if not word.startswith("-")), None)
    try:
        parser = _parser(called)
    except ModuleNotFoundError as error:
        return _missing_extra(called, error)
    parsed = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] | None = getattr(parsed, "run", None)
    if run is None:
        parser.print_help()
        return 2
    status = run(parsed)
    sys.stdout.flush()
    return status


def _parser(called: str | None) -> argparse.ArgumentParser:
    """The whole parser, with the options of the called command alone: that one's module is imported."""
    parser = argparse.ArgumentParser(prog="errorsink", description="Error reports to Datadog and OpenTelemetry.")
    parser.add_argument("--version", action="version", version=f"errorsink {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="command")
    for name, command in _COMMANDS.items():
        if name == called:
            importlib.import_module(command.module).add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=command.summary)
    return parser


def _missing_extra(called: str | None, error: ModuleNotFoundError) -> int:
    command = _COMMANDS.get(called or "")
    missing = (error.name or "").partition(".")[0]
    if command is None or command.extra is None or missing == "errorsink":
        raise error
    print(
        f"errorsink {called}: the package {missing!r} is not installed. "
        f"Install what this command needs: pip install 'errorsink[{command.extra}]'",
        file=sys.stderr,
    )
    return 2


def _tolerate_any_text() -> None:
    """Text that the terminal's encoding lacks is shown as an escape, where it would be an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _abandon_stdout() -> None:
    """Nobody reads any more: what is left in the buffer goes nowhere, so that the interpreter's exit is quiet."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no file behind the stream: nothing to be flushed into a pipe either
        return
