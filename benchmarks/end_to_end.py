"""End to end: the CPU that a whole process spends on a report, and what goes over the wire.

The errors come in bursts of 100 with a pause in between, as in a service that has a bad minute; the exit, which
delivers what is left, is part of the bill.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
from contextlib import ExitStack
from time import perf_counter, sleep
from typing import Any, Callable

from benchmarks._errors import raised
from benchmarks._loopback import loopback
from benchmarks._run import in_fresh_process, table

REPORTS = 4_000
BURST = 100
PAUSE = 0.02

Report = Callable[[BaseException], object]
Contestant = tuple[Report, Callable[[], object]]


def _errorsink(**settings: object) -> Contestant:
    import errorsink

    errorsink.configure(**{"datadog": False, "otel_logs": False, "otel_spans": False, **settings})
    return errorsink.report_error, lambda: errorsink.flush(60)


def errorsink_otel_http(url: str) -> Contestant:
    return _errorsink(otel_logs=True, otel_exporter_otlp_endpoint=url)


def errorsink_otel_grpc(url: str) -> Contestant:
    return _errorsink(otel_logs=True, otel_exporter_otlp_endpoint=url, otel_exporter_otlp_protocol="grpc")


def errorsink_datadog(url: str) -> Contestant:
    return _errorsink(datadog=True, datadog_url=url, dd_api_key="0" * 32)


def _otel_handler(exporter: Any) -> Contestant:
    from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = logging.getLogger("benchmark")
    logger.addHandler(LoggingHandler(logger_provider=provider))
    logger.propagate = False
    return lambda error: logger.error("failed", exc_info=error), provider.shutdown


def otel_handler_http(url: str) -> Contestant:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    return _otel_handler(OTLPLogExporter(endpoint=f"{url}/v1/logs"))


def otel_handler_grpc(url: str) -> Contestant:
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter

    return _otel_handler(OTLPLogExporter(endpoint=url, insecure=True))


def sentry(url: str) -> Contestant:
    import sentry_sdk

    sentry_sdk.init(dsn=url.replace("://", "://key@") + "/1", include_local_variables=False)
    return sentry_sdk.capture_exception, lambda: sentry_sdk.flush(60)


HTTP = {
    "errorsink → OTLP/HTTP": errorsink_otel_http,
    "OTel LoggingHandler → OTLP/HTTP": otel_handler_http,
    "errorsink → Datadog": errorsink_datadog,
    "sentry-sdk, no locals": sentry,
}
GRPC = {"errorsink → OTLP/gRPC": errorsink_otel_grpc, "OTel LoggingHandler → OTLP/gRPC": otel_handler_grpc}


def measure(name: str, url: str) -> dict[str, float]:
    prepare = {**HTTP, **GRPC}[name]
    report, settle = prepare(url)
    for number in range(BURST):
        report(raised(16, f"warm-up {number}"))
    settle() if "LoggingHandler" not in name else sleep(1.5)
    before, start = resource.getrusage(resource.RUSAGE_SELF), perf_counter()
    for number in range(REPORTS):
        report(raised(16, f"order {number} was not paid"))
        if number % BURST == BURST - 1:
            sleep(PAUSE)
    settle()
    after, seconds = resource.getrusage(resource.RUSAGE_SELF), perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu / REPORTS * 1e6, "rate": REPORTS / seconds}


def main() -> str:
    rows: list[tuple[object, ...]] = []
    with ExitStack() as stack:
        server = stack.enter_context(loopback())
        for name in HTTP:
            sent = server.bytes.value
            found = in_fresh_process("benchmarks.end_to_end", name, server.url)
            rows.append((name, found["cpu"], found["rate"], (server.bytes.value - sent) / (REPORTS + BURST)))
        rows += _into_the_collector()
    yardstick = {row[0]: row[1] for row in rows}["errorsink → OTLP/HTTP"]
    shown = [(name, cpu / yardstick, cpu, rate, size) for name, cpu, rate, size in rows]  # type: ignore[operator]
    head = ("route", "CPU / errorsink over OTLP/HTTP", "CPU µs a report", "reports a second", "bytes a report")
    return "## End to end, the whole process\n\n" + table(head, shown)


def _into_the_collector() -> list[tuple[object, ...]]:
    """The routes into the official OpenTelemetry Collector, where Go can build it."""
    try:
        from tests.collectors.contract import CollectorUnavailable
        from tests.collectors.otelcol import start_otelcol

        collector = start_otelcol()
    except (ImportError, CollectorUnavailable) as missing:
        print(f"the Collector can't run here: {missing}", file=sys.stderr)
        return []
    try:
        routes = [(name, collector.endpoints.http) for name in HTTP if "OTLP" in name]
        routes += [(name, collector.endpoints.grpc) for name in GRPC]
        rows: list[tuple[object, ...]] = []
        for name, url in routes:
            found = in_fresh_process("benchmarks.end_to_end", name, url)
            rows.append((f"{name}, the Collector", found["cpu"], found["rate"], "-"))
        return rows
    finally:
        collector.stop()


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])) if len(sys.argv) > 1 else main())
    sys.stdout.flush()
    os._exit(0)
