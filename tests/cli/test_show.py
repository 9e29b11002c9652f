"""Received records as people read them, and as JSON lines."""

from __future__ import annotations

import json
import math

import pytest

from errorsink.cli._show import Display
from errorsink.cli._terminal import Palette
from errorsink.cli.receiver import Received, ReceivedLog, SpanEvent, is_error, json_line
from tests.cli.otlp import LOG, PARENT, REAL_SPAN, SPAN, TRACE

STACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: it broke\n'
ERROR = LOG._replace(
    attributes={
        "errorsink.id": "id-1",
        "exception.type": "ValueError",
        "exception.message": "it broke",
        "exception.stacktrace": STACK,
        "order.id": "A 1",
    }
)


def shown(*records: Received, palette: Palette | None = None) -> list[str]:
    display = Display(palette or Palette(False))
    return [line for record in records for line in display.lines(record)]


def test_a_log_is_shown_whole() -> None:
    """Time, severity, the error, its stack, the attributes, the resource, and where it belongs."""
    assert shown(ERROR) == [
        "2023-11-14 22:13:20.123Z ERROR ValueError: it broke",
        "  │ Traceback (most recent call last):",
        '  │   File "a.py", line 1, in f',
        "  │ ValueError: it broke",
        '  order.id="A 1"',
        "  resource service.name=shop",
        f"  id id-1  trace {TRACE} span {SPAN}",
    ]


def test_the_span_of_a_shown_error_is_short() -> None:
    """The stack isn't printed twice."""
    assert shown(ERROR, REAL_SPAN)[7:] == [
        "2023-11-14 22:13:20.123Z span  report_error ValueError",
        f"  id id-1  trace {TRACE} span {SPAN}",
    ]


def test_a_span_that_comes_first_has_the_stack() -> None:
    """Whichever arrives first tells the whole story."""
    assert "  │ Traceback" in shown(REAL_SPAN)


@pytest.mark.parametrize(
    ("number", "label"),
    [(1, "TRACE"), (5, "DEBUG"), (9, "INFO"), (13, "WARN"), (17, "ERROR"), (21, "FATAL"), (99, "FATAL")],
)
def test_severities_have_names(number: int, label: str) -> None:
    """Numbers are shown as OpenTelemetry names them."""
    assert label in shown(ERROR._replace(severity_number=number))[0].split()


def test_a_log_without_an_exception_shows_its_body() -> None:
    """Any log is readable."""
    assert shown(LOG._replace(attributes={}, severity_number=0, severity_text="notice"))[0].endswith("notice it broke")


FORGED = "x\x1b[2J\r\n2023-11-14 22:13:20.123Z ERROR forged\u2028\u202e"
HOSTILE: list[Received] = [
    ERROR._replace(body=FORGED, attributes={}),
    ERROR._replace(attributes={"exception.type": FORGED, "exception.stacktrace": FORGED, FORGED: FORGED}),
    ERROR._replace(attributes={"errorsink.id": FORGED}, resource={FORGED: [FORGED, {FORGED: FORGED}]}),
    ERROR._replace(severity_number=0, severity_text="\x1b[2J", trace_id="00"),
    REAL_SPAN._replace(name=FORGED, status_message=FORGED, attributes={FORGED: FORGED}),
    REAL_SPAN._replace(events=[SpanEvent("exception", 0, {"exception.message": FORGED, "exception.type": FORGED})]),
]


@pytest.mark.parametrize("record", HOSTILE)
def test_received_text_can_neither_forge_lines_nor_drive_the_terminal(record: Received) -> None:
    """No field lets a sender write outside of its own place."""
    lines = shown(record)
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if "forged" in line and line.startswith("2023")] == [
        line for line in lines[:1] if "forged" in line
    ]


def test_a_huge_stack_is_cut_with_a_mark() -> None:
    """A sender can't fill the screen without end."""
    lines = shown(ERROR._replace(attributes={"exception.stacktrace": "x\n" * 10_000}))
    assert len(lines) < 500
    assert "  │ … 9600 more lines" in lines


@pytest.mark.parametrize("time", [0, 2**64 - 1])
def test_any_time_is_shown(time: int) -> None:
    """Also one that no calendar has."""
    assert shown(LOG._replace(time_unix_nano=time, observed_time_unix_nano=time))


def test_colours_wrap_what_is_ours_alone() -> None:
    """Colour codes never come from a record."""
    coloured = "\n".join(shown(HOSTILE[1], palette=Palette(True)))
    assert "\x1b[31;1mERROR\x1b[0m" in coloured
    assert "\x1b[2J" not in coloured


def test_a_json_line_carries_every_field() -> None:
    """The line's fields are the record's, with the signal in front."""
    fields = json.loads(json_line(LOG))
    assert fields.pop("signal") == "log"
    assert list(fields) == list(ReceivedLog._fields)
    assert fields["attributes"]["whole"] == -(2**63)
    assert fields["attributes"]["raw"] == {"bytes": "AP8="}
    assert fields["scope"] == {"name": "errorsink", "version": "1", "attributes": {"s": 1}}


def test_a_span_is_a_json_line_with_events_and_links() -> None:
    """Events and links are objects."""
    fields = json.loads(json_line(REAL_SPAN))
    assert fields["signal"] == "span"
    assert fields["links"] == [{"trace_id": TRACE, "span_id": PARENT, "attributes": {"l": 1}}]
    assert fields["events"][0]["name"] == "exception"


@pytest.mark.parametrize("record", HOSTILE)
def test_a_json_line_is_one_line_of_printable_ascii(record: Received) -> None:
    """It can be printed anywhere."""
    line = json_line(record)
    assert line.isascii()
    assert line.isprintable()


def test_numbers_that_json_lacks_are_strings() -> None:
    """Every line is valid JSON."""
    line = json_line(LOG._replace(attributes={"v": [math.nan, math.inf, -math.inf, 1.5]}, body="\x7f"))
    assert json.loads(line)["attributes"]["v"] == ["NaN", "Infinity", "-Infinity", 1.5]
    assert "\x7f" not in line


PLAIN_LOG = LOG._replace(attributes={}, severity_number=9)
PLAIN_SPAN = REAL_SPAN._replace(attributes={}, status_code=1, events=[])


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (PLAIN_LOG, False),
        (PLAIN_LOG._replace(severity_number=13), True),
        (PLAIN_LOG._replace(attributes={"exception.type": "E"}), True),
        (PLAIN_LOG._replace(attributes={"errorsink.id": "x"}), True),
        (PLAIN_SPAN, False),
        (PLAIN_SPAN._replace(status_code=2), True),
        (PLAIN_SPAN._replace(events=[SpanEvent("exception", 0, {})]), True),
        (PLAIN_SPAN._replace(attributes={"errorsink.id": "x"}), True),
    ],
)
def test_errors_are_told_from_the_rest(record: Received, error: bool) -> None:
    """An error is what says that it is one."""
    assert is_error(record) is error
