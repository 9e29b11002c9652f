"""What a collector's answer means for a batch, after OTLP's specification, over either protocol.

https://opentelemetry.io/docs/specs/otlp/#failures and #failures-1.
"""

from __future__ import annotations

import re
import ssl
import time
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any, Mapping
from urllib.parse import urlsplit

from errorsink.sinks import Outcome
from errorsink_otel._config import Target

__all__ = ["accepted", "http_answer", "network_failure", "retry_after", "unencodable"]

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
LONGEST_WAIT = 86_400.0
"""Seconds. Who asks for more has made a mistake, and a clock can't hold every number."""
_HINTS = {
    401: "check OTEL_EXPORTER_OTLP_HEADERS",
    403: "check OTEL_EXPORTER_OTLP_HEADERS",
    404: "check the path of {variable}",
    405: "check the path of {variable}",
    415: "check OTEL_EXPORTER_OTLP_PROTOCOL",
}
_PLAIN_HOST = re.compile(r"[0-9A-Za-z.:\[\]-]{1,100}")


def accepted(target: Target, partial_success: Any, sent: int) -> Outcome:
    """A success, with what the collector says about the records that it refused."""
    if partial_success is None:
        return Outcome.delivered()
    counts = (getattr(partial_success, name, 0) for name in ("rejected_log_records", "rejected_spans"))
    refused = min(max(*counts, 0), sent)
    message = target.masked(partial_success.error_message)
    if not refused and not message:
        return Outcome.delivered()
    verb = f"refused {refused} of {sent} records" if refused else "accepted all records with a warning"
    return Outcome.delivered(
        refused=refused,
        reason="partial-success",
        detail=f"{target.shown} {verb}{': ' + message if message else ''}",
    )


def http_answer(target: Target, status: int, headers: Mapping[str, str], message: str) -> Outcome:
    """A status other than a success."""
    reason = f"http-{status}"
    said = f": {message}" if message else ""
    detail = f"{target.shown} answered {status}{said}"
    if status in RETRIED_STATUSES:
        return Outcome.retry(reason, detail, after=retry_after(headers.get("Retry-After")))
    if status == 413:
        return Outcome.too_large(reason, detail)
    if 300 <= status < 400:
        where = _origin(headers.get("Location", ""))
        return Outcome.rejected(reason, f"{detail}, a redirect{where}, which is not followed; set {target.variable}")
    hint = _HINTS.get(status, "").format(variable=target.variable)
    return Outcome.rejected(reason, f"{detail}; {hint}" if hint else detail)


def _origin(location: str) -> str:
    """Where a redirect leads: scheme and host alone, the rest may hold a token."""
    try:
        parts = urlsplit(location)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return f" to {parts.scheme}://{host}" if parts.scheme in ("http", "https") and _PLAIN_HOST.fullmatch(host) else ""


def retry_after(value: str | None) -> float | None:
    """The seconds of a Retry-After, a number or a date; None for what makes no sense."""
    if not value:
        return None
    text = value.strip()
    try:
        seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else _until(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _until(date: str) -> float:
    moment = parsedate_to_datetime(date)
    if moment.tzinfo is None:  # an HTTP date is in GMT, also where it doesn't say so
        moment = moment.replace(tzinfo=timezone.utc)
    return moment.timestamp() - time.time()  # of the wall clock, as the peer's date is


def network_failure(target: Target, error: BaseException, handled: BaseException | None = None) -> Outcome:
    """No answer at all. The library's own text isn't shown: it has URLs with queries and a proxy's password.

    `handled` is the exception that the calling thread was handling before: it is in the context of every error that is
    raised meanwhile, and has nothing to do with it.
    """
    cause = _root(error, handled)
    if isinstance(cause, TimeoutError):
        return Outcome.retry("timeout", f"{target.shown} didn't answer in time")
    if isinstance(cause, ssl.SSLError):
        why = getattr(cause, "verify_message", None) or cause.reason or "failed"
        return Outcome.retry("tls", f"{target.shown}: TLS: {why}")
    if isinstance(cause, OSError) and cause.strerror:
        return Outcome.retry("network", f"{target.shown} can't be reached: {cause.strerror}")
    return Outcome.retry("network", f"{target.shown} gave no answer ({type(cause).__name__})")


def unencodable(error: Exception | None = None) -> Outcome:
    """A batch that can't be written: halved until the record that can't be is alone, and rejected."""
    cause = f" ({type(error).__name__})" if error is not None else ""
    return Outcome.too_large("encoding", f"a record can't be written in protobuf{cause}")


def _root(error: BaseException, handled: BaseException | None) -> BaseException:
    """The operating system's error behind the wrappings of urllib3 and requests, or the innermost error."""
    seen = {id(handled)}
    waiting: list[BaseException] = [error]
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        error = link
        if isinstance(link, (TimeoutError, ssl.SSLError)) or (isinstance(link, OSError) and link.strerror):
            return link
        hidden = (getattr(link, "reason", None), link.__cause__, link.__context__, *link.args)
        waiting += [inner for inner in hidden if isinstance(inner, BaseException)]
    return error
