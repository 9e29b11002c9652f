"""The life of a report behind the caller's thread: start, flush, shutdown, exit.

A pipeline starts with its first report: the caller leaves the snapshot in the inbox and starts the render thread,
which builds the redactor, the sinks and their deliveries (that is where exporters are imported).
"""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic

from errorsink import _exit, _fork, _native, _selflog
from errorsink._inbox import Inbox
from errorsink._settings import Settings
from errorsink._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from errorsink._capture import Snapshot
    from errorsink._dispatch import Dispatcher
    from errorsink._ledger import Account
    from errorsink._render import Renderer

__all__ = ["Pipeline"]

RENDER_PAUSE = 0.1
"""Seconds that the render thread lets more reports come, unless the inbox is half full: errors come in bursts, and
rendering beside one would take the interpreter's lock from the callers."""
ALERT = 5
"""Pauses after the last report in which the render thread looks by itself: waking it costs a caller some 30 µs, and an
error is seldom alone."""
MAX_STARTS = 3
"""How often the render thread is started: once, and again after a fault of ours."""
DURABLE_PAUSE = 0.005
"""The same where there is a spool: what isn't on disk yet would be lost with the process."""
RENDER_BATCH = 128
"""Snapshots that are rendered before they are handed on."""
DURABLE_BATCH = 32
"""The same where there is a spool."""
RECENTLY = 60.0
"""Seconds for which a failure that was told of explains why reports are left at the end."""
PATIENCE = 5.0
"""Seconds that a report may wait, where there is a spool, until it is on disk."""
FORK_PATIENCE = 5.0
"""Seconds that a fork may wait until the exporters are imported, which takes part of one second."""


