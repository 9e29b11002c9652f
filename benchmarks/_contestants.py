"""What is compared: one function a contestant, which prepares it and returns the call that reports an error."""

from __future__ import annotations

import logging
import os
from typing import Any, Callable, NamedTuple

from benchmarks._errors import bare_snapshot
from benchmarks._timing import Call


class Ready(NamedTuple):
    """A contestant that is set up."""

    report: Callable[[BaseException], object]
    settle: Call | None = None
    """Delivers what is queued; off the clock."""


def nothing() -> Ready:
    return Ready(lambda error: None)


def snapshot() -> Ready:
    return Ready(bare_snapshot)


def _errorsink(**settings: object) -> Ready:
    import errorsink

    errorsink.configure(**settings)
    errorsink.report_error(ValueError("the first report builds the sinks"))
    errorsink.flush(10)
    return Ready(errorsink.report_error, lambda: errorsink.flush(60))


def errorsink_gated() -> Ready:
    os.environ["DISABLE_ERROR_REPORTING"] = "1"
    return _errorsink()


def errorsink_no_sink(**settings: object) -> Ready:
    return _errorsink(datadog=False, otel_logs=False, otel_spans=False, **settings)


def errorsink_one_sink() -> Ready:
    url = os.environ["BENCH_URL"]
    return _errorsink(otel_logs=True, otel_spans=False, datadog=False, otel_exporter_otlp_endpoint=url)


def errorsink_three_sinks(**settings: object) -> Ready:
    url = os.environ["BENCH_URL"]
    on = {"otel_logs": True, "otel_spans": True, "datadog": True}
    return _errorsink(**on, otel_exporter_otlp_endpoint=url, dd_api_key="0" * 32, datadog_url=url, **settings)


def logging_exception() -> Ready:
    logger = logging.getLogger("benchmark")
    logger.addHandler(logging.StreamHandler(open(os.devnull, "w")))  # noqa: SIM115 - it lives as long as the process
    logger.propagate = False
    return Ready(lambda error: logger.error("failed", exc_info=error))


def otel_record_exception() -> Ready:
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer("benchmark")

    def report(error: BaseException) -> None:
        span = tracer.start_span("failed")
        span.record_exception(error)
        span.end()

    return Ready(report)


def otel_emit_exception() -> Ready:
    from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor

    class Null(LogRecordProcessor):
        def on_emit(self, log_record: Any) -> None:
            return None

        def shutdown(self) -> None:
            return None

        def force_flush(self, timeout_millis: int = 0) -> bool:
            return True

    provider = LoggerProvider()
    provider.add_log_record_processor(Null())  # without one, nothing is built
    logger = provider.get_logger("benchmark")
    return Ready(lambda error: logger.emit(body="failed", exception=error))


def _sentry(**options: Any) -> Ready:
    import sentry_sdk
    from sentry_sdk.integrations.dedupe import DedupeIntegration
    from sentry_sdk.transport import Transport

    class Null(Transport):
        def capture_envelope(self, envelope: Any) -> None:
            return None

    # The same error is reported again and again here: without this, all but the first would be skipped.
    dedupe = [DedupeIntegration()]
    sentry_sdk.init(dsn="http://key@127.0.0.1/1", transport=Null, disabled_integrations=dedupe, **options)
    return Ready(sentry_sdk.capture_exception)


def sentry_without_locals() -> Ready:
    return _sentry(include_local_variables=False, include_source_context=False)


def sentry_defaults() -> Ready:
    return _sentry()


def logfire_exception() -> Ready:
    import logfire

    logfire.configure(send_to_logfire=False, console=False)
    return Ready(lambda error: logfire.exception("failed", _exc_info=error))


def rollbar_report() -> Ready:
    import rollbar

    rollbar.init("token", "benchmark", handler="blocking")
    rollbar.events.add_payload_handler(lambda payload, **_: False)  # built, and not sent
    return Ready(lambda error: rollbar.report_exc_info((type(error), error, error.__traceback__)))


def bugsnag_notify() -> Ready:
    import bugsnag

    class Null:
        def deliver(self, config: Any, payload: Any, options: Any = None) -> None:
            return None

    bugsnag.configure(api_key="0" * 32, delivery=Null(), asynchronous=False, auto_capture_sessions=False)
    return Ready(bugsnag.notify)


LADDER: dict[str, tuple[Callable[[], Ready], int]] = {
    "nothing": (nothing, 2000),
    "bare snapshot (the floor)": (snapshot, 2000),
    "errorsink, gate closed": (errorsink_gated, 2000),
    "errorsink, no sink": (errorsink_no_sink, 2000),
    "errorsink, one sink": (errorsink_one_sink, 2000),
    "errorsink, three sinks": (errorsink_three_sinks, 2000),
    "logging.exception to /dev/null": (logging_exception, 300),
    "OTel span + record_exception": (otel_record_exception, 300),
    "OTel Logger.emit(exception=)": (otel_emit_exception, 300),
    "sentry-sdk, no locals, no source": (sentry_without_locals, 200),
    "sentry-sdk, defaults": (sentry_defaults, 60),
    "logfire.exception": (logfire_exception, 200),
    "rollbar.report_exc_info": (rollbar_report, 30),
    "bugsnag.notify": (bugsnag_notify, 60),
}
"""Each contestant, and how many calls make a round."""
