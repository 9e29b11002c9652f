"""`errorsink listen` as a process of its own."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from typing import IO, Iterator, NamedTuple

COMMAND = [sys.executable, "-m", "errorsink"]
_READY = re.compile(r"OTLP/gRPC http://([^ ]+):(\d+)  OTLP/HTTP http://[^ ]+:(\d+)")


class Listening(NamedTuple):
    """A running `errorsink listen`."""

    process: subprocess.Popen[str]
    host: str
    grpc_port: int
    http_port: int
    greeting: str
    """What it said on standard error until it was ready."""

    @property
    def output(self) -> IO[str]:
        """Its standard output."""
        assert self.process.stdout is not None
        return self.process.stdout

    def end(self) -> tuple[int, str, str]:
        """Waits for its end: exit status, and the rest of both outputs."""
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


@contextlib.contextmanager
def listening(*options: str, command: list[str] = COMMAND) -> Iterator[Listening]:
    """Starts it on free ports, and waits until it is ready."""
    process = subprocess.Popen(
        [*command, "listen", "--grpc-port", "0", "--http-port", "0", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        greeting = ""
        ready = None
        assert process.stderr is not None
        while ready is None:
            line = process.stderr.readline()
            assert line, f"errorsink listen did not start: {greeting}"
            greeting += line
            ready = _READY.search(line)
        yield Listening(process, ready[1], int(ready[2]), int(ready[3]), greeting)
    finally:
        process.kill()
        process.communicate()
