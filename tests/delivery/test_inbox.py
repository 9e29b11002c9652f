"""The queue between callers and the render thread."""

from __future__ import annotations

import threading

import pytest

from errorsink import _capture
from errorsink._inbox import MAX_CROWDS, Inbox


def snapshot(text: str = "boom", fingerprint: str | None = None) -> _capture.Snapshot:
    return _capture.take(ValueError(text), 1, "error", "handled", None, fingerprint, None, None, None)


def test_snapshots_come_out_in_order() -> None:
    inbox = Inbox(10)
    for n in range(5):
        inbox.put(snapshot(str(n)))
    assert [taken.snapshot.link.message for taken in inbox.take(100)] == list("01234")


def test_equal_errors_are_counted_while_the_queue_is_full() -> None:
    """Nothing is dropped: two are queued as they are, eight become one with a count."""
    inbox = Inbox(2)
    for n in range(10):
        inbox.put(snapshot(str(n), fingerprint="same"))
    assert inbox.pending == 10
    taken = inbox.take(100)
    assert [one.reports for one in taken] == [1, 1, 8]
    assert taken[-1].last_time_ns is not None
    assert inbox.dropped.value == 0


def test_a_report_that_joins_while_its_crowd_is_taken_is_not_lost() -> None:
    """A caller that was interrupted just before it joined is found at the next look."""
    inbox = Inbox(1)
    inbox.put(snapshot("first"))
    inbox.put(snapshot("second", fingerprint="same"))
    crowd = next(iter(inbox._crowds.values()))
    inbox.take(100)
    crowd.join()
    assert inbox.pending == 1
    assert [one.reports for one in inbox.take(100)] == [1]


def test_only_what_cant_be_merged_is_dropped_oldest_first() -> None:
    inbox = Inbox(2)
    for n in range(2 + MAX_CROWDS + 3):
        inbox.put(snapshot(str(n), fingerprint=str(n)))
    assert inbox.dropped.value == 3
    reports = [one.snapshot.link.message for one in inbox.take(1000)]
    assert "0" not in reports
    assert len(reports) == 2 + MAX_CROWDS


def test_eight_threads_lose_nothing_between_queue_and_crowds() -> None:
    """Taken, pending and dropped add up to what was put in."""
    inbox = Inbox(50)
    one = snapshot("same", fingerprint="same")

    def work() -> None:
        for _ in range(2_000):
            inbox.put(one)

    threads = [threading.Thread(target=work) for _ in range(8)]
    taken = 0
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken += sum(part.reports for part in inbox.take(128))
    for thread in threads:
        thread.join()
    while inbox.pending:
        taken += sum(part.reports for part in inbox.take(128))
    assert taken + inbox.dropped.value == 16_000


def test_a_hurry_ends_the_wait_and_the_pause() -> None:
    """The render thread is woken at once, even with nothing to take."""
    inbox = Inbox(10)
    done = threading.Event()

    def worker() -> None:
        inbox.wait()
        inbox.linger(60)
        done.set()

    thread = threading.Thread(target=worker)
    thread.start()
    inbox.hurry()
    assert done.wait(10)
    thread.join()


@pytest.mark.parametrize("capacity", [1, 2, 3, 10])
def test_a_queue_that_is_half_full_ends_the_pause(capacity: int) -> None:
    """A burst is rendered before it fills the queue; a lone report waits for more."""
    inbox = Inbox(capacity)
    done = threading.Event()

    def worker() -> None:
        inbox.linger(60)
        done.set()

    thread = threading.Thread(target=worker)
    thread.start()
    for number in range(capacity // 2 + 1):
        inbox.put(snapshot(str(number)))
    assert done.wait(10)
    thread.join()
    inbox.linger(60)  # it was so before
    assert len(inbox.take(100)) == capacity // 2 + 1
