"""A loopback HTTP/1.1 server that misbehaves as a test tells it to."""

from __future__ import annotations

import contextlib
import io
import selectors
import socket
import struct
import threading
from collections import deque
from types import TracebackType
from typing import Iterable, final

from tests.collectors.contract import ARRIVAL_TIMEOUT
from tests.collectors.faults import OK, Behaviour, Silent
from tests.collectors.http_request import Request, read_request
from tests.collectors.process import free_ports

_END_TIMEOUT = 10.0


def refusing_url() -> str:
    """A base URL where nothing listens: connections are refused."""
    return f"http://127.0.0.1:{free_ports(1)[0]}"


@final
class FaultyServer:
    """Listens on a free loopback port while its `with` block lasts.

    Each request takes the next behaviour of the script, and `default` when the script is used up. Requests are recorded
    whole, before they are answered.
    """

    def __init__(self, default: Behaviour = OK) -> None:
        self._default = default
        self._script: deque[Behaviour] = deque()
        self._requests: list[Request] = []
        self._connections: set[_Connection] = set()
        self._threads: list[threading.Thread] = []
        self._accepted = 0
        # Guards all of the above, and is told of each change.
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._closing = threading.Event()
        self._listener: _Listener | None = None
        self.port = free_ports(1)[0]
        self.listen()

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Request]:
        """The requests so far, in order of arrival."""
        with self._changed:
            return list(self._requests)

    @property
    def connections(self) -> int:
        """How many connections have been accepted so far."""
        with self._changed:
            return self._accepted

    def script(self, behaviours: Iterable[Behaviour], then: Behaviour | None = None) -> None:
        """Sets how the next requests are answered, and with `then` how all after them are."""
        with self._changed:
            self._script = deque(behaviours)
            if then is not None:
                self._default = then

    def release(self) -> None:
        """Ends every silence and every hold, now and from now on."""
        self._released.set()

    def wait_for(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> list[Request]:
        """Waits until at least `count` requests have arrived and returns all. AssertionError after `timeout`."""
        with self._changed:
            if self._changed.wait_for(lambda: len(self._requests) >= count, timeout):
                return list(self._requests)
            listed = "\n".join(f"  {r.method} {r.path} {len(r.body)} bytes" for r in self._requests) or "  none"
            raise AssertionError(f"{len(self._requests)} of {count} requests arrived within {timeout} s:\n{listed}")

    def wait_for_connections(self, count: int, timeout: float = ARRIVAL_TIMEOUT) -> None:
        """Waits until at least `count` connections have been accepted. AssertionError after `timeout` seconds."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: self._accepted >= count, timeout)
            assert arrived, f"{self._accepted} of {count} connections arrived within {timeout} s"

    def stop_listening(self) -> None:
        """From now on the port refuses connections; those that are open are closed."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._end_connections()

    def listen(self) -> None:
        """Listens again, on the same port."""
        assert self._listener is None, "the server listens already"
        self._listener = _Listener(self.port, self)

    def close(self) -> None:
        """Ends everything; a thread that outlives this is a failure."""
        self._closing.set()
        self._released.set()
        self.stop_listening()
        for thread in self._threads:
            thread.join(_END_TIMEOUT)
            assert not thread.is_alive(), f"{thread.name} did not end within {_END_TIMEOUT} s"

    def __enter__(self) -> FaultyServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def serve(self, accepted: socket.socket) -> None:
        """Answers the requests of one connection, on a thread of its own."""
        with self._changed:
            self._accepted += 1
            connection = _Connection(accepted, self._accepted)
            self._connections.add(connection)
            self._changed.notify_all()
            thread = threading.Thread(
                target=self._serve, args=(connection,), name=f"connection-{connection.number}", daemon=True
            )
            self._threads.append(thread)
        thread.start()

    def hold(self, seconds: float | None) -> bool:
        """Waits for `release`."""
        return self._released.wait(seconds) and not self._closing.is_set()

    def pause(self, seconds: float) -> bool:
        """Waits for a while, unless the server closes meanwhile."""
        return not self._closing.wait(seconds)

    def _serve(self, connection: _Connection) -> None:
        # The client has gone, or the server is closing: either is a test's everyday event.
        with contextlib.suppress(OSError), contextlib.closing(connection):
            while self._exchange(connection):
                pass
        with self._changed:
            self._connections.discard(connection)

    def _exchange(self, connection: _Connection) -> bool:
        """Answers one request, and tells whether another may follow on this connection."""
        if not connection.has_data():
            return False
        unread = self._next_unread()
        if unread is not None:
            unread.perform(_Exchange(self, connection, None))
            return False
        request = read_request(connection.stream, connection.number)
        if request is None:
            return False
        with self._changed:
            self._requests.append(request)
            behaviour = self._script.popleft() if self._script else self._default
            self._changed.notify_all()
        behaviour.perform(_Exchange(self, connection, request))
        return connection.open and request.headers.get("connection", "").lower() != "close"

    def _next_unread(self) -> Silent | None:
        """Takes the next behaviour if it acts before the request is read."""
        with self._changed:
            behaviour = self._script[0] if self._script else self._default
            if not isinstance(behaviour, Silent) or behaviour.reads:
                return None
            if self._script:
                self._script.popleft()
            return behaviour

    def _end_connections(self) -> None:
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            connection.interrupt()


class _Connection:
    """One accepted connection. Its thread alone closes the socket; others may interrupt it."""

    def __init__(self, accepted: socket.socket, number: int) -> None:
        self._socket = accepted
        self.number = number
        self.stream: io.BufferedReader = accepted.makefile("rb")
        self.open = True
        # Answers leave at once, byte by byte if need be.
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def has_data(self) -> bool:
        """Waits for the first byte of a request, and leaves it unread. False if the client has closed."""
        return bool(self.stream.peek(1))

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def interrupt(self) -> None:
        """Wakes the connection's thread out of whatever it reads or sends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.open = False
        self.stream.close()
        self._socket.close()


class _Exchange:
    """One request of one connection. An `Exchange`."""

    def __init__(self, server: FaultyServer, connection: _Connection, request: Request | None) -> None:
        self._server = server
        self._connection = connection
        self._request = request

    @property
    def request(self) -> Request:
        assert self._request is not None, "this behaviour acts before the request is read"
        return self._request

    def send(self, data: bytes) -> None:
        self._connection.send(data)

    def close(self) -> None:
        self._connection.close()

    def reset(self) -> None:
        self._connection.reset()

    def hold(self, seconds: float | None = None) -> bool:
        return self._server.hold(seconds)

    def pause(self, seconds: float) -> bool:
        return self._server.pause(seconds)


class _Listener:
    """Accepts connections for a server, on a thread of its own, until it is closed."""

    def __init__(self, port: int, server: FaultyServer) -> None:
        self._server = server
        self._socket = socket.create_server(("127.0.0.1", port), backlog=128)
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name=f"listener-{port}", daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    return
                self._server.serve(self._socket.accept()[0])

    def close(self) -> None:
        self._wake.send(b"x")
        self._thread.join(_END_TIMEOUT)
        for each in (self._socket, self._wake, self._woken):
            each.close()
