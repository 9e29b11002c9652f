"""Which pipeline is in force, and what the exit of the process and a fork do with it."""

from __future__ import annotations

import _thread
import os
from collections.abc import Mapping

from errorsink import _capture, _counts, _exit, _fork, _selflog, _settings
from errorsink._normalize import in_user_code
from errorsink._pipeline import Pipeline

__all__ = ["KEY", "first", "forget", "replace", "running"]

KEY = "pipeline"
running: dict[str, Pipeline] = {}
"""The pipeline in force, under one key, so that the first of two racing reports wins without a lock."""
_overrides: dict[str, object] = {}
"""What `configure` was given."""
_pipelines: list[Pipeline] = []
"""All that were in force in this process and may still have threads."""
_abandoned: list[Pipeline] = []
"""The parent's pipelines in a forked child: never used, never freed, since their sinks can't be closed here."""
_absent: dict[int, list[str]] = {}
"""By thread: the modules that weren't imported when the fork that it is making began."""
_held: dict[int, list[tuple[Pipeline, bool]]] = {}
"""By thread: the pipelines that stand still for the fork that it is making."""


def first() -> Pipeline:
    """Puts a pipeline in force where there is none; the one in force."""
    pipeline = Pipeline(_settings.environment(), dict(_overrides))
    in_force = running.setdefault(KEY, pipeline)
    if in_force is pipeline:
        _pipelines.append(pipeline)
    return in_force


def replace(pipeline: Pipeline, overrides: Mapping[str, object]) -> list[Pipeline]:
    """Puts a pipeline in force; the ones that were. Each is returned to one of several racing calls, and to one alone.

    There may be more than one: between the two steps a report may put its own in force.
    """
    _overrides.clear()
    _overrides.update(overrides)
    _pipelines.append(pipeline)
    replaced: list[Pipeline] = []
    while True:
        before = running.pop(KEY, None)
        if before is not None:
            replaced.append(before)
        if running.setdefault(KEY, pipeline) is pipeline:
            return replaced


def forget(pipeline: Pipeline) -> None:
    """A pipeline that was replaced, and has no thread any more, is of no concern to a fork."""
    if pipeline.closed and pipeline in _pipelines:
        _pipelines.remove(pipeline)


def _at_exit() -> None:
    _exit.begun[:] = [True]
    pipeline = running.get(KEY)
    if pipeline is not None:
        try:
            pipeline.drain_at_exit()
        except KeyboardInterrupt:  # whoever presses Ctrl-C now doesn't want to wait
            return
        except Exception as fault:  # noqa: BLE001 - the border
            _selflog.contain("the exit", fault)


def _wait_for_imports() -> None:
    _absent.setdefault(_thread.get_ident(), _fork.absent())
    for pipeline in _pipelines.copy():
        pipeline.wait_for_imports()


def _before_fork() -> None:
    thread = _thread.get_ident()
    with _fork.logging_unlocked():
        _wait_for_imports()
    _held[thread] = [(pipeline, pipeline.before_fork()) for pipeline in _pipelines.copy()]
    _fork.catch_up(_absent.pop(thread))


def _after_fork_in_parent() -> None:
    for pipeline, held in _held.pop(_thread.get_ident(), []):
        pipeline.after_fork_in_parent(held)


def _after_fork_in_child() -> None:
    """A forked child starts anew: no lock, thread, queue or count of its parent's. The ring stays."""
    _counts.renew()
    for pipeline in _pipelines:
        pipeline.after_fork_in_child()
    _abandoned.extend(_pipelines)
    _pipelines.clear()
    running.clear()
    _held.clear()
    _absent.clear()
    in_user_code.clear()
    _selflog.own_threads.clear()
    _selflog.forget()
    _capture.renew_identity()


_exit.at_exit(_at_exit)
if hasattr(os, "register_at_fork"):
    _fork.at_fork(_wait_for_imports, _before_fork, _after_fork_in_parent, _after_fork_in_child)
