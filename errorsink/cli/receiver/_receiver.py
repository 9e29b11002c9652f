"""The receiver: both protocols, one callback."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
from types import TracebackType
from typing import Callable, Sequence, final

from errorsink.cli.receiver._grpc import GrpcReceiver
from errorsink.cli.receiver._http import HttpReceiver
from errorsink.cli.receiver._records import Received
from errorsink.errors import HarnessError

_GRACE = 0.5
"""Seconds that the answers on their way have when the receiver stops."""


class CannotListen(HarnessError):
    """A port is taken, or the address isn't this machine's; the message says which, and the remedy."""

    code = "CANNOT_LISTEN"


@final
class Receiver:
    """An OTLP receiver for gRPC and HTTP (binary and JSON), a context manager.

        with Receiver(print) as receiver:
            run_program(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.http_endpoint)

    Args:
        deliver: called with the records of each request before it is answered, by one thread at a time. What it
            raises is answered with an error (500, UNKNOWN), so that the client may send again.
        host: the address to listen on.
        grpc_port: 0 takes a free port, None leaves gRPC out.
        http_port: likewise.
    """

    def __init__(
        self,
        deliver: Callable[[Sequence[Received]], None],
        *,
        host: str = "127.0.0.1",
        grpc_port: int | None = 0,
        http_port: int | None = 0,
    ) -> None:
        self._deliver = deliver
        self._one_at_a_time = threading.Lock()
        self._wanted = (grpc_port, http_port)
        self._family, self.host = _resolve(host)
        self._grpc: GrpcReceiver | None = None
        self._http: HttpReceiver | None = None

    def start(self) -> None:
        """Listens. Raises `CannotListen`."""
        grpc_port, http_port = self._wanted
        try:
            if http_port is not None:
                self._http = self._listen_http(http_port)
            if grpc_port is not None:
                self._grpc = self._listen_grpc(grpc_port)
        except CannotListen:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops listening, and closes every connection. Again is allowed."""
        servers = [server for server in (self._grpc, self._http) if server is not None]
        self._grpc = self._http = None
        for server in servers:
            server.stop(_GRACE)

    def __enter__(self) -> Receiver:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def loopback(self) -> bool:
        """True when only this machine can reach the receiver."""
        return ipaddress.ip_address(self.host.partition("%")[0]).is_loopback

    @property
    def grpc_port(self) -> int:
        """The port of gRPC, once started; 0 where there is none."""
        return self._grpc.port if self._grpc else 0

    @property
    def http_port(self) -> int:
        """The port of HTTP, once started; 0 where there is none."""
        return self._http.port if self._http else 0

    @property
    def grpc_endpoint(self) -> str:
        """For `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol `grpc`."""
        return self._endpoint(self.grpc_port)

    @property
    def http_endpoint(self) -> str:
        """For `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol `http/protobuf`."""
        return self._endpoint(self.http_port)

    def _endpoint(self, port: int) -> str:
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"

    def _hand_over(self, records: Sequence[Received]) -> None:
        if records:
            with self._one_at_a_time:
                self._deliver(records)

    def _listen_http(self, port: int) -> HttpReceiver:
        try:
            server = HttpReceiver(self._family, self.host, port, self._hand_over)
        except OSError as error:
            raise _cannot_listen("HTTP", self.host, port, error) from error
        server.start()
        return server

    def _listen_grpc(self, port: int) -> GrpcReceiver:
        try:
            if port:
                _try_port(self._family, self.host, port)
            server = GrpcReceiver(self.host, port, self._hand_over)
        except OSError as error:
            raise _cannot_listen("gRPC", self.host, port, error) from error
        server.start()
        return server


def _resolve(host: str) -> tuple[int, str]:
    """The family and the numeric address of a host: the first one, as both servers must listen on the same."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"can't listen on {host!r}: {error}") from error
    return family, str(address[0])


def _try_port(family: int, host: str, port: int) -> None:
    """Binds and lets go: gRPC's own failure names no reason, and writes to standard error by itself."""
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # elsewhere the option would let two servers share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


def _cannot_listen(protocol: str, host: str, port: int, error: OSError) -> CannotListen:
    reason = error.strerror or str(error)
    option = f"--{protocol.lower()}-port"
    return CannotListen(
        f"can't listen on {host} port {port} for {protocol}: {reason}. "
        f"Stop what uses the port, or choose another one ({option} 0 takes a free one)"
    )
