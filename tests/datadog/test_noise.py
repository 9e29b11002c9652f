"""What Datadog isn't bothered with."""

from __future__ import annotations

import pytest
from errorsink_datadog._noise import FILTERS, Noise

from tests.datadog.samples import record


@pytest.mark.parametrize("name", ["APIUserAbortError", "AuthenticationError", "McpSessionExpiredError"])
@pytest.mark.parametrize("package", ["", "anthropic.", "anthropic._exceptions.", "a.Outer."])
def test_known_noise_by_class(name: str, package: str) -> None:
    """Whatever package the class is of, it counts under its own name."""
    assert Noise().reason(record(type=package + name)) == f"noise:{name}"


@pytest.mark.parametrize(
    "name", ["ValueError", "MyAuthenticationError", "AuthenticationErrors", "auth.AuthenticationError.X"]
)
def test_other_classes_pass(name: str) -> None:
    """A class is noise by its whole last name only."""
    assert Noise().reason(record(type=name)) is None


def test_control_flow() -> None:
    """Ctrl-C, exit and cancellation, as the core has recognised them."""
    assert Noise().reason(record(type="asyncio.CancelledError", control_flow=True)) == "noise:control-flow"


NETWORK_FRAMES = [
    "socket:create_connection:848",
    "ssl:SSLSocket.do_handshake:1346",
    "asyncio.selector_events:_SelectorTransport._read_ready:1",
    "asyncio.streams:StreamReader.readexactly:706",
    "asyncio.sslproto:SSLProtocol._on_handshake_complete:1",
    "http.client:HTTPResponse._read_status:300",
    "httpcore._exceptions:map_exceptions:14",
    "httpx._transports.default:map_httpcore_exceptions:118",
    "urllib3.connectionpool:HTTPConnectionPool.urlopen:787",
    "anyio._core._sockets:connect_tcp:250",
    "aiohttp.client_proto:ResponseHandler.read:1",
    "requests.adapters:HTTPAdapter.send:677",
]


@pytest.mark.parametrize("frame", NETWORK_FRAMES)
def test_network_errors_of_network_libraries(frame: str) -> None:
    """A reset that a network library met is the network's."""
    assert Noise().reason(record(type="ConnectionResetError", top_frame=frame)) == "noise:network"


@pytest.mark.parametrize(
    "frame", ["shop.orders:pay:3", "socketserver:x:1", "requestsx:y:1", "asyncio.tasks:wait_for:1", None]
)
def test_network_errors_of_other_frames_pass(frame: str | None) -> None:
    """What the application raised itself is its own, a name that only begins alike is no library."""
    assert Noise().reason(record(type="ConnectionResetError", top_frame=frame)) is None


@pytest.mark.parametrize("name", ["ValueError", "ssl.SSLCertVerificationError", "requests.exceptions.JSONDecodeError"])
def test_other_errors_of_network_libraries_pass(name: str) -> None:
    """A wrong call, a bad answer or a bad certificate isn't the weather."""
    assert Noise().reason(record(type=name, errno=None, top_frame="requests.models:f:1")) is None


@pytest.mark.parametrize(
    "name", ["requests.exceptions.ConnectTimeout", "httpx.ReadError", "socket.gaierror", "TimeoutError"]
)
def test_network_classes_of_libraries(name: str) -> None:
    """The libraries' own classes are known by their last name."""
    assert Noise().reason(record(type=name, errno=None, top_frame="requests.adapters:f:1")) == "noise:network"


def test_an_oserror_by_its_errno() -> None:
    """An OSError of no class of its own tells by its errno."""
    assert Noise().reason(record(type="OSError", errno="EHOSTUNREACH", top_frame="socket:f:1")) == "noise:network"


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("StockError", {"type": "shop.StockError"}),
        ("shop.StockError", {"type": "shop.StockError"}),
        ("shop.orders:Order.pay", {"top_frame": "shop.orders:Order.pay:99"}),
    ],
)
def test_more_noise(name: str, fields: dict[str, object]) -> None:
    """The setting adds a class by its last or full name, and a top frame by module and function."""
    assert Noise([name]).reason(record(**fields)) == f"noise:{name}"


def test_a_full_name_is_of_one_package() -> None:
    """A full name drops no class of the same last name."""
    assert Noise(["shop.StockError"]).reason(record(type="mill.StockError")) is None


REMOVALS: dict[str, dict[str, object]] = {
    "APIUserAbortError": {"type": "x.APIUserAbortError", "control_flow": True},
    "AuthenticationError": {"type": "x.AuthenticationError"},
    "McpSessionExpiredError": {"type": "x.McpSessionExpiredError"},
    "control-flow": {"type": "KeyboardInterrupt", "control_flow": True},
    "network": {"type": "ConnectionResetError", "top_frame": "socket:f:1"},
}


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_can_be_removed(name: str) -> None:
    """With a minus in front of its name a filter is off, and no other takes its place."""
    error = record(**REMOVALS[name])

    assert (Noise().reason(error), Noise([f"-{name}"]).reason(error)) == (f"noise:{name}", None)


def test_removing_what_is_not_there_is_told() -> None:
    """A name that no filter has is a mistake of the setting: one sentence, with the names that there are."""
    told: list[str] = []

    Noise(["-Typo"], told.append)

    (sentence,) = told
    assert "-Typo" in sentence
    assert "control-flow" in sentence


def test_every_filter_says_what_it_drops() -> None:
    """The table is documentation too."""
    assert all(FILTERS.values())
