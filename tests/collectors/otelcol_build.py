"""Builds the OpenTelemetry Collector of `tests/otelcol/`, once for each state of its sources.

The binary lies outside the tree, named after a hash of what it is built from, so a fresh clone of the same
sources finds it and a changed one does not.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Mapping

from tests.collectors.contract import CollectorUnavailable
from tests.collectors.locks import locked

SOURCES = Path(__file__).resolve().parent.parent / "otelcol"

BINARY_VARIABLE = "ERRORSINK_TESTS_OTELCOL"
"""Names a binary to use instead of building one."""

CACHE_VARIABLE = "ERRORSINK_TESTS_CACHE"
"""Names the directory for built binaries; default: `errorsink-tests` in the user's cache directory."""

# Without optimisation and debug tables it compiles and links in two thirds of the time, and is as fast as tests need.
_BUILD = ("go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-N -l", "-ldflags=-s -w")


def otelcol_binary(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the collector's binary; builds it if need be. CollectorUnavailable if that can't be done."""
    given = environ.get(BINARY_VARIABLE)
    if given:
        if not os.access(given, os.X_OK):
            raise CollectorUnavailable(f"{BINARY_VARIABLE}: expected an executable file, got {given!r}")
        return Path(given)
    binary = cache_directory(environ) / f"otelcol-{sources_hash()}"
    if binary.exists():
        return binary
    if shutil.which("go", path=environ.get("PATH")) is None:
        raise CollectorUnavailable(f"no go command to build the OpenTelemetry Collector with; or set {BINARY_VARIABLE}")
    binary.parent.mkdir(parents=True, exist_ok=True)
    with locked(binary.with_suffix(".lock")):
        # Another process may have built it while this one waited for the lock.
        if not binary.exists():
            _build(binary, environ)
    return binary


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """The directory for built binaries."""
    given = environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    base = environ.get("XDG_CACHE_HOME")
    # The XDG base directory specification has relative paths ignored.
    return (Path(base) if base and os.path.isabs(base) else Path.home() / ".cache") / "errorsink-tests"


def sources_hash() -> str:
    """Hashes the names and the contents of what the binary is built from."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in {".go", ".mod", ".sum"}:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(SOURCES).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _build(binary: Path, environ: Mapping[str, str]) -> None:
    """Builds to a name of this process, then renames: nobody ever sees half a binary."""
    unfinished = binary.with_name(f"{binary.name}.{os.getpid()}")
    built = subprocess.run(
        [*_BUILD, "-o", str(unfinished), "."],
        cwd=SOURCES,
        env={**environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if built.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise CollectorUnavailable(f"go build of the OpenTelemetry Collector failed:\n{built.stdout[-4000:]}")
    unfinished.replace(binary)
