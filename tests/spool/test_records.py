"""What a spool keeps, for whom, and until when."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Iterator

import pytest

from errorsink import _spool_session
from errorsink._spool import Dropped, Spool, SpoolError
from tests.spool.conftest import Clock, MakeSpool
from tests.spool.records import make_record

THREE = [make_record("a"), make_record("b"), make_record("c")]


def claimed(spool: Spool, sink: str = "datadog", limit: int = 100) -> list[str]:
    """The ids of what the spool hands over."""
    return [record.id for record in spool.claim(sink, limit)]


@pytest.fixture
def intruder(spool: Spool, directory: Path) -> Iterator[sqlite3.Connection]:
    """Another connection to the file, as a sibling has one; nobody waits for it longer than 20 ms."""
    database = sqlite3.connect(directory / "spool-1.sqlite3", isolation_level=None)
    yield database
    database.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls give up waiting for others almost at once."""
    monkeypatch.setattr(_spool_session, "PATIENCE", 0.02)


def test_released_records_are_handed_over_oldest_first(make_spool: MakeSpool) -> None:
    """The next owner gets what the last one left, as it was."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    first.release()
    assert second.claim("datadog", 10) == THREE


def test_what_a_living_owner_has_is_not_handed_over(make_spool: MakeSpool) -> None:
    """Neither to others, nor to itself: it has them in memory."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    assert (claimed(first), claimed(second)) == ([], [])


def test_a_claimed_record_is_not_handed_over_again(make_spool: MakeSpool) -> None:
    """Not while its new owner has it; the limit leaves the rest to the next claim, of anyone."""
    first, second, third = make_spool(), make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    first.release()
    assert (claimed(second, limit=2), claimed(third), claimed(second)) == (["a", "b"], ["c"], [])


def test_records_of_several_owners_come_in_the_order_of_their_age(make_spool: MakeSpool) -> None:
    """Oldest first goes for all of them together."""
    first, second, third = make_spool(), make_spool(), make_spool()
    first.append(THREE[:1], ["datadog"])
    second.append(THREE[1:2], ["datadog"])
    first.append(THREE[2:], ["datadog"])
    first.release()
    second.release()
    assert (claimed(third, limit=2), claimed(third)) == (["a", "b"], ["c"])


@pytest.mark.parametrize("limit", [0, -1])
def test_a_claim_of_nothing_takes_nothing(make_spool: MakeSpool, limit: int) -> None:
    """A limit under one is no claim."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    first.release()
    assert (claimed(second, limit=limit), claimed(second)) == ([], ["a", "b", "c"])


def test_a_record_is_there_for_each_of_its_sinks(make_spool: MakeSpool) -> None:
    """What one sink has is still pending for the other, and for no third."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog", "otel_logs"])
    first.done("datadog", ["a", "b"])
    first.release()
    assert [claimed(second, sink) for sink in ("datadog", "otel_logs", "otel_spans")] == [["c"], ["a", "b", "c"], []]


def test_a_record_goes_when_its_last_sink_is_done(make_spool: MakeSpool, intruder: sqlite3.Connection) -> None:
    """Its bytes leave the file then, and not before."""
    spool = make_spool()
    spool.append(THREE[:1], ["datadog", "otel_logs"])
    left = []
    for sink in ("datadog", "otel_logs"):
        spool.done(sink, ["a"])
        left += intruder.execute("SELECT count(*) FROM record").fetchone()
    assert left == [1, 0]


def test_done_passes_over_what_is_not_there(spool: Spool) -> None:
    """An unknown id, or one that is done already, is no error."""
    spool.append(THREE, ["datadog"])
    spool.done("datadog", ["a", "nobody", "a"])
    spool.done("otel_logs", ["b"])
    assert spool.counts() == {"datadog": 2}


def test_done_after_the_release_counts(make_spool: MakeSpool) -> None:
    """A delivery that ends during shutdown isn't repeated by the next process."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    first.release()
    first.done("datadog", ["b"])
    assert claimed(second) == ["a", "c"]


def test_a_record_appended_again_is_written_anew(make_spool: MakeSpool) -> None:
    """There is one row of it, with what was said last."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    later = THREE[1]._replace(repeat_count=5)
    first.append([later], ["datadog"])
    first.release()
    assert second.claim("datadog", 10) == [THREE[0], later, THREE[2]]


