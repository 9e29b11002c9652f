"""What an answer's parts mean."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from errorsink_otel._answers import LONGEST_WAIT, retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1", 1.0),
        (" 2.5 ", 2.5),
        ("0", 0.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e309", None),
        ("", None),
        (None, None),
        ("abc", None),
        ("\u0661\u0662", None),
        ("99999999999999999999", LONGEST_WAIT),
        ("9" * 5000, LONGEST_WAIT),
        ("Wed, 99 Foo 2015", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    """Seconds or a date, inside a day; nonsense is nothing."""
    assert retry_after(value) == seconds


@pytest.mark.parametrize("zone", [" GMT", " -0000", ""])
def test_retry_after_date(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A date ahead is the seconds until then; it is in GMT, whatever zone this machine is in."""
    monkeypatch.setattr("errorsink_otel._answers.time.time", lambda: 1_000_000.0)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after(formatdate(1_000_030, usegmt=True).replace(" GMT", zone)) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()
