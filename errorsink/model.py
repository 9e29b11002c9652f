"""What a report becomes: the public, immutable data of errorsink.

Sinks receive `ErrorRecord`s; callers receive `Receipt`s. Every text in here is redacted, free of surrogates
and NUL, and within its limit, counted in Unicode code points.
"""

from __future__ import annotations

from typing import Literal, Mapping, NamedTuple, Sequence, Union

from errorsink._limits import MAX_ATTRIBUTES, MAX_CAUSES, MAX_FRAMES, MAX_MESSAGE, MAX_STACK
from errorsink._receipt import Receipt, uuid7

__all__ = [
    "MAX_ATTRIBUTES",
    "MAX_CAUSES",
    "MAX_FRAMES",
    "MAX_MESSAGE",
    "MAX_STACK",
    "AttributeValue",
    "Cause",
    "ErrorRecord",
    "Frame",
    "Handling",
    "Level",
    "Receipt",
    "uuid7",
]

Level = Literal["debug", "info", "warning", "error", "critical"]
Handling = Literal["handled", "unhandled_rejection", "uncaught_exception"]
Scalar = Union[str, bool, int, float]
AttributeValue = Union[Scalar, Sequence[str], Sequence[bool], Sequence[int], Sequence[float]]


class Frame(NamedTuple):
    """One place in a traceback."""

    function: str
    module: str
    file: str
    line: int | None
    in_app: bool
    """False for the standard library and for what is installed in site-packages."""


class Cause(NamedTuple):
    """One exception behind the reported one, nearest first."""

    type: str
    message: str
    stack: str


class ErrorRecord(NamedTuple):
    """One reported error, ready for every sink."""

    id: str
    """UUIDv7 in its usual text form; equal to `Receipt.id`."""
    time_ns: int
    """When `report_error` was called, in nanoseconds since the Unix epoch."""
    type: str
    """Qualified name of the exception's class, as Python prints it."""
    message: str
    stack: str
    """The traceback in Python's own format, without caret lines."""
    fingerprint: str
    """Equal for equal errors: given by the caller, or computed from type, code and frames."""
    frames: tuple[Frame, ...] = ()
    """Outermost first, at most `MAX_FRAMES`."""
    causes: tuple[Cause, ...] = ()
    """Nearest first, at most `MAX_CAUSES`."""
    code: str | None = None
    """The stable machine code: `HarnessError.code`, a `reason_code`, an errno name or an HTTP status."""
    errno: str | None = None
    """The symbolic errno, such as `ECONNREFUSED`, where there is one."""
    top_frame: str | None = None
    """`module:function:line` of the innermost frame."""
    level: Level = "error"
    handling: Handling = "handled"
    control_flow: bool = False
    """True for KeyboardInterrupt, SystemExit, GeneratorExit, cancellation and their kin."""
    pid: int = 0
    thread_id: int = 0
    thread_name: str = ""
    main_thread: bool = False
    trace_id: str | None = None
    """The caller's active OpenTelemetry trace: 32 hexadecimal digits."""
    span_id: str | None = None
    """The caller's active OpenTelemetry span: 16 hexadecimal digits."""
    trace_flags: int = 0
    attributes: Mapping[str, AttributeValue] = {}
    """The caller's own, those of `errorsink.context` included. Not to be changed."""
    owner: str | None = None
    attempt: int | None = None
    recovered: bool | None = None
    previous_id: str | None = None
    """The earlier report of the same object, where it was reported as handled and then went uncaught."""
    entrypoint: str | None = None
    model: str | None = None
    provider: str | None = None
    repeat_count: int = 1
    """How many equal reports this record stands for; more than 1 only where a full queue merged them."""
    last_time_ns: int | None = None
    """When the last of the merged reports was made; None where nothing was merged."""
