"""report_error() in a catch block: redacted, complete, counted, and at a cost that the caller doesn't notice."""

from errorsink._api import configure, flush, recent_errors, report_error, shutdown, stats
from errorsink._context import context
from errorsink._receipt import Receipt
from errorsink._typing import TYPE_CHECKING
from errorsink.errors import ConfigurationError, HarnessError, SinkUnavailable
from errorsink.hooks import install_hooks

if TYPE_CHECKING:
    from errorsink._ledger import Account, Stats
    from errorsink.model import Cause, ErrorRecord, Frame
    from errorsink.sinks import Item, Outcome, Sink, SinkConfig

__version__ = "0.1.0"
__all__ = [
    "Account",
    "Cause",
    "ConfigurationError",
    "ErrorRecord",
    "Frame",
    "HarnessError",
    "Item",
    "Outcome",
    "Receipt",
    "Sink",
    "SinkConfig",
    "SinkUnavailable",
    "Stats",
    "configure",
    "context",
    "flush",
    "install_hooks",
    "recent_errors",
    "report_error",
    "shutdown",
    "stats",
]

_ELSEWHERE = {
    "_ledger": ("Account", "Stats"),
    "model": ("Cause", "ErrorRecord", "Frame"),
    "sinks": ("Item", "Outcome", "Sink", "SinkConfig"),
}
"""Public modules and names that no report needs: they are imported when somebody asks for one."""


if not TYPE_CHECKING:  # type checkers shall go on telling of names that don't exist

    def __getattr__(name: str) -> object:
        for module, names in _ELSEWHERE.items():
            if name == module or name in names:
                from importlib import import_module  # lazy: for these names alone

                found = import_module(f"{__name__}.{module}")
                return found if name == module else getattr(found, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
