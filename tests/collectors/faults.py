"""The ways in which a `FaultyServer` answers a request, one class for each.

Anything with a `perform(exchange)` is such a way, so a test may bring its own.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Callable, Literal, Mapping, Protocol

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.collectors.http_request import Request


class Exchange(Protocol):
    """One request and the connection on which it came."""

    @property
    def request(self) -> Request: ...
    def send(self, data: bytes) -> None:
        """Sends raw bytes."""

    def close(self) -> None:
        """Ends the connection in order (FIN)."""

    def reset(self) -> None:
        """Ends the connection hard (RST)."""

    def hold(self, seconds: float | None = None) -> bool:
        """Waits until the test releases the server, or the server closes, or `seconds` are over.

        True if the test released it: only then it makes sense to go on.
        """
        ...

    def pause(self, seconds: float) -> bool:
        """Waits, and tells whether the server still runs."""
        ...


class Behaviour(Protocol):
    """One way to answer."""

    def perform(self, exchange: Exchange) -> None: ...


@dataclass(frozen=True)
class Answer:
    """A whole answer. Content-Length is added unless it is among `headers`."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""

    def head(self) -> bytes:
        """The status line and the headers, with the empty line after them."""
        headers = {"Content-Length": str(len(self.body)), **self.headers}
        reason = http.client.responses.get(self.status, "Unknown")
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def perform(self, exchange: Exchange) -> None:
        exchange.send(self.head() + self.body)


OK = Answer()
ACCEPTED = Answer(202, {"Content-Type": "application/json"}, b"{}")
"""What Datadog's intake answers."""


@dataclass(frozen=True)
class Silent:
    """Never answers. Ends the connection when the test releases the server, or the server closes.

    `reads=False`: doesn't read the request either, so that a large one blocks its sender; the request is not recorded.
    """

    reads: bool = True

    def perform(self, exchange: Exchange) -> None:
        exchange.hold()
        exchange.close()


@dataclass(frozen=True)
class Held:
    """Answers when the test releases the server."""

    then: Behaviour = OK

    def perform(self, exchange: Exchange) -> None:
        if exchange.hold():
            self.then.perform(exchange)


@dataclass(frozen=True)
class Slow:
    """Answers after some seconds."""

    seconds: float
    then: Behaviour = OK

    def perform(self, exchange: Exchange) -> None:
        if exchange.pause(self.seconds):
            self.then.perform(exchange)


@dataclass(frozen=True)
class Trickling:
    """Sends one byte at a time, in the head (status line and headers) or in the body, with a pause before each.

    `padding` makes that part longer by so many bytes, so that it outlasts any patience.
    """

    part: Literal["head", "body"] = "body"
    pause: float = 0.02
    padding: int = 1_000_000
    answer: Answer = OK

    def perform(self, exchange: Exchange) -> None:
        filler = "x" * self.padding
        if self.part == "head":
            answer = Answer(self.answer.status, {**self.answer.headers, "X-Padding": filler}, self.answer.body)
            quick, slow, rest = b"", answer.head(), answer.body
        else:
            answer = Answer(self.answer.status, self.answer.headers, self.answer.body + filler.encode())
            quick, slow, rest = answer.head(), answer.body, b""
        exchange.send(quick)
        for byte in slow:
            if not exchange.pause(self.pause):
                return
            exchange.send(bytes([byte]))
        exchange.send(rest)


@dataclass(frozen=True)
class Reset:
    """Resets the connection: before the answer, in its head, or in its body."""

    when: Literal["before", "head", "body"] = "before"

    def perform(self, exchange: Exchange) -> None:
        head = Answer(200, {"Content-Length": "100"}).head()
        exchange.send({"before": b"", "head": head[:12], "body": head + b"{"}[self.when])
        exchange.reset()


@dataclass(frozen=True)
class Closed:
    """Ends the connection in order, after the first `sent` bytes of an answer."""

    sent: int = 0

    def perform(self, exchange: Exchange) -> None:
        exchange.send(OK.head()[: self.sent])
        exchange.close()


@dataclass(frozen=True)
class Garbage:
    """Answers what is no HTTP, and ends the connection."""

    data: bytes = b"\x00\xff SSH-2.0-OpenSSH_9.6\r\n\r\n"

    def perform(self, exchange: Exchange) -> None:
        exchange.send(self.data)
        exchange.close()


@dataclass(frozen=True)
class Redirect:
    """Sends the client elsewhere."""

    location: str
    status: int = 302

    def perform(self, exchange: Exchange) -> None:
        Answer(self.status, {"Location": self.location}).perform(exchange)


def json_items(body: bytes) -> int:
    """How many items a JSON array holds."""
    return len(json.loads(body))


@dataclass(frozen=True)
class TooLarge:
    """Answers 413 to more than `max_bytes` of uncompressed body or more than `max_items`, and `then` to all else."""

    max_bytes: int | None = None
    max_items: int | None = None
    items: Callable[[bytes], int] = json_items
    then: Behaviour = ACCEPTED

    def perform(self, exchange: Exchange) -> None:
        body = exchange.request.body
        too_long = self.max_bytes is not None and len(body) > self.max_bytes
        too_many = self.max_items is not None and self.items(body) > self.max_items
        (Answer(413) if too_long or too_many else self.then).perform(exchange)


@dataclass(frozen=True)
class PartialSuccess:
    """Answers 200 as OTLP does when it took a part only; `rejected=0` with a message is its way to warn."""

    rejected: int = 1
    message: str = ""

    def perform(self, exchange: Exchange) -> None:
        traces = exchange.request.path.endswith("/v1/traces")
        body = (_partial_spans if traces else _partial_logs)(self.rejected, self.message)
        Answer(200, {"Content-Type": "application/x-protobuf"}, body).perform(exchange)


def _partial_logs(rejected: int, message: str) -> bytes:
    answer = ExportLogsServiceResponse()
    answer.partial_success.rejected_log_records = rejected
    answer.partial_success.error_message = message
    return answer.SerializeToString()


def _partial_spans(rejected: int, message: str) -> bytes:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = rejected
    answer.partial_success.error_message = message
    return answer.SerializeToString()
