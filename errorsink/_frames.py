"""One place of a traceback as text and as a `Frame`: looked up once, then a cache hit.

The text is the standard library's own (`traceback.FrameSummary`), so it is what this Python prints, its multi-line
statements included; only the caret lines are left out.
"""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from itertools import islice
from traceback import FrameSummary, StackSummary
from types import CodeType
from typing import Any, Callable, NamedTuple

from errorsink._modules import ModuleNames, load_source
from errorsink._normalize import bounded as cut
from errorsink._normalize import exact
from errorsink._trace import line_of
from errorsink.model import Frame

__all__ = ["FrameCache", "PlaceText"]

CACHE_SIZE = 8_192
"""Places that are remembered; when full, the older half is forgotten. A place takes about 600 bytes."""

MAX_NAME = 200
"""Code points of a function's and a module's name."""
MAX_PATH = 1_000
"""Code points of a file's path."""

_SHOWS_LINES = sys.version_info >= (3, 13)
"""From 3.13 on a statement over several lines is shown in full, which needs its columns."""


class PlaceText(NamedTuple):
    """What is known of a place."""

    text: str
    """`  File "…", line N, in f`, and the source below it where there is any; ends in a line feed."""
    frame: Frame


class FrameCache:
    """Places by code object and position. `clean` is applied to every text once.

    Code objects are told apart by identity: two functions of different files may be equal.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._known: dict[tuple[int, Any], tuple[PlaceText, CodeType]] = {}
        self._modules = ModuleNames()

    def __getitem__(self, place: tuple[CodeType, Any]) -> PlaceText:
        code, position = place
        found = self._known.get((id(code), position))
        if found is None:
            if len(self._known) >= CACHE_SIZE:
                for old in list(self._known)[: CACHE_SIZE // 2]:
                    self._known.pop(old, None)  # `recent_errors` may do the same in another thread
            found = self._known[id(code), position] = self._look_up(code, position), code
        return found[0]

    def _look_up(self, code: CodeType, position: Any) -> PlaceText:
        line = line_of(code, position)
        filename = exact(code.co_filename)
        frame = Frame(
            function=cut(self._clean(exact(getattr(code, "co_qualname", code.co_name))), MAX_NAME),
            module=cut(self._clean(self._modules.of(filename)), MAX_NAME),
            file=cut(self._clean(filename), MAX_PATH),
            line=line,
            in_app=_in_app(filename),
        )
        return PlaceText(self._clean(_text(code, filename, line, position)), frame)


def _text(code: CodeType, filename: str, line: int | None, position: Any) -> str:
    name = exact(code.co_name)
    try:
        linecache.checkcache(filename)
        if line is not None:
            return _standard_text(code, filename, name, line, position)
    except Exception:  # noqa: BLE001, S110 - a loader or a codec may raise anything; the place is shown without source
        pass
    return f'  File "{filename}", line {"?" if line is None else line}, in {name}\n'


def _standard_text(code: CodeType, filename: str, name: str, line: int, position: Any) -> str:
    extent = _extent(code, position, line) if _SHOWS_LINES and position >= 0 else {}
    load_source(filename)
    summary = FrameSummary(filename, line, name, lookup_line=False, **extent)
    return "".join(_PlainSummary.from_list([summary]).format())


class _PlainSummary(StackSummary):
    """Python's format without carets."""

    def _should_show_carets(self, *_: Any) -> bool:  # asked by Python 3.13 and later
        return False


def _extent(code: CodeType, position: int, line: int) -> dict[str, Any]:
    """The last line of an instruction of several lines, and its columns."""
    positions: Any = code.co_positions()  # type: ignore[attr-defined, unused-ignore]
    _, end_line, column, end_column = next(islice(positions, position // 2, None))
    if end_line is None or end_line <= line or column is None or end_column is None:
        return {"end_lineno": line}
    return {"end_lineno": end_line, "colno": column, "end_colno": end_column}


def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(sorted({paths[kind] + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")}))


_LIBRARIES = _library_folders()
_MARKS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _in_app(filename: str) -> bool:
    if filename.startswith("<frozen"):
        return False
    return not filename.startswith(_LIBRARIES) and not any(mark in filename for mark in _MARKS)
