"""What the caller's side needs of `typing` at run time, without the price of importing it.

`import typing` brings `re` and takes as long as all that a report needs of errorsink. Annotations aren't evaluated
here, so that most of its names only have to exist; type checkers see the real ones.
"""

# pyright: reportUnnecessaryComparison=false

from __future__ import annotations

__all__ = ["TYPE_CHECKING", "Any", "Generic", "NamedTuple", "TypeVar", "cast", "overload"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Generic, NamedTuple, TypeVar, cast, overload
else:
    from collections import namedtuple

    class Any:
        """Stands in aliases."""

    class Generic:
        """A base class of a class whose parameter is for type checkers alone."""

        def __class_getitem__(cls, _parameter):
            return cls

    class _NamedTuple(type):
        """Turns the class statement's fields and defaults into a `collections.namedtuple`, as `typing` does."""

        def __new__(meta, name, bases, namespace):
            if not bases:
                return super().__new__(meta, name, bases, namespace)
            fields = namespace.pop("__annotations__", {})
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            made = namedtuple(  # noqa: PYI024 - that is what this class statement becomes
                name, fields, defaults=defaults, module=namespace.pop("__module__")
            )
            made.__annotations__ = fields
            for key, value in namespace.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTuple):
        """`typing.NamedTuple`."""

    def TypeVar(name):  # noqa: N802 - typing's name
        return name

    def cast(_type, value):
        return value

    def overload(function):
        return function
