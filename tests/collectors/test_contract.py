"""A view shows one test what is its own, and a collector can be down for a while."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest

from tests.collectors.contract import Collector, View
from tests.collectors.fixtures import RunningServers
from tests.collectors.official import Sender


def test_a_view_begins_empty(collector: Collector, running_servers: RunningServers) -> None:
    """What arrived before a view was made is not in it."""
    Sender(collector.endpoints).log()
    collector.logs(1)
    assert View(running_servers.get(collector.name)).logs(0) == []


def test_a_stopped_collector_refuses_connections(collector: Collector) -> None:
    """While it is down nothing listens on its ports."""
    collector.stop()
    with pytest.raises(ConnectionRefusedError), socket.create_connection(_address(collector.endpoints.http)):
        pass


def test_a_collector_comes_back_on_the_same_ports(collector: Collector) -> None:
    """After a restart it takes logs at the same endpoints, and what came before is not lost."""
    before = collector.endpoints
    Sender(before).log()
    collector.logs(1)
    collector.restart()
    Sender(before, "grpc").log()
    assert len(collector.logs(2)) == 2


def test_a_view_starts_a_collector_that_a_test_left_stopped(
    collector: Collector, running_servers: RunningServers
) -> None:
    """A test that stops the collector spoils no other test."""
    collector.stop()
    Sender(View(running_servers.get(collector.name)).endpoints).log()
    assert len(collector.logs(1)) == 1


def test_what_is_missing_is_told_with_all_that_is_known(collector: Collector) -> None:
    """The failure names the collector, what did arrive, and how its process is."""
    Sender(collector.endpoints).log()
    collector.logs(1)
    with pytest.raises(AssertionError) as failure:
        collector.logs(2, timeout=0)
    told = str(failure.value)
    assert f"{collector.name}: 1 of 2 logs" in told
    assert "it broke" in told
    assert "state: running" in told


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
