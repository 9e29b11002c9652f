"""The receiver over HTTP."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import math
import socket
from typing import Mapping

import pytest
from google.protobuf import json_format
from google.rpc import status_pb2  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from errorsink.cli.receiver import Inbox, Received, Receiver
from errorsink.cli.receiver import _body as body_module
from tests.cli.conftest import Running
from tests.cli.otlp import JSON, LOG, PROTOBUF, REAL_SPAN, log_request, post, span_request
from tests.collectors.contract import wait_until


def test_a_log_arrives_field_by_field(running: Running) -> None:
    """Every field of a log is decoded, every kind of value included."""
    answer = post(running.receiver, log_request(LOG).SerializeToString())
    assert (answer.status, answer.media) == (200, "application/x-protobuf")
    assert running.inbox.logs == [LOG]


def test_the_answer_is_an_export_response(running: Running) -> None:
    """Success is answered with the response message of the signal."""
    answer = post(running.receiver, log_request(LOG).SerializeToString())
    assert ExportLogsServiceResponse.FromString(answer.body) == ExportLogsServiceResponse()


def test_a_span_arrives_field_by_field(running: Running) -> None:
    """Every field of a span is decoded, with its events and links."""
    answer = post(running.receiver, span_request(REAL_SPAN).SerializeToString(), path="/v1/traces")
    assert answer.status == 200
    assert running.inbox.spans == [REAL_SPAN]


def test_the_order_of_a_request_is_kept(running: Running) -> None:
    """Records of one request are delivered in its order, whatever their resources."""
    logs = [LOG._replace(body=str(number), resource={"service.name": f"s{number % 2}"}) for number in range(5)]
    post(running.receiver, log_request(*logs).SerializeToString())
    assert running.inbox.logs == logs


def test_gzip_is_unpacked(running: Running) -> None:
    """A gzip body is taken, in several members too."""
    packed = log_request(LOG).SerializeToString()
    body = gzip.compress(packed[:10]) + gzip.compress(packed[10:])
    assert post(running.receiver, body, {**PROTOBUF, "Content-Encoding": "gzip"}).status == 200
    assert running.inbox.logs == [LOG]


def _otlp_json(ids: Mapping[str, str], message: object) -> bytes:
    """OTLP's JSON: protobuf's, but ids in hexadecimal."""
    fields = json.loads(json_format.MessageToJson(message))  # type: ignore[arg-type]

    def walk(node: object) -> None:
        if isinstance(node, dict):
            node.update({key: value for key, value in ids.items() if key in node})
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(fields)
    return json.dumps(fields).encode()


def test_json_is_taken_with_hexadecimal_ids(running: Running) -> None:
    """OTLP's JSON encoding carries the same log, and is answered in JSON."""
    body = _otlp_json({"traceId": LOG.trace_id.upper(), "spanId": LOG.span_id}, log_request(LOG))
    answer = post(running.receiver, body, JSON)
    assert (answer.status, answer.media, json.loads(answer.body)) == (200, "application/json", {})
    assert running.inbox.logs == [LOG]


def test_json_ignores_fields_it_does_not_know(running: Running) -> None:
    """A newer client may send fields that this receiver has never heard of."""
    assert post(running.receiver, b'{"resourceLogs": [], "newThing": {"traceId": 5}}', JSON).status == 200


