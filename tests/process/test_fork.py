"""Forks: no child hangs, each report arrives once, from the process that made it."""

from __future__ import annotations

import pytest

from tests.process.children import Program
from tests.process.conftest import needs_fork

pytestmark = needs_fork

BEFORE = {
    "unused": "",
    "just reported": "errorsink.report_error(ValueError('parent'))",
    "flushed": "errorsink.report_error(ValueError('parent')); assert errorsink.flush(20)",
    "shut down and opened again": (
        "errorsink.report_error(ValueError('parent')); assert errorsink.shutdown(20); errorsink.configure()"
    ),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE.keys())
def test_child_reports(program: Program, before: str) -> None:
    """Whatever the parent has done before, and however the children end, the report of each arrives once."""
    program.run(
        f"""
        import errorsink, os, sys
        {before}
        ends = {{
            "returns": lambda: None,
            "exits": lambda: sys.exit(0),
            "flushes": lambda: errorsink.flush(20) and os._exit(0),
            "shuts down": lambda: errorsink.shutdown(20) and os._exit(0),
        }}
        for name, end in ends.items():
            child = os.fork()
            if not child:
                errorsink.report_error(ValueError(name))
                end()
                break
            assert os.waitpid(child, 0)[1] == 0
        """
    ).well()
    assert program.journal.messages() == sorted(
        ["returns", "exits", "flushes", "shuts down", *(["parent"] if before else [])]
    )


def test_records_name_their_process(program: Program) -> None:
    """A child's record has the child's pid, and is sent by the child."""
    child = program.run(
        """
        import errorsink, os, sys
        errorsink.report_error(ValueError("parent"))
        child = os.fork()
        errorsink.report_error(ValueError("after"))
        if child:
            os.waitpid(child, 0)
            print([os.getpid(), child])
        """
    ).well()
    parent, forked = child.answer
    entries = sorted((entry["message"], entry["pid"], entry["sender"]) for entry in program.journal.entries())
    assert entries == sorted([("parent", parent, parent), ("after", parent, parent), ("after", forked, forked)])


def test_ids_differ_between_parent_and_child(program: Program) -> None:
    """No id is given twice, though the child begins as a copy of its parent."""
    program.run(
        """
        import errorsink, os
        errorsink.report_error(ValueError("before"))
        for _ in range(3): os.fork()  # eight processes
        errorsink.report_error(ValueError("after"))
        try:
            while os.wait(): pass
        except ChildProcessError: pass
        """
    ).well()
    ids = [entry["id"] for entry in program.journal.entries()]
    assert (len(ids), len(set(ids))) == (9, 9)


def test_child_that_never_reports(program: Program) -> None:
    """It sends nothing of its parent's, and ends at once."""
    program.run(
        """
        import errorsink, os, sys
        for number in range(50): errorsink.report_error(ValueError(number))
        for end in (lambda: os._exit(0), lambda: sys.exit(0), lambda: errorsink.flush(20) and sys.exit(0)):
            child = os.fork()
            if not child: end()
            assert os.waitpid(child, 0)[1] == 0
        """
    ).well()
    assert program.journal.messages() == sorted(map(str, range(50)))


def test_child_counts_from_nothing(program: Program) -> None:
    """The child's accounts are its own; its ring still has what came before the fork."""
    child = program.run(
        """
        import errorsink, json, os
        for number in range(3): errorsink.report_error(ValueError(number))
        errorsink.flush(20)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            errorsink.report_error(ValueError("child"))
            errorsink.flush(20)
            stats = errorsink.stats()
            sink = stats.sinks["journal"]
            said = [stats.reported, stats.recorded, sink.recorded, sink.delivered, len(errorsink.recent_errors())]
            os.write(writer, json.dumps(said).encode())
            os._exit(0)
        os.waitpid(child, 0)
        print(os.read(reader, 1000).decode())
        """
    ).well()
    assert child.answer == [1, 1, 1, 1, 4]


def test_grandchildren(program: Program) -> None:
    """A child's children report too, to the fifth generation."""
    program.run(
        """
        import errorsink, os
        generation = 0
        errorsink.report_error(ValueError(0))
        while generation < 5:
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                break
            generation += 1
            errorsink.report_error(ValueError(generation))
        """
    ).well()
    assert program.journal.messages() == list("012345")


def test_fork_from_a_thread(program: Program) -> None:
    """A child forked by a thread, whose main thread that is, reports like any other."""
    program.run(
        """
        import errorsink, os, threading
        errorsink.report_error(ValueError("parent"))
        def fork():
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                return
            errorsink.report_error(ValueError("child"))
            assert errorsink.flush(20)
            os._exit(0)
        thread = threading.Thread(target=fork)
        thread.start(); thread.join()
        """
    ).well()
    assert program.journal.messages() == ["child", "parent"]


