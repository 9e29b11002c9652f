"""What a command's module sees of the command line."""

from __future__ import annotations

import argparse
from typing import Protocol


class Subparsers(Protocol):
    """Where a command adds its parser; argparse's own class for it is private."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser:  # noqa: A002
        """The parser of a new command; `help` is its line in the list of commands."""
        ...