def test_a_released_record_appended_again_is_owned_again(make_spool: MakeSpool) -> None:
    """A process that goes on after a release may take its records back."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    first.release()
    first.append(THREE[:2], ["datadog"])
    assert claimed(second) == ["c"]


def test_unowned_records_may_be_claimed_by_the_process_that_stored_them(spool: Spool) -> None:
    """So a process can leave to the disk what is too much for its memory."""
    spool.append(THREE, ["datadog"], owned=False)
    assert (claimed(spool), claimed(spool)) == (["a", "b", "c"], [])


def test_counts_are_of_all_owners_or_of_this_process(make_spool: MakeSpool) -> None:
    """By sink; sinks with nothing pending have no entry."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog", "otel_logs"])
    second.append([make_record("d")], ["datadog"])
    assert (second.counts(), second.counts(owned=True)) == ({"datadog": 4, "otel_logs": 3}, {"datadog": 1})


@pytest.mark.parametrize("spools", ["fresh", "released"])
def test_who_owns_nothing_counts_nothing(spool: Spool, spools: str) -> None:
    """Before the first record, and after the release."""
    if spools == "released":
        spool.append(THREE, ["datadog"])
        spool.release()
    assert spool.counts(owned=True) == {}


def test_without_sinks_nothing_is_stored(spool: Spool, intruder: sqlite3.Connection) -> None:
    """A record that nobody needs takes no room."""
    spool.append(THREE, [])
    assert intruder.execute("SELECT count(*) FROM record").fetchone() == (0,)


def test_one_record_that_cannot_be_written_takes_no_other_with_it(spool: Spool) -> None:
    """It is told of by its reason, for each sink."""
    bad = make_record("bad")._replace(attributes={"a": object()})  # type: ignore[dict-item]
    dropped = spool.append([THREE[0], bad, THREE[1]], ["datadog", "otel_logs"])
    assert dropped == [Dropped("bad", sink, "spool-encoding", True) for sink in ("datadog", "otel_logs")]
    assert spool.counts() == {"datadog": 2, "otel_logs": 2}


def test_unreadable_rows_are_removed_and_told_of(
    make_spool: MakeSpool, intruder: sqlite3.Connection, told: list[str]
) -> None:
    """They don't stand before the readable ones, however many they are."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    intruder.execute("UPDATE record SET body = CASE id WHEN 'a' THEN '{' ELSE 7 END WHERE id < 'c'")
    first.release()
    assert (claimed(second, limit=1), second.counts()) == (["c"], {"datadog": 1})
    assert [text for text in told if "1 reports for datadog are unreadable" in text] == told[:2]


def test_the_files_are_the_user_s_alone(directory: Path, make_spool: MakeSpool) -> None:
    """Mode 0700 for the directory and 0600 for all in it, whatever the umask."""
    before = os.umask(0)
    try:
        make_spool().append(THREE, ["datadog"])
    finally:
        os.umask(before)
    modes = {path.name.split("-")[0]: stat.S_IMODE(path.stat().st_mode) for path in (directory, *directory.iterdir())}
    assert modes == {"spool": 0o600, "owner": 0o600, "spool.lock": 0o600} | {directory.name: modes[directory.name]}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_wider_mode_is_narrowed(directory: Path, make_spool: MakeSpool) -> None:
    """A file that an administrator has copied or restored is closed to others again."""
    make_spool().close()
    (directory / "spool-1.sqlite3").chmod(0o644)
    make_spool()
    assert stat.S_IMODE((directory / "spool-1.sqlite3").stat().st_mode) == 0o600


def test_append_that_has_to_wait_too_long_stores_nothing(
    spool: Spool, intruder: sqlite3.Connection, impatient: None
) -> None:
    """It says so, and the caller still has the records."""
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(SpoolError, match="locked"):
        spool.append(THREE, ["datadog"])
    intruder.execute("ROLLBACK")
    assert spool.counts() == {}


def test_done_that_has_to_wait_too_long_is_made_up_for(
    spool: Spool, intruder: sqlite3.Connection, impatient: None
) -> None:
    """What was delivered isn't delivered again because a sibling was busy."""
    spool.append(THREE, ["datadog"])
    intruder.execute("BEGIN IMMEDIATE")
    spool.done("datadog", ["a", "b"])
    intruder.execute("ROLLBACK")
    spool.expire()
    assert spool.counts() == {"datadog": 1}


