"""OTLP over HTTP: what is sent, and what each answer is taken for."""

from __future__ import annotations

import gzip
import threading
import zlib
from typing import Any, Callable

import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource

from errorsink.sinks import Outcome, Sink
from tests.collectors.received import logs_of, spans_of
from tests.otel.conftest import MakeSink
from tests.otel.peers import CLOSED_PORT, HttpPeer, Say, answer, raw, reset, silent, trickle
from tests.otel.samples import CANARY, EXCEPTION_ATTRIBUTES, NOW_NS, OWN_ATTRIBUTES, RECORD, record

StartPeer = Callable[[Say], HttpPeer]
OK = answer(200)
SOON = 0.3
"""Seconds that a hopeless request may take in a test."""
LONG = 30.0


def send(sink: Sink, count: int = 1, timeout: float = LONG) -> Outcome:
    """Sends some records, each with an id of its own."""
    return sink.send([sink.prepare(record(id=f"id-{number}")) for number in range(count)], timeout)


@pytest.fixture
def exchange(http_peer: StartPeer, make_sink: MakeSink, signal: str) -> Callable[..., tuple[Outcome, HttpPeer]]:
    """Sends to a peer that says so, and tells the outcome."""

    def run(say: Say, timeout: float = LONG, count: int = 3, **env: str) -> tuple[Outcome, HttpPeer]:
        peer = http_peer(say)
        sink = make_sink(signal, {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url, **env})
        return send(sink, count, timeout), peer

    return run


