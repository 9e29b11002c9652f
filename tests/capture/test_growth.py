"""Work and size stay bounded, however large the error: counted, not timed."""

from __future__ import annotations

import gc
import sys
from collections import deque
from typing import Any, Callable, Iterator

import pytest

from errorsink import _capture, _chain, _ring, _trace, _values
from errorsink.model import MAX_FRAMES
from tests.capture.groups import ExceptionGroup
from tests.capture.reported import report, report_here


class Counted:
    """Counts how often it is looked at."""

    looks = 0

    def __repr__(self) -> str:
        type(self).looks += 1
        return "counted"


@pytest.fixture(autouse=True)
def no_looks() -> None:
    """Every test counts from zero."""
    Counted.looks = 0


LARGE: dict[str, Callable[[], Any]] = {
    "list": lambda: [Counted()] * 200_000,
    "tuple": lambda: (Counted(),) * 200_000,
    "dict": lambda: {n: Counted() for n in range(20_000)},
    "keys": lambda: {Counted(): n for n in range(20_000)}.keys(),
    "set": lambda: {Counted() for _ in range(20_000)},
    "deque": lambda: deque([Counted()]) * 20_000,
    "nested": lambda: [[Counted()] * 1_000] * 1_000,
    "wide-and-deep": lambda: {n: {m: [Counted()] for m in range(50)} for n in range(200)},
    "arguments": lambda: ValueError(*[Counted()] * 20_000),
    "argument": lambda: ValueError(ValueError([Counted()] * 20_000)),
    "key": lambda: KeyError([Counted()] * 20_000),
    "os-error": lambda: OSError(1, "x", [Counted()] * 20_000),
    "subclass": lambda: type("Own", (list,), {"__repr__": lambda self: "x" * 10})([Counted()] * 20_000),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_container_is_looked_at_a_thousand_times_at_most(name: str) -> None:
    """Of a container of any size a thousand values are looked at."""
    record = report(LARGE[name]())
    assert 0 < Counted.looks <= 1_000
    assert record.message.endswith("…[cut]")


def test_a_deep_list_is_entered_a_few_times() -> None:
    """A list 100,000 deep is shown to a depth of thirty."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    message = report(value).message
    assert (message.count("["), message.count("]")) == (_values.MAX_DEPTH + 1, _values.MAX_DEPTH + 1)
    report(ValueError(value, value))


@pytest.mark.parametrize(
    "error", [ValueError("x" * 20_000_000), "x" * 20_000_000, OSError(2, "x" * 20_000_000), b"x" * 20_000_000], ids=type
)
def test_a_long_text_is_kept_in_part(error: Any) -> None:
    """Of a text of twenty million characters 32,768 are kept for rendering."""
    assert len(report(error).message) == 4_000
    assert len(_ring.snapshots()[-1].link.message) <= 32_768


def size(link: _chain.Link | None) -> int:
    """The exceptions in a snapshot."""
    if link is None:
        return 0
    return 1 + size(link.behind) + sum(map(size, link.children or ()))


def length(link: _chain.Link | None) -> int:
    """The characters of text in a snapshot."""
    if link is None:
        return 0
    return len(link.message) + sum(map(len, link.notes)) + length(link.behind) + sum(map(length, link.children or ()))


class Visited(ValueError):
    """Counts how often its text is asked for."""

    visits = 0

    def __str__(self) -> str:
        type(self).visits += 1
        return "visited"


@pytest.fixture(autouse=True)
def no_visits() -> None:
    """Every test counts from zero."""
    Visited.visits = 0


def chained(number: int, link: str) -> BaseException:
    error = Visited()
    for _ in range(number):
        following = Visited()
        setattr(following, link, error)
        error = following
    return error


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_a_chain_of_50_000_is_followed_for_a_few(link: str) -> None:
    """Of a chain of 50,000 links six are read."""
    error = chained(50_000, link)
    assert report(error).stack.startswith("[50 or more exceptions before the following one left out]\n")
    assert Visited.visits == 6


@pytest.mark.parametrize("members", [100, 10_000])
def test_a_wide_group_is_read_for_fifteen(members: int) -> None:
    """Of a group's members fifteen are read."""
    report(ExceptionGroup("g", [Visited() for _ in range(members)]))
    assert Visited.visits == 15


def test_a_tree_of_groups_is_read_for_64() -> None:
    """Of groups in groups 64 exceptions are read."""

    def tree(levels: int) -> Exception:
        return ExceptionGroup("g", [tree(levels - 1) for _ in range(15)]) if levels else Visited()

    report(tree(3))
    assert size(_ring.snapshots()[-1].link) <= 64


def with_much_text(number: int) -> Exception:
    error = ValueError("m" * 100_000)
    error.__notes__ = ["n" * 100_000] * 100  # type: ignore[attr-defined]
    return error


def test_much_text_is_kept_for_a_few() -> None:
    """Messages and notes of all exceptions of a report share a budget."""
    report(ExceptionGroup("g", [ExceptionGroup("h", [with_much_text(n) for n in range(15)]) for _ in range(15)]))
    assert length(_ring.snapshots()[-1].link) <= 64 * 2_048 + 4 * 32_768


@pytest.fixture
def deep() -> Iterator[None]:
    """Room for 20,000 frames."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    yield
    sys.setrecursionlimit(before)


def boom(depth: int) -> None:
    if depth == 0:
        raise RecursionError("deep")
    boom(depth - 1)


def odd(depth: int) -> None:
    even(depth - 1)


def even(depth: int) -> None:
    if depth == 0:
        raise RecursionError("deep")
    odd(depth - 1)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before 3.11 each frame of Python takes the C stack's room")
@pytest.mark.parametrize("failing", [boom, even])
@pytest.mark.usefixtures("deep")
def test_a_recursion_of_20_000_frames_is_kept_as_a_few(failing: Callable[[int], None]) -> None:
    """Of a stack of 20,000 frames a few places are kept, both ends among them."""
    record, _ = report_here(lambda: failing(20_000))
    places = _ring.snapshots()[-1].link.places
    assert len(list(_trace.pairs(places))) <= 128
    assert (len(record.frames) <= MAX_FRAMES, record.frames[-1].function) == (True, failing.__name__)


def test_many_attributes_are_read_in_part() -> None:
    """Of many attributes, each of them large, the texts are read in part."""
    attributes: dict[str, Any] = dict.fromkeys(map(str, range(100_000)), "v" * 100_000)
    snapshot = _capture.take("x", 1, "error", "handled", attributes, None, None, None, None)
    assert snapshot.attributes is not None
    assert sum(map(len, snapshot.attributes.values())) <= 128 * 16_384


def test_a_report_keeps_one_object_that_the_collector_counts() -> None:
    """Collections come at every 700th object, and in the caller's time: a report brings them nearer by one."""
    error = ValueError("boom")
    report(error)
    kept: list[Any] = [None] * 200
    gc.collect()
    gc.disable()
    try:
        before = gc.get_count()[0]
        for place in range(len(kept)):
            kept[place] = _capture.take(error, 1, "error", "handled", None, None, None, None, None)
        counted = gc.get_count()[0] - before
    finally:
        gc.enable()
    assert counted <= len(kept) + 10
