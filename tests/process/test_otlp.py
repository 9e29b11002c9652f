"""Real OTLP clients in processes that fork: no hang, and each report arrives once."""

from __future__ import annotations

from typing import Iterator

import pytest

from errorsink.cli.receiver import Inbox, Receiver
from tests.process.children import LIMIT, Program
from tests.process.conftest import needs_fork


@pytest.fixture
def inbox() -> Inbox:
    """What has arrived."""
    return Inbox()


@pytest.fixture
def receiver(inbox: Inbox) -> Iterator[Receiver]:
    """A collector for both protocols."""
    with Receiver(inbox) as receiver:
        yield receiver


def environ(receiver: Receiver, protocol: str) -> dict[str, str]:
    """Logs to that receiver."""
    endpoint = receiver.grpc_endpoint if protocol == "grpc" else f"{receiver.http_endpoint}/v1/logs"
    return {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": protocol}


def bodies(inbox: Inbox, count: int) -> list[str]:
    """The messages that arrived, sorted, once there are so many."""
    assert inbox.wait_until(lambda inbox: len(inbox.logs) >= count, LIMIT), [log.body for log in inbox.logs]
    return sorted(str(log.body) for log in inbox.logs)


PROTOCOLS = ["http/protobuf", "grpc"]


@needs_fork
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("before", ["", "errorsink.flush(20)"], ids=["at once", "after a flush"])
def test_children_of_a_parent_that_exports(
    program: Program, receiver: Receiver, inbox: Inbox, protocol: str, before: str
) -> None:
    """A parent that has exported, or is about to, forks three children: each exports over a connection of its own."""
    program.run(
        f"""
        import errorsink, os
        errorsink.report_error(ValueError("parent"))
        {before}
        children = []
        for number in range(3):
            child = os.fork()
            if not child:
                errorsink.report_error(ValueError(f"child {{number}}"))
                os._exit(0 if errorsink.flush(20) else 1)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        errorsink.report_error(ValueError("parent again"))
        """,
        environ=environ(receiver, protocol),
    ).well()
    assert bodies(inbox, 5) == ["child 0", "child 1", "child 2", "parent", "parent again"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_first_report_at_exit(program: Program, receiver: Receiver, inbox: Inbox, protocol: str) -> None:
    """A first report that is made by an exit callback, where no thread can be started any more, is exported."""
    program.run(
        """
        import atexit, errorsink
        atexit.register(lambda: errorsink.report_error(ValueError("late")))
        """,
        environ=environ(receiver, protocol),
    ).well()
    assert bodies(inbox, 1) == ["late"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_finaliser_at_teardown(program: Program, receiver: Receiver, inbox: Inbox, protocol: str) -> None:
    """No exporter runs once modules are being taken down: there it would send twice, hang, or crash the interpreter."""
    program.run(
        """
        import errorsink
        class Connection:
            def __del__(self):
                try: raise OSError(32, "broken pipe")
                except OSError as error: errorsink.report_error(error)
        connection = Connection()
        errorsink.report_error(ValueError("early"))
        """,
        environ=environ(receiver, protocol),
    ).well()
    assert bodies(inbox, 1) == ["early"]


@needs_fork
def test_fork_storm_over_http(program: Program, receiver: Receiver, inbox: Inbox) -> None:
    """Forks while four threads report and the parent exports: no child hangs, each child's report arrives once."""
    program.run(
        """
        import errorsink, os, signal, threading
        stop = False
        def spin():
            while not stop:
                for _ in range(10): errorsink.report_error(KeyError("parent"))
                assert errorsink.flush(20)  # so that an export is under way at each fork
        threads = [threading.Thread(target=spin) for _ in range(4)]
        for thread in threads: thread.start()
        bad = []
        for number in range(10):
            child = os.fork()
            if not child:
                signal.alarm(25)
                errorsink.report_error(ValueError(f"child {number}"))
                os._exit(0 if errorsink.flush(20) else 1)
            status = os.waitpid(child, 0)[1]
            if status: bad.append((number, status))
        stop = True
        for thread in threads: thread.join()
        assert not bad, bad
        """,
        environ=environ(receiver, "http/protobuf"),
    ).well()
    assert inbox.wait_until(lambda inbox: sum("child" in str(log.body) for log in inbox.logs) >= 10, LIMIT)
    assert len({log.attributes["errorsink.id"] for log in inbox.logs}) == len(inbox.logs)
