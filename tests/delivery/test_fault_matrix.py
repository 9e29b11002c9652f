"""Every fault of a peer against every route, with real servers: nothing is lost unless it is rejected."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

import errorsink
from tests.collectors.contract import wait_until
from tests.collectors.faults import ACCEPTED, OK, Answer, Behaviour, Garbage, Redirect, Reset, Silent, Slow, Trickling
from tests.collectors.faulty import FaultyServer
from tests.collectors.faulty_grpc import Failing, FaultyGrpcServer, GrpcBehaviour, SilentCall
from tests.collectors.http_request import Request
from tests.collectors.received import logs_of

REPORTS = 12
PATIENCE = 30.0
"""Seconds that a flush may take on a busy machine; none of these tests needs a tenth of it."""
QUICK = {
    "batch_delay": 0.0,
    "send_timeout": 0.4,
    "retry_max_delay": 0.05,
    "datadog": False,
    "otel_logs": False,
    "otel_spans": False,
}


NO_ACCOUNT = errorsink.Account(0, 0, 0, {}, {}, {}, 0, 0, 0, "closed", None, None, None)


@dataclass(frozen=True)
class Route:
    """One way to a peer over HTTP."""

    name: str
    sink: str
    good: Behaviour
    settings: Callable[[str], dict[str, object]]
    ids: Callable[[Request], list[str]]


def _datadog_ids(request: Request) -> list[str]:
    return [item["errorsink"]["id"] for item in json.loads(request.body)]


def _otlp_ids(request: Request) -> list[str]:
    return [str(log.attributes["errorsink.id"]) for log in logs_of(ExportLogsServiceRequest.FromString(request.body))]


DATADOG = Route(
    "datadog",
    "datadog",
    ACCEPTED,
    lambda url: {"datadog": True, "datadog_url": url, "dd_api_key": "0" * 32},
    _datadog_ids,
)
OTLP = Route(
    "otlp-http", "otel_logs", OK, lambda url: {"otel_logs": True, "otel_exporter_otlp_endpoint": url}, _otlp_ids
)
ROUTES = (DATADOG, OTLP)

RETRIED: dict[str, Sequence[Behaviour]] = {
    "silent": [Silent()],
    "trickling head": [Trickling("head")],
    "trickling body": [Trickling("body", answer=Answer(503))],
    "reset before the answer": [Reset()],
    "reset in mid-answer": [Reset("head")],
    "429": [Answer(429), Answer(429, {"Retry-After": "0"})],
    "503": [Answer(503), Answer(503)],
    "garbage": [Garbage()],
    "slow then well": [Slow(0.1)],
}
REJECTED: dict[str, tuple[Behaviour, str, tuple[Route, ...]]] = {
    "400": (Answer(400), "http-400", ROUTES),
    "401": (Answer(401), "http-401", ROUTES),
    "404": (Answer(404), "http-404", ROUTES),
    "403, for OTLP": (Answer(403), "http-403", (OTLP,)),
    "500, for OTLP": (Answer(500), "http-500", (OTLP,)),
    "301": (Redirect("http://127.0.0.1:9/", 301), "http-301", ROUTES),
}


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def report(route: Route, url: str) -> list[str]:
    """Makes the reports; their ids."""
    errorsink.configure(**{**QUICK, **route.settings(url)})
    return [errorsink.report_error(ValueError(f"number {number}")).id for number in range(REPORTS)]


def account(route: Route) -> errorsink.Account:
    """The route's account, which must add up; an empty one while the sink is being built."""
    found = errorsink.stats().sinks.get(route.sink, NO_ACCOUNT)
    assert found.balanced, found
    return found


@pytest.mark.parametrize("fault", RETRIED)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_what_may_pass_later_arrives(route: Route, fault: str, server: FaultyServer) -> None:
    """After the fault the same records are sent again; all arrive, and none twice where the peer had answered."""
    behaviours = RETRIED[fault]
    server.script(behaviours, then=route.good)
    ids = report(route, server.url)
    assert errorsink.flush(PATIENCE)
    answered = server.requests if fault == "slow then well" else server.requests[len(behaviours) :]
    arrived = Counter(identity for request in answered for identity in route.ids(request))
    assert arrived == Counter(ids)
    assert account(route).delivered == REPORTS


