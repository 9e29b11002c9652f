"""OTLP over HTTP: the official exporter writes the request, a session of our own makes it, and keeps the answer.

The official exporter tries again by itself, takes a redirect for a success and reads no partial success. It is told
that all went well, in every case; what really happened is in `OneAttempt.outcome`.
"""

from __future__ import annotations

import io
import sys
from typing import Any, Callable, Sequence

import requests
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.version import __version__ as exporter_version

from errorsink.sinks import Outcome
from errorsink_otel._answers import accepted, http_answer, network_failure, unencodable
from errorsink_otel._config import Target
from errorsink_otel._deadline import DeadlineAdapter, deadline

__all__ = ["HttpExporter"]

PROTOBUF = "application/x-protobuf"
_MAX_ANSWER = 65_536
"""Bytes of an answer that are read; OTLP's own are a few hundred at most."""


class OneAttempt(requests.Session):
    """A session that makes one bounded attempt, follows nothing, and always answers 200."""

    def __init__(self, target: Target, response: Callable[[], Message], version: str) -> None:
        super().__init__()
        self.outcome: Outcome | None = None
        self.sent = 0
        self._target = target
        self._response = response
        self._headers = {
            "Accept-Encoding": "identity",
            "Content-Type": PROTOBUF,
            "User-Agent": f"errorsink/{version} OTel-OTLP-Exporter-Python/{exporter_version}",
            **({"Content-Encoding": "gzip"} if target.gzip else {}),
            **target.headers,
        }
        ca, certificate, key = target.tls
        self._verify = ca or True
        self._cert = (certificate, key) if certificate else None
        self.auth = _unchanged
        for scheme in ("http://", "https://"):
            self.mount(scheme, DeadlineAdapter(pool_connections=1, pool_maxsize=1))

    def request(self, method: Any, url: Any, *_args: Any, data: Any = None, **_options: Any) -> requests.Response:
        """The exporter's request: its body is sent, its other wishes are known from the target."""
        handled = sys.exc_info()[1]
        try:
            self.outcome = self._attempt(data)
        except requests.exceptions.InvalidProxyURL:
            self.outcome = Outcome.retry("network", "the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY can't be used")
        except Exception as error:  # noqa: BLE001  # the exporter would hide it, log it, and try again
            self.outcome = network_failure(self._target, error, handled)
        return _success()

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Of no answer: requests would read all of its body and parse where it leads, even if nobody follows it."""

    def _attempt(self, body: bytes) -> Outcome:
        response = super().request(
            "POST",
            self._target.endpoint,
            data=body,
            headers=self._headers,
            allow_redirects=False,
            stream=True,
            verify=self._verify,
            cert=self._cert,  # type: ignore[arg-type]  # the stubs want a str in either place
        )
        with response:
            answer = _read(response)
        if 200 <= response.status_code < 300:
            message = _decoded(self._response(), answer)
            return accepted(self._target, getattr(message, "partial_success", None), self.sent)
        said = _decoded(Status(), answer) if response.headers.get("Content-Type") == PROTOBUF else None
        text = self._target.masked(getattr(said, "message", ""))
        return http_answer(self._target, response.status_code, response.headers, text)


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keeps requests from putting a password of ~/.netrc in the place of the given Authorization."""
    return request


def _success() -> requests.Response:
    response = requests.Response()
    response.status_code = 200
    response.raw = io.BytesIO()
    return response


def _read(response: requests.Response) -> bytes:
    """What can be read of the answer. Its status has been read, and that decides, whatever becomes of the rest."""
    try:
        return bytes(response.raw.read(_MAX_ANSWER, decode_content=True))
    except Exception:  # noqa: BLE001  # reset, trickled, garbled: urllib3 and http.client have many words for it
        return b""


def _decoded(message: Message, data: bytes) -> Message | None:
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message


class HttpExporter:
    """One signal's official exporter over HTTP, with the truth about each batch."""

    def __init__(
        self, target: Target, exporter: Callable[..., Any], response: Callable[[], Message], version: str
    ) -> None:
        self._target = target
        self._session = OneAttempt(target, response, version)
        self._exporter = exporter(
            endpoint=target.endpoint,
            certificate_file=target.tls.certificate,
            client_key_file=target.tls.client_key,
            client_certificate_file=target.tls.client_certificate,
            headers=dict(target.headers),
            timeout=10.0,  # for its own retries alone, of which there are none
            compression=Compression.Gzip if target.gzip else Compression.NoCompression,
            session=self._session,
        )

    def export(self, batch: Sequence[Any], timeout: float) -> Outcome:
        """One attempt, within `timeout` seconds."""
        self._session.outcome = None
        self._session.sent = len(batch)
        with deadline(timeout):
            try:
                self._exporter.export(batch)
            except Exception as error:  # noqa: BLE001  # of its encoder: the session itself raises nothing
                return unencodable(error)
        return self._session.outcome or unencodable()

    def close(self) -> None:
        self._session.close()
