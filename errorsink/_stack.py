"""The stack text: what Python prints for an exception, cut to its limit by whole frames.

The text is written as pieces, so that a cut can take whole frames and whole exceptions: the farthest causes go
first, then frames from the middle of what is left. The last line (type and message) always stays.
"""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

from errorsink._chain import COUNTED_BEYOND, GROUP_DEPTH, Link, SyntaxFacts
from errorsink._traces import TraceCache, frames_left_out, plural
from errorsink.model import MAX_STACK

__all__ = ["CUT", "StackWriter", "cut"]

CUT = "…[cut]"
LAST_LINES = MAX_STACK * 3 // 4
"""Code points that message and notes may take of a stack that is too long, so that frames remain beside them."""

MAX_SOURCE = 6_000
"""Code points of a SyntaxError's source line, so that its message follows."""

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"
_CYCLE = "[the exception before the following one stands further down: a cycle]\n"
_HEADER = "Traceback (most recent call last):\n"
_GROUP_HEADER = "Exception Group Traceback (most recent call last):\n"
_RULE = "-" * 16


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with a mark; never longer than `limit`."""
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


class Piece(NamedTuple):
    """A run of whole lines."""

    text: str
    is_frame: bool = False


Block = list[Piece]
"""One exception of the outermost chain, a group's children included."""


class _Box:
    """How deep in the boxes of exception groups the next line stands."""

    def __init__(self) -> None:
        self.depth = 0
        self.open = False

    def inside(self, text: str, mark: str = "|") -> str:
        if not self.depth:
            return text
        indent = f"{'  ' * self.depth}{mark} "
        return "".join(indent + row for row in text.splitlines(keepends=True))


class StackWriter:
    """Writes stacks with the tracebacks of one cache; `clean` redacts messages and notes, `clean_name` class names."""

    def __init__(self, traces: TraceCache, clean: Callable[[str], str], clean_name: Callable[[str], str]) -> None:
        self._traces = traces
        self._clean = clean
        self._clean_name = clean_name

    def stack(self, link: Link, message: str) -> str:
        """The whole text of a report; `message` is the link's own, redacted already."""
        if link.behind is None and not link.more_behind and not link.in_cycle:
            return self.alone(link, message)
        return _fitted(self._chain(link, _Box(), message))

    def alone(self, link: Link, message: str) -> str:
        """The text of one exception without what is behind it."""
        if link.children is None and link.places:
            text = f"{_HEADER}{self._traces[link.places].joined}{self._last_lines(link, message)}".removesuffix("\n")
            if len(text) <= MAX_STACK:
                return text
        return _fitted([self._exception(link, _Box(), message)])

    def _chain(self, link: Link, box: _Box, message: str | None = None) -> list[Block]:
        """The exceptions in the order in which Python prints them: the farthest cause first."""
        nearest_first: list[tuple[Link, str | None]] = []
        current: Link | None = link
        while current is not None:
            nearest_first.append((current, message))
            current, message = current.behind, None
        blocks: list[Block] = []
        farthest = nearest_first[-1][0]
        if farthest.more_behind:
            blocks.append([Piece(box.inside(_left_out(farthest.more_behind)))])
        elif farthest.in_cycle:
            blocks.append([Piece(box.inside(_CYCLE))])
        for current, own_message in reversed(nearest_first):
            block: Block = []
            if current.behind is not None or current.more_behind:
                block.append(Piece(box.inside(_CAUSE if current.is_cause else _CONTEXT)))
            block += self._exception(current, box, own_message)
            blocks.append(block)
        return blocks

    def _exception(self, link: Link, box: _Box, message: str | None = None) -> Block:
        if link.children is None:
            return list(self._plain(link, box, message))
        if link.too_deep:
            return [Piece(box.inside(f"... (max_group_depth is {GROUP_DEPTH})\n"))]
        return list(self._group(link, box, message))

    def _plain(
        self, link: Link, box: _Box, message: str | None, header: str = _HEADER, mark: str = "|"
    ) -> Iterator[Piece]:
        if link.places:
            yield Piece(box.inside(header, mark))
            for text in self._traces[link.places].texts:
                yield Piece(box.inside(text), True)
        yield Piece(box.inside(self._last_lines(link, self._clean(link.message) if message is None else message)))

    def _group(self, link: Link, box: _Box, message: str | None) -> Iterator[Piece]:
        """A group, with its children in boxes as Python draws them."""
        outermost = box.depth == 0
        box.depth += outermost
        yield from self._plain(link, box, message, _GROUP_HEADER, "+" if outermost else "|")
        children = link.children or ()
        rows = len(children) + bool(link.more_children)
        box.open = False
        for index in range(rows):
            box.open = index == rows - 1
            corner = "+-" if index == 0 else "  "
            title = str(index + 1) if index < len(children) else "..."
            yield Piece(f"{'  ' * box.depth}{corner}+{_RULE} {title} {_RULE}\n")
            box.depth += 1
            if index < len(children):
                for block in self._chain(children[index], box):
                    yield from block
            else:
                more = link.more_children
                yield Piece(box.inside(f"and {more} more {plural('exception', more)}\n"))
            if box.open and index == rows - 1:  # a group as the last child has closed the box already
                yield Piece(f"{'  ' * box.depth}+{'-' * 36}\n")
                box.open = False
            box.depth -= 1
        box.depth -= outermost

    def _last_lines(self, link: Link, message: str) -> str:
        name = self._clean_name(link.type)
        if link.syntax is not None:
            text = self._syntax(name, link.syntax)
        else:
            text = f"{name}: {message}\n" if message else f"{name}\n"
        return text + "".join(f"{self._clean(note)}\n" for note in link.notes) if link.notes else text

    def _syntax(self, name: str, facts: SyntaxFacts) -> str:
        """The last lines of a SyntaxError: where it is, the line, a caret below it, the message."""
        rows: list[str] = []
        suffix = ""
        if facts.line is not None:
            rows.append(f'  File "{self._clean(facts.filename or "<string>")}", line {facts.line}\n')
        elif facts.filename is not None:
            suffix = f" ({self._clean(facts.filename)})"
        if facts.text is not None:
            source = facts.text.rstrip("\n")
            shown = source.lstrip(" \n\f")
            cleaned = cut(self._clean(shown), MAX_SOURCE)
            rows.append(f"    {cleaned}\n")
            if facts.offset is not None and cleaned == shown:
                rows.append(_caret(facts, facts.offset, source, shown))
        rows.append(f"{name}: {self._clean(facts.message or '<no detail available>')}{suffix}\n")
        return "".join(rows)


