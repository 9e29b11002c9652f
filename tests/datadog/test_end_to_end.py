"""From `report_error` to the intake, with all that lies between."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterator

import pytest

import errorsink
from errorsink import Account
from tests.collectors.contract import wait_until
from tests.collectors.faults import ACCEPTED, OK, Answer, Behaviour, Closed, Redirect, Reset, Silent, TooLarge
from tests.collectors.faulty import FaultyServer
from tests.collectors.http_request import Request
from tests.datadog.samples import KEY

PATIENCE = 30.0


@pytest.fixture
def intake() -> Iterator[FaultyServer]:
    """An intake that takes everything, until a test tells it otherwise."""
    with FaultyServer(ACCEPTED) as server:
        yield server


@pytest.fixture
def configured(intake: FaultyServer) -> Callable[..., None]:
    """Configures errorsink for the intake, with short waits."""

    def configure(**more: Any) -> None:
        errorsink.configure(
            **{
                "dd_api_key": KEY,
                "datadog_url": intake.url,
                "dd_service": "shop",
                "dd_env": "prod",
                "batch_delay": 0.01,
                "retry_max_delay": 0.05,
                **more,
            }
        )

    configure()
    return configure


def account() -> Account:
    """What became of the records for Datadog."""
    return errorsink.stats().sinks["datadog"]


def raised(error: Exception) -> Exception:
    """The error with a traceback."""
    try:
        raise error
    except Exception as caught:
        return caught


def logs(requests: list[Request]) -> list[dict[str, Any]]:
    """All logs of the requests."""
    return [log for request in requests for log in request.json()]


@pytest.mark.usefixtures("configured")
def test_one_report_is_one_post(intake: FaultyServer) -> None:
    """With a key and a URL a report is one POST, with the key's header, gzip and the envelope."""
    receipt = errorsink.report_error(raised(KeyError("sku")), attributes={"order.id": 17}, level="critical")

    assert errorsink.flush(PATIENCE)

    (request,) = intake.requests
    (log,) = request.json()
    assert (request.method, request.path) == ("POST", "/api/v2/logs")
    assert (request.headers["dd-api-key"], request.headers["content-encoding"]) == (KEY, "gzip")
    assert (log["errorsink"]["id"], log["service"], log["status"]) == (receipt.id, "shop", "critical")
    assert (log["error"]["kind"], log["error"]["handling"], log["ctx"]) == ("KeyError", "handled", {"order.id": 17})
    assert log["error"]["stack"].startswith("Traceback (most recent call last):\n  File ")
    assert log["top_frame"].startswith("tests.datadog.test_end_to_end:raised:")
    assert "env:prod" in log["ddtags"]


@pytest.mark.usefixtures("configured")
def test_wide_characters_are_counted_as_bytes(intake: FaultyServer) -> None:
    """200 reports of 4,000 wide characters arrive, in requests under 5 MB and items under 1 MB."""
    for _ in range(200):
        errorsink.report_error(ValueError("中" * 4_000))

    assert errorsink.flush(PATIENCE)

    assert len({log["errorsink"]["id"] for log in logs(intake.requests)}) == 200
    assert max(len(request.body) for request in intake.requests) < 5_000_000
    assert len(intake.requests) > 1


TRANSIENT: list[Behaviour] = [
    *(Answer(429, {"Retry-After": value}) for value in ("0", "-1", "nan", "inf", "1e309", "", "abc", "9" * 20)),
    *(Answer(429, {"Retry-After": value}) for value in ("Wed, 99 Foo 2015", "Wed, 21 Oct 2015 07:28:00 GMT")),
    *(Answer(429, {"X-RateLimit-Reset": value}) for value in ("0", "-5", "nan", "soon", "1445412480")),
    *(Answer(code) for code in (408, 429, 500, 502, 503, 504)),
    Reset("before"),
    Reset("head"),
    Closed(),
    Silent(),
]


