"""Causes, contexts, cycles, groups, notes and SyntaxErrors: what belongs to an exception."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from errorsink import _chain
from tests.capture.groups import BaseExceptionGroup, ExceptionGroup
from tests.capture.reported import last_line, plain, python_stack, report, report_here


def chain(length: int) -> ValueError:
    """Exceptions named 0 to length - 1, each the cause of the next; the last one."""
    error = ValueError("0")
    for number in range(1, length):
        error, error.__cause__ = ValueError(str(number)), error
    return error


def test_an_exception_that_is_its_own_cause_appears_once() -> None:
    """An exception raised from itself ends at once, with a mark."""
    error = ValueError("me")
    error.__cause__ = error
    stack = report(error).stack
    assert stack.count("ValueError: me") == 1
    assert "a cycle]" in stack


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_a_cycle_shows_each_link_once(link: str) -> None:
    """Two exceptions that are each other's cause appear once each, with a mark."""
    first, second = ValueError("a"), KeyError("b")
    setattr(first, link, second)
    setattr(second, link, first)
    record = report(first)
    assert [record.stack.count(text) for text in ("ValueError: a", "KeyError: 'b'", "a cycle]")] == [1, 1, 1]
    assert [cause.type for cause in record.causes] == ["KeyError"]


def test_cycles_may_mix_cause_and_context() -> None:
    """A cycle through a cause, a context and a third exception ends."""
    a, b, c = ValueError("a"), KeyError("b"), TypeError("c")
    a.__cause__, b.__cause__ = b, a
    c.__context__, a.__context__ = a, c
    assert [cause.type for cause in report(c).causes] == ["ValueError", "KeyError"]


def test_a_context_that_two_exceptions_share_is_no_cycle() -> None:
    """What is left out because it is shown elsewhere is marked only where it is a cycle."""
    shared = KeyError("shared")
    one, two = ValueError("1"), ValueError("2")
    one.__context__ = two.__context__ = shared
    stack = report(ExceptionGroup("g", [one, two])).stack
    assert "a cycle]" not in stack


@pytest.mark.parametrize(
    ("length", "left_out"),
    [(6, ""), (7, "[1 exception before"), (8, "[2 exceptions before"), (300, "[50 or more exceptions")],
)
def test_links_over_the_limit_are_counted(length: int, left_out: str) -> None:
    """Five causes are kept, the nearest ones; the stack says how many are left out."""
    record = report(chain(length))
    assert [cause.message for cause in record.causes] == [str(n) for n in range(length - 2, length - 7, -1)]
    assert record.stack.startswith(left_out or "ValueError: 0\n")


def test_from_none_hides_the_context() -> None:
    """A context that the author suppressed is nowhere."""

    def raising() -> None:
        try:
            raise KeyError("hidden-marker")
        except KeyError:
            raise ValueError("public") from None

    record, _ = report_here(raising)
    assert "hidden-marker" not in repr(record)
    assert record.causes == ()


def test_group_members_behind_a_context_are_shown() -> None:
    """The members of a group are in the stack, nested ones and those of a group behind the error too."""

    def raising() -> None:
        try:
            raise ExceptionGroup("group", [ValueError("child1"), ExceptionGroup("g2", [KeyError("child2")])])
        finally:
            raise TypeError("outer")

    record, _ = report_here(raising)
    assert all(text in record.stack for text in ("child1", "child2", "group (2 sub-exceptions)", "TypeError: outer"))
    assert record.causes[0].message == "group (2 sub-exceptions)"


def nested_group(levels: int) -> BaseException:
    error: Exception = ValueError("innermost")
    for level in range(levels):
        error = ExceptionGroup(f"level {level}", [error])
    return error


