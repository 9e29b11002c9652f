"""Objects and classes whose every method raises, recurses, lies or has effects."""

from __future__ import annotations

import threading
from typing import Any, Callable, Iterator

import pytest

import errorsink
from errorsink import _ring, _values
from tests.capture.groups import ExceptionGroup
from tests.capture.reported import last_line, report


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no")


SPECIAL = [
    "__str__", "__repr__", "__eq__", "__ne__", "__hash__", "__bool__", "__len__", "__iter__", "__getattr__",
    "__getattribute__", "__format__",
    "__lt__", "__contains__", "__getitem__", "__call__", "__index__", "__int__", "__float__", "__bytes__", "__dir__",
    "__reduce_ex__",
    "__setattr__", "__delattr__", "__sizeof__", "__enter__", "__instancecheck__", "__subclasscheck__", "__missing__",
    "__length_hint__",
]  # fmt: skip


def recurse(self: Any, *args: Any) -> Any:
    return recurse(self, *args)


def report_again(self: Any, *args: Any) -> Any:
    errorsink.report_error(self)
    errorsink.report_error(ValueError("from inside"))
    raise ValueError("inner")


BEHAVIOURS: dict[str, Callable[..., Any]] = {
    "raises": fail,
    "recurses": recurse,
    "reports": report_again,
    "wrong-type": lambda *_: object(),
    "none": lambda *_: None,
    "generator-exit": lambda *_: (_ for _ in ()).throw(GeneratorExit()),
}
BASES: list[type] = [
    object,
    Exception,
    BaseException,
    str,
    int,
    float,
    list,
    tuple,
    dict,
    set,
    frozenset,
    bytes,
    KeyError,
    OSError,
    SyntaxError,
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("base", BASES)
def test_hostile_methods_are_survived(base: type, behaviour: str) -> None:
    """An object of any built-in base with hostile special methods is one entry, alone and inside everything else."""
    cls = type("Hostile", (base,), dict.fromkeys(SPECIAL, BEHAVIOURS[behaviour]))
    value = base.__new__(cls)
    is_error = issubclass(base, BaseException)
    shown = "<unprintable Hostile object>"
    text = "" if base is str else shown  # a string's characters are read past its methods
    described = f"{__name__}.Hostile: {shown}" if is_error else text

    alone = report(value)
    assert (alone.type, alone.message) == (f"{__name__}.Hostile" if is_error else "errorsink.HarnessError", text)
    assert report(ValueError(value)).message == shown
    assert report(ValueError([value, (value, {1: value})])).message == f"[{shown}, ({shown}, {{1: {shown}}})]"
    detailed = report(
        value,
        attributes={"a": value, "b": [value, 1]},
        fingerprint=value,
        owner=value,
        level=value,
        handling=value,
        attempt=value,
    )
    assert detailed.message == text
    assert detailed.attributes == {"a": 0 if base in (int, float) else described, "b": (described, "1")}
    assert detailed.fingerprint == (described or alone.fingerprint)  # an empty one is none
    assert detailed.owner == (described or None)
    assert (detailed.level, detailed.handling, detailed.attempt) == ("error", "handled", None)
    assert report("x", attributes=value).attributes == ({} if base is dict else {"value": described})
    assert len(_ring.snapshots()) == 5


def slots(base: type) -> dict[str, Any]:
    return {
        name: property(fail)
        for name in (
            "__class__",
            "__dict__",
            "__doc__",
            "__cause__",
            "__context__",
            "__traceback__",
            "args",
            "__notes__",
        )
    }


@pytest.mark.parametrize("base", BASES)
def test_hostile_properties_are_passed_by(base: type) -> None:
    """Properties in the place of an exception's own fields are not read."""
    value = base.__new__(type("Hostile", (base,), slots(base)))
    assert report(value).type.endswith("Hostile") is issubclass(base, BaseException)


class Meta(type):
    """A metaclass that lets nobody read or compare its classes."""

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)

    __eq__ = __ne__ = __hash__ = __repr__ = __str__ = __instancecheck__ = __subclasscheck__ = __call__ = __bool__ = (
        __len__
    ) = fail  # type: ignore[assignment]


@pytest.mark.parametrize("base", BASES)
def test_a_hostile_metaclass_is_passed_by(base: type) -> None:
    """A class whose metaclass forbids everything is named, and its instances are reported."""
    cls = Meta("Meta", (base,), {})
    value = base.__new__(cls)
    record = report(value)
    if issubclass(base, BaseException):
        assert record.type == f"{__name__}.Meta"
    assert report(cls).message == f"the class {__name__}.Meta"
    report(ValueError(value, cls), attributes={"a": value, "c": cls, "l": [value, cls]})


