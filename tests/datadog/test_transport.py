"""The deadline of a request, by a clock of the test's own."""

from __future__ import annotations

import httpcore
import pytest
from errorsink_datadog._transport import READ_BYTES, Deadline, DeadlineBackend, DeadlineStream


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def deadline(clock: Clock) -> Deadline:
    """Ten seconds from now."""
    deadline = Deadline(clock)
    deadline.start(10)
    return deadline


@pytest.mark.parametrize(("spent", "limit", "left"), [(0, None, 10), (4, None, 6), (0, 5, 5), (8, 5, 2)])
def test_what_is_left(spent: float, limit: float | None, left: float, clock: Clock, deadline: Deadline) -> None:
    """The time of the whole, or the limit of the one operation where that is nearer."""
    clock.now += spent

    assert deadline.left(httpcore.ReadTimeout, limit) == left


@pytest.mark.parametrize("spent", [10, 11])
def test_nothing_is_left(spent: float, clock: Clock, deadline: Deadline) -> None:
    """The operation that comes too late fails as it would by its own limit."""
    clock.now += spent

    with pytest.raises(httpcore.WriteTimeout):
        deadline.left(httpcore.WriteTimeout, 5)


@pytest.mark.parametrize(("seconds", "left"), [(3, 3), (30, 10)])
def test_a_nearer_deadline(seconds: float, left: float, deadline: Deadline) -> None:
    """It ends with the whole at the latest, and leaves the whole as it is."""
    assert deadline.within(seconds).left(httpcore.ConnectTimeout) == left
    assert deadline.left(httpcore.ConnectTimeout) == 10


@pytest.mark.parametrize(("seconds", "left"), [(3, 3), (30, 10)])
def test_a_shortened_deadline(seconds: float, left: float, deadline: Deadline) -> None:
    """It is never longer than it was."""
    deadline.shorten(seconds)

    assert deadline.left(httpcore.ReadTimeout) == left


class Connection(httpcore.NetworkStream):
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, float | None]] = []
        self.closed = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.reads.append((max_bytes, timeout))
        return b"x"

    def close(self) -> None:
        self.closed = True


def test_each_read_gets_what_is_left(clock: Clock, deadline: Deadline, monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that sends a byte now and then has no more time than one that sends all at once; reads are small."""
    connection = Connection()
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", lambda *args, **kwargs: connection)
    stream = DeadlineBackend(deadline).connect_tcp("127.0.0.1", 1, timeout=5)

    for _ in range(3):
        stream.read(65_536, timeout=8)
        clock.now += 3

    assert connection.reads == [(READ_BYTES, 8), (READ_BYTES, 7), (READ_BYTES, 4)]


def test_close_all(deadline: Deadline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection that is still in use somewhere is closed."""
    connections = [Connection(), Connection()]
    handed = iter(connections)
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", lambda *args, **kwargs: next(handed))
    backend = DeadlineBackend(deadline)
    streams = [backend.connect_tcp("127.0.0.1", 1) for _ in connections]

    backend.close_all()

    assert [connection.closed for connection in connections] == [True, True]
    assert all(isinstance(stream, DeadlineStream) for stream in streams)
