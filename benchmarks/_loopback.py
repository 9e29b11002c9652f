"""A peer that takes everything at once: a loopback HTTP server in a process of its own, which counts bytes."""

from __future__ import annotations

import multiprocessing
import re
import socket
import threading
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from typing import Any, Iterator, NamedTuple

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"transfer-encoding: *chunked", re.IGNORECASE)
_ANSWER = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
_OTLP_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n"


class Loopback(NamedTuple):
    """A running server."""

    url: str
    requests: Synchronized[int]
    bytes: Synchronized[int]


def _serve(listener: socket.socket, requests: Any, received: Any) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_converse, args=(connection, requests, received), daemon=True).start()


def _converse(connection: socket.socket, requests: Any, received: Any) -> None:
    buffer = b""
    with connection:
        while True:
            while (end := buffer.find(b"\r\n\r\n")) < 0:
                part = connection.recv(65536)
                if not part:
                    return
                buffer += part
            head, buffer = buffer[: end + 4], buffer[end + 4 :]
            length = _LENGTH.search(head)
            need = int(length[1]) if length else 0
            while len(buffer) < need or (_CHUNKED.search(head) and not buffer.endswith(b"0\r\n\r\n")):
                part = connection.recv(1 << 20)
                if not part:
                    return
                buffer += part
            size = need or len(buffer)
            buffer = buffer[size:]
            with requests.get_lock(), received.get_lock():
                requests.value += 1
                received.value += len(head) + size
            connection.sendall(_OTLP_ANSWER if b" /v1/" in head[:100] else _ANSWER)


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Runs the server; its address and its counts."""
    context = multiprocessing.get_context("fork")
    listener = socket.create_server(("127.0.0.1", 0))
    requests, received = context.Value("q", 0), context.Value("q", 0)
    process = context.Process(target=_serve, args=(listener, requests, received), daemon=True)
    process.start()
    try:
        yield Loopback(f"http://127.0.0.1:{listener.getsockname()[1]}", requests, received)
    finally:
        process.terminate()
        process.join()
        listener.close()
