"""A record as the core makes it, and a sink's configuration of an environment."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from errorsink._settings import Settings
from errorsink.model import ErrorRecord, Frame
from errorsink.sinks import SinkConfig

NOW_NS = 1_700_000_000_123_456_789
CANARY = "canary" + "0123456789"
"""A header's value that must not be seen anywhere but in the header."""

STACK = """Traceback (most recent call last):
  File "/srv/shop/checkout.py", line 40, in checkout
    pay(order)
  File "/srv/shop/payment.py", line 17, in pay
    raise PaymentError("card declined")
shop.payment.PaymentError: card declined
"""

RECORD = ErrorRecord(
    id="018bcfe5-6800-7abc-8def-0123456789ab",
    time_ns=NOW_NS,
    type="shop.payment.PaymentError",
    message="card declined",
    stack=STACK,
    fingerprint="9f86d081884c7d65",
    frames=(
        Frame("checkout", "shop.checkout", "/srv/shop/checkout.py", 40, True),
        Frame("pay", "shop.payment", "/srv/shop/payment.py", 17, True),
    ),
    code="CARD_DECLINED",
    thread_id=77,
    thread_name="MainThread",
    main_thread=True,
    trace_id="0af7651916cd43dd8448eb211c80319c",
    span_id="b7ad6b7169203331",
    trace_flags=1,
    attributes={"order.id": 17, "amount": 12.5, "vip": True, "items": ["a", "b"]},
    owner="queue",
    attempt=2,
    recovered=True,
)

OWN_ATTRIBUTES: dict[str, object] = {
    "error.type": "shop.payment.PaymentError",
    "errorsink.id": "018bcfe5-6800-7abc-8def-0123456789ab",
    "errorsink.handling": "handled",
    "errorsink.fingerprint": "9f86d081884c7d65",
    "errorsink.code": "CARD_DECLINED",
    "errorsink.owner": "queue",
    "errorsink.attempt": 2,
    "errorsink.recovered": True,
    "thread.id": 77,
    "thread.name": "MainThread",
    "code.function.name": "shop.payment.pay",
    "code.file.path": "/srv/shop/payment.py",
    "code.line.number": 17,
}
EXCEPTION_ATTRIBUTES: dict[str, object] = {
    "exception.type": "shop.payment.PaymentError",
    "exception.message": "card declined",
    "exception.stacktrace": STACK,
}


def record(**fields: Any) -> ErrorRecord:
    """The sample record with other fields."""
    return RECORD._replace(**fields)


def nothing(text: str) -> None:
    """Listens to no diagnostic."""


def config(
    env: Mapping[str, str] | None = None,
    switch: bool | None = None,
    diagnose: Callable[[str], None] = nothing,
    **overrides: object,
) -> SinkConfig:
    """A configuration as the core makes it, of an environment and of what code has set."""
    settings, problems = Settings.load(env or {}, overrides)
    assert not problems
    return SinkConfig(switch, settings.values, env or {}, diagnose)
