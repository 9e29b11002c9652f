"""A record as the core makes it, a sink's configuration, and a key that is written down nowhere."""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping

from errorsink_datadog._resource import Resource

from errorsink._settings import Settings
from errorsink.model import Cause, ErrorRecord, Frame
from errorsink.sinks import Item, SinkConfig

NOW_MS = 1_700_000_000_000
KEY = "canary" + "0123456789abcdef" * 2
"""Looks like an API key, and is easy to find in what must not hold it."""

RESOURCE = Resource("shop", "host-1", "env:prod,version:1.2.3")

STACK = """Traceback (most recent call last):
  File "/srv/shop/checkout.py", line 40, in checkout
    pay(order)
  File "/srv/shop/payment.py", line 17, in pay
    raise PaymentError("card declined")
shop.payment.PaymentError: card declined
"""

RECORD = ErrorRecord(
    id="018bcfe5-6800-7abc-8def-0123456789ab",
    time_ns=NOW_MS * 1_000_000 + 123_456,
    type="shop.payment.PaymentError",
    message="card declined",
    stack=STACK,
    fingerprint="9f86d081884c7d65",
    frames=(
        Frame("checkout", "shop.checkout", "/srv/shop/checkout.py", 40, True),
        Frame("pay", "shop.payment", "/srv/shop/payment.py", 17, True),
    ),
    causes=(Cause("ConnectionResetError", "reset by peer", "Traceback…\nConnectionResetError: reset by peer\n"),),
    code="ECONNRESET",
    errno="ECONNRESET",
    top_frame="shop.payment:pay:17",
    thread_name="MainThread",
    main_thread=True,
    trace_id="0af7651916cd43dd8448eb211c80319c",
    span_id="b7ad6b7169203331",
    attributes={"order.id": 17, "customer": "c-1", "amount": 12.5, "vip": True, "items": ["a", "b"]},
    owner="queue",
    attempt=2,
    recovered=True,
    entrypoint="shop-web",
    model="claude",
    provider="anthropic",
)


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


def item(payload: bytes) -> Item:
    """An item of a sink, ready to be sent."""
    return Item(payload, len(payload))


def strictly(data: bytes) -> dict[str, Any]:
    """The object that strict JSON in strict UTF-8 holds: no NaN, no infinity, no surrogate."""

    def refuse(word: str) -> object:
        raise AssertionError(f"{word} is no JSON")

    text = data.decode("utf-8", "strict")
    value: dict[str, Any] = json.loads(text, parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8", "strict")
    return value
