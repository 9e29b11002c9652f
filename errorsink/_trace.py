"""A traceback as raw places: code objects and positions, which hold no frame and no local.

The position is the index of the failing instruction where code objects map it to lines (Python 3.11 and later), and
the line itself on 3.10. Reading the index is as cheap as it gets; the line is found when the error is rendered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from os.path import dirname, sep
from types import CodeType, FrameType, TracebackType

from errorsink._limits import MAX_FRAMES
from errorsink._typing import Any

__all__ = [
    "OMITTED",
    "REPEATED",
    "Place",
    "Places",
    "call_site",
    "identity",
    "line_of",
    "pairs",
    "places_of",
    "running_frame",
    "squeeze",
    "walk",
]

OMITTED = "omitted"
REPEATED = "repeated"
Place = tuple[CodeType | str, Any]
"""A code object and a position; or OMITTED or REPEATED and how many frames the mark stands for."""
Places = list[Any]
"""The parts of places in turn, outermost first. One list that lives for a while, where a tuple for each frame would
have the garbage collector run seven times as often, and in the caller's time."""

LONG = 2 * 64
"""Parts of places above which a trace is shortened at once, so that a deep recursion isn't kept whole in the ring."""
KEPT = 128
"""Places that are kept of a long trace until it is rendered: those at its two ends."""
RECURSION = 16
"""Different places that make up a recursion; finding a line takes some microseconds a place."""
OUTERMOST = 3
INNERMOST = MAX_FRAMES - OUTERMOST
_REPEATS_SHOWN = 3
"""How often Python's own traceback shows a line before it counts the repetitions."""

running_frame: Callable[[int], FrameType] = sys._getframe  # pyright: ignore[reportPrivateUsage] - it is documented
_OWN_FOLDER = dirname(__file__) + sep
_OWN_PROGRAMS = _OWN_FOLDER + "cli" + sep
"""The command line reports errors like any application; its frames are no inner workings."""
_starts_with = str.startswith
"""Not the name's own method: it may be a subclass of `str` (`compile` takes any)."""
_plain = str.__str__
_BY_INSTRUCTION = sys.version_info >= (3, 11)


def walk(traceback: TracebackType | None, into: Places) -> None:
    """Adds the traceback's places to an empty list, outermost first; of a long one what `_shorten` keeps."""
    append = into.append
    if _BY_INSTRUCTION:
        while traceback is not None:
            lasti = traceback.tb_lasti
            append(traceback.tb_frame.f_code)
            append(lasti if lasti >= 0 else _by_line(traceback))
            traceback = traceback.tb_next
    else:
        while traceback is not None:
            append(traceback.tb_frame.f_code)
            append(traceback.tb_lineno)
            traceback = traceback.tb_next
    if len(into) > LONG:
        _shorten_parts(into)


def places_of(traceback: TracebackType | None) -> Places:
    """The traceback's places in a list of their own."""
    places: Places = []
    walk(traceback, places)
    return places


def pairs(places: Places) -> Iterator[Place]:
    """Place by place."""
    return zip(places[::2], places[1::2], strict=True)


def identity(places: Places) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Equal for equal traces, as long as their code objects live.

    Code objects of two files may be equal, and one with odd constants can't be hashed.
    """
    return tuple(map(id, places[::2])), tuple(places[1::2])


def _by_line(traceback: TracebackType) -> int:
    """The position of a traceback without an instruction, which somebody has made with a line only."""
    line: Any = traceback.tb_lineno
    return -1 if line is None or line < 0 else -2 - line


def call_site(frame: FrameType | None, into: Places) -> None:
    """Adds the places of a running stack to an empty list, outermost first, without the SDK's own innermost frames."""
    while frame is not None and _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None:
        into.append(frame.f_lasti if _BY_INSTRUCTION else frame.f_lineno)
        into.append(frame.f_code)
        frame = frame.f_back
    into.reverse()
    if len(into) > LONG:
        _shorten_parts(into)


def _is_own(filename: str) -> bool:
    return _starts_with(filename, _OWN_FOLDER) and not _starts_with(filename, _OWN_PROGRAMS)


