"""Size and age."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest

from errorsink._spool import Dropped, Spool, SpoolError
from tests.spool.conftest import Clock, MakeSpool
from tests.spool.records import make_record

SINKS = ["datadog", "otel_logs"]


def on_disk(directory: Path) -> int:
    """Bytes of the database and its log."""
    return sum(path.stat().st_size for path in directory.glob("spool-1.sqlite3*") if not path.name.endswith("-shm"))


def claimed(spool: Spool, sink: str = "datadog") -> list[str]:
    """The ids of what the spool hands over."""
    return [record.id for record in spool.claim(sink, 10_000)]


@pytest.mark.parametrize(
    ("max_bytes", "size", "batch", "batches"),
    [(1_000_000, 20_000, 10, 20), (1_000_000, 500, 100, 12), (1_000_000, 120_000, 1, 30), (2_500_000, 60_000, 20, 6)],
)
def test_the_files_stay_within_the_limit(
    directory: Path, make_spool: MakeSpool, max_bytes: int, size: int, batch: int, batches: int
) -> None:
    """After each call, whatever the records' size; and every record is either there or told of as dropped."""
    spool, draw = make_spool(max_bytes), random.Random(size)
    dropped: list[Dropped] = []
    largest = 0
    for number in range(batches):
        records = [make_record(f"{number}-{each}", size=draw.randrange(size)) for each in range(batch)]
        dropped += spool.append(records, SINKS)
        largest = max(largest, on_disk(directory))
    pending = sum(spool.counts().values())
    assert len({(each.id, each.sink) for each in dropped}) == len(dropped) > 0
    assert pending + len(dropped) == batches * batch * len(SINKS)
    assert pending > 0
    assert largest <= max_bytes


def test_a_reader_that_never_ends_does_not_let_the_log_grow(
    directory: Path, make_spool: MakeSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log can't be emptied below it; records are refused, and not lost, until it is gone."""
    monkeypatch.setattr("errorsink._spool_session.PATIENCE", 0.02)
    spool = make_spool(1_000_000)
    spool.append([make_record("a")], ["datadog"])
    with contextlib.closing(sqlite3.connect(directory / "spool-1.sqlite3", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM record").fetchone()
        records = [make_record(f"{number}", size=20_000) for number in range(50)]
        with pytest.raises(SpoolError, match="locked"):
            spool.append(records, ["datadog"])
        assert on_disk(directory) <= 1_000_000
    assert spool.append([make_record("b")], ["datadog"]) == []


def test_the_oldest_go_first(make_spool: MakeSpool) -> None:
    """What stays are the newest, without a gap; what goes is told of for each sink."""
    spool = make_spool(200_000)
    dropped = [each for number in range(60) for each in spool.append([make_record(f"{number:02}", size=5000)], SINKS)]
    spool.release()
    gone = len(dropped) // 2
    assert dropped == [Dropped(f"{number:02}", sink, "spool-full", True) for number in range(gone) for sink in SINKS]
    assert claimed(spool) == [f"{number:02}" for number in range(gone, 60)]


def test_a_batch_that_is_larger_than_the_spool_leaves_its_newest(make_spool: MakeSpool) -> None:
    """One call, many transactions."""
    spool = make_spool(200_000)
    dropped = spool.append([make_record(f"{number:02}", size=5000) for number in range(60)], ["datadog"])
    spool.release()
    assert [each.id for each in dropped] + claimed(spool) == [f"{number:02}" for number in range(60)]


def test_one_giant_record_drives_out_no_other(make_spool: MakeSpool) -> None:
    """What would take more than an eighth of the spool isn't stored."""
    spool = make_spool(200_000)
    spool.append([make_record("a")], ["datadog"])
    assert spool.append([make_record("giant", size=30_000)], SINKS) == [
        Dropped("giant", sink, "spool-full", True) for sink in SINKS
    ]
    assert spool.counts() == {"datadog": 1}


def test_what_a_living_sibling_owns_is_not_driven_out(make_spool: MakeSpool) -> None:
    """Its accounts would be wrong: the newcomer's records are dropped instead."""
    first, second = make_spool(200_000), make_spool(200_000)
    for number in range(60):
        first.append([make_record(f"first-{number}", size=5000)], ["datadog"])
    before = first.counts(owned=True)
    dropped = second.append([make_record(f"second-{number}", size=9000) for number in range(10)], ["datadog"])
    assert first.counts(owned=True) == before
    assert {each.id.split("-")[0] for each in dropped} == {"second"}
    assert len(dropped) + second.counts(owned=True).get("datadog", 0) == 10


def test_what_nobody_owns_is_told_apart(make_spool: MakeSpool) -> None:
    """It is in no living process's accounts."""
    first, second = make_spool(200_000), make_spool(200_000)
    first.append([make_record("first", size=5000)], ["datadog"])
    first.release()
    dropped = second.append([make_record(f"{number:02}", size=5000) for number in range(60)], ["datadog"])
    assert (dropped[0], {each.owned for each in dropped[1:]}) == (
        Dropped("first", "datadog", "spool-full", False),
        {True},
    )


def test_the_file_shrinks_when_it_is_drained(directory: Path, make_spool: MakeSpool) -> None:
    """Disk that isn't needed is given back, in steps."""
    spool = make_spool(4_000_000)
    ids = [f"{number}" for number in range(200)]
    spool.append([make_record(record_id, size=5000) for record_id in ids], ["datadog"])
    full = on_disk(directory)
    for record_id in ids:
        spool.done("datadog", [record_id])
    spool.close()
    assert on_disk(directory) < full / 4


def test_what_is_too_old_goes(make_spool: MakeSpool, clock: Clock) -> None:
    """Counted from when it was stored, for each sink."""
    spool = make_spool(max_age=100)
    spool.append([make_record("a")], SINKS)
    clock.now += 60
    spool.append([make_record("b")], ["datadog"])
    clock.now += 60
    expired = spool.expire()
    assert expired == [Dropped("a", sink, "spool-expired", True) for sink in SINKS]
    assert (spool.expire(), spool.counts()) == ([], {"datadog": 1})


def test_a_record_appended_again_is_no_younger(make_spool: MakeSpool, clock: Clock) -> None:
    """Or it would never go."""
    spool = make_spool(max_age=100)
    spool.append([make_record("a")], ["datadog"])
    clock.now += 60
    spool.append([make_record("a")], ["datadog"])
    clock.now += 60
    assert [each.id for each in spool.expire()] == ["a"]


def test_what_a_living_sibling_owns_is_its_own_to_expire(make_spool: MakeSpool, clock: Clock) -> None:
    """What the dead have left is anyone's."""
    first, second, third = make_spool(max_age=100), make_spool(max_age=100), make_spool(max_age=100)
    first.append([make_record("dead")], ["datadog"])
    second.append([make_record("living")], ["datadog"])
    first.release()
    clock.now += 200
    assert third.expire() == [Dropped("dead", "datadog", "spool-expired", False)]
    assert second.expire() == [Dropped("living", "datadog", "spool-expired", True)]


def test_a_record_that_another_sink_s_owner_still_has_stays(make_spool: MakeSpool, clock: Clock) -> None:
    """It goes as a whole, when nobody living looks after any of it."""
    first, second, third = make_spool(max_age=100), make_spool(max_age=100), make_spool(max_age=100)
    first.append([make_record("a")], SINKS)
    first.release()
    second.claim("datadog", 1)
    clock.now += 200
    assert (third.expire(), third.counts()) == ([], {"datadog": 1, "otel_logs": 1})
