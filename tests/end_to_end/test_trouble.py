"""A dead collector, bad settings, missing extras: one clear sentence, nothing lost unaccounted, nothing raised."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.collectors.contract import Collector
from tests.end_to_end.programs import FIVE_LINES, OVERHEAD, run, with_accounts

DEAD = "http://127.0.0.1:9"
REPORTS = """
    import errorsink, atexit
    for number in range(500):
        errorsink.report_error(ValueError(number))
"""


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_dead_collector_costs_no_more_than_the_deadline_and_one_sentence(protocol: str) -> None:
    """The exit takes the shutdown time-out at most; stderr has one diagnostic; every report is accounted for."""
    dead = {"OTEL_EXPORTER_OTLP_ENDPOINT": DEAD, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    code = "import atexit\natexit.register(accounts)\n" + dedent(REPORTS)
    ended = run(with_accounts(code), **dead, ERRORSINK_SHUTDOWN_TIMEOUT="2")
    assert ended.status == 0
    assert ended.seconds < 2 + OVERHEAD
    assert len(ended.diagnostics) == 1, ended.err
    assert "127.0.0.1:9" in ended.diagnostics[0] or "not delivered within 2 s" in ended.diagnostics[0]
    for sink in ended.last["sinks"].values():
        assert sink["balanced"]
        assert (sink["recorded"], sink["queued"], sink["delivered"]) == (500, 500, 0)


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_comes_back_gets_everything_once(otelcol: Collector, protocol: str) -> None:
    """It is down while the reports are made, and up again before the retry window ends."""
    import errorsink

    base = otelcol.endpoints.grpc if protocol == "grpc" else otelcol.endpoints.http
    otelcol.stop()
    errorsink.configure(
        otel_exporter_otlp_endpoint=base,
        otel_exporter_otlp_protocol=protocol,
        retry_max_delay=0.2,
        batch_delay=0.0,
    )
    for number in range(50):
        errorsink.report_error(ValueError(f"number {number}"))
    assert not errorsink.flush(0.5)
    otelcol.start()
    assert errorsink.flush(30)
    logs, spans = otelcol.logs(50), otelcol.spans(50)
    assert sorted(str(log.body) for log in logs) == sorted(f"number {number}" for number in range(50))
    assert (len(logs), len(spans)) == (50, 50)
    assert all(account.balanced for account in errorsink.stats().sinks.values())


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"ERRORSINK_QUEUE_SIZE": "10k"},
            "errorsink: ERRORSINK_QUEUE_SIZE: expected a whole number from 1 to 1,000,000, got '10k'; using 4096",
        ),
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "pigeon"},
            "errorsink: OTEL_EXPORTER_OTLP_PROTOCOL: expected one of grpc, http/protobuf, got 'pigeon'; ignored",
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "host:4318"},
            "errorsink: OTEL_EXPORTER_OTLP_ENDPOINT: expected an http:// or https:// URL, got 'host:4318'; ignored",
        ),
    ],
)
def test_a_bad_setting_is_one_sentence_and_the_program_runs_on(variables: dict[str, str], sentence: str) -> None:
    ended = run(FIVE_LINES + "    print('went on')\n", **variables)
    assert (ended.status, ended.out) == (0, "went on\n")
    assert ended.diagnostics == [sentence]


@pytest.mark.parametrize(
    ("missing", "variables", "names"),
    [
        ("opentelemetry", {"ERRORSINK_OTEL_LOGS": "1", "ERRORSINK_OTEL_SPANS": "0"}, ("otel_logs", "errorsink[otel]")),
        (
            "httpx",
            {"ERRORSINK_DATADOG": "1", "DD_API_KEY": "0" * 32},
            ("datadog", "errorsink[datadog]"),
        ),
        ("nothing", {"ERRORSINK_DATADOG": "1"}, ("datadog", "DD_API_KEY")),
    ],
)
def test_a_sink_without_what_it_needs_is_off_and_says_what_to_do(
    missing: str, variables: dict[str, str], names: tuple[str, ...]
) -> None:
    """The extra isn't installed, or the key isn't set: one diagnostic with the remedy, and no exception."""
    hide = f"import sys\nsys.modules[{missing!r}] = None\n" if missing != "nothing" else ""
    ended = run(hide + dedent(FIVE_LINES) + "errorsink.flush()\nprint('went on')\n", **variables)
    assert (ended.status, ended.out) == (0, "went on\n")
    assert len(ended.diagnostics) == 1, ended.err
    assert all(name in ended.diagnostics[0] for name in names), ended.err


def test_what_ends_with_the_process_is_told() -> None:
    """There was no time to deliver: one sentence says how many reports are lost, and what would keep them."""
    ended = run(
        "import errorsink\nfor number in range(3): errorsink.report_error(ValueError(number))",
        OTEL_EXPORTER_OTLP_ENDPOINT=DEAD,
        ERRORSINK_SHUTDOWN_TIMEOUT="0",
    )
    assert ended.status == 0
    (sentence,) = ended.diagnostics
    assert sentence.startswith("errorsink: the process ends with 3 reports not delivered within 0 s ")
    assert sentence.endswith("with ERRORSINK_SPOOL_DIR a later one would send them")


def test_a_provider_that_was_set_up_later_still_gets_the_last_reports() -> None:
    """Exit callbacks run last first: ours comes before the one that shuts the provider down."""
    code = """
        import errorsink
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
        class Printer(SpanExporter):
            def export(self, spans):
                print(*(span.name for span in spans))
                return SpanExportResult.SUCCESS
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(Printer()))
        trace.set_tracer_provider(provider)
        errorsink.report_error(ValueError("the last"))
    """
    ended = run(code, ERRORSINK_SHUTDOWN_TIMEOUT="20")
    assert (ended.out, ended.err) == ("report_error\n", "")
