"""A service's loop: context for every report inside, attempts, and hooks for what nobody catches."""

from __future__ import annotations

import errorsink


class PaymentError(errorsink.HarnessError):
    """The bank said no."""

    code = "PAYMENT"


def charge(order: int) -> None:
    if order % 2:
        raise PaymentError(f"order {order} was refused")


def serve(orders: range) -> None:
    for order in orders:
        with errorsink.context(order_id=order):
            for attempt in (1, 2):
                try:
                    charge(order)
                    break
                except PaymentError:
                    errorsink.report_error(attempt=attempt, recovered=attempt == 1, owner="payments")


if __name__ == "__main__":
    errorsink.install_hooks()
    serve(range(4))
    print(f"{len(errorsink.recent_errors())} errors were reported")
