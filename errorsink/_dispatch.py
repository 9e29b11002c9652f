"""The render thread's workplace: renders snapshots once, and hands each record to every sink that wants it."""

from __future__ import annotations

from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Callable, Mapping, Sequence

from errorsink import _exit, _native, _selflog
from errorsink._delivery import Delivery, Policy
from errorsink._discovery import Candidate, candidates
from errorsink._inbox import Taken
from errorsink._ledger import Account
from errorsink._normalize import type_name
from errorsink._redact import Redactor
from errorsink._render import Renderer
from errorsink._settings import Settings
from errorsink.errors import ConfigurationError
from errorsink.model import ErrorRecord

if TYPE_CHECKING:
    from errorsink._spool import Spool

__all__ = ["Dispatcher", "checked_redactor", "new_renderer", "redactor"]

EXPIRE_INTERVAL = 600.0
"""Seconds between two looks for records that the spool has kept too long."""


def checked_redactor(settings: Settings) -> Redactor:
    """The redaction of these settings.

    Raises:
        ConfigurationError: a kind is unknown, or a key name can't be used.
    """
    try:
        return Redactor(
            disable=settings.redact_disable,
            enable=settings.redact_enable,
            keys=settings.redact_keys,
            hook=_told(settings.redact),
        )
    except ValueError as error:
        raise ConfigurationError(f"redaction: {error}") from None


def redactor(settings: Settings) -> Redactor:
    """The same; where the settings can't be used, the built-in rules, and a diagnostic."""
    try:
        return checked_redactor(settings)
    except ConfigurationError as error:
        _selflog.say("redact", f"{error}; the built-in rules alone are in force")
        return Redactor(hook=_told(settings.redact))


