"""TLS: a collector whose certificate a file vouches for, and one whose doesn't."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Iterator

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc

from errorsink.errors import SinkUnavailable
from errorsink.sinks import Outcome, Sink
from tests.otel.conftest import MakeSink
from tests.otel.samples import RECORD

OPENSSL = shutil.which("openssl")
DELIVERED = Outcome.delivered()
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


@contextmanager
def _https(pem: Path, key: Path, *, mutual: bool) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    if mutual:
        context.load_verify_locations(pem)
        context.verify_mode = ssl.CERT_REQUIRED
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


@contextmanager
def _grpcs(pem: Path, key: Path, *, mutual: bool) -> Iterator[str]:
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool)
        add: Any = logs_service_pb2_grpc.add_LogsServiceServicer_to_server
        add(_Logs(), server)
        pair, root = (key.read_bytes(), pem.read_bytes()), pem.read_bytes()
        credentials = grpc.ssl_server_credentials([pair], root if mutual else None, mutual)
        port = server.add_secure_port("127.0.0.1:0", credentials)
        server.start()
        yield f"https://127.0.0.1:{port}"
        server.stop(None).wait()


@pytest.fixture(params=["http/protobuf", "grpc"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Each protocol."""
    name: str = request.param
    return name


SERVERS = {"http/protobuf": _https, "grpc": _grpcs}


@pytest.fixture
def env(protocol: str, certificate: tuple[Path, Path]) -> Iterator[dict[str, str]]:
    """What leads to a collector in TLS."""
    with SERVERS[protocol](*certificate, mutual=False) as url:
        yield {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_ENDPOINT": url}


@pytest.fixture
def mutual_env(protocol: str, certificate: tuple[Path, Path]) -> Iterator[dict[str, str]]:
    """The same, where the collector wants to know who its clients are; it is vouched for."""
    with SERVERS[protocol](*certificate, mutual=True) as url:
        yield {
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            "OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate[0]),
        }


def send(sink: Sink) -> Outcome:
    """Sends one record."""
    return sink.send([sink.prepare(RECORD)], 10.0)


def test_trusted(env: dict[str, str], certificate: tuple[Path, Path], make_sink: MakeSink) -> None:
    """OTEL_EXPORTER_OTLP_CERTIFICATE vouches for the collector."""
    assert send(make_sink("logs", {**env, "OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate[0])})) == DELIVERED


def test_not_trusted(env: dict[str, str], protocol: str, make_sink: MakeSink) -> None:
    """A collector that nobody vouches for gets no record."""
    outcome = send(make_sink("logs", env))
    assert (outcome.status, outcome.reason) == ("retry", "grpc-unavailable" if protocol == "grpc" else "tls")


def test_client_certificate(mutual_env: dict[str, str], certificate: tuple[Path, Path], make_sink: MakeSink) -> None:
    """A certificate and its key open the collector that asks for them."""
    pem, key = map(str, certificate)
    own = {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": pem, "OTEL_EXPORTER_OTLP_CLIENT_KEY": key}
    assert send(make_sink("logs", {**mutual_env, **own})) == DELIVERED


def test_client_certificate_with_its_key(
    mutual_env: dict[str, str], certificate: tuple[Path, Path], make_sink: MakeSink, tmp_path: Path
) -> None:
    """Both may be in one file."""
    both = tmp_path / "both.pem"
    both.write_bytes(b"".join(path.read_bytes() for path in certificate))
    own = {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": str(both)}
    assert send(make_sink("logs", {**mutual_env, **own})) == DELIVERED


def test_no_client_certificate(mutual_env: dict[str, str], make_sink: MakeSink) -> None:
    """Without one nothing is delivered."""
    assert send(make_sink("logs", mutual_env)).status == "retry"


@pytest.fixture(scope="module")
def encrypted(certificate: tuple[Path, Path]) -> Path:
    """The key, behind a password."""
    path = certificate[1].with_name("encrypted.pem")
    command = [str(OPENSSL), "ec", "-in", str(certificate[1]), "-out", str(path), "-aes256", "-passout", "pass:word"]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"CERTIFICATE": "junk"}, "CERTIFICATE"),
        ({"CLIENT_CERTIFICATE": "cert"}, "CLIENT_CERTIFICATE"),
        ({"CLIENT_KEY": "key"}, "CLIENT_KEY"),
        ({"CLIENT_CERTIFICATE": "cert", "CLIENT_KEY": "junk"}, "CLIENT_CERTIFICATE"),
        ({"CLIENT_CERTIFICATE": "junk", "CLIENT_KEY": "key"}, "CLIENT_CERTIFICATE"),
        ({"CLIENT_CERTIFICATE": "cert", "CLIENT_KEY": "none"}, "CLIENT_KEY"),
        ({"CLIENT_CERTIFICATE": "cert", "CLIENT_KEY": "encrypted"}, "CLIENT_CERTIFICATE"),
    ],
)
def test_files_that_cannot_be_used(
    files: dict[str, str],
    told: str,
    protocol: str,
    certificate: tuple[Path, Path],
    encrypted: Path,
    make_sink: MakeSink,
) -> None:
    """They turn the sink off with the name of the variable; gRPC's library would end the process over some of them."""
    folder = encrypted.parent
    (folder / "junk.pem").write_text("junk")
    named = {f"OTEL_EXPORTER_OTLP_{kind}": str(folder / f"{file}.pem") for kind, file in files.items()}
    env = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_ENDPOINT": "https://127.0.0.1:1", **named}
    with pytest.raises(SinkUnavailable, match=rf"^OTEL_EXPORTER_OTLP_{told}\b"):
        make_sink("logs", env)
