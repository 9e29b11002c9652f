"""One place of a traceback as text and as a `Frame`: looked up once, then a cache hit.

The text is the standard library's own (`traceback.FrameSummary`), so it is what this Python prints, its multi-line
statements included; only the caret lines are left out.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from traceback import FrameSummary, StackSummary
from types import CodeType
from typing import Any, Callable, NamedTuple

from errorsink._trace import line_of
from errorsink.model import Frame

__all__ = ["FrameCache", "PlaceText"]

CACHE_SIZE = 8_192
"""Places that are remembered; when full, the older half is forgotten. A place takes about 600 bytes."""

_HAS_POSITIONS = sys.version_info >= (3, 11)
_SHOWS_LINES = sys.version_info >= (3, 13)
"""From 3.13 on a statement over several lines is shown in full, which needs its columns."""


class PlaceText(NamedTuple):
    """What is known of a place."""

    text: str
    """`  File "…", line N, in f`, and the source below it where there is any; ends in a line feed."""
    frame: Frame


class FrameCache:
    """Places by code object and position. `clean` is applied to every text once."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._known: dict[tuple[CodeType, Any], PlaceText] = {}
        self._modules = _ModuleNames()

    def __getitem__(self, place: tuple[CodeType, Any]) -> PlaceText:
        found = self._known.get(place)
        if found is None:
            if len(self._known) >= CACHE_SIZE:
                for old in list(self._known)[: CACHE_SIZE // 2]:
                    del self._known[old]
            found = self._known[place] = self._look_up(*place)
        return found

    def _look_up(self, code: CodeType, position: Any) -> PlaceText:
        line = line_of(code, position)
        frame = Frame(
            function=self._clean(getattr(code, "co_qualname", code.co_name)),
            module=self._clean(self._modules.of(code)),
            file=self._clean(code.co_filename),
            line=line,
            in_app=_in_app(code.co_filename),
        )
        return PlaceText(self._clean(_text(code, line, position)), frame)


def _text(code: CodeType, line: int | None, position: Any) -> str:
    try:
        linecache.checkcache(code.co_filename)
        if line is not None:
            return _standard_text(code, line, position)
    except Exception:  # noqa: BLE001, S110 - a loader or a codec may raise anything; the place is shown without source
        pass
    return f'  File "{code.co_filename}", line {"?" if line is None else line}, in {code.co_name}\n'


def _standard_text(code: CodeType, line: int, position: Any) -> str:
    end_line = line
    columns: dict[str, Any] = {}
    if _SHOWS_LINES and position >= 0:
        end_line, columns = _extent(code, position, line)
    _load_source(code)
    summary = FrameSummary(code.co_filename, line, code.co_name, lookup_line=False, **columns)
    text = "".join(StackSummary.from_list([summary]).format())
    return text if end_line == line else _without_carets(text)


def _extent(code: CodeType, position: int, line: int) -> tuple[int, dict[str, Any]]:
    """The last line of the instruction, and its columns where it has several lines."""
    positions: Any = code.co_positions()  # type: ignore[attr-defined, unused-ignore]
    for index, (_, end_line, column, end_column) in enumerate(positions):
        if index == position // 2:
            if end_line is None or end_line <= line or column is None or end_column is None:
                return line, {"end_lineno": line}
            return end_line, {"end_lineno": end_line, "colno": column, "end_colno": end_column}
    return line, {"end_lineno": line}


def _without_carets(text: str) -> str:
    head, *source = text.splitlines(keepends=True)
    return head + "".join(row for row in source if row.strip(" ^~\n"))


def _load_source(code: CodeType) -> None:
    """Source that only an import loader has (a zip file, a frozen module), as `linecache.lazycache` finds it."""
    filename = code.co_filename
    if filename in linecache.cache or filename.startswith("<") or os.path.exists(filename):
        return
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == filename:
            linecache.lazycache(filename, vars(module))
            return


class _ModuleNames:
    """Module names by source file: a code object doesn't know its module."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._seen = 0

    def of(self, code: CodeType) -> str:
        filename = code.co_filename
        name = self._names.get(filename)
        if name is None and self._seen != len(sys.modules):
            self._index()
            name = self._names.get(filename)
        return name if name is not None else os.path.splitext(os.path.basename(filename))[0]

    def _index(self) -> None:
        modules = list(sys.modules.items())
        self._seen = len(modules)
        for name, module in modules:
            filename = getattr(module, "__file__", None)
            if type(filename) is str:
                self._names.setdefault(filename, name)


def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(sorted({paths[kind] + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")}))


_LIBRARIES = _library_folders()
_MARKS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _in_app(filename: str) -> bool:
    if filename.startswith("<frozen"):
        return False
    return not filename.startswith(_LIBRARIES) and not any(mark in filename for mark in _MARKS)
