"""Where the Collector's binary comes from."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.collectors.contract import CollectorUnavailable
from tests.collectors.locks import locked
from tests.collectors.otelcol_build import cache_directory, otelcol_binary, sources_hash

FAKE_GO = """#!/bin/sh
echo built >> "$BUILDS"
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n' > "$2"
"""

BROKEN_GO = """#!/bin/sh
echo 'main.go:1: syntax error'
exit 1
"""


def go(directory: Path, script: str) -> dict[str, str]:
    """An environment whose `go` is this script."""
    directory.mkdir()
    command = directory / "go"
    command.write_text(script)
    command.chmod(0o755)
    return {"PATH": f"{directory}:/usr/bin:/bin", "BUILDS": str(directory / "builds")}


def test_it_is_built_once(tmp_path: Path) -> None:
    """Workers that ask at the same moment get the same binary, from one build."""
    environ = {**go(tmp_path / "bin", FAKE_GO), "ERRORSINK_TESTS_CACHE": str(tmp_path / "cache")}
    binaries: list[Path] = []
    threads = [threading.Thread(target=lambda: binaries.append(otelcol_binary(environ))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert binaries == [tmp_path / "cache" / f"otelcol-{sources_hash()}"] * 3
    assert Path(environ["BUILDS"]).read_text() == "built\n"


def test_a_failed_build_leaves_no_binary(tmp_path: Path) -> None:
    """The compiler's words are in the reason, and nothing stays that could pass for a binary."""
    environ = {**go(tmp_path / "bin", BROKEN_GO), "ERRORSINK_TESTS_CACHE": str(tmp_path / "cache")}
    with pytest.raises(CollectorUnavailable, match="syntax error"):
        otelcol_binary(environ)
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


def test_without_a_compiler_it_is_unavailable(tmp_path: Path) -> None:
    """The reason names what is missing and what to set instead."""
    with pytest.raises(CollectorUnavailable, match=r"no go command .* ERRORSINK_TESTS_OTELCOL"):
        otelcol_binary({"ERRORSINK_TESTS_CACHE": str(tmp_path), "PATH": str(tmp_path)})


def test_a_given_binary_is_taken(tmp_path: Path) -> None:
    """Where the variable names a binary, none is built."""
    binary = tmp_path / "otelcol"
    binary.touch(0o755)
    assert otelcol_binary({"ERRORSINK_TESTS_OTELCOL": str(binary)}) == binary


def test_a_given_binary_must_be_one(tmp_path: Path) -> None:
    """A path that can't be run is told with the variable's name."""
    with pytest.raises(CollectorUnavailable, match="ERRORSINK_TESTS_OTELCOL: expected an executable file"):
        otelcol_binary({"ERRORSINK_TESTS_OTELCOL": str(tmp_path / "none")})


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"ERRORSINK_TESTS_CACHE": "/here"}, Path("/here")),
        ({"XDG_CACHE_HOME": "/there"}, Path("/there/errorsink-tests")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache/errorsink-tests"),
        ({}, Path.home() / ".cache/errorsink-tests"),
    ],
)
def test_the_cache_is_outside_the_tree(environ: dict[str, str], expected: Path) -> None:
    """The user's cache directory, or what is set."""
    assert cache_directory(environ) == expected


def test_a_lock_lets_one_in(tmp_path: Path) -> None:
    """Who comes second waits until the first has left."""
    order: list[str] = []
    asked = threading.Event()

    def second() -> None:
        asked.set()
        with locked(tmp_path / "lock"):
            order.append("second")

    with locked(tmp_path / "lock"):
        thread = threading.Thread(target=second)
        thread.start()
        asked.wait()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
