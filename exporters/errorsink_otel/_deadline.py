"""HTTP connections that end at a deadline, however slowly the peer talks.

The timeouts of urllib3 and of sockets count from the last byte: a peer that sends one byte a second keeps a request
alive for ever. Here each wait on the socket gets the time that is left until the deadline, so that no watching thread
is needed, which could not be started any more while the interpreter exits. Only name resolution can't be bounded.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generator

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

__all__ = ["DeadlineAdapter", "deadline"]

_PIECE = 65_536
"""Bytes written under one wait; a TLS socket would wait anew for each record of a longer text."""

_ends: ContextVar[float] = ContextVar("errorsink_otel_ends", default=float("inf"))


@contextmanager
def deadline(seconds: float) -> Generator[None, None, None]:
    """The requests made inside end within so many seconds."""
    token = _ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def _left() -> float | None:
    """The seconds that are left; None: no limit."""
    left = _ends.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError("deadline")
    return None if left == float("inf") else left


class _Reader(io.RawIOBase):
    """The reading side of a socket, each read within what is left."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        self._sock.settimeout(_left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Readable:
    """What `HTTPResponse` wants of a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, *_mode: Any, **_options: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._sock))


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(_Readable(sock), *args, **kwargs)  # type: ignore[arg-type]  # it calls makefile alone


class _Connection(HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        left = _left()
        if left is not None:
            # each address of a name is tried for this long, and a TLS handshake takes its turn once more
            self.timeout = left / (_addresses(self.host, self.port) + isinstance(self, HTTPSConnection))
        super().connect()

    def send(self, data: Any) -> None:
        if self.sock is None and self.auto_open:
            self.connect()
        if not isinstance(data, bytes):  # a file or a generator: never ours
            return super().send(data)
        for start in range(0, len(data), _PIECE):
            if self.sock is not None:
                self.sock.settimeout(_left())
            super().send(data[start : start + _PIECE])
        return None


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection  # pyright: ignore[reportAssignmentType]  # as in urllib3 itself, which ignores it too


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection  # pyright: ignore[reportAssignmentType]


def _addresses(host: str, port: int | None) -> int:
    return len({found[4] for found in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)})


class DeadlineAdapter(HTTPAdapter):
    """A requests adapter whose connections heed `deadline`, through a proxy as well (but for SOCKS)."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}
        return manager