def line_of(code: CodeType, position: Any) -> int | None:
    """The line of a place; None where the code doesn't say."""
    if not _BY_INSTRUCTION:
        return position if isinstance(position, int) and position > 0 else None
    if position < 0:
        return None if position == -1 else -2 - position
    try:
        positions: Iterable[tuple[Any, ...]] = code.co_positions()  # type: ignore[attr-defined, unused-ignore]
        found: tuple[Any, ...] = next(islice(positions, position // 2, None))  # pyright: ignore[reportUnknownArgumentType]
    except Exception:  # noqa: BLE001 - a damaged line table raises RuntimeError or StopIteration
        return None
    return found[0] if type(found[0]) is int else None


def _shorten_parts(places: Places) -> None:
    places[:] = [part for place in _shorten(pairs(places)) for part in place]


def _shorten(places: Iterable[Place]) -> list[Place]:
    """What is kept of a long trace until it is rendered, without a look at any line: that would be the caller's time.

    The very same place again and again is counted. Of what is then still too long, a recursion through a few places
    is squeezed at once, since only its lines tell where it repeats itself; of anything else the middle goes.
    """
    kept: list[Place] = []
    last_code: CodeType | str | None = None
    last_position: Any = None
    run = 0
    for place in places:
        code, position = place
        if code is last_code and position == last_position:
            run += 1
        else:
            if run > _REPEATS_SHOWN:
                kept.append((REPEATED, run - _REPEATS_SHOWN))
            last_code, last_position, run = code, position, 1
        if run <= _REPEATS_SHOWN:
            kept.append(place)
    if run > _REPEATS_SHOWN:
        kept.append((REPEATED, run - _REPEATS_SHOWN))
    if len(kept) <= KEPT:
        return kept
    if len({(id(code), position) for code, position in kept}) <= RECURSION:
        return squeeze(kept)
    return _without_middle(kept, KEPT // 4, KEPT - KEPT // 4)


def squeeze(places: list[Place], line: Callable[[CodeType, Any], int | None] = line_of) -> list[Place]:
    """At most `MAX_FRAMES` places: repetitions counted as Python does, then the middle left out.

    A line that comes more than three times in a row is shown three times and followed by a REPEATED mark. Of what
    is then still too long, the 3 outermost and the 17 innermost places stay, around an OMITTED mark. Squeezing a
    squeezed trace changes nothing.
    """
    shown = _count_repetitions(places, line)
    frames = sum(1 for code, _ in shown if not isinstance(code, str))
    return shown if frames <= MAX_FRAMES else _without_middle(shown, OUTERMOST, INNERMOST)


def _without_middle(places: list[Place], outermost: int, innermost: int) -> list[Place]:
    """So many frames of both ends, around a mark that counts the frames between them."""
    head = _take(places, outermost)
    tail = _take(list(reversed(places)), innermost)[::-1]
    if tail and tail[0][0] == REPEATED:  # the frames that it counts are in the gap
        tail = tail[1:]
    middle = places[len(head) : len(places) - len(tail)]
    left_out = sum(count if isinstance(code, str) else 1 for code, count in middle)
    return [*head, (OMITTED, left_out), *tail]


def _take(places: list[Place], frames: int) -> list[Place]:
    """The first places up to and with that many frames; marks between them come along."""
    taken: list[Place] = []
    for place in places:
        if not isinstance(place[0], str):
            if frames == 0:
                break
            frames -= 1
        elif frames == 0:
            break
        taken.append(place)
    return taken


def _count_repetitions(places: list[Place], line: Callable[[CodeType, Any], int | None]) -> list[Place]:
    shown: list[Place] = []
    lines: dict[tuple[int, Any], tuple[str, int | None, str]] = {}  # by id: the hash of a code object is its constants'
    last: tuple[str, int | None, str] | None = None
    run = 0
    for place in places:
        code, position = place
        if code == OMITTED:
            shown.append(place)
            last, run = None, 0
            continue
        if code == REPEATED:
            _count(shown, position)
            continue
        assert not isinstance(code, str)
        here = lines.get((id(code), position))
        if here is None:
            here = (_plain(code.co_filename), line(code, position), _plain(code.co_name))
            lines[id(code), position] = here
        if here != last:
            last, run = here, 0
        elif run == _REPEATS_SHOWN or shown[-1][0] == REPEATED:
            _count(shown, 1)
            continue
        run += 1
        shown.append(place)
    return shown


def _count(shown: list[Place], repetitions: int) -> None:
    """Adds to the mark at the end, or sets one."""
    if shown and shown[-1][0] == REPEATED:
        repetitions += shown.pop()[1]
    shown.append((REPEATED, repetitions))