def test_fork_in_the_middle_of_a_flush(program: Program) -> None:
    """Threads wait in flush for a peer that is silent: the child has nothing of that, and its own flush ends."""
    program.run(
        """
        import errorsink, os, signal, threading
        inside = threading.Event()
        def flush():
            inside.set()
            errorsink.flush(1.0)
        errorsink.report_error(ValueError("parent"))
        threads = [threading.Thread(target=flush) for _ in range(3)]
        for thread in threads: thread.start()
        inside.wait()
        for _ in range(3):
            child = os.fork()
            if not child:
                errorsink.report_error(ValueError("child"))
                while not errorsink.stats().sinks: errorsink.flush(0.1)
                assert errorsink.stats().sinks["journal"].queued == 1
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        for thread in threads: thread.join()
        os._exit(0)
        """,
        environ={"JOURNAL_PEER": "silent"},
    )


def test_fork_while_the_sinks_are_being_imported(program: Program) -> None:
    """A fork waits until no module is half imported by errorsink's thread: the child could never import it."""
    program.run(
        """
        import errorsink, os
        errorsink.report_error(ValueError("parent"))  # its thread begins to import
        child = os.fork()
        if not child:
            import errorsink._dispatch, importlib.metadata, email.message
            errorsink.report_error(ValueError("child"))
        else:
            assert os.waitpid(child, 0)[1] == 0
        """
    ).well()
    assert program.journal.messages() == ["child", "parent"]


FOREIGN = """lock = threading.RLock()
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)"""
HOLDERS = {
    "logging, imported after errorsink": ("import logging; lock = logging._lock", "pass"),
    "logging, imported by a sink": ("", "import logging; lock = logging._lock"),
    "a library with a lock of its own": (FOREIGN, "pass"),
}


@pytest.mark.parametrize(("earlier", "within"), HOLDERS.values(), ids=HOLDERS.keys())
def test_fork_while_a_sink_needs_a_lock_that_is_held_around_forks(program: Program, earlier: str, within: str) -> None:
    """Who waits in a fork for an import must not keep from it what it needs."""
    program.run(
        f"""
        import errorsink, os, sys, threading
        importing, forking = threading.Event(), threading.Event()
        {earlier}
        class Finder:
            def find_spec(name, path=None, target=None):
                global lock
                if name == "journal_sink" and not importing.is_set():
                    {within}
                    importing.set()
                    forking.wait()
                    with lock: pass
        sys.meta_path.insert(0, Finder)
        errorsink.report_error(ValueError("parent"))  # its thread begins to import
        importing.wait()
        os.register_at_fork(before=forking.set)
        child = os.fork()
        if not child:
            errorsink.report_error(ValueError("child"))
        else:
            assert os.waitpid(child, 0)[1] == 0
        """,
        limit=15,
    ).well()
    assert program.journal.messages() == ["child", "parent"]


STORM = """
    import errorsink, os, signal, threading, time
    stop = False
    made = [0] * 4
    def spin(which):
        while not stop:
            assert errorsink.report_error(ValueError(f"{os.getpid()} {which} {made[which]}"))
            made[which] += 1
            time.sleep(0.001)
    threads = [threading.Thread(target=spin, args=(which,), daemon=True) for which in range(4)]
    for thread in threads: thread.start()
    bad = []
    for number in range(50):
        child = os.fork()
        if not child:
            signal.alarm(30)
            errorsink.report_error(ValueError(f"child {number}"))
            os._exit(0 if errorsink.flush(20) else 1)
        status = os.waitpid(child, 0)[1]
        if status: bad.append((number, status))
    stop = True
    for thread in threads: thread.join()
    assert errorsink.flush(20)
    assert not bad, bad
    print(sum(made))
    """


def test_fork_storm(program: Program) -> None:
    """50 forks under 4 reporting threads: no child hangs, and each report of each process arrives once."""
    child = program.run(STORM).well()
    messages = program.journal.messages()
    assert len(messages) == len(set(messages)) == child.answer + 50
    assert [message for message in messages if message.startswith("child")] == sorted(
        f"child {number}" for number in range(50)
    )


def test_fork_storm_with_a_spool(program: Program) -> None:
    """The same with the spool on: the children's rows are their own, and none is sent twice."""
    program.run(STORM, environ={"ERRORSINK_SPOOL_DIR": str(program.directory / "spool")}).well()
    messages = program.journal.messages()
    assert len(messages) == len(set(messages))
    assert len([message for message in messages if message.startswith("child")]) == 50
