"""A secret in any place of a report, at any offset, is nowhere afterwards: not in the ring, on a wire or on stderr."""

from __future__ import annotations

import re
from typing import Iterator, Mapping

import pytest

import errorsink
from tests.collectors.faults import ACCEPTED
from tests.collectors.faulty import FaultyServer

CANARY = "CANARY" + "".join(chr(ord("a") + number * 7 % 26) for number in range(40))
PIECES = [CANARY[start : start + 8] for start in range(len(CANARY) - 7)]
AROUND = 60
"""Offsets tried on each side of a limit: more than the secret and what announces it are long."""
LIMITS = (4_000, 16_000)
PLACES = ("message", "note", "cause", "attribute", "attribute key", "group", "path", "url")
PATIENCE = 60.0


def fail(place: str, text: str) -> None:
    """Raises an error, or reports one, that has the text in this place."""
    if place == "note":
        error: BaseException = ValueError("noted")
        error.__notes__ = [text]  # type: ignore[attr-defined, unused-ignore]
        raise error
    if place == "cause":
        raise ValueError("outer") from KeyError(text)
    if place == "group":
        kind = getattr(__import__("builtins"), "ExceptionGroup", None)
        raise ValueError(text) if kind is None else kind("several", [ValueError(text)])
    if place == "path":
        exec(compile("raise ValueError('from a file')", f"/srv/{text}/m.py", "exec"), {})
    if place == "url":
        raise ValueError(text.replace("password=", "https://user:").replace(" after", "@host/ after"))
    raise ValueError(text if place == "message" else "plain")


def report(place: str, text: str) -> None:
    given: dict[str, Mapping[str, object]] = {"attribute": {"note": text}, "attribute key": {text: 1}}
    try:
        fail(place, text)
    except BaseException as error:
        errorsink.report_error(error, attributes=given.get(place))


@pytest.fixture
def intake() -> Iterator[FaultyServer]:
    """One server for both formats."""
    with FaultyServer(ACCEPTED) as server:
        key = "0" * 32
        errorsink.configure(
            datadog_url=server.url,
            dd_api_key=key,
            otel_exporter_otlp_endpoint=server.url,
            otel_spans=False,  # a span has the texts of the log
            queue_size=100_000,
        )
        yield server


def left(texts: list[str]) -> list[str]:
    """The pieces of the secret, 8 characters long, that stand in these texts."""
    everything = "\n".join(texts)
    return [piece for piece in PIECES if piece in everything]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("limit", LIMITS)
def test_no_piece_of_a_secret_is_left(
    place: str, limit: int, intake: FaultyServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """The secret stands at every offset around the limit, behind the word that announces it."""
    ring: list[str] = []
    for made, offset in enumerate(range(limit - AROUND, limit + AROUND), 1):
        filler = ("." * 99 + " ") * (offset // 100 + 1)
        report(place, f"{filler[: offset - 10]} password={CANARY} after")
        if made % 90 == 0:
            ring += [repr(record) for record in errorsink.recent_errors()]
    ring += [repr(record) for record in errorsink.recent_errors()]
    assert errorsink.flush(PATIENCE)
    wire = [request.body.decode("utf-8", "replace") for request in intake.requests]
    assert len(wire) >= 2
    assert left(ring) == []
    assert left(wire) == []
    assert left([*capfd.readouterr()]) == []
    assert all(account.balanced for account in errorsink.stats().sinks.values())


def test_the_mask_tells_the_kind_and_the_text_around_it_stays(intake: FaultyServer) -> None:
    """What arrives is still worth reading."""
    report("message", f"login of 42 failed: password={CANARY} at host db-7")
    assert errorsink.flush(PATIENCE)
    (record,) = errorsink.recent_errors()
    assert re.fullmatch(r"login of 42 failed: password=\[REDACTED:[a-z-]+\] at host db-7", record.message)
    assert record.message in record.stack
    assert sum(errorsink.stats().redactions.values()) >= 1
