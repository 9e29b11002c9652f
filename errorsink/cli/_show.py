"""Received records as people read them."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import datetime, timezone
from typing import Any, Iterator, Mapping

from errorsink.cli._terminal import Colour, Palette, escape, escape_lines, shorten
from errorsink.cli.receiver import Received, ReceivedLog, ReceivedSpan, error_id

_SEVERITIES: tuple[tuple[int, str, Colour], ...] = (
    (21, "FATAL", "red"),
    (17, "ERROR", "red"),
    (13, "WARN", "yellow"),
    (9, "INFO", "cyan"),
    (5, "DEBUG", "dim"),
    (1, "TRACE", "dim"),
)
_ELSEWHERE = frozenset({"exception.type", "exception.message", "exception.stacktrace", "error.type", "errorsink.id"})
"""Attributes that are shown in a place of their own."""
_SDK_OWN = ("telemetry.sdk.", "service.instance.")
"""Resource attributes that every SDK adds by itself, and that tell nothing about the error."""
_MAX_VALUE = 400
_MAX_MESSAGE = 4_000
_MAX_LINES = 400
_REMEMBERED = 1_000


class Display:
    """Turns records into lines. It remembers the latest ids: an error's stack is shown once, not for its span again."""

    def __init__(self, palette: Palette) -> None:
        self._paint = palette
        self._shown: OrderedDict[str, None] = OrderedDict()

    def lines(self, record: Received) -> Iterator[str]:
        """The lines for one record, without line ends."""
        known = self._remember(error_id(record))
        if isinstance(record, ReceivedLog):
            yield self._log_title(record)
        else:
            yield self._span_title(record)
        if not known:
            yield from self._stack(_exception(record))
            yield from self._attributes("", record.attributes)
            resource = {key: value for key, value in record.resource.items() if not key.startswith(_SDK_OWN)}
            yield from self._attributes("resource ", resource)
        yield from self._origin(record)

    def _remember(self, key: str) -> bool:
        if not key:
            return False
        known = key in self._shown
        self._shown[key] = None
        if len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        return known

    def _log_title(self, log: ReceivedLog) -> str:
        label, colour = _severity(log)
        time = _clock(log.time_unix_nano or log.observed_time_unix_nano)
        kind = self._paint(f"{label:<5}", colour, "bold")
        what = _what(log.attributes) or _text(log.body) or log.event_name
        return f"{self._dim(time)} {kind} {self._title(what)}"

    def _span_title(self, span: ReceivedSpan) -> str:
        what = _what(_exception(span)) or span.status_message
        kind = self._paint("span ", "cyan", "bold")
        name = self._paint(escape(shorten(span.name, _MAX_VALUE)), "bold")
        return f"{self._dim(_clock(span.end_time_unix_nano))} {kind} {name} {self._title(what)}".rstrip()

    def _title(self, what: str) -> str:
        return escape(shorten(what, _MAX_MESSAGE))

    def _stack(self, attributes: Mapping[str, Any]) -> Iterator[str]:
        stack = _text(attributes.get("exception.stacktrace"))
        lines = escape_lines(stack.rstrip("\n")) if stack else []
        for line in lines[:_MAX_LINES]:
            yield f"  {self._dim('│')} {line}"
        if len(lines) > _MAX_LINES:
            yield f"  {self._dim(f'│ … {len(lines) - _MAX_LINES} more lines')}"

    def _attributes(self, prefix: str, attributes: Mapping[str, Any]) -> Iterator[str]:
        shown = [f"{key}={_value(value)}" for key, value in sorted(attributes.items()) if key not in _ELSEWHERE]
        if shown:
            yield f"  {self._dim(prefix + '  '.join(escape(pair) for pair in shown))}"

    def _origin(self, record: Received) -> Iterator[str]:
        parts = [f"id {error_id(record)}"] if error_id(record) else []
        if record.trace_id:
            parts.append(f"trace {record.trace_id} span {record.span_id}")
        if parts:
            yield f"  {self._dim('  '.join(map(escape, parts)))}"

    def _dim(self, text: str) -> str:
        return self._paint(text, "dim")


def _exception(record: Received) -> Mapping[str, Any]:
    """The attributes that tell of the exception: a log's own, or those of the span's event."""
    if isinstance(record, ReceivedSpan):
        for event in record.events:
            if event.name == "exception":
                return event.attributes
    return record.attributes


def _what(attributes: Mapping[str, Any]) -> str:
    kind, message = _text(attributes.get("exception.type")), _text(attributes.get("exception.message"))
    return f"{kind}: {message}" if kind and message else kind or message


def _severity(log: ReceivedLog) -> tuple[str, Colour]:
    for lowest, label, colour in _SEVERITIES:
        if log.severity_number >= lowest:
            return label, colour
    return escape(shorten(log.severity_text, 16)) or "log", "dim"


def _clock(nanoseconds: int) -> str:
    """UTC, to the millisecond; a time that no calendar has is shown as its number."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    try:
        day = datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{nanoseconds} ns"
    return f"{day:%Y-%m-%d %H:%M:%S}.{rest // 1_000_000:03d}Z"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _value(value)


def _value(value: Any) -> str:
    """A value on one line; a string bare where that can't be mistaken for anything else."""
    if isinstance(value, str) and value and " " not in value and "=" not in value:
        return shorten(value, _MAX_VALUE)
    return shorten(json.dumps(value, ensure_ascii=False, default=repr), _MAX_VALUE)