@pytest.mark.parametrize("behaviour", TRANSIENT, ids=str)
def test_a_passing_fault_costs_nothing(
    behaviour: Behaviour, intake: FaultyServer, configured: Callable[..., None]
) -> None:
    """Every report arrives exactly once after the intake has recovered."""
    configured(send_timeout=0.3)
    intake.script([behaviour, behaviour], then=ACCEPTED)
    receipts = [errorsink.report_error(raised(ValueError(number))) for number in range(3)]

    assert errorsink.flush(PATIENCE)

    accepted = logs(intake.requests[2:])
    assert sorted(log["errorsink"]["id"] for log in accepted) == sorted(receipt.id for receipt in receipts)
    assert account().delivered == 3


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_a_final_refusal(
    code: int, intake: FaultyServer, configured: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Not tried again, counted under its code, and told once without the key."""
    intake.script([], then=Answer(code))

    for number in range(3):
        errorsink.report_error(raised(ValueError(number)))
        errorsink.flush(PATIENCE)

    said = [line for line in capsys.readouterr().err.splitlines() if f"answered {code}" in line]
    assert sum(account().rejected.values()) == 3
    assert len(intake.requests) == (1 if code == 403 else 3)
    assert len(said) == 1
    assert KEY not in said[0]


@pytest.mark.usefixtures("configured")
def test_too_large_is_halved_down_to_the_one(intake: FaultyServer) -> None:
    """413 costs the one report that can't pass, and no other."""
    intake.script([], then=TooLarge(max_bytes=12_000))
    errorsink.report_error(ValueError("x" * 4_000), attributes={"dump": "y" * 3_000, "more": "z" * 3_000})
    for number in range(7):
        errorsink.report_error(raised(ValueError(number)))

    assert errorsink.flush(PATIENCE)

    assert (account().delivered, sum(account().rejected.values())) == (7, 1)


@pytest.mark.usefixtures("configured")
def test_a_redirect_is_refused(intake: FaultyServer) -> None:
    """The other host is never asked, so the key stays here."""
    with FaultyServer(ACCEPTED) as evil:
        intake.script([], then=Redirect(f"{evil.url}/api/v2/logs"))
        errorsink.report_error(raised(ValueError()))
        errorsink.flush(PATIENCE)

        assert (evil.connections, sum(account().rejected.values())) == (0, 1)


@pytest.mark.usefixtures("configured")
def test_noise_is_counted_and_kept(intake: FaultyServer) -> None:
    """Filtered means: not sent, counted by reason, and still among the recent errors."""
    noise = type("AuthenticationError", (Exception,), {})
    errorsink.report_error(raised(noise("expired")))
    errorsink.report_error(KeyboardInterrupt())

    assert errorsink.flush(PATIENCE)

    assert account().filtered == {"noise:AuthenticationError": 1, "noise:control-flow": 1}
    assert (intake.requests, len(errorsink.recent_errors())) == ([], 2)


def test_a_silent_intake_holds_no_other_sink_up(intake: FaultyServer, configured: Callable[..., None]) -> None:
    """While Datadog is silent, and the noise is filtered there, OpenTelemetry gets everything."""
    intake.script([], then=Silent())
    with FaultyServer(OK) as collector:
        configured(otel_logs=True, otel_spans=False, otel_exporter_otlp_endpoint=collector.url)
        errorsink.report_error(raised(ValueError("first")))
        errorsink.report_error(raised(type("AuthenticationError", (Exception,), {})("second")))
        intake.wait_for(1)

        arrived = wait_until(lambda: {b"first", b"second"} <= words_in(collector.requests), PATIENCE)

        assert (arrived, account().delivered) == (True, 0)
        intake.script([], then=ACCEPTED)
        intake.release()
        assert errorsink.flush(PATIENCE)
        assert (account().delivered, account().filtered) == (1, {"noise:AuthenticationError": 1})


def words_in(requests: list[Request]) -> set[bytes]:
    """Which of the two messages are in the bodies."""
    return {word for word in (b"first", b"second") for request in requests if word in request.body}


@pytest.mark.parametrize("value", ["", "with a space"])
def test_switched_on_without_a_usable_key(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sink is off, and one sentence says what to set."""
    monkeypatch.setenv("DD_API_KEY", value)
    monkeypatch.setenv("ERRORSINK_DATADOG", "1")
    errorsink.configure()

    for number in range(3):
        errorsink.report_error(ValueError(number))
        errorsink.flush(PATIENCE)

    said = re.findall(r"errorsink: .*set it to an API key.*", capsys.readouterr().err)
    assert ("datadog" in errorsink.stats().sinks, len(said)) == (False, 1)
