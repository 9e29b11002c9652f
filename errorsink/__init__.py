"""report_error() in a catch block: redacted, complete, counted, and at a cost that the caller doesn't notice."""

__version__ = "0.1.0"
