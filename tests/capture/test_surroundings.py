"""What surrounds a report: the end of the stack, threads, the active trace, errors inside errorsink."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any, Callable

import pytest

import errorsink
from errorsink import _capture, _current, _ring, _selflog
from errorsink._inbox import Inbox
from tests.capture.reported import Paused, report, report_here
from tests.conftest import Contained


def frames_here() -> int:
    frame, number = sys._getframe(1), 0
    while frame is not None:
        frame, number = frame.f_back, number + 1  # type: ignore[assignment]
    return number


def at_the_end(left: int, call: Callable[[], Any]) -> list[Any]:
    """What a call returns with so many frames left; empty where it can't even be made."""
    returned: list[Any] = []

    def down(further: int) -> None:
        if further:
            down(further - 1)
        else:
            returned.append(call())

    try:
        down(sys.getrecursionlimit() - frames_here() - left)
    except RecursionError:
        return []
    return returned


@pytest.mark.parametrize("error", [ValueError("x"), [1, {2: 3}], ValueError([1])], ids=repr)
def test_the_end_of_the_stack_is_survived(error: object) -> None:
    """With few frames left the report is made on another thread's stack; it raises nothing once it has begun."""
    errorsink.report_error(error)
    before = errorsink.stats()
    receipts = [receipt for left in range(60) for receipt in at_the_end(left, lambda: errorsink.report_error(error))]
    after = errorsink.stats()
    assert len(receipts) >= 45
    assert all(receipts[3:])
    assert after.recorded - before.recorded == sum(map(bool, receipts))
    assert after.reported - before.reported >= len(receipts)


def test_at_the_end_of_the_stack_the_report_is_the_caller_s(paused: Paused) -> None:
    """A report that another thread makes has the thread, the context and the stack of the one that called."""

    def call() -> errorsink.Receipt:
        try:
            raise KeyError("current")
        except KeyError:
            return errorsink.report_error(attributes={"own": 1})

    with errorsink.context(outer=2):
        receipts = [receipt for left in range(12, 20) for receipt in at_the_end(left, call)]
    accepted = [(one.thread_id, one.thread_name, one.link.message, one.attributes, one.context) for one in paused.taken]
    thread = threading.current_thread()
    assert receipts
    assert set(map(repr, accepted)) == {repr((thread.ident, thread.name, "'current'", {"own": 1}, {"outer": 2}))}


def test_a_recursion_is_reported_where_it_ends() -> None:
    """A handler deep in a recursion that went too far reports it, or a caller of it does."""
    receipts: list[errorsink.Receipt] = []

    def down() -> None:
        try:
            down()
        except RecursionError as error:
            if not any(receipts):
                receipts.append(errorsink.report_error(error))

    try:
        down()
    except RecursionError as error:
        receipts.append(errorsink.report_error(error))
    assert any(receipts)


def test_one_broken_record_hides_no_other(contained: Contained) -> None:
    """What can't be rendered is contained and counted, and all others are read."""
    report("before")
    _ring.add(_capture.Snapshot())
    report("after")
    _current.running.clear()
    assert [record.message for record in errorsink.recent_errors()] == ["before", "after"]
    assert [where for where, _ in contained] == ["recent_errors"]
    contained.clear()


@pytest.mark.parametrize("constants", [(None,), (None, [])])
def test_a_full_queue_tells_equal_code_of_two_files_apart(constants: tuple[Any, ...], paused: Paused) -> None:
    """Errors of two files whose code is equal, or can't be hashed, aren't merged into one."""
    for name in ("one.py", "two.py"):
        code = compile("raise ValueError", name, "exec")
        code = code.replace(co_consts=(*code.co_consts, *constants))
        report_here(lambda code=code: exec(code, {}))  # type: ignore[misc]
    inbox = Inbox(0)
    for snapshot in paused.taken:
        inbox.put(snapshot)
    assert [taken.reports for taken in inbox.take(9)] == [1, 1]


@pytest.mark.parametrize("raised", [GeneratorExit, RuntimeError, RecursionError])
def test_what_is_contained_may_be_hostile(raised: type[BaseException], contained: Contained) -> None:
    """Telling of a contained error survives that error's own methods."""

    def fail(*_: object) -> None:
        raise raised

    methods = {"__str__": fail, "__repr__": fail, "__format__": fail, "__traceback__": property(fail)}
    hostile = type("Hostile", (Exception,), methods)
    _selflog.contain("a test", hostile())
    contained.clear()


