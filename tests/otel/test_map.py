"""A record in OpenTelemetry's words."""

from __future__ import annotations

from typing import Any

import pytest
from errorsink_otel import _map

from tests.otel.samples import EXCEPTION_ATTRIBUTES, NOW_NS, OWN_ATTRIBUTES, RECORD, record


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (17, "ERROR")),
        ({"level": "warning"}, (13, "WARN")),
        ({"level": "info"}, (9, "INFO")),
        ({"level": "debug"}, (5, "DEBUG")),
        ({"level": "critical"}, (21, "FATAL")),
        ({"handling": "uncaught_exception"}, (21, "FATAL")),
        ({"handling": "uncaught_exception", "main_thread": False}, (17, "ERROR")),
        ({"handling": "unhandled_rejection"}, (17, "ERROR")),
        ({"control_flow": True}, (5, "DEBUG")),
        ({"control_flow": True, "handling": "uncaught_exception"}, (5, "DEBUG")),
    ],
)
def test_severity(fields: dict[str, Any], expected: tuple[int, str]) -> None:
    """FATAL ends the main thread, WARN is a warning, control flow is DEBUG, all else ERROR."""
    assert _map.severity(record(**fields)) == expected


def test_log_attributes() -> None:
    """A log has the exception, the place, the thread, errorsink's own and the user's attributes, and no others."""
    assert _map.log_attributes(RECORD) == {**OWN_ATTRIBUTES, **EXCEPTION_ATTRIBUTES, **RECORD.attributes}


def test_span_attributes() -> None:
    """A span has the same but for the exception's own, which belong to its event."""
    assert _map.span_attributes(RECORD) == {**OWN_ATTRIBUTES, **RECORD.attributes}


def test_event_attributes() -> None:
    """The event has the exception's type, message and stack."""
    assert _map.event_attributes(RECORD) == EXCEPTION_ATTRIBUTES


@pytest.mark.parametrize("name", [*OWN_ATTRIBUTES, *EXCEPTION_ATTRIBUTES])
def test_own_attributes_win(name: str) -> None:
    """A user's attribute never replaces one of ours."""
    attributes = _map.log_attributes(record(attributes={name: "forged"}))
    assert attributes[name] == {**OWN_ATTRIBUTES, **EXCEPTION_ATTRIBUTES}[name]


def test_user_attributes_are_dropped_first() -> None:
    """The user's stand first, since a provider with a limit drops the oldest."""
    assert list(_map.log_attributes(RECORD))[: len(RECORD.attributes)] == list(RECORD.attributes)


def test_absent_facts_are_left_out() -> None:
    """What a record doesn't have is no attribute, not an empty one."""
    bare = record(
        frames=(), code=None, owner=None, attempt=None, recovered=None, thread_id=0, thread_name="", attributes={}
    )
    assert set(_map.span_attributes(bare)) == {
        "error.type",
        "errorsink.id",
        "errorsink.handling",
        "errorsink.fingerprint",
    }


def test_previous_report() -> None:
    """A report that follows an earlier one of the same object names it."""
    assert _map.span_attributes(record(previous_id="p-1"))["errorsink.previous_id"] == "p-1"


def test_merged_reports() -> None:
    """A record that stands for several says how many, and when the last one was."""
    attributes = _map.span_attributes(record(repeat_count=3, last_time_ns=NOW_NS + 1_000_000_000))
    assert attributes["errorsink.repeat_count"] == 3
    assert attributes["errorsink.last_time"] == "2023-11-14T22:13:21.123456Z"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (NOW_NS, None, (NOW_NS, NOW_NS)),
        (NOW_NS, NOW_NS + 5, (NOW_NS, NOW_NS + 5)),
        (NOW_NS, NOW_NS - 5, (NOW_NS, NOW_NS)),
        (-1, None, (0, 0)),
        (10**39, None, (2**63 - 1, 2**63 - 1)),
    ],
)
def test_times(first: int, last: int | None, expected: tuple[int, int]) -> None:
    """Times stay in order, and inside what protobuf and backends can hold, on odd clocks too."""
    assert _map.times(record(time_ns=first, last_time_ns=last)) == expected


def test_parent() -> None:
    """The caller's span as numbers."""
    assert _map.parent(RECORD) == (0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, 1)


@pytest.mark.parametrize("fields", [{"trace_id": None}, {"span_id": None}, {"trace_id": "0" * 32}])
def test_no_parent(fields: dict[str, Any]) -> None:
    """Without an active span, or with an invalid one, there is no parent."""
    assert _map.parent(record(**fields)) is None


def test_ids_are_the_records() -> None:
    """The same record always gives the same ids, another one others."""
    assert _map.new_ids(RECORD) == _map.new_ids(record(message="other"))
    assert _map.new_ids(RECORD) != _map.new_ids(record(id="018bcfe5-6800-7abc-8def-0123456789ac"))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, "\ud800", None, object(), {"a": 1}, ["\udfff"], [2**63]])
def test_unencodable_attributes(value: Any) -> None:
    """What protobuf can't hold is found while one record is prepared, not when its batch is sent."""
    with pytest.raises((ValueError, TypeError)):
        _map.check((), {"key": value})


def test_unencodable_text() -> None:
    """A lone surrogate is found likewise."""
    with pytest.raises(UnicodeEncodeError):
        _map.check(("half \ud83d",), {})


def test_size_counts_bytes() -> None:
    """The size is of encoded bytes, not of characters."""
    assert _map.check(("\u4e2d" * 1000,), {}) - _map.check(("a" * 1000,), {}) == 2000
