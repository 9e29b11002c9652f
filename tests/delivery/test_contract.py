"""Sinks that break the contract: what they do costs them a record or a try, and never another sink."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import Any, Callable, Sequence

import pytest

import errorsink
from errorsink import _discovery
from errorsink._delivery import Delivery, Policy
from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, SinkConfig
from tests.conftest import Contained
from tests.delivery.sinks import ScriptedSink, record

NONSENSE: list[Any] = [
    None,
    "delivered",
    Outcome("sent"),  # type: ignore[arg-type]
    Outcome("retry", retry_after="soon"),  # type: ignore[arg-type]
    Outcome("delivered", refused="none"),  # type: ignore[arg-type]
    Outcome("rejected", reason=[]),  # type: ignore[arg-type]
    Outcome("rejected", detail=None),  # type: ignore[arg-type]
]


class Astray(ScriptedSink):
    """Does something else at first, at one of its calls."""

    name = "astray"

    def __init__(self, call: str, act: Callable[[], Any]) -> None:
        super().__init__()
        self._acts = {call: [act]}

    def _astray(self, call: str, otherwise: Callable[[], Any]) -> Any:
        acts = self._acts.get(call)
        return acts.pop()() if acts else otherwise()

    def skips(self, record: ErrorRecord) -> str | None:
        return self._astray("skips", lambda: super(Astray, self).skips(record))  # type: ignore[no-any-return]

    def prepare(self, record: ErrorRecord) -> Item:
        return self._astray("prepare", lambda: super(Astray, self).prepare(record))  # type: ignore[no-any-return]

    def send(self, items: Sequence[Item], timeout: float) -> Outcome:
        return self._astray("send", lambda: super(Astray, self).send(items, timeout))  # type: ignore[no-any-return]


def cancel() -> None:
    raise asyncio.CancelledError


def interrupt() -> None:
    raise KeyboardInterrupt


def delivery(sink: ScriptedSink) -> Delivery:
    return Delivery(sink, Policy(batch_delay=0.0), random=lambda: 0.0)


def run(subject: Delivery) -> None:
    subject.offer([one for one in map(record, (1, 2)) if subject.wants(one)])
    subject.deliver_all(monotonic() + 60)
    assert subject.account().balanced


def places(contained: Contained) -> list[str]:
    """Where errors were contained so far, which is what these tests provoke."""
    met = [where for where, _ in contained]
    contained.clear()
    return met


@pytest.mark.parametrize("answer", NONSENSE, ids=repr)
def test_an_answer_that_is_no_outcome_is_one_failed_try(answer: Any, contained: Contained) -> None:
    """The batch is sent again, and arrives."""
    sink = Astray("send", lambda: answer)
    run(delivery(sink))
    assert places(contained) == ["astray.send"]
    assert sink.arrived == ["id-1", "id-2"]


@pytest.mark.parametrize("call", ["skips", "prepare", "send"])
def test_what_is_no_exception_is_the_sinks_fault_too(call: str, contained: Contained) -> None:
    """asyncio's CancelledError ends neither the delivery nor the call of the application."""
    sink = Astray(call, cancel)
    run(delivery(sink))
    assert places(contained) == [f"astray.{call}"]
    assert sink.arrived == (["id-2"] if call == "prepare" else ["id-1", "id-2"])


@pytest.mark.parametrize("item", [None, Item(b"", None), Item(b"", "12")], ids=repr)  # type: ignore[arg-type]
def test_a_record_without_a_wire_form_is_rejected_alone(item: Any, contained: Contained) -> None:
    sink = Astray("prepare", lambda: item)
    subject = delivery(sink)
    run(subject)
    assert places(contained) == ["astray.prepare"]
    assert (subject.account().rejected, sink.arrived) == ({"encoding": 1}, ["id-2"])


@pytest.mark.parametrize("reason", [False, True, [], 7], ids=repr)
def test_a_reason_that_is_no_text_keeps_no_record_from_the_sink(reason: Any, contained: Contained) -> None:
    sink = Astray("skips", lambda: reason)
    run(delivery(sink))
    assert places(contained) == ["astray.skips"]
    assert sink.arrived == ["id-1", "id-2"]


@pytest.mark.parametrize("call", ["prepare", "send"])
def test_a_batch_that_ctrl_c_interrupts_stays_queued(call: str) -> None:
    """Ctrl-C in the application's thread passes; the records are accounted for, and go out next time."""
    sink = Astray(call, interrupt)
    subject = delivery(sink)
    subject.offer([record(1), record(2)])
    with pytest.raises(KeyboardInterrupt):
        subject.deliver_all(monotonic() + 60)
    assert (subject.account().queued, subject.account().balanced) == (2, True)
    subject.deliver_all(monotonic() + 60)
    assert sink.arrived == ["id-1", "id-2"]


def test_a_sink_is_closed_once() -> None:
    """Also when several threads shut down at once."""
    closed: list[int] = []
    sink = ScriptedSink()
    sink.close = lambda: closed.append(1)  # type: ignore[method-assign]
    subject = delivery(sink)
    threads = [threading.Thread(target=subject.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert closed == [1]


# ---------------------------------------------------------------------------------------------------- entry points


class Entry:
    """An installed entry point that builds what it is told."""

    def __init__(self, name: str, factory: Callable[[SinkConfig], Any]) -> None:
        self.name = name
        self._factory = factory

    def load(self) -> Callable[[SinkConfig], Any]:
        return self._factory


def changed(**members: Any) -> ScriptedSink:
    sink = ScriptedSink()
    sink.name = "broken"
    for name, value in members.items():
        setattr(sink, name, value)
    return sink


NO_SINKS: list[Any] = [
    object(),
    changed(name=None),
    changed(name="scripted"),
    changed(max_records=0),
    changed(max_records=None),
    changed(max_bytes="many"),
    changed(send=None),
]


def report_beside(
    build: Callable[[SinkConfig], Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[ScriptedSink, errorsink.Receipt]:
    """Reports once with two entry points installed: `broken`, which builds this, and that of the sink returned."""
    good = ScriptedSink()
    installed = [Entry("broken", build), Entry("scripted", lambda config: good)]
    monkeypatch.setattr(_discovery, "_installed", lambda: installed)
    errorsink.configure()
    receipt = errorsink.report_error(ValueError("x"))
    assert errorsink.flush(30)
    return good, receipt


@pytest.mark.parametrize(
    "built", NO_SINKS, ids=["object", "no name", "another's name", "0 records", "None records", "bytes", "no send"]
)
def test_what_is_no_sink_costs_the_other_sinks_nothing(
    built: Any, contained: Contained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is off, with a diagnostic, and a good sink gets every report."""
    good, receipt = report_beside(lambda config: built, monkeypatch)
    assert places(contained) == ["the entry point of broken"]
    assert list(errorsink.stats().sinks) == ["scripted"]
    assert (receipt.accepted, good.arrived) == (True, [receipt.id])


def test_a_factory_that_raises_costs_the_other_sinks_nothing(
    contained: Contained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what it raises is no `Exception`."""
    good, receipt = report_beside(lambda config: cancel(), monkeypatch)
    assert places(contained) == ["the entry point of broken"]
    assert list(errorsink.stats().sinks) == ["scripted"]
    assert (receipt.accepted, good.arrived) == (True, [receipt.id])
