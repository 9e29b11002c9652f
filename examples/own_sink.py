"""A sink of your own: errors as lines in a file.

Offer it to errorsink in your distribution's `pyproject.toml`, and switch it on with `ERRORSINK_FILE=1`:

    [project.entry-points."errorsink.sinks"]
    file = "own_sink:make_sink"
"""

from __future__ import annotations

from typing import Sequence

from errorsink.errors import SinkUnavailable
from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, Sink, SinkConfig


class FileSink:
    """Appends one line an error to a file."""

    name = "file"
    max_records = 1_000
    max_bytes = 1_000_000

    def __init__(self, path: str) -> None:
        self._path = path

    def skips(self, record: ErrorRecord) -> str | None:
        """Control flow (Ctrl-C, cancellations) is no error to write down."""
        return "control-flow" if record.control_flow else None

    def prepare(self, record: ErrorRecord) -> Item:
        line = f"{record.id} {record.type}: {record.message!r}\n".encode()
        return Item(line, len(line))

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        try:
            with open(self._path, "ab") as file:
                file.write(b"".join(item.payload for item in items))
        except OSError as error:
            return Outcome.retry("disk", f"can't write {self._path}: {error.strerror}")
        return Outcome.delivered()

    def close(self) -> None:
        """Nothing stays open between batches."""


def make_sink(config: SinkConfig) -> Sink | None:
    """Wanted only when it is switched on; without a path it can't work."""
    if not config.switch:
        return None
    path = config.env.get("ERROR_FILE", "")
    if not path:
        raise SinkUnavailable("ERRORSINK_FILE is set, but ERROR_FILE is not: set it to the file to write to")
    return FileSink(path)
