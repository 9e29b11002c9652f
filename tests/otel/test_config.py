"""Where a signal goes: the OTEL_* settings resolved."""

from __future__ import annotations

from pathlib import Path

import pytest
from errorsink_otel._config import parse_headers, resolve

from errorsink.errors import SinkUnavailable
from tests.otel.samples import CANARY, config, nothing

GRPC = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:4318", "http://h:4318/v1/logs"),
        ("http://h:4318/", "http://h:4318/v1/logs"),
        ("http://h/otlp", "http://h/otlp/v1/logs"),
        ("http://h/otlp/", "http://h/otlp/v1/logs"),
        (" http://h:4318 ", "http://h:4318/v1/logs"),
        ("HTTP://h:4318", "http://h:4318/v1/logs"),
        ("https://h/v1/logs", "https://h/v1/logs/v1/logs"),
        ("http://h/x?token=1", "http://h/x/v1/logs?token=1"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/logs"),
    ],
)
def test_general_endpoint(base: str, url: str) -> None:
    """The signal's path is appended to a general endpoint; a query stays."""
    assert resolve(config({"OTEL_EXPORTER_OTLP_ENDPOINT": base}), "logs").endpoint.lower() == url


def test_traces_path() -> None:
    """Spans go to /v1/traces."""
    assert resolve(config({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}), "traces").endpoint == "http://h/v1/traces"


@pytest.mark.parametrize("url", ["http://h/x", "http://h/x/", "http://h/", "http://h/x?a=b"])
def test_own_endpoint(url: str) -> None:
    """A signal's own endpoint is taken as it is, and wins over the general one."""
    env = {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": url, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://other"}
    assert resolve(config(env), "logs").endpoint == url


