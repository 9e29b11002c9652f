"""gunicorn, the prefork server: a report from each worker arrives once, with the application preloaded or not."""

from __future__ import annotations

import http.client
import os
import signal
import sys

import pytest

from tests.collectors.contract import wait_until
from tests.collectors.process import connects, free_ports
from tests.process.children import LIMIT, Program
from tests.process.conftest import needs_fork

pytestmark = needs_fork
pytest.importorskip("gunicorn")

APPLICATION = """
import os
import errorsink

errorsink.report_error(ValueError("imported"))

def application(environ, start_response):
    errorsink.report_error(ValueError(f"{environ['PATH_INFO']} in {os.getpid()}"))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""
WORKERS = 2


def get(port: int, path: str) -> int:
    """The process that answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        assert response.status == 200
        return int(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("preload", [True, False], ids=["preload", "no preload"])
@pytest.mark.parametrize("kind", ["sync", "gthread", "gevent"])
def test_each_worker_reports(program: Program, kind: str, preload: bool) -> None:
    """Reports of all workers arrive while the server runs and when it is stopped, each once."""
    if kind == "gevent":
        pytest.importorskip("gevent")
    (program.directory / "served.py").write_text(APPLICATION, "utf-8")
    (port,) = free_ports(1)
    options = ["--worker-class", kind, "--workers", str(WORKERS), "--bind", f"127.0.0.1:{port}"]
    if preload:
        options.append("--preload")
    command = [sys.executable, "-m", "gunicorn", *options, "--chdir", str(program.directory), "served:application"]
    server = program.start_command(command)
    assert wait_until(lambda: connects(port) or server.poll() is not None, LIMIT)
    asked: list[str] = []
    answered: set[int] = set()
    while len(answered) < WORKERS:
        path = f"/{len(asked)}"
        worker = get(port, path)
        answered.add(worker)
        asked.append(f"{path} in {worker}")
        assert len(asked) < 1000, "one worker answers everything"
    imports = 1 if preload else WORKERS
    program.journal.wait_for(len(asked) + imports)
    asked.append(f"/last in {get(port, '/last')}")
    os.kill(server.pid, signal.SIGTERM)
    child = program.ended(server)
    assert child.code == 0, child.err
    assert "Traceback" not in child.err
    assert "errorsink" not in child.err
    assert program.journal.messages() == sorted([*asked, *["imported"] * imports])
