"""The Datadog sink: the core's contract over the envelope, the noise filters and the intake."""

from __future__ import annotations

import time
from typing import Callable, Sequence

from errorsink.errors import SinkUnavailable
from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, SinkConfig
from errorsink_datadog._envelope import encode
from errorsink_datadog._intake import Intake
from errorsink_datadog._noise import Noise
from errorsink_datadog._resource import resource_of
from errorsink_datadog._target import intake, proxy_for

__all__ = ["DatadogSink"]


class DatadogSink:
    """Sends records to Datadog's logs intake, for Error Tracking."""

    name = "datadog"
    max_records = 1_000
    """Logs that the intake takes in one array."""
    max_bytes = 5_000_000 - max_records - 1
    """Bytes that the intake takes in one array before compression, without the brackets and commas."""

    def __init__(self, config: SinkConfig, clock: Callable[[], float] = time.time) -> None:
        """Reads the settings; nothing is sent yet.

        Raises:
            SinkUnavailable: a setting can't be used; the text says which, and what is allowed.
        """
        settings = config.settings
        key: str = settings["dd_api_key"]
        if not all("!" <= c <= "~" for c in key):
            raise SinkUnavailable("DD_API_KEY: expected printable ASCII without spaces; the Datadog sink is off")
        endpoint = intake(settings["datadog_url"], settings["dd_site"])
        self._clock = clock
        self._resource = resource_of(settings)
        self._intake = Intake(endpoint, key, proxy_for(endpoint, config.env), clock)
        self.skips = Noise(settings["datadog_ignore"], config.diagnose).reason

    def prepare(self, record: ErrorRecord) -> Item:
        """The record's JSON."""
        data = encode(record, self._resource, int(self._clock() * 1000))
        return Item(data, len(data))

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        """Posts the items as one array; see `errorsink.sinks.Sink.send`."""
        return self._intake.post([item.payload for item in items], timeout)

    def close(self) -> None:
        """Closes the connections."""
        self._intake.close()
