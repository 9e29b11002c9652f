"""Which parts of a text are code.

The source lines below the `File` lines of a stack, without their literals and comments.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

_FILE_LINE = re.compile(r"^(?P<indent>[ |+]{0,200})File \"[^\n]*\", line \d{1,9}[^\n]*\n", re.MULTILINE | re.ASCII)
_LITERAL_OR_COMMENT = re.compile(
    r"\"\"\"[^\n]*?\"\"\"|'''[^\n]*?'''|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|#[^\n]*",
)
_LONGEST_LINE = 500
"""Characters of a source line. A longer one is data that happens to be in a program, and is redacted like any text."""


class CodeMap:
    """The code in a text. Built when the first rule asks; then a look-up is a binary search."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edges: list[int] | None = None

    def covers(self, position: int) -> bool:
        """Whether a character stands in code: in a source line, outside of quotes and comments."""
        if self._edges is None:
            self._edges = list(_edges(self._text)) if 'File "' in self._text else []
        return bisect_right(self._edges, position) % 2 == 1


def _edges(text: str) -> Iterator[int]:
    """The positions at which code begins and ends, in turn, ascending."""
    for file_line in _FILE_LINE.finditer(text):
        shallowest = len(file_line["indent"]) + 2
        start = file_line.end()
        while start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            if not _is_source(text, start, end, shallowest):
                break
            position = start if end - start <= _LONGEST_LINE else end
            for literal in _LITERAL_OR_COMMENT.finditer(text, position, end):
                yield position
                yield literal.start()
                position = literal.end()
            yield position
            yield end
            start = end + 1


def _is_source(text: str, start: int, end: int, shallowest: int) -> bool:
    """Whether the line is indented deeper than the `File` line above it, behind the bars of a group if any."""
    margin = text[start : start + shallowest]
    return (
        end - start > shallowest
        and not margin.strip(" |")
        and margin[-2:] == "  "
        and _FILE_LINE.match(text, start) is None
    )
