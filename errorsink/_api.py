"""The public calls. None of them raises an error of the SDK's own into the application."""

from __future__ import annotations

import _thread
from collections.abc import Mapping
from contextvars import Context, copy_context
from time import monotonic

from errorsink import _capture, _counts, _current, _exit, _gates, _ring, _selflog, _settings
from errorsink._capture import CURRENT
from errorsink._counts import Refusals
from errorsink._current import KEY, running
from errorsink._normalize import in_user_code
from errorsink._pipeline import Pipeline
from errorsink._receipt import Receipt
from errorsink._settings import Settings
from errorsink._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errorsink._ledger import Stats
    from errorsink.model import ErrorRecord, Handling, Level

__all__ = ["configure", "flush", "recent_errors", "report_error", "shutdown", "stats"]

ELSEWHERE = 2.0
"""Seconds that a report at the end of the stack may take on the thread that makes it."""
MAX_TIMEOUT = 86_400.0
"""Seconds: a longer wait of flush or shutdown is cut to a day."""


_shut_down: list[bool] = []


def report_error(
    error: object = CURRENT,
    *,
    level: Level = "error",
    handling: Handling = "handled",
    attributes: Mapping[str, object] | None = None,
    fingerprint: str | None = None,
    owner: str | None = None,
    attempt: int | None = None,
    recovered: bool | None = None,
) -> Receipt:
    """Reports an error: any value, from any thread, at any time. It returns in microseconds.

    Args:
        error: an exception, or any other value; by default the exception that is being handled.
        level: `debug`, `info`, `warning`, `error` or `critical`.
        handling: `handled`; the hooks pass `unhandled_rejection` and `uncaught_exception`.
        attributes: details of this report. Values may be str, bool, int, float or lists of one of these; other
            values are told as text. At most 100 are kept, those of `context` included, each of at most 4,000
            characters; None is left out.
        fingerprint: groups reports that belong together; by default it is computed from the type, the code and the
            functions on the way.
        owner: whose recovery this was.
        attempt: the how-manieth attempt failed.
        recovered: whether the operation went on.

    Returns:
        A receipt: true when the report was accepted, with the report's id; else with the reason.

    Raises:
        KeyboardInterrupt, SystemExit: only when they arrive while the call runs.
    """
    counts = _counts.current
    counts.reported.add()
    recorded = False
    try:
        reason = _gates.closed()
        if reason is not None:
            return _not_accepted(counts.gated, reason)
        if _shut_down:
            return _not_accepted(counts.refused, "shutdown")
        thread = _thread.get_ident()
        if thread in in_user_code:
            return _not_accepted(counts.refused, "internal")
        try:
            snapshot = _capture.take(error, thread, level, handling, attributes, fingerprint, owner, attempt, recovered)
        except RecursionError:  # not the error's own recursion: the caller stands at the end of its stack
            raise
        except Exception as fault:  # noqa: BLE001 - whatever a hostile object did, the report itself is recorded
            _selflog.contain("capture", fault)
            snapshot = _capture.bare(error, thread, level, handling)
        _ring.add(snapshot)
        recorded = True
        counts.recorded.add()
        (running.get(KEY) or _current.first()).accept(snapshot)
        return Receipt(snapshot.time_ns, snapshot.number)
    except (KeyboardInterrupt, SystemExit):
        if not recorded:
            _not_accepted(counts.refused, "internal")
        raise
    except RecursionError as fault:  # no call of a Python function fits any more: another thread's stack has room
        answer = [counts.refused["internal"].receipt]
        if not recorded:
            given = fault.__context__ if error is CURRENT else error
            details = (level, handling, attributes, fingerprint, owner, attempt, recovered)
            try:
                done = _thread.allocate_lock()
                done.acquire()
                arguments = (done, answer, _thread.get_ident(), copy_context(), given, details)
                _thread.start_new_thread(_report_elsewhere, arguments)
                done.acquire(True, ELSEWHERE)  # at the end of the interpreter that thread may never run
            except RuntimeError:  # not even that
                counts.refused["internal"].add()
        return answer[0]
    except BaseException as fault:  # noqa: BLE001 - the border: nothing of ours may reach the application
        return _stopped_at_the_border(fault, recorded)


def _report_elsewhere(
    done: _thread.LockType, answer: list[Receipt], thread: int, context: Context, error: object, details: Any
) -> None:
    """Makes a report for a thread at the end of its stack, in that thread's context."""
    try:
        answer[0] = context.run(_report_for, thread, error, details)
    except BaseException as fault:  # noqa: BLE001 - the border
        _selflog.contain("report_error", fault)
        answer[0] = _not_accepted(_counts.current.refused, "internal")
    finally:
        done.release()


def _report_for(thread: int, error: object, details: Any) -> Receipt:
    reason = _gates.closed()
    if reason is not None:
        return _not_accepted(_counts.current.gated, reason)
    if _shut_down or thread in in_user_code:
        return _not_accepted(_counts.current.refused, "shutdown" if _shut_down else "internal")
    snapshot = _capture.take(error, thread, *details)
    _ring.add(snapshot)
    _counts.current.recorded.add()
    (running.get(KEY) or _current.first()).accept(snapshot)
    return Receipt(snapshot.time_ns, snapshot.number)


