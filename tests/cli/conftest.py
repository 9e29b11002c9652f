"""A receiver on free ports, and what arrives at it."""

from __future__ import annotations

from typing import Iterator, NamedTuple

import pytest

from errorsink.cli.receiver import Inbox, Receiver


class Running(NamedTuple):
    receiver: Receiver
    inbox: Inbox


@pytest.fixture
def running() -> Iterator[Running]:
    """A receiver that keeps what arrives."""
    inbox = Inbox()
    with Receiver(inbox) as receiver:
        yield Running(receiver, inbox)
