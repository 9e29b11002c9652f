"""When there is a Datadog sink, and what is said when there can't be one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from errorsink_datadog import datadog_sink

from errorsink.errors import SinkUnavailable
from errorsink.sinks import SinkConfig
from tests.datadog.samples import KEY, config, record, strictly

SECRET = "hunter" + "2canary"


def test_nothing_asks_for_it() -> None:
    """Auto and no key: no sink, and nothing to say."""
    assert datadog_sink(config()) is None


@pytest.mark.parametrize("switch", [None, True])
def test_a_key_is_enough(switch: bool | None) -> None:
    """With a key the sink is there, switched on or by itself."""
    sink = datadog_sink(config({"DD_API_KEY": KEY}, switch))

    assert sink is not None
    assert (sink.name, sink.max_records) == ("datadog", 1_000)
    sink.close()


def test_switched_on_without_a_key() -> None:
    """The one sentence says what to set."""
    with pytest.raises(SinkUnavailable, match="DD_API_KEY"):
        datadog_sink(config(switch=True))


@pytest.mark.parametrize("package", ["httpx", "httpcore"])
def test_without_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one sentence says what to install."""
    for name in ("_sink", "_intake", "_transport"):
        monkeypatch.delitem(sys.modules, f"errorsink_datadog.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(SinkUnavailable, match=r"pip install 'errorsink\[datadog\]'"):
        datadog_sink(config({"DD_API_KEY": KEY}))


@pytest.mark.parametrize("bad", ["a\nb", "a b", "kéy", "\x01"])
def test_a_key_that_cannot_be_a_header(bad: str) -> None:
    """A key that slipped past the settings is refused too, and isn't shown."""
    settings = {**config().settings, "dd_api_key": KEY + bad}

    with pytest.raises(SinkUnavailable, match="DD_API_KEY") as caught:
        datadog_sink(SinkConfig(None, settings, {}, print))

    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"DD_SITE": "datadoghq.example"}, "DD_SITE"),
        ({"ERRORSINK_DATADOG_URL": f"http://u:{SECRET}@h:port"}, "ERRORSINK_DATADOG_URL"),
        ({"ERRORSINK_DATADOG_URL": "http://a..b\u2603.example/\ud800"}, "ERRORSINK_DATADOG_URL"),
        ({"ERRORSINK_DATADOG_URL": "http://xn--.example"}, "ERRORSINK_DATADOG_URL"),
        ({"HTTPS_PROXY": f"ftp://u:{SECRET}@p"}, "HTTPS_PROXY"),
        ({"ALL_PROXY": f"socks5://u:{SECRET}@127.0.0.1:9"}, "SOCKS"),
    ],
)
def test_an_unusable_setting(env: dict[str, str], named: str) -> None:
    """The one sentence names the setting, and shows no password."""
    with pytest.raises(SinkUnavailable, match=named) as caught:
        datadog_sink(config({"DD_API_KEY": KEY, **env}))

    assert SECRET not in str(caught.value)
    assert KEY not in str(caught.value)


def test_an_unreadable_ca_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one sentence names the variables of the CA file."""
    (tmp_path / "ca.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))

    with pytest.raises(SinkUnavailable, match="SSL_CERT_FILE"):
        datadog_sink(config({"DD_API_KEY": KEY}))


def test_a_sink_prepares_and_filters() -> None:
    """The parts work together: the item is the log's bytes, and noise is named."""
    sink = datadog_sink(config({"DD_API_KEY": KEY, "DD_SERVICE": "shop", "ERRORSINK_DATADOG_IGNORE": "shop.Odd"}))
    assert sink is not None

    item = sink.prepare(record())
    sink.close()

    assert (item.size, strictly(item.payload)["service"]) == (len(item.payload), "shop")
    assert (sink.skips(record()), sink.skips(record(type="shop.Odd"))) == (None, "noise:shop.Odd")


def test_the_key_is_in_no_repr() -> None:
    """Neither the sink nor its parts show the key."""
    sink = datadog_sink(config({"DD_API_KEY": KEY}))
    assert sink is not None

    shown = repr(sink) + "".join(map(repr, vars(sink).values()))
    sink.close()

    assert KEY not in shown


UNWANTED = """
import sys
from pathlib import Path
from errorsink.sinks import SinkConfig
from errorsink_datadog import datadog_sink
assert datadog_sink(SinkConfig(None, {"dd_api_key": ""}, {}, print)) is None
print(*sorted({"httpx", "httpcore", "json", "ssl", "datadog_api_client"} & set(sys.modules)))
"""


def test_an_unwanted_sink_imports_nothing() -> None:
    """Where it isn't wanted, asking for the sink costs no import of httpx."""
    done = subprocess.run([sys.executable, "-c", UNWANTED], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == ""


def test_a_full_array_stays_under_5_mb() -> None:
    """The bytes of the items, the commas and the brackets together."""
    sink = datadog_sink(config({"DD_API_KEY": KEY}))
    assert sink is not None
    sink.close()

    assert sink.max_bytes + (sink.max_records - 1) + len("[]") <= 5_000_000
