"""Characters and lengths: UTF-8, NUL, limits in code points, and cuts that leave a mark inside the limit."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import errorsink
from errorsink._normalize import RAW_TEXT
from errorsink._stack import CUT, cut
from errorsink.model import MAX_MESSAGE, MAX_STACK
from tests.capture.groups import ExceptionGroup
from tests.capture.reported import last_line, report, texts, without_this_frame


@pytest.mark.parametrize("error", [
    ValueError("half \ud83d emoji"), ValueError("\udfff\ud800"), ValueError("nul \0 here"), KeyError("k\ud800"),
    {"k\ud800": "v\udfff\0"},
    "\udc80", type("E", (Exception,), {"__str__": lambda self: "\udc80"})(), ValueError(["\ud800"]),
    OSError(2, "\ud800", "\0"),
    SyntaxError("\ud800", ("\udfff", 1, 1, "\ud83d\0")), ExceptionGroup("\ud800", [ValueError("\0")]),
], ids=ascii)  # fmt: skip
def test_surrogates_and_nul_are_replaced(error: Any) -> None:
    """A lone surrogate and a NUL become U+FFFD in every field."""
    error_with_notes = error if isinstance(error, Exception) else ValueError(error)
    error_with_notes.__notes__ = ["\ud800\0"]  # type: ignore[attr-defined]
    error_with_notes.__cause__ = ValueError("\udfff\0")
    details = {"attributes": {"k\ud800": "v\udfff\0", "l": ["\0", "\ud800"]}, "fingerprint": "\ud800", "owner": "\0"}
    for reported in (error, error_with_notes):
        record = report(reported, **details)
        assert "\ufffd" in record.attributes["l"]
        assert record.owner == "\ufffd"


def test_surrogate_pairs_become_their_character() -> None:
    """Two halves side by side are the character that they stand for."""
    assert report(ValueError("\ud83d\ude00")).message == "😀"


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m\r\nFAKE level=INFO ok", "\u2028 \u2029 \ufeff \u202e txt", "e\u0301", "tab\tbell\a"]
)
def test_other_control_characters_are_kept(text: str) -> None:
    """Control characters stay in the record; escaping them is the terminal's part."""
    assert report(ValueError(text)).message == text


@pytest.mark.parametrize("unit", ["x", "\U0001f600", "é", "e\u0301"])
@pytest.mark.parametrize("length", [3_999, 4_000, 4_001, 4_002, 16_001, RAW_TEXT - 1, RAW_TEXT, RAW_TEXT + 1, 100_000])
def test_a_message_is_cut_at_4000_code_points(unit: str, length: int) -> None:
    """A message of 4,000 code points is untouched, one more leaves 4,000 with the mark inside."""
    text = (unit * length)[:length]
    message = report(ValueError(text)).message
    assert message == text if length <= MAX_MESSAGE else (len(message), message[-len(CUT) :]) == (MAX_MESSAGE, CUT)
    assert text.startswith(message.removesuffix(CUT))


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 12, 100])
def test_a_cut_text_is_never_longer_than_its_limit(length: int) -> None:
    """The mark of a cut counts."""
    shown = cut("y" * length, 11)
    assert shown == ("y" * length if length <= 11 else "yyyyy" + CUT)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_stack_of_exactly_the_limit_is_untouched(over: int) -> None:
    """A stack of 16,000 code points is whole; one code point more and the last line is cut."""
    room = MAX_STACK - len(report(deep_error(1, 10, "x")).stack) + 1
    record = report(deep_error(1, 10, "x" * (room + over)))
    assert len(record.stack) == MAX_STACK + over if over <= 0 else len(record.stack) <= MAX_STACK
    assert (CUT in record.stack) is (over > 0)


def deep_error(frames: int, width: int, message: str = "the end") -> BaseException:
    """An error of that many frames, each with a source line of that many characters."""
    scope: dict[str, Any] = {"message": message}
    pad = f"  # {'w' * width}"
    lines = [f"def f{n}(): f{n + 1}(){pad}" for n in range(frames - 1)]
    lines.append(f"def f{frames - 1}(): raise ValueError(message){pad}")
    name = f"<wide {frames} {width}>"
    linecache.cache[name] = (1, None, [line + "\n" for line in lines], name)
    exec(compile("\n".join(lines), name, "exec"), scope)
    try:
        scope["f0"]()
    except ValueError as error:
        return without_this_frame(error)
    raise AssertionError


