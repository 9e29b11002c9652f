"""Reads what a collector writes to a file of JSON lines, as it grows."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Generic, TypeVar

T = TypeVar("T")


class GrowingFile(Generic[T]):
    """Decodes each complete line once. A line that has no end yet is left for the next reading."""

    def __init__(self, path: Path, decode: Callable[[bytes], list[T]]) -> None:
        self._path = path
        self._decode = decode
        self._offset = 0
        self._records: list[T] = []

    def records(self) -> list[T]:
        """Everything that the file has held so far, in its order. The list is the caller's."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                added = file.read()
        except FileNotFoundError:
            added = b""
        whole = added[: added.rfind(b"\n") + 1]
        for line in whole.splitlines():
            self._records.extend(self._decode(line))
        self._offset += len(whole)
        return list(self._records)
