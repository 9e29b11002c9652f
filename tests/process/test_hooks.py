"""The hooks: what nobody caught is reported, and everybody else's hooks and exit codes are as before."""

from __future__ import annotations

import pytest

from tests.process.children import Program

BROKEN = {
    "well": "",
    "the ring fails": "import errorsink._ring; errorsink._ring.add = None",
    "the capture fails": "import errorsink._capture; errorsink._capture.take = errorsink._capture.bare = None",
    "the pipeline fails": "import errorsink._current; errorsink._current.first = None",
    "the hook's own code fails": "import errorsink.hooks._uncaught as u; u._classify = None",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_previous_hook_runs_once(program: Program, broken: str) -> None:
    """The hook that was there before runs exactly once, also where reporting fails, and the exit code stays 1."""
    child = program.run(
        f"""
        import functools, sys
        def before(tag, kind, error, traceback): print(tag, kind.__name__, error, flush=True)
        sys.excepthook = functools.partial(before, "BEFORE")
        import errorsink
        errorsink.install_hooks()
        {broken}
        raise ValueError("main")
        """
    )
    assert (child.code, child.out) == (1, "BEFORE ValueError main\n")
    assert "Traceback" not in child.err
    assert program.journal.messages() == ([] if broken else ["main"])


def test_threads(program: Program) -> None:
    """An error of a thread is reported; sys.exit() in it and empty arguments are no errors; the hook before runs."""
    child = program.run(
        """
        import sys, threading
        import errorsink
        threading.excepthook = lambda args: print(args.exc_type.__name__, flush=True)
        errorsink.install_hooks()
        for target in (sys.exit, lambda: 1 / 0):
            thread = threading.Thread(target=target); thread.start(); thread.join()
        threading.excepthook(threading.ExceptHookArgs((ValueError, None, None, None)))
        """
    ).well()
    assert child.out.split() == ["SystemExit", "ZeroDivisionError", "ValueError"]
    entries = program.journal.entries()
    assert [(entry["type"], entry["handling"]) for entry in entries] == [("ZeroDivisionError", "uncaught_exception")]


def test_handled_and_then_uncaught(program: Program) -> None:
    """An object that was reported as handled and goes uncaught is sent once more, with the earlier report's id."""
    program.run(
        """
        import errorsink, sys
        errorsink.install_hooks()
        sys.__excepthook__ = None
        error = ValueError("twice")
        errorsink.report_error(error)
        errorsink.report_error(ValueError("twice"))  # another object
        raise error
        """
    )
    first, other, again = program.journal.entries()
    assert [e["handling"] for e in (first, other, again)] == ["handled", "handled", "uncaught_exception"]
    assert [e["previous_id"] for e in (first, other, again)] == [None, None, first["id"]]


def test_uncaught_only_once(program: Program) -> None:
    """An object that was reported as uncaught is not reported again by another hook."""
    program.run(
        """
        import errorsink, sys, threading
        errorsink.install_hooks()
        error = ValueError("once")
        sys.excepthook(ValueError, error, None)
        threading.excepthook(threading.ExceptHookArgs((ValueError, error, None, None)))
        """
    )
    assert program.journal.messages() == ["once"]


def test_unraisable(program: Program) -> None:
    """What Python can only print, an error in a finaliser, is reported and still printed."""
    child = program.run(
        """
        import errorsink
        errorsink.install_hooks()
        class Resource:
            def __del__(self): raise ValueError("in the finaliser")
        Resource()
        """
    )
    assert child.code == 0
    assert child.err.count("ValueError: in the finaliser") == 1
    assert program.journal.messages() == ["in the finaliser"]


@pytest.mark.parametrize("control", ["KeyboardInterrupt()", "SystemExit(3)", "GeneratorExit()"])
def test_control_flow_is_no_error(program: Program, control: str) -> None:
    """What ends a program on purpose isn't reported."""
    program.run(f"import errorsink; errorsink.install_hooks()\nraise {control}")
    assert program.journal.entries() == []


def test_undo(program: Program) -> None:
    """The undo takes the hooks out; where others have chained to them, they only call the ones before."""
    child = program.run(
        """
        import sys, threading
        import errorsink
        before = sys.excepthook, threading.excepthook, sys.unraisablehook
        errorsink.install_hooks()()
        assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
        undo = errorsink.install_hooks()
        ours = sys.excepthook
        def on_top(*args):
            print("on top", flush=True)
            ours(*args)
        sys.excepthook = on_top
        undo(); undo()
        assert sys.excepthook is on_top
        assert threading.excepthook is before[1]
        raise ValueError("main")
        """
    )
    assert (child.code, child.out) == (1, "on top\n")
    assert child.err.count("ValueError: main") == 1
    assert program.journal.entries() == []
