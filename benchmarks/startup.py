"""What is paid once: importing errorsink and its peers, and the exit with nothing listening."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from time import time

from benchmarks._run import table

RUNS = 15
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


LAST_LINE = "\nimport time; print(time.time())"
"""The program says when its own work was done: what follows is the exit."""


def _seconds(code: str) -> tuple[float, float]:
    """Wall time of a whole interpreter, and of its exit alone; standard error is thrown away."""
    environment = {"PATH": os.environ.get("PATH", "")}
    start = time()
    done = subprocess.run(
        [sys.executable, "-c", code + LAST_LINE],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    end = time()
    return end - start, end - float(done.stdout.split()[-1])


def _medians(code: str, runs: int) -> tuple[float, float]:
    whole, exit_alone = zip(*[_seconds(code) for _ in range(runs)], strict=True)
    return median(whole), median(exit_alone)


def main() -> str:
    bare, _ = _medians("pass", RUNS)
    imports = [(name, _medians(f"import {name}", RUNS)[0] - bare) for name in IMPORTS]
    yardstick = dict(imports)["logging"]
    rows = [(f"import {name}", seconds / yardstick, seconds * 1000) for name, seconds in imports]
    exits = [(name, _medians(code, 3)) for name, code in EXITS.items()]
    ours = exits[0][1][1]
    return (
        "## Once\n\n"
        + table(("import, over a bare interpreter", "/ import logging", "ms"), rows)
        + "\n"
        + table(
            ("the exit, with nothing listening", "/ errorsink", "s", "the whole program, s"),
            [(name, alone / ours, alone, whole) for name, (whole, alone) in exits],
        )
    )


if __name__ == "__main__":
    print(main())
