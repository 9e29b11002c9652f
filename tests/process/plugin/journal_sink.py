"""Sinks for the tests of processes: each appends what it is sent to a file, which all processes of a test share.

`JOURNAL` names the file, `JOURNAL_PEER` says how the peer behaves: `well`, `down` (every try fails at once), `resting`
(every try is answered with the wish to be left alone for five minutes), `silent` (every try takes all the time it is
given) or `trickling` (the same, a little at a time).
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Sequence

from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, SinkConfig

FIELDS = ("id", "message", "type", "pid", "handling", "previous_id", "repeat_count", "thread_name", "attributes")


class JournalSink:
    """Writes a batch in one write, so that no two processes' lines mix."""

    max_records = 512
    max_bytes = 50_000_000

    def __init__(self, name: str, path: str, peer: str) -> None:
        self.name = name
        self._path = path
        self._peer = peer

    def skips(self, record: ErrorRecord) -> str | None:
        return "unwanted" if record.message == "unwanted" else None

    def prepare(self, record: ErrorRecord) -> Item:
        line = json.dumps({**{field: getattr(record, field) for field in FIELDS}, "sender": os.getpid()}) + "\n"
        return Item(line.encode(), len(line))

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        if self._peer == "down":
            return Outcome.retry("network", "nobody listens")
        if self._peer == "resting":
            return Outcome.retry("http-429", "too many requests", after=300)
        if self._peer == "silent":
            threading.Event().wait(timeout)
            return Outcome.retry("network", "no answer")
        if self._peer == "trickling":
            ends = time.monotonic() + timeout
            while time.monotonic() < ends:
                time.sleep(0.02)
            return Outcome.retry("network", "half an answer")
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, b"".join([item.payload for item in items]))
        finally:
            os.close(file)
        return Outcome.delivered()

    def close(self) -> None:
        pass


def _made(name: str, suffix: str, config: SinkConfig) -> JournalSink | None:
    path = config.env.get("JOURNAL")
    if path is None or (suffix and not config.switch):
        return None
    return JournalSink(name, path + suffix, config.env.get("JOURNAL_PEER", "well"))


def make(config: SinkConfig) -> JournalSink | None:
    """On wherever `JOURNAL` is set."""
    return _made("journal", "", config)


def make_b(config: SinkConfig) -> JournalSink | None:
    """On with `ERRORSINK_JOURNAL_B=1`."""
    return _made("journal_b", ".b", config)


def make_c(config: SinkConfig) -> JournalSink | None:
    """On with `ERRORSINK_JOURNAL_C=1`."""
    return _made("journal_c", ".c", config)
