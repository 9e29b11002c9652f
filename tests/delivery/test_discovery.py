"""Which sinks are found among the installed distributions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from errorsink._discovery import candidates
from errorsink._settings import Settings


@pytest.mark.parametrize("damaged", [b"[errorsink.sinks]\nno entry\n", b"\xff\xfe[errorsink.sinks]\na = b:c\n"])
def test_damaged_entry_points_cost_the_other_sinks_nothing(
    damaged: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One distribution that can't be read is passed over; the others' sinks are found."""
    before = [one.name for one in candidates(Settings.load({}, {})[0], {})]
    info = tmp_path / "damaged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: damaged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_bytes(damaged)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    after = [one.name for one in candidates(Settings.load({}, {})[0], {})]
    assert before
    assert after == before
