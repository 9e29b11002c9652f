"""The public API as a user's type checker sees it; mypy and pyright check this file, both strict."""

from __future__ import annotations

from typing import Sequence

import errorsink
from errorsink import ConfigurationError, ErrorRecord, HarnessError, Item, Outcome, Receipt, Sink, SinkConfig


def reports(error: BaseException) -> str:
    receipt: Receipt = errorsink.report_error(error, level="warning", attributes={"order.id": 7, "tags": ["a", "b"]})
    errorsink.report_error()
    errorsink.report_error("text", handling="handled", fingerprint="mine", owner="me", attempt=2, recovered=True)
    if receipt:
        return receipt.id
    reason: str | None = receipt.reason
    return reason or ""


def settles() -> bool:
    flushed: bool = errorsink.flush(timeout=1)
    return flushed and errorsink.shutdown()


def reads() -> dict[str, int]:
    newest: ErrorRecord = errorsink.recent_errors()[-1]
    first: str = newest.frames[0].function
    stats: errorsink.Stats = errorsink.stats()
    return {first: stats.reported, **{name: account.delivered for name, account in stats.sinks.items()}}


def sets() -> None:
    try:
        errorsink.configure(queue_size=10)
    except ConfigurationError as error:
        print(error.code)
    undo = errorsink.install_hooks(threads=False)
    with errorsink.context(job_id=7, retries=[1, 2]):
        undo()


class Refused(HarnessError):
    code = "REFUSED"


class Standard:
    """A sink of the user's own."""

    name = "standard"
    max_records = 10
    max_bytes = 1_000_000

    def skips(self, record: ErrorRecord) -> str | None:
        return "warning" if record.level == "warning" else None

    def prepare(self, record: ErrorRecord) -> Item:
        return Item(record.stack, len(record.stack))

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        return Outcome.delivered() if timeout > 0 else Outcome.retry("late", after=1.0)

    def close(self) -> None:
        return None


def make_standard(config: SinkConfig) -> Sink | None:
    return Standard() if config.switch else None
