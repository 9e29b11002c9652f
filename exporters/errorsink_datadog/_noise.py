"""Noise: errors that say nothing about the program, and that Datadog isn't bothered with.

Each filter has a name, and a filtered record counts under `noise:<name>`. `ERRORSINK_DATADOG_IGNORE` adds class names
and `module:function` top frames, and removes a filter by its name with a leading minus.
"""

from __future__ import annotations

from typing import Callable, Iterable

from errorsink.model import ErrorRecord

__all__ = ["CONTROL_FLOW", "FILTERS", "NETWORK", "Noise"]

CONTROL_FLOW = "control-flow"
NETWORK = "network"

FILTERS = {
    "APIUserAbortError": "the user stopped the request",
    "AuthenticationError": "the user's credentials were refused",
    "McpSessionExpiredError": "the session ran out, and is made anew",
    CONTROL_FLOW: "KeyboardInterrupt, SystemExit, GeneratorExit, cancellation and their kin",
    NETWORK: "a network error whose top frame is the network library's own",
}
"""The filters that are on by default, and what each one drops."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NETWORK_ERRNOS = _words(
    "EPIPE ECONNABORTED ECONNREFUSED ECONNRESET EHOSTDOWN EHOSTUNREACH ENETDOWN ENETRESET ENETUNREACH ENOTCONN"
    " ESHUTDOWN ETIMEDOUT"
)

NETWORK_CLASSES = _words(
    # builtins, socket and ssl; a certificate that fails to verify is a fault to be told, so it isn't among them
    "BrokenPipeError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError TimeoutError"
    " gaierror herror timeout SSLEOFError SSLError SSLSyscallError SSLZeroReturnError"
    # asyncio, http.client, urllib.request
    " IncompleteReadError BadStatusLine IncompleteRead RemoteDisconnected URLError"
    # httpcore, httpx
    " CloseError ConnectError ConnectTimeout NetworkError PoolTimeout ProxyError ReadError ReadTimeout"
    " RemoteProtocolError TimeoutException TransportError WriteError WriteTimeout"
    # urllib3, requests
    " ChunkedEncodingError ConnectTimeoutError MaxRetryError NameResolutionError NewConnectionError ProtocolError"
    " ReadTimeoutError Timeout"
    # anyio
    " BrokenResourceError ClosedResourceError ConnectionFailed EndOfStream"
    # aiohttp
    " ClientConnectionError ClientConnectionResetError ClientConnectorDNSError ClientConnectorError ClientOSError"
    " ClientPayloadError ClientProxyConnectionError ConnectionTimeoutError ServerConnectionError"
    " ServerDisconnectedError ServerTimeoutError SocketTimeoutError"
)

NETWORK_MODULES = (
    "aiohttp",
    "anyio",
    "asyncio.base_events",
    "asyncio.proactor_events",
    "asyncio.selector_events",
    "asyncio.sslproto",
    "asyncio.streams",
    "asyncio.transports",
    "asyncio.unix_events",
    "asyncio.windows_events",
    "http.client",
    "httpcore",
    "httpx._transports",  # where httpx raises what httpcore met
    "requests",
    "socket",
    "ssl",
    "urllib.request",
    "urllib3",
)
"""The network libraries; a package stands for all of its modules."""

_UNDER_NETWORK_MODULES = tuple(f"{module}." for module in NETWORK_MODULES)


class Noise:
    """Says which filter, if any, drops a record. Decided once from the settings; a look-up for each record."""

    def __init__(self, changes: Iterable[str] = (), diagnose: Callable[[str], None] = lambda text: None) -> None:
        """Starts from `FILTERS` and follows the changes of `ERRORSINK_DATADOG_IGNORE` in their order."""
        names = dict.fromkeys(FILTERS)
        for change in changes:
            if not change.startswith("-"):
                names[change] = None
            elif change[1:].strip() in names:
                del names[change[1:].strip()]
            else:
                diagnose(f"ERRORSINK_DATADOG_IGNORE: {change} removes nothing; the filters are {', '.join(names)}")
        self._control_flow = CONTROL_FLOW in names
        self._wanted = frozenset(FILTERS) - frozenset(names)
        self._network = NETWORK in names
        self._top_frames = frozenset(name for name in names if ":" in name)
        self._classes = frozenset(names) - self._top_frames - {CONTROL_FLOW, NETWORK}

    def reason(self, record: ErrorRecord) -> str | None:
        """`noise:` and the filter's name, or None for a record that Datadog shall have."""
        last = record.type.rpartition(".")[2]
        if record.type in self._classes or last in self._classes:
            return f"noise:{record.type if record.type in self._classes else last}"
        if record.control_flow and self._control_flow and last not in self._wanted:
            return f"noise:{CONTROL_FLOW}"
        place = record.top_frame.rpartition(":")[0] if record.top_frame else ""
        if place in self._top_frames:
            return f"noise:{place}"
        if self._network and (last in NETWORK_CLASSES or record.errno in NETWORK_ERRNOS) and _is_network_frame(place):
            return f"noise:{NETWORK}"
        return None


def _is_network_frame(place: str) -> bool:
    module = place.partition(":")[0]
    return module in NETWORK_MODULES or module.startswith(_UNDER_NETWORK_MODULES)