@pytest.mark.parametrize("module", [5, None, b"m", "m\ud800", "m\0", "hostile"])
def test_a_module_name_may_be_anything(module: Any) -> None:
    """`__module__` may be no string."""
    if module == "hostile":
        module = Meta("M", (), {})
    assert "Odd" in report(type("Odd", (Exception,), {"__module__": module})("z")).type


@pytest.mark.parametrize("place", ["itself", "cause", "member"])
def test_names_are_cleaned_wherever_they_stand(place: str) -> None:
    """A class name with a NUL, a surrogate or a secret is cleaned in causes and groups too."""
    error: Exception = type("Odd", (Exception,), {"__module__": "m\0\ud800"})("z")
    if place == "cause":
        error, error.__cause__ = ValueError("outer"), error
    elif place == "member":
        error = ExceptionGroup("g", [error])
    assert "m\ufffd\ufffd.Odd: z" in report(error).stack


def test_names_may_be_hostile_strings() -> None:
    """Names of classes and modules may be subclasses of `str` with failing methods."""
    name = type("Name", (str,), {"__eq__": fail, "__format__": fail, "__str__": fail, "__hash__": str.__hash__})
    cls = type("Odd", (Exception,), {"__module__": name("some")})
    cls.__qualname__ = name("Odd")
    assert report(cls("z")).type == "some.Odd"


@pytest.mark.parametrize("length", [200, 201, 5_000_000])
def test_a_class_name_may_be_long(length: int) -> None:
    """A class name of any length is cut to 200 characters."""
    assert len(report(type("N" * length, (Exception,), {})("z")).type) == 200


def test_formatting_may_report() -> None:
    """A report made while an error is formatted is refused and counted; the outer one is recorded."""

    class Loop(Exception):
        def __str__(self) -> str:
            inner.append(errorsink.report_error(Loop("again")))
            return "text"

    inner: list[errorsink.Receipt] = []
    assert report(Loop("first")).message == "text"
    assert [receipt.reason for receipt in inner] == ["internal"]


def test_the_guard_is_cleared_when_an_interrupt_passes() -> None:
    """KeyboardInterrupt raised by a formatter propagates, and the next report works."""

    class Interrupted(Exception):
        def __str__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        errorsink.report_error(Interrupted())
    assert report(ValueError("next")).message == "next"


def test_the_guard_holds_for_its_own_thread() -> None:
    """While one thread formats, another one's report is accepted."""
    other: list[errorsink.Receipt] = []

    class Waits(Exception):
        def __str__(self) -> str:
            thread = threading.Thread(target=lambda: other.append(errorsink.report_error(ValueError("other"))))
            thread.start()
            thread.join()
            return "done"

    errorsink.report_error(Waits())
    assert other[0].accepted


def test_a_formatter_runs_once() -> None:
    """The text of an exception is asked for once, for message and stack together."""
    calls: list[int] = []

    class Counted(Exception):
        def __str__(self) -> str:
            calls.append(1)
            return "text"

    record = report(Counted())
    assert (record.message, len(calls)) == ("text", 1)
    assert last_line(record).endswith("Counted: text")


def test_slow_formatters_share_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once formatters have taken their time in a report, no further one runs; the next report begins anew."""
    now = [0.0]
    calls: list[int] = []

    class Slow:
        def __repr__(self) -> str:
            calls.append(1)
            now[0] += 0.06
            return "slow"

    monkeypatch.setattr("errorsink._normalize.clock", lambda: now[0])
    report([Slow() for _ in range(100)])
    assert len(calls) == 2
    assert report(ValueError(Slow())).message == "slow"


def test_locals_are_never_touched() -> None:
    """Nothing of a frame's locals is looked at."""
    hits: list[int] = []

    class Query:
        def __repr__(self) -> str:
            hits.append(1)
            return "rows"

    def view() -> None:
        query = Query()  # noqa: F841 - the local under test
        raise ValueError("boom")

    with pytest.raises(ValueError) as caught:
        view()
    report(caught.value)
    assert hits == []