def functions(stack: str) -> list[str]:
    return [row.rpartition(" in ")[2] for row in stack.split("\n") if row.startswith("  File")]


@pytest.mark.parametrize("width", [900, 1_500, 3_000, 7_000, 15_500])
def test_a_stack_over_the_limit_loses_whole_frames_from_its_middle(width: int) -> None:
    """What remains of a stack with long lines is whole frames, the innermost first of all, and the last line."""
    record = report(deep_error(18, width))
    shown = functions(record.stack)
    assert last_line(record) == "ValueError: the end"
    assert shown == sorted(shown, key=lambda name: int(name[1:]))
    assert shown[-1:] in (["f17"], [])
    assert f"  [{18 - len(shown)} frames left out]\n" in record.stack
    for row, after in zip(record.stack.split("\n"), record.stack.split("\n")[1:], strict=False):
        assert not row.startswith("  File") or after.endswith("w" * width)


def test_the_innermost_frame_outlives_a_long_message() -> None:
    """With a message of any length the innermost frames and the beginning of the last line stay."""
    record = report(deep_error(18, 900, "m" * 100_000))
    assert functions(record.stack)[-1] == "f17"
    assert last_line(record).startswith("ValueError: mmm")
    assert last_line(record).endswith(CUT)


def linked(messages: list[str]) -> BaseException:
    error: BaseException = ValueError(messages[0])
    for message in messages[1:]:
        error, error.__cause__ = ValueError(message), error
    return error


def test_the_farthest_causes_are_left_out_first() -> None:
    """Of a chain that doesn't fit the nearest causes stay whole, and a line counts the others."""
    record = report(linked([f"{n} {'z' * 3_000}" for n in range(6)]))
    shown = [n for n in range(6) if f"ValueError: {n} zzz" in record.stack]
    assert shown == list(range(6 - len(shown), 6))
    assert 3 <= len(shown) < 6
    assert record.stack.startswith(f"[{6 - len(shown)} exceptions before the following one left out]\n")


def test_all_causes_may_have_to_go() -> None:
    """Where the error itself fills the stack no cause is left, and the count says so."""
    record = report(linked(["f" * 5_000, "n" * 5_000, "q" * 20_000]))
    assert record.stack.startswith("[2 exceptions before the following one left out]\n")
    assert last_line(record).startswith("ValueError: qqq")


def test_a_long_group_keeps_its_message() -> None:
    """Of a group whose members don't fit, the group's own line stays."""
    record = report(ExceptionGroup("the group", [ValueError(f"{n} {'z' * 6_000}") for n in range(9)]))
    assert "ExceptionGroup: the group (9 sub-exceptions)" in record.stack


def test_long_notes_leave_the_message() -> None:
    """However long the notes, type and message stay."""
    error = ValueError("the message")
    error.__notes__ = ["n" * 30_000] * 30  # type: ignore[attr-defined]
    record = report(error)
    assert "ValueError: the message\nnnn" in record.stack
    assert functions(record.stack)


@pytest.mark.parametrize(
    ("number", "text", "negated"),
    [
        (float("nan"), "nan", "nan"),
        (float("inf"), "inf", "-inf"),
        (-float("inf"), "-inf", "inf"),
        (1e309, "inf", "-inf"),
        (10**5000, "<int of 16,610 bits>", "<int of 16,610 bits>"),
    ],
    ids=["nan", "inf", "-inf", "1e309", "large"],
)
def test_numbers_without_json_do_no_harm(number: Any, text: str, negated: str) -> None:
    """Numbers that JSON doesn't have are text in messages, and in attributes what Python has."""
    record = report({"a": number, "b": [number, -number]}, attributes={"n": number, "l": [number], "m": [number, "x"]})
    assert record.message == f"{{'a': {text}, 'b': [{text}, {negated}]}}"
    kept = number if type(number) is float else text
    assert repr(record.attributes) == repr({"n": kept, "l": (kept,), "m": (text, "x")})  # nan equals nothing


class Sized(int):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __index__ = __int__ = __add__ = __le__ = __ge__ = __lt__ = __gt__ = __repr__  # type: ignore[assignment]


class Named(str):
    def __len__(self) -> int:
        raise RuntimeError("no len")

    __str__ = __getitem__ = __hash__ = __eq__ = __len__  # type: ignore[assignment]


class Real(float):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __float__ = __add__ = __eq__ = __repr__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


