"""Datadog on a loopback port: validation of keys, the intake, and the search, as the check sees them."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Mapping, NamedTuple

VALIDATE, INTAKE, SEARCH = "/api/v1/validate", "/api/v2/logs", "/api/v2/logs/events/search"


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: Any


class FakeDatadog:
    """Knows one API key and one application key; `answers` replaces the answer of a path by a status and headers."""

    def __init__(self, api_key: str, app_key: str = "") -> None:
        self.api_key = api_key
        self.app_key = app_key
        self.answers: dict[str, tuple[int, dict[str, str]]] = {}
        self.searches_before_found = 0
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def paths(self) -> list[str]:
        """The paths that were asked, in their order."""
        return [asked.path for asked in self.asked]

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], object]:
        """Status, headers and JSON of an answer."""
        self.asked.append(asked)
        if asked.path in self.answers:
            return (*self.answers[asked.path], {"errors": ["as told"], "echo": str(asked.headers)})
        if asked.headers.get("dd-api-key") != self.api_key:
            return 403, {}, {"errors": ["Forbidden"]}
        if asked.path == VALIDATE:
            return 200, {}, {"valid": True}
        if asked.path == INTAKE:
            return 202, {}, {}
        if asked.headers.get("dd-application-key") != self.app_key:
            return 403, {}, {"errors": ["Forbidden"]}
        found = self.paths().count(SEARCH) > self.searches_before_found
        return 200, {}, {"data": [{"id": "l", "type": "log", "attributes": {}}] if found else []}


def _handler(datadog: FakeDatadog) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra, content = datadog.answer(Asked(self.path, headers, json.loads(body or b"null")))
            data = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **extra}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, *args: object) -> None:
            """Silent."""

    return Handler
