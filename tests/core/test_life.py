"""The public calls between configuration and shutdown, in the orders and numbers in which programs make them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncGenerator, Callable
from uuid import UUID

import pytest

import errorsink
from errorsink import _current, _exit, _pipeline
from errorsink._pipeline import Pipeline
from tests.collectors.contract import wait_until


def at_once(number: int, act: Any) -> None:
    """Runs it in so many threads that begin together."""
    gate = threading.Barrier(number)

    def run() -> None:
        gate.wait()
        act()

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_racing_configurations_leave_one_pipeline() -> None:
    """Each pipeline that was in force is shut down; none goes on unseen."""
    before = list(_current._pipelines)
    at_once(8, errorsink.configure)
    assert [one for one in _current._pipelines if one not in before] == [_current.running[_current.KEY]]


def test_a_pipeline_that_cant_be_shut_down_is_the_sdks_matter(
    monkeypatch: pytest.MonkeyPatch, contained: list[tuple[str, BaseException]]
) -> None:
    """The new settings are in force all the same, and nothing reaches the application."""

    def fail(self: Pipeline, deadline: float) -> bool:
        raise OSError("a fault of ours")

    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "shutdown", fail)
        errorsink.configure(queue_size=7)
    assert [where for where, _ in contained] == ["configure"]
    assert _current.running[_current.KEY].settings.queue_size == 7
    contained.clear()


def test_ctrl_c_during_the_first_report_costs_no_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next report starts the render thread."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_exit, "come_first", interrupt)
        with pytest.raises(KeyboardInterrupt):
            errorsink.report_error(ValueError("first"))
    assert errorsink.report_error(ValueError("second"))
    assert errorsink.flush(30)


def test_a_report_after_shutdown_is_refused_until_the_next_configuration() -> None:
    errorsink.shutdown()
    reasons = [errorsink.report_error(ValueError("x")).reason]
    errorsink.configure()
    reasons.append(errorsink.report_error(ValueError("x")).reason)
    assert reasons == ["shutdown", None]


def test_ids_are_uuids_of_version_7_and_sort_in_the_order_of_the_reports() -> None:
    ids = [errorsink.report_error(ValueError("x")).id for _ in range(500)]
    assert ids == sorted(set(ids))
    assert {(UUID(one).version, UUID(one).variant) for one in ids} == {(7, "specified in RFC 4122")}


def test_reports_of_several_threads_add_up() -> None:
    """No call is counted twice or not at all."""
    before = errorsink.stats()
    at_once(8, lambda: [errorsink.report_error(ValueError("x")) for _ in range(200)])
    after = errorsink.stats()
    assert (after.reported - before.reported, after.recorded - before.recorded) == (1_600, 1_600)


def test_the_render_thread_sleeps_when_nothing_comes_and_wakes_when_something_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looks by itself a few times, then costs nothing until the next report."""
    monkeypatch.setattr(_pipeline, "RENDER_PAUSE", 0.001)
    for _ in range(3):
        errorsink.report_error(ValueError("x"))
        inbox = _current.running["pipeline"]._inbox
        assert wait_until(lambda: not inbox.pending and inbox._parked, 10)


@pytest.mark.parametrize("timeout", [float("nan"), -1, float("-inf"), "soon", None, [], 10**400])
@pytest.mark.parametrize("call", [errorsink.flush, errorsink.shutdown])
def test_a_nonsensical_timeout_means_now(call: Callable[[Any], bool], timeout: Any) -> None:
    """Nothing is raised or contained, and nothing waits."""
    errorsink.report_error(ValueError("x"))
    assert call(timeout) in (True, False)


def test_a_flush_waits_for_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many reports there are: the render thread goes on until nothing is left."""
    errorsink.report_error(ValueError("the first one starts the thread"))
    assert errorsink.flush(30)
    monkeypatch.setattr(_pipeline, "RENDER_PAUSE", 600)
    for number in range(3_000):
        errorsink.report_error(ValueError(number))
    assert errorsink.flush(30)


# --------------------------------------------------------------------------------------------------------- context


def attributes() -> dict[str, Any]:
    errorsink.report_error(ValueError("x"))
    return dict(errorsink.recent_errors()[-1].attributes)


def test_a_task_has_its_own_context() -> None:
    """Neighbours don't see it, tasks started inside inherit it."""
    inside: list[str] = []
    both_inside = asyncio.Event()

    async def task(name: str) -> dict[str, Any]:
        with errorsink.context(task=name):
            inside.append(name)
            if len(inside) == 2:
                both_inside.set()
            await both_inside.wait()
            return await asyncio.create_task(inner())

    async def inner() -> dict[str, Any]:
        return attributes()

    async def main() -> list[dict[str, Any]]:
        return list(await asyncio.gather(task("a"), task("b")))

    with errorsink.context(job=1):
        assert asyncio.run(main()) == [{"job": 1, "task": "a"}, {"job": 1, "task": "b"}]
    assert attributes() == {}


def test_a_block_that_ends_in_another_context_raises_nothing() -> None:
    """An async generator that nobody exhausts is closed by the event loop, in a context of the loop's own."""
    ended: list[bool] = []

    async def stream() -> AsyncGenerator[int, None]:
        with errorsink.context(stream=1):
            try:
                yield 1
            finally:
                ended.append(True)

    async def close(subject: AsyncGenerator[int, None]) -> None:
        await subject.aclose()

    async def main() -> None:
        subject = stream()
        await subject.__anext__()
        await asyncio.create_task(close(subject))

    asyncio.run(main())
    assert ended == [True]


def test_the_reports_own_attributes_come_before_those_around_it() -> None:
    """Of more than 100, what stands nearest to the error stays."""
    with (
        errorsink.context(**{f"outer{n}": n for n in range(80)}),
        errorsink.context(**{f"inner{n}": n for n in range(60)}),
    ):
        errorsink.report_error(ValueError("x"), attributes={f"own{n}": n for n in range(30)})
    kept = errorsink.recent_errors()[-1].attributes
    assert len(kept) == 100
    assert {key.rstrip("0123456789") for key in kept} == {"own", "inner", "outer"}
    assert sum(key.startswith("own") for key in kept) == 30
    assert sum(key.startswith("inner") for key in kept) == 60


# -------------------------------------------------------------------------------------------------------- handling


@pytest.mark.parametrize("handling", ["caught", "", "HANDLED", 7])
def test_an_unknown_handling_counts_as_handled(handling: Any) -> None:
    """An error that was reported so and then goes uncaught is reported once more, with the earlier report's id."""
    error = ValueError("x")
    first = errorsink.report_error(error, handling=handling)
    again = errorsink.report_error(error, handling=handling)
    errorsink.report_error(error, handling="uncaught_exception")
    records = errorsink.recent_errors()
    assert [record.handling for record in records] == ["handled", "handled", "uncaught_exception"]
    assert [record.previous_id for record in records] == [None, None, again.id]
    assert first.id != again.id
