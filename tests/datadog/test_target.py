"""Where the sink sends, and through which proxy."""

from __future__ import annotations

import pytest
from errorsink_datadog._target import SITES, api_host, intake, proxy_for, without_userinfo

from errorsink.errors import SinkUnavailable

SECRET = "hunter" + "2canary"


@pytest.mark.parametrize("site", SITES)
def test_each_site_has_its_intake(site: str) -> None:
    """The intake's host is made of the site's name."""
    assert intake("", site).url == f"https://http-intake.logs.{site}/api/v2/logs"


@pytest.mark.parametrize("site", SITES)
def test_each_site_has_its_api(site: str) -> None:
    """And so is the API's."""
    assert api_host("", site) == f"https://api.{site}"


def test_the_case_of_a_site_is_forgiven() -> None:
    """A host name's case means nothing."""
    assert intake("", " DataDogHQ.eu ").host == "http-intake.logs.datadoghq.eu"


@pytest.mark.parametrize("site", ["eu", "https://datadoghq.eu", "app.datadoghq.com", "", "datadoghq.com.evil.example"])
def test_an_unknown_site_is_told_with_the_known_ones(site: str) -> None:
    """The key goes to no host that isn't Datadog's by a slip in DD_SITE."""
    with pytest.raises(SinkUnavailable, match=r"DD_SITE.*us2\.ddog-gov\.com"):
        intake("", site)


@pytest.mark.parametrize(
    ("url", "sent_to"),
    [
        ("http://h", "http://h/api/v2/logs"),
        ("http://h/", "http://h/api/v2/logs"),
        ("http://h:8126", "http://h:8126/api/v2/logs"),
        ("http://h/api/v2/logs", "http://h/api/v2/logs"),
        ("http://h/api/v2/logs/", "http://h/api/v2/logs"),
        ("https://h/dd/", "https://h/dd/api/v2/logs"),
        ("https://h/dd/api/v2/logs", "https://h/dd/api/v2/logs"),
        ("http://h/p?x=1&y=2", "http://h/p/api/v2/logs?x=1&y=2"),
        ("HTTP://Host.Example", "http://host.example/api/v2/logs"),
        ("http://[::1]:8080/#top", "http://[::1]:8080/api/v2/logs"),
        (f"http://user:{SECRET}@h:81/x", "http://h:81/x/api/v2/logs"),
    ],
)
def test_a_url_of_the_users_own(url: str, sent_to: str) -> None:
    """The path is appended to a base, and left alone where it is there; user and password leave the URL."""
    assert intake(url, "not looked at").url == sent_to


@pytest.mark.parametrize(
    "url", ["http://", "http://:80", "http://h:99999", "http://h:x", "http://[::1", "ftp://h", f"http://u:{SECRET}@:1"]
)
def test_an_unusable_url_is_told_without_its_value(url: str) -> None:
    """The diagnostic names the setting; the value may hold a password."""
    with pytest.raises(SinkUnavailable, match="ERRORSINK_DATADOG_URL") as caught:
        intake(url, "datadoghq.com")

    assert SECRET not in str(caught.value)


def test_userinfo_becomes_the_authorization() -> None:
    """Percent-encoding undone, and shown by no repr."""
    endpoint = intake(f"https://us%40er:{SECRET}%2F@h", "")

    assert endpoint.auth == ("us@er", SECRET + "/")
    assert SECRET not in repr(endpoint) + endpoint.url + endpoint.host + endpoint.origin


@pytest.mark.parametrize(
    ("scheme", "env", "proxy"),
    [
        ("http", {}, None),
        ("http", {"http_proxy": "http://p:1"}, "http://p:1"),
        ("http", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("http", {"http_proxy": "", "HTTP_PROXY": "http://p:1"}, None),
        ("http", {"http_proxy": "http://low:1", "HTTP_PROXY": "http://up:1"}, "http://low:1"),
        ("http", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("http", {"https_proxy": "http://p:1"}, None),
        ("https", {"https_proxy": "http://p:1"}, "http://p:1"),
        ("https", {"HTTPS_PROXY": "", "ALL_PROXY": "socks5://p:1"}, "socks5://p:1"),
        ("https", {"https_proxy": "https://p:1", "all_proxy": "http://q:2"}, "https://p:1"),
        ("http", {"http_proxy": "127.0.0.1:9"}, "http://127.0.0.1:9"),
        ("http", {"http_proxy": "  http://p:1  "}, "http://p:1"),
    ],
)
def test_the_usual_proxy_variables(scheme: str, env: dict[str, str], proxy: str | None) -> None:
    """By scheme, then for all; lower case first; an empty value unsets; CGI's HTTP_PROXY isn't trusted."""
    found = proxy_for(intake(f"{scheme}://intake.example", ""), env)

    assert (found and found.origin) == proxy


@pytest.mark.parametrize(
    ("host", "listed", "direct"),
    [
        ("h.example", "h.example", True),
        ("h.example", "other, h.example ", True),
        ("h.example", "H.Example", True),
        ("h.example", ".example", True),
        ("h.example", "*.example", True),
        ("h.example", "example", True),
        ("h.example", "ample", False),
        ("h.example", "*", True),
        ("h.example", "", False),
        ("h.example", ",,", False),
        ("h.example:81", "h.example:81", True),
        ("h.example:81", "h.example:82", False),
        ("127.0.0.1:81", "127.0.0.1,localhost", True),
        ("127.0.0.1:81", "localhost", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "10.2.0.0/16", False),
        ("[::1]:81", "::1", True),
        ("[::1]:81", "[::1]", True),
        ("[fd00::1]", "fd00::/8", True),
    ],
)
def test_no_proxy(host: str, listed: str, direct: bool) -> None:
    """Names with all under them, hosts with a port, addresses, networks and the star are reached directly."""
    found = proxy_for(intake(f"http://{host}", ""), {"http_proxy": "http://p:1", "no_proxy": listed})

    assert (found is None) is direct


@pytest.mark.parametrize("value", ["://p", "ftp://p:1", "http://", "http://p:x", f"http://u:{SECRET}@", "[::1"])
def test_an_unusable_proxy_is_told_without_its_value(value: str) -> None:
    """The diagnostic names the variable and both ways out."""
    with pytest.raises(SinkUnavailable, match=r"HTTP_PROXY.*NO_PROXY") as caught:
        proxy_for(intake("http://h", ""), {"http_proxy": value})

    assert SECRET not in str(caught.value)


def test_an_unusable_proxy_does_not_matter_where_the_way_is_direct() -> None:
    """A host that no_proxy lists needs no proxy."""
    assert proxy_for(intake("http://h", ""), {"http_proxy": "ftp://p", "no_proxy": "h"}) is None


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        (f"https://user:{SECRET}@git.example/a/b.git", "https://git.example/a/b.git"),
        (f"https://{SECRET}@git.example/a", "https://git.example/a"),
        (f"https://user:{SECRET}/x@git.example/a", "https://git.example/a"),
        ("https://git.example/a@v1", "https://git.example/a@v1"),
        ("https://git.example:8443/a@v1", "https://git.example:8443/a@v1"),
        ("git@git.example:a/b.git", "git@git.example:a/b.git"),
        (f"ssh://git:{SECRET}@git.example", "ssh://git.example"),
        ("", ""),
    ],
)
def test_credentials_leave_a_repository_url(url: str, clean: str) -> None:
    """User and password go, also a password with an unescaped slash; a tag in the path stays."""
    assert without_userinfo(url) == clean
