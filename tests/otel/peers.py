"""Collectors on loopback that answer as a test wants, over HTTP and over gRPC."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, NamedTuple

import grpc
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

CLOSED_PORT = 1
"""Nothing listens there, and no test can make it: tcpmux, reserved."""

Say = Callable[["HttpPeer", socket.socket], None]


class Request(NamedTuple):
    """One HTTP request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


class HttpPeer:
    """Takes whole requests, also several over one connection, and answers each as `say` does."""

    def __init__(self, say: Say) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.ended = threading.Event()
        self._say = say
        peer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                peer.connections += 1
                try:
                    while peer._one(self.rfile, self.connection):
                        pass
                except OSError:
                    pass  # the client has gone, as it may

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def _one(self, stream: Any, connection: socket.socket) -> bool:
        line = stream.readline().decode().strip()
        if not line:
            return False
        headers: dict[str, str] = {}
        while field := stream.readline().decode("latin-1").strip():
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        self.requests.append(Request(line, headers, body))
        self._say(self, connection)
        return True

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def answer(status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> Say:
    """A whole, correct answer."""
    fields = {"Content-Length": str(len(body)), **(headers or {})}
    head = f"HTTP/1.1 {status} Reason\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return raw(head.encode() + b"\r\n" + body)


def raw(data: bytes) -> Say:
    """Bytes as they are."""

    def say(_peer: HttpPeer, connection: socket.socket) -> None:
        connection.sendall(data)

    return say


def silent(peer: HttpPeer, _connection: socket.socket) -> None:
    """Nothing, until the test ends."""
    peer.ended.wait(60)


def trickle(start: bytes, endless: bytes = b"x") -> Say:
    """Some bytes at once, and then another one every few milliseconds, without end."""

    def say(peer: HttpPeer, connection: socket.socket) -> None:
        connection.sendall(start)
        while not peer.ended.wait(0.02):
            connection.sendall(endless)

    return say


def reset(start: bytes) -> Say:
    """Some bytes, and then the connection is reset."""

    def say(_peer: HttpPeer, connection: socket.socket) -> None:
        connection.sendall(start)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        raise ConnectionResetError

    return say


Answer = Callable[["GrpcPeer", Any], None]


class GrpcPeer:
    """Both services; `behave` may end the call with an error, `response` is what it says otherwise."""

    def __init__(self, behave: Answer | None = None, partial: tuple[int, str] | None = None) -> None:
        self.requests: list[Any] = []
        self.metadata: list[dict[str, Any]] = []
        self.ended = threading.Event()
        self._behave = behave
        self._partial = partial
        self._pool = ThreadPoolExecutor(4)
        self._server = grpc.server(self._pool)
        add_logs: Any = logs_service_pb2_grpc.add_LogsServiceServicer_to_server
        add_traces: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
        add_logs(_Logs(self), self._server)
        add_traces(_Traces(self), self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self.url = f"http://127.0.0.1:{self.port}"
        self._server.start()

    def take(self, request: Any, context: Any, response: Any) -> Any:
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        if self._behave is not None:
            self._behave(self, context)
        if self._partial is not None:
            for field in ("rejected_log_records", "rejected_spans"):
                if hasattr(response.partial_success, field):
                    setattr(response.partial_success, field, self._partial[0])
            response.partial_success.error_message = self._partial[1]
        return response

    def close(self) -> None:
        self.ended.set()
        self._server.stop(None).wait()
        self._pool.shutdown()


class _Logs(logs_service_pb2_grpc.LogsServiceServicer):
    def __init__(self, peer: GrpcPeer) -> None:
        self._peer = peer

    def Export(self, request: Any, context: Any) -> Any:
        return self._peer.take(request, context, logs_service_pb2.ExportLogsServiceResponse())


class _Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, peer: GrpcPeer) -> None:
        self._peer = peer

    def Export(self, request: Any, context: Any) -> Any:
        return self._peer.take(request, context, trace_service_pb2.ExportTraceServiceResponse())


def abort(code: grpc.StatusCode, details: str = "no", retry_delay: int | None = None) -> Answer:
    """Ends a call with a status, and with a RetryInfo where one is given."""

    def behave(_peer: GrpcPeer, context: Any) -> None:
        if retry_delay is not None:
            info = RetryInfo()
            info.retry_delay.seconds = retry_delay
            status = Status(code=code.value[0], message=details)
            status.details.add().Pack(info)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(code, details)

    return behave


def hang(peer: GrpcPeer, _context: Any) -> None:
    """Nothing, until the test ends."""
    peer.ended.wait(60)
