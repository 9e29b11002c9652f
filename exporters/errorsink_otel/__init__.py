"""errorsink on the wire of OpenTelemetry: logs and spans.

The factories are cheap until a sink is wanted: OpenTelemetry is imported for a sink that is switched on, that has an
endpoint, or whose application has set a provider, and for no other.
"""

from __future__ import annotations

from errorsink.errors import SinkUnavailable
from errorsink.sinks import Sink, SinkConfig
from errorsink_otel._config import SignalName, variable
from errorsink_otel._provider import application_provider

__all__ = ["logs_sink", "spans_sink"]


def logs_sink(config: SinkConfig) -> Sink | None:
    """The sink `otel_logs`: a log record for each error. None: auto, and there is nowhere to send to.

    Raises:
        SinkUnavailable: it is wanted, and the extra isn't installed or a setting can't be used.
    """
    if not _wanted(config, "logs"):
        return None
    try:
        from errorsink_otel._logs import Logs
        from errorsink_otel._sink import OtelSink

        return OtelSink("otel_logs", Logs(), config)
    except ImportError as error:
        raise _not_installed(config, "logs", "ERRORSINK_OTEL_LOGS", error) from error


def spans_sink(config: SinkConfig) -> Sink | None:
    """The sink `otel_spans`: a span for each error, a child of the caller's. None and errors as for `logs_sink`."""
    if not _wanted(config, "traces"):
        return None
    with_event = str(config.settings.get("otel_semconv_exception_signal_opt_in") or "").strip().lower() != "logs"
    try:
        from errorsink_otel._sink import OtelSink
        from errorsink_otel._spans import Spans

        return OtelSink("otel_spans", Spans(with_event=with_event), config)
    except ImportError as error:
        raise _not_installed(config, "traces", "ERRORSINK_OTEL_SPANS", error) from error


def _wanted(config: SinkConfig, signal: SignalName) -> bool:
    """Whether the sink is on: switched on, or by itself where OpenTelemetry is set up for the signal."""
    if config.switch is not None:
        return config.switch
    settings = config.settings
    if settings.get("otel_sdk_disabled") or str(settings.get(f"otel_{signal}_exporter") or "").lower() == "none":
        return False
    return variable(settings, signal, "endpoint") is not None or application_provider(signal) is not None


def _not_installed(config: SinkConfig, signal: SignalName, switch: str, error: ImportError) -> SinkUnavailable:
    endpoint = variable(config.settings, signal, "endpoint")
    cause = f"{switch} is on" if config.switch else f"{endpoint or 'an OpenTelemetry provider'} is set"
    return SinkUnavailable(
        f"{cause}, but {error.name or 'OpenTelemetry'} can't be imported: install it with pip install 'errorsink[otel]'"
    )
