"""What a report becomes: the public, immutable data of errorsink.

Sinks receive `ErrorRecord`s; callers receive `Receipt`s. Every text in here is redacted, free of surrogates
and NUL, and within its limit, counted in Unicode code points.
"""

from __future__ import annotations

from typing import Literal, Mapping, NamedTuple, Sequence, Union

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
]

MAX_MESSAGE = 4_000
"""Code points in `ErrorRecord.message`, the mark of a cut included."""
MAX_STACK = 16_000
"""Code points in `ErrorRecord.stack`, the mark of a cut included."""
MAX_FRAMES = 20
"""Frames a traceback keeps: the 3 outermost and the 17 innermost."""
MAX_CAUSES = 5
"""Links of the `__cause__` / `__context__` chain that are kept behind the error itself."""
MAX_ATTRIBUTES = 100
"""Attributes of one report, those of `errorsink.context` included (Datadog advises fewer than 256)."""

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


class Receipt(NamedTuple):
    """What `report_error` returns: true when the report was accepted."""

    time_ns: int = 0
    """When the report was made, in nanoseconds since the Unix epoch; 0 for one that was not accepted."""
    number: int = 0
    """The 62 bits that tell this report from all others of its time."""
    reason: str | None = None
    """None when accepted; else `provider:NAME`, `disabled`, `essential-traffic`, `shutdown` or `internal`."""

    @property
    def accepted(self) -> bool:
        """True when the report is in the ring and on its way to every enabled sink."""
        return self.reason is None

    @property
    def id(self) -> str:
        """The report's UUIDv7; empty for a report that was not accepted."""
        return uuid7(self.time_ns, self.number) if self.reason is None else ""

    def __bool__(self) -> bool:
        return self.reason is None

    def __repr__(self) -> str:
        return f"Receipt(id={self.id!r}, accepted={self.accepted}, reason={self.reason!r})"


def uuid7(time_ns: int, number: int) -> str:
    """The UUIDv7 (RFC 9562, section 5.7) of a time and a 62-bit number.

    The 12 bits beside the milliseconds hold the fraction of the millisecond (section 6.2, method 3), so that
    ids made by one process sort in the order of their reports.
    """
    millis, rest = divmod(max(time_ns, 0), 1_000_000)
    value = (millis & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | (rest << 12) // 1_000_000 << 64
    digits = f"{value | 0b10 << 62 | number & 0x3FFF_FFFF_FFFF_FFFF:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
