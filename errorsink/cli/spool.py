"""`errorsink spool`: what waits on disk, and sending it without waiting for a program to report something."""

from __future__ import annotations

import argparse
import sys
from time import monotonic

from errorsink import _gates
from errorsink._dispatch import Dispatcher
from errorsink._settings import Settings, environment, seconds
from errorsink.cli._command import Subparsers
from errorsink.cli._terminal import counted, escape

_SHOWS = """\
Says how many reports wait in ERRORSINK_SPOOL_DIR for each sink. Exit status: 0 none, 1 some, 2 there is no spool."""
_SENDS = """\
Sends what processes that are gone have left in ERRORSINK_SPOOL_DIR, with the settings of this environment. What a
living process looks after stays its own. Exit status: 0 nothing is left, 1 something is, 2 not configured."""

_parse_timeout, _TIMEOUT = seconds(0.1, 86_400)


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("spool", help="show or send the reports that wait on disk", description="The spool.")
    actions = parser.add_subparsers(title="actions", metavar="action", required=True)
    show = actions.add_parser("show", help="how many reports wait", description=_SHOWS)
    show.set_defaults(run=_show)
    send = actions.add_parser("send", help="send what waits", description=_SENDS)
    send.add_argument(
        "--timeout",
        type=_timeout,
        default=30.0,
        metavar="SECONDS",
        help="how long to try, over all sinks (default: %(default)g)",
    )
    send.set_defaults(run=_send)


def _timeout(text: str) -> float:
    try:
        return _parse_timeout(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {_TIMEOUT}, got {text!r}") from None


def _show(_args: argparse.Namespace) -> int:
    return _run(0.0)


def _send(args: argparse.Namespace) -> int:
    return _run(args.timeout)


def _run(timeout: float) -> int:
    env = environment()
    settings, problems = Settings.load(env, {})
    for problem in problems:
        _say(f"Warning: {problem}", sys.stderr)
    if not settings.spool_dir:
        _say("There is no spool: ERRORSINK_SPOOL_DIR isn't set.")
        return 2
    closed = _gates.closed()
    if timeout and closed is not None:
        _say(f"Error reporting is closed here ({closed}); nothing is sent.")
        return 2
    dispatcher = Dispatcher(settings, env)
    try:
        if timeout:
            dispatcher.deliver_left_behind(monotonic() + timeout)
        waiting = dispatcher.waiting()
        if waiting is None:
            _say(f"The spool in {settings.spool_dir} can't be used.")
            return 2
        sent = {name: account.delivered for name, account in dispatcher.accounts().items()} if timeout else {}
        for name in sorted({*waiting, *sent}):
            done = f"{counted(sent[name], 'report')} sent, " if name in sent else ""
            off = " for a sink that isn't on here" if timeout and name not in sent else ""
            _say(f"{name}: {done}{waiting.get(name, 0):,} waiting{off}")
        if not (waiting or sent):
            _say("Nothing waits.")
        return int(any(waiting.values()))
    finally:
        dispatcher.leave()
        dispatcher.close()


def _say(text: str, stream: object = None) -> None:
    print(escape(text), file=stream or sys.stdout, flush=True)  # type: ignore[arg-type]
