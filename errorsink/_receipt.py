"""The answer of a report."""

from __future__ import annotations

__all__ = ["Receipt", "uuid7"]


class Receipt:
    """What `report_error` returns: true when the report was accepted. It can't be changed.

    Attributes:
        time_ns: when the report was made, in nanoseconds since the Unix epoch; 0 for one that was not accepted.
        number: the 62 bits that tell this report from all others of its time.
        reason: None when accepted; else `provider:NAME`, `disabled`, `essential-traffic`, `shutdown` or `internal`.
    """

    __slots__ = ("number", "reason", "time_ns")
    time_ns: int
    number: int
    reason: str | None

    def __init__(self, time_ns: int = 0, number: int = 0, reason: str | None = None) -> None:
        _set_time_ns(self, time_ns)
        _set_number(self, number)
        _set_reason(self, reason)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a receipt can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a receipt can't be changed: {name}")

    def __reduce__(self) -> tuple[type[Receipt], tuple[int, int, str | None]]:
        return Receipt, (self.time_ns, self.number, self.reason)

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


_set_time_ns, _set_number, _set_reason = (Receipt.__dict__[name].__set__ for name in ("time_ns", "number", "reason"))


def uuid7(time_ns: int, number: int) -> str:
    """The UUIDv7 (RFC 9562, section 5.7) of a time and a 62-bit number.

    The 12 bits beside the milliseconds hold the fraction of the millisecond (section 6.2, method 3), so that
    ids made by one process sort in the order of their reports.
    """
    millis, rest = divmod(max(time_ns, 0), 1_000_000)
    value = (millis & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | (rest << 12) // 1_000_000 << 64
    digits = f"{value | 0b10 << 62 | number & 0x3FFF_FFFF_FFFF_FFFF:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
