"""What real collectors make of our records, field by field."""

from __future__ import annotations

import pytest

from errorsink.sinks import Outcome
from tests.collectors.contract import Collector
from tests.otel.conftest import MakeSink
from tests.otel.samples import EXCEPTION_ATTRIBUTES, NOW_NS, OWN_ATTRIBUTES, RECORD

EVERY_WAY = [
    pytest.param(protocol, compression, id=f"{protocol}-{compression}")
    for protocol in ("http/protobuf", "grpc")
    for compression in ("none", "gzip")
]


def environment(collector: Collector, protocol: str, compression: str) -> dict[str, str]:
    """What a user would set."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoints.grpc if protocol == "grpc" else collector.endpoints.http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_COMPRESSION": compression,
        "OTEL_SERVICE_NAME": "shop",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
    }


@pytest.mark.parametrize(("protocol", "compression"), EVERY_WAY)
def test_log(collector: Collector, protocol: str, compression: str, make_sink: MakeSink) -> None:
    """A log arrives as it was meant."""
    sink = make_sink("logs", environment(collector, protocol, compression))
    assert sink.send([sink.prepare(RECORD)], 10.0) == Outcome.delivered()
    (log,) = collector.logs(1)
    assert (log.time_unix_nano, log.observed_time_unix_nano) == (NOW_NS, NOW_NS)
    assert (log.severity_number, log.severity_text, log.event_name) == (17, "ERROR", "exception")
    assert log.body == RECORD.message
    assert log.attributes == {**OWN_ATTRIBUTES, **EXCEPTION_ATTRIBUTES, **RECORD.attributes}
    assert (log.trace_id, log.span_id, log.flags) == (RECORD.trace_id, RECORD.span_id, RECORD.trace_flags)
    assert log.resource["service.name"] == "shop"
    assert log.resource["deployment.environment.name"] == "test"
    assert log.scope.name == "errorsink"


@pytest.mark.parametrize(("protocol", "compression"), EVERY_WAY)
def test_span(collector: Collector, protocol: str, compression: str, make_sink: MakeSink) -> None:
    """A span arrives as it was meant."""
    sink = make_sink("traces", environment(collector, protocol, compression))
    assert sink.send([sink.prepare(RECORD)], 10.0) == Outcome.delivered()
    (span,) = collector.spans(1)
    assert (span.name, span.kind) == ("report_error", 1)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (NOW_NS, NOW_NS)
    assert (span.status_code, span.status_message) == (2, RECORD.message)
    assert (span.trace_id, span.parent_span_id) == (RECORD.trace_id, RECORD.span_id)
    assert span.attributes == {**OWN_ATTRIBUTES, **RECORD.attributes}
    (event,) = span.events
    assert (event.name, event.time_unix_nano, event.attributes) == ("exception", NOW_NS, EXCEPTION_ATTRIBUTES)
    assert span.resource["service.name"] == "shop"
    assert span.scope.name == "errorsink"


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_collector_goes_and_comes(collector: Collector, protocol: str, signal: str, make_sink: MakeSink) -> None:
    """While it is down a batch is to be tried again; the first try after it is back succeeds, once."""
    sink = make_sink(signal, environment(collector, protocol, "none"))
    batch = [sink.prepare(RECORD)]
    sink.send(batch, 10.0)
    collector.stop()
    assert sink.send(batch, 10.0).status == "retry"
    collector.start()
    assert sink.send(batch, 10.0) == Outcome.delivered()
    assert len(collector.logs(2) if signal == "logs" else collector.spans(2)) == 2
