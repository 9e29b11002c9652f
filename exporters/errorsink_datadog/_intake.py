"""Datadog's logs intake over httpx: one attempt for one batch, within its time, whatever the peer does.

The requests go straight to httpx's transport, and past its client: that would log each one's URL, whose query may hold
a token, keep cookies, and be traced and given headers by whatever instruments httpx in the application.
"""

from __future__ import annotations

import os
import ssl
import time
import zlib
from base64 import b64encode
from contextlib import closing, suppress
from functools import partial
from importlib.util import find_spec
from typing import Callable, Sequence

import httpcore
import httpx

from errorsink.errors import SinkUnavailable
from errorsink.sinks import Outcome
from errorsink_datadog._answers import outcome_of
from errorsink_datadog._target import Endpoint
from errorsink_datadog._transport import KEEP_ALIVE, NETWORK_ERRORS, Deadline, DeadlineBackend, DeadlineTransport

__all__ = ["Intake", "gzipped"]

CONNECT_TIMEOUT = 5.0
"""Seconds that a connection may take, at most; a request as a whole has the time that `post` is given."""
BODY_BYTES = 4_096
"""An answer's body is read this far: enough to use its connection again, and no more than that is wanted of it."""
BODY_TIMEOUT = 0.5
"""Seconds that the body may take once the status, which decides, is there."""
LEVEL = 1
"""gzip's: higher levels take several times as long to save a few per cent of stack traces."""


class Intake:
    """Posts encoded logs to one endpoint. For one thread at a time."""

    def __init__(
        self, endpoint: Endpoint, api_key: str, proxy: Endpoint | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Prepares the requests; a connection is made at the first `post`.

        Raises:
            SinkUnavailable: the proxy needs a package that isn't installed, or the CA file can't be read.
        """
        self._host = endpoint.host
        self._via = f" through the proxy {proxy.host}" if proxy else ""
        self._clock = clock
        self._deadline = Deadline()
        self._pid = os.getpid()
        self._transport = DeadlineTransport(partial(_pool, proxy, _tls(endpoint, proxy)), self._deadline)
        self._url = _checked(endpoint.url)
        self._headers = {
            "DD-API-KEY": api_key,
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "errorsink",
            "Connection": "keep-alive",
            **({"Authorization": _basic(*endpoint.auth)} if endpoint.auth else {}),
        }

    def post(self, logs: Sequence[bytes], timeout: float) -> Outcome:
        """Sends one array of logs, and returns within `timeout` seconds; `DeadlineBackend` has the one exception."""
        self._deadline.start(timeout)
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._transport.reset()
        limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)).as_dict()
        request = httpx.Request(
            "POST", self._url, headers=self._headers, content=gzipped(logs), extensions={"timeout": limits}
        )
        try:
            with closing(self._transport.handle_request(request)) as answer:
                self._read_a_little(answer)
        except NETWORK_ERRORS as error:
            self._transport.reset()
            return Outcome.retry("network", self._failure(error, timeout))
        return outcome_of(answer.status_code, answer.headers, self._host, self._clock())

    def _read_a_little(self, answer: httpx.Response) -> None:
        """Reads the body to its end if that is near; a connection with an unread rest is closed with the answer."""
        self._deadline.shorten(BODY_TIMEOUT)
        size = 0
        with suppress(*NETWORK_ERRORS):  # the status has decided
            for part in answer.iter_raw():
                size += len(part)
                if size > BODY_BYTES:
                    break

    def _failure(self, error: Exception, timeout: float) -> str:
        """What went wrong, in words that hold nothing of what was sent or received."""
        where = f"{self._host}{self._via}"
        if isinstance(error, (httpcore.ConnectTimeout, httpx.ConnectTimeout)):
            return f"{where}: no connection in time; check the network and the proxy variables"
        if isinstance(error, (httpcore.ConnectError, httpx.ConnectError)):
            return f"{where}: no connection ({_short(error)}); check the network, ERRORSINK_DATADOG_URL and DD_SITE"
        if isinstance(error, (httpcore.TimeoutException, httpx.TimeoutException)):
            return f"{where}: no answer within {timeout:.3g} s; check the network, or raise ERRORSINK_SEND_TIMEOUT"
        if isinstance(error, (httpcore.ProxyError, httpx.ProxyError)):
            return f"{where}: the proxy opens no way; check the proxy variables, and its user and password"
        return f"{where}: the connection broke ({type(error).__name__})"

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def gzipped(logs: Sequence[bytes]) -> bytes:
    """The JSON array of encoded logs, compressed."""
    compress = zlib.compressobj(LEVEL, wbits=31)
    return compress.compress(b"[" + b",".join(logs) + b"]") + compress.flush()


def _checked(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
        _ = parsed.host  # which is decoded only now, where it is an internationalized name
        return parsed
    except (httpx.InvalidURL, UnicodeError):
        raise SinkUnavailable(
            "ERRORSINK_DATADOG_URL: expected an http:// or https:// URL with a valid host; the Datadog sink is off"
        ) from None


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 160 else text[:159] + "…"


def _pool(proxy: Endpoint | None, tls: ssl.SSLContext | None, backend: DeadlineBackend) -> httpcore.ConnectionPool:
    if proxy is None:
        return httpcore.ConnectionPool(ssl_context=tls, keepalive_expiry=KEEP_ALIVE, network_backend=backend)
    auth = (proxy.auth[0].encode(), proxy.auth[1].encode()) if proxy.auth else None
    if proxy.scheme.startswith("socks"):
        return httpcore.SOCKSProxy(
            proxy.url, proxy_auth=auth, ssl_context=tls, keepalive_expiry=KEEP_ALIVE, network_backend=backend
        )
    return httpcore.HTTPProxy(
        proxy.url,
        proxy_auth=auth,
        ssl_context=tls,
        proxy_ssl_context=tls if proxy.scheme == "https" else None,
        keepalive_expiry=KEEP_ALIVE,
        network_backend=backend,
    )


def _tls(endpoint: Endpoint, proxy: Endpoint | None) -> ssl.SSLContext | None:
    """The TLS settings, with the CAs of SSL_CERT_FILE or SSL_CERT_DIR where that is set; None where TLS isn't used."""
    if proxy is not None and proxy.scheme.startswith("socks") and find_spec("socksio") is None:
        raise SinkUnavailable(
            "the proxy variables ask for a SOCKS proxy, which needs another package: run `pip install 'httpx[socks]'`,"
            f" or add {endpoint.host} to NO_PROXY; the Datadog sink is off"
        )
    if "https" not in (endpoint.scheme, proxy.scheme if proxy else None):
        return None
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise SinkUnavailable(
            f"the CA certificates can't be read ({type(error).__name__}): check SSL_CERT_FILE and SSL_CERT_DIR;"
            " the Datadog sink is off"
        ) from None