def _stopped_at_the_border(fault: BaseException, recorded: bool) -> Receipt:
    """The answer where something of ours failed; it is told, unless the interpreter is being taken down."""
    if not isinstance(fault, _exit.TornDown):
        _selflog.contain("report_error", fault)
    return Receipt(reason="internal") if recorded else _not_accepted(_counts.current.refused, "internal")


def _not_accepted(account: dict[str, Refusals], reason: str) -> Receipt:
    refusals = account.get(reason) or account.setdefault(reason, Refusals(reason))
    refusals.add()
    return refusals.receipt


def configure(**settings: object) -> None:
    """Overrides settings of the environment, by the names in the reference of settings. Optional.

    The call replaces what an earlier one has set; without arguments only the environment counts, read anew. If
    reports were made before, they are delivered with the old settings first, within the shutdown time-out. After
    `shutdown` it opens errorsink again.

    Raises:
        ConfigurationError: a name is unknown or a value can't be used; the message names the setting, the value and
            what is allowed. Nothing has changed then.
    """
    env = _settings.environment()
    checked, _ = Settings.load(env, settings)
    if checked.redact_disable or checked.redact_enable or checked.redact_keys:
        _check_redaction(checked)
    pipeline = Pipeline(env, dict(settings))
    _gates.override({name: checked.values[name] for name in settings})
    replaced = _current.replace(pipeline, settings)
    _shut_down.clear()
    _selflog.forget()
    for before in replaced:
        try:
            before.shutdown(monotonic() + before.settings.shutdown_timeout)
            before.tell_what_is_left("errorsink is configured anew")
            for snapshot in before.leftovers():  # of threads that had got hold of the old one
                pipeline.accept(snapshot)
            _current.forget(before)
        except Exception as fault:  # noqa: BLE001, PERF203 - the border: the new settings are in force all the same
            _selflog.contain("configure", fault)


def _check_redaction(settings: Settings) -> None:
    from errorsink._dispatch import checked_redactor  # lazy: the rules, which the caller's thread doesn't need

    checked_redactor(settings)


def flush(timeout: float = 2.0) -> bool:
    """Sends what was reported so far, and waits for it: at most `timeout` seconds, over all sinks.

    Returns:
        True when all that was reported before is delivered, filtered or rejected. False when the time ran out,
        nothing more would be tried within it, or something was dropped since the last call.
    """
    pipeline = running.get(KEY)
    if pipeline is None:
        return True
    try:
        return pipeline.flush(_deadline(timeout))
    except Exception as fault:  # noqa: BLE001 - the border
        _selflog.contain("flush", fault)
        return False


def shutdown(timeout: float = 2.0) -> bool:
    """Flushes, ends the SDK's threads and closes the sinks, all within `timeout` seconds.

    Reports made afterwards are refused with the reason `shutdown`. Returns what `flush` would.
    """
    _shut_down[:] = [True]
    pipeline = running.get(KEY)
    if pipeline is None:
        return True
    try:
        return pipeline.shutdown(_deadline(timeout))
    except Exception as fault:  # noqa: BLE001 - the border
        _selflog.contain("shutdown", fault)
        return False


def _deadline(timeout: float) -> float:
    """The moment at which a wait ends; nonsense (NaN, a negative number, no number) means now."""
    try:
        return monotonic() + min(max(0.0, float(timeout)), MAX_TIMEOUT)  # in this order NaN is 0
    except (TypeError, ValueError, OverflowError):
        return monotonic()


def recent_errors() -> list[ErrorRecord]:
    """The last 100 errors of this process, oldest first; rendered and redacted when this is called."""
    pipeline = running.get(KEY) or _current.first()
    try:
        renderer = pipeline.renderer()
    except Exception as fault:  # noqa: BLE001 - the border
        _selflog.contain("recent_errors", fault)
        return []
    records: list[ErrorRecord] = []
    for snapshot in _ring.snapshots():
        try:
            records.append(renderer.record(snapshot))
        except Exception as fault:  # noqa: BLE001, PERF203 - one that can't be rendered hides no other
            _selflog.contain("recent_errors", fault)
    return records


def stats() -> Stats:
    """What became of the reports of this process so far."""
    from errorsink._ledger import Stats  # lazy: no report needs it

    pipeline = running.get(KEY)
    return Stats(
        reported=_counts.current.reported.value,
        recorded=_counts.current.recorded.value,
        gated={reason: tally.value for reason, tally in list(_counts.current.gated.items())},
        refused={reason: tally.value for reason, tally in list(_counts.current.refused.items()) if tally.value},
        contained=_selflog.contained.value,
        redactions={} if pipeline is None else pipeline.redactions(),
        sinks={} if pipeline is None else pipeline.accounts(),
    )
