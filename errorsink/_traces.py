"""A whole traceback as text and as frames: worked out once, then a cache hit.

Programs fail in the same places again and again, so that rendering a report is mostly finding its traceback here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from errorsink._classify import named
from errorsink._frames import FrameCache
from errorsink._trace import OMITTED, Places, identity, pairs, squeeze
from errorsink.model import Frame

__all__ = ["TraceCache", "TraceText", "frames_left_out", "plural"]

CACHE_SIZE = 512
"""Tracebacks that are remembered; when full, the older half is forgotten. One of 16 frames takes about 5 KB."""
GROUPING = 5
"""Innermost places whose functions tell equal errors apart."""


class TraceText(NamedTuple):
    """What is known of a traceback."""

    texts: tuple[str, ...]
    """One text a place or a mark; each ends in a line feed."""
    joined: str
    frames: tuple[Frame, ...]
    """Outermost first, at most MAX_FRAMES."""
    top_frame: str | None
    """`module:function:line` of the innermost frame."""
    functions: str
    """The innermost functions, for the fingerprint."""


class TraceCache:
    """Tracebacks by the identity of their code objects, and their positions."""

    def __init__(self, frames: FrameCache) -> None:
        self._frames = frames
        self._known: dict[tuple[Any, ...], tuple[TraceText, Places]] = {}

    def __getitem__(self, places: Places) -> TraceText:
        key = identity(places)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= CACHE_SIZE:
                for old in list(self._known)[: CACHE_SIZE // 2]:
                    self._known.pop(old, None)
            # The places are kept beside the text: an identity is one only as long as its object lives.
            found = self._known[key] = (self._look_up(places), places)
        return found[0]

    def _look_up(self, places: Places) -> TraceText:
        texts: list[str] = []
        frames: list[Frame] = []
        for code, position in squeeze(list(pairs(places))):
            if isinstance(code, str):
                texts.append(frames_left_out(position) if code == OMITTED else _repeated(position))
            else:
                known = self._frames[code, position]
                texts.append(known.text)
                frames.append(known.frame)
        functions = "\0".join(f"{frame.module}:{frame.function}" for frame in frames[-GROUPING:])
        top_frame = _top_frame(frames[-1]) if frames else None
        return TraceText(tuple(texts), "".join(texts), tuple(frames), top_frame, functions)


def _top_frame(frame: Frame) -> str:
    return named(f"{frame.module}:{frame.function}:{'?' if frame.line is None else frame.line}")


def frames_left_out(number: int) -> str:
    return f"  [{number:,} {plural('frame', number)} left out]\n"


def _repeated(number: int) -> str:
    return f"  [Previous line repeated {number} more {plural('time', number)}]\n"


def plural(noun: str, number: int) -> str:
    return noun if number == 1 else noun + "s"
