"""Every collector hands on what the official exporters send, field by field."""

from __future__ import annotations

import pytest

from tests.collectors.contract import Collector
from tests.collectors.official import (
    ATTRIBUTES,
    END,
    EVENT,
    PARENT,
    RESOURCE,
    SCOPE,
    START,
    Compression,
    Protocol,
    Sender,
)
from tests.collectors.received import ReceivedEvent, ReceivedLink, ReceivedLog, ReceivedSpan, Scope

TRACE_ID, PARENT_ID = f"{PARENT.trace_id:032x}", f"{PARENT.span_id:016x}"

pytestmark = [
    pytest.mark.parametrize("protocol", ["http", "grpc"]),
    pytest.mark.parametrize("compression", ["none", "gzip"]),
]


def test_a_log_arrives_as_it_was_sent(collector: Collector, protocol: Protocol, compression: Compression) -> None:
    """Every field of a log record survives, with both protocols, compressed or not."""
    Sender(collector.endpoints, protocol, compression).log()
    assert collector.logs(1) == [
        ReceivedLog(
            time_unix_nano=START,
            observed_time_unix_nano=END,
            severity_number=17,
            severity_text="ERROR",
            event_name="exception",
            body="it broke",
            attributes=ATTRIBUTES,
            trace_id=TRACE_ID,
            span_id=PARENT_ID,
            flags=1,
            resource={**RESOURCE},
            scope=Scope(*SCOPE, {}),
        )
    ]


def test_a_span_arrives_as_it_was_sent(collector: Collector, protocol: Protocol, compression: Compression) -> None:
    """Every field of a span survives, its event and its link included."""
    context = Sender(collector.endpoints, protocol, compression).span()
    assert collector.spans(1) == [
        ReceivedSpan(
            name="report_error",
            kind=1,
            start_time_unix_nano=START,
            end_time_unix_nano=END,
            status_code=2,
            status_message="it broke",
            trace_id=TRACE_ID,
            span_id=f"{context.span_id:016x}",
            parent_span_id=PARENT_ID,
            # The parent is known to be remote. The Python SDK leaves out the bit that says sampled.
            flags=0x300,
            attributes=ATTRIBUTES,
            events=[ReceivedEvent("exception", EVENT, {"exception.type": "ValueError"})],
            links=[ReceivedLink(TRACE_ID, PARENT_ID, {"why": "test"})],
            resource={**RESOURCE},
            scope=Scope(*SCOPE, {}),
        )
    ]