def _caret(facts: SyntaxFacts, offset: int, source: str, shown: str) -> str:
    """The caret line below a SyntaxError's source; empty where the offset lies before it.

    Columns of a SyntaxError count from 1. An end on another line, behind the text or before the start is no end.
    """
    indent = len(source) - len(shown)
    end = facts.end_offset or offset
    if facts.end_line is not None and facts.end_line != facts.line:
        end = len(source) + 1
    offset, end = min(offset, len(source) + 1), min(end, len(source) + 1)
    if end <= offset:
        end = offset + 1
    column = offset - 1 - indent
    if column < 0:
        return ""
    space = "".join(character if character.isspace() else " " for character in shown[:column])
    return f"    {space}{'^' * (end - offset)}\n"


# --------------------------------------------------------------------------------------------------------- the cut


def _fitted(blocks: list[Block]) -> str:
    """The text of the blocks, within MAX_STACK."""
    text = "".join(piece.text for block in blocks for piece in block).removesuffix("\n")
    if len(text) <= MAX_STACK:
        return text
    last = blocks[-1]
    kept = [_with_short_last(last)]
    room = MAX_STACK - _size(kept[0])
    gone = 0
    for block in reversed(blocks[:-1]):
        size = _size(block) + len(_left_out(len(blocks)))
        if gone or size > room:
            gone += 1
        else:
            kept.insert(0, block)
            room -= _size(block)
    if gone:
        kept.insert(0, [Piece(_left_out(gone))])
    kept[-1] = _without_middle(kept[-1], MAX_STACK - sum(map(_size, kept[:-1])))
    return cut("".join(piece.text for block in kept for piece in block).rstrip("\n"), MAX_STACK)


def _size(block: Block) -> int:
    return sum(len(piece.text) for piece in block)


def _with_short_last(block: Block) -> Block:
    """The block with each run of message and notes cut to LAST_LINES."""
    return [
        piece
        if piece.is_frame or len(piece.text) <= LAST_LINES
        else Piece(cut(piece.text.rstrip("\n"), LAST_LINES - 1) + "\n")
        for piece in block
    ]


def _without_middle(block: Block, room: int) -> Block:
    """The block without as many frames from its middle as it takes to fit."""
    size = _size(block)
    if size <= room:
        return block
    frames = [index for index, piece in enumerate(block) if piece.is_frame]
    room -= len(frames_left_out(len(frames)))
    start = end = (len(frames) + 1) // 3  # the outer frames tell least: two thirds of what stays are inner ones
    while size > room and end - start < len(frames):
        if start > 0 and (start * 2 >= len(frames) - end or end >= len(frames) - 1):
            start -= 1
            size -= len(block[frames[start]].text)
        elif end < len(frames):
            size -= len(block[frames[end]].text)
            end += 1
    if end == start:
        return block
    gap = set(frames[start:end])
    first = frames[start]
    return [
        Piece(frames_left_out(end - start), True) if index == first else piece
        for index, piece in enumerate(block)
        if index == first or index not in gap
    ]


def _left_out(number: int) -> str:
    counted = f"{number:,} or more" if number >= COUNTED_BEYOND else f"{number:,}"
    return f"[{counted} {plural('exception', number)} before the following one left out]\n"
