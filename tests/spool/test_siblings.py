"""Processes that share a directory, and die as `kill -9` has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from errorsink import _spool_rows as rows
from errorsink._spool import Spool
from tests.spool.conftest import MakeSibling, MakeSpool
from tests.spool.records import make_record


def claimed(spool: Spool, sink: str = "datadog") -> list[str]:
    """The ids of what the spool hands over."""
    return [record.id for record in spool.claim(sink, 10_000)]


def lock_files(directory: Path) -> list[str]:
    """The owners that have a lock file."""
    return [name for name in os.listdir(directory) if name.startswith("owner-")]


def test_records_of_a_killed_process_are_there_at_once(make_sibling: MakeSibling, spool: Spool) -> None:
    """Append has returned, the process is killed, the next one has the record: no lease to wait for."""
    sibling = make_sibling()
    sibling.call("append", ["a", "b"], ["datadog"])
    sibling.kill()
    assert claimed(spool) == ["a", "b"]


def test_records_of_a_living_process_stay_its_own(make_sibling: MakeSibling, spool: Spool) -> None:
    """A sibling takes what the dead have left, and nothing from the living."""
    living, dead = make_sibling(), make_sibling()
    living.call("append", ["a"], ["datadog"])
    dead.call("append", ["b"], ["datadog"])
    dead.kill()
    assert (claimed(spool), living.call("counts")) == (["b"], {"datadog": 2})


def test_what_was_acknowledged_before_the_kill_is_not_sent_again(make_sibling: MakeSibling, spool: Spool) -> None:
    """For the sink that acknowledged it; the other one still gets it."""
    sibling = make_sibling()
    sibling.call("append", ["a", "b"], ["datadog", "otel_logs"])
    sibling.call("done", "datadog", ["a"])
    sibling.kill()
    assert (claimed(spool), claimed(spool, "otel_logs")) == (["b"], ["a", "b"])


def test_claimed_records_of_a_killed_process_are_claimed_again(make_sibling: MakeSibling, spool: Spool) -> None:
    """From one dead process to the next, until somebody is done with them."""
    first, second = make_sibling(), make_sibling()
    first.call("append", ["a", "b"], ["datadog"])
    first.kill()
    second.call("claim", "datadog", 10)
    second.kill()
    assert claimed(spool) == ["a", "b"]


def test_released_records_are_claimed_while_the_process_lives(make_sibling: MakeSibling, spool: Spool) -> None:
    """Shutdown may be long before the end of the process."""
    sibling = make_sibling()
    sibling.call("append", ["a"], ["datadog"])
    sibling.call("release")
    assert claimed(spool) == ["a"]


def test_siblings_that_claim_at_once_share_without_overlap(make_sibling: MakeSibling) -> None:
    """Every record goes to one of them."""
    dead = make_sibling()
    ids = [f"r{number}" for number in range(200)]
    dead.call("append", ids, ["datadog"])
    dead.kill()
    siblings = [make_sibling() for _ in range(3)]
    shares: list[str] = []
    while len(shares) < len(ids):
        for sibling in siblings:
            sibling.ask("claim", "datadog", 7)
        shares += [record_id for sibling in siblings for record_id in sibling.answer()]
    assert sorted(shares) == sorted(ids)


def test_siblings_that_start_at_once_make_one_spool(make_sibling: MakeSibling) -> None:
    """One of them makes the file, and the others find it whole."""
    siblings = [make_sibling(ready=False) for _ in range(4)]
    assert [sibling.answer() for sibling in siblings] == ["ready"] * 4
    for number, sibling in enumerate(siblings):
        sibling.call("append", [f"r{number}"], ["datadog"])
    assert siblings[0].call("counts") == {"datadog": 4}


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 20, 61])
def test_a_kill_at_any_moment_loses_nothing(make_sibling: MakeSibling, spool: Spool, lines: int) -> None:
    """What append has returned for is there; what done has returned for is not; anything else may be once."""
    sibling = make_sibling()
    sibling.ask("stream", "s")
    said: list[Any] = [sibling.answer() for _ in range(lines)]
    said += sibling.kill()
    appended = {record_id for what, record_id in said if what == "appended"}
    doing = {record_id for what, record_id in said if what == "doing"}
    done = {record_id for what, record_id in said if what == "done"}
    found, other = claimed(spool), claimed(spool, "otel_logs")
    assert appended - doing - set(found) == set()
    assert len(doing - done) <= 1
    assert done & set(found) == set()
    assert appended - set(other) == set()
    assert (len(set(found)), len(set(other))) == (len(found), len(other))
    assert len(set(other) - appended) <= 1


def test_killed_siblings_disturb_no_other(make_sibling: MakeSibling) -> None:
    """Killed in the middle of writing, with another one at work on the same file."""
    living = make_sibling()
    for number in range(4):
        streaming = make_sibling()
        streaming.ask("stream", f"s{number}")
        streaming.answer()
        streaming.kill()
        living.call("append", [f"l{number}"], ["otel_spans"])
    assert living.call("counts")["otel_spans"] == 4


def test_lock_files_of_the_dead_are_removed(make_sibling: MakeSibling, make_spool: MakeSpool, directory: Path) -> None:
    """Also of those that have left no record."""
    siblings = [make_sibling(), make_sibling()]
    for sibling in siblings:
        sibling.call("append", ["a"], ["datadog"])
        sibling.call("done", "datadog", ["a"])
    for sibling in siblings:
        sibling.kill()
    left = lock_files(directory)
    make_spool()
    assert (len(left), lock_files(directory)) == (2, [])


def test_a_lock_file_with_the_pid_of_a_living_process_does_not_make_it_the_owner(
    make_sibling: MakeSibling, spool: Spool, directory: Path
) -> None:
    """Process ids are used again; the lock is what counts."""
    sibling, heir = make_sibling(), make_sibling()
    sibling.call("append", ["a"], ["datadog"])
    (name,) = lock_files(directory)
    sibling.kill()
    token = name[len("owner-") : -len(".lock")]
    heirs = f"{heir.process.pid}-{token.rpartition('-')[2]}"
    spool._session.transact(lambda database: rows.adopt(database, token, heirs))
    (directory / name).rename(directory / f"owner-{heirs}.lock")
    assert (token.split("-")[0], claimed(spool)) == (str(sibling.process.pid), ["a"])


def test_a_process_whose_lock_file_was_removed_keeps_its_records(
    spool: Spool, make_spool: MakeSpool, directory: Path
) -> None:
    """A cleaner of temporary files passed: the next append takes a new lock, and the records with it."""
    spool.append([make_record("a")], ["datadog"])
    for name in lock_files(directory):
        (directory / name).unlink()
    spool.append([make_record("b")], ["datadog"])
    assert (claimed(make_spool()), spool.counts(owned=True)) == ([], {"datadog": 2})


def test_a_lock_whose_descriptor_was_closed_is_taken_anew(spool: Spool, make_spool: MakeSpool, directory: Path) -> None:
    """Programs that become daemons close descriptors that aren't theirs; one that reuses the number keeps its file."""
    spool.append([make_record("a")], ["datadog"])
    descriptor = spool._owner._descriptor
    assert descriptor is not None
    with open(os.devnull) as other:
        os.dup2(other.fileno(), descriptor)
    spool.append([make_record("b")], ["datadog"])
    try:
        assert (claimed(make_spool()), os.fstat(descriptor).st_rdev) == ([], os.stat(os.devnull).st_rdev)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("owner", ["../../outside", "1-0123456789abcdef/../../outside", "", "1-é"])
def test_an_owner_that_is_no_token_names_no_file(
    spool: Spool, make_spool: MakeSpool, directory: Path, owner: str
) -> None:
    """What stands in the file is never part of a path unchecked; such a row is nobody's."""
    outside = directory.parent / "outside.lock"
    outside.write_text("")
    spool.append([make_record("a")], ["datadog"])
    spool._session.transact(lambda database: database.execute("UPDATE pending SET owner = ?", (owner,)))
    assert (claimed(make_spool()), outside.exists()) == (["a"], True)