class NoTruth(Exception):
    """Array-like: its truth and its equality are ambiguous."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    __eq__ = __len__ = fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Empty(Exception):
    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [NoTruth, Empty])
@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_falsy_exceptions_keep_their_chain(kind: type[Exception], link: str) -> None:
    """Truth tests of exceptions decide nothing: causes and contexts are kept, falsy ones too."""
    outer, middle = kind("outer"), kind("middle")
    setattr(outer, link, middle)
    setattr(middle, link, KeyError("root"))
    assert [cause.type.rpartition(".")[2] for cause in report(outer).causes] == [kind.__name__, "KeyError"]


def test_equal_exceptions_are_told_apart() -> None:
    """Links that are equal to each other are different exceptions all the same."""

    class Same(Exception):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

    first = Same("1")
    first.__cause__ = Same("2")
    first.__cause__.__cause__ = Same("3")
    assert [cause.message for cause in report(first).causes] == ["2", "3"]


def test_slots_leave_the_mark_its_place() -> None:
    """Exceptions with `__slots__` are reported."""

    class Slotted(Exception):
        __slots__ = ("code", "detail")

    error = Slotted("x")
    error.code = 5  # type: ignore[attr-defined]
    assert report(error).message == "x"


class Facts(dict):  # type: ignore[type-arg]
    get = __getitem__ = __contains__ = __setitem__ = __len__ = __iter__ = fail


def test_an_instance_dictionary_may_be_hostile() -> None:
    """A subclass of dict in the place of an exception's dictionary is passed by."""
    error = ValueError("x")
    error.__dict__ = Facts()
    assert report(error).message == "x"


def test_keys_of_the_instance_dictionary_may_be_hostile() -> None:
    """Keys with the hash of a name that is looked up and a failing `__eq__` do no harm."""

    class Key:
        def __init__(self, name: str) -> None:
            self.name = name

        def __hash__(self) -> int:
            return hash(self.name)

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no eq")

    error = ValueError("x")
    for name in ("code", "__notes__", "__errorsink__", "response", "errno"):
        error.__dict__[Key(name)] = 1  # type: ignore[index]
    assert report(error).message == "x"


@pytest.mark.parametrize(
    "facts",
    [
        {"code": object()},
        {"reason_code": [1]},
        {"status_code": fail},
        {"response": fail},
        {"errno": 10**5000},
        {"code": "x" * 10**6},
    ],
)
def test_odd_codes_are_left_out(facts: dict[str, Any]) -> None:
    """What can't be a code is none."""
    error = ValueError("x")
    error.__dict__.update(facts)
    assert report(error).code is None


def test_a_response_is_not_asked() -> None:
    """An exception's `response` may be any object: its code isn't run."""
    asked: list[str] = []

    class Response:
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            raise RuntimeError(name)

    error = ValueError("x")
    error.response = Response()  # type: ignore[attr-defined]
    report(error)
    assert asked == []


def test_a_response_s_status_is_the_code() -> None:
    """The HTTP status of an exception's response is its code."""

    class Response:
        def __init__(self) -> None:
            self.status_code = 503

    error = ValueError("x")
    error.response = Response()  # type: ignore[attr-defined]
    assert report(error).code == "503"


def changing() -> Iterator[dict[int, Any]]:
    data: dict[int, Any] = {}

    class Grows:
        def __repr__(self) -> str:
            data[len(data)] = self
            return "grows"

    data.update({n: Grows() for n in range(3)})
    yield data


def test_a_container_may_change_while_it_is_walked() -> None:
    """A dict that grows while its values are shown is shown as far as it went."""
    data = next(changing())
    assert report(data).message.startswith("{0: grows")


def test_self_containing_containers_end() -> None:
    """A container within itself is shown as Python shows it."""
    loop: list[Any] = [1]
    loop.append({"self": loop, "t": (loop,)})
    assert report(loop).message == repr(loop)


def test_iterating_may_report() -> None:
    """A list whose iterator reports errors is shown by its own class's slot."""

    class Noisy(list):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[Any]:
            errorsink.report_error(RuntimeError("iterating"))
            return super().__iter__()

    assert report(Noisy([1, 2, 3])).message == "[1, 2, 3]"
    assert len(_ring.snapshots()) == 1


def test_a_descriptor_as_str_is_not_bound_outside_the_guard() -> None:
    """A `__str__` that is a descriptor with effects runs once at most, marked as user code."""
    inner: list[errorsink.Receipt] = []

    class Binding:
        def __get__(self, instance: object, owner: object = None) -> Callable[[], str]:
            inner.append(errorsink.report_error(ValueError("from the descriptor")))
            return lambda: "bound"

    cls = type("Bound", (Exception,), {"__str__": Binding()})
    assert report(cls("x")).message == "bound"
    assert [receipt.reason for receipt in inner] == ["internal"]


def test_arguments_deep_in_arguments_end() -> None:
    """Exceptions nested a hundred thousand deep in each other's arguments are one report."""
    error = ValueError("x")
    for _ in range(100_000):
        error = ValueError(error)
    record = report(error)
    assert (record.type, record.message) == ("ValueError", "<exceptions within exceptions>")
    assert last_line(record) == "ValueError: <exceptions within exceptions>"
    assert len(_ring.snapshots()) == 1


def test_plain_is_what_repr_says_at_any_depth() -> None:
    """Nesting that Python prints is printed alike."""
    value: Any = "x"
    for _ in range(25):
        value = [value]
    assert _values.text(value) == repr(value)
