"""A callback for a Receiver that keeps what arrives, and waits for it."""

from __future__ import annotations

import threading
from typing import Callable, Sequence

from errorsink.cli.receiver._records import Received, ReceivedLog, ReceivedSpan


class Inbox:
    """Keeps every record, in the order of arrival. Give it to a Receiver as its callback."""

    def __init__(self) -> None:
        self._records: list[Received] = []
        self._arrived = threading.Condition()

    def __call__(self, records: Sequence[Received]) -> None:
        """Takes the records of one request."""
        with self._arrived:
            self._records.extend(records)
            self._arrived.notify_all()

    @property
    def logs(self) -> list[ReceivedLog]:
        """The logs so far."""
        with self._arrived:
            return [record for record in self._records if isinstance(record, ReceivedLog)]

    @property
    def spans(self) -> list[ReceivedSpan]:
        """The spans so far."""
        with self._arrived:
            return [record for record in self._records if isinstance(record, ReceivedSpan)]

    def wait_until(self, enough: Callable[[Inbox], bool], timeout: float = 10.0) -> bool:
        """Waits until `enough` says so; False when `timeout` seconds pass first."""
        with self._arrived:
            return self._arrived.wait_for(lambda: enough(self), timeout)
