"""Snapshot → ErrorRecord: the one place where a report becomes text, redacted first and cut afterwards."""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import os
import sys
import threading
from hashlib import blake2b
from typing import Any, Mapping, Protocol, TypeVar

from errorsink import _classify
from errorsink._attributes import RAW_ATTRIBUTE
from errorsink._capture import Snapshot
from errorsink._chain import Link
from errorsink._frames import FrameCache
from errorsink._normalize import RAW_TEXT
from errorsink._receipt import uuid7
from errorsink._redact import without_end
from errorsink._stack import CUT, StackWriter, cut
from errorsink._traces import TraceCache
from errorsink.model import MAX_ATTRIBUTES, MAX_MESSAGE, AttributeValue, Cause, ErrorRecord, Handling, Level

__all__ = ["Redaction", "Renderer"]

MAX_ATTRIBUTE = 4_000
"""Code points of one attribute's value."""
MAX_NAME = 200
"""Code points of fingerprint, owner, thread name and attribute keys."""

NAMES_SIZE = 1_024
"""Names that are remembered."""
MAX_TIME = 2**63 - 1
"""Nanoseconds since 1970 that fit into every sink's integers: the year 2262."""

_W = TypeVar("_W", Level, Handling)
_LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error", "critical")
_HANDLINGS: tuple[Handling, ...] = ("handled", "unhandled_rejection", "uncaught_exception")


class Redaction(Protocol):
    """What the renderer needs of a redactor."""

    def redact(self, text: str) -> str: ...
    def redact_value(self, key: str, value: str) -> str: ...


