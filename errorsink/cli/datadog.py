"""`errorsink datadog check`: is the key good, and does an error arrive?"""

from __future__ import annotations

import argparse
import sys

from errorsink import _gates
from errorsink._settings import Settings, environment, seconds
from errorsink.cli._command import Subparsers
from errorsink.cli._terminal import escape
from errorsink.sinks import SinkConfig

_DESCRIPTION = """\
Validates DD_API_KEY, sends one test error the way a program's errors go, and finds it again where DD_APP_KEY is set.
Exit status: 0 all well, 1 refused or no answer, 2 not configured."""

_parse_wait, _WAIT = seconds(0, 3600)


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "datadog", help="check the Datadog key, and that errors arrive", description="Datadog Error Tracking."
    )
    actions = parser.add_subparsers(title="actions", metavar="action", required=True)
    check = actions.add_parser("check", help="check the key, and that an error arrives", description=_DESCRIPTION)
    check.add_argument(
        "--wait",
        type=_wait,
        default=60.0,
        metavar="SECONDS",
        help="how long to search for the test error, with DD_APP_KEY (default: %(default)g)",
    )
    check.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Checks, prints a sentence for each step, and returns the exit status."""
    env = environment()
    settings, problems = Settings.load(env, {})
    for problem in problems:
        _say(f"Warning: {problem}", sys.stderr)
    closed = _gates.closed()
    if closed is not None:
        _say(f"Not configured. Error reporting is closed here ({closed}); nothing is sent.")
        return 2
    if settings.datadog is False:
        _say("Not configured. ERRORSINK_DATADOG switches the Datadog sink off; unset it, or set it to 1.")
        return 2
    try:
        from errorsink_datadog._check import check
    except ModuleNotFoundError as error:
        _say(f"Not configured. The package {error.name} isn't installed: run `pip install 'errorsink[datadog]'`.")
        return 2
    return check(SinkConfig(settings.datadog, settings.values, env, _say), _say, wait=args.wait)


def _say(text: str, stream: object = None) -> None:
    print(escape(text), file=stream or sys.stdout, flush=True)  # type: ignore[arg-type]


def _wait(text: str) -> float:
    try:
        return _parse_wait(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {_WAIT}") from None
