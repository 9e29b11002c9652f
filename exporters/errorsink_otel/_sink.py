"""The one sink of both signals: to the application's provider where there is one, else to the collector itself."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Generic, Protocol, Sequence, TypeVar

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

MAX_RECORDS = 2_048
"""What the official batch processors hold at most."""
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


class Payload(Generic[T]):
    """A T on its way; `handed` once a provider has it, so that it doesn't get it again with the rest of its batch."""

    __slots__ = ("content", "handed")

    def __init__(self, content: T) -> None:
        self.content = content
        self.handed = False


class OtelSink(Generic[T]):
    """A `Sink` for one signal."""

    max_records = MAX_RECORDS
    max_bytes = MAX_BYTES

    def __init__(self, name: str, signal: Signal[T], config: SinkConfig) -> None:
        self.name = name
        self._signal = signal
        self._config = config
        self._version = _version()
        self._pipeline: Pipeline[T] | None = None
        if application_provider(signal.name) is None:
            self._own()

    def skips(self, record: ErrorRecord) -> str | None:
        """Nothing is filtered: sampling is the provider's, or the collector's."""
        return None

    def prepare(self, record: ErrorRecord) -> Item:
        """The record in the API's words, checked for what protobuf can't hold."""
        content, size = self._signal.item(record)
        return Item(Payload(content), size)

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        """Hands the batch to the application's provider, if by now there is one; else posts it to the collector."""
        payloads: list[Payload[T]] = [item.payload for item in items]
        provider = application_provider(self._signal.name)
        if provider is not None:
            return _hand_over(self._signal.hand_over(provider, self._version), payloads, timeout)
        return self._own().send([payload.content for payload in payloads], timeout)

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


def _hand_over(emit: Callable[[T], None], payloads: Sequence[Payload[T]], timeout: float) -> Outcome:
    """Each record to the provider, whose processors may take their time, or raise."""
    ends = time.monotonic() + timeout
    failed: list[Exception] = []
    for payload in payloads:
        if payload.handed:
            continue
        if time.monotonic() >= ends:
            return Outcome.retry("provider-slow", "the application's OpenTelemetry processors take too long", after=0.0)
        payload.handed = True
        try:
            emit(payload.content)
        except Exception as error:  # noqa: BLE001  # a processor of the application's; the next record may pass
            failed.append(error)
    if not failed:
        return Outcome.delivered()
    detail = f"the application's OpenTelemetry provider raised {type(failed[0]).__name__}"
    if len(failed) == len(payloads):
        return Outcome.rejected("provider-error", detail)
    return Outcome.delivered(refused=len(failed), reason="provider-error", detail=detail)
