"""One delivery: what each outcome does to the records and to the account."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import pytest

from errorsink import _selflog
from errorsink._delivery import Delivery, Policy
from errorsink.model import ErrorRecord
from errorsink.sinks import Outcome
from tests.delivery.sinks import ScriptedSink, record


def delivery(sink: ScriptedSink, *, store: object = None, **policy: float) -> Delivery:
    """A delivery whose back-off never waits."""
    settings = Policy(**{"batch_delay": 0.0, **policy})  # type: ignore[arg-type]
    return Delivery(sink, settings, random=lambda: 0.0, store=store)  # type: ignore[arg-type]


def run(subject: Delivery, records: Sequence[ErrorRecord]) -> None:
    """Offers the records and delivers until nothing is queued."""
    subject.offer([one for one in records if subject.wants(one)])
    subject.deliver_all(monotonic() + 60)
    assert subject.account().balanced


def test_a_batch_is_delivered_in_order() -> None:
    """What is offered arrives once, oldest first, in one request."""
    sink = ScriptedSink()
    subject = delivery(sink)
    run(subject, [record(n) for n in range(5)])
    assert [len(batch) for batch in sink.sent] == [5]
    assert sink.arrived == [f"id-{n}" for n in range(5)]
    assert subject.account().delivered == 5


@pytest.mark.parametrize(("max_records", "batches"), [(2, [2, 2, 1]), (5, [5]), (1, [1] * 5)])
def test_a_request_carries_no_more_records_than_the_sink_allows(max_records: int, batches: list[int]) -> None:
    sink = ScriptedSink(max_records=max_records)
    run(delivery(sink), [record(n) for n in range(5)])
    assert [len(batch) for batch in sink.sent] == batches


def test_a_request_carries_no_more_bytes_than_the_sink_allows() -> None:
    """The cut counts the items' sizes; an item that is too large alone goes alone."""
    sink = ScriptedSink(max_bytes=100, size=40)
    run(delivery(sink), [record(n) for n in range(5)])
    assert [len(batch) for batch in sink.sent] == [2, 2, 1]


@pytest.mark.parametrize("failures", [1, 2, 7])
def test_a_failure_is_retried_until_it_passes(failures: int) -> None:
    """The same batch is sent again; it arrives once."""
    sink = ScriptedSink(*[Outcome.retry("http-503")] * failures)
    subject = delivery(sink)
    run(subject, [record(1), record(2)])
    assert len(sink.sent) == failures + 1
    assert sink.arrived == ["id-1", "id-2"]
    assert subject.account().state == "closed"


def test_a_rejected_batch_is_not_retried() -> None:
    sink = ScriptedSink(Outcome.rejected("http-400"))
    subject = delivery(sink)
    run(subject, [record(1), record(2)])
    assert len(sink.sent) == 1
    assert subject.account().rejected == {"http-400": 2}


def test_a_batch_that_is_too_large_is_halved_down_to_the_one_that_cant_pass() -> None:
    """Every record but the offending one arrives; the offending one is rejected and counted."""

    def answer(items: Sequence[object], timeout: float) -> Outcome:
        offends = any(item.payload.id == "id-5" for item in items)  # type: ignore[attr-defined]
        return Outcome.too_large("http-413") if offends else Outcome.delivered()

    sink = ScriptedSink(*[answer] * 50)
    subject = delivery(sink)
    run(subject, [record(n) for n in range(8)])
    assert sorted(sink.arrived) == [f"id-{n}" for n in range(8) if n != 5]
    assert subject.account().rejected == {"http-413": 1}


def test_a_stop_rejects_what_waits_and_all_that_follows() -> None:
    """A refused key closes the sink: one request, everything counted, nothing more sent."""
    sink = ScriptedSink(Outcome.stopped("http-403", "the key was refused"), max_records=2)
    subject = delivery(sink)
    run(subject, [record(n) for n in range(6)])
    run(subject, [record(7)])
    assert len(sink.sent) == 1
    assert subject.account().rejected == {"http-403": 7}
    assert subject.account().state == "stopped"


def test_a_partial_success_is_told_truthfully() -> None:
    """What the peer says it refused counts as rejected, the rest as delivered."""
    sink = ScriptedSink(Outcome.delivered(refused=2, reason="partial"))
    subject = delivery(sink)
    run(subject, [record(n) for n in range(5)])
    assert (subject.account().delivered, subject.account().rejected) == (3, {"partial": 2})


def test_a_warning_of_the_peer_is_told_and_costs_no_record(capsys: pytest.CaptureFixture[str]) -> None:
    """An OTLP collector may take all records, and remark something: that is no failure."""
    sink = ScriptedSink(*[Outcome.delivered(reason="partial", detail="h accepted all records with a warning: old")] * 2)
    subject = delivery(sink)
    run(subject, [record(1)])
    run(subject, [record(2)])
    assert (subject.account().delivered, subject.account().rejected, subject.account().last_error) == (2, {}, None)
    assert capsys.readouterr().err == "errorsink: scripted: h accepted all records with a warning: old\n"


