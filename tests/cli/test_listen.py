"""`errorsink listen` as its users run it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys

import grpc
import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import LogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import StatusCode

from errorsink.cli import main
from errorsink.cli.receiver import ReceivedLog
from tests.cli.listening import COMMAND, Listening, listening
from tests.cli.otlp import LOG, PROTOBUF, REAL_SPAN, log_request, span_request


def send(running: Listening, *logs: ReceivedLog) -> int:
    connection = http.client.HTTPConnection(running.host, running.http_port, timeout=10)
    connection.request("POST", "/v1/logs", log_request(*logs).SerializeToString(), PROTOBUF)
    status = connection.getresponse().status
    connection.close()
    return status


def with_id(identifier: str) -> ReceivedLog:
    return LOG._replace(attributes={"errorsink.id": identifier})


def exporters(running: Listening, protocol: str, compressed: bool) -> tuple[LogRecordExporter, SpanExporter]:
    """The official exporters, pointed at the receiver."""
    if protocol == "grpc":
        compression = grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression
        endpoint = f"http://{running.host}:{running.grpc_port}"
        return (
            GrpcLogExporter(endpoint=endpoint, compression=compression),
            GrpcSpanExporter(endpoint=endpoint, compression=compression),
        )
    squeeze = Compression.Gzip if compressed else Compression.NoCompression
    base = f"http://{running.host}:{running.http_port}/v1"
    return (
        HttpLogExporter(endpoint=f"{base}/logs", compression=squeeze),
        HttpSpanExporter(endpoint=f"{base}/traces", compression=squeeze),
    )


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_what_the_official_exporters_send_is_printed(protocol: str, compressed: bool) -> None:
    """A log and a span of the OpenTelemetry SDK come out as JSON lines, over both protocols, plain and gzip."""
    with listening("--json") as running:
        log_exporter, span_exporter = exporters(running, protocol, compressed)
        logs, traces = LoggerProvider(shutdown_on_exit=False), TracerProvider(shutdown_on_exit=False)
        logs.add_log_record_processor(SimpleLogRecordProcessor(log_exporter))
        traces.add_span_processor(SimpleSpanProcessor(span_exporter))
        with traces.get_tracer("shop").start_as_current_span("order") as span:
            span.set_status(StatusCode.ERROR, "it broke")
            logs.get_logger("shop").emit(body="it broke", severity_number=SeverityNumber.ERROR, attributes={"n": 1})
        log, sent = (json.loads(running.output.readline()) for _ in range(2))
        logs.shutdown()
        traces.shutdown()
    assert (log["signal"], log["body"], log["severity_number"], log["attributes"]) == ("log", "it broke", 17, {"n": 1})
    assert (sent["signal"], sent["name"], sent["status_code"]) == ("span", "order", 2)
    assert (log["trace_id"], log["span_id"]) == (sent["trace_id"], sent["span_id"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_success(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM are how it is meant to end; it says what it saw."""
    with listening() as running:
        assert send(running, LOG) == 200
        running.process.send_signal(number)
        status, out, err = running.end()
    assert status == 0
    assert "ERROR" in out
    assert err == "1 error arrived (1 log, 0 spans)\n"


def test_count_ends_it_after_so_many_errors() -> None:
    """A log and a span of one error count once, and the sender still gets its answer."""
    with listening("--count", "2") as running:
        assert [send(running, with_id("a")), send(running, with_id("a")), send(running, with_id("b"))] == [200] * 3
        status, out, err = running.end()
    assert (status, out.count("id a"), out.count("id b")) == (0, 2, 1)
    assert err == "2 errors arrived (3 logs, 0 spans)\n"


def test_for_ends_it_after_a_time() -> None:
    """It ends by itself."""
    with listening("--for", "0.01") as running:
        assert running.end()[0] == 0


def test_what_is_no_error_is_counted_only() -> None:
    """Other records aren't printed, but told of."""
    with listening("--count", "1") as running:
        send(running, LOG._replace(attributes={}, severity_number=9, body="all is well"), LOG)
        _, out, err = running.end()
    assert "all is well" not in out
    assert "1 other record not shown (--all shows them)" in err


def test_all_prints_everything() -> None:
    """`--all` shows what is no error too."""
    with listening("--all", "--count", "1") as running:
        send(running, LOG._replace(attributes={}, severity_number=9, body="all is well"), LOG)
        assert "INFO  all is well" in running.end()[1]


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    """`errorsink listen | head -1` leaves no traceback."""
    with listening("--json") as running:
        running.output.close()
        assert send(running, LOG) == 500
        running.process.wait(20)
        assert running.process.stderr is not None
        assert running.process.stderr.read() == ""
        assert running.process.returncode == 141


def test_a_taken_port_is_told() -> None:
    """One clear line, and exit status 1."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*COMMAND, "listen", "--http-port", port, "--grpc-port", "0"], capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"errorsink listen: can't listen on 127.0.0.1 port {port} for HTTP: ")
    assert ended.stderr.count("\n") == 1


def test_an_address_that_others_reach_is_warned_of() -> None:
    """Loopback says nothing; any other address is told to be open."""
    with listening("--host", "0.0.0.0", "--for", "0.01") as running:
        assert running.greeting.startswith("warning: 0.0.0.0 can be reached from other machines")


@pytest.mark.parametrize(
    "options",
    [("--grpc-port", "65536"), ("--http-port", "x"), ("--count", "0"), ("--for", "-1"), ("--for", "nan"), ("--what",)],
)
def test_wrong_use_is_told(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is named, with what is allowed; exit status 2."""
    with pytest.raises(SystemExit) as ended:
        main(["listen", *options])
    assert ended.value.code == 2
    assert options[0] in capsys.readouterr().err


def test_spans_are_printed_too() -> None:
    """Traces arrive on their own path."""
    with listening("--count", "1") as running:
        connection = http.client.HTTPConnection(running.host, running.http_port, timeout=10)
        connection.request("POST", "/v1/traces", span_request(REAL_SPAN).SerializeToString(), PROTOBUF)
        connection.getresponse().read()
        connection.close()
        assert "report_error" in running.end()[1]
