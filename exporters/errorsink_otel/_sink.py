"""The one sink of both signals: to the application's provider where there is one, else to the collector itself."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Generic, NamedTuple, Protocol, Sequence, TypeVar

from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, SinkConfig
from errorsink_otel._config import SignalName
from errorsink_otel._provider import application_provider
from errorsink_otel._quiet import building
from errorsink_otel._threadless import build

if TYPE_CHECKING:
    from errorsink_otel._own import Pipeline, Wire

__all__ = ["OtelSink", "Payload", "Signal"]

T = TypeVar("T")

MAX_RECORDS = 512
"""What the official batch processors send at once. Their encoder, at some 100 µs a record, heeds no deadline."""
MAX_BYTES = 3_500_000
"""A gRPC server takes 4 MiB of a message by default, and an item's size is an estimate."""


class Signal(Protocol[T]):
    """What differs between logs and spans. A T is a record in the API's words, before anybody's resource."""

    name: SignalName

    def item(self, record: ErrorRecord) -> tuple[T, int]:
        """The record as a T, and its bytes on the wire, about."""
        ...

    def hand_over(self, provider: Any, version: str) -> Callable[[T], None]:
        """How the application's provider is given a T."""
        ...

    def wire(self) -> Wire[T]:
        """How a T is written by OTLP's official exporters. Imports them."""
        ...


class Payload(NamedTuple):
    """A T on its way, and the id of its record."""

    id: str
    content: Any


class OtelSink(Generic[T]):
    """A `Sink` for one signal."""

    max_records = MAX_RECORDS
    max_bytes = MAX_BYTES

    def __init__(self, name: str, signal: Signal[T], config: SinkConfig) -> None:
        self.name = name
        self._signal = signal
        self._config = config
        self._version = _version()
        self._handed: dict[str, str | None] = {}
        """By id: the records of a batch that a provider has while the rest waits, and the type of what it raised."""
        self._pipeline: Pipeline[T] | None = None
        if application_provider(signal.name) is None:
            self._own()

    def skips(self, record: ErrorRecord) -> str | None:
        """Nothing is filtered: sampling is the provider's, or the collector's."""
        return None

    def prepare(self, record: ErrorRecord) -> Item:
        """The record in the API's words, checked for what protobuf can't hold."""
        content, size = self._signal.item(record)
        return Item(Payload(record.id, content), size)

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        """Hands the batch to the application's provider, if by now there is one; else posts it to the collector.

        A single record's way through the provider's processors can't be cut short, nor can the encoding of the batch.
        """
        payloads: list[Payload] = [item.payload for item in items]
        provider = application_provider(self._signal.name)
        if provider is not None:
            return self._hand_over(provider, payloads, time.monotonic() + timeout)
        return self._own().send([payload.content for payload in payloads], timeout)

    def _hand_over(self, provider: Any, payloads: Sequence[Payload], ends: float) -> Outcome:
        """Each record to the provider, whose processors may take their time, or raise.

        What there was no time for is tried again, with its batch or in another one: what the provider has by then is
        known by the records' ids, and isn't handed to it twice.
        """
        emit = self._signal.hand_over(provider, self._version)
        for identity, content in payloads:
            if identity in self._handed:
                continue
            if time.monotonic() >= ends:
                while len(self._handed) > MAX_RECORDS:  # of batches that were given up meanwhile
                    del self._handed[next(iter(self._handed))]
                return Outcome.retry("provider-slow", "the application's OpenTelemetry processors take too long")
            self._handed[identity] = None
            try:
                emit(content)
            except Exception as error:  # noqa: BLE001  # a processor of the application's; the next record may pass
                self._handed[identity] = type(error).__name__
        failed = [raised for payload in payloads if (raised := self._handed.pop(payload.id)) is not None]
        if not failed:
            return Outcome.delivered()
        detail = f"the application's OpenTelemetry provider raised {failed[0]}"
        if len(failed) == len(payloads):
            return Outcome.rejected("provider-error", detail)
        return Outcome.delivered(refused=len(failed), reason="provider-error", detail=detail)

    def close(self) -> None:
        """Closes the connection to the collector; a provider is the application's."""
        if self._pipeline is not None:
            self._pipeline.close()

    def _own(self) -> Pipeline[T]:
        if self._pipeline is None:
            with building():
                self._pipeline = build(self._new_pipeline)
        return self._pipeline

    def _new_pipeline(self) -> Pipeline[T]:
        from errorsink_otel._own import Pipeline  # the SDK and an exporter, which a provider makes needless

        return Pipeline(self._signal.name, self._signal.wire(), self._config, self._version)


def _version() -> str:
    """errorsink's version. It is loaded, or nobody would call us; to read its metadata costs 30 ms at exit."""
    return str(getattr(sys.modules.get("errorsink"), "__version__", "unknown"))
