"""OTLP over gRPC: the official encoder and stub, one call for a batch, and its true status.

The official gRPC exporter isn't used for the call itself: it tries again by itself, keeps the status to itself, has
one timeout for its whole life, and can't be built at all where OTEL_EXPORTER_OTLP_LOGS_TIMEOUT isn't a number.
"""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Sequence

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.grpc.version import __version__ as exporter_version

from errorsink.sinks import Outcome
from errorsink_otel._answers import LONGEST_WAIT, accepted, unencodable
from errorsink_otel._config import Target
from errorsink_otel._green import blocking

__all__ = ["GrpcExporter"]

RETRIED = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""OTLP's table of retryable codes; RESOURCE_EXHAUSTED is one too, where the server says when to come again."""
_BROKEN = re.compile(r"RST_STREAM|[Ss]tream removed|GOAWAY|Socket closed|Connection reset")
"""In the details of INTERNAL and UNKNOWN, which gRPC itself then reports for a connection that broke."""
_TOO_LARGE = re.compile(r"message larger than max|too large", re.IGNORECASE)
_HINTS = {
    grpc.StatusCode.UNAUTHENTICATED: "check OTEL_EXPORTER_OTLP_HEADERS",
    grpc.StatusCode.PERMISSION_DENIED: "check OTEL_EXPORTER_OTLP_HEADERS",
    grpc.StatusCode.UNIMPLEMENTED: "check {variable} and OTEL_EXPORTER_OTLP_PROTOCOL",
}


class GrpcExporter:
    """One signal's calls over one channel, which is opened at the first."""

    def __init__(
        self,
        target: Target,
        encode: Callable[[Sequence[Any]], Message],
        stub: Callable[[grpc.Channel], Any],
        version: str,
    ) -> None:
        self._target = target
        self._encode = encode
        self._stub = stub
        self._metadata = tuple(target.headers.items())
        self._options = (
            ("grpc.primary_user_agent", f"errorsink/{version} OTel-OTLP-Exporter-Python/{exporter_version}"),
            ("grpc.enable_retries", 0),
            # a new channel is a new start: its back-off isn't that of an earlier one to the same address
            ("grpc.use_local_subchannel_pool", 1),
        )
        self._credentials = _credentials(target) if target.secure else None
        self._channel: grpc.Channel | None = None

    def export(self, batch: Sequence[Any], timeout: float) -> Outcome:
        """One call; it and the encoding take `timeout` seconds together, at most."""
        ends = time.monotonic() + timeout
        try:
            request = self._encode(batch)
        except Exception as error:  # noqa: BLE001  # the encoder raises Exception itself for what it doesn't know
            return unencodable(error)
        call = self._stub(self._opened()).Export
        try:
            answer = blocking(lambda: call(request, timeout=max(ends - time.monotonic(), 0), metadata=self._metadata))
        except grpc.RpcError as error:
            outcome = self._failure(error)
            if outcome.status == "retry":
                self.close()  # gRPC would wait up to two minutes before it connects again; how long to wait is ours
            return outcome
        return accepted(self._target, answer.partial_success, len(batch))

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _opened(self) -> grpc.Channel:
        if self._channel is None:
            compression = grpc.Compression.Gzip if self._target.gzip else grpc.Compression.NoCompression
            if self._credentials is None:
                self._channel = grpc.insecure_channel(self._target.endpoint, self._options, compression)
            else:
                self._channel = grpc.secure_channel(
                    self._target.endpoint, self._credentials, self._options, compression
                )
        return self._channel

    def _failure(self, error: Any) -> Outcome:
        code: grpc.StatusCode = error.code()
        details: str = error.details() or ""
        name = code.name.lower()
        reason = f"grpc-{name.replace('_', '-')}"
        detail = f"the call to {self._target.shown} ended with {name}: {self._target.masked(details)}"
        wait = _retry_info(error.trailing_metadata() or ())
        if code in RETRIED or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and wait is not None):
            return Outcome.retry(reason, detail, after=wait)
        if code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN) and _BROKEN.search(details):
            return Outcome.retry(reason, detail, after=wait)
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE.search(details):
            return Outcome.too_large(reason, detail)
        hint = _HINTS.get(code, "").format(variable=self._target.variable)
        return Outcome.rejected(reason, f"{detail}; {hint}" if hint else detail)


def _credentials(target: Target) -> grpc.ChannelCredentials:
    ca, certificate, key = map(_content, target.tls)
    return grpc.ssl_channel_credentials(ca, key, certificate)


def _content(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


def _retry_info(trailing: Sequence[tuple[str, str | bytes]]) -> float | None:
    """The wait that the server asks for: in the status's details, or in a trailer of its own."""
    info = RetryInfo()
    for key, value in trailing:
        if not isinstance(value, bytes):
            continue
        try:
            if key == "google.rpc.retryinfo-bin":
                info.ParseFromString(value)
                return _seconds(info)
            if key == "grpc-status-details-bin" and any(any_.Unpack(info) for any_ in Status.FromString(value).details):
                return _seconds(info)
        except DecodeError:
            continue
    return None


def _seconds(info: Any) -> float:
    seconds: float = info.retry_delay.seconds + info.retry_delay.nanos / 1e9
    return min(max(seconds, 0.0), LONGEST_WAIT)
