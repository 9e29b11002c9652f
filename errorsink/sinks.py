"""The contract of a sink: all that an exporter needs to know of errorsink.

A sink maps records to its wire and says truthfully what happened. Queues, batching, retries, back-off, splitting,
the spool, deadlines and accounting are the core's, and the same for every sink.

A distribution offers sinks as entry points of the group `errorsink.sinks`; the entry point's name is the sink's
name, and `ERRORSINK_<NAME>` is its switch:

    [project.entry-points."errorsink.sinks"]
    stderr = "my_package:make_sink"          # a SinkFactory

`prepare`, `send` and `close` are called by one thread at a time. `skips` is asked by another thread, which may do so
while a batch is being sent; all sinks wait for its answer, so it must be quick. What a sink raises, and what it returns
against this contract, costs the batch a try or the record its delivery, with a diagnostic.

A factory should import its heavy dependencies only once it knows that the sink is wanted.
"""

from __future__ import annotations

from typing import Any, Callable, Literal, Mapping, NamedTuple, Protocol, Sequence

from errorsink.model import ErrorRecord

__all__ = ["Item", "Outcome", "Sink", "SinkConfig", "SinkFactory"]

ENTRY_POINT_GROUP = "errorsink.sinks"


class SinkConfig(NamedTuple):
    """What a factory may know."""

    switch: bool | None
    """True: switched on. None: auto, the factory decides. A sink switched off is never asked."""
    settings: Mapping[str, Any]
    """Every setting of the reference table by its name, parsed; `dd_api_key` for DD_API_KEY, and so on."""
    env: Mapping[str, str]
    """The environment as it was read; for variables that only this sink knows."""
    diagnose: Callable[[str], None]
    """Tells the user something once, on standard error. Never pass a secret."""


class Item(NamedTuple):
    """One record in its wire form."""

    payload: Any
    size: int
    """Bytes before compression; an estimate will do where the wire form isn't known yet."""


class Outcome(NamedTuple):
    """What became of a batch. Use the constructors below."""

    status: Literal["delivered", "retry", "rejected", "too_large", "stopped"]
    reason: str = ""
    """Short and stable, such as `http-503` or `network`: the key under which `stats()` counts."""
    detail: str = ""
    """A sentence for the diagnostic: what was seen, and the remedy. Never a secret."""
    retry_after: float | None = None
    """Seconds that the peer asked to wait; None: the core's own back-off."""
    refused: int = 0
    """How many records of a delivered batch the peer says it refused (OTLP partial success)."""

    @classmethod
    def delivered(cls, *, refused: int = 0, reason: str = "", detail: str = "") -> Outcome:
        """The peer has taken the batch, all but `refused` of its records."""
        return cls("delivered", reason, detail, None, refused)

    @classmethod
    def retry(cls, reason: str, detail: str = "", *, after: float | None = None) -> Outcome:
        """The same batch may pass later."""
        return cls("retry", reason, detail, after)

    @classmethod
    def rejected(cls, reason: str, detail: str = "") -> Outcome:
        """The same batch will never pass; the next one may."""
        return cls("rejected", reason, detail)

    @classmethod
    def too_large(cls, reason: str = "too-large", detail: str = "") -> Outcome:
        """The batch may pass in halves; one record that is too large alone is rejected."""
        return cls("too_large", reason, detail)

    @classmethod
    def stopped(cls, reason: str, detail: str = "") -> Outcome:
        """Nothing will ever pass (the key is refused): the sink is closed, and what it holds is rejected."""
        return cls("stopped", reason, detail)


class Sink(Protocol):
    """Maps records to one wire."""

    name: str
    max_records: int
    """Records that one `send` may carry."""
    max_bytes: int
    """Bytes that the items of one `send` may have together."""

    def skips(self, record: ErrorRecord) -> str | None:
        """The reason why this sink doesn't want the record (counted as filtered), or None."""

    def prepare(self, record: ErrorRecord) -> Item:
        """The record's wire form. Pure. What it raises rejects this one record, and no other."""
        ...

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        """Hands a batch to the peer within `timeout` seconds, whatever the peer does.

        It makes one attempt: no retries, no sleeping. What it raises counts as `retry`, with a diagnostic.
        """
        ...

    def close(self) -> None:
        """Frees connections. Called at most once, by `shutdown` or `configure`; a process that just ends doesn't."""


SinkFactory = Callable[[SinkConfig], "Sink | None"]
"""Builds the sink; None: not wanted here (auto, and nothing to send to; asked again later).
Raises `SinkUnavailable` when it is wanted and can't work: the text is shown once."""
