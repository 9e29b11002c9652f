"""What is paid once: importing errorsink and its peers, and the exit with nothing listening."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from time import perf_counter

from benchmarks._run import table

RUNS = 9
IMPORTS = ("logging", "errorsink", "opentelemetry.sdk._logs", "sentry_sdk", "rollbar", "bugsnag", "logfire")
DEAD = "http://127.0.0.1:9"
EXITS = {
    "errorsink, three sinks, 1,000 reports": f"""
import errorsink
errorsink.configure(otel_exporter_otlp_endpoint={DEAD!r}, datadog_url={DEAD!r}, dd_api_key="0" * 32)
for number in range(1000): errorsink.report_error(ValueError(number))
""",
    "OTel logs and spans, 1,000 records": f"""
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
logs, spans = LoggerProvider(), TracerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint="{DEAD}/v1/logs")))
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint="{DEAD}/v1/traces")))
logger, tracer = logs.get_logger("benchmark"), spans.get_tracer("benchmark")
for number in range(1000):
    logger.emit(body=str(number))
    tracer.start_span("failed").end()
""",
    "sentry-sdk, 1,000 events": """
import sentry_sdk
sentry_sdk.init(dsn="http://key@127.0.0.1:9/1")
for number in range(1000): sentry_sdk.capture_exception(ValueError(number))
""",
}


def _seconds(code: str) -> float:
    """Wall time of a whole interpreter; standard error is thrown away."""
    start = perf_counter()
    environment = {"PATH": os.environ.get("PATH", "")}
    subprocess.run([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL, check=True)
    return perf_counter() - start


def main() -> str:
    bare = median(_seconds("pass") for _ in range(RUNS))
    imports = [(name, median(_seconds(f"import {name}") for _ in range(RUNS)) - bare) for name in IMPORTS]
    yardstick = dict(imports)["logging"]
    rows = [(f"import {name}", seconds / yardstick, seconds * 1000) for name, seconds in imports]
    exits = [(name, median(_seconds(code) for _ in range(3))) for name, code in EXITS.items()]
    ours = exits[0][1]
    return (
        "## Once\n\n"
        + table(("import, over a bare interpreter", "/ import logging", "ms"), rows)
        + "\n"
        + table(("the whole program, with nothing listening", "/ errorsink", "s"), [(n, s / ours, s) for n, s in exits])
    )


if __name__ == "__main__":
    print(main())