def test_request(exchange: Any, signal: str) -> None:
    """One POST to the signal's path, in protobuf, with the given headers and our name."""
    outcome, peer = exchange(OK, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20t,x-tenant=7")
    assert outcome == Outcome.delivered()
    (request,) = peer.requests
    assert request.line == f"POST /v1/{signal} HTTP/1.1"
    assert request.headers["content-type"] == "application/x-protobuf"
    assert (request.headers["authorization"], request.headers["x-tenant"]) == ("Bearer t", "7")
    assert request.headers["user-agent"].startswith("errorsink/")


def test_log_on_the_wire(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """A log arrives with all its fields."""
    peer = http_peer(OK)
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url,
        "OTEL_SERVICE_NAME": "shop",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=prod,k=a%20b,service.name=other",
    }
    sink = make_sink("logs", env)
    assert sink.send([sink.prepare(RECORD)], LONG) == Outcome.delivered()
    (log,) = logs_of(ExportLogsServiceRequest.FromString(peer.requests[0].body))
    assert (log.time_unix_nano, log.observed_time_unix_nano) == (NOW_NS, NOW_NS)
    assert (log.severity_number, log.severity_text, log.event_name) == (17, "ERROR", "exception")
    assert log.body == "card declined"
    assert log.attributes == {**OWN_ATTRIBUTES, **EXCEPTION_ATTRIBUTES, **RECORD.attributes}
    assert (log.trace_id, log.span_id, log.flags) == (RECORD.trace_id, RECORD.span_id, 1)
    assert (log.resource["service.name"], log.resource["k"]) == ("shop", "a b")
    assert log.resource["deployment.environment.name"] == "prod"
    assert log.resource["telemetry.sdk.language"] == "python"
    assert log.scope.name == "errorsink"
    assert log.scope.version


def test_span_on_the_wire(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """A span arrives as a child of the caller's, with the exception as its event."""
    peer = http_peer(OK)
    sink = make_sink("traces", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    assert sink.send([sink.prepare(RECORD)], LONG) == Outcome.delivered()
    (span,) = spans_of(ExportTraceServiceRequest.FromString(peer.requests[0].body))
    assert (span.name, span.kind) == ("report_error", 1)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (NOW_NS, NOW_NS)
    assert (span.status_code, span.status_message) == (2, "card declined")
    assert (span.trace_id, span.parent_span_id) == (RECORD.trace_id, RECORD.span_id)
    assert span.span_id not in ("", RECORD.span_id)
    assert span.attributes == {**OWN_ATTRIBUTES, **RECORD.attributes}
    (event,) = span.events
    assert (event.name, event.time_unix_nano, event.attributes) == ("exception", NOW_NS, EXCEPTION_ATTRIBUTES)


def test_log_without_a_span(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """Without an active span at the report, a log has no trace, whatever is active where it is sent."""
    peer = http_peer(OK)
    sink = make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    sink.send([sink.prepare(record(trace_id=None, span_id=None, trace_flags=0))], LONG)
    (log,) = logs_of(ExportLogsServiceRequest.FromString(peer.requests[0].body))
    assert (log.trace_id, log.span_id, log.flags) == ("", "", 0)


def test_span_without_a_parent(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """Without an active span a span is the root of a trace, the same one each time its record is sent."""
    peer = http_peer(OK)
    sink = make_sink("traces", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    orphan = record(trace_id=None, span_id=None)
    for _ in range(2):
        sink.send([sink.prepare(orphan)], LONG)
    first, second = (spans_of(ExportTraceServiceRequest.FromString(request.body))[0] for request in peer.requests)
    assert first.parent_span_id == ""
    assert len(first.trace_id) == 32
    assert (first.trace_id, first.span_id) == (second.trace_id, second.span_id)


@pytest.mark.parametrize(("opt_in", "events"), [("logs", 0), ("logs/dup", 1), ("", 1)])
def test_exception_event_can_be_left_out(opt_in: str, events: int, http_peer: StartPeer, make_sink: MakeSink) -> None:
    """OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN=logs takes the event off the span, and nothing else does."""
    peer = http_peer(OK)
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url, "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": opt_in}
    send(make_sink("traces", env))
    (span,) = spans_of(ExportTraceServiceRequest.FromString(peer.requests[0].body))
    assert len(span.events) == events


@pytest.mark.parametrize("variable", ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"])
def test_configured_resource_wins_over_the_environment(
    variable: str, http_peer: StartPeer, make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `configure` has set counts, not what the SDK reads from the environment by itself."""
    monkeypatch.setenv(variable, "service.name=environment" if "RESOURCE" in variable else "environment")
    peer = http_peer(OK)
    send(make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}, otel_service_name="configured"))
    (log,) = logs_of(ExportLogsServiceRequest.FromString(peer.requests[0].body))
    assert log.resource["service.name"] == "configured"


def test_resource_is_hashed_once(exchange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's hash of a resource is that of its JSON, and its encoders ask for it with each record."""
    hashed: list[Resource] = []
    compute = Resource.__hash__

    def watched(resource: Resource) -> int:
        hashed.append(resource)
        return compute(resource)

    monkeypatch.setattr(Resource, "__hash__", watched)
    assert exchange(OK, count=50)[0] == Outcome.delivered()
    assert len(hashed) <= 1


def test_bad_resource_attributes(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """A pair that isn't one costs no other, and is told."""
    peer, said = http_peer(OK), list[str]()
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url, "OTEL_RESOURCE_ATTRIBUTES": "broken,a=1"}
    send(make_sink("logs", env, diagnose=said.append))
    (log,) = logs_of(ExportLogsServiceRequest.FromString(peer.requests[0].body))
    assert log.resource["a"] == "1"
    assert said == ["OTEL_RESOURCE_ATTRIBUTES: pair 1 is not key=value; it is left out"]


def test_service_is_the_program(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """A service that nobody has named is the program."""
    peer = http_peer(OK)
    send(make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}, entrypoint="worker"))
    (log,) = logs_of(ExportLogsServiceRequest.FromString(peer.requests[0].body))
    assert log.resource["service.name"] == "worker"


def test_gzip(exchange: Any) -> None:
    """OTEL_EXPORTER_OTLP_COMPRESSION=gzip compresses the body, and says so."""
    outcome, peer = exchange(OK, OTEL_EXPORTER_OTLP_COMPRESSION="gzip")
    assert outcome == Outcome.delivered()
    assert peer.requests[0].headers["content-encoding"] == "gzip"
    assert gzip.decompress(peer.requests[0].body)


def test_connection_is_kept(http_peer: StartPeer, make_sink: MakeSink, signal: str) -> None:
    """Batches share a connection."""
    peer = http_peer(OK)
    sink = make_sink(signal, {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    assert [send(sink).status for _ in range(3)] == ["delivered"] * 3
    assert peer.connections == 1


@pytest.mark.parametrize("status", [200, 202, 204])
def test_success(status: int, exchange: Any) -> None:
    """Any 2xx is a success."""
    assert exchange(answer(status))[0] == Outcome.delivered()


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_retried_statuses(status: int, exchange: Any) -> None:
    """What OTLP calls retryable is retried, by the core: one request is made."""
    outcome, peer = exchange(answer(status, {"Retry-After": "7"}))
    assert (outcome.status, outcome.reason, outcome.retry_after) == ("retry", f"http-{status}", 7.0)
    assert len(peer.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 408, 415, 422, 500, 501])
def test_rejected_statuses(status: int, exchange: Any) -> None:
    """All other failures are final."""
    outcome, peer = exchange(answer(status))
    assert (outcome.status, outcome.reason) == ("rejected", f"http-{status}")
    assert len(peer.requests) == 1


def test_too_large(exchange: Any) -> None:
    """413 asks for a smaller batch."""
    assert exchange(answer(413))[0].status == "too_large"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int, exchange: Any, http_peer: StartPeer) -> None:
    """A redirect is a failure; the other host sees no request and no header."""
    other = http_peer(OK)
    location = f"{other.url}/v1/logs?key={CANARY}"
    outcome, peer = exchange(answer(status, {"Location": location}), OTEL_EXPORTER_OTLP_HEADERS=f"k={CANARY}")
    assert outcome.status == "rejected"
    assert other.url in outcome.detail
    assert CANARY not in outcome.detail
    assert (len(peer.requests), len(other.requests)) == (1, 0)


@pytest.mark.parametrize(
    "say",
    [
        answer(302, {"Location": "http://["}),
        trickle(b"HTTP/1.1 302 Found\r\nLocation: http://h/\r\nContent-Length: 60000\r\n\r\n"),
        reset(b"HTTP/1.1 302 Found\r\nLocation: http://h/\r\nContent-Length: 10\r\n\r\nabc"),
    ],
    ids=["impossible-location", "trickled-body", "reset-in-the-body"],
)
def test_redirect_that_nobody_could_follow(say: Say, exchange: Any) -> None:
    """Its status decides: neither where it leads nor its body is needed to refuse it."""
    outcome, _ = exchange(say, timeout=SOON)
    assert (outcome.status, outcome.reason) == ("rejected", "http-302")


def test_partial_success(exchange: Any, signal: str) -> None:
    """How many records the collector refused, and why, as far as it may be shown."""
    partial: Any = (
        ExportLogsServiceResponse(
            partial_success=ExportLogsPartialSuccess(rejected_log_records=2, error_message=f"too old {CANARY}")
        )
        if signal == "logs"
        else ExportTraceServiceResponse(
            partial_success=ExportTracePartialSuccess(rejected_spans=2, error_message=f"too old {CANARY}")
        )
    )
    say = answer(200, {"Content-Type": "application/x-protobuf"}, partial.SerializeToString())
    outcome, _ = exchange(say, OTEL_EXPORTER_OTLP_HEADERS=f"authorization=Bearer {CANARY}")
    assert (outcome.status, outcome.refused, outcome.reason) == ("delivered", 2, "partial-success")
    assert "too old ***" in outcome.detail


@pytest.mark.parametrize("claimed", [-5, 99])
def test_absurd_partial_success(claimed: int, http_peer: StartPeer, make_sink: MakeSink) -> None:
    """No more records are refused than were sent, and no fewer than none."""
    partial = ExportLogsServiceResponse(partial_success=ExportLogsPartialSuccess(rejected_log_records=claimed))
    peer = http_peer(answer(200, {}, partial.SerializeToString()))
    outcome = send(make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url}), 3)
    assert outcome.refused == (3 if claimed > 0 else 0)


def test_reason_of_a_refusal(exchange: Any) -> None:
    """The text of a protobuf answer is shown."""
    body = Status(code=3, message="no such tenant").SerializeToString()
    outcome, _ = exchange(answer(400, {"Content-Type": "application/x-protobuf"}, body))
    assert "no such tenant" in outcome.detail


@pytest.mark.parametrize(
    "say",
    [
        answer(200, {"Content-Type": "application/x-protobuf"}, b"\xff\xff\xff"),
        answer(200, {"Content-Encoding": "gzip"}, b"no gzip"),
        answer(200, {"Content-Encoding": "gzip"}, zlib.compress(b"0" * 10_000_000)),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        reset(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ],
    ids=["not-protobuf", "not-gzip", "not-gzip-but-deflate", "bad-chunk", "reset-in-the-body", "100-first"],
)
def test_the_status_decides(say: Say, exchange: Any) -> None:
    """A collector that has said 200 has the records, whatever becomes of the rest: they aren't sent again."""
    assert exchange(say)[0] == Outcome.delivered()


@pytest.mark.parametrize(
    "say",
    [
        reset(b""),
        reset(b"HTTP/1.1 2"),
        raw(b"\x00\x01 garbage\r\n\r\n"),
        raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    ],
    ids=["reset", "reset-in-the-status", "garbage", "no-status"],
)
def test_no_answer(say: Say, exchange: Any) -> None:
    """Without a status nothing is known: the batch is tried again."""
    outcome, _ = exchange(say, timeout=5)
    assert (outcome.status, outcome.reason) == ("retry", "network")


@pytest.mark.parametrize(
    "say",
    [silent, trickle(b"", b"H"), trickle(b"HTTP/1.1 200 OK\r\n", b"A"), trickle(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n")],
    ids=["silent", "trickled-status", "trickled-header", "trickled-headers"],
)
def test_deadline_without_a_status(say: Say, exchange: Any) -> None:
    """A peer that is silent, or that never comes to the point, is left at the deadline."""
    outcome, peer = exchange(say, timeout=SOON)
    assert outcome.status == "retry"
    assert not peer.ended.is_set()


def test_deadline_in_the_body(exchange: Any) -> None:
    """A trickled body is left at the deadline too; the status had been said."""
    outcome, peer = exchange(trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"), timeout=SOON)
    assert outcome == Outcome.delivered()
    assert not peer.ended.is_set()


def test_own_timeout_is_heeded(exchange: Any) -> None:
    """OTEL_EXPORTER_OTLP_TIMEOUT bounds a request further."""
    outcome, _ = exchange(silent, timeout=600.0, OTEL_EXPORTER_OTLP_TIMEOUT="200")
    assert (outcome.status, outcome.reason) == ("retry", "timeout")


def test_no_thread_is_started(http_peer: StartPeer, make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline needs no thread: at exit there would be none."""
    peer = http_peer(trickle(b"HTTP/1.1 200 OK\r\n", b"A"))
    sink = make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    started: list[threading.Thread] = []
    start = threading.Thread.start
    caller = threading.get_ident()

    def watched(thread: threading.Thread) -> None:
        if threading.get_ident() == caller:
            started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", watched)
    assert send(sink, timeout=SOON).status == "retry"
    assert started == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_refused(host: str, make_sink: MakeSink, signal: str) -> None:
    """Nobody listens: tried again."""
    outcome = send(make_sink(signal, {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{host}:{CLOSED_PORT}"}))
    assert (outcome.status, outcome.reason) == ("retry", "network")


def test_unknown_host(make_sink: MakeSink) -> None:
    """A name that can't be resolved: tried again."""
    outcome = send(make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://nobody.invalid"}))
    assert (outcome.status, outcome.reason) == ("retry", "network")


def test_no_tls_there(http_peer: StartPeer, make_sink: MakeSink) -> None:
    """A plain peer behind https:// is left at the deadline, or for its handshake."""
    peer = http_peer(raw(b"HTTP/1.1 400 Bad\r\n\r\n"))
    sink = make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url.replace("http:", "https:")})
    assert send(sink, timeout=SOON).status == "retry"


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "127.0.0.1:1", f"http://user:{CANARY}@127.0.0.1:1", "http://"])
def test_bad_proxy(proxy: str, exchange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that isn't there is a network failure, and its password isn't shown."""
    monkeypatch.setenv("http_proxy", proxy)
    outcome, peer = exchange(OK)
    assert outcome.status == "retry"
    assert CANARY not in outcome.detail
    assert peer.requests == []


def test_no_proxy(exchange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """no_proxy names the hosts that are reached without it."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    assert exchange(OK)[0] == Outcome.delivered()


def test_proxy_is_used(http_peer: StartPeer, make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy gets the request for the other host."""
    proxy = http_peer(OK)
    monkeypatch.setenv("http_proxy", proxy.url)
    assert send(make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.invalid"})).status == "delivered"
    assert proxy.requests[0].line == "POST http://collector.invalid/v1/logs HTTP/1.1"


def test_netrc_is_not_used(exchange: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A password of ~/.netrc isn't put in the place of the given Authorization."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password other\n")
    monkeypatch.setenv("NETRC", str(netrc))
    _, peer = exchange(OK, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer given")
    assert peer.requests[0].headers["authorization"] == "Bearer given"


def test_bad_headers_of_the_environment(exchange: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """The official exporter reads the variable too; it neither sends nor logs what we have left out."""
    bad = f"ok=1,evil=1%0d%0aX-Evil:%201,h%C3%A9=1,key={CANARY}\x01,{CANARY}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", bad)
    outcome, peer = exchange(OK, OTEL_EXPORTER_OTLP_HEADERS=bad)
    assert outcome == Outcome.delivered()
    assert peer.requests[0].headers["ok"] == "1"
    assert not {"evil", "x-evil", "key"} & set(peer.requests[0].headers)
    assert caplog.records == []


def test_unencodable_batch(http_peer: StartPeer, make_sink: MakeSink, caplog: Any) -> None:
    """A record that got past all checks asks for a smaller batch, so that it ends up alone; nothing is logged."""
    peer = http_peer(OK)
    sink = make_sink("logs", {"OTEL_EXPORTER_OTLP_ENDPOINT": peer.url})
    item = sink.prepare(RECORD)
    item.payload.content.body = object()
    assert sink.send([item], LONG).status == "too_large"
    assert (peer.requests, caplog.records) == ([], [])
