"""report_error() in a catch block: redacted, complete, counted, and at a cost that the caller doesn't notice."""

from errorsink._api import Stats, configure, flush, recent_errors, report_error, shutdown, stats
from errorsink._context import context
from errorsink._ledger import Account
from errorsink.errors import ConfigurationError, HarnessError, SinkUnavailable
from errorsink.hooks import install_hooks
from errorsink.model import Cause, ErrorRecord, Frame, Receipt
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
