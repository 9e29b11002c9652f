"""A sink that does what a script says, and records to feed it."""

from __future__ import annotations

from collections import deque
from typing import Callable, Sequence, Union

from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome

Answer = Union[Outcome, Exception, Callable[[Sequence[Item], float], Outcome]]


def record(number: int = 0, *, fingerprint: str | None = None, message: str = "boom") -> ErrorRecord:
    return ErrorRecord(
        id=f"id-{number}",
        time_ns=number,
        type="ValueError",
        message=message,
        stack="ValueError: boom",
        fingerprint=fingerprint or f"print-{number}",
    )


class ScriptedSink:
    """Answers with the script, one answer a batch, and with `delivered` once it is used up."""

    name = "scripted"

    def __init__(self, *script: Answer, max_records: int = 100, max_bytes: int = 10_000, size: int = 1) -> None:
        self.script = deque(script)
        self.max_records = max_records
        self.max_bytes = max_bytes
        self.size = size
        self.sent: list[list[ErrorRecord]] = []
        self.arrived: list[str] = []
        self.closed = False
        self.filters: dict[str, str] = {}
        self.unencodable: set[str] = set()
        self.timeouts: list[float] = []

    def skips(self, record: ErrorRecord) -> str | None:
        return self.filters.get(record.message)

    def prepare(self, record: ErrorRecord) -> Item:
        if record.id in self.unencodable:
            raise ValueError("no wire form")
        return Item(record, self.size)

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        self.sent.append([item.payload for item in items])
        self.timeouts.append(timeout)
        answer = self.script.popleft() if self.script else Outcome.delivered()
        if isinstance(answer, Exception):
            raise answer
        outcome = answer(items, timeout) if callable(answer) else answer
        if outcome.status == "delivered":
            self.arrived += [item.payload.id for item in items]
        return outcome

    def close(self) -> None:
        self.closed = True
