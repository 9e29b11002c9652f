"""The hooks: what nobody caught is reported, and everybody else's hooks and exit codes are as before."""

from __future__ import annotations

import pytest

from errorsink.hooks._place import place
from tests.docs.pages import ROOT, blocks
from tests.process.children import Program
from tests.process.conftest import needs_fork

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
    (entry,) = program.journal.entries()
    assert entry["message"] == "in the finaliser"
    assert entry["attributes"] == {"unraisable": "Resource.__del__"}


def test_what_can_only_be_printed_does_not_end_the_program(program: Program) -> None:
    """Only the error that ends the program is an uncaught exception of the main thread, which the sinks call fatal."""
    child = program.run(
        """
        import atexit, errorsink
        errorsink.install_hooks()
        class Resource:
            def __del__(self): raise ValueError("finaliser")
        Resource()
        atexit.register(lambda: {}["exit callback"])
        raise ValueError("the end")
        """
    )
    assert child.code == 1
    assert {entry["message"]: entry["handling"] for entry in program.journal.entries()} == {
        "finaliser": "unhandled_rejection",
        "the end": "uncaught_exception",
        "'exit callback'": "unhandled_rejection",
    }


PLACES = {
    "finaliser": ("class R:\n    def __del__(self): 1 / 0\nR()", "R.__del__"),
    "callback of a weak reference": (
        "import weakref\nclass W: pass\nw = W(); r = weakref.ref(w, lambda _: 1 / 0); del w",
        "<lambda>",
    ),
    "generator": ("def g():\n    try: yield\n    finally: 1 / 0\nx = g(); next(x); del x", "g"),
    "exit callback": ("import atexit\n@atexit.register\ndef late(): 1 / 0", "atexit callback late"),
    "method": (
        "import atexit\nclass Job:\n    def run(_): 1 / 0\n    __repr__ = lambda _: 'a 17'\natexit.register(Job().run)",
        "atexit callback Job.run",
    ),
    "built-in": ("import atexit\natexit.register([].pop)", "atexit callback pop"),
    "thread without threading": (
        "import _thread as t\ndef work(): 1/0\nt.start_new_thread(work, ())\nwhile not errorsink.recent_errors(): pass",
        "thread started by work",
    ),
}


@pytest.mark.parametrize(("code", "place"), PLACES.values(), ids=PLACES.keys())
def test_the_place_of_what_can_only_be_printed(program: Program, code: str, place: str) -> None:
    """`unraisable` is the same words and names in each run and with each version of Python."""
    program.run(f"import errorsink; errorsink.install_hooks()\n{code}")
    assert [entry["attributes"] for entry in program.journal.entries()] == [{"unraisable": place}]


class Job:
    """A callable object that says something else of each of its kind."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"<Job {self.number} at 0x7f00>"

    def work(self) -> None:
        """Something to call."""


@pytest.mark.parametrize(
    ("sentence", "what", "said"),
    [
        (None, None, ""),
        (None, Job(17), "tests.process.test_hooks.Job"),
        (None, Job, "tests.process.test_hooks.Job"),
        (None, "shop.orders.total", "shop.orders.total"),  # as Cython does
        (None, "order 17", "str"),
        (17, Job(17).work, "Job.work"),
        (f"Exception ignored in atexit callback {Job(17)!r}", None, "atexit callback"),
        ("Exception ignored in atexit callback job of user 17", None, "atexit callback"),
        ("Exception ignored in atexit callback <shop.Job object at 0x7f00>", None, "atexit callback shop.Job"),
        ("Exception ignored in atexit callback functools.partial(<function f at 0x7f00>)", None, "atexit callback"),
        ("Exception ignored in thread started by <function f.<locals>.g at 0x7f00>", None,
         "thread started by f.<locals>.g"),
        ("From cffi callback ", len, "From cffi callback len"),
        ("Order 17 failed", None, "Order"),
    ],
)  # fmt: skip
def test_a_place_has_no_address_and_no_value(sentence: object, what: object, said: str) -> None:
    """The number of places is that of the program's functions and classes, whatever their `repr` says."""
    assert place(sentence, what) == said


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


def test_undo_in_any_order(program: Program) -> None:
    """Of two installations both are gone once both are undone, whichever was undone first."""
    program.run(
        """
        import sys, threading
        import errorsink
        def hooks(): return sys.excepthook, threading.excepthook, sys.unraisablehook
        before = hooks()
        for order in (0, 1), (1, 0):
            undo = [errorsink.install_hooks(), errorsink.install_hooks()]
            undo[order[0]]()
            assert not set(hooks()) & set(before)
            undo[order[1]]()
            assert hooks() == before
        """
    ).well()


def test_a_hook_that_was_switched_off_is_not_chained_to(program: Program) -> None:
    """What was undone below somebody else's hook goes once that one is gone and ours are installed and undone again."""
    program.run(
        """
        import sys
        import errorsink
        before = sys.excepthook
        undo = errorsink.install_hooks()
        ours, sys.excepthook = sys.excepthook, lambda *args: ours(*args)
        undo()
        sys.excepthook = ours
        errorsink.install_hooks()()
        assert sys.excepthook is before
        """
    ).well()


@pytest.mark.parametrize("method", [pytest.param("fork", marks=needs_fork), "spawn"])
def test_the_wrapper_for_a_process(program: Program, method: str) -> None:
    """What the page shows reports the error that ends a multiprocessing.Process, once, beside the hooks."""
    recipe = blocks(ROOT / "docs" / "how-to" / "uncaught-errors.md")[2]
    main = 'if __name__ == "__main__":\n'
    child = program.run(
        recipe.replace(main, f'errorsink.install_hooks()\n{main}    multiprocessing.set_start_method("{method}")\n')
    )
    assert (child.code, child.out) == (0, "exit status 1\n")
    assert child.err.count("ValueError: order 7 has no address") == 1
    entries = [(entry["message"], entry["handling"]) for entry in program.journal.entries()]
    assert entries == [("order 7 has no address", "uncaught_exception")]