ATTRIBUTES: list[tuple[Any, Any]] = [
    ("x", "x"), (1, 1), (True, True), (1.5, 1.5), (-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1),
    (2**63, "9223372036854775808"),
    (b"x", "b'x'"), ({"a": 1}, "{'a': 1}"), ({1}, "{1}"), (ValueError("v"), "ValueError: v"),
    (ValueError, "the class ValueError"),
    ([1, 2], (1, 2)), ((1.5, 2.5), (1.5, 2.5)), ([True], (True,)), ([], ()), ([1, None], (1,)),
    ([1, "a"], ("1", "a")), ([1, True], ("1", "True")),
    ([2**63, 1], ("9223372036854775808", "1")), ([[1], [2]], ("[1]", "[2]")), (Sized(5), 5), (Named("n"), "n"),
    (Real(2.5), 2.5), ([Named("n")], ("n",)),
    (object, "the class object"), (Ellipsis, "Ellipsis"), (range(3), "range(0, 3)"),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(ATTRIBUTES)))
def test_attributes_become_plain(row: int) -> None:
    """An attribute is a str, bool, int64, float, a tuple of one of these, or else a text."""
    given, kept = ATTRIBUTES[row]
    value = report("x", attributes={"a": given}).attributes["a"]
    assert (type(value), value) == (type(kept), kept)


def test_none_is_left_out() -> None:
    """An attribute that is None isn't there, and neither is None in a list."""
    assert report("x", attributes={"a": None, "b": [None, 1], "c": [None]}).attributes == {"b": (1,), "c": ()}


KEYS: list[tuple[Any, str]] = [
    (1, "1"), (None, "None"), ((1, 2), "(1, 2)"), (b"k", "b'k'"), (Named("n"), "n"), ("", ""),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(KEYS)))
def test_keys_become_strings(row: int) -> None:
    """Keys are strings."""
    key, kept = KEYS[row]
    assert report("x", attributes=_Pairs(key)).attributes == {kept: 1}


class _Pairs:
    """A mapping of the application's own with one key."""

    def __init__(self, key: object) -> None:
        self.key = key

    def keys(self) -> list[object]:
        return [self.key]

    def __getitem__(self, key: object) -> int:
        return 1


@pytest.mark.parametrize("given", [5, "text", [1], object(), iter([1]), ValueError("v")], ids=range(6))
def test_attributes_that_are_no_mapping_are_one_value(given: object) -> None:
    """Anything else in the place of the attributes becomes the attribute `value`."""
    assert list(report("x", attributes=given).attributes) == ["value"]


class Endless:
    def keys(self) -> Any:
        return iter(int, 1)

    def __getitem__(self, key: object) -> object:
        return self


class FailsLate:
    def keys(self) -> Any:
        yield "a"
        raise RuntimeError("no more keys")

    def __getitem__(self, key: object) -> int:
        return 1


@pytest.mark.parametrize(("given", "first"), [(Endless(), "0"), (FailsLate(), "a")])
def test_mappings_may_fail_or_never_end(given: object, first: str) -> None:
    """Of a mapping that fails in the middle, or never ends, the beginning is kept."""
    assert first in report("x", attributes=given).attributes


@pytest.mark.parametrize("length", [199, 200, 201, 20_000, 1_000_000])
def test_long_keys_are_cut(length: int) -> None:
    """A key is cut to 200 characters."""
    (key,) = report("x", attributes={"k" * length: 1}).attributes
    assert len(key) == min(length, 200)


def test_a_list_that_has_no_room_says_so() -> None:
    """The texts of a list share 4,000 characters; where some are left out, the last one is the mark of a cut."""
    attributes = report("x", attributes={"whole": ["a" * 1_000] * 4, "cut": ["a" * 1_000] * 5}).attributes
    assert attributes["whole"] == ("a" * 1_000,) * 4
    assert attributes["cut"] == (*["a" * 1_000] * 4, CUT)


@pytest.mark.parametrize("length", [3_999, 4_000, 4_001, 16_384, 16_385, 1_000_000])
def test_long_values_are_cut(length: int) -> None:
    """A value is cut to 4,000 characters, and so are the texts of a list together."""
    attributes = report("x", attributes={"a": "v" * length, "l": ["v" * length] * 9}).attributes
    assert len(attributes["a"]) == min(length, 4_000)  # type: ignore[arg-type]
    assert sum(map(len, attributes["l"])) <= 4_000 + 9 * len(CUT)  # type: ignore[arg-type]


