"""Nothing is kept alive: neither exception, traceback, frame nor local, and no call makes a reference cycle."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
import weakref
from typing import Any, Callable, Iterator

import pytest

import errorsink
from errorsink import _ring
from tests.capture.groups import ExceptionGroup
from tests.capture.reported import Paused, renderer


class Big:
    """A local of a failing frame."""


References = list["weakref.ref[Big]"]


def report(*args: Any, **details: Any) -> None:
    assert errorsink.report_error(*args, **details)


@pytest.fixture
def without_gc() -> Iterator[None]:
    """What is freed is freed by its last reference; what is there already isn't looked at again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


pytestmark = pytest.mark.usefixtures("without_gc")


def fail(references: References, kind: type[BaseException], *args: object) -> None:
    local = Big()
    references.append(weakref.ref(local))
    raise kind(*args)  # no local refers to it: that would be a cycle of the test's own


def plainly(references: References) -> None:
    try:
        fail(references, ValueError, "v")
    except ValueError as error:
        report(error)


def as_the_current_one(references: References) -> None:
    try:
        fail(references, ValueError, "v")
    except ValueError:
        report()


def as_a_triple(references: References) -> None:
    try:
        fail(references, ValueError, "v")
    except ValueError:
        report(sys.exc_info())


def with_a_chain(references: References) -> None:
    try:
        try:
            fail(references, KeyError, "k")
        except KeyError as error:
            fail(references, ValueError, error)
    except ValueError as error:
        report(error)


def with_a_cause(references: References) -> None:
    try:
        try:
            fail(references, KeyError, "k")
        except KeyError as error:
            raise ValueError("v") from error
    except ValueError as error:
        report(error)


def with_a_group(references: References) -> None:
    members: list[Exception] = []
    for number in range(3):
        try:
            fail(references, ValueError, number)
        except ValueError as error:
            members.append(error)
    try:
        raise ExceptionGroup("g", members)
    except ExceptionGroup as error:
        report(error)
    members.clear()


def with_attributes(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    details: dict[str, Any] = {
        "attributes": {"a": local, "l": [local], local: 1},
        "fingerprint": local,
        "owner": local,
        "level": local,
    }
    report(ValueError(local), handling=local, attempt=local, recovered=local, **details)


def with_facts(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    error = ValueError("v")
    for name in ("code", "reason_code", "status", "response", "errno", "__notes__"):
        setattr(error, name, local)
    report(error)


def with_a_code_on_the_class(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    cls = type("Coded", (errorsink.HarnessError,), {"code": local, "reason_code": local})
    report(cls("v"))
    cls.code = cls.reason_code = None  # type: ignore[attr-defined]


def with_a_syntax_error(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    error = SyntaxError("m")
    for name in ("filename", "lineno", "text", "offset", "end_offset", "msg"):
        setattr(error, name, local)
    report(error)


class Fails(Exception):
    """Fails to say what it is, with a local in the failing frame."""

    def __init__(self, references: References) -> None:
        self.references = references

    def __str__(self) -> str:
        fail(self.references, KeyError, "inside")
        return ""


def with_a_failing_formatter(references: References) -> None:
    report(Fails(references))


def as_a_value(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    report([local, {"k": local}])


def in_a_context(references: References) -> None:
    local = Big()
    references.append(weakref.ref(local))
    with errorsink.context(a=local):
        report("x")


def in_another_context(references: References) -> None:
    contextvars.copy_context().run(plainly, references)


WAYS: list[Callable[[References], None]] = [
    plainly, as_the_current_one, as_a_triple, with_a_chain, with_a_cause, with_a_group, with_attributes, with_facts,
    with_a_code_on_the_class, with_a_syntax_error, with_a_failing_formatter, as_a_value, in_a_context,
    in_another_context,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_locals_are_freed_at_once(way: Callable[[References], None], paused: Paused) -> None:
    """When the caller lets go, nothing of the report keeps a local alive, with the sinks paused."""
    references: References = []
    way(references)
    assert references
    assert [reference() for reference in references] == [None] * len(references)
    assert len(paused.taken) == len(_ring.snapshots()) == 1


@pytest.mark.parametrize("way", WAYS)
def test_rendering_frees_what_it_reads(way: Callable[[References], None]) -> None:
    """The record holds no more than the snapshot."""
    references: References = []
    way(references)
    records = [renderer().record(snapshot) for snapshot in _ring.snapshots()]
    assert [reference() for reference in references] == [None] * len(references)
    assert records


@pytest.mark.parametrize("way", WAYS)
def test_no_call_makes_a_cycle(way: Callable[[References], None]) -> None:
    """A report leaves nothing for the garbage collector that the caller wouldn't have left without it."""

    def garbage(reporting: Callable[..., Any]) -> int:
        gc.collect()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(errorsink, "report_error", reporting)
            way([])
        return gc.collect()

    def count_no_further(*_: object, **__: object) -> bool:
        return True

    way([])  # what is made once isn't counted
    assert garbage(errorsink.report_error) <= garbage(count_no_further)


def test_a_task_that_lives_on_keeps_nothing() -> None:
    """A long-lived asyncio task that has reported an error holds nothing of it."""
    references: References = []

    async def worker() -> list[Big | None]:
        plainly(references)
        later = asyncio.Event()
        asyncio.get_running_loop().call_soon(later.set)
        await later.wait()
        return [reference() for reference in references]

    assert asyncio.run(worker()) == [None]


def test_a_thread_that_lives_on_keeps_nothing() -> None:
    """A thread that goes on after its report holds nothing of the error."""
    references: References = []
    alive: list[Big | None] = []

    def work() -> None:
        plainly(references)
        alive.extend(reference() for reference in references)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert alive == [None]


def test_exception_classes_are_not_kept() -> None:
    """A class that is made for one error is freed with it."""
    cls = type("Passing", (Exception,), {})
    reference = weakref.ref(cls)
    report(cls("x"))
    del cls
    gc.collect()  # a class refers to itself
    assert reference() is None


def test_the_exception_is_not_changed() -> None:
    """A report changes neither traceback, links nor arguments of the exception."""
    try:
        raise ValueError("x") from KeyError("k")
    except ValueError as error:
        before = (error.args, error.__traceback__, error.__cause__, error.__context__, error.__suppress_context__)
        errorsink.report_error(error)
        after = (error.args, error.__traceback__, error.__cause__, error.__context__, error.__suppress_context__)
    assert all(one is other for one, other in zip(before, after, strict=True))
