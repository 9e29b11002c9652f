"""A collector that can't run is a skip with its reason, and in CI a failure."""

from __future__ import annotations

import pytest

from tests.collectors.contract import CollectorUnavailable, Server
from tests.collectors.fixtures import RunningServers, server_or_skip


def unavailable() -> Server:
    """Stands for a collector that this machine lacks something for."""
    raise CollectorUnavailable("no compiler")


def not_installed() -> Server:
    """Stands for a collector whose own code can't be imported."""
    raise ModuleNotFoundError("No module named 'grpc'")


def test_it_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without CI the test is skipped, and says why."""
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no one: no compiler"):
        server_or_skip(RunningServers({"one": unavailable}), "one")


@pytest.mark.parametrize("value", ["true", "1", "TRUE", " yes "])
def test_it_fails_in_ci(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """With CI set to anything true it is a failure."""
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.fail.Exception, match="no one, and CI is set: no compiler"):
        server_or_skip(RunningServers({"one": unavailable}), "one")


@pytest.mark.parametrize("value", ["", "0", "false", "No"])
def test_a_false_ci_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """CI=false is a developer's machine."""
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.skip.Exception):
        server_or_skip(RunningServers({"one": unavailable}), "one")


def test_a_missing_package_is_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector whose code needs a package that isn't installed can't run."""
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="No module named 'grpc'"):
        server_or_skip(RunningServers({"one": not_installed}), "one")


def test_what_could_not_start_is_not_tried_again() -> None:
    """A build that fails after minutes fails once a session."""
    tries: list[str] = []

    def fail() -> Server:
        tries.append("one")
        return unavailable()

    servers = RunningServers({"one": fail})
    for _ in range(2):
        with pytest.raises(CollectorUnavailable):
            servers.get("one")
    assert tries == ["one"]
