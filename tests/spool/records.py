"""Records for the spool's tests."""

from __future__ import annotations

from errorsink.model import Cause, ErrorRecord, Frame


def make_record(record_id: str, *, size: int = 100) -> ErrorRecord:
    """A record with this id, whose JSON is some 800 bytes and `size` more."""
    return ErrorRecord(
        id=record_id,
        time_ns=1_700_000_000_000_000_000,
        type="ValueError",
        message="no such order",
        stack="x" * size,
        fingerprint="f",
        frames=(Frame("place", "shop.orders", "/srv/shop/orders.py", 17, True),),
        causes=(Cause("KeyError", "'order'", "…"),),
        attributes={"order.id": 7},
    )
