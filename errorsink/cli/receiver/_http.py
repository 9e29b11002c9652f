"""OTLP over HTTP, binary and JSON, on the standard library's server."""

from __future__ import annotations

import os
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Sequence, cast

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import status_pb2  # type: ignore[import-untyped]  # the package has no types

from errorsink.cli.receiver._body import MAX_BODY, Refusal, read_body
from errorsink.cli.receiver._decode import SIGNALS, Malformed, Signal
from errorsink.cli.receiver._records import Received

_PATHS = {signal.path: signal for signal in SIGNALS}
_PROTOBUF = "application/x-protobuf"
_JSON = "application/json"
_GRPC_CODES = {HTTPStatus.BAD_REQUEST: 3, HTTPStatus.NOT_FOUND: 5, HTTPStatus.REQUEST_ENTITY_TOO_LARGE: 8}
_UNKNOWN = 2
_IDLE_SECONDS = 60.0


class HttpReceiver(ThreadingHTTPServer):
    """A server that hands every request's records to `deliver` before it answers."""

    daemon_threads = True
    block_on_close = False
    # On Windows this option would let a second server take the same port unnoticed.
    allow_reuse_address = os.name == "posix"

    def __init__(self, family: int, host: str, port: int, deliver: Callable[[Sequence[Received]], None]) -> None:
        self.address_family = family
        self.deliver = deliver
        self._changed = threading.Condition()
        self._open: dict[socket.socket, bool] = {}
        """Each connection, and whether a request of it is being worked on."""
        self.stopping = False
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Serves on a thread of its own."""
        threading.Thread(target=self.serve_forever, args=(0.05,), name="errorsink-otlp-http", daemon=True).start()

    def stop(self, grace: float) -> None:
        """Takes no more; what is being answered has `grace` seconds, and every connection is closed."""
        self.shutdown()
        self.server_close()
        with self._changed:
            self.stopping = True
            for connection, busy in self._open.items():
                if not busy:
                    _cut(connection)
            self._changed.wait_for(lambda: not any(self._open.values()), grace)
            for connection in self._open:
                _cut(connection)

    def mark(self, connection: socket.socket, busy: bool | None) -> None:
        """Keeps track of a connection: working on a request, waiting for one, or (None) gone."""
        with self._changed:
            if busy is None:
                self._open.pop(connection, None)
            else:
                self._open[connection] = busy
            self._changed.notify_all()

    def server_bind(self) -> None:
        """Binds without the look-up of the host's name that `HTTPServer` makes, which can take seconds."""
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """A peer that hangs up is no news; anything else is a fault of ours, and shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _status(code: int, reason: str) -> Message:
    status: Message = status_pb2.Status(code=code, message=reason)
    return status


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the peer was quicker
        return


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "errorsink"
    sys_version = ""
    timeout = _IDLE_SECONDS
    # Headers and body leave in one packet, and a keep-alive client isn't held up by Nagle's algorithm.
    wbufsize = -1
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.receiver.mark(self.connection, False)

    def finish(self) -> None:
        self.receiver.mark(self.connection, None)
        super().finish()

    @property
    def receiver(self) -> HttpReceiver:
        return cast("HttpReceiver", self.server)

    def do_POST(self) -> None:
        """One export."""
        self.receiver.mark(self.connection, True)
        try:
            self._export()
            self.wfile.flush()
        finally:
            self.receiver.mark(self.connection, False)
        if self.receiver.stopping:
            self.close_connection = True

    def do_GET(self) -> None:
        """A browser, or a probe: say what this is."""
        if self.path in _PATHS:
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, b"POST only\n", "text/plain", Allow="POST")
        else:
            self._not_found()

    def handle_expect_100(self) -> bool:
        """A client that asks before it sends its body must not wait for the answer to the whole request."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Requests aren't logged; their records are the output."""

    def _export(self) -> None:
        signal = _PATHS.get(self.path.partition("?")[0])
        media = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        try:
            if signal is None:
                self._drain()
                self._not_found()
                return
            records = self._records(signal, media)
        except Refusal as refusal:
            if refusal.unread:
                self._drain()
            self._refuse(HTTPStatus(refusal.status), refusal.reason, media)
            return
        except Malformed as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error), media)
            return
        self._hand_over(records, signal, media)

    def _records(self, signal: Signal, media: str) -> Sequence[Received]:
        if media not in (_PROTOBUF, _JSON):
            raise Refusal(415, f"Content-Type {media!r}: expected {_PROTOBUF} or {_JSON}", unread=True)
        body = read_body(self.headers, self.rfile)
        return signal.from_json(body) if media == _JSON else signal.from_protobuf(body)

    def _hand_over(self, records: Sequence[Received], signal: Signal, media: str) -> None:
        try:
            self.receiver.deliver(records)
        except BaseException:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "the receiver failed", media)
            raise
        self._send_message(HTTPStatus.OK, signal.response(), media)

    def _refuse(self, status: HTTPStatus, reason: str, media: str) -> None:
        # The connection may hold the rest of a body that nobody will read.
        self.close_connection = True
        self._send_message(status, _status(_GRPC_CODES.get(status, _UNKNOWN), reason), media)

    def _send_message(self, status: HTTPStatus, message: Message, media: str) -> None:
        if media == _JSON:
            self._answer(status, json_format.MessageToJson(message, indent=None).encode(), _JSON)
        else:
            self._answer(status, message.SerializeToString(), _PROTOBUF)

    def _not_found(self) -> None:
        self.close_connection = True
        text = f"This is `errorsink listen`, an OTLP receiver: POST to {', '.join(_PATHS)}\n"
        self._answer(HTTPStatus.NOT_FOUND, text.encode(), "text/plain")

    def _answer(self, status: HTTPStatus, body: bytes, media: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection or self.receiver.stopping:
            self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drain(self) -> None:
        """Reads some of a body that isn't wanted: a client that is still sending would never see the answer."""
        self.connection.settimeout(1.0)
        left = min(int(self.headers.get("Content-Length", "0")), 4 * MAX_BODY) if self._sized() else 0
        try:
            while left > 0:
                read = len(self.rfile.read(min(left, 65_536)))
                left = left - read if read else 0
        except OSError:  # too slow, or gone
            return

    def _sized(self) -> bool:
        return self.headers.get("Content-Length", "").isdecimal()
