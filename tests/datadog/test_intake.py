"""One attempt at the intake: what goes out, and what each answer or failure becomes."""

from __future__ import annotations

import gzip
import json
import logging
import traceback
from typing import Iterator

import httpcore
import httpx
import pytest
import respx
from errorsink_datadog._sink import DatadogSink

from errorsink.sinks import Outcome
from tests.datadog.samples import KEY, config, item, record

URL = "http://intake.example/api/v2/logs"
LOGS = [item(b'{"n":1}'), item('{"n":"ü"}'.encode())]


@pytest.fixture
def sink() -> Iterator[DatadogSink]:
    """A sink that sends to URL."""
    sink = DatadogSink(config({"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": "http://intake.example"}), lambda: 1.7e9)
    yield sink
    sink.close()


def test_the_request(sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """One POST with the key in its header, and a gzipped JSON array."""
    route = respx_mock.post(URL).respond(202)

    assert sink.send(LOGS, 5).status == "delivered"

    (call,) = route.calls
    headers = call.request.headers
    assert (headers["dd-api-key"], headers["content-type"], headers["content-encoding"]) == (
        KEY,
        "application/json",
        "gzip",
    )
    assert json.loads(gzip.decompress(call.request.content)) == [{"n": 1}, {"n": "ü"}]
    assert KEY not in str(call.request.url)


def test_the_site_decides_where(respx_mock: respx.MockRouter) -> None:
    """Without a URL of the user's own the batch goes to the site's intake."""
    route = respx_mock.post("https://http-intake.logs.datadoghq.eu/api/v2/logs").respond(202)
    sink = DatadogSink(config({"DD_API_KEY": KEY, "DD_SITE": "datadoghq.eu"}))

    sink.send(LOGS, 5)
    sink.close()

    assert route.call_count == 1


def test_userinfo_goes_as_authorization(respx_mock: respx.MockRouter) -> None:
    """User and password of the URL become a header, and leave the URL."""
    word = "pass" + "word"
    route = respx_mock.post(URL).respond(202)
    env = {"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": f"http://me:{word}@intake.example"}
    sink = DatadogSink(config(env))

    sink.send(LOGS, 5)
    sink.close()

    request = route.calls.last.request
    assert httpx.BasicAuth("me", word)._auth_header == request.headers["authorization"]
    assert word not in str(request.url)


@pytest.mark.parametrize("code", [200, 202, 301, 307, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503])
def test_one_attempt_for_every_answer(code: int, sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """Whether to try again is the core's to decide; the sink asks once."""
    route = respx_mock.post(URL).respond(code, headers={"Location": URL})

    sink.send(LOGS, 5)

    assert route.call_count == 1


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        (202, "delivered", ""),
        (302, "rejected", "http-302"),
        (400, "rejected", "http-400"),
        (401, "rejected", "http-401"),
        (403, "stopped", "http-403"),
        (404, "rejected", "http-404"),
        (408, "retry", "http-408"),
        (413, "too_large", "http-413"),
        (429, "retry", "http-429"),
        (503, "retry", "http-503"),
    ],
)
def test_the_outcome(code: int, status: str, reason: str, sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """An answer's code becomes the outcome, counted under the code."""
    respx_mock.post(URL).respond(code)

    outcome = sink.send(LOGS, 5)

    assert (outcome.status, outcome.reason) == (status, reason)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10.0),
        ({"X-RateLimit-Reset": "9"}, 9.0),
        ({"X-RateLimit-Reset": "1700000021"}, 21.0),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait(headers: dict[str, str], wait: float | None, sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """What the intake asks to wait arrives at the core, by the injected clock."""
    respx_mock.post(URL).respond(429, headers=headers)

    assert sink.send(LOGS, 5).retry_after == wait


def test_a_redirect_does_not_take_the_key_along(sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """The host that a redirect names is never asked."""
    respx_mock.post(URL).respond(302, headers={"Location": "http://evil.example/"})
    evil = respx_mock.route(host="evil.example").respond(202)

    outcome = sink.send(LOGS, 5)

    assert (outcome.status, evil.called) == ("rejected", False)


FAILURES = [
    (httpcore.ConnectError("[Errno 111] Connection refused"), "Connection refused"),
    (httpcore.ConnectTimeout("late"), "no connection in time"),
    (httpcore.ReadTimeout("late"), "ERRORSINK_SEND_TIMEOUT"),
    (httpcore.WriteTimeout("late"), "ERRORSINK_SEND_TIMEOUT"),
    (httpcore.ReadError("reset"), "ReadError"),
    (httpcore.RemoteProtocolError("bad"), "RemoteProtocolError"),
    (httpcore.ProxyError("407 no"), "proxy variables"),
    (httpx.ConnectError("refused"), "refused"),
    (httpx.ReadTimeout("late"), "no answer within 5 s"),
    (ConnectionResetError("reset"), "ConnectionResetError"),
]


@pytest.mark.parametrize(("failure", "words"), FAILURES, ids=lambda value: type(value).__name__)
def test_a_failing_network(failure: Exception, words: str, sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """Every way in which a request ends without an answer is tried again, and told with the host."""
    respx_mock.post(URL).mock(side_effect=failure)

    outcome = sink.send(LOGS, 5)

    assert (outcome.status, outcome.reason) == ("retry", "network")
    assert "intake.example" in outcome.detail
    assert words in outcome.detail


@pytest.mark.parametrize("failure", [*(failure for failure, _ in FAILURES), 302, 400, 403, 429])
def test_the_key_is_in_no_outcome_and_no_log(
    failure: Exception | int, sink: DatadogSink, respx_mock: respx.MockRouter, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither what is told nor what httpx and httpcore log at their most talkative holds the key."""
    caplog.set_level(logging.DEBUG)
    route = respx_mock.post(URL)
    if isinstance(failure, int):
        route.respond(failure, headers={"Location": f"http://h/?{KEY}", "X": KEY}, text=KEY)
    else:
        route.mock(side_effect=failure)

    outcome = sink.send(LOGS, 5)

    assert KEY not in repr(outcome)
    assert KEY not in caplog.text


def test_requests_are_not_logged(respx_mock: respx.MockRouter, caplog: pytest.LogCaptureFixture) -> None:
    """httpx's line for each request would have the URL in it, whose query may be a gateway's token."""
    caplog.set_level(logging.INFO)
    respx_mock.post(URL).respond(202)
    env = {"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": f"http://intake.example?token={KEY}"}
    sink = DatadogSink(config(env))

    outcome = sink.send(LOGS, 5)
    sink.close()

    assert (outcome.status, caplog.text) == ("delivered", "")


def test_a_fault_of_ours_is_not_hidden(sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """What isn't the network's comes out, for the core to count and to tell; the key isn't in it."""
    respx_mock.post(URL).mock(side_effect=ZeroDivisionError)

    with pytest.raises(ZeroDivisionError) as caught:
        sink.send(LOGS, 5)

    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_no_time_left(sink: DatadogSink) -> None:
    """A send without time makes no attempt and may be made later."""
    assert sink.send(LOGS, 0) == Outcome.retry(
        "network", "intake.example: no connection in time; check the network and the proxy variables"
    )


def test_a_real_batch(sink: DatadogSink, respx_mock: respx.MockRouter) -> None:
    """What prepare makes, send posts as it is."""
    route = respx_mock.post(URL).respond(202)
    items = [sink.prepare(record(message=str(number))) for number in range(3)]

    sink.send(items, 5)

    logs = json.loads(gzip.decompress(route.calls.last.request.content))
    assert [log["message"] for log in logs] == ["0", "1", "2"]
