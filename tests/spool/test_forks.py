"""Forks, with real processes."""

from __future__ import annotations

import sys

import pytest

from errorsink._spool import Spool
from tests.spool.conftest import MakeSibling

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")

REFUSED = 3
"""Exit status of a child whose call raised SpoolError."""


def claimed(spool: Spool) -> list[str]:
    """The ids of what the spool hands over."""
    return [record.id for record in spool.claim("datadog", 10_000)]


def test_a_child_that_lives_on_does_not_keep_a_dead_parent_s_records(make_sibling: MakeSibling, spool: Spool) -> None:
    """It inherited the descriptor of the parent's lock, and has closed it."""
    parent = make_sibling("hooks")
    parent.call("append", ["a"], ["datadog"])
    parent.call("fork_idle")
    parent.kill()
    assert claimed(spool) == ["a"]


@pytest.mark.parametrize("hooks", [["hooks"], []], ids=["with hooks", "without hooks"])
def test_a_child_s_end_does_not_end_its_parent_s_lock(
    make_sibling: MakeSibling, spool: Spool, hooks: list[str]
) -> None:
    """The child's record is free when it has ended; the parent's stays the parent's."""
    parent = make_sibling(*hooks)
    parent.call("append", ["parent"], ["datadog"])
    status = parent.call("fork_append", ["child"])
    assert (status, claimed(spool), parent.call("counts")) == (0, ["child"], {"datadog": 2})


def test_a_parent_goes_on_after_a_fork(make_sibling: MakeSibling, spool: Spool) -> None:
    """With the same owner as before."""
    parent = make_sibling("hooks")
    parent.call("append", ["a"], ["datadog"])
    parent.call("fork_append", ["child"])
    parent.call("append", ["b"], ["datadog"])
    assert (claimed(spool), claimed(spool)) == (["child"], [])
    parent.kill()
    assert claimed(spool) == ["a", "b"]


def test_forks_while_threads_store_hang_no_child(make_sibling: MakeSibling, spool: Spool) -> None:
    """Twenty children, four threads: every child stores its record and ends."""
    parent = make_sibling("hooks")
    assert parent.call("fork_storm", 20) == [0] * 20
    assert set(claimed(spool)) >= {f"child-{number}" for number in range(20)}


def test_a_fork_that_cannot_wait_for_a_stuck_thread_turns_the_child_s_spool_off(make_sibling: MakeSibling) -> None:
    """SQLite's mutexes can't be trusted in that child: it gets an error, and no hang. The parent goes on."""
    parent = make_sibling("hooks")
    assert parent.call("fork_while_busy") == REFUSED
    parent.call("append", ["a"], ["datadog"])
    assert parent.call("counts") == {"datadog": 1}


def test_a_fork_from_within_a_call_hangs_and_spoils_nothing(make_sibling: MakeSibling) -> None:
    """A signal handler that forks: the child's spool works, the parent's interrupted call says that it failed."""
    parent = make_sibling("hooks")
    assert "SpoolError" in parent.call("fork_inside")
    assert parent.call("counts") == {"datadog": 1}
