"""Reads one HTTP/1.1 request off a stream."""

from __future__ import annotations

import gzip
import http.client
import json
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Mapping


@dataclass(frozen=True)
class Request:
    """A request as it arrived. Header names are in lower case; `body` is uncompressed, `sent_bytes` is what came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    sent_bytes: int
    connection: int
    """Which connection it came on, counted from 1."""

    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


def read_request(stream: BinaryIO, connection: int) -> Request | None:
    """Returns the next request, or None if the stream ends or is no HTTP."""
    parts = stream.readline(65_537).decode("latin-1").split()
    if len(parts) != 3:
        return None
    try:
        parsed = http.client.parse_headers(stream)
    except http.client.HTTPException:
        return None
    headers = {name.lower(): value for name, value in parsed.items()}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        sent = _read_chunks(stream)
    else:
        length = int(headers.get("content-length", "0"))
        sent = stream.read(length)
        if len(sent) < length:
            return None
    if sent is None:
        return None
    body = _decompressed(sent, headers.get("content-encoding", "identity").lower())
    return Request(parts[0], parts[1], headers, body, len(sent), connection)


def _read_chunks(stream: BinaryIO) -> bytes | None:
    chunks: list[bytes] = []
    while True:
        size_line = stream.readline(1_000)
        if not size_line.endswith(b"\n"):
            return None
        size = int(size_line.split(b";")[0], 16)
        chunk = stream.read(size)
        if len(chunk) < size:
            return None
        # The line end after the chunk, or the one after the (empty) trailer.
        stream.readline(1_000)
        if not size:
            return b"".join(chunks)
        chunks.append(chunk)


def _decompressed(body: bytes, encoding: str) -> bytes:
    if encoding == "identity":
        return body
    if encoding == "gzip":
        return gzip.decompress(body)
    assert encoding == "deflate", f"Content-Encoding: {encoding} is not known here"
    return zlib.decompress(body)
