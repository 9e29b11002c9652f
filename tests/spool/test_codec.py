"""ErrorRecord ⇄ JSON: exact, strict, tolerant between versions."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errorsink._spool_codec import READERS, decode, encode
from errorsink.model import Cause, ErrorRecord, Frame, Handling, Level
from tests.spool.records import make_record

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""

TEXT = st.text(max_size=30)
WHOLE = st.integers(-(2**63), 2**63 - 1)
SCALARS = (TEXT, st.booleans(), WHOLE, st.floats())
VALUES = st.one_of(
    *SCALARS,
    *(st.lists(each, max_size=3) for each in SCALARS),
    *(st.lists(each, max_size=3).map(tuple) for each in SCALARS),
)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


RECORDS = st.builds(
    ErrorRecord,
    id=TEXT,
    time_ns=WHOLE,
    type=TEXT,
    message=TEXT,
    stack=TEXT,
    fingerprint=TEXT,
    frames=st.lists(st.builds(Frame, TEXT, TEXT, TEXT, _maybe(WHOLE), st.booleans()), max_size=3).map(tuple),
    causes=st.lists(st.builds(Cause, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    code=_maybe(TEXT),
    errno=_maybe(TEXT),
    top_frame=_maybe(TEXT),
    level=st.sampled_from(get_args(Level)),
    handling=st.sampled_from(get_args(Handling)),
    control_flow=st.booleans(),
    pid=WHOLE,
    thread_id=WHOLE,
    thread_name=TEXT,
    main_thread=st.booleans(),
    trace_id=_maybe(TEXT),
    span_id=_maybe(TEXT),
    trace_flags=WHOLE,
    attributes=st.dictionaries(TEXT, VALUES, max_size=4),
    owner=_maybe(TEXT),
    attempt=_maybe(WHOLE),
    recovered=_maybe(st.booleans()),
    previous_id=_maybe(TEXT),
    entrypoint=_maybe(TEXT),
    model=_maybe(TEXT),
    provider=_maybe(TEXT),
    repeat_count=WHOLE,
    last_time_ns=_maybe(WHOLE),
)
OPTIONAL = sorted(ErrorRecord._field_defaults)
REQUIRED = [name for name in ErrorRecord._fields if name not in ErrorRecord._field_defaults]


def fields_of(record: ErrorRecord) -> dict[str, Any]:
    """The JSON object of a record, to be changed and decoded again."""
    fields: dict[str, Any] = json.loads(encode(record))
    return fields


def refuse(constant: str) -> Any:
    """For `json.loads`: NaN and its kin are no JSON."""
    raise AssertionError(constant)


@UNHURRIED
@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: ErrorRecord) -> None:
    """Every field of every type, NaN and the kind of each sequence included."""
    assert repr(decode(encode(record))) == repr(record)


@UNHURRIED
@given(RECORDS)
def test_the_bytes_are_strict_json(record: ErrorRecord) -> None:
    """Any JSON reader takes them: UTF-8, no NaN, no Infinity."""
    assert json.loads(encode(record).decode(), parse_constant=refuse)["id"] == record.id


def test_each_field_has_a_reader() -> None:
    """A field that the model gains can't be forgotten here."""
    assert tuple(READERS) == ErrorRecord._fields


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_missing_field_gets_its_default(name: str) -> None:
    """An older version didn't know it."""
    fields = fields_of(make_record("a"))
    del fields[name]
    assert getattr(decode(json.dumps(fields).encode()), name) == ErrorRecord._field_defaults[name]


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_value_of_another_kind_gets_the_default(name: str) -> None:
    """A later version may have changed it; the rest of the record is still good."""
    fields = fields_of(make_record("a")) | {name: {"later": {}}}
    assert getattr(decode(json.dumps(fields).encode()), name) == ErrorRecord._field_defaults[name]


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("change", ["missing", "other kind"])
def test_what_makes_a_record_must_be_there(name: str, change: str) -> None:
    """Without it there is nothing to send, and the error names the field."""
    fields = fields_of(make_record("a")) | {name: None}
    if change == "missing":
        del fields[name]
    with pytest.raises(ValueError, match=name):
        decode(json.dumps(fields).encode())


def test_unknown_fields_are_passed_over() -> None:
    """A later version may have added some, also at the end of frames and causes."""
    record = make_record("a")
    fields = fields_of(record) | {"later": [1]}
    fields["frames"][0].append("column 7")
    fields["causes"][0].append("later")
    assert decode(json.dumps(fields).encode()) == record


@pytest.mark.parametrize("name", ["level", "handling"])
def test_an_unknown_word_becomes_the_default(name: str) -> None:
    """A later version may know more of them."""
    fields = fields_of(make_record("a")._replace(level="debug")) | {name: "apocalyptic"}
    assert getattr(decode(json.dumps(fields).encode()), name) == ErrorRecord._field_defaults[name]


def test_an_unknown_kind_of_attribute_is_passed_over_alone() -> None:
    """The other attributes stay."""
    fields = fields_of(make_record("a")) | {
        "attributes": {"a": 1, "b": {"bytes": "AA=="}, "c": None, "d": [{}], "e": 2}
    }
    assert decode(json.dumps(fields).encode()).attributes == {"a": 1, "e": 2}


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"{", b"[]", b"null", b"NaN", b'{"id": NaN}', b"[" * 100_000, b'{"a":' * 900, b"9" * 5_000],
    ids=lambda body: repr(body[:10]),
)
def test_what_is_no_record_is_a_value_error(body: bytes) -> None:
    """Whatever the disk holds, it is one kind of error."""
    with pytest.raises(ValueError):
        decode(body)


def test_deeply_nested_attributes_are_a_value_error() -> None:
    """A record that was made to exhaust the stack doesn't."""
    nested = "[" * 900 + "]" * 900
    body = json.dumps(fields_of(make_record("a")) | {"attributes": {"a": "…"}}).replace('"\\u2026"', nested)
    with pytest.raises(ValueError, match="deeply"):
        deep(600, lambda: decode(body.encode()))


def deep(frames: int, call: Any) -> Any:
    """Calls with that many frames of the stack already used."""
    return call() if frames == 0 else deep(frames - 1, call)


def test_a_lone_surrogate_survives() -> None:
    """The model rules it out, and still it costs nobody the record."""
    record = make_record("a")._replace(message="a\ud800b")
    assert decode(encode(record)) == record


@pytest.mark.parametrize("value", [object(), b"bytes", {1}, [object()]], ids=lambda value: type(value).__name__)
def test_what_the_model_rules_out_is_refused(value: Any) -> None:
    """A value that would come back as something else isn't written."""
    with pytest.raises(TypeError):
        encode(make_record("a")._replace(attributes={"a": value}))


def test_no_float_is_written_that_json_lacks() -> None:
    """NaN and the infinities have a form of their own."""
    record = make_record("a")._replace(attributes={"a": math.inf, "b": [-math.inf]})
    assert fields_of(record)["attributes"] == {"a": {"float": "inf"}, "b": [{"float": "-inf"}]}
