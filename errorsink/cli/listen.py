"""`errorsink listen`: a local OTLP collector that prints each error as it arrives."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Sequence

from errorsink.cli._command import Subparsers
from errorsink.cli._show import Display
from errorsink.cli._terminal import Palette, counted
from errorsink.cli.receiver import CannotListen, Received, ReceivedLog, Receiver, error_id, is_error, json_line

_DESCRIPTION = """\
Listens for OpenTelemetry logs and spans (OTLP over gRPC and HTTP) and prints those that tell of an error. Point a
program at it with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318. Ctrl-C or SIGTERM ends it."""


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("listen", help="print errors as they arrive over OTLP", description=_DESCRIPTION)
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="the address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--grpc-port", type=_port, metavar="PORT", default=4317, help="0: any free one (default: %(default)s)"
    )
    parser.add_argument(
        "--http-port", type=_port, metavar="PORT", default=4318, help="0: any free one (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, errors and all else")
    parser.add_argument("--all", action="store_true", help="print what tells of no error too (--json always does)")
    parser.add_argument("--count", type=_positive, metavar="N", help="end after N errors")
    parser.add_argument("--for", type=_seconds, dest="seconds", metavar="SECONDS", help="end after this time")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Listens until Ctrl-C, SIGTERM, `--count` or `--for` ends it."""
    # A SimpleQueue may be fed from a signal handler at any moment; an Event could deadlock there.
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    output = _Output(args, ended)
    _end_on_signals(ended)
    try:
        receiver = Receiver(output, host=args.host, grpc_port=args.grpc_port, http_port=args.http_port)
        with receiver:
            _say_hello(receiver)
            failure = _wait(ended, args.seconds)
    except CannotListen as error:
        print(f"errorsink listen: {error}", file=sys.stderr)
        return 1
    if isinstance(failure, BrokenPipeError):
        raise failure
    if failure is not None:
        print(f"errorsink listen: can't write: {failure}", file=sys.stderr)
        return 1
    print(output.summary(), file=sys.stderr)
    return 0


class _Output:
    """What a Receiver calls: prints, counts, and says when it is enough."""

    def __init__(self, args: argparse.Namespace, ended: SimpleQueue[BaseException | None]) -> None:
        self._json: bool = args.json
        self._all: bool = args.all
        self._limit: int | None = args.count
        self._ended = ended
        self._display = Display(Palette.of(sys.stdout))
        self._ids: set[str] = set()
        self._without_id = 0
        self._logs = self._spans = self._others = 0

    def __call__(self, records: Sequence[Received]) -> None:
        """Prints the records of one request."""
        try:
            for record in records:
                self._take(record)
            sys.stdout.flush()
        except OSError as error:  # the reader is gone, or the disk is full
            self._ended.put(error)
            raise
        if self._limit is not None and self._errors >= self._limit:
            self._ended.put(None)

    @property
    def _errors(self) -> int:
        """An error's log and its span count once."""
        return len(self._ids) + self._without_id

    def summary(self) -> str:
        """How much arrived, in one sentence."""
        errors, logs, spans = counted(self._errors, "error"), counted(self._logs, "log"), counted(self._spans, "span")
        text = f"{errors} arrived ({logs}, {spans})"
        if self._others and not (self._all or self._json):
            text += f"; {counted(self._others, 'other record')} not shown (--all shows them)"
        return text

    def _take(self, record: Received) -> None:
        if is_error(record):
            self._count(record)
        else:
            self._others += 1
            if not (self._all or self._json):
                return
        if self._json:
            print(json_line(record))
        else:
            print("\n".join(self._display.lines(record)))

    def _count(self, record: Received) -> None:
        self._logs += isinstance(record, ReceivedLog)
        self._spans += not isinstance(record, ReceivedLog)
        identifier = error_id(record)
        if identifier:
            self._ids.add(identifier)
        else:
            self._without_id += 1


def _say_hello(receiver: Receiver) -> None:
    """On standard error, so that standard output has the errors alone. The last line means: ready."""
    if not receiver.loopback:
        print(
            f"warning: {receiver.host} can be reached from other machines: anyone there can send, without a password",
            file=sys.stderr,
        )
    print(
        f"listening: OTLP/gRPC {receiver.grpc_endpoint}  OTLP/HTTP {receiver.http_endpoint}",
        file=sys.stderr,
        flush=True,
    )


def _end_on_signals(ended: SimpleQueue[BaseException | None]) -> None:
    def end(number: int, frame: FrameType | None) -> None:
        ended.put(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def _wait(ended: SimpleQueue[BaseException | None], seconds: float | None) -> BaseException | None:
    """In slices: on Windows no signal is handled while a thread waits for a lock."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        left = 0.5 if deadline is None else min(0.5, deadline - time.monotonic())
        if left <= 0:
            return None
        try:
            return ended.get(timeout=left)
        except Empty:
            continue


# ---------------------------------------------------------------------------------------------------------- arguments


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) <= 65_535):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 999,999,999, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    digits = text.strip()
    if not (digits.isascii() and digits.replace(".", "", 1).isdigit() and len(digits) < 10):
        raise argparse.ArgumentTypeError(f"expected seconds such as 5 or 0.5, got {text!r}")
    return float(digits)
