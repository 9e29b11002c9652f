"""Whose traceback is shown, and frames of every origin."""

from __future__ import annotations

import importlib
import linecache
import sys
import types
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

import errorsink
from errorsink import _trace
from errorsink.model import MAX_FRAMES
from tests.capture.reported import Paused, plain, python_stack, report, report_here, without_this_frame


def caller_marker(error: object) -> Any:
    return report(error)


@pytest.mark.parametrize("error", [ValueError("never raised"), "just text", None, ValueError])
def test_without_a_traceback_the_call_site_is_shown(error: object) -> None:
    """What was never raised has the stack of the call, without a frame of the SDK."""
    record = caller_marker(error)
    assert [frame.function.rpartition(".")[2] for frame in record.frames[-2:]] == ["caller_marker", "report"]
    assert record.stack.startswith("Traceback (most recent call last):\n")
    assert "NoneType: None" not in record.stack


def origin_marker() -> None:
    raise ValueError("first")


def test_the_stack_is_that_of_the_error_given() -> None:
    """The exception's own traceback is shown, outside of handlers and inside another one's."""
    try:
        origin_marker()
    except ValueError as error:
        saved = error
    stacks = [report(saved).stack]
    try:
        raise KeyError("second")
    except KeyError:
        stacks.append(report(saved).stack)
    assert all("origin_marker" in stack and "second" not in stack for stack in stacks)


def test_the_current_exception_is_the_default(paused: Paused) -> None:
    """Without an argument the exception that is being handled is reported."""
    try:
        origin_marker()
    except ValueError:
        assert errorsink.report_error()
    assert paused.taken[-1].link.message == "first"


def test_outside_of_a_handler_the_default_is_a_value(paused: Paused) -> None:
    """Without an argument and without a current exception the report says so."""
    assert errorsink.report_error()
    assert "no exception was being handled" in paused.taken[-1].link.message


def test_an_explicit_report_is_never_a_duplicate() -> None:
    """A second report of the same object, and one of an equal object, are recorded."""
    error = ValueError("dup")
    ids = {report(error).id, report(error).id, report(ValueError("dup")).id}
    assert len(ids) == 3


def test_a_reused_exception_stays_within_the_limits() -> None:
    """A shared instance that gathers frames on each raise stays in bounds, and its traceback is not changed."""
    shared = ValueError("shared")

    def failing() -> None:
        raise shared

    untouched: list[bool] = []
    for _ in range(300):
        try:
            failing()
        except ValueError as error:
            before = error.__traceback__
            record = report(error)
            untouched.append(error.__traceback__ is before)
    assert all(untouched)
    assert len(record.frames) <= MAX_FRAMES


class Loader:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def get_source(self, name: str) -> object:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer", [None, OSError("gone"), ValueError("bad"), KeyboardInterrupt(), 5, "1/0\n"], ids=repr
)
def test_a_loader_s_source_may_fail(answer: object) -> None:
    """Code whose loader has no source, or raises, is shown with its file and its line."""
    name = f"m-{answer!r}.py"
    scope = {"__name__": "m", "__loader__": Loader(answer)}
    record, _ = report_here(lambda: exec(compile("1/0", name, "exec"), scope))
    assert record.stack.endswith(f'  File "{name}", line 1, in <module>\nZeroDivisionError: division by zero')


@pytest.mark.parametrize(
    "scope", [{"__name__": None}, {"__name__": 5, "__loader__": object()}, {"__file__": 7}], ids=range(3)
)
def test_globals_may_be_odd(scope: dict[str, Any]) -> None:
    """The globals of a frame may be anything."""
    record, _ = report_here(lambda: exec(compile("1/0", "<string>", "exec"), scope))
    assert '  File "<string>", line 1, in <module>' in record.stack


def test_import_machinery_is_shown() -> None:
    """Frames of the frozen import system are part of a failed import's stack as Python shows it."""
    record, error = report_here(lambda: importlib.import_module("no_such_pkg_case.sub"))
    assert plain(record.stack) == python_stack(error)
    assert "<frozen importlib._bootstrap>" in record.stack
    assert not record.frames[-1].in_app


def test_an_empty_line_table_is_a_question_mark() -> None:
    """A function without lines is shown by its file and its name."""

    def lineless() -> None:
        raise ValueError("no lines")

    lineless.__code__ = lineless.__code__.replace(**{LINES: b""})
    record, _ = report_here(lineless)
    assert record.frames[-1].function.endswith("lineless")
    assert record.frames[-1].line is None
    assert f'  File "{__file__}", line ?, in lineless\n' in record.stack


