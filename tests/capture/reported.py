"""One report and what became of it: the receipt, the one entry in the ring, the record."""

from __future__ import annotations

import json
import re
import traceback
from typing import Any, Callable

import errorsink
from errorsink import ErrorRecord, _current, _ring
from errorsink._redact import Redactor
from errorsink._render import Renderer
from errorsink.model import MAX_CAUSES, MAX_FRAMES, MAX_MESSAGE, MAX_STACK

_renderers: list[Renderer] = []


def renderer() -> Renderer:
    """A renderer with the real redaction, built once."""
    if not _renderers:
        _renderers.append(Renderer(Redactor()))
    return _renderers[0]


def report(error: Any, **details: Any) -> ErrorRecord:
    """The record of a report. Fails unless the report is accepted, makes one entry and keeps every limit."""
    before = len(_ring.snapshots())
    receipt = errorsink.report_error(error, **details)
    snapshots = _ring.snapshots()
    assert receipt.accepted, receipt
    assert len(snapshots) == min(before + 1, _ring.SIZE)
    record = renderer().record(snapshots[-1])
    assert record.id == receipt.id
    check(record)
    return record


def report_here(raising: Callable[[], object]) -> tuple[ErrorRecord, BaseException]:
    """The record of what a call raises, and the exception itself."""
    try:
        raising()
    except BaseException as error:
        return report(error), error
    raise AssertionError("nothing was raised")


def without_this_frame(error: BaseException) -> BaseException:
    """The error as if the outermost frame of its traceback weren't there."""
    assert error.__traceback__ is not None
    return error.with_traceback(error.__traceback__.tb_next)


def check(record: ErrorRecord) -> None:
    """Every limit of a record; strict JSON and UTF-8 in every field."""
    assert record.type
    assert len(record.message) <= MAX_MESSAGE
    assert 0 < len(record.stack) <= MAX_STACK
    assert len(record.frames) <= MAX_FRAMES
    assert len(record.causes) <= MAX_CAUSES
    assert all(len(cause.message) <= MAX_MESSAGE and len(cause.stack) <= MAX_STACK for cause in record.causes)
    assert len(record.attributes) <= 100
    assert 0 <= record.time_ns < 1 << 63
    for text in texts(record._asdict()):
        assert type(text) is str
        assert "\0" not in text
        text.encode("utf-8", "strict")
    plain = {**record._asdict(), "attributes": {key: _json(value) for key, value in record.attributes.items()}}
    assert json.loads(json.dumps(plain, allow_nan=False), parse_constant=_no_constant)


def texts(value: Any) -> list[str]:
    """All strings of a record, keys included; every other value must be plain."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, tuple):
        return [text for part in value for text in texts(part)]
    assert value is None or type(value) in (bool, int, float), type(value)
    return []


def _json(value: Any) -> Any:
    """An attribute as the sinks write it: what JSON has no number for is text."""
    if type(value) is tuple:
        return [_json(item) for item in value]
    return repr(value) if type(value) is float else value


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def last_line(record: ErrorRecord) -> str:
    return record.stack.rpartition("\n")[2]


def python_stack(error: BaseException) -> str:
    """What Python's `traceback` says, as `plain` has it."""
    return plain("".join(traceback.format_exception(type(error), error, error.__traceback__)).removesuffix("\n"))


def plain(stack: str) -> str:
    """A stack without its lines of carets, those in the boxes of groups included."""
    return "\n".join(row for row in stack.split("\n") if not _CARETS.fullmatch(row))


_CARETS = re.compile(r"(?: +\| )?[ \t^~]+")


class Paused:
    """A pipeline whose sinks are paused: it takes snapshots and does nothing with them."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self.accept = self.taken.append

    def shutdown(self, deadline: float) -> bool:
        return True

    def redactions(self) -> dict[str, int]:
        return {}

    def accounts(self) -> dict[str, Any]:
        return {}

    def drain_at_exit(self) -> None:
        """There is nothing to drain."""


def pause() -> Paused:
    """Puts a paused pipeline in the place of the running one."""
    paused = Paused()
    _current.running[_current.KEY] = paused  # type: ignore[assignment]
    return paused
