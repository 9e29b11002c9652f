"""What holds for every test: a plain environment, errorsink anew, and no contained error overlooked."""

from __future__ import annotations

import os
from typing import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

import errorsink
from errorsink import _ring, _selflog

pytest_plugins = ["tests.collectors.fixtures"]

DEVELOPERS = ("OTEL_", "DD_", "ERRORSINK_", "CLAUDE_CODE_", "DISABLE_ERROR_REPORTING")

# The default is the same run everywhere; `pytest --hypothesis-profile=long` looks further, with new random examples.
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=100)
settings.register_profile(
    "long", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("quick")


def pytest_configure() -> None:
    """What the developer's shell has set decides nothing, in child processes either."""
    for name in list(os.environ):
        if name.startswith(DEVELOPERS) and not name.startswith("ERRORSINK_TESTS_"):
            del os.environ[name]


Contained = list[tuple[str, BaseException]]


@pytest.fixture
def contained(monkeypatch: pytest.MonkeyPatch) -> Contained:
    """The errors inside errorsink that were contained so far. A test that provokes some clears the list."""
    met: Contained = []
    contain: Callable[[str, BaseException], None] = _selflog.contain

    def note(where: str, error: BaseException) -> None:
        met.append((where, error))
        contain(where, error)

    monkeypatch.setattr(_selflog, "contain", note)
    return met


@pytest.fixture(autouse=True)
def errorsink_anew(contained: Contained) -> Iterator[None]:
    """Every test begins with an empty ring and an unused pipeline, and fails where errorsink contained an error."""
    errorsink.configure()
    _ring.clear()
    yield
    errorsink.shutdown()
    for where, error in contained:
        raise AssertionError(f"errorsink contained an error in {where}: {error!r}") from error
