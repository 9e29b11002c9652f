"""What a record becomes on Datadog's wire."""

from __future__ import annotations

import pytest
from errorsink_datadog._envelope import encode, envelope
from errorsink_datadog._resource import Resource

from errorsink.model import Frame
from tests.datadog.samples import NOW_MS, RECORD, RESOURCE, STACK, record, strictly


def test_the_whole_log() -> None:
    """A record becomes one log with the reserved attributes at the top and the user's own under ctx."""
    assert envelope(RECORD, RESOURCE, NOW_MS) == {
        "ddsource": "python",
        "ddtags": "env:prod,version:1.2.3",
        "hostname": "host-1",
        "service": "shop",
        "status": "error",
        "timestamp": NOW_MS,
        "message": "card declined",
        "error": {
            "kind": "shop.payment.PaymentError",
            "message": "card declined",
            "stack": STACK,
            "fingerprint": "9f86d081884c7d65",
            "handling": "handled",
            "code": "ECONNRESET",
            "causes": [
                {
                    "type": "ConnectionResetError",
                    "message": "reset by peer",
                    "stack": "Traceback…\nConnectionResetError: reset by peer\n",
                }
            ],
        },
        "frames": [
            {
                "function": "checkout",
                "module": "shop.checkout",
                "file": "/srv/shop/checkout.py",
                "line": 40,
                "in_app": True,
            },
            {
                "function": "pay",
                "module": "shop.payment",
                "file": "/srv/shop/payment.py",
                "line": 17,
                "in_app": True,
            },
        ],
        "top_frame": "shop.payment:pay:17",
        "errno": "ECONNRESET",
        "entrypoint": "shop-web",
        "model": "claude",
        "provider": "anthropic",
        "errorsink": {"id": RECORD.id, "owner": "queue", "attempt": 2, "recovered": True},
        "logger": {"name": "errorsink", "thread_name": "MainThread"},
        "dd.trace_id": "9532127138774266268",
        "dd.span_id": "13235353014750950193",
        "otel.trace_id": "0af7651916cd43dd8448eb211c80319c",
        "otel.span_id": "b7ad6b7169203331",
        "ctx": {"order.id": 17, "customer": "c-1", "amount": 12.5, "vip": True, "items": ["a", "b"]},
    }


def test_encode_is_the_envelope_in_json() -> None:
    """The fast encoder, which keeps the frames' JSON, says the same as the plain dictionary."""
    assert strictly(encode(RECORD, RESOURCE, NOW_MS)) == envelope(RECORD, RESOURCE, NOW_MS)


def test_only_what_is_known_is_there() -> None:
    """A record without code, causes, trace or attributes has none of their fields."""
    bare = type(RECORD)("id", NOW_MS * 10**6, "ValueError", "x", "stack", "f")

    log = envelope(bare, RESOURCE, NOW_MS)

    assert set(log) == {
        *("ddsource", "ddtags", "hostname", "service", "status", "timestamp", "message", "error", "frames", "errorsink")
    }
    assert set(log["error"]) == {"kind", "message", "stack", "fingerprint", "handling"}


@pytest.mark.parametrize(
    ("level", "status"),
    [("debug", "debug"), ("info", "info"), ("warning", "warn"), ("error", "error"), ("critical", "critical")],
)
def test_status_follows_the_level(level: str, status: str) -> None:
    """Each level has a status that Datadog knows; it would take any other word for info."""
    assert envelope(record(level=level), RESOURCE, NOW_MS)["status"] == status


def test_an_error_that_ends_the_program_is_an_emergency() -> None:
    """An uncaught exception of the main thread has the status that Datadog gives OpenTelemetry's FATAL."""
    changed = record(handling="uncaught_exception", main_thread=True)

    assert envelope(changed, RESOURCE, NOW_MS)["status"] == "emergency"


def test_an_error_that_ends_another_thread_is_an_error() -> None:
    """An uncaught exception of any other thread leaves the program running."""
    changed = record(handling="uncaught_exception", main_thread=False)

    assert envelope(changed, RESOURCE, NOW_MS)["status"] == "error"


def test_control_flow_is_debug() -> None:
    """Where the filter is off, a cancellation arrives below the level that Error Tracking takes."""
    assert envelope(record(control_flow=True), RESOURCE, NOW_MS)["status"] == "debug"


def test_an_empty_message_shows_the_type() -> None:
    """Datadog wants a message; the error's own stays as it was."""
    log = envelope(record(message=""), RESOURCE, NOW_MS)

    assert (log["message"], log["error"]["message"]) == ("shop.payment.PaymentError", "")


