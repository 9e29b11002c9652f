"""What the dispatcher tells a delivery about the spool."""

from __future__ import annotations

from pathlib import Path

import pytest

from errorsink import _discovery
from errorsink._dispatch import Dispatcher
from errorsink._settings import Settings
from tests.delivery.sinks import ScriptedSink, record
from tests.delivery.test_contract import Entry


def test_a_record_that_has_no_room_in_the_spool_counts_as_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is too large for it ends with the process, and isn't called spooled."""
    monkeypatch.setattr(_discovery, "_installed", lambda: [Entry("scripted", lambda config: ScriptedSink())])
    settings, _ = Settings.load({}, {"spool_dir": str(tmp_path / "spool"), "spool_size": 1_000_000})
    dispatcher = Dispatcher(settings, {})
    dispatcher.offer([record(1), record(2, message="x" * 900_000)])
    (delivery,) = dispatcher.deliveries
    assert delivery.unstored == 1
    dispatcher.leave()
    account = delivery.account()
    assert (account.queued, account.spooled, account.balanced) == (1, 1, True)
    dispatcher.close()
