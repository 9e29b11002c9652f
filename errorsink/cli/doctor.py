"""`errorsink doctor`: why does nothing arrive? Looks at settings and spool, and tries every sink with a test error."""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from contextlib import redirect_stderr
from importlib.metadata import entry_points
from typing import Iterator, Mapping, Sequence

import errorsink
from errorsink import _gates, _selflog
from errorsink._discovery import switch_of
from errorsink._settings import TABLE, Settings, environment, seconds
from errorsink.cli._command import Subparsers
from errorsink.cli._terminal import Colour, Palette, escape
from errorsink.cli.settings import strangers
from errorsink.sinks import ENTRY_POINT_GROUP

_DESCRIPTION = """\
Looks at the gates, the settings and the spool of this shell, and sends one test error through every sink that is on,
as a program started here would. Exit status: 0 all is well, 1 something is wrong, 2 nothing is sent from here."""
_parse_timeout, _TIMEOUT = seconds(0, 3600)
_EXPORTERS = {"otel_logs": "OTEL_LOGS_EXPORTER", "otel_spans": "OTEL_TRACES_EXPORTER"}
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
    spooling = _try_spool(settings, say)
    delivered = _try_sinks(env, settings, problems, args.timeout, say)
    if delivered is None:
        return 2
    return 0 if delivered and spooling and not problems else 1


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


def _try_spool(settings: Settings, say: _Say) -> bool:
    """Whether the spool can be used, where there is to be one."""
    directory = settings.spool_dir
    if not directory:
        return True
    if not os.path.lexists(directory):  # not made here: it would be the doctor's user's, who may be another one
        parent = _nearest_parent(directory)
        good = os.path.isdir(parent) and os.access(parent, os.W_OK | os.X_OK)
        how = "is made at the first report" if good else f"isn't there and can't be made: {parent} can't be written"
        say("spool", f"{directory} {how}", good=good)
        return good
    try:
        waiting = _waiting(settings, say)
    except Exception as error:  # noqa: BLE001 - whatever it is that a program would stumble over, too
        say("spool", f"off: {error}", good=False)
        return False
    counts = ", ".join(f"{count:,} wait for {sink}" for sink, count in sorted(waiting.items()))
    say("spool", f"{directory} can be used; reports in it: {counts or 'none'}", good=True)
    return True


def _nearest_parent(path: str) -> str:
    """The folder in which the first missing one of a path would be made."""
    parent = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return parent


def _waiting(settings: Settings, say: _Say) -> Mapping[str, int]:
    """Reports that wait in the spool, by sink."""
    from errorsink._spool import Spool  # sqlite3, which not every Python has

    spool = Spool(
        settings.spool_dir,
        max_bytes=settings.spool_size,
        max_age=settings.spool_age,
        diagnose=lambda text: say("spool", text, good=None),
    )
    try:
        return spool.counts()
    finally:
        spool.close()


def _try_sinks(
    env: Mapping[str, str], settings: Settings, problems: Sequence[str], timeout: float, say: _Say
) -> bool | None:
    """Whether every sink that is on has delivered a test error; None where none is on."""
    errorsink.configure(spool_dir="", shutdown_timeout=0)  # the test error shall not be kept, nor the exit wait for it
    with redirect_stderr(io.StringIO()):  # they have been told, and no diagnostic is repeated at once
        for problem in problems:
            _selflog.say(f"setting:{problem}", problem)
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
    switch = switch_of(name, settings, env)
    if switch is False:
        return f"off: {variable} says so"
    if switch:
        return f"off, though {variable} is set: standard error says what it lacks"
    told = (f"unavailable:{name}", f"contained:the entry point of {name}:")
    if any(_selflog.has_said(kind, math.inf) for kind in told):
        return "off: standard error says why"
    cause = _turned_off_by(name, settings)
    if cause is not None:
        return f"off: {cause} says so; {variable}=1 switches it on all the same"
    return f"off; {variable}=1 switches it on, and says what it lacks"


def _turned_off_by(name: str, settings: Settings) -> str | None:
    """The variable of OpenTelemetry's that turns auto off for this sink."""
    if name not in _EXPORTERS:
        return None
    if settings.otel_sdk_disabled:
        return "OTEL_SDK_DISABLED=true"
    exporter = _EXPORTERS[name]
    return f"{exporter}=none" if settings.values[exporter.lower()].lower() == "none" else None


def _timeout(text: str) -> float:
    try:
        return _parse_timeout(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {_TIMEOUT}, got {text!r}") from None
