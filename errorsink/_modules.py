"""Which module a file belongs to, and source that only an import loader has.

The modules of a program are anybody's objects: lazy ones import something when they are touched. They are read
through the slots of the module type.
"""

from __future__ import annotations

import linecache
import os
import sys
from importlib.util import decode_source
from types import ModuleType
from typing import Any, Callable, Iterator

__all__ = ["ModuleNames", "load_source"]

_dict_of: Callable[[ModuleType], dict[str, Any]] = vars(ModuleType)["__dict__"].__get__


def _modules() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, file and members of each module that has a file."""
    for name, module in list(sys.modules.items()):
        if type(name) is str and issubclass(type(module), ModuleType):  # pyright: ignore[reportUnnecessaryIsInstance]
            members = _dict_of(module)
            filename = members.get("__file__") if type(members) is dict else None
            if type(filename) is str:
                yield name, filename, members


class ModuleNames:
    """Module names by source file: a code object doesn't know its module."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._seen = 0

    def of(self, filename: str) -> str:
        """The module's name; the file's own where no module has it."""
        name = self._names.get(filename)
        loaded = len(sys.modules)
        if name is None and self._seen != loaded:
            for other, file, _ in _modules():
                self._names.setdefault(file, other)
            self._seen = loaded  # only now: another thread would take the names for complete
            name = self._names.get(filename)
        if name is not None:
            return name
        return "__main__" if _is_main_script(filename) else os.path.splitext(os.path.basename(filename))[0]


def _is_main_script(filename: str) -> bool:
    """True for the script that runs: at exit Python has taken `__file__` from its module already."""
    script = sys.argv[0] if getattr(sys, "argv", None) else ""
    return bool(script) and filename in (script, os.path.abspath(script))


def load_source(filename: str) -> None:
    """Puts source that isn't in a file (a zip archive's, a loader's) into `linecache`, where its lines are read."""
    if filename in linecache.cache or filename.startswith("<") or os.path.exists(filename):
        return
    for _, file, members in _modules():
        if file == filename and linecache.lazycache(filename, members):
            return
    lines = _archived(filename)
    if lines is not None:
        linecache.cache[filename] = (len(lines), None, lines, filename)


def _archived(filename: str) -> list[str] | None:
    """The lines of a file in an archive that is on the path: of a module whose import failed nothing else remains."""
    archive = os.path.dirname(filename)
    while archive != os.path.dirname(archive):
        get_data: Any = getattr(sys.path_importer_cache.get(archive), "get_data", None)
        if get_data is not None:
            data: bytes = get_data(filename)
            return [line + "\n" for line in decode_source(data).splitlines()]
        archive = os.path.dirname(archive)
    return None
