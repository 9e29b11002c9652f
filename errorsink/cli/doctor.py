"""`errorsink doctor`: why does nothing arrive? Looks at the settings, and sends one test error through every sink."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import entry_points
from typing import Iterator, Mapping

import errorsink
from errorsink import _gates
from errorsink._settings import TABLE, Settings, environment, seconds
from errorsink.cli._command import Subparsers
from errorsink.cli._terminal import Colour, Palette, escape
from errorsink.cli.settings import strangers
from errorsink.sinks import ENTRY_POINT_GROUP

_DESCRIPTION = """\
Looks at the gates and the settings of this shell, and sends one test error through every sink that is on, as a program
started here would. Exit status: 0 all sinks delivered it, 1 something is wrong, 2 nothing is sent from here."""
_parse_timeout, _TIMEOUT = seconds(0, 3600)
_SIGNAL_PATHS = {"/v1/logs": "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "/v1/traces": "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("doctor", help="why does nothing arrive?", description=_DESCRIPTION)
    parser.add_argument(
        "--timeout",
        type=_timeout,
        default=10.0,
        metavar="SECONDS",
        help="how long to wait for the sinks (default: %(default)g)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints one line for each finding."""
    env = environment()
    settings, problems = Settings.load(env, {})
    say = _Say()
    for problem in problems:
        say("setting", problem, good=False)
    for doubt in (*strangers(env), *_doubts(settings)):
        say("setting", doubt, good=None)
    gate = _gates.closed()
    if gate is not None:
        say("gate", f"closed ({gate}): nothing is kept or sent", good=False)
        return 2
    say("gate", "open", good=True)
    delivered = _try_sinks(env, settings, args.timeout, say)
    if delivered is None:
        return 2
    return 0 if delivered and not problems else 1


class _Say:
    """Prints findings in two columns."""

    def __init__(self) -> None:
        self._paint = Palette.of(sys.stdout)

    def __call__(self, what: str, text: str, *, good: bool | None) -> None:
        colour: Colour = "dim" if good is None else "green" if good else "red"
        print(f"{what:<12} {self._paint(escape(text), colour)}", flush=True)


def _doubts(settings: Settings) -> Iterator[str]:
    """Settings that can be used, and are probably not meant so."""
    name = "OTEL_EXPORTER_OTLP_ENDPOINT"
    endpoint: str = settings.values[name.lower()] or ""
    for path, variable in _SIGNAL_PATHS.items():
        if endpoint.rstrip("/").endswith(path):
            yield f"{name} ends in {path} and gets it appended once more; give the base, or {variable}"
    protocol = settings.values["otel_exporter_otlp_protocol"] or "http/protobuf"
    port = endpoint.rstrip("/").rpartition(":")[2]
    if (protocol, port) in (("http/protobuf", "4317"), ("grpc", "4318")):
        yield f"{name} has port {port} and the protocol is {protocol}; usually 4317 is gRPC's, 4318 HTTP's"


def _try_sinks(env: Mapping[str, str], settings: Settings, timeout: float, say: _Say) -> bool | None:
    """Whether every sink that is on has delivered a test error; None where none is on."""
    errorsink.configure(spool_dir="", shutdown_timeout=0)  # the test error shall not be kept, nor the exit wait for it
    errorsink.report_error(errorsink.HarnessError("a test error of `errorsink doctor`", code="DOCTOR"))
    errorsink.flush(timeout)
    accounts = errorsink.stats().sinks
    for name, account in accounts.items():
        good = account.delivered > 0
        outcome = (
            "delivered a test error" if good else f"delivered nothing: {account.last_error or 'no answer in time'}"
        )
        say(name, outcome, good=good)
    for name in sorted({entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)} - set(accounts)):
        say(name, _why_off(name, env, settings), good=None)
    errorsink.shutdown(0)
    return all(account.delivered > 0 for account in accounts.values()) if accounts else None


def _why_off(name: str, env: Mapping[str, str], settings: Settings) -> str:
    variable = TABLE[name].env if name in TABLE else f"ERRORSINK_{name.upper()}"
    if settings.values.get(name) is False:
        return f"off: {variable} says so"
    if env.get(variable, "").strip():
        return f"off, though {variable} is set: standard error says what it lacks"
    return f"off; {variable}=1 switches it on, and says what it lacks"


def _timeout(text: str) -> float:
    try:
        return _parse_timeout(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {_TIMEOUT}, got {text!r}") from None