@pytest.mark.parametrize(
    ("fault", "route"),
    [(fault, route) for fault, (_, _, routes) in REJECTED.items() for route in routes],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_what_the_peer_refuses_is_counted_and_not_tried_again(fault: str, route: Route, server: FaultyServer) -> None:
    behaviour, reason, _ = REJECTED[fault]
    server.script([], then=behaviour)
    report(route, server.url)
    assert errorsink.flush(PATIENCE)
    sent = Counter(identity for request in server.requests for identity in route.ids(request))
    assert set(sent.values()) == {1}
    assert account(route).rejected == {reason: REPORTS}


def test_a_refused_key_stops_the_datadog_sink(server: FaultyServer) -> None:
    """403: one request, everything counted, also what is reported later."""
    server.script([], then=Answer(403))
    report(DATADOG, server.url)
    assert errorsink.flush(PATIENCE)
    errorsink.report_error(ValueError("later"))
    assert errorsink.flush(PATIENCE)
    assert len(server.requests) == 1
    assert account(DATADOG).rejected == {"http-403": REPORTS + 1}
    assert account(DATADOG).state == "stopped"


@pytest.mark.parametrize("code", [408, 500, 502])
def test_datadog_is_asked_again_after(code: int, server: FaultyServer) -> None:
    server.script([Answer(code)], then=ACCEPTED)
    ids = report(DATADOG, server.url)
    assert errorsink.flush(PATIENCE)
    assert sorted(identity for request in server.requests[1:] for identity in DATADOG.ids(request)) == sorted(ids)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_413_is_halved_down_to_single_records(route: Route, server: FaultyServer) -> None:
    """One whole batch and one half are refused for their size; everything arrives in smaller ones."""
    server.script([Answer(413), Answer(413)], then=route.good)
    ids = report(route, server.url)
    assert errorsink.flush(PATIENCE)
    arrived = Counter(identity for request in server.requests[2:] for identity in route.ids(request))
    assert arrived == Counter(ids)
    assert account(route).delivered == REPORTS


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_413_for_ever_rejects_each_record_once(route: Route, server: FaultyServer) -> None:
    server.script([], then=Answer(413))
    report(route, server.url)
    assert errorsink.flush(PATIENCE)
    assert account(route).rejected == {"http-413": REPORTS}
    assert len(server.requests) <= 2 * REPORTS


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_refused_connection_is_retried(route: Route, server: FaultyServer) -> None:
    """Nothing listens at first; when the peer is there, everything arrives once."""
    server.stop_listening()
    server.script([], then=route.good)
    ids = report(route, server.url)
    failing = wait_until(lambda: not errorsink.flush(0.1) and account(route).last_error is not None, PATIENCE)
    assert failing
    server.listen()
    assert errorsink.flush(PATIENCE)
    assert Counter(identity for request in server.requests for identity in route.ids(request)) == Counter(ids)


# ------------------------------------------------------------------------------------------------------------ gRPC

GRPC_RETRIED: dict[str, Sequence[GrpcBehaviour]] = {
    "silent": [SilentCall()],
    "unavailable": [Failing(grpc.StatusCode.UNAVAILABLE), Failing(grpc.StatusCode.UNAVAILABLE)],
    "exhausted, with a wish": [Failing(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_delay=0.05)],
}
GRPC_REJECTED = {
    "INVALID_ARGUMENT": grpc.StatusCode.INVALID_ARGUMENT,
    "PERMISSION_DENIED": grpc.StatusCode.PERMISSION_DENIED,
    "UNIMPLEMENTED": grpc.StatusCode.UNIMPLEMENTED,
}


@pytest.fixture
def grpc_server() -> Iterator[FaultyGrpcServer]:
    with FaultyGrpcServer() as running:
        yield running


GRPC = Route(
    "otlp-grpc",
    "otel_logs",
    OK,
    lambda url: {"otel_logs": True, "otel_exporter_otlp_endpoint": url, "otel_exporter_otlp_protocol": "grpc"},
    lambda request: [],
)


@pytest.mark.parametrize("fault", GRPC_RETRIED)
def test_grpc_what_may_pass_later_arrives(fault: str, grpc_server: FaultyGrpcServer) -> None:
    behaviours = GRPC_RETRIED[fault]
    grpc_server.script(behaviours)
    ids = report(GRPC, grpc_server.url)
    assert errorsink.flush(PATIENCE)
    taken = grpc_server.requests[len(behaviours) :]
    arrived = Counter(str(log.attributes["errorsink.id"]) for call in taken for log in call.logs)
    assert arrived == Counter(ids)
    assert account(GRPC).delivered == REPORTS


@pytest.mark.parametrize("fault", GRPC_REJECTED)
def test_grpc_what_the_peer_refuses_is_counted_and_not_tried_again(fault: str, grpc_server: FaultyGrpcServer) -> None:
    grpc_server.script([Failing(GRPC_REJECTED[fault])] * 20)
    report(GRPC, grpc_server.url)
    assert errorsink.flush(PATIENCE)
    sent = Counter(str(log.attributes["errorsink.id"]) for call in grpc_server.requests for log in call.logs)
    assert set(sent.values()) == {1}
    assert sum(account(GRPC).rejected.values()) == REPORTS


@pytest.mark.parametrize("behaviour", [Garbage(), Reset(), Reset("head"), Trickling("head"), Silent(), Answer(503)])
def test_grpc_what_is_no_grpc_at_all_loses_nothing(behaviour: Behaviour, server: FaultyServer) -> None:
    """The peer speaks something else, or breaks off: every report waits, is accounted for, and the end is in time."""
    server.script([], then=behaviour)
    report(GRPC, server.url)
    assert wait_until(lambda: not errorsink.flush(0.1) and account(GRPC).last_error is not None, PATIENCE)
    assert (account(GRPC).queued, account(GRPC).delivered) == (REPORTS, 0)
    assert not errorsink.shutdown(0.2)


def test_grpc_a_refused_connection_is_retried(grpc_server: FaultyGrpcServer) -> None:
    grpc_server.stop_listening()
    ids = report(GRPC, grpc_server.url)
    assert wait_until(lambda: not errorsink.flush(0.1) and account(GRPC).last_error is not None, PATIENCE)
    grpc_server.listen()
    assert errorsink.flush(PATIENCE)
    arrived = Counter(str(log.attributes["errorsink.id"]) for call in grpc_server.requests for log in call.logs)
    assert arrived == Counter(ids)


# ------------------------------------------------------------------------------------------------ side by side


def test_a_silent_peer_delays_no_other_sink(server: FaultyServer) -> None:
    """Datadog doesn't answer at all; OTLP delivers everything meanwhile."""
    with FaultyServer() as silent:
        silent.script([], then=Silent())
        settings = {**QUICK, "send_timeout": 60.0, **DATADOG.settings(silent.url), **OTLP.settings(server.url)}
        errorsink.configure(**settings)
        for number in range(REPORTS):
            errorsink.report_error(ValueError(number))
        silent.wait_for(1)
        server.wait_for(1)
        assert not errorsink.flush(0.2)
        found = errorsink.stats().sinks
        assert (found["otel_logs"].delivered, found["datadog"].queued) == (REPORTS, REPORTS)
        errorsink.shutdown(0.1)


def test_a_hundred_wide_reports_fit_the_intake(server: FaultyServer) -> None:
    """4,000 characters of three bytes each: no request over 5 MB, no item over 1 MB, all arrive."""
    server.script([], then=ACCEPTED)
    errorsink.configure(**{**QUICK, **DATADOG.settings(server.url), "send_timeout": 10.0})
    ids = [errorsink.report_error(ValueError("\u4e2d" * 4_000)).id for _ in range(100)]
    assert errorsink.flush(PATIENCE)
    assert Counter(identity for request in server.requests for identity in _datadog_ids(request)) == Counter(ids)
    assert max(len(request.body) for request in server.requests) <= 5_000_000
    items = [item for request in server.requests for item in json.loads(request.body)]
    assert max(len(json.dumps(item, ensure_ascii=False).encode()) for item in items) <= 1_000_000
