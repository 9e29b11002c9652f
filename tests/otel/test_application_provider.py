"""Records handed to the application's own providers."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import StatusCode

from errorsink.sinks import Item, Outcome, Sink
from tests.otel.conftest import MakeSink
from tests.otel.peers import answer
from tests.otel.samples import EXCEPTION_ATTRIBUTES, NOW_NS, OWN_ATTRIBUTES, RECORD, record
from tests.otel.test_http import StartPeer

RESOURCE = Resource({"service.name": "the-application"})


class Providers:
    """An application's providers, which are set as the global ones while a test runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        exporter: Any = InMemoryLogRecordExporter
        self.logs: InMemoryLogRecordExporter = exporter()
        self.spans = InMemorySpanExporter()
        self.logger_provider = LoggerProvider(resource=RESOURCE, shutdown_on_exit=False)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self.logs))

    def set_logger_provider(self) -> LoggerProvider:
        self._monkeypatch.setattr("opentelemetry._logs.get_logger_provider", lambda: self.logger_provider)
        return self.logger_provider

    def set_tracer_provider(self, *processors: SpanProcessor, **options: Any) -> TracerProvider:
        provider = TracerProvider(resource=RESOURCE, shutdown_on_exit=False, **options)
        for processor in processors or (SimpleSpanProcessor(self.spans),):
            provider.add_span_processor(processor)
        self._monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
        return provider


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Providers:
    """The application's providers, not set yet."""
    return Providers(monkeypatch)


def send(sink: Sink, *records: Any) -> Outcome:
    """Sends records, the sample by default."""
    return sink.send([sink.prepare(one) for one in records or (RECORD,)], 30.0)


def test_log(providers: Providers, make_sink: MakeSink) -> None:
    """A log keeps its time, its trace and its attributes, and gets the application's resource."""
    providers.set_logger_provider()
    assert send(make_sink("logs", {})) == Outcome.delivered()
    (emitted,) = providers.logs.get_finished_logs()
    log = emitted.log_record
    assert (log.timestamp, log.observed_timestamp) == (NOW_NS, NOW_NS)
    assert (f"{log.trace_id:032x}", f"{log.span_id:016x}") == (RECORD.trace_id, RECORD.span_id)
    assert dict(log.attributes or {}) == {
        **OWN_ATTRIBUTES,
        **EXCEPTION_ATTRIBUTES,
        **RECORD.attributes,
        "items": ("a", "b"),
    }
    assert (log.body, log.event_name, log.severity_text) == ("card declined", "exception", "ERROR")
    assert emitted.resource is RESOURCE
    assert emitted.instrumentation_scope is not None
    assert emitted.instrumentation_scope.name == "errorsink"


def test_span(providers: Providers, make_sink: MakeSink) -> None:
    """A span is a child of the caller's, at the time of the report, with the application's resource."""
    providers.set_tracer_provider()
    assert send(make_sink("traces", {})) == Outcome.delivered()
    (span,) = providers.spans.get_finished_spans()
    assert span.name == "report_error"
    assert (span.start_time, span.end_time) == (NOW_NS, NOW_NS)
    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == (RECORD.trace_id, RECORD.span_id)
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "card declined")
    assert dict(span.attributes or {}) == {**OWN_ATTRIBUTES, **RECORD.attributes, "items": ("a", "b")}
    (event,) = span.events
    assert (event.name, event.timestamp, dict(event.attributes or {})) == ("exception", NOW_NS, EXCEPTION_ATTRIBUTES)
    assert span.resource is RESOURCE


def test_callers_span_is_not_touched(providers: Providers, make_sink: MakeSink) -> None:
    """The active span of the thread that sends is neither the parent nor changed."""
    provider = providers.set_tracer_provider()
    sink = make_sink("traces", {})
    with provider.get_tracer("application").start_as_current_span("active"):
        send(sink, record(trace_id=None, span_id=None))
    reported, active = providers.spans.get_finished_spans()
    assert reported.parent is None
    assert (active.name, active.status.status_code, active.events) == ("active", StatusCode.UNSET, ())


def test_event_can_be_left_out(providers: Providers, make_sink: MakeSink) -> None:
    """OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN=logs takes the event off the span."""
    providers.set_tracer_provider()
    send(make_sink("traces", {"OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": "logs"}))
    assert providers.spans.get_finished_spans()[0].events == ()


