"""TLS: a collector whose certificate a file vouches for, and one whose doesn't."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Iterator

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc

from errorsink.sinks import Outcome, Sink
from tests.otel.conftest import MakeSink
from tests.otel.samples import RECORD

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="openssl, which makes the certificate, isn't installed")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = folder / "cert.pem", folder / "key.pem"
    made = (
        f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -keyout {key} -out {pem}"
    )
    command = [str(OPENSSL), *made.split(), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    return pem, key


class _Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class _QuietServer(HTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the client breaks the handshake off when it doesn't trust the certificate


@pytest.fixture
def https(certificate: tuple[Path, Path]) -> Iterator[str]:
    """A collector behind https://."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = _QuietServer(("127.0.0.1", 0), _Taker)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class _Logs(logs_service_pb2_grpc.LogsServiceServicer):
    def Export(self, request: Any, context: Any) -> Any:
        return logs_service_pb2.ExportLogsServiceResponse()


@pytest.fixture
def grpcs(certificate: tuple[Path, Path]) -> Iterator[str]:
    """A collector that speaks gRPC in TLS."""
    pem, key = certificate
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool)
        add: Any = logs_service_pb2_grpc.add_LogsServiceServicer_to_server
        add(_Logs(), server)
        credentials = grpc.ssl_server_credentials([(key.read_bytes(), pem.read_bytes())])
        port = server.add_secure_port("127.0.0.1:0", credentials)
        server.start()
        yield f"https://127.0.0.1:{port}"
        server.stop(None).wait()


def send(sink: Sink) -> Outcome:
    """Sends one record."""
    return sink.send([sink.prepare(RECORD)], 10.0)


@pytest.mark.parametrize(("server", "protocol"), [("https", "http/protobuf"), ("grpcs", "grpc")])
def test_trusted(
    server: str, protocol: str, certificate: tuple[Path, Path], make_sink: MakeSink, request: pytest.FixtureRequest
) -> None:
    """OTEL_EXPORTER_OTLP_CERTIFICATE vouches for the collector."""
    env = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_ENDPOINT": request.getfixturevalue(server),
        "OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate[0]),
    }
    assert send(make_sink("logs", env)) == Outcome.delivered()


@pytest.mark.parametrize(
    ("server", "protocol", "reason"), [("https", "http/protobuf", "tls"), ("grpcs", "grpc", "grpc-unavailable")]
)
def test_not_trusted(
    server: str, protocol: str, reason: str, make_sink: MakeSink, request: pytest.FixtureRequest
) -> None:
    """A collector that nobody vouches for gets no record."""
    env = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_ENDPOINT": request.getfixturevalue(server),
    }
    outcome = send(make_sink("logs", env))
    assert (outcome.status, outcome.reason) == ("retry", reason)