class Pipeline:
    """From accepted snapshots to the sinks, with one set of settings."""

    def __init__(self, env: Mapping[str, str], overrides: Mapping[str, object]) -> None:
        self.settings, self._problems = Settings.load(env, overrides)
        self._env = env
        self.accept: Callable[[Snapshot], None] = self._accept_first
        """Takes a snapshot. Which function this is says what state the pipeline is in."""
        self._unstarted = [True]
        self._starts = 0
        self._inbox = Inbox(self.settings.queue_size)
        self._work = _native.Mutex()
        """Held by the thread that builds, renders or offers, and around a fork."""
        self._dispatcher: Dispatcher | None = None
        self._reader: Renderer | None = None
        self._progress = _native.Condition()
        self._unbooked = 0
        """Reports that have been taken from the inbox and are in no sink's account yet."""
        self._handed_on = 0
        """Reports that have been taken from the inbox and offered to the sinks."""
        self._lost_and_told = 0
        self._threaded = True
        """False where no render thread could be started, and once it has ended."""
        self._ended = False
        self.closed = False
        self._finishing = False
        self._drained = False
        """True once the exit has delivered what it could: nothing is tried a second time for its own sake."""
        self._idle = True
        """False while there may be threads of ours."""
        self._visitors: list[int] = []
        """The threads of the application that are inside, and may hold a lock."""
        self._exit_left = self.settings.shutdown_timeout
        """Seconds that the exit of the process may still wait for deliveries."""

    # --------------------------------------------------------------------------------------------- the caller's side

    def _accept_first(self, snapshot: Snapshot) -> None:
        """The first report: starts the render thread, or, at exit, delivers in this thread."""
        self._inbox.put(snapshot)
        try:
            self._unstarted.pop()
        except IndexError:  # another thread, or the report of a signal handler, is just doing it
            self._wait_until_durable()
            return
        try:
            self._starts += 1
            _exit.come_first()
            _fork.come_first()
            self._threaded = True
            started = self._start_thread()
        except BaseException:  # a Ctrl-C that arrives now: the next report starts it
            if self._idle:
                self._unstarted.append(True)
            raise
        if not started:
            self._threaded = False
            self.accept = self._accept_at_exit
            self._deliver_at_exit()
        elif self.settings.spool_dir:
            self._wait_until_durable()
            self.accept = self._accept_durably
        else:
            self.accept = self._accept_running

    def _accept_running(self, snapshot: Snapshot) -> None:
        self._inbox.put(snapshot)

    def _accept_durably(self, snapshot: Snapshot) -> None:
        """With a spool, an uncaught error is on disk when its report returns: the process may be about to die."""
        self._inbox.put(snapshot)
        if snapshot.handling == "uncaught_exception":
            self._wait_until_durable()

    def _accept_at_exit(self, snapshot: Snapshot) -> None:
        """After the exit has begun: what is reported now is delivered in the caller's thread."""
        self._inbox.put(snapshot)
        self._deliver_at_exit()

    def _wait_until_durable(self) -> None:
        """Where there is a spool, waits until what is in the inbox now is on disk.

        Uncaught errors do so, and the reports that are made before the spool is open: later ones need no waiting,
        since the render thread stores them within some 20 ms.
        """
        if self.settings.spool_dir:
            self._wait_handed_on(monotonic() + PATIENCE)

    def _start_thread(self) -> bool:
        """Starts the render thread; False where no thread can be started any more, or none would be waited for."""
        if _exit.begun:
            return False
        try:
            _exit.drain_when_child_ends(self, self.drain_at_exit)
        except Exception as error:  # noqa: BLE001 - another version of multiprocessing; its children have to flush
            _selflog.contain("multiprocessing", error)
        self._idle = False
        try:
            _native.Thread(self._render)
        except RuntimeError:
            self._idle = True
            return False
        return True

    # --------------------------------------------------------------------------------------------- the render thread

    def _render(self) -> None:
        thread = _thread.get_ident()
        _selflog.own_threads.add(thread)
        try:
            with self._work:
                with suppress(RuntimeError):
                    self._dispatcher_built()
                # Again, where gevent was patched in during an import, whose locks no longer knew this thread. They
                # have gone with the error; the same error comes once more where it has another reason.
                self._dispatcher_built().start()
            pauses = 0
            while not self._ended:
                if self._hand_on():
                    pauses = 0
                    continue
                pauses += 1
                if pauses > ALERT:
                    self._inbox.wait()
                    pauses = 0
                self._inbox.linger(DURABLE_PAUSE if self.settings.spool_dir else RENDER_PAUSE)
        except Exception as error:  # noqa: BLE001 - a fault of ours; what is in the inbox waits for the next start
            _selflog.contain("the render thread", error)
        finally:
            _selflog.own_threads.discard(thread)
            with self._progress:
                self._threaded = False
                self._progress.notify_all()
        if not self._ended and self._starts < MAX_STARTS:
            self.accept = self._accept_first
            self._unstarted.append(True)

    def _hand_on(self, deadline: float | None = None) -> bool:
        """Renders and dispatches what is in the inbox; False when there was nothing."""
        with self._work:
            dispatcher = self._dispatcher_built()
            with self._progress:  # so that `_wait_handed_on` finds each report in one place, and in one alone
                batch = self._inbox.take(DURABLE_BATCH if self.settings.spool_dir else RENDER_BATCH)
                self._unbooked = self._inbox.in_hand
            if batch:
                dispatcher.dispatch(batch, self._is_booked, deadline)
            with self._progress:
                self._handed_on += self._inbox.handed_on()
                self._progress.notify_all()
            return bool(batch)

    def _is_booked(self) -> None:
        self._unbooked = 0

    def _dispatcher_built(self) -> Dispatcher:
        """The dispatcher, built by the first thread that needs it."""
        if self._dispatcher is None:
            _selflog.verbose = self.settings.debug
            for problem in self._problems:
                _selflog.say(f"setting:{problem}", problem)
            from errorsink._dispatch import Dispatcher  # lazy: all that the caller's thread doesn't need

            self._dispatcher = Dispatcher(self.settings, self._env)
            _selflog.clean = self._dispatcher.redactor.redact
        return self._dispatcher

    # ------------------------------------------------------------------------------------ flush, shutdown and stats

    def flush(self, deadline: float) -> bool:
        """Waits until all that was recorded before is delivered, filtered or rejected; False at the deadline."""
        if _exit.torn_down():
            return False
        if self._unstarted and not self._inbox.pending:
            return True
        if _native.in_own_thread() or _thread.get_ident() in _selflog.own_threads:
            return False  # a finaliser on a thread of the SDK: that thread can't wait for itself
        if sys.is_finalizing() and not (self._idle and set(self._visitors) <= {_thread.get_ident()}):
            return False  # a thread that isn't run any more may have kept a lock
        self._visitors.append(_thread.get_ident())
        try:
            handed_on = self._wait_handed_on(deadline)
            if not self._threaded:
                return self._finish_here(deadline)
            dispatcher = self._dispatcher
            settled = dispatcher is not None and dispatcher.wait_settled(deadline)
            return handed_on and settled and not self._lost_anything()
        finally:
            self._visitors.remove(_thread.get_ident())

    def _wait_handed_on(self, deadline: float) -> bool:
        """Waits until the render thread has offered to the sinks what is in the inbox now."""
        if _native.in_own_thread() or _thread.get_ident() in _selflog.own_threads:
            return False
        self._inbox.hurry()
        with self._progress:
            target = self._handed_on + self._inbox.in_hand + self._inbox.pending
            dropped = self._inbox.dropped.value
            while self._handed_on + self._inbox.dropped.value - dropped < target:
                wait = deadline - monotonic()
                if wait <= 0 or not self._threaded:
                    return False
                self._progress.wait(wait)
        return True

    def _lost_anything(self) -> bool:
        """True when something was dropped since the last flush."""
        lost = self._inbox.dropped.value
        if self._dispatcher is not None:
            lost += sum(delivery.lost for delivery in self._dispatcher.deliveries)
        before, self._lost_and_told = self._lost_and_told, lost
        return lost > before

    def _finish_here(self, deadline: float) -> bool:
        """Renders and delivers in the calling thread, where no thread does; True when nothing is left."""
        if self.closed:
            return self._all_settled(monotonic())
        if not self._work.acquire(deadline - monotonic()):
            return False
        thread = _thread.get_ident()
        if self._finishing:  # in this very thread, further up or in another green thread, which does this too
            self._work.release()
            return False
        self._finishing = True
        _selflog.own_threads.add(thread)
        try:
            dispatcher = self._dispatcher_built()
            while self._hand_on(deadline) and monotonic() < deadline:
                pass
            dispatcher.deliver_here(deadline)
            while self._inbox.pending and monotonic() < deadline:
                self._hand_on(deadline)
                dispatcher.deliver_here(deadline)
        finally:
            _selflog.own_threads.discard(thread)
            self._finishing = False
            self._work.release()
        return self._all_settled(deadline)

    def _all_settled(self, deadline: float) -> bool:
        settled = self._dispatcher is None or self._dispatcher.wait_settled(deadline)
        return settled and not self._inbox.pending and not self._lost_anything()

    def shutdown(self, deadline: float) -> bool:
        """Flushes, ends the threads and closes the sinks, all by the deadline."""
        flushed = self.flush(deadline)
        ended = self._end_threads(deadline)
        if self._dispatcher is not None and not self.closed:
            self._dispatcher.leave()
            if ended:
                self._dispatcher.close()
        self.closed = self.closed or ended
        return flushed

    def leftovers(self) -> list[Snapshot]:
        """After `shutdown`: what was accepted too late to be handed on."""
        return [taken.snapshot for taken in self._inbox.take(self.settings.queue_size)] if self.closed else []

    def _end_threads(self, deadline: float) -> bool:
        """Ends the SDK's threads; False where one is still busy at the deadline: it ends with the process."""
        self._ended = True
        if self._unstarted:
            return True
        self._inbox.hurry()
        with self._progress:
            while self._threaded:
                wait = deadline - monotonic()
                if wait <= 0:
                    return False
                self._progress.wait(wait)
        self._idle = self._dispatcher is None or self._dispatcher.stop(deadline)
        return self._idle

    # ----------------------------------------------------------------------------------------------- exit and fork

    def drain_at_exit(self) -> None:
        """The process ends: delivers what it can in time; what is reported later is delivered at once."""
        if self.closed or ((self._unstarted or self._drained) and not self._inbox.pending):
            return
        self._drained = True
        deadline = monotonic() + self._exit_left
        self._deliver_at_exit()
        self.accept = self._accept_at_exit
        if self._end_threads(deadline) and self._inbox.pending:
            self._deliver_at_exit()
        self._exit_left = max(min(self._exit_left, deadline - monotonic()), 0)
        self.tell_what_is_left("the process ends")

    def tell_what_is_left(self, occasion: str) -> None:
        """What is lost on an occasion is told, unless a failure that says why was told just before."""
        left = self._inbox.pending + self._unbooked
        if self._dispatcher is not None:
            deliveries = self._dispatcher.deliveries
            left = left + max(delivery.unstored for delivery in deliveries) if deliveries else 0
        if left and not _selflog.has_said("retry:", RECENTLY):
            limit = f"{self.settings.shutdown_timeout:g} s (ERRORSINK_SHUTDOWN_TIMEOUT)"
            remedy = "" if self.settings.spool_dir else "; with ERRORSINK_SPOOL_DIR a later one would send them"
            _selflog.say("exit", f"{occasion} with {left:,} reports not delivered within {limit}{remedy}")

    def _deliver_at_exit(self) -> None:
        """A flush within what the exit may still wait: one limit for all deliveries together, however late they are."""
        if _exit.torn_down():
            raise _exit.TornDown
        begin = monotonic()
        try:
            self.flush(begin + self._exit_left)
        finally:
            self._exit_left = max(self._exit_left - (monotonic() - begin), 0)

    def wait_for_imports(self) -> None:
        """Waits a while until the exporters are imported, where that has begun.

        A module that is being imported while another thread forks is never complete in the child, and whoever
        imports it there waits for ever.
        """
        if not self._unstarted and self._dispatcher is None and self._work.acquire(FORK_PATIENCE):
            self._work.release()

    def before_fork(self) -> bool:
        """Waits a while until no thread of ours renders or is in the spool: True where none is."""
        held = self._work.acquire(FORK_PATIENCE)
        if self._dispatcher is not None:
            self._dispatcher.before_fork()
        return held

    def after_fork_in_parent(self, held: bool) -> None:
        if self._dispatcher is not None:
            self._dispatcher.after_fork_in_parent()
        if held:
            self._work.release()

    def after_fork_in_child(self) -> None:
        """This is the parent's pipeline now: all that is left to do is to let go of what only the parent may hold."""
        if self._dispatcher is not None:
            self._dispatcher.after_fork_in_child()

    def renderer(self) -> Renderer:
        """A renderer with this pipeline's redaction, for what is read from the ring."""
        if self._reader is None:
            from errorsink._dispatch import new_renderer, redactor  # lazy: all that the caller's thread doesn't need

            # Not the dispatcher's: reading the ring must not count as masking once more.
            self._reader = new_renderer(self.settings, redactor(self.settings))
        return self._reader

    def redactions(self) -> dict[str, int]:
        """Secrets that were masked, by kind."""
        return {} if self._dispatcher is None else self._dispatcher.redactor.counts()

    def accounts(self) -> dict[str, Account]:
        """The account of every sink that is on, what is still on its way to it included."""
        if self._dispatcher is None:
            return {}
        dropped, waiting = self._inbox.dropped.value, self._inbox.pending + self._unbooked
        return {
            name: account._replace(
                recorded=account.recorded + dropped + waiting,
                queued=account.queued + waiting,
                dropped={**account.dropped, "inbox-full": dropped} if dropped else account.dropped,
            )
            for name, account in self._dispatcher.accounts().items()
        }
