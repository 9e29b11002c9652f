"""Reports stay in the ring: the sinks are paused, so that a test pays for capture and rendering alone."""

from __future__ import annotations

from typing import Iterator

import pytest

from errorsink import _current
from tests.capture.reported import Paused, pause


@pytest.fixture(autouse=True)
def paused(errorsink_anew: None) -> Iterator[Paused]:
    """The paused pipeline, and what it has taken."""
    yield pause()
    _current.running.pop(_current.KEY, None)