LINES = "co_linetable"


@pytest.mark.parametrize("table", [b"\xff" * 9, b"\x80" * 50, b"\xf0", bytes(range(128, 256))], ids=repr)
def test_a_damaged_line_table_does_no_harm(table: bytes) -> None:
    """A line table of arbitrary bytes is survived."""

    def damaged() -> None:
        raise ValueError("no lines")

    damaged.__code__ = damaged.__code__.replace(**{LINES: table})
    record, _ = report_here(damaged)
    assert record.message == "no lines"


class Name(str):
    """A file's or a function's name that lets nobody look at it."""

    def startswith(self, *_: object) -> bool:  # type: ignore[override]
        raise RuntimeError("no")

    __eq__ = __ne__ = __format__ = __str__ = endswith = find = split = rsplit = rpartition = startswith  # type: ignore[assignment]
    __hash__ = str.__hash__


def test_names_of_code_may_be_hostile_strings() -> None:
    """The file name and the function name of code may be subclasses of `str`."""

    def function() -> None:
        errorsink.report_error("from inside")
        raise ValueError("x")

    function.__code__ = function.__code__.replace(co_filename=Name("some/file.py"), co_name=Name("odd"))
    record, _ = report_here(function)
    assert (record.frames[-1].file, record.frames[-1].line is not None) == ("some/file.py", True)
    assert ", in odd\n" in record.stack


@pytest.mark.parametrize("name", ["\ud800.py", "a\0b.py", "x" * 50_000, "", "<frozen x>", "\u2028\n.py", "/", "//"])
def test_file_names_may_be_odd(name: str) -> None:
    """Code may come from a file of any name."""
    try:
        code = compile("1/0", "f.py", "exec").replace(co_filename=name)
    except ValueError:
        return
    record, _ = report_here(lambda: exec(code, {}))
    assert len(record.frames[-1].file) <= 1_000


def test_equal_code_of_two_files_is_told_apart() -> None:
    """Two code objects that are equal, but of different files, are shown with the file of each."""
    codes = [compile("raise ValueError", name, "exec") for name in ("one.py", "two.py")]
    records = [report_here(lambda code=code: exec(code, {}))[0] for code in codes]  # type: ignore[misc]
    assert [record.frames[-1].file for record in records] == ["one.py", "two.py"]


def test_code_with_unhashable_constants_is_reported() -> None:
    """Code objects that can't be hashed are survived."""

    def function() -> None:
        raise ValueError("x")

    function.__code__ = function.__code__.replace(co_consts=(None, [], *function.__code__.co_consts[1:]))
    record, _ = report_here(function)
    assert record.frames[-1].function.endswith("function")


def made_traceback(lasti: int, line: int) -> types.TracebackType:
    return types.TracebackType(None, sys._getframe(), lasti, line)


@pytest.mark.parametrize(("lasti", "line"), [(-1, 3), (0, 7), (4, 3), (10**6, 3), (-5, 1)])
def test_a_made_traceback_is_shown_as_python_does(lasti: int, line: int) -> None:
    """Tracebacks made by hand are shown with the line that Python shows."""
    error = ValueError("made").with_traceback(made_traceback(lasti, line))
    record = report(error)
    try:
        expected = python_stack(error)
    except RuntimeError:  # an instruction that the code doesn't have fails in `traceback` itself
        expected = record.stack
    assert plain(record.stack) == expected


def test_a_generator_that_was_never_started_is_shown_as_python_does() -> None:
    """An error thrown into a generator before its start shows its first line."""

    def generator() -> Iterator[int]:
        yield 1

    record, error = report_here(lambda: generator().throw(ValueError("thrown")))
    assert plain(record.stack) == python_stack(error)


# fmt: off
def failing_statement() -> None:
    raise ValueError(
        "several lines",

        [
            1,
        ],
    )


def failing_chain_of_calls() -> object:
    return (
        str(1)
        .upper()
        .no_such_method()  # type: ignore[attr-defined]
    )


def failing_long_call() -> object:
    return sorted(
        [1],
        reverse=bool(
            1
        ),
        key=int(
            "x"
        ),
    )


def failing_operator() -> object:
    text = """
    ^^^^
    ~~~~
    """
    return (
        text
        +
        1
    )


def failing_lambda() -> object:
    return [lambda: 1 / 0][0]()


def failing_comprehension() -> object:
    return [1 / n for n in (1, 0)]


