"""Back-offs and deadlines: nobody waits for a try that comes too late."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import pytest

from errorsink import _native
from errorsink._delivery import Delivery, Policy
from errorsink.sinks import Outcome
from tests.delivery.sinks import ScriptedSink, record

LATE = 60.0
"""Seconds until the deadlines here: a test that waits for one has failed."""
RESTING = Outcome.retry("http-429", after=300)
DOWN = Outcome.retry("network", "nobody listens")


class Subject:
    """A delivery with its thread, whose own back-offs are longer than any deadline here."""

    def __init__(self, sink: ScriptedSink) -> None:
        self.delivery = Delivery(sink, Policy(batch_delay=0.0, retry_max_delay=300.0), random=lambda: 1_000.0)
        self.delivery.offer([record(1)])
        self.thread = _native.Thread(self.delivery.run)

    def flush(self) -> bool:
        """A flush; fails where it has taken all its time."""
        deadline = monotonic() + LATE
        mark = self.delivery.begin_flush()
        try:
            return self.delivery.wait_settled(mark, deadline)
        finally:
            self.delivery.end_flush()
            assert monotonic() < deadline

    def stop(self) -> None:
        """The end of the thread; fails where it has taken all its time."""
        deadline = monotonic() + LATE
        self.delivery.stop(deadline)
        self.thread.join(LATE / 2)
        assert not self.thread.is_alive()


@pytest.fixture
def sink() -> ScriptedSink:
    return ScriptedSink()


@pytest.fixture
def subject(sink: ScriptedSink, request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A delivery whose sink answers as the test's parameter says, again and again."""
    sink.script.extend([request.param] * 1_000)
    started = Subject(sink)
    yield started
    started.delivery.stop(monotonic())
    started.thread.join(LATE)


@pytest.mark.parametrize(("subject", "tries"), [(RESTING, 1), (DOWN, 2)], indirect=["subject"])
def test_a_flush_ends_where_the_next_try_comes_too_late(subject: Subject, sink: ScriptedSink, tries: int) -> None:
    """It asks for a try at once, unless the peer asked to wait, and doesn't wait for one after its deadline."""
    while not sink.sent:
        assert not subject.flush()
    for _ in range(3):
        before = len(sink.sent)
        assert not subject.flush()
        assert len(sink.sent) - before == tries - 1
    assert subject.delivery.account().queued == 1


@pytest.mark.parametrize("subject", [RESTING, DOWN], indirect=True)
def test_a_stop_ends_where_the_next_try_comes_too_late(subject: Subject, sink: ScriptedSink) -> None:
    """Nothing is tried once more, and what is left stays accounted for."""
    subject.flush()
    before = len(sink.sent)
    subject.stop()
    account = subject.delivery.account()
    assert (len(sink.sent), account.queued, account.balanced) == (before, 1, True)


@pytest.mark.parametrize("subject", [DOWN], indirect=True)
def test_a_flush_waits_for_a_try_that_comes_in_time(subject: Subject, sink: ScriptedSink) -> None:
    """A flush that asks for a try gets its result."""
    while len(sink.sent) < 3:
        assert not subject.flush()
    sink.script.clear()
    assert subject.flush()
    assert sink.arrived == ["id-1"]


@pytest.mark.parametrize("answer", [RESTING, DOWN], ids=["resting", "down"])
@pytest.mark.parametrize("max_bytes", [1, 100], ids=["parcels", "one parcel"])
def test_the_callers_thread_ends_where_the_next_try_comes_too_late(
    sink: ScriptedSink, answer: Outcome, max_bytes: int
) -> None:
    """At exit, where no thread can be started: one try, for whatever is queued, which stays in its order."""
    sink.script.append(answer)
    sink.max_bytes = max_bytes
    delivery = Delivery(sink, Policy(batch_delay=0.0), random=lambda: 1_000.0)
    delivery.offer([record(1), record(2), record(3)])
    deadline = monotonic() + LATE
    assert not delivery.deliver_all(deadline)
    assert monotonic() < deadline
    assert (len(sink.sent), delivery.account().queued) == (1, 3)
    delivery.offer([record(4)])
    if answer is DOWN:  # a later report is reason for another try
        assert delivery.deliver_all(deadline)
        assert sink.arrived == ["id-1", "id-2", "id-3", "id-4"]
    else:  # it isn't, where the peer has asked to be left alone
        assert not delivery.deliver_all(deadline)
        assert (len(sink.sent), delivery.account().queued) == (1, 4)


def test_other_records_heed_the_rest_that_was_asked_for(sink: ScriptedSink) -> None:
    """Whoever delivers next, and whatever, waits until the peer may be asked again, where that is in time."""
    rest = 0.2
    asked: list[float] = []

    def answer(_items: object, _timeout: float) -> Outcome:
        asked.append(monotonic())
        return Outcome.retry("http-429", after=rest) if len(asked) == 1 else Outcome.delivered()

    sink.script.extend([answer] * 2)
    delivery = Delivery(sink, Policy(batch_delay=0.0), random=lambda: 0.0)
    delivery.offer([record(1)])
    assert not delivery.deliver_all(monotonic() + rest / 2)
    delivery.offer([record(2)])
    assert delivery.deliver_all(monotonic() + LATE)
    assert sink.arrived == ["id-1", "id-2"]
    assert asked[1] - asked[0] >= rest


def test_a_delivery_thread_begins_anew_after_a_try_that_came_too_late(sink: ScriptedSink) -> None:
    """A flush waits for the new thread; it doesn't go by what was true of another thread's deadline."""
    sink.script.append(DOWN)
    delivery = Delivery(sink, Policy(batch_delay=0.0), random=lambda: 1_000.0)
    delivery.offer([record(1)])
    assert not delivery.deliver_all(monotonic() + LATE)
    delivery.stop(monotonic() + LATE)
    delivery.run()
    assert sink.arrived == ["id-1"]


def test_a_sinks_own_words_end_no_wait(sink: ScriptedSink) -> None:
    """A sink may call its reason what it likes: it is tried again after a back-off."""
    sink.script.extend([Outcome.retry("out-of-time")] * 3)
    delivery = Delivery(sink, Policy(batch_delay=0.0), random=lambda: 0.0)
    delivery.offer([record(1)])
    assert delivery.deliver_all(monotonic() + LATE)
    assert (len(sink.sent), sink.arrived) == (4, ["id-1"])