def test_what_is_contained_is_told_with_its_place(contained: Contained, capsys: pytest.CaptureFixture[str]) -> None:
    """The line names the error, and the innermost file and line."""
    try:
        exec(compile("\n\nnowhere", "/some/where/plugin.py", "exec"), {})
    except NameError as error:
        _selflog.contain("a test", error)
    assert capsys.readouterr().err == (
        "errorsink: an error inside errorsink was contained in a test: NameError: name 'nowhere' is not defined"
        " (plugin.py:3)\n"
    )
    contained.clear()


class NamelessThread(threading.Thread):
    """A thread that doesn't tell its name."""

    @property
    def name(self) -> str:
        raise RuntimeError("no name")

    @name.setter
    def name(self, name: str) -> None:
        raise RuntimeError("no name")


@pytest.mark.parametrize("kind", [threading.Thread, NamelessThread])
def test_a_thread_is_named_without_its_code(kind: type[threading.Thread], paused: Paused) -> None:
    """The thread's name is read past its properties."""
    thread = kind(target=lambda: errorsink.report_error("x"), name="worker-marker")
    thread.start()
    thread.join()
    assert paused.taken[0].thread_name == "worker-marker"


@pytest.mark.parametrize("name", ["\ud800\0", "x" * 100_000])
def test_thread_names_may_be_odd(name: str, paused: Paused) -> None:
    """Names of threads are cleaned and cut like all texts."""
    thread = threading.Thread(target=lambda: report("x"), name=name)
    thread.start()
    thread.join()
    assert paused.taken[0].thread_name == name


def test_a_thread_without_threading_has_no_name(paused: Paused) -> None:
    """A thread that `threading` doesn't know is reported, and not made known to it."""
    import _thread

    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        errorsink.report_error("x")
        done.release()

    _thread.start_new_thread(work, ())
    assert done.acquire(timeout=30)
    assert (paused.taken[0].thread_name, paused.taken[0].thread_id in threading._active) == ("", False)  # type: ignore[attr-defined]


def span_context(**fields: Any) -> types.SimpleNamespace:
    fields = {"trace_id": 1, "span_id": 2, "trace_flags": 1, **fields}
    return types.SimpleNamespace(**fields)


TRACES: list[tuple[Any, tuple[str | None, str | None]]] = [
    (span_context(), (f"{1:032x}", f"{2:016x}")),
    (span_context(trace_id=0), (None, None)),
    (span_context(trace_id="1"), (None, None)),
    (span_context(span_id=None), (None, None)),
    (span_context(trace_id=1 << 128), (None, None)),
    (span_context(trace_id=-1), (None, None)),
    (span_context(span_id=1 << 64), (None, None)),
    (span_context(trace_flags="none"), (None, None)),
    (None, (None, None)),
]


@pytest.mark.parametrize("row", range(len(TRACES)))
def test_only_a_real_span_is_taken(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of the active span are taken where they are ids."""
    context, expected = TRACES[row]
    span = types.SimpleNamespace(get_span_context=lambda: context)
    trace = types.ModuleType("opentelemetry.trace")
    trace.get_current_span = lambda: span  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", trace)
    record = report("x")
    assert (record.trace_id, record.span_id) == expected


def test_threads_report_side_by_side() -> None:
    """Reports of many threads of one shared exception, whose chain is growing, are all recorded."""
    shared = ValueError("shared")
    stop = threading.Event()

    def mutate() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            shared.__cause__ = KeyError(number)
            shared.__dict__[f"fact{number % 50}"] = number
            shared.__dict__.pop(f"fact{(number + 25) % 50}", None)
            shared.args = (number, {number: number})

    receipts: list[bool] = []

    def work() -> None:
        receipts.extend(bool(errorsink.report_error(shared, attributes=shared.__dict__)) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    mutator = threading.Thread(target=mutate)
    mutator.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    mutator.join()
    assert receipts == [True] * 200


def test_a_dictionary_may_change_while_attributes_are_read() -> None:
    """Attributes that another thread is changing are read as they are then."""
    attributes: dict[str, Any] = {}

    class Grows:
        def __repr__(self) -> str:
            attributes[f"more{len(attributes)}"] = 1
            return "grows"

    attributes.update({f"a{n}": Grows() for n in range(5)})
    assert report("x", attributes=attributes).attributes["a4"] == "grows"


def test_an_error_in_a_handler_of_another_is_its_own() -> None:
    """An error inside the handling of another one has that one as its context."""

    def raising() -> None:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")

    record, _ = report_here(raising)
    assert [cause.type for cause in record.causes] == ["KeyError"]