@pytest.mark.parametrize("items", [127, 128, 129, 100_000])
def test_long_lists_are_cut(items: int) -> None:
    """A list keeps 128 items, and a mark says that there were more."""
    kept = report("x", attributes={"l": list(range(items))}).attributes["l"]
    assert kept == tuple(range(items)) if items <= 128 else kept == (*map(str, range(128)), CUT)


def test_at_most_100_attributes_are_kept() -> None:
    """Of more than 100 attributes the first ones are kept."""
    assert list(report("x", attributes={str(n): n for n in range(500)}).attributes) == [str(n) for n in range(100)]


def test_a_sensitive_key_masks_any_value() -> None:
    """Numbers and lists under a sensitive key are masked like texts."""
    secret, number = "hunter" + str(2), 12345677 + 1
    record = report("x", attributes={"password": number, "api_key": [secret, secret], "Authorization": 1.5})
    assert str(number) not in repr(record)
    assert secret not in "".join(texts(record._asdict()))


@pytest.mark.parametrize("padding", range(3_900, 4_001, 9))
def test_no_cut_splits_a_secret(padding: int) -> None:
    """A secret across the limit of a container's text, a key or a message is masked before the cut."""
    secret = "CANARY" + "z" * 40
    url = f"https://user:{secret}@host/"
    filler = "." * (padding - 30)
    error = ValueError([filler, url])
    error.__notes__ = [filler + url]  # type: ignore[attr-defined]
    for reported in ({filler: url}, error, [filler + url], ValueError(filler + url, 1)):
        record = report(reported, attributes={"a": filler + url, "." * 180 + url: 1, "l": [filler, url]})
        assert "CANARYz" not in "".join(texts(record._asdict()))


@pytest.mark.parametrize("unit", ["x", " ", "=", "ab "])
def test_a_secret_at_the_end_of_what_was_read_is_dropped(unit: str) -> None:
    """Where only the beginning of a text was read, half a secret at its end doesn't show."""
    secret = "CANARY" + "z" * 40
    for room in range(RAW_TEXT - 60, RAW_TEXT, 7):
        text = (unit * room)[:room] + f" https://user:{secret}@host/"
        record = report(ValueError(text), attributes={"a": text})
        assert "CANARYz" not in "".join(texts(record._asdict()))


def test_context_attributes_are_cut_like_others() -> None:
    """What `errorsink.context` adds keeps the same limits."""
    with errorsink.context(a="v" * 100_000, b=object()):
        record = report("x")
    assert len(record.attributes["a"]) == 4_000  # type: ignore[arg-type]


@pytest.mark.parametrize("now", [0, -1, -(10**20), 4 * 10**18, 10**39, 2**63, 2**64])
def test_clocks_may_be_odd(now: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock before 1970 or far ahead leaves a time that every sink can carry."""
    monkeypatch.setattr("errorsink._capture.time_ns", lambda: now)
    record = report(ValueError("clock"))
    assert record.time_ns == min(max(now, 0), 2**63 - 1)


FIVE = 5


class Odd:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no eq")

    __hash__ = None  # type: ignore[assignment]
    __lt__ = __gt__ = __bool__ = __str__ = __repr__ = __eq__  # type: ignore[assignment]


ODD: list[Any] = [Odd(), FIVE, None, b"error", ["error"], "no such word", "\ud800", 10**5000, Named("error")]


@pytest.mark.parametrize("row", range(len(ODD)))
def test_odd_details_fall_back(row: int) -> None:
    """Level and handling that are none of the words fall back to the defaults; numbers that are none are left out."""
    odd = ODD[row]
    record = report("x", level=odd, handling=odd, fingerprint=odd, owner=odd, attempt=odd, recovered=odd)
    assert (record.level, record.handling) == ("error", "handled")
    assert record.attempt == (5 if odd is FIVE else None)
    assert record.recovered is None


def test_attributes_that_are_too_large_together_are_counted() -> None:
    """A report holds a bounded number of characters, whatever it is given; what is left out is told."""
    given = {f"key {number}": "x" * 16_000 for number in range(20)}
    record = report(ValueError("x"), attributes=given)
    assert list(record.attributes) == ["key 0", "key 1", "key 2", "key 3", "…[cut]"]
    assert record.attributes["…[cut]"] == "16 attributes left out: too large together"
