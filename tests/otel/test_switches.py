"""When the sinks are on, and what they say when they can't be."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from errorsink_otel import logs_sink, spans_sink
from errorsink_otel._provider import application_provider

from errorsink.errors import SinkUnavailable
from tests.otel.conftest import FACTORIES, MakeSink
from tests.otel.samples import config

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}


@pytest.mark.parametrize("proto", ["http/protobuf", "grpc"])
@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_{}_ENDPOINT"])
def test_auto_with_an_endpoint(proto: str, name: str, signal: str, make_sink: MakeSink) -> None:
    """An endpoint turns the sink on, the general one or the signal's own."""
    env = {name.format(signal.upper()): "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": proto}
    assert make_sink(signal, env).name == {"logs": "otel_logs", "traces": "otel_spans"}[signal]


@pytest.mark.parametrize(
    ("factory", "env"),
    [
        (logs_sink, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}),
        (spans_sink, {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://h"}),
        (logs_sink, {}),
        (spans_sink, {}),
        (logs_sink, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}),
        (logs_sink, {**ENDPOINT, "OTEL_SDK_DISABLED": "true"}),
        (spans_sink, {**ENDPOINT, "OTEL_SDK_DISABLED": " TRUE "}),
        (logs_sink, {**ENDPOINT, "OTEL_LOGS_EXPORTER": "none"}),
        (spans_sink, {**ENDPOINT, "OTEL_TRACES_EXPORTER": "None"}),
    ],
)
def test_auto_is_off(factory: Any, env: dict[str, str]) -> None:
    """Without an endpoint for its signal, or where OpenTelemetry is off for it, a sink isn't wanted."""
    assert factory(config(env)) is None


@pytest.mark.parametrize(
    "env",
    [
        {"OTEL_SDK_DISABLED": "1"},
        {"OTEL_SDK_DISABLED": "false"},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_LOGS_EXPORTER": "otlp"},
    ],
)
def test_auto_stays_on(env: dict[str, str], make_sink: MakeSink) -> None:
    """Only `true` disables the SDK, and only the signal's own exporter counts."""
    assert make_sink("logs", {**ENDPOINT, **env})


@pytest.mark.parametrize("env", [{}, {"OTEL_SDK_DISABLED": "true", "OTEL_LOGS_EXPORTER": "none"}])
def test_switched_on(env: dict[str, str], make_sink: MakeSink) -> None:
    """A sink that is switched on is on, also without an endpoint."""
    assert make_sink("logs", env, switch=True)


@pytest.mark.parametrize("env", [{}, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}])
def test_unusable_endpoint(env: dict[str, str], signal: str) -> None:
    """The diagnostic names the variable."""
    with pytest.raises(SinkUnavailable, match=r"^OTEL_EXPORTER_OTLP_ENDPOINT: "):
        FACTORIES[signal](config({**env, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:99999"}))


PROVIDERS = {
    "logs": ("opentelemetry._logs.get_logger_provider", "opentelemetry.sdk._logs", "LoggerProvider"),
    "traces": ("opentelemetry.trace.get_tracer_provider", "opentelemetry.sdk.trace", "TracerProvider"),
}


def test_auto_with_a_provider(signal: str, make_sink: MakeSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real provider of the application turns the sink on, without any endpoint."""
    module = pytest.importorskip(PROVIDERS[signal][1])
    provider = getattr(module, PROVIDERS[signal][2])(shutdown_on_exit=False)
    monkeypatch.setattr(PROVIDERS[signal][0], lambda: provider)
    assert make_sink(signal, {})


def test_unset_provider_is_not_real(signal: str) -> None:
    """The API's own proxy, which is there from the start, is no provider."""
    pytest.importorskip("opentelemetry._logs")
    assert application_provider(signal) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("signal", "module", "name"),
    [("logs", "opentelemetry._logs", "NoOpLoggerProvider"), ("traces", "opentelemetry.trace", "NoOpTracerProvider")],
)
def test_noop_provider_is_not_real(signal: Any, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that does nothing is none."""
    provider = getattr(pytest.importorskip(module), name)()
    monkeypatch.setattr(PROVIDERS[signal][0], lambda: provider)
    assert application_provider(signal) is None


def test_provider_that_cannot_be_loaded(signal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider whose look-up raises is none."""

    def fail() -> None:
        raise ValueError

    monkeypatch.setattr(PROVIDERS[signal][0], fail)
    assert application_provider(signal) is None


def child(code: str, *blocked: str) -> str:
    """What a new interpreter prints, in which some packages can't be imported."""
    prelude = f"""
import sys
for name in {blocked!r}: sys.modules[name] = None
import errorsink_otel
from errorsink._settings import Settings
from errorsink.errors import SinkUnavailable
from errorsink.sinks import SinkConfig
def config(env, switch=None):
    return SinkConfig(switch, Settings.load(env, {{}})[0].values, env, print)
"""
    run = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.strip()


def test_nothing_is_imported_for_a_sink_that_is_off() -> None:
    """OpenTelemetry isn't imported just to find out."""
    code = """
assert errorsink_otel.logs_sink(config({})) is None
assert errorsink_otel.spans_sink(config({})) is None
print([name for name in sys.modules if name.split(".")[0] in ("opentelemetry", "grpc", "requests", "google")])
"""
    assert child(code) == "[]"


@pytest.mark.parametrize("blocked", ["opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter"])
@pytest.mark.parametrize("factory", ["logs_sink", "spans_sink"])
def test_extra_is_missing(blocked: str, factory: str) -> None:
    """Wanted, but not installed: a diagnostic says what to install, and what made the sink wanted."""
    code = f"""
for env, switch in (({{}}, True), ({ENDPOINT!r}, None)):
    try:
        errorsink_otel.{factory}(config(env, switch))
    except SinkUnavailable as error:
        print(error)
"""
    by_switch, by_endpoint = child(code, blocked).splitlines()
    assert by_switch.startswith("ERRORSINK_OTEL_")
    assert by_endpoint.startswith("OTEL_EXPORTER_OTLP_ENDPOINT is set")
    assert "pip install 'errorsink[otel]'" in by_switch
    assert "pip install 'errorsink[otel]'" in by_endpoint


def test_another_vendors_provider_needs_no_sdk() -> None:
    """With the API and some vendor's provider alone, records are handed to it."""
    code = """
from opentelemetry.trace import NoOpTracer, TracerProvider, set_tracer_provider
class Vendor(TracerProvider):
    def get_tracer(self, *args, **kwargs):
        print("asked by", args[0])
        return NoOpTracer()
set_tracer_provider(Vendor())
sink = errorsink_otel.spans_sink(config({}))
from errorsink.model import ErrorRecord
print(sink.send([sink.prepare(ErrorRecord("id", 1, "T", "m", "s", "f"))], 1.0).status)
"""
    assert child(code, "opentelemetry.sdk", "opentelemetry.exporter") == "asked by errorsink\ndelivered"