def test_sampling_is_the_applications(providers: Providers, make_sink: MakeSink) -> None:
    """A sampler that wants no span gets none through."""
    providers.set_tracer_provider(sampler=ParentBased(ALWAYS_OFF, local_parent_sampled=ALWAYS_OFF))
    assert send(make_sink("traces", {})) == Outcome.delivered()
    assert providers.spans.get_finished_spans() == ()


def test_provider_set_later(signal: str, providers: Providers, make_sink: MakeSink, http_peer: StartPeer) -> None:
    """A provider that is set after the sink was built gets the records from then on."""
    peer = http_peer(answer(200))
    sink = make_sink(signal, {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    before = sink.prepare(RECORD)
    send(sink)
    providers.set_logger_provider()
    providers.set_tracer_provider()
    assert sink.send([before], 30.0) == Outcome.delivered()
    handed: Sequence[Any] = providers.logs.get_finished_logs() or providers.spans.get_finished_spans()
    assert (len(peer.requests), len(handed)) == (1, 1)


class Fault(SpanProcessor):
    """A processor of the application's with a fault at some spans."""

    def __init__(self, *ids: str) -> None:
        self.seen: list[str] = []
        self._ids = ids

    def on_end(self, span: ReadableSpan) -> None:
        identity = str((span.attributes or {})["errorsink.id"])
        self.seen.append(identity)
        if identity in self._ids:
            raise RuntimeError("secret")


def test_processor_that_raises(providers: Providers, make_sink: MakeSink) -> None:
    """A fault in the application's pipeline costs its record, and no other; its text isn't shown."""
    fault = Fault("b")
    providers.set_tracer_provider(fault)
    outcome = send(make_sink("traces", {}), *(record(id=name) for name in "abc"))
    assert (outcome.status, outcome.refused, outcome.reason) == ("delivered", 1, "provider-error")
    assert "secret" not in outcome.detail
    assert fault.seen == ["a", "b", "c"]


def test_processor_that_always_raises(providers: Providers, make_sink: MakeSink) -> None:
    """When nothing gets through, the batch is rejected."""
    providers.set_tracer_provider(Fault("a", "b"))
    assert send(make_sink("traces", {}), record(id="a"), record(id="b")).status == "rejected"


Slowly = Callable[[Sink, Sequence[Item]], Outcome]


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Slowly:
    """Sends a batch with time for its first record alone."""

    def send(sink: Sink, items: Sequence[Item]) -> Outcome:
        clock = iter([0.0, 0.5, 2.0])
        with monkeypatch.context() as slow:
            slow.setattr("errorsink_otel._sink.time.monotonic", lambda: next(clock))
            return sink.send(items, 1.0)

    return send


@pytest.mark.parametrize("anew", [False, True])
def test_slow_provider(anew: bool, slowly: Slowly, providers: Providers, make_sink: MakeSink) -> None:
    """At the deadline the rest of a batch is left for later; what was handed over isn't handed again, not even where
    the batch went back into the queue meanwhile and was prepared anew."""
    seen = Fault()
    providers.set_tracer_provider(seen)
    sink = make_sink("traces", {})
    items = [sink.prepare(record(id=name)) for name in "abc"]
    assert slowly(sink, items).status == "retry"
    assert seen.seen == ["a"]
    again = [sink.prepare(record(id=name)) for name in "abcd"] if anew else items
    assert sink.send(again, 30.0) == Outcome.delivered()
    assert seen.seen == list("abcd" if anew else "abc")


def test_fault_before_the_deadline(slowly: Slowly, providers: Providers, make_sink: MakeSink) -> None:
    """A record that the provider refused in the first try counts as refused when the rest is through."""
    providers.set_tracer_provider(Fault("a"))
    sink = make_sink("traces", {})
    items = [sink.prepare(record(id=name)) for name in "abc"]
    assert slowly(sink, items).status == "retry"
    assert (sink.send(items, 30.0).refused, sink.send(items, 30.0).refused) == (1, 1)


def test_close_leaves_the_provider_alone(providers: Providers, make_sink: MakeSink) -> None:
    """Closing the sink doesn't shut the application's provider down."""
    provider = providers.set_logger_provider()
    make_sink("logs", {}).close()
    provider.get_logger("application").emit(body="still alive")
    assert [one.log_record.body for one in providers.logs.get_finished_logs()] == ["still alive"]
