"""What only the OpenTelemetry Collector has: its Datadog intake, and endpoints that refuse."""

from __future__ import annotations

import gzip
import json
import time

import httpx
import pytest
from opentelemetry.sdk._logs.export import LogRecordExportResult

from tests.collectors.contract import Collector
from tests.collectors.official import Protocol, Sender, one_log
from tests.collectors.otelcol import OtelcolServer
from tests.collectors.received import ReceivedLog, Scope

NOW_MS = 1_700_000_000_123


def post(url: str, items: list[dict[str, object]]) -> httpx.Response:
    """Sends logs as Datadog's documentation of its intake says."""
    return httpx.post(
        url,
        content=gzip.compress(json.dumps(items).encode()),
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip", "DD-API-KEY": "0" * 32},
        trust_env=False,
    )


def test_its_datadog_intake_decodes_a_log(otelcol: Collector) -> None:
    """The reserved attributes go to their places, tags become attributes, and all else stays an attribute."""
    before = time.time_ns()
    answer = post(
        f"{otelcol.datadog}/api/v2/logs",
        [
            {
                "message": "it broke",
                "status": "critical",
                "service": "shop",
                "hostname": "web-1",
                "ddsource": "python",
                "ddtags": "env:prod,version:1.2.3,team:pay",
                "timestamp": NOW_MS,
                "dd": {"trace_id": "1"},
                "dd.trace_id": "42",
                "dd.span_id": "43",
                "error": {"kind": "ValueError", "causes": [{"message": "why"}]},
                "ctx": {"order": 7, "paid": False, "rate": 0.5, "none": None},
            }
        ],
    )
    assert answer.status_code == 202
    (log,) = otelcol.datadog_logs(1)
    assert before <= log.observed_time_unix_nano <= time.time_ns()
    assert log == ReceivedLog(
        time_unix_nano=NOW_MS * 1_000_000,
        observed_time_unix_nano=log.observed_time_unix_nano,
        severity_number=18,
        severity_text="critical",
        event_name="",
        body="it broke",
        attributes={
            "datadog.ddsource": "python",
            "team": "pay",
            "dd": {"trace_id": "1"},
            # A list of objects is beyond its decoder: each object becomes nothing.
            "error": {"kind": "ValueError", "causes": [None]},
            "ctx": {"order": 7, "paid": False, "rate": 0.5, "none": None},
        },
        trace_id=f"{42:032x}",
        span_id=f"{43:016x}",
        flags=0,
        resource={
            "host.name": "web-1",
            "service.name": "shop",
            "deployment.environment.name": "prod",
            "service.version": "1.2.3",
        },
        scope=Scope("", "", {}),
    )


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_its_guarded_endpoints_take_the_token(
    otelcol: Collector, otelcol_server: OtelcolServer, protocol: Protocol
) -> None:
    """With the bearer token a log passes the guard."""
    headers = {"Authorization": f"Bearer {otelcol_server.token}"}
    Sender(otelcol_server.guarded, protocol, headers=headers).log()
    assert [log.body for log in otelcol.logs(1)] == ["it broke"]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_its_guarded_endpoints_refuse_without_the_token(otelcol_server: OtelcolServer, protocol: Protocol) -> None:
    """Without the token the export fails."""
    exporter = Sender(otelcol_server.guarded, protocol).log_exporter()
    assert exporter.export([one_log()]) is LogRecordExportResult.FAILURE
    exporter.shutdown()


def test_its_refusing_endpoint_answers_as_under_pressure(otelcol_server: OtelcolServer) -> None:
    """The memory limiter's refusal is one that OTLP has clients repeat."""
    answer = httpx.post(
        f"{otelcol_server.refusing.http}/v1/logs",
        json={"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]},
        trust_env=False,
    )
    assert answer.status_code == 503
