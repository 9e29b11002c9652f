"""Delivery to one sink: batches, retries, splitting, and the account of every record.

The render thread offers records, a delivery thread of the sink's own sends them, so that one dead sink delays no
other. Both take this delivery's lock; the application's threads take it in `flush`, `shutdown` and `stats` alone.
"""

from __future__ import annotations

import _thread
from collections import Counter
from time import monotonic, time
from typing import Callable, Iterable, Mapping, NamedTuple, Protocol, Sequence

from errorsink import _native, _selflog
from errorsink._backoff import Backoff
from errorsink._contract import checked_item, checked_outcome, checked_reason, passes
from errorsink._ledger import Account, Ledger
from errorsink._normalize import in_user_code
from errorsink._queue import Entry, RecordQueue
from errorsink.model import ErrorRecord
from errorsink.sinks import Item, Outcome, Sink

__all__ = ["Delivery", "Policy", "Store"]

CLAIM = 64
"""Records that are taken over at a time: decoding them holds up the render thread, which stores the new ones."""
RECLAIM_INTERVAL = 5.0
"""Seconds between two looks at the spool for records that nobody looks after."""
WORTHWHILE = 0.1
"""Seconds that must be left for one more try: with less it would only be said that the peer is slow."""

_TOO_LATE = Outcome.retry("out-of-time")
"""The outcome of a try that wasn't made, since no time is left."""


class Policy(NamedTuple):
    """The settings of delivery; times in seconds."""

    queue_size: int = 4096
    batch_size: int = 512
    batch_delay: float = 0.5
    send_timeout: float = 10.0
    retry_window: float = 300.0
    retry_max_delay: float = 30.0


class Store(Protocol):
    """What delivery needs of the spool."""

    def append(self, records: Sequence[ErrorRecord], sinks: Sequence[str], *, owned: bool = True) -> object: ...
    def done(self, sink: str, ids: Sequence[str]) -> None: ...
    def claim(self, sink: str, limit: int) -> list[ErrorRecord]: ...


class Parcel(NamedTuple):
    """What one request carries."""

    entries: list[Entry]
    items: list[Item]

    def halves(self) -> list[Parcel]:
        middle = len(self.entries) // 2
        return [Parcel(self.entries[half], self.items[half]) for half in (slice(middle), slice(middle, None))]


class Rest(NamedTuple):
    """A back-off: nothing is tried until its end, unless somebody asks for it."""

    until: float
    alarms: int
    """How often somebody had asked when the last try began."""
    patient: bool
    """The peer itself asked for the wait: nobody else can end it."""


