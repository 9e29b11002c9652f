"""The application's own global providers, found without importing OpenTelemetry."""

from __future__ import annotations

import sys
from typing import Any

from errorsink_otel._config import SignalName

__all__ = ["application_provider"]

_GETTERS = {
    "logs": ("opentelemetry._logs", "get_logger_provider"),
    "traces": ("opentelemetry.trace", "get_tracer_provider"),
}
_API_PACKAGES = ("opentelemetry._logs", "opentelemetry.trace")
"""The API package defines only proxies and providers that do nothing; whatever is real comes from elsewhere."""


def application_provider(signal: SignalName) -> Any | None:
    """The real provider that the application has set for this signal, or None. Takes a microsecond."""
    module, getter = _GETTERS[signal]
    get = getattr(sys.modules.get(module), getter, None)  # None also while another thread is still importing it
    if get is None:
        return None
    try:
        provider = get()
    except Exception:  # noqa: BLE001  # OTEL_PYTHON_*_PROVIDER names one that can't be loaded: the application's affair
        return None
    return None if type(provider).__module__.startswith(_API_PACKAGES) else provider
