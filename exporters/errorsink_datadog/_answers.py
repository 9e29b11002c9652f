"""What an answer of the intake means: status and headers to an `Outcome`. Pure; the body isn't needed."""

from __future__ import annotations

import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Mapping

from errorsink.sinks import Outcome

__all__ = ["MAX_WAIT", "outcome_of", "wait_asked"]

MAX_WAIT = 300.0
"""Seconds that an answer can make the sink wait, at most."""

RETRIED = frozenset({408, 429})
"""With every 5xx: the answers after which Datadog's documentation says to try again."""

_SECONDS = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,9})?")
_EPOCH = 1_000_000_000
"""A number from here on is a point in time (2001 and later), a smaller one a number of seconds."""


def outcome_of(status: int, headers: Mapping[str, str], host: str, now: float) -> Outcome:
    """The outcome of a batch that `host` answered with this status, at `now` (seconds since the epoch)."""
    if 200 <= status < 300:
        return Outcome.delivered()
    reason = f"http-{status}"
    said = f"{host} answered {status}{_phrase(status)}"
    if status in RETRIED or 500 <= status < 600:
        return Outcome.retry(reason, said, after=wait_asked(headers, now))
    if status == 403:
        return Outcome.stopped(
            reason, f"{said}: the API key is refused, and nothing more is sent; set DD_API_KEY and the DD_SITE it is of"
        )
    if status == 413:
        return Outcome.too_large(reason, f"{said}: the batch is too large for it")
    return Outcome.rejected(reason, f"{said}: {_remedy(status)}")


def _phrase(status: int) -> str:
    """The standard's own phrase; the peer's isn't repeated, it may hold anything."""
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _remedy(status: int) -> str:
    if 300 <= status < 400:
        return (
            "a redirect isn't followed, so that the API key stays here; set ERRORSINK_DATADOG_URL or DD_SITE to"
            " where it leads"
        )
    if status == 401:
        return "the request isn't authorized; check DD_API_KEY"
    if status == 404:
        return "there is no logs intake; check ERRORSINK_DATADOG_URL and DD_SITE"
    if status == 407:
        return "the proxy wants a user and password; add them to the proxy variable's URL"
    return "the batch isn't accepted; check ERRORSINK_DATADOG_URL, or report this as a fault of errorsink"


def wait_asked(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that `Retry-After`, else `X-RateLimit-Reset`, asks to wait: from 0 to `MAX_WAIT`, or None for nonsense.

    `Retry-After` is a number of seconds or an HTTP date (RFC 9110, section 10.2.3); `X-RateLimit-Reset` is a number of
    seconds, or of seconds since the epoch. A moment that has passed is a wait of 0.
    """
    after = headers.get("retry-after", "").strip()
    reset = headers.get("x-ratelimit-reset", "").strip()
    for wait in (_number(after), _date(after, now), _number(reset, epoch=now)):
        if wait is not None:
            return min(max(wait, 0.0), MAX_WAIT)
    return None


def _number(text: str, epoch: float | None = None) -> float | None:
    """A plain decimal number; too large a one is taken for nonsense, unless it can be a point in time."""
    if not _SECONDS.fullmatch(text):
        return None
    value = float(text)
    if value < _EPOCH:
        return value
    return None if epoch is None else value - epoch


def _date(text: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
