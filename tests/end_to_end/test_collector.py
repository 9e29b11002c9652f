"""From a catch block to a collector: what arrives, over which protocol, and what the switches do."""

from __future__ import annotations

import pytest

from tests.collectors.contract import Collector
from tests.end_to_end.programs import FIVE_LINES, run, with_accounts

PROTOCOLS = ("http/protobuf", "grpc")
COMPRESSIONS = ("none", "gzip")


def endpoint(collector: Collector, protocol: str) -> dict[str, str]:
    base = collector.endpoints.grpc if protocol == "grpc" else collector.endpoints.http
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_five_lines_deliver_one_log_and_one_span(collector: Collector, protocol: str, compression: str) -> None:
    """The program only reports and ends; both signals arrive, field by field."""
    ended = run(FIVE_LINES, **endpoint(collector, protocol), OTEL_EXPORTER_OTLP_COMPRESSION=compression)
    assert (ended.status, ended.err) == (0, "")
    (log,), (span,) = collector.logs(1), collector.spans(1)
    assert (log.event_name, log.severity_number, log.body) == ("exception", 17, "division by zero")
    assert log.time_unix_nano == log.observed_time_unix_nano > 0
    common = {"error.type": "ZeroDivisionError", "order.id": 7, "errorsink.handling": "handled"}
    assert common.items() <= log.attributes.items()
    assert log.attributes["exception.type"] == "ZeroDivisionError"
    assert log.attributes["exception.message"] == "division by zero"
    stack = str(log.attributes["exception.stacktrace"]).splitlines()
    assert (stack[0], stack[-1]) == ("Traceback (most recent call last):", "ZeroDivisionError: division by zero")
    assert log.attributes["code.line.number"] == 4
    assert (span.name, span.status_message, span.attributes["error.type"]) == (
        "report_error",
        "division by zero",
        "ZeroDivisionError",
    )
    assert [event.name for event in span.events] == ["exception"]
    assert span.attributes["errorsink.id"] == log.attributes["errorsink.id"]
    assert log.resource["service.name"] == span.resource["service.name"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_trace_context_of_an_active_span_goes_along(otelcol: Collector, protocol: str) -> None:
    """The log carries the active span's ids, and our span is its child, though that span belongs to nobody's SDK."""
    code = """
        import errorsink
        from opentelemetry import trace
        context = trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1))
        with trace.use_span(trace.NonRecordingSpan(context)):
            errorsink.report_error(ValueError("inside"))
    """
    assert run(code, **endpoint(otelcol, protocol)).status == 0
    (log,), (span,) = otelcol.logs(1), otelcol.spans(1)
    assert (int(log.trace_id, 16), int(log.span_id, 16), log.flags & 1) == (0xABC, 0xDEF, 1)
    assert (int(span.trace_id, 16), int(span.parent_span_id, 16)) == (0xABC, 0xDEF)


@pytest.mark.parametrize(
    ("switches", "logs", "spans"),
    [({"ERRORSINK_OTEL_LOGS": "0"}, 0, 1), ({"ERRORSINK_OTEL_SPANS": "0"}, 1, 0)],
)
def test_each_switch_turns_off_its_own_signal(
    otelcol: Collector, switches: dict[str, str], logs: int, spans: int
) -> None:
    assert run(FIVE_LINES, **endpoint(otelcol, "http/protobuf"), **switches).status == 0
    assert len(otelcol.logs(logs)) == logs
    assert len(otelcol.spans(spans)) == spans


def test_with_both_switches_off_no_connection_is_opened() -> None:
    """Nothing is sent, nothing is said, and no socket is even made."""
    code = f"""
import sys
sockets = []
sys.addaudithook(lambda event, args: sockets.append(event) if event.startswith("socket.") else None)
{FIVE_LINES.replace("    import", "import").replace("    try", "try").replace("    except", "except")}
errorsink.flush()
print(sockets)
"""
    ended = run(
        code.replace("        1 / 0", "    1 / 0").replace("        errorsink.report", "    errorsink.report"),
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        ERRORSINK_OTEL_LOGS="0",
        ERRORSINK_OTEL_SPANS="0",
    )
    assert (ended.status, ended.out, ended.err) == (0, "[]\n", "")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_thousand_reports_in_a_tight_loop_all_arrive(collector: Collector, protocol: str) -> None:
    """The program ends normally right after the loop; `stats()` in its last exit handler says the same."""
    code = """
        import atexit
        atexit.register(accounts)
        import errorsink
        for number in range(1000):
            try:
                raise ValueError(f"number {number}")
            except ValueError as exc:
                errorsink.report_error(exc)
    """
    ended = run(with_accounts(code), **endpoint(collector, protocol), ERRORSINK_SHUTDOWN_TIMEOUT="30")
    assert ended.err == ""
    bodies = {log.body for log in collector.logs(1000)}
    assert bodies == {f"number {number}" for number in range(1000)}
    assert len(collector.logs(1000)) == 1000
    assert ended.last["recorded"] == 1000
    assert {name: sink["delivered"] for name, sink in ended.last["sinks"].items()} == {
        "otel_logs": 1000,
        "otel_spans": 1000,
    }
    assert all(sink["balanced"] for sink in ended.last["sinks"].values())
