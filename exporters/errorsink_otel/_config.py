"""Where a signal goes and how: the OTEL_* settings resolved for one signal. Pure; imports nothing heavy.

The rules are those of the OTLP exporter's specification
(https://opentelemetry.io/docs/specs/otel/protocol/exporter/): what is set for the signal alone wins over what is
set for both, a general endpoint gets the signal's path appended, and a signal's own endpoint is taken as it is.
"""

from __future__ import annotations

import base64
import re
from functools import partial
from typing import Any, Callable, Literal, Mapping, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from errorsink.errors import SinkUnavailable
from errorsink.sinks import SinkConfig

__all__ = ["SignalName", "Target", "TlsFiles", "parse_headers", "parse_pairs", "resolve", "setting", "variable"]

SignalName = Literal["logs", "traces"]

DEFAULT_ENDPOINTS = {"http/protobuf": "http://localhost:4318", "grpc": "http://localhost:4317"}
"""The specification's own, for a sink that is switched on and told nothing more."""

_GENERAL_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header's name (RFC 9110, section 5.6.2)."""
_HTTP_VALUE = re.compile(r"[\x20-\x7e\xa0-\xff]*")
"""A header's value without control characters, in Latin-1, the only encoding that HTTP/1.1 clients agree on."""
_GRPC_KEY = re.compile(r"[0-9A-Za-z_.-]+")
_GRPC_VALUE = re.compile(r"[\x20-\x7e]*")
"""gRPC's metadata is narrower than HTTP's headers (PROTOCOL-HTTP2.md, "Custom-Metadata")."""
_OURS = frozenset({"connection", "content-encoding", "content-length", "content-type", "transfer-encoding"})
"""Headers that say how a request is written; a wrong one makes the peer read another request than was sent."""


class TlsFiles(NamedTuple):
    """Paths of PEM files, for a connection in TLS."""

    certificate: str | None = None
    """The CAs that vouch for the collector; None: the usual ones."""
    client_certificate: str | None = None
    client_key: str | None = None
    """The certificate's own file, where that holds the key too."""


class Target(NamedTuple):
    """All that a transport must know."""

    protocol: str
    """`http/protobuf` or `grpc`."""
    endpoint: str
    """A URL for HTTP, `host:port` for gRPC; never with a user or a password in it."""
    secure: bool
    headers: Mapping[str, str]
    timeout: float | None
    """Seconds for one request; None: whatever the caller allows."""
    gzip: bool
    variable: str
    """The variable to look at when something is wrong with the endpoint."""
    tls: TlsFiles

    def masked(self, text: str) -> str:
        """A foreign text on one line, bounded, without control characters and without a header's value."""
        for value in self.headers.values():
            for part in {value, value.rpartition(" ")[2]}:
                if len(part) > 3:
                    text = text.replace(part, "***")
        text = "".join(c if c.isprintable() else " " for c in text[:1000]).strip()
        return text if len(text) <= 200 else text[:199] + "…"

    @property
    def shown(self) -> str:
        """The endpoint for a diagnostic: its query may hold a token, so it stays out."""
        return self.endpoint.partition("?")[0]


def variable(settings: Mapping[str, Any], signal: SignalName, kind: str) -> str | None:
    """The name of the variable that sets this for the signal: its own, else the general one; None where none does."""
    for name in (f"otel_exporter_otlp_{signal}_{kind}", f"otel_exporter_otlp_{kind}"):
        if settings.get(name) not in (None, ""):
            return name.upper()
    return None


def setting(settings: Mapping[str, Any], signal: SignalName, kind: str) -> Any:
    """An exporter's setting for a signal, or for both signals, or None."""
    name = variable(settings, signal, kind)
    return None if name is None else settings[name.lower()]


def resolve(config: SinkConfig, signal: SignalName) -> Target:
    """The target of a signal.

    Raises:
        SinkUnavailable: the endpoint doesn't fit the protocol, or a file of the TLS settings can't be used.
    """
    settings = config.settings
    protocol: str = setting(settings, signal, "protocol") or "http/protobuf"
    where = variable(settings, signal, "endpoint") or _GENERAL_ENDPOINT
    given: str = settings.get(where.lower()) or DEFAULT_ENDPOINTS[protocol]
    headers = parse_headers(
        setting(settings, signal, "headers"),
        config.diagnose,
        variable=variable(settings, signal, "headers") or "OTEL_EXPORTER_OTLP_HEADERS",
        grpc=protocol == "grpc",
    )
    if protocol == "grpc":
        insecure = setting(settings, signal, "insecure") is True
        endpoint, secure, authorization = _grpc_target(given, where, insecure=insecure)
    else:
        endpoint, authorization = _url(given, f"v1/{signal}" if where == _GENERAL_ENDPOINT else "", where)
        secure = endpoint.lower().startswith("https:")
    if authorization:
        headers.setdefault("authorization", authorization)
    return Target(
        protocol=protocol,
        endpoint=endpoint,
        secure=secure,
        headers=headers,
        timeout=setting(settings, signal, "timeout"),
        gzip=setting(settings, signal, "compression") == "gzip",
        variable=where,
        tls=_tls_files(settings, signal) if secure else TlsFiles(),
    )


