"""A report's attributes as plain values that every sink can carry."""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from itertools import islice

from errorsink._normalize import CUT, ask
from errorsink._typing import Any
from errorsink._values import text

__all__ = ["RAW_ATTRIBUTE", "attributes"]

RAW_ATTRIBUTE = 16_384
"""Code points of a value that are kept: the 4,000 that are shown, and room for redaction to look ahead."""
ROOM = 65_536
"""Code points of all keys and texts of a report's attributes together; what doesn't fit is counted under a mark."""
MAX_ITEMS = 128
"""Attributes of a report, and items of a list attribute (OpenTelemetry's default limits)."""


def attributes(given: object) -> dict[str, Any]:
    """Attributes as plain values: str, bool, int64, float, or tuples of one of these; None is left out.

    Anything that is no mapping becomes the one attribute `value`.
    """
    pairs = given if issubclass(type(given), dict) else _as_dict(given)
    plain: dict[str, Any] = {}
    room = ROOM
    items = _items(pairs)
    for position, (key, value) in enumerate(items):
        if value is not None:
            name = key if type(key) is str and len(key) <= RAW_ATTRIBUTE else text(key)[:RAW_ATTRIBUTE]
            cls = type(value)
            if cls is bool or cls is float or (cls is str and len(value) <= RAW_ATTRIBUTE):
                kept = value
            else:
                kept = _attribute(value)
            room -= len(name) + _size(kept)
            if room < 0:
                plain[CUT] = f"{len(items) - position} attributes left out: too large together"
                break
            plain[name] = kept
    return plain


def _size(kept: Any) -> int:
    """The code points of an attribute's texts."""
    if type(kept) is str:
        return len(kept)
    return sum(map(_size, kept)) if type(kept) is tuple else 0


def _items(pairs: Any) -> list[tuple[Any, Any]]:
    """The first items of a dict, which another thread may be changing."""
    try:
        return list(islice(dict.items(pairs), MAX_ITEMS))
    except RuntimeError:
        return list(islice(dict.copy(pairs).items(), MAX_ITEMS))


def _as_dict(given: object) -> dict[Any, Any]:
    """A mapping of the application's own as a dict: what its code gives, asked once."""
    pairs: dict[Any, Any] = {}

    def read(mapping: Any) -> bool:
        for key in islice(mapping.keys(), MAX_ITEMS):
            pairs[text(key)] = mapping[key]
        return True

    if not ask(read, given, False):
        pairs.setdefault("value", text(given))
    return pairs


def _attribute(value: object) -> Any:
    """A subclass of a number is that number; of a list of one scalar kind it stays one; anything else is text."""
    cls = type(value)
    if cls is list or cls is tuple:
        return _attribute_list(value)  # type: ignore[arg-type]
    if issubclass(cls, int):
        number = int.__add__(value, 0)  # type: ignore[operator]
        return number if -(2**63) <= number < 2**63 else text(number)
    if issubclass(cls, float):
        return float.__add__(value, 0.0)  # type: ignore[operator]
    return text(value)[:RAW_ATTRIBUTE]


def _attribute_list(values: list[Any] | tuple[Any, ...]) -> tuple[Any, ...]:
    """A list attribute: of one scalar kind as it is, of mixed kinds as texts; bounded, with a mark where it is cut."""
    head = [item for item in islice(values, MAX_ITEMS) if item is not None]
    if head and len(values) <= MAX_ITEMS and _is_uniform(head):
        return tuple(head)
    texts: list[str] = []
    room = RAW_ATTRIBUTE
    for item in head:
        texts.append(text(item)[:RAW_ATTRIBUTE])
        room -= len(texts[-1])
        if room < 0:
            break
    if len(texts) < len(head) or len(values) > MAX_ITEMS:
        texts.append(CUT)
    return tuple(texts)


def _is_uniform(items: list[Any]) -> bool:
    kind = type(items[0])
    if any(type(item) is not kind for item in items):
        return False
    return kind is bool or kind is float or (kind is int and all(-(2**63) <= item < 2**63 for item in items))
