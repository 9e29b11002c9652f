"""Settings: one table, clear refusals."""

from __future__ import annotations

import pytest

import errorsink
from errorsink import ConfigurationError
from errorsink._settings import TABLE, Settings

BAD_NUMBERS = ["10k", "-1", "0x10", "1_000", "1e9", "inf", "nan", "\u0661\u0662", "9" * 5000, "1.5", "ten"]


def load(**env: str) -> tuple[Settings, list[str]]:
    return Settings.load(env, {})


@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_a_bad_number_leaves_the_default_and_says_so(value: str) -> None:
    """One sentence with the variable, what is allowed and what was given, cut where it is long."""
    settings, problems = load(ERRORSINK_QUEUE_SIZE=value)
    assert settings.queue_size == 4096
    assert len(problems) == 1
    assert problems[0].startswith("ERRORSINK_QUEUE_SIZE: expected a whole number from 1 to 1,000,000, got '")
    assert len(problems[0]) < 250


def test_the_sentence_reads_as_promised() -> None:
    _, problems = load(ERRORSINK_QUEUE_SIZE="10k")
    assert problems == [
        "ERRORSINK_QUEUE_SIZE: expected a whole number from 1 to 1,000,000, got '10k'; using 4096",
    ]


@pytest.mark.parametrize(("value", "size"), [("1", 1), (" 5000 ", 5000), ("1000000", 1_000_000)])
def test_a_good_number_counts(value: str, size: int) -> None:
    assert load(ERRORSINK_QUEUE_SIZE=value)[0].queue_size == size


@pytest.mark.parametrize("value", ["", " ", "\t"])
def test_an_empty_variable_is_an_unset_one(value: str) -> None:
    settings, problems = load(ERRORSINK_QUEUE_SIZE=value, OTEL_EXPORTER_OTLP_TIMEOUT=value)
    assert (settings.queue_size, problems) == (4096, [])


@pytest.mark.parametrize(
    ("value", "disabled"),
    [("true", True), ("TRUE", True), (" true ", True), ("1", False), ("yes", False), ("false", False), ("tru", False)],
)
def test_only_true_disables_opentelemetry(value: str, disabled: bool) -> None:
    """The specification's own rule, other than ours."""
    assert load(OTEL_SDK_DISABLED=value)[0].values["otel_sdk_disabled"] is disabled


@pytest.mark.parametrize(
    ("value", "switch"), [("1", True), ("on", True), ("0", False), ("No", False), ("auto", None), ("", None)]
)
def test_a_switch_has_three_positions(value: str, switch: bool | None) -> None:
    assert load(ERRORSINK_DATADOG=value)[0].datadog is switch


@pytest.mark.parametrize("value", ["ftp://h", "127.0.0.1:4318", "http://", "http://h o", "http:///"])
def test_a_bad_endpoint_is_named(value: str) -> None:
    settings, problems = load(OTEL_EXPORTER_OTLP_ENDPOINT=value)
    assert settings.values["otel_exporter_otlp_endpoint"] is None
    assert problems[0].startswith("OTEL_EXPORTER_OTLP_ENDPOINT: expected an http:// or https:// URL, got ")


def test_an_unknown_protocol_is_named_with_the_known_ones() -> None:
    _, problems = load(OTEL_EXPORTER_OTLP_PROTOCOL="http/json")
    assert problems == ["OTEL_EXPORTER_OTLP_PROTOCOL: expected one of grpc, http/protobuf, got 'http/json'; ignored"]


def test_a_refusal_never_shows_a_secret() -> None:
    """Neither a key nor a header list nor the password of a URL."""
    secret = "canary" + "0123456789"
    _, problems = load(
        DD_API_KEY=f"{secret} x",
        DD_APP_KEY=f"{secret}\n{secret}",
        ERRORSINK_DATADOG_URL=f"ftp://user:{secret}@host/",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"user:{secret}@host",
    )
    assert len(problems) == 4
    assert secret not in " ".join(problems)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_row_is_documented_and_reachable_by_its_name(name: str) -> None:
    row = TABLE[name]
    assert row.env.lower().removeprefix("errorsink_") == name
    assert row.doc.endswith(".")
    assert row.expects


def test_code_overrides_the_environment() -> None:
    settings, problems = Settings.load({"ERRORSINK_QUEUE_SIZE": "7"}, {"queue_size": 9})
    assert (settings.queue_size, problems) == (9, [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"queue_size": "10k"}, "configure(queue_size=…): expected a whole number from 1 to 1,000,000, got '10k'"),
        ({"queue_size": 0}, "configure(queue_size=…): expected a whole number from 1 to 1,000,000, got 0"),
        ({"queue_size": True}, "configure(queue_size=…): expected a whole number from 1 to 1,000,000, got True"),
        ({"redact_keys": 5}, "configure(redact_keys=…): expected a comma-separated list, got 5"),
        ({"shutdown_timeout": -1}, "configure(shutdown_timeout=…): expected seconds from 0 to 60, got -1"),
    ],
)
def test_configure_refuses_what_cant_be_used(given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        errorsink.configure(**given)
    assert str(caught.value) == message


def test_configure_refuses_an_unknown_name_and_tells_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"configure\(queue_sise=…\): unknown setting; known are .*queue_size"):
        errorsink.configure(queue_sise=1)


def test_a_refused_call_changes_nothing() -> None:
    errorsink.configure(disable_error_reporting=True)
    with pytest.raises(ConfigurationError):
        errorsink.configure(queue_size="x", disable_error_reporting=False)
    assert errorsink.report_error(ValueError("x")).reason == "disabled"


@pytest.mark.parametrize("given", [{"redact_disable": ["no-such-kind"]}, {"redact_keys": [""] * 0 + ["?"]}])
def test_configure_refuses_redaction_that_cant_work(given: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="redaction"):
        errorsink.configure(**given)
