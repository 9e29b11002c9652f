"""What the spool's tables hold, and how it changes: functions on a connection, each a part of one transaction.

`owner` is the token of this process; `is_free` says of another token whether nobody looks after its rows any more.
"""

from __future__ import annotations

import itertools
import operator
import sqlite3
from typing import Callable, NamedTuple, Sequence

from errorsink._spool_file import PAGE

__all__ = ["UNOWNED", "Body", "Dropped", "Row", "adopt", "count", "expel", "free_owners", "settle", "store", "take"]

Body = tuple[str, bytes]
"""A record's id and its JSON."""

UNOWNED = ""
"""The owner of rows that any process may claim."""


class Dropped(NamedTuple):
    """A record that the spool no longer holds for a sink, or never took."""

    id: str
    sink: str
    reason: str
    """`spool-full`, `spool-expired` or `spool-encoding` (a field holds what the model doesn't allow)."""
    owned: bool
    """False: nobody looked after it, so that it is in the accounts of a process that is gone."""


class Row(NamedTuple):
    """A claimed record."""

    seq: int
    id: str
    body: bytes


def settle(database: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Removes rows by sink and record id, and the records that no sink needs any more."""
    database.executemany("DELETE FROM pending WHERE sink = ? AND seq = (SELECT seq FROM record WHERE id = ?)", pairs)
    database.executemany(
        "DELETE FROM record WHERE id = ? AND NOT EXISTS (SELECT 1 FROM pending WHERE pending.seq = record.seq)",
        [(record_id,) for _, record_id in pairs],
    )


def store(database: sqlite3.Connection, bodies: Sequence[Body], sinks: Sequence[str], owner: str, now: float) -> None:
    """Adds the records as pending for each sink; one that is there is overwritten, and its rows change hands."""
    database.executemany(
        "INSERT INTO record (id, stored, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        [(record_id, now, body) for record_id, body in bodies],
    )
    database.executemany(
        "INSERT INTO pending (sink, owner, seq) SELECT ?, ?, seq FROM record WHERE id = ?"
        " ON CONFLICT (seq, sink) DO UPDATE SET owner = excluded.owner",
        [(sink, owner, record_id) for record_id, _ in bodies for sink in sinks],
    )


def expel(
    database: sqlite3.Connection,
    reason: str,
    owner: str,
    is_free: Callable[[str], bool],
    *,
    before: float,
    pages: float,
) -> list[Dropped]:
    """Removes records stored before that time, oldest first, until about so many pages are free.

    What a living sibling owns stays, since it is in the sibling's memory and accounts. A record counts for whole
    pages, so that a few too few go rather than too many; the caller asks again.
    """
    rows = database.execute(
        "SELECT seq, id, length(body), sink, owner FROM record JOIN pending USING (seq) WHERE stored < ? ORDER BY seq",
        (before,),
    )
    dropped: list[Dropped] = []
    expelled: list[tuple[int]] = []
    known = {owner: True}
    for seq, group in itertools.groupby(rows, key=operator.itemgetter(0)):
        entries = list(group)
        owners = [holder for *_, holder in entries]
        known.update({holder: is_free(holder) for holder in owners if holder not in known})
        if all(map(known.__getitem__, owners)):
            expelled.append((seq,))
            dropped += [
                Dropped(record_id, sink, reason, holder == owner != UNOWNED)
                for _, record_id, _, sink, holder in entries
            ]
            pages -= -(-entries[0][2] // PAGE)
            if pages <= 0:
                break
    rows.close()
    database.executemany("DELETE FROM pending WHERE seq = ?", expelled)
    database.executemany("DELETE FROM record WHERE seq = ?", expelled)
    return dropped


def free_owners(database: sqlite3.Connection, sink: str, is_free: Callable[[str], bool]) -> list[str]:
    """The tokens under which this sink has rows that may be taken. Each step is one look into the index."""
    free: list[str] = []
    (holder,) = database.execute("SELECT min(owner) FROM pending WHERE sink = ?", (sink,)).fetchone()
    while holder is not None:
        if is_free(holder):
            free.append(holder)
        following = "SELECT min(owner) FROM pending WHERE sink = ? AND owner > ?"
        (holder,) = database.execute(following, (sink, holder)).fetchone()
    return free


def take(database: sqlite3.Connection, sink: str, owner: str, free: Sequence[str], limit: int) -> list[Row]:
    """The oldest rows under these tokens, which are this process's from now on; the rest of them are nobody's."""
    database.executemany(
        "UPDATE pending SET owner = ? WHERE sink = ? AND owner = ?",
        [(UNOWNED, sink, holder) for holder in free if holder != UNOWNED],
    )
    rows = database.execute(
        "SELECT seq, id, body FROM pending JOIN record USING (seq) WHERE sink = ? AND owner = ? ORDER BY seq LIMIT ?",
        (sink, UNOWNED, limit),
    ).fetchall()
    taken = [Row(*row) for row in rows]
    database.executemany(
        "UPDATE pending SET owner = ? WHERE seq = ? AND sink = ?", [(owner, r.seq, sink) for r in taken]
    )
    return taken


def adopt(database: sqlite3.Connection, previous: str, owner: str) -> None:
    """Gives this process's rows its new token."""
    database.execute("UPDATE pending SET owner = ? WHERE owner = ?", (owner, previous))


def count(database: sqlite3.Connection, owner: str | None) -> dict[str, int]:
    """Rows by sink: of this owner, or of all where it is None."""
    query = "SELECT sink, count(*) FROM pending WHERE owner = coalesce(?, owner) GROUP BY sink"
    return dict(database.execute(query, (owner,)).fetchall())