def _told(hook: Callable[[str], str] | None) -> Callable[[str], str] | None:
    """The application's own hook; that it fails is told once, without an error's text: it may hold a secret."""
    if hook is None:
        return None

    def call(text: str) -> str:
        try:
            answer = hook(text)
        except Exception as error:
            _tell(f"raised {type_name(type(error))}")
            raise
        if not isinstance(answer, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a hook may break its word
            _tell(f"returned {type_name(type(answer))} instead of str")
        return answer

    return call


def _tell(what: str) -> None:
    remedy = "what it was given is shown as [REDACTED:error]"
    _selflog.say("redact-hook", f"the function given to configure(redact=…) {what}; {remedy}", redacts=False)


def new_renderer(settings: Settings, redaction: Redactor) -> Renderer:
    return Renderer(redaction, entrypoint=settings.entrypoint, model=settings.model, provider=settings.provider)


def _opened_spool(settings: Settings) -> Spool | None:
    """The spool, where one is configured and its folder can be used."""
    if not settings.spool_dir:
        return None
    from errorsink._spool import Spool  # lazy: sqlite3 and json, which only a spool needs

    try:
        spool = Spool(
            settings.spool_dir,
            max_bytes=settings.spool_size,
            max_age=settings.spool_age,
            diagnose=_tell_spool,
        )
    except Exception as error:  # noqa: BLE001 - a folder that can't be used costs durability, not the reports
        _selflog.say("spool", f"the spool is off: {error}")
        return None
    return spool


def _tell_spool(text: str) -> None:
    _selflog.say(f"spool:{text}", text)


class Dispatcher:
    """Redactor, renderer, spool and deliveries of one pipeline."""

    def __init__(self, settings: Settings, env: Mapping[str, str]) -> None:
        self.redactor = redactor(settings)
        self.renderer = new_renderer(settings, self.redactor)
        self._settings = settings
        self._policy = Policy(
            settings.queue_size,
            settings.batch_size,
            settings.batch_delay,
            settings.send_timeout,
            settings.retry_window,
            settings.retry_max_delay,
        )
        self._random = Random()  # noqa: S311 - the jitter of a back-off is no secret
        self._spool = _opened_spool(settings)
        self._expire_at = 0.0
        self._threads: dict[str, _native.Thread] = {}
        self._threaded = False
        self.deliveries: list[Delivery] = []
        self._candidates: list[Candidate] = candidates(settings, env)
        self._ask()

    # ---------------------------------------------------------------------------------------------------- the sinks

    def start(self) -> None:
        """From now on every delivery has a thread of its own."""
        self._threaded = True
        for delivery in self.deliveries:
            self._start(delivery)

    def _start(self, delivery: Delivery) -> None:
        try:
            self._threads[delivery.name] = _native.Thread(delivery.run)
        except RuntimeError as error:  # at exit, or at the system's limit: the render thread delivers
            _selflog.debug(f"{delivery.name} gets no thread of its own: {error}")

    def _runs(self, delivery: Delivery) -> bool:
        thread = self._threads.get(delivery.name)
        return thread is not None and thread.is_alive()

    def _ask(self) -> None:
        """Builds the sinks that are wanted now; an auto sink may be wanted later, once a provider is set."""
        for candidate in self._candidates:
            sink = candidate.build()
            if sink is not None:
                delivery = Delivery(sink, self._policy, random=self._random.random, store=self._spool)
                self.deliveries.append(delivery)
                _exit.come_first()
                if self._threaded:
                    self._start(delivery)
        self._candidates = [candidate for candidate in self._candidates if candidate.undecided]

    # -------------------------------------------------------------------------------------------------- the records

    def dispatch(self, batch: Sequence[Taken], rendered: Callable[[], None], deadline: float | None = None) -> None:
        """Renders a batch and offers it to the sinks. It raises nothing, and no record harms another.

        `rendered` is called in between: from then on the batch is in the sinks' own accounts. With a deadline, at exit,
        the caller delivers afterwards.
        """
        if self._candidates:
            self._ask()
        records: list[ErrorRecord] = []
        if self.deliveries:
            records = [record for taken in batch if (record := self._render(taken)) is not None]
        rendered()
        self.offer(records)
        if deadline is None and self._threaded and len(self._threads) < len(self.deliveries):
            self.deliver_here(monotonic() + self._policy.send_timeout)

    def offer(self, records: Sequence[ErrorRecord]) -> None:
        """Offers records to the sinks that want them; where there is a spool, stores them first."""
        groups: dict[tuple[Delivery, ...], list[ErrorRecord]] = {}
        for record in records:
            takers = tuple([delivery for delivery in self.deliveries if delivery.wants(record)])
            groups.setdefault(takers, []).append(record)
        for takers, wanted in groups.items():
            stored = self._store(wanted, takers) if takers else {}
            for delivery in takers:
                on_disk = stored.get(delivery.name, set())
                for durable in (True, False):
                    delivery.offer([one for one in wanted if (one.id in on_disk) is durable], stored=durable)

    def _store(self, records: list[ErrorRecord], takers: Sequence[Delivery]) -> dict[str, set[str]]:
        """For each sink the ids of the records that outlive the process from now on."""
        if self._spool is None:
            return {}
        try:
            dropped = self._spool.append(records, [delivery.name for delivery in takers])
            if monotonic() >= self._expire_at:
                self._expire_at = monotonic() + EXPIRE_INTERVAL
                dropped += self._spool.expire()
        except Exception as error:  # noqa: BLE001 - without the disk the records are in memory all the same
            _selflog.say("spool", f"the spool can't be written, reports are kept in memory: {error}")
            return {}
        stored = {delivery.name: {record.id for record in records} for delivery in takers}
        for delivery in self.deliveries:
            missed = {gone.id: gone.reason for gone in dropped if gone.sink == delivery.name}
            delivery.miss(missed)
            stored.get(delivery.name, set()).difference_update(missed)
        return stored

    def _render(self, taken: Taken) -> ErrorRecord | None:
        try:
            return self.renderer.record(taken.snapshot, taken.reports, taken.last_time_ns)
        except Exception as error:  # noqa: BLE001 - a fault of ours, counted for every sink
            _selflog.contain("rendering", error)
            for delivery in self.deliveries:
                delivery.lose(taken.reports, "render")
            return None

    # ------------------------------------------------------------------------------------ flush, shutdown and stats

    def wait_settled(self, deadline: float) -> bool:
        """Waits until all that was offered is settled; False at the deadline, or where something was dropped."""
        deliveries = list(self.deliveries)
        marks = [delivery.begin_flush() for delivery in deliveries]
        try:
            settled = [one.wait_settled(mark, deadline) for one, mark in zip(deliveries, marks, strict=True)]
            return all(settled)
        finally:
            for delivery in deliveries:
                delivery.end_flush()

    def deliver_here(self, deadline: float) -> None:
        """Delivers in the caller's thread what no other thread does, each sink within its share of the time left."""
        idle = [delivery for delivery in self.deliveries if not self._runs(delivery)]
        for position, delivery in enumerate(idle):
            share = (deadline - monotonic()) / (len(idle) - position)
            delivery.deliver_all(monotonic() + share)

    def deliver_left_behind(self, deadline: float) -> None:
        """Delivers in the caller's thread what processes that are gone have left in the spool, for every sink."""
        for position, delivery in enumerate(self.deliveries):
            share = monotonic() + (deadline - monotonic()) / (len(self.deliveries) - position)
            while monotonic() < share and delivery.reclaim() and delivery.deliver_all(share):
                pass

    def waiting(self) -> dict[str, int] | None:
        """How many records the spool holds for each sink; None where it can't be used."""
        try:
            return None if self._spool is None else self._spool.counts()
        except Exception as error:  # noqa: BLE001 - a disk that fails
            _selflog.contain("spool", error)
            return None

    def stop(self, deadline: float) -> bool:
        """Ends the delivery threads by the deadline; True when all ended."""
        for delivery in self.deliveries:
            delivery.stop(deadline)
        for thread in self._threads.values():
            thread.join(max(deadline - monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads.values())

    def leave(self) -> None:
        """Nothing is sent from here any more: what the spool has is for others to send, at once."""
        if self._spool is None:
            return
        for delivery in self.deliveries:
            delivery.leave()
        try:
            self._spool.release()
        except Exception as error:  # noqa: BLE001 - the end of this process releases it all the same
            _selflog.contain("spool", error)

    def close(self) -> None:
        """Closes the sinks and the spool."""
        for delivery in self.deliveries:
            delivery.close()
        if self._spool is not None:
            self._spool.close()

    def before_fork(self) -> None:
        """A fork in the middle of SQLite's work would leave the child a broken copy: the spool is closed around it."""
        if self._spool is not None:
            self._spool.before_fork()

    def after_fork_in_parent(self) -> None:
        if self._spool is not None:
            self._spool.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        if self._spool is not None:
            self._spool.after_fork_in_child()

    def accounts(self) -> dict[str, Account]:
        return {delivery.name: delivery.account() for delivery in self.deliveries}