def failing_unicode() -> None:
    größe = "äöü"; raise ValueError(größe)  # noqa: E702
# fmt: on


FAILING = [
    failing_statement, failing_chain_of_calls, failing_long_call, failing_operator, failing_lambda,
    failing_comprehension, failing_unicode,
]  # fmt: skip


@pytest.mark.parametrize("failing", FAILING)
def test_source_lines_are_python_s(failing: Callable[[], object]) -> None:
    """Statements of one line and of several are shown as this version of Python shows them."""
    record, error = report_here(failing)
    expected = python_stack(error)
    if isinstance(error, AttributeError):
        expected = expected.partition(". Did you mean")[0]
    assert plain(record.stack) == expected


def recursive(depth: int) -> None:
    if depth == 0:
        raise ValueError("bottom")
    recursive(depth - 1)


def even(depth: int) -> None:
    if depth == 0:
        raise ValueError("bottom")
    odd(depth - 1)


def odd(depth: int) -> None:
    even(depth - 1)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 19, 20, 63, 64, 65, 100, 900])
def test_repetitions_are_counted_as_python_does(depth: int) -> None:
    """A recursion is collapsed to three lines and a count, as Python does it, at any depth."""
    record, error = report_here(lambda: recursive(depth))
    assert plain(record.stack) == python_stack(error)


@pytest.mark.parametrize("depth", [20, 64, 900])
def test_mutual_recursion_keeps_both_ends(depth: int) -> None:
    """Of a long stack the 3 outermost and the 17 innermost frames stay, around a count."""
    record, error = report_here(lambda: even(depth))
    rows = [row for row in python_stack(error).split("\n") if row.startswith("  File")]
    shown = [row for row in record.stack.split("\n") if row.startswith("  File")]
    assert (shown[:3], shown[3:]) == (rows[:3], rows[-17:])
    assert f"  [{len(rows) - 20:,} frames left out]\n" in record.stack
    assert len(record.frames) == MAX_FRAMES


@pytest.mark.parametrize("frames", [19, 20, 21])
def test_twenty_frames_are_not_cut(frames: int) -> None:
    """Exactly twenty frames stay whole; one more is cut."""
    scope: dict[str, Any] = {}
    lines = [f"def f{n}(): f{n + 1}()" for n in range(frames - 1)] + [f"def f{frames - 1}(): raise ValueError('x')"]
    exec(compile("\n".join(lines), "many.py", "exec"), scope)
    try:
        scope["f0"]()
    except ValueError as error:
        record = report(without_this_frame(error))
    assert ("left out" in record.stack) is (frames > 20)


def test_squeezing_twice_changes_nothing() -> None:
    """A squeezed trace is squeezed already."""
    places: list[_trace.Place] = [(recursive.__code__, 2 * (n % 7)) for n in range(500)]
    once = _trace.squeeze(places)
    assert _trace.squeeze(once) == once


class Lazy(types.ModuleType):
    """A module that imports something when it is touched."""

    def __getattribute__(self, name: str) -> Any:
        raise ImportError(name)


@pytest.mark.parametrize("make", [lambda: None, lambda: 5, object, lambda: Lazy("lazy"), lambda: ValueError])
def test_sys_modules_may_hold_anything(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for a module by its file touches no module's attributes."""
    monkeypatch.setitem(sys.modules, "odd_entry", make())
    record, _ = report_here(lambda: exec(compile("1/0", "/nowhere/of_no_module.py", "exec"), {}))
    assert record.frames[-1].module == "of_no_module"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00 \xe9\nraise\n", b"# coding: no-such-codec\n", b"", b"\0\0"])
def test_undecodable_source_is_left_out(content: bytes, tmp_path: Path) -> None:
    """A source file that can't be decoded leaves the line without its text."""
    path = tmp_path / "odd.py"
    path.write_bytes(content)
    record, error = report_here(lambda: exec(compile("\nraise ValueError('x')", str(path), "exec"), {}))
    assert plain(record.stack) == python_stack(error)


def test_a_source_in_linecache_is_shown(tmp_path: Path) -> None:
    """Source that a tool has put into `linecache` is shown."""
    source = "raise ValueError('generated')\n"
    linecache.cache["<generated marker>"] = (len(source), None, [source], "<generated marker>")
    record, _ = report_here(lambda: exec(compile(source, "<generated marker>", "exec"), {}))
    del linecache.cache["<generated marker>"]
    assert plain(record.stack).endswith("in <module>\n    raise ValueError('generated')\nValueError: generated")
