"""Where the Datadog sink sends: the intake of a site or a URL of the user's own, and the proxy on the way.

Nothing in here touches the network or the process's environment.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from errorsink.errors import SinkUnavailable

__all__ = ["LOGS_PATH", "SITES", "Endpoint", "api_host", "intake", "proxy_for", "without_userinfo"]

LOGS_PATH = "/api/v2/logs"

SITES = (
    "datadoghq.com",
    "us3.datadoghq.com",
    "us5.datadoghq.com",
    "ap1.datadoghq.com",
    "ap2.datadoghq.com",
    "uk1.datadoghq.com",
    "datadoghq.eu",
    "ddog-gov.com",
    "us2.ddog-gov.com",
)
"""Datadog's sites, as its official client lists them."""

PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class Endpoint:
    """A URL whose user and password are kept apart from it, so that no text made of it can show them."""

    __slots__ = ("auth", "host", "hostname", "scheme", "url")

    def __init__(self, parts: SplitResult, path: str) -> None:
        """Takes a parsed URL apart. Raises ValueError when it has no host, or a port that is none."""
        if not parts.hostname:
            raise ValueError
        self.hostname = parts.hostname
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.scheme = parts.scheme.lower()
        self.host = name if parts.port is None else f"{name}:{parts.port}"
        """Host and port, as they may be shown."""
        self.url = f"{self.scheme}://{self.host}{path}" + (f"?{parts.query}" if parts.query else "")
        self.auth = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.host}"

    def __repr__(self) -> str:
        return f"Endpoint({self.origin})"


def intake(url: str, site: str) -> Endpoint:
    """The endpoint of `ERRORSINK_DATADOG_URL`, or of the site where that is empty.

    A URL whose path ends in `/api/v2/logs` is used as it is; to any other the path is appended. A query stays.

    Raises:
        SinkUnavailable: the URL has no usable host or port, or the site is unknown.
    """
    if not url:
        return _endpoint_of(f"https://http-intake.logs.{known_site(site)}{LOGS_PATH}")
    try:
        return _endpoint_of(url)
    except ValueError:
        raise SinkUnavailable(
            "ERRORSINK_DATADOG_URL: expected an http:// or https:// URL with a valid host and port,"
            " such as https://proxy.example:8443; the Datadog sink is off"
        ) from None


def _endpoint_of(url: str) -> Endpoint:
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError
    path = parts.path.rstrip("/")
    return Endpoint(parts, path if path.endswith(LOGS_PATH) else path + LOGS_PATH)


def api_host(url: str, site: str) -> str:
    """The origin of Datadog's API: that of `ERRORSINK_DATADOG_URL` where it is set, else the site's own.

    Raises:
        SinkUnavailable: as for `intake`.
    """
    return intake(url, site).origin if url else f"https://api.{known_site(site)}"


def known_site(site: str) -> str:
    """The site in lower case. Raises `SinkUnavailable`, with the known ones, for any other."""
    name = site.strip().lower()
    if name not in SITES:
        shown = name if len(name) <= 60 and name.isprintable() and "@" not in name else "the given value"
        raise SinkUnavailable(
            f"DD_SITE: {shown} is no site of Datadog; expected one of {', '.join(SITES)}"
            " (or set ERRORSINK_DATADOG_URL); the Datadog sink is off"
        )
    return name


def proxy_for(endpoint: Endpoint, env: Mapping[str, str]) -> Endpoint | None:
    """The proxy that the usual variables name for this endpoint; None: the direct way.

    `https_proxy` or `http_proxy` by the endpoint's scheme, else `all_proxy`. `no_proxy` lists what is reached directly:
    names with all that is under them, addresses, networks, or `*`. Lower case wins over upper case, an empty value
    unsets, and a value without a scheme is taken for `http://`. Under CGI `HTTP_PROXY` is ignored, since a client of
    the web server could set it.

    Raises:
        SinkUnavailable: the variable holds no usable proxy; its value isn't shown.
    """
    for name in (f"{endpoint.scheme}_proxy", "all_proxy"):
        value = _variable(name, env)
        if not value:
            continue
        if _is_direct(endpoint, _variable("no_proxy", env)):
            return None
        try:
            parts = urlsplit(value if "://" in value else f"http://{value}")
            if parts.scheme.lower() not in PROXY_SCHEMES:
                raise ValueError
            return Endpoint(parts, "")
        except ValueError:
            raise SinkUnavailable(
                f"{name.upper()}: expected a proxy such as http://proxy.example:3128; correct it, or add"
                f" {endpoint.host} to NO_PROXY; the Datadog sink is off"
            ) from None
    return None


def _is_direct(endpoint: Endpoint, listed: str) -> bool:
    return any(_covers(entry, endpoint) for entry in listed.lower().replace(" ", ",").split(",") if entry)


def _covers(entry: str, endpoint: Endpoint) -> bool:
    if entry in ("*", endpoint.host, endpoint.hostname):
        return True
    domain = entry.lstrip("*.")
    if domain and f".{endpoint.hostname}".endswith(f".{domain}"):
        return True
    try:
        return ip_address(endpoint.hostname) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False


def _variable(name: str, env: Mapping[str, str]) -> str:
    if name in env:
        return env[name].strip()
    if name == "http_proxy" and "REQUEST_METHOD" in env:
        return ""
    return env.get(name.upper(), "").strip()


def without_userinfo(url: str) -> str:
    """A URL without user and password; what is no URL comes back unchanged."""
    scheme, separator, rest = url.partition("://")
    if not separator or "@" not in rest:
        return url
    end = min((rest.find(mark) for mark in "/?#" if mark in rest), default=len(rest))
    authority, path = rest[:end], rest[end:]
    if "@" not in authority and ":" in authority and not authority.rpartition(":")[2].isdigit():
        # A password with an unescaped slash: what stands before the last @ can't be told from it, so all of it goes.
        authority, path = rest, ""
    return f"{scheme}://{authority.rpartition('@')[2]}{path}"