def test_a_record_without_wire_form_harms_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(_selflog, "contain", lambda where, error: told.append(where))
    sink = ScriptedSink()
    sink.unencodable = {"id-1"}
    subject = delivery(sink)
    run(subject, [record(n) for n in range(3)])
    assert sink.arrived == ["id-0", "id-2"]
    assert subject.account().rejected == {"encoding": 1}
    assert told == ["scripted.prepare"]


def test_a_sink_that_raises_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the sink is told, and costs no record."""
    told: list[str] = []
    monkeypatch.setattr(_selflog, "contain", lambda where, error: told.append(where))
    sink = ScriptedSink(RuntimeError("bug"))
    run(delivery(sink), [record(1)])
    assert sink.arrived == ["id-1"]
    assert told == ["scripted.send"]


def test_what_a_sink_filters_is_counted_by_reason() -> None:
    sink = ScriptedSink()
    sink.filters = {"noise": "known-noise"}
    subject = delivery(sink)
    run(subject, [record(1, message="noise"), record(2)])
    assert sink.arrived == ["id-2"]
    assert subject.account().filtered == {"known-noise": 1}


def test_a_full_queue_merges_equal_errors() -> None:
    """Equal errors become one record with a count; nothing is dropped."""
    sink = ScriptedSink()
    subject = delivery(sink, queue_size=2)
    run(subject, [record(n, fingerprint="same") for n in range(10)])
    assert [one.repeat_count for batch in sink.sent for one in batch] == [1, 9]
    assert sink.sent[0][1].last_time_ns == 9
    assert (subject.account().merged, subject.account().dropped) == (8, {})


def test_a_full_queue_drops_the_oldest_of_what_cant_be_merged() -> None:
    sink = ScriptedSink()
    subject = delivery(sink, queue_size=3)
    run(subject, [record(n) for n in range(5)])
    assert sink.arrived == ["id-2", "id-3", "id-4"]
    assert subject.account().dropped == {"queue-full": 2}


def test_after_the_retry_window_a_batch_is_given_up_and_counted() -> None:
    sink = ScriptedSink(*[Outcome.retry("network")] * 3)
    now = iter([0.0] * 4 + [1000.0] * 50)
    subject = Delivery(
        sink, Policy(batch_delay=0.0, retry_window=10), random=lambda: 0.0, clock=lambda: next(now, 1000.0)
    )
    subject.offer([record(1)])
    subject.deliver_batch()
    account = subject.account()
    assert account.dropped == {"retry-window": 1}
    assert account.balanced


def test_what_there_is_no_time_for_stays_queued() -> None:
    """At the deadline nothing is lost yet: the records are back in the queue, in their order."""
    sink = ScriptedSink(*[Outcome.retry("network")] * 100)
    subject = delivery(sink)
    subject.offer([record(1), record(2)])
    subject.deliver_batch(deadline=monotonic())
    assert subject.account().queued == 2
    assert subject.account().balanced
    subject.deliver_all(monotonic() + 60)
    assert sink.arrived == ["id-1", "id-2"]


def test_a_request_never_gets_more_time_than_there_is() -> None:
    """The sink is told what is left until the deadline, where that is less than the limit of one request."""
    sink = ScriptedSink()
    subject = delivery(sink, send_timeout=10.0)
    subject.offer([record(1)])
    subject.deliver_batch(deadline=monotonic() + 2)
    assert 0 < sink.timeouts[0] <= 2


def test_the_account_tells_the_last_error_and_the_last_success() -> None:
    sink = ScriptedSink(Outcome.retry("network", "cannot reach http://127.0.0.1:9"))
    subject = delivery(sink)
    run(subject, [record(1)])
    account = subject.account()
    assert account.last_error == "cannot reach http://127.0.0.1:9"
    assert account.last_error_time is not None
    assert account.last_success_time is not None
    assert account.last_success_time >= account.last_error_time


def test_the_circuit_opens_after_three_failures_and_is_probed_half_open() -> None:
    """The state is told while the sink fails; a success closes the circuit."""
    seen: list[str] = []

    def fail(items: Sequence[object], timeout: float) -> Outcome:
        seen.append(subject.account().state)
        return Outcome.retry("network")

    sink = ScriptedSink(*[fail] * 5)
    subject = delivery(sink)
    run(subject, [record(1)])
    assert seen == ["closed", "closed", "closed", "half-open", "half-open"]
    assert subject.account().state == "closed"


def test_what_the_spool_gives_up_is_lost_with_the_process_and_not_left_to_others() -> None:
    """A record that is still in memory when the spool expels it is told of as queued, not as spooled."""
    subject = delivery(ScriptedSink(), store=object())
    subject.offer([record(1), record(2)], stored=True)
    subject.miss({"id-1": "spool-full"})
    assert subject.unstored == 1
    subject.leave()
    assert (subject.account().queued, subject.account().spooled) == (1, 1)
    assert subject.account().balanced