class Failing(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no str")


def with_notes(notes: object, error: BaseException | None = None) -> BaseException:
    error = error or ValueError("x")
    error.__notes__ = notes  # type: ignore[attr-defined]
    return error


def syntax_error(**fields: object) -> SyntaxError:
    error = SyntaxError("m")
    for name, value in fields.items():
        setattr(error, name, value)
    return error


def context_of_each_child() -> None:
    """Every child of the group, and the group, have the same context."""
    errors: list[Exception] = []
    try:
        raise KeyError("shared")
    except KeyError:
        for number in range(2):
            try:
                raise ValueError(number)
            except ValueError as error:
                errors.append(error)
        raise ExceptionGroup("g", errors)


def cause_that_was_never_raised() -> None:
    raise ValueError("outer") from KeyError("made only")


def cause_and_context() -> None:
    try:
        raise KeyError("context")
    except KeyError:
        raise ValueError("outer") from TypeError("cause")


def bare_assertion() -> None:
    assert not bare_assertion


def multi_line_message() -> None:
    raise ValueError("one\ntwo\n\n  three\n")


def group_as_a_cause() -> None:
    try:
        context_of_each_child()
    except Exception as error:
        raise ValueError("outer") from error


def control_flow_group() -> None:
    raise BaseExceptionGroup("base", [KeyboardInterrupt("k"), SystemExit(3)])


def group_in_a_chain_in_a_group() -> None:
    inner = ExceptionGroup("inner", [ValueError("a\nb"), KeyError("k")])
    outer = ValueError("holds a group as its cause")
    outer.__cause__ = inner
    raise ExceptionGroup("outer", [outer, TypeError("last")])


def wide_group() -> None:
    raise ExceptionGroup("wide", [ValueError(n) for n in range(17)])


def compile_error() -> None:
    compile("a = (\n", "secret_dir/x.py", "exec")


def indentation_error() -> None:
    compile("def f():\nreturn 1\n", "x.py", "exec")


def raised(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


LIKE_PYTHON: dict[str, Callable[[], None]] = {
    **{
        function.__name__: function
        for function in (
            context_of_each_child, cause_that_was_never_raised, cause_and_context, bare_assertion, multi_line_message,
            group_as_a_cause,
            control_flow_group, group_in_a_chain_in_a_group, wide_group, compile_error, indentation_error,
        )
    },
    "empty": raised(ValueError()),
    "key": raised(KeyError("two\nlines")),
    "nested-9": raised(nested_group(9)),
    "nested-12": raised(nested_group(12)),
    "syntax-no-line": raised(syntax_error(filename="f.py")),
    "syntax-no-file": raised(syntax_error(lineno=3, text="abc", offset=2)),
    "syntax-no-text": raised(syntax_error(filename="f", lineno=3)),
    "syntax-indented": raised(syntax_error(filename="f", lineno=1, text="\t  äb c\n", offset=5, end_offset=99)),
    "syntax-lines": raised(syntax_error(filename="f", lineno=1, text="abc\n", offset=2, end_lineno=3, end_offset=1)),
    "syntax-before": raised(syntax_error(filename="f", lineno=1, text="abc", offset=-5, end_offset=99)),
    "syntax-none": raised(SyntaxError()),
    "syntax-msg": raised(SyntaxError(["no", "text"])),
}  # fmt: skip


@pytest.mark.parametrize("name", LIKE_PYTHON)
def test_the_stack_is_python_s(name: str) -> None:
    """What fits the limits equals `traceback.format_exception` line for line, caret lines aside."""
    record, error = report_here(LIKE_PYTHON[name])
    assert plain(record.stack) == python_stack(error)


@pytest.mark.parametrize("notes", [["one"], ["one", "two\nlines", ""], ("t",), [5, None, ["x"]], [b"raw"]], ids=repr)
def test_notes_are_shown_as_python_shows_them(notes: object) -> None:
    """Each note is a line below the last one, whatever its type."""
    below = "".join(f"\n{note}" for note in notes)  # type: ignore[attr-defined]
    assert report(with_notes(notes)).stack.endswith(f"ValueError: x{below}")


@pytest.mark.parametrize(("notes", "shown"), [(5, "5"), ("text", "'text'"), ({1: 2}, "{1: 2}"), (b"b", "b'b'")])
def test_notes_that_are_no_list_are_shown_by_their_repr(notes: object, shown: str) -> None:
    """Anything else in the place of the notes is one line."""
    assert report(with_notes(notes)).stack.endswith(f"ValueError: x\n{shown}")


@pytest.mark.parametrize("notes", [None, [], ()])
def test_no_notes_leave_no_line(notes: object) -> None:
    """Without notes the type and the message are the last line."""
    assert last_line(report(with_notes(notes))) == "ValueError: x"


def test_a_failing_note_leaves_a_placeholder() -> None:
    """A note whose text fails hides no other."""
    stack = report(with_notes(["before", Failing(), "after"])).stack
    assert stack.endswith("\nbefore\n<unprintable Failing object>\nafter")


def test_many_notes_are_counted() -> None:
    """Twenty notes are kept, and a line says how many more there are."""
    assert report(with_notes([str(n) for n in range(25)])).stack.endswith("\n19\n[5 more notes]")


@pytest.mark.parametrize(
    "error",
    [
        syntax_error(filename=3, lineno="abc", text=12, offset="z"),
        syntax_error(filename="f", lineno=1, text=b"abc", offset=1),
        syntax_error(filename="f", lineno=10**5000, text="x", offset=1),
        syntax_error(filename="f", lineno=1, text="x", offset=10**5000, end_offset=-(10**5000)),
        syntax_error(filename="f", lineno=1, text="x", offset=1, end_offset="y"),
        syntax_error(filename="f", lineno=True, text="x", offset=None),
        syntax_error(filename="f", lineno=1, text="", offset=0),
        syntax_error(filename="\ud800", lineno=1, text="\udfff\0", offset=1),
        syntax_error(msg=None, filename=None),
        syntax_error(msg=b"m"),
        SyntaxError("m", (b"f.py", None, "x", 123)),
        SyntaxError("m", ("f.py", 1, 2, "abc", 1, 2)),
    ],
    ids=repr,
)  # fmt: skip
def test_odd_fields_of_a_syntax_error_do_no_harm(error: SyntaxError) -> None:
    """A SyntaxError with fields of wrong types keeps its type and its message."""
    record = report(error)
    assert record.type == "SyntaxError"
    assert last_line(record).startswith("SyntaxError: ")


def test_a_syntax_error_keeps_its_caret() -> None:
    """An ordinary SyntaxError keeps its file, its line and the caret below it."""
    record, _ = report_here(compile_error)
    *_, place, source, caret, last = record.stack.split("\n")
    assert (place, source, caret) == ('  File "secret_dir/x.py", line 1', "    a = (", "        ^")
    assert last == "SyntaxError: '(' was never closed"


def test_a_group_that_contains_itself_ends() -> None:
    """A group that is its own member's cause, and a group twice in another, end."""
    inner = ExceptionGroup("inner", [ValueError("x")])
    inner.exceptions[0].__cause__ = inner
    assert "inner" in report(ExceptionGroup("outer", [inner, inner])).stack


@pytest.mark.parametrize("members", [15, 16, 17, 10_000])
def test_wide_groups_name_the_rest(members: int) -> None:
    """Fifteen members of a group are shown, as Python does, and the rest is counted."""
    stack = report(ExceptionGroup("g", [ValueError(n) for n in range(members)])).stack
    assert "---------------- 15 ----------------" in stack
    assert f"g ({members} sub-exceptions)" in stack
    assert ("more exception" in stack) is (members > 15)


def test_all_chains_and_groups_share_one_budget() -> None:
    """A group of groups of groups keeps at most 64 exceptions, the last line and a count of what is left out."""

    def tree(levels: int) -> Exception:
        return ExceptionGroup(f"g{levels}", [tree(levels - 1) for _ in range(15)]) if levels else ValueError("leaf")

    link = _chain.linked(tree(3), [])

    def size(link: Any) -> int:
        return 1 + sum(map(size, link.children or ()))

    assert size(link) <= 64
    assert "more exceptions" in report(tree(3)).stack
