"""errorsink on the wire of Datadog Error Tracking."""

from __future__ import annotations

from errorsink.errors import SinkUnavailable
from errorsink.sinks import Sink, SinkConfig

__all__ = ["datadog_sink"]

_EXTRA = frozenset({"httpx", "httpcore", "h11", "certifi", "idna", "anyio"})


def datadog_sink(config: SinkConfig) -> Sink | None:
    """The sink that sends to Datadog; None where neither `ERRORSINK_DATADOG` nor `DD_API_KEY` asks for it.

    httpx is imported only once the sink is wanted.

    Raises:
        SinkUnavailable: the sink is wanted, and the key, the extra or another setting isn't usable.
    """
    if not config.settings["dd_api_key"]:
        if not config.switch:
            return None
        raise SinkUnavailable(
            "ERRORSINK_DATADOG is on without a usable DD_API_KEY: set it to an API key of your organization,"
            " or ERRORSINK_DATADOG to 0; the Datadog sink is off"
        )
    try:
        from errorsink_datadog._sink import DatadogSink
    except ImportError as error:
        if error.name not in _EXTRA:
            raise
        raise SinkUnavailable(
            f"the package {error.name} isn't installed: run `pip install 'errorsink[datadog]'`,"
            " or set ERRORSINK_DATADOG to 0; the Datadog sink is off"
        ) from None
    return DatadogSink(config)