class Delivery:
    """One sink with its queue and its account."""

    def __init__(
        self,
        sink: Sink,
        policy: Policy,
        *,
        random: Callable[[], float],
        store: Store | None = None,
        clock: Callable[[], float] = monotonic,
        wall: Callable[[], float] = time,
    ) -> None:
        self.sink = sink
        self.name = sink.name
        self.ledger = Ledger(wall)
        self._policy = policy
        self._store = store
        self._clock = clock
        self._changed = _native.Condition()  # on an RLock: a finaliser may come back here on the same thread
        self._queue = RecordQueue(policy.queue_size)
        self._sending: list[Entry] = []
        self._backoff = Backoff(policy.retry_max_delay, random)
        self._waiters = 0
        """Calls of flush that wait for this delivery."""
        self._alarms = 0
        """How often somebody asked to try now."""
        self._rest: Rest | None = None
        """The back-off that is being waited out."""
        self._too_late = False
        """True once no further try fits in before the end that was set: there is nothing to wait for any more."""
        self._unwelcome_until = 0.0
        """Until when the peer has asked to be left alone."""
        self._stop_at: float | None = None
        self._unclosed = [True]
        """Popped by the call that closes the sink: several threads may shut down at once."""
        self._closed_by: str | None = None
        """Why nothing will ever be delivered again."""

    # --------------------------------------------------------------------------------------- the render thread's side

    def wants(self, record: ErrorRecord) -> bool:
        """False for what this sink filters; it is counted here then, and shall not be offered."""
        try:
            reason = checked_reason(self.sink.skips(record))
        except BaseException as error:  # a sink's fault must not keep the record from it, or from others
            if passes(error):
                raise
            _selflog.contain(f"{self.name}.skips", error)
            return True
        if reason is not None:
            with self._changed:
                self.ledger.record(record.repeat_count)
                self.ledger.filtered[reason] += 1
        return reason is None

    def offer(self, records: Iterable[ErrorRecord], *, stored: bool = False) -> None:
        """Queues records that `wants` said yes to. `stored`: the spool has them too."""
        with self._changed:
            for record in records:
                self.ledger.record(record.repeat_count)
                self._put(record, stored)
            self._changed.notify_all()

    def _put(self, record: ErrorRecord, stored: bool) -> None:
        if self._closed_by is not None:
            self.ledger.rejected[self._closed_by] += 1
            self._settle([record.id] if stored else [])
        elif not stored and self._queue.join(record):
            self.ledger.merged += 1
        else:
            pushed_out = self._queue.put(record, self._clock(), stored)
            if pushed_out is not None:
                self._drop(pushed_out, "queue-full")

    def _drop(self, entry: Entry, reason: str) -> None:
        """Takes an entry out of memory: where the spool has it, it stays there for later; otherwise it is lost."""
        if entry.stored and self._store is not None:
            try:
                self._store.append([entry.record], [self.name], owned=False)
            except Exception as error:  # noqa: BLE001 - the record is on disk, and will be found when this process ends
                _selflog.contain("spool", error)
            self.ledger.spilled.add(entry.record.id)
            return
        self.ledger.dropped[reason] += 1
        kind = f"dropped:{reason}:{self.name}"
        _selflog.say(kind, f"{self.name}: reports are dropped ({reason}); stats() has the count")

    def lose(self, reports: int, reason: str) -> None:
        """Books reports that were lost before they could be offered."""
        with self._changed:
            self.ledger.record(reports)
            self.ledger.merged -= reports - 1
            self.ledger.dropped[reason] += reports

    def miss(self, gone: Mapping[str, str]) -> None:
        """Books records that the spool had to give up, by id; what is in memory too isn't lost."""
        if not gone:
            return
        with self._changed:
            for entry in (*self._sending, *self._queue):
                if entry.record.id in gone:
                    entry.stored = False  # memory alone has it from now on
            for identity, reason in gone.items():
                if identity in self.ledger.spilled:
                    self.ledger.spilled.discard(identity)
                    self.ledger.dropped[reason] += 1
        for reason in set(gone.values()):
            _selflog.say(f"dropped:{reason}", f"the spool gives up records ({reason}); see ERRORSINK_SPOOL_SIZE")

    def _settle(self, ids: Sequence[str]) -> None:
        """Tells the spool that it needn't keep these records for this sink."""
        if ids and self._store is not None:
            try:
                self._store.done(self.name, ids)
            except Exception as error:  # noqa: BLE001 - at worst the next process sends them again, under the same ids
                _selflog.contain("spool", error)

    # ------------------------------------------------------------------------------------------- the delivery thread

    def run(self) -> None:
        """The life of the delivery thread: until `stop`, and until what was queued before it is done."""
        thread = _thread.get_ident()
        _selflog.own_threads.add(thread)
        self._too_late = False
        try:
            while self._await_batch():
                self.deliver_batch()
        except Exception as error:  # noqa: BLE001 - a fault of ours; what is queued stays accounted for
            _selflog.contain(f"delivery to {self.name}", error)
        finally:
            _selflog.own_threads.discard(thread)

    def _await_batch(self) -> bool:
        """Waits until a batch is due; False when the delivery shall end."""
        looked = self._store is None
        while True:
            with self._changed:
                oldest = self._queue.oldest
                if self._stop_at is not None and (oldest is None or self._too_late or self._clock() >= self._stop_at):
                    return False
                if oldest is not None:
                    wait = oldest.since + self._policy.batch_delay - self._clock()
                    full = len(self._queue) >= min(self._policy.batch_size, self.sink.max_records)
                    if full or wait <= 0 or self._waiters or self._stop_at is not None:
                        return True
                    self._changed.wait(wait)
                    continue
                if looked:
                    self._changed.wait(RECLAIM_INTERVAL if self._store is not None else None)
                    looked = self._store is None
                    continue
            looked = not self.reclaim()

    def reclaim(self) -> bool:
        """Takes over what the spool holds for this sink and nobody looks after."""
        if self._store is None or self._closed_by is not None:
            return False
        try:  # without our lock: the disk may take its time, and the render thread must not wait for it
            records = self._store.claim(self.name, min(CLAIM, self._policy.batch_size, self._policy.queue_size))
        except Exception as error:  # noqa: BLE001 - delivery goes on without the spool
            _selflog.contain("spool", error)
            return False
        with self._changed:
            due = self._clock() - self._policy.batch_delay
            for record in records:
                if record.id in self.ledger.spilled:
                    self.ledger.spilled.discard(record.id)
                else:
                    self.ledger.recovered += 1
                pushed_out = self._queue.put(record, due, True)
                if pushed_out is not None:
                    self._drop(pushed_out, "queue-full")
        return bool(records)

    def deliver_batch(self, deadline: float | None = None) -> None:
        """Takes one batch off the queue and settles it, or puts back what there was no time for.

        With a deadline it runs in the caller's thread, at exit, where no thread can be started any more.
        """
        with self._changed:
            self._too_late = False
            self._sending = batch = self._queue.take(min(self._policy.batch_size, self.sink.max_records))
        try:
            parcels = self._parcels(batch)[::-1]
            while parcels and not self._too_late:
                parcels += self._deliver(parcels.pop(), deadline)[::-1]
        finally:
            if self._sending:  # no time is left; or a Ctrl-C arrived meanwhile, or a fault of ours
                self._put_back(self._sending)

    def _parcels(self, batch: list[Entry]) -> list[Parcel]:
        """The batch in wire form, cut where it would have more bytes than one request may."""
        parcels: list[Parcel] = []
        size = 0
        for entry in batch:
            try:
                item = checked_item(self.sink.prepare(entry.final()))
            except BaseException as error:  # one record that can't be encoded must not harm its neighbours
                if passes(error):
                    raise
                _selflog.contain(f"{self.name}.prepare", error)
                self._leave([entry], self.ledger.rejected, "encoding")
                continue
            if not parcels or size + item.size > self.sink.max_bytes:
                parcels.append(Parcel([], []))
                size = 0
            parcels[-1].entries.append(entry)
            parcels[-1].items.append(item)
            size += item.size
        return parcels

    def _deliver(self, parcel: Parcel, deadline: float | None) -> list[Parcel]:
        """Sends one parcel until it is settled; what is left to send of it, where it must be halved."""
        while self._closed_by is None:
            alarms = self._alarms
            outcome = self._attempt(parcel, deadline) if self._is_welcome(deadline) else _TOO_LATE
            if outcome.status != "retry":
                self._unwelcome_until = 0.0
                self._backoff.succeeded()
                if outcome.status == "too_large" and len(parcel.entries) > 1:
                    return parcel.halves()
                self._conclude(parcel, outcome)
                return []
            if not self._retries(parcel, outcome, alarms, deadline):
                return []
        self._leave(parcel.entries, self.ledger.rejected, self._closed_by)
        return []

    def _attempt(self, parcel: Parcel, deadline: float | None) -> Outcome:
        """One call of the sink, within the limit of one request and before any deadline."""
        now = self._clock()
        for entry in parcel.entries:
            if entry.first_try is None:
                entry.first_try = now
        ends = (now + self._policy.send_timeout, deadline, self._stop_at)
        limit = min(end for end in ends if end is not None)
        if limit <= now:
            return _TOO_LATE
        thread = _thread.get_ident()
        nested = thread in in_user_code
        in_user_code.add(thread)  # what the sink's libraries log must not come back as reports
        try:
            self._backoff.trying()
            return checked_outcome(self.sink.send(parcel.items, limit - now))
        except BaseException as error:  # a sink's fault is one failed try
            if passes(error):
                raise
            _selflog.contain(f"{self.name}.send", error)
            return Outcome.retry("fault", f"{type(error).__name__} inside the sink")
        finally:
            if not nested:
                in_user_code.discard(thread)

    def _retries(self, parcel: Parcel, outcome: Outcome, alarms: int, deadline: float | None) -> bool:
        """Waits for the next try; False where there is none any more."""
        if outcome is not _TOO_LATE:
            self._fails(outcome)
            until = self._clock() + self._backoff.failed(outcome.retry_after)
            patient = outcome.retry_after is not None
            if patient:
                self._unwelcome_until = until
            self._too_late = not self._pause(Rest(until, alarms, patient), deadline)
        else:
            self._too_late = True
        if self._too_late:
            return False
        first = parcel.entries[0].first_try
        if first is not None and self._clock() - first > self._policy.retry_window:
            self._give_up(parcel.entries)
            return False
        return True

    def _pause(self, rest: Rest, deadline: float | None) -> bool:
        """Waits out a back-off, which a flush may end; False, and at once, where the next try would come too late."""
        with self._changed:
            self._rest = rest
            self._changed.notify_all()
            try:
                while (wait := rest.until - self._clock()) > 0:
                    if self._is_alarmed(rest):
                        self._backoff.ease()
                        break
                    if self._ends_by(rest.until + WORTHWHILE, deadline):
                        return False
                    self._changed.wait(wait)
            finally:
                self._rest = None
        return not self._ends_by(self._clock(), deadline)

    def _ends_by(self, moment: float, deadline: float | None) -> bool:
        """True where all must have been tried by then."""
        return any(end is not None and moment >= end for end in (deadline, self._stop_at))

    def _is_welcome(self, deadline: float | None) -> bool:
        """Waits until the peer may be asked again, also with other records; False where that is too late."""
        until = self._unwelcome_until
        return self._clock() >= until or self._pause(Rest(until, self._alarms, patient=True), deadline)

    def _is_alarmed(self, rest: Rest) -> bool:
        """True where somebody has asked to try now, since the last try began, and may."""
        return self._alarms != rest.alarms and not rest.patient

    def _put_back(self, entries: list[Entry]) -> None:
        """What there is no time for stays queued: it isn't lost until the process is."""
        with self._changed:
            self._queue.put_back(entries)
            self._sent(entries)

    def _give_up(self, entries: list[Entry]) -> None:
        with self._changed:
            for entry in entries:
                entry.first_try = None
                self._drop(entry, "retry-window")
            self._sent(entries)

    def _conclude(self, parcel: Parcel, outcome: Outcome) -> None:
        """Books what the peer said for good."""
        reason = outcome.reason or outcome.status
        entries = parcel.entries
        if outcome.status == "delivered":
            refused = min(max(outcome.refused, 0), len(entries))
            if refused:
                self._fails(outcome)
            elif outcome.detail:
                self._warns(outcome)
            with self._changed:
                self.ledger.deliver(len(entries) - refused)
                if refused:
                    self.ledger.rejected[reason] += refused
            self._left(entries)
            return
        self._fails(outcome)
        if outcome.status == "stopped":
            with self._changed:
                self._closed_by = reason
                self._backoff.state = "stopped"
                waiting = self._queue.take(len(self._queue))
            self._leave(waiting, self.ledger.rejected, reason)
        self._leave(entries, self.ledger.rejected, reason)

    def _fails(self, outcome: Outcome) -> None:
        """Remembers what went wrong, and says it once."""
        detail = outcome.detail or outcome.reason
        with self._changed:
            self.ledger.fail(_selflog.clean(detail))
        waits = "; reports wait and are tried again" if outcome.status == "retry" else ""
        family = self.name.partition("_")[0]  # logs and spans of one endpoint fail together: one sentence will do
        _selflog.say(f"{outcome.status}:{outcome.reason}:{family}", f"{self.name}: {detail}{waits}")

    def _warns(self, outcome: Outcome) -> None:
        """Says once what a peer remarks that has taken everything."""
        _selflog.say(f"warning:{self.name}", f"{self.name}: {outcome.detail}")

    def _leave(self, entries: list[Entry], account: Counter[str], reason: str) -> None:
        with self._changed:
            account[reason] += len(entries)
        self._left(entries)

    def _left(self, entries: list[Entry]) -> None:
        """The entries are settled, and no longer this delivery's."""
        self._settle([entry.record.id for entry in entries if entry.stored])
        with self._changed:
            self._sent(entries)

    def _sent(self, entries: list[Entry]) -> None:
        gone = set(map(id, entries))
        self._sending = [entry for entry in self._sending if id(entry) not in gone]
        self._changed.notify_all()

    # ------------------------------------------------------------------------------------ flush, shutdown and stats

    @property
    def unstored(self) -> int:
        """How many records end with the process, since only its memory has them."""
        with self._changed:
            return sum(1 for entry in (*self._sending, *self._queue) if not entry.stored)

    @property
    def lost(self) -> int:
        """How many reports were dropped so far."""
        return sum(self.ledger.dropped.values())

    def settled(self, sequence: int) -> bool:
        """True when nothing up to this number is waiting."""
        with self._changed:
            waiting = [*self._sending, *filter(None, [self._queue.oldest])]
            return all(entry.sequence > sequence for entry in waiting)

    def begin_flush(self) -> int:
        """Nothing waits for company or for the end of a back-off from now on; the number to wait for."""
        with self._changed:
            self._waiters += 1
            self._alarms += 1
            self._changed.notify_all()
            return self._queue.sequence

    def end_flush(self) -> None:
        with self._changed:
            self._waiters -= 1

    def wait_settled(self, sequence: int, deadline: float) -> bool:
        """Waits until everything up to this number is settled; False where that can't be before the deadline."""
        with self._changed:
            while not self.settled(sequence):
                wait = deadline - self._clock()
                if wait <= 0 or self._too_late or self._rests_until(deadline):
                    return False
                self._changed.wait(wait)
            return True

    def _rests_until(self, deadline: float) -> bool:
        """True where nothing will be tried before the deadline."""
        rest = self._rest
        return rest is not None and rest.until >= deadline and not self._is_alarmed(rest)

    def deliver_all(self, deadline: float) -> bool:
        """Delivers what is queued in the calling thread; False where something is left for which there is no time."""
        self._stop_at = None  # of the thread that did so before
        self._too_late = False
        while len(self._queue) and not self._too_late:
            if self._clock() < deadline:
                self.deliver_batch(deadline)
            else:
                self._too_late = True
        return not len(self._queue)

    def stop(self, deadline: float) -> None:
        """Ends the delivery thread once the queue is empty, or at the deadline."""
        with self._changed:
            self._stop_at = deadline
            self._changed.notify_all()

    def leave(self) -> None:
        """What is queued and in the spool too is the spool's alone from now on."""
        with self._changed:
            kept: list[Entry] = []
            for entry in self._queue.take(len(self._queue)):
                if entry.stored:
                    self.ledger.spilled.add(entry.record.id)
                else:
                    kept.append(entry)
            self._queue.put_back(kept)
            self._changed.notify_all()

    def close(self) -> None:
        """Closes the sink, once."""
        try:
            self._unclosed.pop()
        except IndexError:
            return
        try:
            self.sink.close()
        except BaseException as error:  # a sink that can't be closed is of no consequence any more
            if passes(error):
                raise
            _selflog.contain(f"{self.name}.close", error)

    def account(self) -> Account:
        with self._changed:
            return self.ledger.account(len(self._queue) + len(self._sending), self._backoff.state)
