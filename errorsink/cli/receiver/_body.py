"""The body of an HTTP request: its length, its transfer coding, its compression, all within one limit."""

from __future__ import annotations

import zlib
from email.message import Message
from io import BufferedIOBase

MAX_BODY = 20 * 1024 * 1024
"""Bytes of a body, as sent and as unpacked: the default limit of the OpenTelemetry Collector's HTTP receiver."""
_MAX_MEMBERS = 16
"""Parts of a gzip body. One is the rule; thousands of empty ones would only burn time."""
_HEX = frozenset(b"0123456789abcdefABCDEF")


class Refusal(Exception):
    """A request that isn't taken: the status to answer with, the reason in words, whether a body is still to come."""

    def __init__(self, status: int, reason: str, *, unread: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.unread = unread


def read_body(headers: Message, stream: BufferedIOBase) -> bytes:
    """The unpacked body of a request. Raises `Refusal`."""
    encoding = headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip"):
        raise Refusal(415, f"Content-Encoding {encoding!r}: expected gzip or identity", unread=True)
    if headers.get("Transfer-Encoding", "").strip().lower() == "chunked":
        body = _read_chunked(stream)
    else:
        body = _read_exactly(stream, _length(headers))
    return gunzip(body) if encoding == "gzip" else body


def _length(headers: Message) -> int:
    text = headers.get("Content-Length")
    if text is None:
        raise Refusal(411, "Content-Length is missing")
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise Refusal(400, f"Content-Length {text!r}: expected a whole number")
    return _within_limit(int(digits), unread=True)


def _within_limit(size: int, *, unread: bool = False) -> int:
    if size > MAX_BODY:
        raise Refusal(413, f"the body is longer than {MAX_BODY:,} bytes", unread=unread)
    return size


def _read_exactly(stream: BufferedIOBase, size: int) -> bytes:
    body = stream.read(size)
    if len(body) < size:
        raise Refusal(400, "the body ends early")
    return body


def _read_chunked(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    while True:
        digits = stream.readline(1024).partition(b";")[0].strip()
        if not digits or len(digits) > 16 or not _HEX.issuperset(digits):
            raise Refusal(400, "malformed chunk")
        size = int(digits, 16)
        if size == 0:
            break
        _within_limit(len(body) + size)
        body += _read_exactly(stream, size)
        if stream.readline(3).strip():
            raise Refusal(400, "malformed chunk")
    for _ in range(100):
        if not stream.readline(8192).strip():
            return bytes(body)
    raise Refusal(400, "too many trailers")


def gunzip(data: bytes) -> bytes:
    """Unpacks gzip, but never more than the limit, whatever a small body may claim to hold. Raises `Refusal`."""
    unpacked = bytearray()
    for _ in range(_MAX_MEMBERS):
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            unpacked += member.decompress(data, MAX_BODY + 1 - len(unpacked))
        except zlib.error as error:
            raise Refusal(400, f"the body is no gzip: {error}") from None
        _within_limit(len(unpacked))
        if not member.eof:
            raise Refusal(400, "the gzip body ends early")
        data = member.unused_data
        if not data:
            return bytes(unpacked)
    raise Refusal(400, f"the gzip body has more than {_MAX_MEMBERS} members")
