"""What each answer of the intake means."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from errorsink_datadog._answers import outcome_of, wait_asked

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ((200, 202, 204), "delivered"),
        ((408, 429, 500, 501, 502, 503, 504, 599), "retry"),
        ((400, 401, 402, 404, 405, 407, 410, 415, 422, 499), "rejected"),
        ((300, 301, 302, 303, 304, 307, 308), "rejected"),
        ((403,), "stopped"),
        ((413,), "too_large"),
        ((199, 600, 999), "rejected"),
    ],
)
def test_what_a_code_means(codes: tuple[int, ...], status: str) -> None:
    """As Datadog documents: some are tried again, one halves the batch, one ends the sink, the others are final."""
    assert {outcome_of(code, {}, "h", NOW).status for code in codes} == {status}


@pytest.mark.parametrize("code", [302, 400, 401, 403, 404, 407, 413, 429, 503])
def test_a_failure_names_host_and_code(code: int) -> None:
    """The reason is a stable key, the detail says who answered what."""
    outcome = outcome_of(code, {}, "intake.example:81", NOW)

    assert outcome.reason == f"http-{code}"
    assert outcome.detail.startswith(f"intake.example:81 answered {code}")


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (302, "ERRORSINK_DATADOG_URL"),
        (401, "DD_API_KEY"),
        (403, "DD_SITE"),
        (404, "ERRORSINK_DATADOG_URL"),
        (407, "proxy variable"),
    ],
)
def test_a_final_failure_says_what_to_set(code: int, remedy: str) -> None:
    """The detail ends with the way out."""
    assert remedy in outcome_of(code, {}, "h", NOW).detail


WAITS = [
    ("0", 0.0),
    ("1", 1.0),
    (" 7 ", 7.0),
    ("2.5", 2.5),
    ("86400", 300.0),
    ("-1", None),
    ("nan", None),
    ("inf", None),
    ("1e309", None),
    ("1e3", None),
    ("0x10", None),
    ("1_000", None),
    ("\u0661", None),
    ("", None),
    ("abc", None),
    ("7, 7", None),
    ("9" * 20, None),
    ("9" * 5000, None),
    (formatdate(NOW + 20, usegmt=True), 20.0),
    (formatdate(NOW + 99_999, usegmt=True), 300.0),
    (formatdate(NOW - 3600, usegmt=True), 0.0),
    ("Wed, 99 Foo 2015", None),
    ("Wed, 21 Oct 99999 07:28:00 GMT", None),
    ("Wed, 21 Oct 2015 99:99:99 GMT", None),
]


@pytest.mark.parametrize(("value", "wait"), WAITS)
def test_retry_after(value: str, wait: float | None) -> None:
    """Seconds or an HTTP date, clamped to 300 s; nonsense is as if it weren't there."""
    assert wait_asked({"retry-after": value}, NOW) == wait


@pytest.mark.parametrize(("value", "wait"), [*WAITS[:18], (str(int(NOW) + 12), 12.0), (str(int(NOW) - 12), 0.0)])
def test_rate_limit_reset(value: str, wait: float | None) -> None:
    """Seconds from now, or the epoch's seconds, clamped alike."""
    assert wait_asked({"x-ratelimit-reset": value}, NOW) == wait


@pytest.mark.parametrize(("after", "wait"), [("3", 3.0), ("soon", 8.0), ("", 8.0)])
def test_retry_after_comes_first(after: str, wait: float) -> None:
    """The standard's header wins where it can be read."""
    assert wait_asked({"retry-after": after, "x-ratelimit-reset": "8"}, NOW) == wait


@pytest.mark.parametrize("code", [408, 429, 503])
def test_the_wait_goes_with_every_retry(code: int) -> None:
    """Each answer that is tried again may say when."""
    assert outcome_of(code, {"retry-after": "4"}, "h", NOW).retry_after == 4.0
