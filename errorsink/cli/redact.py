"""`errorsink redact`: try the rules on a text of one's own before trusting them with one's errors."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from errorsink._redact import Redactor, table, without_end

if TYPE_CHECKING:
    from errorsink.cli._command import Subparsers

__all__ = ["add_parser", "run"]

MOST_BYTES = 64 * 1024 * 1024
"""How much is read: the text is redacted as a whole, since a secret may have many lines, and is held in memory."""


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command's parser to those of the command line."""
    parser = subparsers.add_parser(
        "redact",
        help="show what redaction makes of a text",
        description="Reads text on standard input and prints it as errorsink would send it. "
        "Standard error says which kinds of secrets were masked, and how often.",
    )
    parser.add_argument(
        "--disable", metavar="KIND", action="append", default=[], help="a kind that shall not be masked; repeatable"
    )
    parser.add_argument(
        "--enable", metavar="KIND", action="append", default=[], help="a kind that is off by default; repeatable"
    )
    parser.add_argument(
        "--key", metavar="NAME", action="append", default=[], help="one more key whose values are secret; repeatable"
    )
    parser.add_argument("--list", action="store_true", help="print the kinds there are, and read nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Redacts standard input to standard output.

    Returns:
        0; 1 if the input was too long and only its beginning was printed; 2 if an option names no kind or unusable key.
    """
    if args.list:
        _print_table()
        return 0
    try:
        redactor = Redactor(disable=args.disable, enable=args.enable, keys=args.key)
    except ValueError as error:
        print(f"errorsink redact: {error}", file=sys.stderr)
        return 2
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    text = data[:MOST_BYTES].decode("utf-8", "replace")
    redacted = redactor.redact(text)
    too_long = len(data) > MOST_BYTES
    sys.stdout.buffer.write((without_end(redacted) if too_long else redacted).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    _print_counts(redactor.counts())
    if too_long:
        print(f"errorsink redact: only the first {MOST_BYTES:,} bytes were read", file=sys.stderr)
    return int(too_long)


def _print_counts(counts: dict[str, int]) -> None:
    if not counts:
        print("nothing masked", file=sys.stderr)
    for kind, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{number:>7}  {kind}", file=sys.stderr)


def _print_table() -> None:
    rules = table()
    width = max(len(rule.kind) for rule in rules)
    for rule in rules:
        off = "" if rule.default else " (off by default)"
        print(f"{rule.kind:<{width}}  {rule.meaning}{off}")
