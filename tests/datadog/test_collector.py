"""The OpenTelemetry Collector's Datadog receiver reads what the sink sends."""

from __future__ import annotations

import pytest
from errorsink_datadog._sink import DatadogSink

from tests.collectors.contract import Collector
from tests.datadog.samples import KEY, NOW_MS, RECORD, config, record


def sink_to(collector: Collector) -> DatadogSink:
    """A sink that sends to the collector's Datadog receiver."""
    if collector.datadog is None:
        pytest.skip("this collector has no Datadog receiver")
    env = {
        "DD_API_KEY": KEY,
        "ERRORSINK_DATADOG_URL": collector.datadog,
        "DD_SERVICE": "shop",
        "DD_HOSTNAME": "web-1",
        "DD_ENV": "prod",
        "DD_TAGS": "team:checkout",
    }
    return DatadogSink(config(env), lambda: NOW_MS / 1000)


def test_the_collector_decodes_the_batch(otelcol: Collector) -> None:
    """Message, status, service, host, source, tags and time arrive as they were, for each log of a batch."""
    sink = sink_to(otelcol)
    records = [record(message="card declined"), record(message="ünïcode \U0001f600\n", level="warning")]

    outcome = sink.send([sink.prepare(each) for each in records], 20.0)
    sink.close()

    assert outcome.status == "delivered"
    first, second = sorted(otelcol.datadog_logs(2), key=lambda log: str(log.body))
    assert (first.body, second.body) == ("card declined", "ünïcode \U0001f600\n")
    assert (first.severity_text, second.severity_text) == ("error", "warn")
    assert first.time_unix_nano == NOW_MS * 1_000_000
    assert first.resource == {"service.name": "shop", "host.name": "web-1", "deployment.environment.name": "prod"}
    assert (first.attributes["datadog.ddsource"], first.attributes["team"]) == ("python", "checkout")


def test_the_collector_decodes_the_attributes(otelcol: Collector) -> None:
    """The error, the user's own attributes and the trace arrive too, each where it belongs."""
    sink = sink_to(otelcol)

    sink.send([sink.prepare(RECORD)], 20.0)
    sink.close()

    (log,) = otelcol.datadog_logs(1)
    error = log.attributes["error"]
    assert isinstance(error, dict)
    assert {name: error[name] for name in ("kind", "message", "stack", "fingerprint", "handling", "code")} == {
        "kind": RECORD.type,
        "message": RECORD.message,
        "stack": RECORD.stack,
        "fingerprint": RECORD.fingerprint,
        "handling": "handled",
        "code": "ECONNRESET",
    }
    assert log.attributes["ctx"] == {**RECORD.attributes, "items": ["a", "b"]}
    assert log.trace_id[-16:] == str(RECORD.trace_id)[-16:]
    assert log.span_id == RECORD.span_id
