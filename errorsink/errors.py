"""The errors that errorsink itself defines.

HarnessError                 an error with a stable machine code
├── ConfigurationError       a setting that can't be used (also a ValueError)
└── SinkUnavailable          a sink that was switched on without what it needs
"""

from __future__ import annotations

__all__ = ["ConfigurationError", "HarnessError", "SinkUnavailable"]


class HarnessError(Exception):
    """An error with a stable machine code, the base of the taxonomy.

    Applications may raise it, or subclass it with a `code` of their own. Values that are no exception are
    recorded under this type with the code `UNKNOWN`.

    Attributes:
        code: an upper-case word such as `CONFIGURATION`; it never changes once it is published.
    """

    code: str = "UNKNOWN"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class ConfigurationError(HarnessError, ValueError):
    """A setting that can't be used; the message names the setting, the value and what is allowed."""

    code = "CONFIGURATION"


class SinkUnavailable(HarnessError):
    """A sink can't work here; the message says what to set or to install."""

    code = "SINK_UNAVAILABLE"


for _public in (HarnessError, ConfigurationError, SinkUnavailable):
    _public.__module__ = "errorsink"
