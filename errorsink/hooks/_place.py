"""Where an error happened that Python can only print: in words and names, of which a program has a limited number."""

# What this module is given may be anything at all, so its types are unknown by nature; mypy's strict rules hold.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from types import AsyncGeneratorType, BuiltinFunctionType, CoroutineType, FunctionType, GeneratorType, MethodType

from errorsink._normalize import type_name
from errorsink._typing import Any

__all__ = ["place"]

MAX_WORDS = 8
"""Words of Python's sentence that are told; its longest has seven before it names an object."""

_BEFORE_ANY_REPR = ("atexit callback", "thread started by")
"""Sentences that Python ends in the `repr` of the application's own object, which may go on in any words."""
_NAMED = (FunctionType, GeneratorType, CoroutineType, AsyncGeneratorType)
_KINDS = (
    *("function ", "bound method ", "built-in function ", "built-in method "),
    *("generator object ", "coroutine object ", "async_generator object "),
)
_NAMELESS = ("<locals>", "<lambda>", "<genexpr>")


def place(sentence: object, what: object) -> str:
    """Such as `Resource.__del__` or `atexit callback close_all`: never an address, nor what a `repr` says of a value.

    Args:
        sentence: Python's own, such as `Exception ignored in atexit callback`, or None. Since 3.13 it may end in
            the `repr` of an object.
        what: the object that it is about, or None.
    """
    told = sentence if type(sentence) is str else ""
    rest = told.removeprefix("Exception ignored").lstrip().removeprefix("in ")
    known = next((known for known in _BEFORE_ANY_REPR if rest.startswith(known)), None)
    if known is not None:
        words, rest = known, rest[len(known) :].lstrip()
    else:
        words, rest = _words(rest)
    name = _name_in(rest) if what is None else _name_of(what)
    return f"{words} {name}".strip()


def _words(sentence: str) -> tuple[str, str]:
    """The plain words that a sentence begins with, and the rest of it."""
    words: list[str] = []
    rest = sentence
    while len(words) < MAX_WORDS:
        word, _, after = rest.partition(" ")
        if not (word.isascii() and word.isalpha() and (word.islower() or not words)):
            break
        words.append(word)
        rest = after
    return " ".join(words), rest


def _name_of(what: Any) -> str:
    """The qualified name of a function, a method, a generator or a class; the type's for any other object."""
    cls: type[Any] = type(what)
    while cls is MethodType:  # a method of a method is possible
        what = what.__func__
        cls = type(what)
    name: str | None = None
    if any(cls is named for named in _NAMED):
        name = what.__qualname__
    elif cls is BuiltinFunctionType:
        name = what.__name__
    elif cls is str and _is_name(what):  # Cython's way to name a function
        name = what
    return name or type_name(what if issubclass(cls, type) else cls)


def _name_in(shown: str) -> str:
    """The name in a `repr` such as `<function close_all at 0x7f…>`; nothing where the repr is of another form."""
    if not shown.startswith("<"):
        return ""
    name = shown[1:].partition(" at 0x")[0].partition(" of ")[0].removesuffix(">")
    for kind in _KINDS:
        name = name.removeprefix(kind)
    name = name.removesuffix(" object")
    return name if _is_name(name) else ""


def _is_name(text: str) -> bool:
    return len(text) <= 200 and all(part.isidentifier() or part in _NAMELESS for part in text.split("."))