@pytest.mark.parametrize(
    ("entrypoint", "service"), [("shop-web", "shop-web"), (None, "python"), ("no name!\n", "other")]
)
def test_service_without_a_setting(entrypoint: str | None, service: str) -> None:
    """Error Tracking wants a service: without a setting it is the program's name."""
    log = envelope(record(entrypoint=entrypoint), Resource("", "h", ""), NOW_MS)

    assert log["service"] == service


@pytest.mark.parametrize("field", ["type", "errno", "top_frame", "entrypoint", "model", "provider"])
@pytest.mark.parametrize("value", ["a b", "x\n", "'; drop", "\u2028", "n" * 201])
def test_names_pass_a_strict_pattern(field: str, value: str) -> None:
    """A name that isn't one becomes `other`."""
    log = envelope(record(**{field: value}), RESOURCE, NOW_MS)

    assert (log["error"]["kind"] if field == "type" else log[field]) == "other"


@pytest.mark.parametrize("name", ["ValueError", "shop.checkout.<locals>.Überfall", "pkg.mod:func:12", "claude-4@eu/x"])
def test_usual_names_pass(name: str) -> None:
    """Qualified names, nested classes, frames and model names stay as they are."""
    log = envelope(record(type=name, model=name, top_frame=name), RESOURCE, NOW_MS)

    assert (log["error"]["kind"], log["model"], log["top_frame"]) == (name, name, name)


@pytest.mark.parametrize("name", ["status", "service", "error", "message", "ddtags", "host", "timestamp", "dd.span_id"])
def test_an_attribute_cannot_take_a_reserved_name(name: str) -> None:
    """What the user gives stands under ctx, and changes nothing else."""
    plain = envelope(record(attributes={}), RESOURCE, NOW_MS)

    log = envelope(record(attributes={name: "mine"}), RESOURCE, NOW_MS)

    assert log == {**plain, "ctx": {name: "mine"}}


@pytest.mark.parametrize(
    ("hours", "sent_hours"), [(0, 0), (-17, -17), (-72, -17), (-500_000, -17), (1, 1), (3, 1), (9_999_999, 1)]
)
def test_timestamps_stay_in_what_the_intake_takes(hours: int, sent_hours: int) -> None:
    """A record from the spool, or of a wrong clock, is sent with a time that isn't dropped, beside its own."""
    hour = 3_600_000
    changed = record(time_ns=(NOW_MS + hours * hour) * 1_000_000)

    log = envelope(changed, RESOURCE, NOW_MS)

    assert log["timestamp"] == NOW_MS + sent_hours * hour
    assert log["errorsink"].get("time", log["timestamp"]) == NOW_MS + hours * hour


def test_merged_reports() -> None:
    """A record that stands for several says how many, and when the last was."""
    log = envelope(record(repeat_count=7, last_time_ns=NOW_MS * 10**6 + 5_000_000), RESOURCE, NOW_MS)

    assert (log["errorsink"]["repeat_count"], log["errorsink"]["last_time"]) == (7, NOW_MS + 5)


def test_an_uncaught_error_names_its_earlier_report() -> None:
    """The id of the earlier report of the same object goes along."""
    assert envelope(record(previous_id="p"), RESOURCE, NOW_MS)["errorsink"]["previous_id"] == "p"


@pytest.mark.parametrize(("trace", "span"), [(None, None), ("0af7651916cd43dd8448eb211c80319c", None), ("zz", "b7")])
def test_no_trace_without_both_ids(trace: str | None, span: str | None) -> None:
    """Half an identity, or one that isn't hexadecimal, is left out."""
    log = envelope(record(trace_id=trace, span_id=span), RESOURCE, NOW_MS)

    assert not [name for name in log if name.endswith(("trace_id", "span_id"))]


def test_the_trace_id_is_the_low_half() -> None:
    """Datadog's id is the decimal of the low 64 bits; OpenTelemetry's keeps all digits."""
    log = envelope(record(trace_id="f" * 16 + "0" * 15 + "1", span_id="0" * 15 + "a"), RESOURCE, NOW_MS)

    assert (log["dd.trace_id"], log["dd.span_id"]) == ("1", "10")


def test_frames_of_other_records_are_not_mixed_up() -> None:
    """The kept JSON of frames belongs to equal frames alone."""
    other = (Frame("pay", "shop.payment", "/srv/shop/payment.py", 18, True),)

    encode(RECORD, RESOURCE, NOW_MS)
    log = strictly(encode(record(frames=other), RESOURCE, NOW_MS))

    assert [frame["line"] for frame in log["frames"]] == [18]
