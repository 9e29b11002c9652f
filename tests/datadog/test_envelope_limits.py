"""The envelope's limits, and the strictness of its JSON."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from errorsink_datadog._envelope import MAX_LOG, encode, envelope
from errorsink_datadog._resource import Resource
from hypothesis import given, settings
from hypothesis import strategies as st

from errorsink.model import Cause, ErrorRecord, Frame
from tests.datadog.samples import NOW_MS, RECORD, RESOURCE, record, strictly

WIDE = "\U0001f600"
CONTROL = "\x01"


class Color(enum.IntEnum):
    RED = 3


def sent(attributes: dict[str, Any]) -> Any:
    """What arrives of attributes."""
    return strictly(encode(record(attributes=attributes), RESOURCE, NOW_MS))["ctx"]


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        ([1.5, float("nan")], [1.5, "nan"]),
        pytest.param(10**5000, "<an integer of more than 64 bits>", id="an integer of 5,000 digits"),
        (Color.RED, 3),
        (object(), "<object>"),
        (None, None),
        ({"a": {"b": object()}}, {"a": {"b": "<object>"}}),
        ("half \ud83d emoji", "half \ufffd emoji"),
        (["\udc80"], ["\ufffd"]),
    ],
)
def test_what_json_cannot_say(value: object, arrives: object) -> None:
    """A value that slipped through the core goes out as text, and takes nothing else with it."""
    assert sent({"odd": value, "good": 1}) == {"odd": arrives, "good": 1}


@pytest.mark.parametrize("field", ["message", "stack", "fingerprint", "code", "thread_name", "owner", "id"])
def test_surrogates_in_any_text(field: str) -> None:
    """The bytes are strict UTF-8 whatever field a lone surrogate is in."""
    text = encode(record(**{field: "a\ud800b"}), RESOURCE, NOW_MS).decode()

    assert "a\ufffdb" in text


def test_surrogates_in_frames_causes_and_keys() -> None:
    """Also in the nested parts, the frames among them."""
    bad = "\udfff"
    changed = record(frames=(Frame(bad, bad, bad, None, False),), causes=(Cause("E", bad, bad),), attributes={bad: 1})

    log = strictly(encode(changed, RESOURCE, NOW_MS))

    assert log["frames"][0]["file"] == log["error"]["causes"][0]["stack"] == next(iter(log["ctx"])) == "\ufffd"


def test_a_nested_value_without_end() -> None:
    """A list that holds itself ends at a bounded depth."""
    loop: list[Any] = [1]
    loop.append(loop)

    assert sent({"loop": loop})["loop"][0] == 1


@pytest.mark.parametrize("size", [3_999, 4_000])
def test_a_message_within_its_limit_is_whole(size: int) -> None:
    """4,000 characters pass untouched, however wide."""
    assert envelope(record(message=WIDE * size), RESOURCE, NOW_MS)["error"]["message"] == WIDE * size


@pytest.mark.parametrize(("field", "limit"), [("message", 4_000), ("stack", 16_000)])
def test_a_text_over_its_limit_is_cut_in_the_middle(field: str, limit: int) -> None:
    """Cut to the limit with the mark inside it; start and end stay."""
    text = envelope(record(**{field: "a" + WIDE * limit + "z"}), RESOURCE, NOW_MS)["error"][field]

    assert (len(text), text[0], text[-1], text.count("…")) == (limit, "a", "z", 1)


def test_no_more_than_20_frames() -> None:
    """The 3 outermost and the 17 innermost stay."""
    frames = tuple(Frame("f", "m", "f.py", line, True) for line in range(50))

    lines = [frame["line"] for frame in envelope(record(frames=frames), RESOURCE, NOW_MS)["frames"]]

    assert lines == [0, 1, 2, *range(33, 50)]


def test_no_more_than_5_causes() -> None:
    """The nearest stay."""
    causes = tuple(Cause("E", str(depth), "") for depth in range(9))

    kept = envelope(record(causes=causes), RESOURCE, NOW_MS)["error"]["causes"]

    assert [cause["message"] for cause in kept] == ["0", "1", "2", "3", "4"]


def test_no_more_than_100_attributes() -> None:
    """Datadog takes fewer than 256 in all."""
    assert len(sent({f"key{number}": number for number in range(300)})) == 100


def test_keys_are_shorter_than_50() -> None:
    """A long key is cut with a mark; of two that become one the first stays."""
    assert sent({"k" * 49: 0, "k" * 60 + "1": 1, "k" * 60 + "2": 2}) == {"k" * 49: 0, "k" * 48 + "…": 1}


def test_small_logs_are_not_cut() -> None:
    """The mark of a cut is there only where something was."""
    assert "cut" not in strictly(encode(RECORD, RESOURCE, NOW_MS))["errorsink"]


def test_long_attributes_are_shortened_before_they_are_left_out() -> None:
    """Of a log over 1 MB the attributes go first, and only as far as they must."""
    log = strictly(encode(record(attributes={"dump": "x" * 2_000_000, "n": 1}), RESOURCE, NOW_MS))

    assert len(log["ctx"]["dump"]) == 4_000
    assert (log["ctx"]["n"], log["errorsink"]["cut"], log["error"]["stack"]) == (1, True, RECORD.stack)


def test_many_long_attributes_are_left_out() -> None:
    """Where shorter ones are still too many bytes, all of them go."""
    lists: dict[str, Any] = {f"key{number}": [CONTROL * 300] * 20 for number in range(100)}

    log = strictly(encode(record(attributes=lists), RESOURCE, NOW_MS))

    assert "ctx" not in log
    assert log["error"]["stack"] == RECORD.stack


def huge(character: str, size: int) -> ErrorRecord:
    """A record that is far too large in every field."""
    text = character * size
    return record(
        message=text,
        stack=text,
        code=text,
        fingerprint=text,
        thread_name=text,
        owner=text,
        previous_id=text,
        frames=tuple(Frame(text, text, text, line, True) for line in range(40)),
        causes=tuple(Cause(text, text, text) for _ in range(9)),
        attributes={f"{number}{text}": text for number in range(200)},
    )


@pytest.mark.parametrize("character", ["a", "中", WIDE, CONTROL, '"', "\ud800", "\x00"])
def test_no_log_is_larger_than_1_mb(character: str) -> None:
    """Whatever the record holds: message and stack stay at their limits, and the log arrives whole."""
    tags = ",".join(["é" * 255] * 100)

    data = encode(huge(character, 20_000), Resource("s", "h", tags), NOW_MS)

    log = strictly(data)
    assert len(data) <= MAX_LOG
    assert (len(log["error"]["message"]), len(log["error"]["stack"]), log["ddtags"]) == (4_000, 16_000, tags)


TEXTS = st.text(st.characters(), max_size=40)
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats() | st.booleans() | st.none() | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(message=TEXTS, stack=TEXTS, attributes=st.dictionaries(TEXTS, VALUES, max_size=6))
def test_any_record_is_strict_json(message: str, stack: str, attributes: dict[str, Any]) -> None:
    """Whatever texts and values a record holds, its log is one strict JSON object of a bounded size."""
    data = encode(record(message=message, stack=stack, attributes=attributes), RESOURCE, NOW_MS)

    assert strictly(data)["errorsink"]["id"] == RECORD.id
