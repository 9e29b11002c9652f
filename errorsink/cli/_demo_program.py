"""The program that `errorsink demo` watches: a small shop that fails in several ways.

It knows nothing of a demo: it reports its errors, says so on standard output (one JSON object for each), and ends
without a flush, as programs do.
"""

from __future__ import annotations

import importlib
import json
import threading
import time
from typing import Callable, NamedTuple, NoReturn, Sequence

import errorsink


class PaymentError(Exception):
    """The bank said no."""


class Reported(NamedTuple):
    """One error that was reported."""

    id: str
    type: str
    microseconds: float | None
    """What the call cost its caller; None where a hook made it."""


def charge(order: str) -> NoReturn:
    """Fails because the bank can't be reached."""
    raise ConnectionRefusedError(111, f"bank.example refused the charge for {order}")


def place(order: str) -> None:
    """Fails because of `charge`, and says so."""
    try:
        charge(order)
    except OSError as error:
        raise PaymentError(f"order {order} was not paid") from error


def walk(category: int) -> int:
    """Never finds the end of the categories."""
    return walk(category + 1) + 1


def count_stock() -> None:
    """Ends its thread: nobody counts on the order being unknown."""
    raise LookupError("order A-1003 is not in the stock list")


def report(error: object) -> Reported:
    """Reports, and takes the time of the call."""
    started = time.perf_counter_ns()
    receipt = errorsink.report_error(error, attributes={"order.id": "A-1001", "customer.tier": "gold"})
    taken = time.perf_counter_ns() - started
    return Reported(receipt.id, type(error).__name__, taken / 1000)


def handled_with_a_cause() -> Reported:
    """A handled error with a cause."""
    try:
        place("A-1001")
    except PaymentError as error:
        return report(error)
    raise AssertionError


def several_at_once() -> Reported:
    """Several errors at once."""
    incomplete = group("order A-1002 is incomplete", [ValueError("no address"), KeyError("postcode")])
    try:
        raise incomplete
    except type(incomplete) as error:
        return report(error)


def group(message: str, errors: Sequence[Exception]) -> Exception:
    """An ExceptionGroup: built in from Python 3.11 on; on 3.10 the package exceptiongroup's, or else a chain."""
    for module in ("builtins", "exceptiongroup"):
        try:
            group_type: Callable[[str, Sequence[Exception]], Exception] = importlib.import_module(module).ExceptionGroup
        except (ImportError, AttributeError):
            continue
        return group_type(message, errors)
    chained = RuntimeError(message)
    chained.__cause__, errors[0].__cause__ = errors
    return chained


def end_of_a_thread() -> Reported:
    """An error that ends a thread."""
    thread = threading.Thread(target=count_stock, name="stock-keeper")
    thread.start()
    thread.join()
    record = errorsink.recent_errors()[-1]
    return Reported(record.id, record.type, None)


def no_exception() -> Reported:
    """A value that is no exception."""
    return report({"status": 502, "reason": "bad gateway"})


def deep_recursion() -> Reported:
    """A recursion without end."""
    try:
        walk(0)
    except RecursionError as error:
        return report(error)
    raise AssertionError


FAILURES = (handled_with_a_cause, several_at_once, end_of_a_thread, no_exception, deep_recursion)


def main() -> None:
    """Fails in every way."""
    errorsink.install_hooks()
    for fail in FAILURES:
        reported = fail()
        print(json.dumps({"what": fail.__doc__, **reported._asdict()}), flush=True)


if __name__ == "__main__":
    main()