class Renderer:
    """Renders with one redactor and remembers frames and constants."""

    def __init__(self, redaction: Redaction, *, entrypoint: str = "", model: str = "", provider: str = "") -> None:
        self._redaction = redaction
        self._names: dict[str, str] = {}
        self._traces = TraceCache(FrameCache(self._clean))
        self._stacks = StackWriter(self._traces, self._clean, self._clean_name)
        self._entrypoint = _classify.named(self._clean(entrypoint or _main_program()))
        self._model = _classify.named(self._clean(model)) if model else None
        self._provider = _classify.named(self._clean(provider)) if provider else None

    def _clean(self, text: str) -> str:
        """Without what UTF-8 or a C string can't hold, and redacted.

        Of a text that was capped when it was captured, the end goes too: it may hold half a secret.
        """
        clean = self._redaction.redact(utf8_clean(text))
        return clean if len(text) < RAW_TEXT else without_end(clean) + CUT

    def record(self, snapshot: Snapshot, repeat_count: int = 1, last_time_ns: int | None = None) -> ErrorRecord:
        """The record of a snapshot that stands for `repeat_count` equal reports."""
        link = snapshot.link
        message = self._clean(link.message)
        known = self._traces[link.places]
        code = self._code(snapshot)
        name = self._clean_name(link.type)
        trace = snapshot.trace
        attributes = self._attributes(snapshot.context, snapshot.attributes)
        return ErrorRecord(
            id=uuid7(snapshot.time_ns, snapshot.number),
            time_ns=min(max(snapshot.time_ns, 0), MAX_TIME),
            type=cut(name, MAX_NAME),
            message=cut(message, MAX_MESSAGE),
            stack=self._stacks.stack(link, message),
            fingerprint=self._name(snapshot.fingerprint) or fingerprint(name, code, known.functions),
            frames=known.frames,
            causes=self._causes(link),
            code=code,
            errno=_classify.errno_name(code),
            top_frame=known.top_frame,
            level=_one_of(snapshot.level, _LEVELS, "error"),
            handling=_one_of(snapshot.handling, _HANDLINGS, "handled"),
            control_flow=snapshot.control_flow,
            pid=os.getpid(),
            thread_id=snapshot.thread_id,
            thread_name=cut(self._clean_name(snapshot.thread_name), MAX_NAME),
            main_thread=snapshot.thread_id == threading.main_thread().ident,
            trace_id=f"{trace[0]:032x}" if trace else None,
            span_id=f"{trace[1]:016x}" if trace else None,
            trace_flags=trace[2] if trace else 0,
            attributes=attributes,
            owner=self._name(snapshot.owner),
            attempt=snapshot.attempt,
            recovered=snapshot.recovered,
            previous_id=uuid7(*snapshot.previous) if snapshot.previous else None,
            entrypoint=self._entrypoint,
            model=self._model,
            provider=self._provider,
            repeat_count=repeat_count,
            last_time_ns=last_time_ns,
        )

    def _code(self, snapshot: Snapshot) -> str | None:
        code = _classify.code_of(snapshot.code)
        return code if code is None or self._clean_name(code) == code else None

    def _name(self, text: str | None) -> str | None:
        return cut(self._clean(text), MAX_NAME) if text else None

    def _clean_name(self, name: str) -> str:
        """`_clean` for the few names that come again and again: classes, codes, threads."""
        known = self._names.get(name)
        if known is None:
            if len(self._names) >= NAMES_SIZE:
                self._names.clear()
            known = self._names[name] = self._clean(name)
        return known

    def _causes(self, link: Link) -> tuple[Cause, ...]:
        causes: list[Cause] = []
        behind = link.behind
        while behind is not None:
            message = self._clean(behind.message)
            stack = self._stacks.alone(behind, message)
            causes.append(Cause(cut(self._clean_name(behind.type), MAX_NAME), cut(message, MAX_MESSAGE), stack))
            behind = behind.behind
        return tuple(causes)

    def _attributes(self, outer: dict[str, Any] | None, own: dict[str, Any] | None) -> Mapping[str, AttributeValue]:
        if not outer and not own:
            return _NONE
        merged = {**(outer or {}), **(own or {})}
        kept = list(merged)
        if len(kept) > MAX_ATTRIBUTES:  # the report's own before those around it, the inner before the outer
            kept = [*(own or {}), *reversed([key for key in outer or () if key not in (own or ())])][:MAX_ATTRIBUTES]
        return {cut(self._clean(key), MAX_NAME): self._value(key, merged[key]) for key in kept}

    def _value(self, key: str, value: Any) -> Any:
        if type(value) is str:
            return cut(self._clean_value(key, value), MAX_ATTRIBUTE)
        if type(value) is tuple and value and type(value[0]) is str:
            return self._texts(key, value)
        masked = self._redaction.redact_value(key, str(value))
        return value if masked == str(value) else masked

    def _texts(self, key: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        """A list attribute's texts, which share the room of one value."""
        shown: list[str] = []
        room = MAX_ATTRIBUTE
        for text in texts:
            if room <= 0:
                shown.append(CUT)
                break
            shown.append(cut(self._clean_value(key, text), max(room, len(CUT))))
            room -= len(shown[-1])
        return tuple(shown)

    def _clean_value(self, key: str, value: str) -> str:
        clean = self._redaction.redact_value(key, utf8_clean(value))
        return clean if len(value) < RAW_ATTRIBUTE else without_end(clean) + CUT


def _one_of(value: Any, allowed: tuple[_W, ...], default: _W) -> _W:
    """The value where it is one of the allowed words; it may be anything at all."""
    return value if type(value) is str and value in allowed else default


_NONE: Mapping[str, AttributeValue] = {}


def utf8_clean(text: str) -> str:
    """The text with U+FFFD in place of every lone surrogate and every NUL."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def fingerprint(name: str, code: str | None, functions: str) -> str:
    """Sixteen hexadecimal digits, equal for equal errors: of the type, the code, and the functions on the way.

    Lines and messages are left out, so that an edit above or a number in the text doesn't make a new error.
    """
    known = "\0".join((name, code or "", functions))
    return blake2b(known.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _main_program() -> str:
    """The name of the main script or module, without its path."""
    main = sys.modules.get("__main__")
    spec: Any = getattr(main, "__spec__", None)
    if spec is not None and getattr(spec, "name", None):
        return str(spec.name).removesuffix(".__main__")
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    return name or "python"