def test_own_endpoint_without_a_path() -> None:
    """It is posted to the root then, as the specification says."""
    assert resolve(config({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://h:1"}), "logs").endpoint == "http://h:1/"


def test_the_other_signals_endpoint() -> None:
    """The endpoint of traces is nothing to logs."""
    env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://g"}
    assert resolve(config(env), "logs").endpoint == "http://g/v1/logs"


@pytest.mark.parametrize(
    ("env", "endpoint"), [({}, "http://localhost:4318/v1/logs"), (GRPC, "localhost:4317")], ids=["http", "grpc"]
)
def test_default_endpoint(env: dict[str, str], endpoint: str) -> None:
    """A sink that is switched on and told nothing more uses the specification's default."""
    assert resolve(config(env), "logs").endpoint == endpoint


@pytest.mark.parametrize(
    ("given", "endpoint", "secure"),
    [
        ("http://h:4317", "h:4317", False),
        ("https://h:4317", "h:4317", True),
        ("https://h:4317/some/path", "h:4317", True),
        ("http://h", "h:80", False),
        ("https://h", "h:443", True),
        ("http://[::1]:4317", "[::1]:4317", False),
    ],
)
def test_grpc_endpoint(given: str, endpoint: str, secure: bool) -> None:
    """gRPC has host and port of the URL, and TLS by its scheme."""
    target = resolve(config({**GRPC, "OTEL_EXPORTER_OTLP_ENDPOINT": given}), "logs")
    assert (target.endpoint, target.secure) == (endpoint, secure)


@pytest.mark.parametrize("insecure", [True, False])
def test_grpc_endpoint_without_a_scheme(insecure: bool) -> None:
    """Without a scheme, OTEL_EXPORTER_OTLP_INSECURE decides on TLS."""
    given = config(GRPC, otel_exporter_otlp_insecure=insecure)
    settings = {**given.settings, "otel_exporter_otlp_endpoint": "h:4317"}
    target = resolve(given._replace(settings=settings), "logs")
    assert (target.endpoint, target.secure) == ("h:4317", not insecure)


@pytest.mark.parametrize("url", ["http://h:99999", "http://:4318", "http://h:0", "http://[::1"])
@pytest.mark.parametrize("env", [{}, GRPC], ids=["http", "grpc"])
def test_unusable_endpoint(url: str, env: dict[str, str]) -> None:
    """An endpoint without a usable host and port is refused, by the name of its variable."""
    with pytest.raises(SinkUnavailable, match=r"^OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "):
        resolve(config({**env, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": url}), "logs")


@pytest.mark.parametrize("env", [{}, GRPC], ids=["http", "grpc"])
def test_user_in_the_endpoint(env: dict[str, str]) -> None:
    """A user and a password become a header, and are gone from whatever may be shown."""
    target = resolve(config({**env, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://me:{CANARY}%40@h:1"}), "logs")
    assert target.headers["authorization"].startswith("Basic ")
    assert CANARY not in target.endpoint + target.shown


def test_query_is_not_shown() -> None:
    """A query may hold a token: it is sent, but not shown."""
    target = resolve(config({"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://h?key={CANARY}"}), "logs")
    assert CANARY in target.endpoint
    assert CANARY not in target.shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization=Basic%20abc%3D%3D", {"authorization": "Basic abc=="}),
        ("Authorization=Api-Token XXXX", {"authorization": "Api-Token XXXX"}),
        ("a=1,b=2", {"a": "1", "b": "2"}),
        (" a = 1 , b=2 ,", {"a": "1", "b": "2"}),
        ("k=v=w==", {"k": "v=w=="}),
        ("=novalue,x", {}),
        ("ok=1,broken", {"ok": "1"}),
        ("", {}),
        (None, {}),
        ("a=%zz", {"a": "%zz"}),
        ("a=1%0d%0aX-Evil:%201", {}),
        ("a=%2525", {"a": "%25"}),
        ("h%C3%A9=1", {}),
        ("a b=1", {}),
        ("a=\u4e2d", {}),
        ("a=\x01", {}),
        ("a=caf%C3%A9", {"a": "caf\u00e9"}),
        ("Content-Length=5,transfer-encoding=chunked,Content-Encoding=br,a=1", {"a": "1"}),
    ],
)
def test_headers(text: str | None, expected: dict[str, str]) -> None:
    """Pairs are trimmed and decoded once; one that can't be a header costs no other."""
    assert parse_headers(text, nothing) == expected


def test_grpc_headers_are_text() -> None:
    """Binary metadata would have to be bytes, which a variable can't hold; HTTP knows no difference."""
    said: list[str] = []
    assert parse_headers("key-bin=1,a=1", said.append, grpc=True) == {"a": "1"}
    assert said == ["OTEL_EXPORTER_OTLP_HEADERS: 'key-bin' can't be set; it is left out"]
    assert parse_headers("key-bin=1", nothing) == {"key-bin": "1"}


def test_grpc_headers_are_ascii() -> None:
    """gRPC's metadata takes less than HTTP's headers."""
    assert parse_headers("a=caf%C3%A9,b!=1,c=2", nothing, grpc=True) == {"c": "2"}


@pytest.mark.parametrize("text", [f"key={CANARY}\x01", CANARY, f"={CANARY}", f"Bearer {CANARY}==", f"a b={CANARY}"])
def test_bad_headers_are_told_without_their_value(text: str) -> None:
    """One diagnostic names the variable, and nothing of what may be the secret."""
    said: list[str] = []
    parse_headers(text, said.append, variable="OTEL_EXPORTER_OTLP_LOGS_HEADERS")
    assert len(said) == 1
    assert said[0].startswith("OTEL_EXPORTER_OTLP_LOGS_HEADERS: ")
    assert CANARY not in said[0]


def test_own_settings_win() -> None:
    """What is set for the signal wins over what is set for both."""
    env = {
        "OTEL_EXPORTER_OTLP_HEADERS": "a=general",
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "a=own",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "5000",
        "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "250",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION": "gzip",
        "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "grpc",
    }
    logs, traces = resolve(config(env), "logs"), resolve(config(env), "traces")
    assert (logs.headers, logs.timeout, logs.gzip, logs.protocol) == ({"a": "own"}, 0.25, True, "grpc")
    assert (traces.headers, traces.timeout, traces.gzip, traces.protocol) == (
        {"a": "general"},
        5.0,
        False,
        "http/protobuf",
    )


@pytest.mark.parametrize("kind", ["CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"])
def test_missing_file(kind: str, tmp_path: Path) -> None:
    """A file that can't be read is refused, by the name of its variable."""
    name = f"OTEL_EXPORTER_OTLP_{kind}"
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://h", name: str(tmp_path / "none.pem")}
    with pytest.raises(SinkUnavailable, match=rf"^{name}: "):
        resolve(config(env), "logs")


def test_files_without_tls(tmp_path: Path) -> None:
    """They aren't looked at where there is no TLS."""
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_CERTIFICATE": str(tmp_path / "none.pem")}
    assert resolve(config(env), "logs").tls == (None, None, None)


def test_masked_text() -> None:
    """A foreign text is bounded, on one line, and without what stands in a header."""
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {CANARY}"}
    text = resolve(config(env), "logs").masked(f"\x1b[31mbad\n{CANARY} " + "x" * 5000)
    assert text.isprintable()
    assert len(text) <= 200
    assert CANARY not in text
