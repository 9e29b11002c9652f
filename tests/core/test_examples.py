"""The examples run, and do what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import errorsink
from errorsink.errors import SinkUnavailable
from errorsink.model import ErrorRecord
from errorsink.sinks import SinkConfig

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def in_the_source_tree() -> None:
    if not EXAMPLES.is_dir():
        pytest.skip("the examples aren't part of what is installed")


def test_the_service_reports_each_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    before = errorsink.install_hooks(main=False, threads=False, unraisable=False)
    before()
    found = runpy.run_path(str(EXAMPLES / "service.py"))
    found["serve"](range(4))
    records = errorsink.recent_errors()
    assert [(record.code, record.attempt, record.recovered) for record in records] == [
        ("PAYMENT", 1, True),
        ("PAYMENT", 2, False),
    ] * 2
    assert records[0].attributes == {"order_id": 1}


def test_a_sink_of_ones_own_writes_what_it_is_given(tmp_path: Path) -> None:
    """The factory asks for what it needs; the sink delivers a batch."""
    make_sink = runpy.run_path(str(EXAMPLES / "own_sink.py"))["make_sink"]
    path = tmp_path / "errors"
    config = SinkConfig(True, {}, {"ERROR_FILE": str(path)}, print)
    sink = make_sink(config)
    record = ErrorRecord("id-1", 0, "ValueError", "boom", "ValueError: boom", "print")
    assert sink.send([sink.prepare(record)], 1.0).status == "delivered"
    assert path.read_text() == "id-1 ValueError: 'boom'\n"
    assert make_sink(config._replace(switch=None)) is None
    with pytest.raises(SinkUnavailable, match="ERROR_FILE"):
        make_sink(config._replace(env={}))
