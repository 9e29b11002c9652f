"""The end of the process: what was reported arrives, within one deadline, and nothing is said that nobody asked for."""

from __future__ import annotations

import pytest

from tests.process.children import LIMIT, Program

END = {
    "return": "",
    "sys.exit": "import sys; sys.exit(0)",
    "flush, then os._exit": "import os; errorsink.flush(20); os._exit(0)",
    "shutdown, then os._exit": "import os; errorsink.shutdown(20); os._exit(0)",
}


@pytest.mark.parametrize("end", END.values(), ids=END.keys())
def test_reports_arrive_at_the_end(program: Program, end: str) -> None:
    """Each report arrives once, in the order it was made, however the program ends."""
    program.run(
        f"""
        import errorsink
        for number in range(700):
            errorsink.report_error(ValueError(number))
        {end}
        """
    ).well()
    assert [entry["message"] for entry in program.journal.entries()] == [str(number) for number in range(700)]


@pytest.mark.parametrize("hooks", ["", "errorsink.install_hooks()"], ids=["without hooks", "with hooks"])
def test_uncaught_exception(program: Program, hooks: str) -> None:
    """A program that dies of an exception exits with 1 and its traceback; with hooks, that is reported too."""
    child = program.run(
        f"""
        import errorsink
        {hooks}
        errorsink.report_error(ValueError("before"))
        raise KeyError("the end")
        """
    )
    assert (child.code, child.err.count("Traceback"), child.err.splitlines()[-1]) == (1, 1, "KeyError: 'the end'")
    assert program.journal.messages() == (["'the end'", "before"] if hooks else ["before"])


def test_first_report_is_the_uncaught_exception(program: Program) -> None:
    """A program without an earlier report that dies of an exception tells of it."""
    child = program.run("import errorsink; errorsink.install_hooks()\nraise ValueError('the end')")
    assert child.code == 1
    assert [(e["message"], e["handling"]) for e in program.journal.entries()] == [("the end", "uncaught_exception")]


LATE = {
    "registered before the import": """
        import atexit
        atexit.register(lambda: errorsink.report_error(ValueError("late")))
        import errorsink
        """,
    "registered after the import": """
        import atexit, errorsink
        atexit.register(lambda: errorsink.report_error(ValueError("late")))
        """,
    "imported by the callback": """
        import atexit
        atexit.register(lambda: __import__("errorsink").report_error(ValueError("late")))
        """,
    "imported by the callback, hooks too": """
        import atexit
        def callback():
            import errorsink
            errorsink.install_hooks()
            errorsink.report_error(ValueError("late"))
        atexit.register(callback)
        """,
    "after a report before": """
        import atexit
        atexit.register(lambda: errorsink.report_error(ValueError("late")))
        import errorsink
        errorsink.report_error(ValueError("early"))
        """,
    "in a thread's last act": """
        import threading, errorsink
        def late():
            threading.main_thread().join()
            errorsink.report_error(ValueError("late"))
        threading.Thread(target=late).start()
        """,
}


@pytest.mark.parametrize("code", LATE.values(), ids=LATE.keys())
def test_report_at_exit(program: Program, code: str) -> None:
    """A report at the exit arrives, the first one too, where no thread can be started any more."""
    program.run(code).well()
    assert program.journal.messages().count("late") == 1


def test_report_of_a_finaliser_at_teardown(program: Program) -> None:
    """A `__del__` that reports while the interpreter is taken down does no harm, and says nothing."""
    program.run(
        """
        import errorsink, sys
        class Resource:
            def __init__(self, name): self.name, self.report = name, errorsink.report_error
            def __del__(self): self.report(ValueError(self.name))
        of_the_module = Resource("module")
        sys.resource = Resource("sys")
        errorsink.report_error(ValueError("early"))
        """
    ).well()
    assert "early" in program.journal.messages()


def test_first_report_of_a_finaliser_at_teardown(program: Program) -> None:
    """The same where it is the first report, and nothing can be imported any more: it is refused, not waited for."""
    child = program.run(
        """
        import errorsink, os
        class Resource:
            def __init__(self): self.report, self.flush, self.say = errorsink.report_error, errorsink.flush, os.write
            def __del__(self):
                receipt = self.report(ValueError("late"))
                self.say(1, f"{receipt.reason} {self.flush(0.1)}".encode())
        of_the_module = Resource()
        """
    ).well()
    assert child.out == "internal False"
    assert program.journal.entries() == []


def test_first_report_of_a_finaliser_that_sys_holds(program: Program) -> None:
    """The same where modules and built-in names are gone already: each finaliser comes back, and nothing is said."""
    child = program.run(
        """
        import errorsink, os, sys
        class Resource:
            def __init__(self, name):
                self.name, self.error, self.say = name, ValueError("late"), os.write
                self.report, self.flush = errorsink.report_error, errorsink.flush
            def __del__(self):
                try:
                    self.report(self.error)
                    self.flush(0.1)
                finally:
                    self.say(1, self.name)
        of_the_module = Resource(b"module ")
        sys.resource = Resource(b"sys ")
        """
    ).well()
    assert sorted(child.out.split()) == ["module", "sys"]
    assert program.journal.entries() == []


def test_daemon_threads_at_teardown(program: Program) -> None:
    """Daemon threads that report to the very end: code 0, and at most a sentence on what was left."""
    child = program.run(
        """
        import errorsink, threading
        errorsink.install_hooks()
        def work():
            while True:
                try: 1 / 0
                except ZeroDivisionError as error: errorsink.report_error(error)
        for _ in range(6): threading.Thread(target=work, daemon=True).start()
        errorsink.report_error(ValueError("main"))
        """,
        environ={"ERRORSINK_SHUTDOWN_TIMEOUT": "0.5"},
    )
    assert child.code == 0
    assert [line for line in child.err.splitlines() if "the process ends with" not in line] == []


@pytest.mark.parametrize("peer", ["down", "silent", "trickling"])
@pytest.mark.parametrize("timeout", ["0.3"])
def test_exit_has_one_deadline(program: Program, peer: str, timeout: str) -> None:
    """With thousands queued for three sinks whose peers don't take them, the exit is over soon after the deadline."""
    child = program.run(
        """
        import atexit, errorsink, sys, time
        begin = []
        def end():
            took = time.monotonic() - begin[0]
            print(f"{took:.2f}")
        atexit.register(end)  # runs after errorsink's own
        for number in range(5000):
            errorsink.report_error(ValueError(number))
        begin.append(time.monotonic())
        """,
        environ={
            "JOURNAL_PEER": peer,
            "ERRORSINK_JOURNAL_B": "1",
            "ERRORSINK_JOURNAL_C": "1",
            "ERRORSINK_SHUTDOWN_TIMEOUT": timeout,
        },
    )
    assert child.code == 0
    assert "Traceback" not in child.err


@pytest.mark.parametrize("end", ["", "errorsink.shutdown(60)"], ids=["exit", "shutdown"])
def test_exit_waits_for_no_try_that_comes_too_late(program: Program, end: str) -> None:
    """A peer that wants to be left alone for longer than the exit may wait isn't waited for at all."""
    child = program.run(
        f"""
        import errorsink
        errorsink.report_error(ValueError("unwelcome"))
        {end}
        """,
        environ={"JOURNAL_PEER": "resting", "ERRORSINK_SHUTDOWN_TIMEOUT": "60"},
        limit=LIMIT,
    )
    assert child.code == 0
    assert "too many requests" in child.err