def _url(given: str, path: str, where: str) -> tuple[str, str | None]:
    """The URL to post to, and the Authorization of a user in it."""
    if "://" not in given:
        raise SinkUnavailable(f"{where}: http/protobuf needs an http:// or https:// URL, got {given[:80]!r}")
    parts = _split(given, where)
    authorization, host = _userinfo(parts)
    joined = f"{parts.path.rstrip('/')}/{path}" if path else parts.path or "/"
    return urlunsplit((parts.scheme, host, joined, parts.query, "")), authorization


def _grpc_target(given: str, where: str, *, insecure: bool) -> tuple[str, bool, str | None]:
    """gRPC's target, whether it is spoken to in TLS, and the Authorization of a user in it."""
    if "://" not in given:
        return given, not insecure, None
    parts = _split(given, where)
    if parts.scheme not in ("http", "https"):
        return given, not insecure, None
    authorization, host = _userinfo(parts)
    secure = parts.scheme == "https"
    return host if parts.port else f"{host}:{443 if secure else 80}", secure, authorization


def _split(given: str, where: str) -> SplitResult:
    try:
        parts = urlsplit(given)
        if not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:  # an impossible port, or brackets that don't close
        shown = given.rpartition("@")[2][:80]
        raise SinkUnavailable(f"{where}: no usable host and port in {shown!r}") from None
    return parts


def _userinfo(parts: SplitResult) -> tuple[str | None, str]:
    """A URL's user and password as HTTP's Basic authorization, and its host and port alone."""
    user, _, host = parts.netloc.rpartition("@")
    if not user:
        return None, host
    name, _, password = user.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}".encode()
    return f"Basic {base64.b64encode(pair).decode()}", host


def _tls_files(settings: Mapping[str, Any], signal: SignalName) -> TlsFiles:
    """The files that are set, tried out: over two that don't belong together gRPC's library ends the whole process."""
    import ssl  # 10 ms, which only TLS needs

    ca, certificate, key = files = TlsFiles(*(setting(settings, signal, kind) for kind in TlsFiles._fields))
    names = TlsFiles(*(variable(settings, signal, kind) for kind in TlsFiles._fields))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name, path in zip(names, files, strict=True):
        if path is not None:
            _try(partial(_read, path), f"{name}: can't read the file {path!r}")
    if ca is not None:
        load = partial(context.load_verify_locations, ca)
        _try(load, f"{names.certificate}: no certificate that can be used in {ca!r}")
    if certificate is not None:
        load = partial(context.load_cert_chain, certificate, key, _no_password)
        _try(load, f"{names.client_certificate}: no certificate in {certificate!r} with a key that can be used")
    elif key is not None:
        raise SinkUnavailable(f"{names.client_key} is set without a CLIENT_CERTIFICATE for the key")
    return files._replace(client_key=key or certificate)


def _read(path: str) -> None:
    with open(path, "rb"):
        pass


def _no_password() -> str:
    """For an encrypted key: by itself OpenSSL would ask for the password at the terminal."""
    return ""


def _try(use: Callable[[], object], what: str) -> None:
    try:
        use()
    except OSError as error:
        raise SinkUnavailable(f"{what}: {getattr(error, 'reason', None) or error.strerror}") from None


def parse_pairs(text: str) -> list[tuple[str, str] | None]:
    """The pairs of a comma list `key=value`, trimmed and percent-decoded once; None for one that isn't a pair."""
    pairs: list[tuple[str, str] | None] = []
    for part in text.split(","):
        if not part.strip():
            continue
        key, equals, value = (unquote(piece.strip()).strip() for piece in part.partition("="))
        pairs.append((key, value) if equals and key else None)
    return pairs


def parse_headers(
    text: str | None,
    diagnose: Callable[[str], None],
    *,
    variable: str = "OTEL_EXPORTER_OTLP_HEADERS",
    grpc: bool = False,
) -> dict[str, str]:
    """The headers in the value of a variable; a pair that can't be sent is left out, with a diagnostic.

    A diagnostic names a header, and never a value. What is no pair at all isn't shown either: it may be a token
    that stands there alone.
    """
    headers: dict[str, str] = {}
    key_pattern, value_pattern = (_GRPC_KEY, _GRPC_VALUE) if grpc else (_TOKEN, _HTTP_VALUE)
    for number, pair in enumerate(parse_pairs(text or ""), 1):
        if pair is None or not key_pattern.fullmatch(pair[0]):
            diagnose(f"{variable}: pair {number} is not name=value; it is left out")
        elif pair[0].lower() in _OURS or (grpc and pair[0].lower().endswith("-bin")):
            diagnose(f"{variable}: {pair[0]!r} can't be set; it is left out")
        elif not value_pattern.fullmatch(pair[1]):
            diagnose(f"{variable}: the value of {pair[0]!r} can't be sent in a header; it is left out")
        else:
            headers[pair[0].lower()] = pair[1]
    return headers
