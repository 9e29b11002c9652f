"""The queue between the callers and the render thread: bounded, and without a lock on the callers' side.

Callers append to a deque, which is atomic, and ring a bell only when the render thread sleeps. A finaliser or a
signal handler may do so at any line, on any thread.
"""

from __future__ import annotations

from collections import deque

from errorsink import _native
from errorsink._tally import Tally
from errorsink._trace import identity
from errorsink._typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from errorsink._capture import Snapshot

__all__ = ["Inbox", "Taken"]

MAX_CROWDS = 256
"""Different errors that are merged while the queue is full."""
RETIRED = 1_024
"""Crowds that are looked at once more for a report that joined while they were being taken."""


class Taken(NamedTuple):
    """A snapshot to render, and for how many reports it stands."""

    snapshot: Snapshot
    reports: int
    last_time_ns: int | None


class _Crowd:
    """Equal reports that found the queue full."""

    __slots__ = ("join", "last_time_ns", "size", "snapshot", "taken")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.size = Tally()
        self.join = self.size.add
        self.last_time_ns = snapshot.time_ns
        self.taken = 0

    def take(self) -> Taken | None:
        """What has joined since it was last taken."""
        new = self.size.value - self.taken
        if not new:
            return None
        self.taken += new
        return Taken(self.snapshot, new, self.last_time_ns if new > 1 else None)


class Inbox:
    """Snapshots on their way to the render thread."""

    def __init__(self, capacity: int) -> None:
        self.dropped = Tally()
        self.hurried = False
        self.in_hand = 0
        """Reports that the render thread has taken and not yet handed on."""
        self._capacity = capacity
        self._half = capacity // 2
        self._items: deque[Snapshot] = deque()
        self._crowds: dict[Any, _Crowd] = {}
        self._retired: deque[_Crowd] = deque(maxlen=RETIRED)
        self._parked = False
        """True while the render thread sleeps until somebody rings."""
        self._lingers = False
        """True while it lets more reports come, though not more than half of the capacity."""
        self._bell = _native.allocate_lock()
        self._bell.acquire()

    # ------------------------------------------------------------------------------------------- the callers' side

    def put(self, snapshot: Snapshot) -> None:
        """Queues a snapshot. When the queue is full it joins its equals; failing that, the oldest one is dropped."""
        items = self._items
        if len(items) < self._half:
            items.append(snapshot)
        elif len(items) < self._capacity:
            items.append(snapshot)
            if self._lingers:
                self._ring()
        else:
            self._put_when_full(snapshot)
        if self._parked:
            self._ring()

    def _put_when_full(self, snapshot: Snapshot) -> None:
        key = _equality(snapshot)
        crowd = self._crowds.get(key)
        if crowd is None:
            if len(self._crowds) >= MAX_CROWDS:
                self._drop_oldest()
                self._items.append(snapshot)
                return
            crowd = self._crowds.setdefault(key, _Crowd(snapshot))
        crowd.last_time_ns = snapshot.time_ns
        crowd.join()
        if self._crowds.get(key) is not crowd:  # it was taken meanwhile, and nobody might look at it any more
            self._retired.append(crowd)

    def _drop_oldest(self) -> None:
        try:
            self._items.popleft()
        except IndexError:  # the render thread was quicker
            return
        self.dropped.add()

    def hurry(self) -> None:
        """Wakes the render thread at once, also out of its pause for more."""
        self.hurried = True
        self._ring()

    def _ring(self) -> None:
        self._parked = self._lingers = False
        try:
            self._bell.release()
        except RuntimeError:  # it has been rung already
            return

    # ------------------------------------------------------------------------------------- the render thread's side

    def take(self, limit: int) -> list[Taken]:
        """The next snapshots, oldest first; once the queue is empty, the crowds that formed while it was full."""
        taken: list[Taken] = []
        items = self._items
        try:
            while len(taken) < limit:
                taken.append(Taken(items.popleft(), 1, None))
        except IndexError:
            taken += self._take_crowds()
        self.in_hand += sum(one.reports for one in taken)
        return taken

    def _take_crowds(self) -> list[Taken]:
        taken = [one for crowd in list(self._retired) if (one := crowd.take()) is not None]
        for key in list(self._crowds):
            crowd = self._crowds.pop(key)
            one = crowd.take()
            self._retired.append(crowd)
            if one is not None:
                taken.append(one)
        return taken

    def wait(self) -> None:
        """Sleeps until there is something to take, or somebody is in a hurry."""
        self._parked = True
        if not (self.pending or self.hurried):
            self._bell.acquire()
        self._parked = False

    def linger(self, seconds: float) -> None:
        """Lets more reports come, so that they are rendered together; `hurry` and a half full queue end it."""
        self._lingers = True
        if not (self.hurried or len(self._items) >= self._half):
            self._bell.acquire(True, seconds)
        self._lingers = self.hurried = False

    def handed_on(self) -> int:
        """Nothing is in hand any more; how many reports were."""
        done, self.in_hand = self.in_hand, 0
        return done

    @property
    def pending(self) -> int:
        """Reports that nobody has taken yet."""
        crowds = {id(crowd): crowd for crowd in [*self._crowds.values(), *self._retired]}
        waiting = sum(crowd.size.value - crowd.taken for crowd in crowds.values())
        return len(self._items) + waiting


def _equality(snapshot: Snapshot) -> Any:
    """Equal for equal errors, as far as it can be told without rendering."""
    handling = snapshot.handling if type(snapshot.handling) is str else None  # it may be any value, unhashable too
    if snapshot.fingerprint is not None:
        return snapshot.fingerprint, handling
    return snapshot.type, identity(snapshot.places), handling