def test_chunked_bodies_are_read(running: Running) -> None:
    """A client that sends its body in chunks needs no Content-Length."""
    packed = log_request(LOG).SerializeToString()
    connection = http.client.HTTPConnection(running.receiver.host, running.receiver.http_port, timeout=10)
    connection.request("POST", "/v1/logs", iter([packed[:7], packed[7:]]), PROTOBUF, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    assert running.inbox.logs == [LOG]


def test_a_connection_serves_many_requests(running: Running) -> None:
    """Connections are kept alive."""
    connection = http.client.HTTPConnection(running.receiver.host, running.receiver.http_port, timeout=10)
    for _ in range(3):
        connection.request("POST", "/v1/logs", log_request(LOG).SerializeToString(), PROTOBUF)
        connection.getresponse().read()
        used = connection.sock
        assert used is not None
    connection.close()
    assert running.inbox.logs == [LOG] * 3


def test_metrics_are_taken_and_dropped(running: Running) -> None:
    """An application that exports metrics to the same endpoint gets no errors for it."""
    assert post(running.receiver, b"", path="/v1/metrics").status == 200
    assert post(running.receiver, b"\xff", path="/v1/metrics").status == 400


def _status_of(raw: socket.socket) -> int:
    with contextlib.closing(http.client.HTTPResponse(raw)) as response:
        response.begin()
        return response.status


GZIP = {**PROTOBUF, "Content-Encoding": "gzip"}
DEEP = b'{"resourceLogs":' + b"[" * 200_000


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        pytest.param(400, PROTOBUF, b"\xff\xff\xff garbage", id="garbage"),
        pytest.param(400, PROTOBUF, log_request(LOG).SerializeToString()[:-5], id="cut-protobuf"),
        pytest.param(400, GZIP, b"not gzip", id="no-gzip"),
        pytest.param(400, GZIP, gzip.compress(b"x" * 100)[:-9], id="cut-gzip"),
        pytest.param(400, GZIP, gzip.compress(b"") * 17, id="gzip-of-many-members"),
        pytest.param(400, JSON, b"{", id="cut-json"),
        pytest.param(400, JSON, b"[]", id="json-list"),
        pytest.param(400, JSON, b"\xff\xfe", id="json-no-utf8"),
        pytest.param(400, JSON, DEEP, id="deep-json"),
        pytest.param(400, JSON, b'{"resourceLogs": 5}', id="json-wrong-kind"),
        pytest.param(
            400,
            JSON,
            b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"xyz"}]}]}]}',
            id="json-id-no-hex",
        ),
        pytest.param(400, {**PROTOBUF, "Content-Length": "1e3"}, b"", id="length-no-number"),
        pytest.param(400, {**PROTOBUF, "Content-Length": "-1"}, b"", id="negative-length"),
        pytest.param(413, {**PROTOBUF, "Content-Length": "99999999999999999999"}, b"", id="huge-length"),
        pytest.param(415, {"Content-Type": "text/plain"}, b"x", id="wrong-media"),
        pytest.param(415, {}, b"x", id="no-media"),
        pytest.param(415, {**PROTOBUF, "Content-Encoding": "br"}, b"x", id="unknown-encoding"),
        pytest.param(411, {**PROTOBUF, "Transfer-Encoding": "gzip"}, b"", id="no-length"),
        pytest.param(400, {**PROTOBUF, "Transfer-Encoding": "chunked"}, b"zz\r\n", id="malformed-chunk"),
    ],
)
def test_what_is_no_otlp_is_refused(running: Running, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """A malformed request gets the status that tells why, nothing is delivered, and the next request works."""
    host, port = running.receiver.host, running.receiver.http_port
    length = {} if {"Content-Length", "Transfer-Encoding"} & headers.keys() else {"Content-Length": str(len(body))}
    lines = [f"{name}: {value}" for name, value in {**headers, **length}.items()]
    with socket.create_connection((host, port), timeout=10) as raw:
        raw.sendall(("POST /v1/logs HTTP/1.1\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n").encode() + body)
        raw.shutdown(socket.SHUT_WR)
        assert _status_of(raw) == status
    assert running.inbox.logs == []
    assert post(running.receiver, log_request(LOG).SerializeToString()).status == 200


def test_a_refusal_says_why_in_a_status_message(running: Running) -> None:
    """OTLP wants errors as a `google.rpc.Status`."""
    answer = post(running.receiver, b"\xff\xff")
    status = status_pb2.Status.FromString(answer.body)
    assert status.code == 3
    assert "ExportLogsServiceRequest" in status.message


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_body_over_the_limit_is_refused(running: Running, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    """The limit holds for what is sent and for what it unpacks to, and the client sees the answer."""
    monkeypatch.setattr(body_module, "MAX_BODY", 100_000)
    body = b"\0" * 5_000_000
    headers = GZIP if packed else PROTOBUF
    assert post(running.receiver, gzip.compress(body) if packed else body, headers).status == 413


def test_a_chunked_body_over_the_limit_is_refused(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are counted, and not believed."""
    monkeypatch.setattr(body_module, "MAX_BODY", 10)
    head = b"POST /v1/logs HTTP/1.1\r\nContent-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((running.receiver.host, running.receiver.http_port), timeout=10) as raw:
        raw.sendall(head + b"6\r\nabcdef\r\n6\r\n")
        assert _status_of(raw) == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/v1/logs", 405), ("POST", "/v1/nothing", 404), ("POST", "/v1/logs/v1/logs", 404)],
)
def test_other_paths_and_methods(running: Running, method: str, path: str, status: int) -> None:
    """What isn't OTLP is told so."""
    assert post(running.receiver, b"", path=path, method=method).status == status


def test_an_endpoint_with_a_query_is_the_endpoint(running: Running) -> None:
    """A query, such as a token that a proxy reads, doesn't change the signal."""
    assert post(running.receiver, log_request(LOG).SerializeToString(), path="/v1/logs?token=x").status == 200


def test_what_the_callback_raises_is_answered_with_500(capfd: pytest.CaptureFixture[str]) -> None:
    """The client may send again; the fault is shown, and the receiver lives on."""
    taken: list[Received] = []

    def fail_once(records: object) -> None:
        if not taken:
            taken.append(LOG)
            raise RuntimeError("callback")

    with Receiver(fail_once, grpc_port=None) as receiver:
        body = log_request(LOG).SerializeToString()
        assert [post(receiver, body).status for _ in range(2)] == [500, 200]
    shown: list[str] = []

    def tells_of_it() -> bool:  # after the answer, by the thread that has given it
        shown.append(capfd.readouterr().err)
        return "RuntimeError: callback" in "".join(shown)

    assert wait_until(tells_of_it, 30)


def test_a_client_that_asks_first_is_told_to_go_on(running: Running) -> None:
    """`Expect: 100-continue` is answered before the body comes, as curl wants it for larger bodies."""
    body = log_request(LOG).SerializeToString()
    head = f"POST /v1/logs HTTP/1.1\r\nContent-Type: application/x-protobuf\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection((running.receiver.host, running.receiver.http_port), timeout=10) as raw:
        raw.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert raw.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(body)
        assert _status_of(raw) == 200


def test_stop_closes_idle_connections() -> None:
    """A kept-alive client notices at once that the receiver is gone."""
    with Receiver(Inbox(), grpc_port=None) as receiver:
        connection = http.client.HTTPConnection(receiver.host, receiver.http_port, timeout=10)
        connection.request("POST", "/v1/logs", b"", PROTOBUF)
        connection.getresponse().read()
        peer = connection.sock
    assert peer is not None
    assert peer.recv(1) == b""
    connection.close()


def test_numbers_that_json_lacks_arrive(running: Running) -> None:
    """Infinity stays a float."""
    post(running.receiver, log_request(LOG._replace(attributes={"f": math.inf})).SerializeToString())
    assert running.inbox.logs[0].attributes == {"f": math.inf}
