"""What only a process of its own shows: its standard error, its exit, its children."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Callable

import pytest

from tests.otel.peers import CLOSED_PORT, GrpcPeer, HttpPeer, Say, answer, reset, silent
from tests.otel.samples import CANARY

PRELUDE = """
import os, sys
protocol, endpoint = sys.argv[1:]
env = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
       "OTEL_EXPORTER_OTLP_HEADERS": os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")}
def sink(factory):
    import errorsink_otel
    from errorsink._settings import Settings
    from errorsink.sinks import SinkConfig
    return getattr(errorsink_otel, factory)(SinkConfig(None, Settings.load(env, {})[0].values, env, lambda text: None))
def send(sink, timeout=20.0):
    from errorsink.model import ErrorRecord
    item = sink.prepare(ErrorRecord("id", 1, "T", "m", "s", "f"))
    return sink.send([item], timeout).status
"""


def run(code: str, protocol: str, endpoint: str, *, before: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """A new interpreter with no logging set up."""
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run(
        [sys.executable, "-c", before + PRELUDE + code, protocol, endpoint],
        capture_output=True,
        text=True,
        timeout=120,
        env={**clean, **env},
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(params=["http/protobuf", "grpc"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Each protocol."""
    name: str = request.param
    return name


@pytest.fixture
def endpoint(protocol: str, http_peer: Callable[[Say], HttpPeer], grpc_peer: Callable[..., GrpcPeer]) -> str:
    """A collector that takes everything."""
    return grpc_peer().url if protocol == "grpc" else http_peer(answer(200)).url


SEND_BOTH = 'print(*(send(sink(name), 0.3) for name in ("logs_sink", "spans_sink")))'


def test_refused_connection_prints_nothing(protocol: str) -> None:
    """The libraries' own warnings about a collector that is down stay off the terminal."""
    done = run(SEND_BOTH, protocol, f"http://127.0.0.1:{CLOSED_PORT}")
    assert (done.stdout.split(), done.stderr) == (["retry", "retry"], "")


@pytest.mark.parametrize(
    "say",
    [silent, answer(503), answer(400), answer(301), reset(b"HTTP/1.1 200 OK\r\nbroken header\r\n: x\r\n\r\n")],
    ids=["silent", "503", "400", "301", "broken-headers"],
)
def test_bad_answer_prints_nothing(say: Say, http_peer: Callable[[Say], HttpPeer]) -> None:
    """Nor is anything printed about a bad answer."""
    assert run(SEND_BOTH, "http/protobuf", http_peer(say).url).stderr == ""


def test_bad_header_prints_nothing(protocol: str, endpoint: str) -> None:
    """The official parser would print a pair that it doesn't understand, with its value."""
    done = run(SEND_BOTH, protocol, endpoint, OTEL_EXPORTER_OTLP_HEADERS=f"key={CANARY}\x01,{CANARY}")
    assert (done.stdout.split(), done.stderr) == (["delivered", "delivered"], "")


def test_bad_resource_attributes_print_nothing(endpoint: str, protocol: str) -> None:
    """Nor does the SDK's resource detector."""
    done = run(SEND_BOTH, protocol, endpoint, OTEL_RESOURCE_ATTRIBUTES="broken,a=1")
    assert done.stderr == ""


def test_first_report_at_exit(protocol: str, endpoint: str) -> None:
    """Sinks are built and used after the interpreter has begun to exit, when no thread can be started."""
    code = f"import atexit; atexit.register(lambda: {SEND_BOTH})"
    done = run(code, protocol, endpoint)
    assert (done.stdout.split(), done.stderr) == (["delivered", "delivered"], "")


def test_first_report_without_threads(protocol: str, endpoint: str) -> None:
    """The same where a thread pool is refused, as some versions of Python do at exit."""
    code = f"""
import concurrent.futures
class Refused:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")
concurrent.futures.ThreadPoolExecutor = Refused
{SEND_BOTH}
assert concurrent.futures.ThreadPoolExecutor is Refused
"""
    assert run(code, protocol, endpoint).stdout.split() == ["delivered", "delivered"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_child_of_a_fork(protocol: str, endpoint: str) -> None:
    """A child's new sink works while its parent's, with an open connection, is left or closed there."""
    code = """
import signal
parents = sink("logs_sink")
print(send(parents), flush=True)
for closes in (False, True):
    child = os.fork()
    if not child:
        signal.alarm(30)
        print(send(sink("logs_sink")), flush=True)
        if closes:
            parents.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print(send(parents))
"""
    assert run(code, protocol, endpoint).stdout.split() == ["delivered"] * 4


GREEN = {
    "gevent": """
import gevent.monkey
gevent.monkey.patch_all()
from gevent import spawn
""",
    "eventlet": """
import warnings
warnings.simplefilter("ignore")
import eventlet
eventlet.monkey_patch()
from eventlet import spawn
""",
}


@pytest.mark.parametrize("library", GREEN)
def test_silent_collector_stops_no_greenlet(library: str, protocol: str) -> None:
    """Under gevent and eventlet, other greenlets run while a request waits for its answer.

    The collector is such a greenlet: it says nothing, and hangs up when it has been run and has read the request.
    """
    pytest.importorskip(library)
    code = """
import socket
read = []
server = socket.create_server(("127.0.0.1", 0))
def collector():
    connection, _ = server.accept()
    read.append(connection.recv(4).decode())
    connection.close()
env["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{server.getsockname()[1]}"
made = sink("logs_sink")
spawn(collector)
print(send(made), *read)
"""
    done = run(code, protocol, "", before=GREEN[library])
    first = "PRI" if protocol == "grpc" else "POST"  # HTTP/2 begins with a preface
    assert (done.stdout.split(), done.stderr) == (["retry", first], "")


def test_nothing_global_is_set(protocol: str, endpoint: str) -> None:
    """A pipeline of our own sets no global provider, starts no thread and registers nothing for the exit."""
    code = """
import atexit, threading
registered = []
def register(function, *args, **kwargs):
    registered.append(function.__module__)
    return function
atexit.register = register
print(*(send(sink(name)) for name in ("logs_sink", "spans_sink")))
from opentelemetry import _logs, trace
print(type(_logs.get_logger_provider()).__name__, type(trace.get_tracer_provider()).__name__)
print([thread.name for thread in threading.enumerate() if not isinstance(thread, threading._MainThread)])
print([name for name in registered if name.startswith("opentelemetry")])
"""
    delivered, providers, threads, registered = run(code, protocol, endpoint).stdout.splitlines()
    assert delivered == "delivered delivered"
    assert providers == "ProxyLoggerProvider ProxyTracerProvider"
    assert (threads, registered) == ("[]", "[]")


def test_other_loggers_are_left_alone() -> None:
    """What an application itself logs and sends through the same libraries is logged as before."""
    code = """
import logging
logging.basicConfig(level=logging.DEBUG, format="%(message)s")
made = sink("logs_sink")
send(made)
for name in ("urllib3.connectionpool", "opentelemetry.sdk.resources"):
    logging.getLogger(name).warning("the application's own")
"""
    done = run(code, "http/protobuf", f"http://127.0.0.1:{CLOSED_PORT}")
    assert done.stderr.splitlines() == ["the application's own"] * 2
