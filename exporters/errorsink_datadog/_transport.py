"""An HTTP transport with one deadline for everything: look-up, connection, TLS, request and answer.

httpx's own limits bound each read and write alone, so that a peer who sends a byte now and then holds a request for
ever. Here every operation on the socket is given no more than what is left of the whole request's time, through
httpcore's network backends; no other thread is needed.
"""

from __future__ import annotations

import socket
import ssl
import time
from typing import Callable, Iterable, Iterator
from weakref import WeakSet

import httpcore
import httpx

__all__ = ["NETWORK_ERRORS", "Deadline", "DeadlineBackend", "DeadlineTransport"]

NETWORK_ERRORS: tuple[type[Exception], ...] = (
    httpcore.ConnectionNotAvailable,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpx.TransportError,
    OSError,
)
"""What a request may end with instead of an answer."""

READ_BYTES = 4_096
"""Bytes that one read of an answer may take; answers are short."""
KEEP_ALIVE = 15.0
"""Seconds that an idle connection is kept for the next batch."""


class Deadline:
    """When the request under way must end. Shared by the streams of one transport, used by one thread at a time."""

    __slots__ = ("_clock", "_end")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock()

    def start(self, seconds: float) -> None:
        """Gives the next request this long."""
        self._end = self._clock() + seconds

    def shorten(self, seconds: float) -> None:
        """Ends the request under way this soon, or sooner."""
        self._end = min(self._end, self._clock() + seconds)

    def within(self, seconds: float) -> Deadline:
        """A deadline this near, or that of the request where it is nearer."""
        nearer = Deadline(self._clock)
        nearer._end = min(self._end, self._clock() + seconds)
        return nearer

    def left(self, late: type[Exception], limit: float | None = None) -> float:
        """What is left, up to `limit`. Raises `late` when nothing is."""
        left = self._end - self._clock()
        if left <= 0:
            raise late("the time for the request is over")
        return left if limit is None else min(left, limit)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every read and write ends with the deadline."""

    def __init__(
        self, stream: httpcore.NetworkStream, deadline: Deadline, streams: WeakSet[DeadlineStream], layers: int = 0
    ) -> None:
        self._stream = stream
        self._deadline = deadline
        self._streams = streams
        self._layers = layers
        """How many times TLS was started on it: twice for an https:// intake behind an https:// proxy."""
        streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(min(max_bytes, READ_BYTES), self._deadline.left(httpcore.ReadTimeout, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._layers > 1:  # httpcore's TLS inside TLS has no socket of its own to send on
            self._stream.write(buffer, self._deadline.left(httpcore.WriteTimeout, timeout))
            return
        sock: socket.socket = self._stream.get_extra_info("socket")
        view = memoryview(buffer)
        while view:
            left = self._deadline.left(httpcore.WriteTimeout, timeout)
            try:
                sock.settimeout(left)
                view = view[sock.send(view) :]
            except TimeoutError as error:
                raise httpcore.WriteTimeout(error) from error
            except OSError as error:
                raise httpcore.WriteError(error) from error

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(httpcore.ConnectTimeout, timeout)
        inner = self._stream.start_tls(ssl_context, server_hostname, left)
        return DeadlineStream(inner, self._deadline, self._streams, self._layers + 1)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections that keep to a deadline.

    The look-up of a name can't be interrupted: it takes as long as the system's resolver lets it.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()
        self._streams: WeakSet[DeadlineStream] = WeakSet()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Tries the host's addresses in turn. Each but the last is given half of the time that is left, so that a dead
        one leaves some for the others."""
        self._deadline.left(httpcore.ConnectTimeout)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the host's name can't be looked up: {error}") from error
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        failure: Exception = httpcore.ConnectError("the host's name has no address")
        connecting = self._deadline if timeout is None else self._deadline.within(timeout)
        for address in addresses:
            left = connecting.left(httpcore.ConnectTimeout)
            share = left if address == addresses[-1] else left / 2
            try:
                stream = self._sockets.connect_tcp(address, port, share, local_address, socket_options)
                return DeadlineStream(stream, self._deadline, self._streams)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def close_all(self) -> None:
        """Closes every connection, whatever state it is in; takes no lock, and says nothing to the peer."""
        for stream in list(self._streams):
            stream.close()


class _Body(httpx.SyncByteStream):
    """The answer's body in httpx's form."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class DeadlineTransport(httpx.BaseTransport):
    """httpx's transport over httpcore's connection pools: of one endpoint, direct or through one proxy."""

    def __init__(self, make_pool: Callable[[DeadlineBackend], httpcore.ConnectionPool], deadline: Deadline) -> None:
        self._make_pool = make_pool
        self._backend = DeadlineBackend(deadline)
        self._pool = make_pool(self._backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request whose body is at hand. Raises one of `NETWORK_ERRORS`."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                url,
                headers=request.headers.raw,
                content=request.content,
                extensions=request.extensions,
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def reset(self) -> None:
        """Starts anew with no connection.

        After a failure, since httpcore keeps a place in its pool for a tunnel that broke half-way; and in a forked
        child, where the connections are the parent's and the pool's lock may be held for ever.
        """
        self._backend.close_all()
        self._pool = self._make_pool(self._backend)

    def close(self) -> None:
        self._backend.close_all()