def test_close_makes_up_for_what_done_could_not_write(
    make_spool: MakeSpool, intruder: sqlite3.Connection, impatient: None
) -> None:
    """It is the last call there is."""
    first, second = make_spool(), make_spool()
    first.append(THREE, ["datadog"])
    intruder.execute("BEGIN IMMEDIATE")
    first.done("datadog", ["a"])
    intruder.execute("ROLLBACK")
    first.close()
    assert claimed(second) == ["b", "c"]


def test_close_tells_of_what_it_cannot_write(
    spool: Spool, intruder: sqlite3.Connection, impatient: None, told: list[str]
) -> None:
    """The user learns that a report may come twice."""
    spool.append(THREE, ["datadog"])
    intruder.execute("BEGIN IMMEDIATE")
    spool.done("datadog", ["a", "b"])
    spool.close()
    intruder.execute("ROLLBACK")
    assert [text for text in told if "2 reports" in text and "once more" in text] == told[:1]


def test_a_closed_spool_opens_again(spool: Spool) -> None:
    """A report during shutdown finds it."""
    spool.append(THREE[:1], ["datadog"])
    spool.close()
    spool.append(THREE[1:], ["datadog"])
    assert (spool.counts(), spool.counts(owned=True)) == ({"datadog": 3}, {"datadog": 2})


def test_a_call_from_within_a_call_is_refused(make_spool: MakeSpool, clock: Clock) -> None:
    """A finaliser or a signal handler that reports in the middle of a transaction hangs nothing, and spoils nothing."""
    spool = make_spool()
    refused: list[str] = []

    def report() -> float:
        with pytest.raises(SpoolError) as raised:
            spool.append([make_record("nested")], ["datadog"])
        refused.append(str(raised.value))
        return clock.now

    spool._clock = report
    spool.append(THREE, ["datadog"])
    assert (len(refused), "this very thread" in refused[0], spool.counts()) == (1, True, {"datadog": 3})


def test_done_from_within_a_call_is_made_up_for(make_spool: MakeSpool, clock: Clock) -> None:
    """It is written by the call that follows."""
    spool = make_spool()
    spool.append(THREE, ["datadog"])

    def acknowledge() -> float:
        spool.done("datadog", ["a"])
        return clock.now

    spool._clock = acknowledge
    spool.append([make_record("d")], ["datadog"])
    spool.claim("datadog", 1)
    spool.expire()
    assert spool.counts() == {"datadog": 3}


def test_an_exception_in_the_middle_leaves_no_trace(make_spool: MakeSpool, clock: Clock) -> None:
    """Ctrl-C passes through; nothing is half stored, and the next call works."""
    spool = make_spool()
    spool._clock = interrupt
    with pytest.raises(KeyboardInterrupt):
        spool.append(THREE, ["datadog"])
    spool._clock = clock
    spool.append([make_record("d")], ["datadog"])
    assert spool.counts() == {"datadog": 1}


def interrupt() -> float:
    """Ctrl-C."""
    raise KeyboardInterrupt


def test_threads_may_use_one_spool(spool: Spool) -> None:
    """Eight threads at once lose nothing."""

    def store(name: str) -> None:
        for number in range(10):
            spool.append([make_record(f"{name}-{number}")], ["datadog"])
            spool.done("datadog", [f"{name}-{number - 1}"])

    threads = [threading.Thread(target=store, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spool.release()
    assert sorted(claimed(spool)) == [f"t{number}-9" for number in range(8)]


def test_a_thread_does_not_wait_for_another_for_ever(spool: Spool, impatient: None) -> None:
    """A thread that is stuck on a dead disk takes no other with it."""
    inside, over = threading.Event(), threading.Event()

    def dawdle() -> None:
        with spool._session.turn():
            inside.set()
            over.wait()

    thread = threading.Thread(target=dawdle)
    thread.start()
    inside.wait()
    try:
        with pytest.raises(SpoolError, match="another thread"):
            spool.counts()
    finally:
        over.set()
        thread.join()
