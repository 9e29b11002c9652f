"""The life of a report behind the caller's thread: start, flush, shutdown, exit.

A pipeline starts with its first report: the caller leaves the snapshot in the inbox and starts the render thread,
which builds the redactor, the sinks and their deliveries (that is where exporters are imported).
"""

from __future__ import annotations

import _thread
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Callable, Mapping

from errorsink import _selflog
from errorsink._inbox import Inbox
from errorsink._settings import Settings
from errorsink._tally import Tally

if TYPE_CHECKING:
    from errorsink._capture import Snapshot
    from errorsink._dispatch import Dispatcher
    from errorsink._ledger import Account
    from errorsink._render import Renderer

__all__ = ["Pipeline"]

RENDER_PAUSE = 0.02
"""Seconds that the render thread lets more reports come: a caller wakes it once in this time, not for each report."""
RENDER_BATCH = 128
"""Snapshots that are rendered before they are handed on."""
PATIENCE = 2.0
"""Seconds that an uncaught error may wait for the sinks to be built, so that it is on disk when its report returns."""


class Pipeline:
    """From accepted snapshots to the sinks, with one set of settings."""

    def __init__(self, env: Mapping[str, str], overrides: Mapping[str, object]) -> None:
        self.settings, self._problems = Settings.load(env, overrides)
        self._env = env
        self.recorded = Tally()
        self.accept: Callable[[Snapshot], None] = self._accept_first
        """Takes a snapshot. Which function this is says what state the pipeline is in."""
        self._unstarted = [True]
        self._inbox = Inbox(self.settings.queue_size)
        self._building = threading.RLock()
        self._dispatcher: Dispatcher | None = None
        self._progress = threading.Condition()
        self._handed_on = 0
        """Reports that have been taken from the inbox and offered to the sinks."""
        self._lost_and_told = 0
        self._threaded = False
        self._ended = False
        self._exit_at: float | None = None

    # --------------------------------------------------------------------------------------------- the caller's side

    def _accept_first(self, snapshot: Snapshot) -> None:
        """The first report: starts the render thread, or, at exit, delivers in this thread."""
        self._accept_running(snapshot)
        try:
            self._unstarted.pop()
        except IndexError:  # another thread, or the report of a signal handler, is just doing it
            return
        self._threaded = self._start_thread()
        if not self._threaded:
            self.accept = self._accept_at_exit
            self._finish_here()
        elif self.settings.spool_dir:
            self.accept = self._accept_durably
            self._keep_if_uncaught(snapshot)
        else:
            self.accept = self._accept_running

    def _accept_running(self, snapshot: Snapshot) -> None:
        self.recorded.add()
        self._inbox.put(snapshot)

    def _accept_durably(self, snapshot: Snapshot) -> None:
        """With a spool, an uncaught error is on disk when its report returns: the process may be about to die."""
        self._accept_running(snapshot)
        self._keep_if_uncaught(snapshot)

    def _accept_at_exit(self, snapshot: Snapshot) -> None:
        """After the exit has begun: what is reported now is delivered in the caller's thread."""
        self._accept_running(snapshot)
        self._finish_here()

    def _keep_if_uncaught(self, snapshot: Snapshot) -> None:
        if snapshot.handling == "uncaught_exception" and _thread.get_ident() not in _selflog.own_threads:
            self._wait_handed_on(self.recorded.value, monotonic() + PATIENCE)

    def _start_thread(self) -> bool:
        """Starts the render thread; False where no thread can be started any more, or none would be waited for."""
        if self._exit_at is not None or not threading.main_thread().is_alive():
            return False
        _drain_when_child_exits(self)
        try:
            # Not threading.Thread: its start() takes locks that an interrupted start() of the application may hold.
            _thread.start_new_thread(self._render, ())
        except RuntimeError:
            return False
        return True

    # --------------------------------------------------------------------------------------------- the render thread

    def _render(self) -> None:
        thread = _thread.get_ident()
        _selflog.own_threads.add(thread)
        try:
            self._dispatcher_built(threaded=True)
            while not self._ended:
                if not self._hand_on():
                    self._inbox.wait()
                    self._inbox.linger(RENDER_PAUSE)
        except Exception as error:  # noqa: BLE001 - a fault of ours; what is in the inbox stays accounted for
            _selflog.contain("the render thread", error)
        finally:
            _selflog.own_threads.discard(thread)
            with self._progress:
                self._threaded = False
                self._progress.notify_all()

    def _hand_on(self) -> bool:
        """Renders and dispatches what is in the inbox; False when there was nothing."""
        dispatcher = self._dispatcher_built()
        if dispatcher is None:
            return False
        batch = self._inbox.take(RENDER_BATCH)
        if batch:
            dispatcher.dispatch(batch)
        with self._progress:
            self._handed_on += self._inbox.handed_on()
            self._progress.notify_all()
        return bool(batch)

    def _dispatcher_built(self, *, threaded: bool = False, patience: float = -1) -> Dispatcher | None:
        """The dispatcher, built by the first thread that needs it; None when that took too long."""
        if not self._building.acquire(timeout=patience):
            return None
        try:
            if self._dispatcher is None:
                _selflog.verbose = self.settings.debug
                for problem in self._problems:
                    _selflog.say(f"setting:{problem}", problem)
                from errorsink._dispatch import Dispatcher  # lazy: all that the caller's thread doesn't need

                self._dispatcher = Dispatcher(self.settings, self._env)
                _selflog.clean = self._dispatcher.redactor.redact
                if threaded:
                    self._dispatcher.start()
            return self._dispatcher
        finally:
            self._building.release()

    # ------------------------------------------------------------------------------------ flush, shutdown and stats

    def flush(self, deadline: float) -> bool:
        """Waits until all that was recorded before is delivered, filtered or rejected; False at the deadline."""
        if not self.recorded.value:
            return True
        if _thread.get_ident() in _selflog.own_threads:
            return False  # a finaliser on a thread of the SDK: that thread can't wait for itself
        target = self.recorded.value
        if not self._threaded:
            return self._finish_here(deadline)
        handed_on = self._wait_handed_on(target, deadline)
        dispatcher = self._dispatcher
        settled = dispatcher is not None and dispatcher.wait_settled(deadline)
        return handed_on and settled and not self._lost_anything()

    def _wait_handed_on(self, target: int, deadline: float) -> bool:
        self._inbox.hurry()
        with self._progress:
            while self._handed_on + self._inbox.dropped.value < target:
                wait = deadline - monotonic()
                if wait <= 0:
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

    def _finish_here(self, deadline: float | None = None) -> bool:
        """Renders and delivers in the calling thread; True when nothing is left."""
        if deadline is None:
            deadline = self._exit_at if self._exit_at is not None else monotonic() + self.settings.shutdown_timeout
        if self._threaded:  # at the end of the interpreter no thread runs any more, and one may have kept a lock
            return not sys.is_finalizing() and self.flush(deadline)
        dispatcher = self._dispatcher_built(patience=max(deadline - monotonic(), 0))
        if dispatcher is None:
            return False
        while self._hand_on():
            pass
        dispatcher.deliver_here(deadline)
        return dispatcher.wait_settled(monotonic())

    def shutdown(self, deadline: float) -> bool:
        """Flushes, ends the threads and closes the sinks, all by the deadline."""
        flushed = self.flush(deadline)
        if self._end_threads(deadline) and self._dispatcher is not None:
            self._dispatcher.close()
        return flushed

    def _end_threads(self, deadline: float) -> bool:
        """Ends the SDK's threads; False where one is still busy at the deadline: it ends with the process."""
        self._ended = True
        self._inbox.hurry()
        with self._progress:
            while self._threaded:
                wait = deadline - monotonic()
                if wait <= 0:
                    return False
                self._progress.wait(wait)
        return self._dispatcher is None or self._dispatcher.stop(deadline)

    def drain_at_exit(self) -> None:
        """The process ends: delivers what it can by the deadline; what is reported later is delivered at once."""
        if self._exit_at is None:
            self._exit_at = monotonic() + self.settings.shutdown_timeout
        if self._unstarted:
            return
        self.flush(self._exit_at)
        self.accept = self._accept_at_exit
        self._end_threads(self._exit_at)

    def renderer(self) -> Renderer:
        """A renderer with this pipeline's redaction, for what is read from the ring."""
        if self._dispatcher is not None:
            return self._dispatcher.renderer
        from errorsink._dispatch import new_renderer, redactor  # lazy: all that the caller's thread doesn't need

        return new_renderer(self.settings, redactor(self.settings))

    def redactions(self) -> dict[str, int]:
        """Secrets that were masked, by kind."""
        return {} if self._dispatcher is None else self._dispatcher.redactor.counts()

    def accounts(self) -> dict[str, Account]:
        """The account of every sink that is on, what is still on its way to it included."""
        if self._dispatcher is None:
            return {}
        dropped, waiting = self._inbox.dropped.value, self._inbox.pending + self._inbox.in_hand
        return {
            name: account._replace(
                recorded=account.recorded + dropped + waiting,
                queued=account.queued + waiting,
                dropped={**account.dropped, "inbox-full": dropped} if dropped else account.dropped,
            )
            for name, account in self._dispatcher.accounts().items()
        }


def _drain_when_child_exits(pipeline: Pipeline) -> None:
    """Children of multiprocessing (and of its twin billiard) end without atexit, but run their own finalizers."""
    for name in ("multiprocessing", "billiard"):
        process, util = sys.modules.get(f"{name}.process"), sys.modules.get(f"{name}.util")
        if process is not None and util is not None and getattr(process, "_parent_process", None) is not None:
            util.Finalize(None, pipeline.drain_at_exit, exitpriority=-100)
