"""One server process of the tests: free ports, readiness, the end, and what it wrote."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Mapping, Sequence

from tests.collectors.contract import wait_until

START_TIMEOUT = 20.0
"""Seconds to be ready in: a collector that takes 0.3 s alone takes several when every core is compiling."""

STOP_TIMEOUT = 10.0
"""Seconds to end in after SIGTERM, before SIGKILL."""

_TAIL_LINES = 40

# Below the ports that Linux, macOS and Windows hand to outgoing connections: a port that is free while its
# server is down would otherwise be lent to a client, or even be connected to itself.
_PORTS = range(20_000, 32_000)

# Not the module's generator: a test runner that seeds it would make two workers draw the same ports.
_draw = random.SystemRandom()


def free_ports(count: int) -> list[int]:
    """Draws different loopback ports that nothing listens on. Another process may still take one before its use."""
    with ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            probe = held.enter_context(socket.socket())
            port = _draw.choice(_PORTS)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports.append(port)
        return ports


def connects(port: int) -> bool:
    """Tells whether something listens on a loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


class DidNotStart(Exception):
    """A process ended, or opened no port, before it was ready; the text has what it wrote."""


class ServerProcess:
    """A process that listens on some ports. Its standard output and error go to one file, kept over restarts."""

    def __init__(
        self,
        command: Sequence[str],
        ports: Sequence[int],
        output: Path,
        environ: Mapping[str, str] | None = None,
        noise: str | None = None,
    ) -> None:
        """`noise`: lines of output with this text are left out of reports."""
        self._command = list(command)
        self._ports = list(ports)
        self._output = output
        self._noise = noise
        self._environ = {**os.environ, **(environ or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._status: int | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process and returns when every port takes connections. DidNotStart if that fails."""
        assert not self.running, f"{self._command[0]} runs already"
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self._environ
            )
        waiting = list(self._ports)

        def ready_or_ended() -> bool:
            waiting[:] = [port for port in waiting if not connects(port)]
            return not waiting or not self.running

        wait_until(ready_or_ended, START_TIMEOUT)
        # An ended process has opened no port: what listens there is somebody else's.
        if waiting or not self.running:
            report = self.report()
            self.stop()
            raise DidNotStart(f"not ready within {START_TIMEOUT} s, ports still closed: {waiting}\n{report}")

    def stop(self) -> None:
        """Ends the process with SIGTERM, then SIGKILL. Nothing happens if it has ended."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            self._status = process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            self._status = process.wait()

    def report(self) -> str:
        """The command, how the process is, and the last lines of its output."""
        status = self._process.poll() if self._process is not None else self._status
        state = "running" if self.running else f"ended with {status}" if status is not None else "never started"
        lines = self._output.read_text(errors="replace").splitlines() if self._output.exists() else []
        told = [line for line in lines if self._noise is None or self._noise not in line]
        tail = "\n".join(f"  {line}" for line in told[-_TAIL_LINES:]) or "  nothing"
        return f"command: {' '.join(self._command)}\nstate: {state}\nlast lines of its output:\n{tail}"
