"""A small OTLP receiver: `errorsink listen`, and a collector for programs and tests that want one inside.

    inbox = Inbox()
    with Receiver(inbox) as receiver:
        ...                                     # something exports to receiver.http_endpoint or .grpc_endpoint
        assert inbox.wait_until(lambda inbox: len(inbox.logs) == 1)

It needs the extra `otel`: grpcio and opentelemetry-proto.
"""

from errorsink.cli.receiver._inbox import Inbox
from errorsink.cli.receiver._receiver import CannotListen, Receiver
from errorsink.cli.receiver._records import (
    ERROR_ID,
    Attributes,
    Received,
    ReceivedLog,
    ReceivedSpan,
    Scope,
    SpanEvent,
    SpanLink,
    Value,
    error_id,
    is_error,
    json_line,
)

__all__ = [
    "ERROR_ID",
    "Attributes",
    "CannotListen",
    "Inbox",
    "Received",
    "ReceivedLog",
    "ReceivedSpan",
    "Receiver",
    "Scope",
    "SpanEvent",
    "SpanLink",
    "Value",
    "error_id",
    "is_error",
    "json_line",
]
