"""gevent and eventlet, patched before or after errorsink is imported or used: no hang, and what is reported arrives."""

from __future__ import annotations

import pytest

from tests.process.children import Program
from tests.process.conftest import needs_fork

PATCH = {
    "gevent": "import gevent.monkey; gevent.monkey.patch_all()",
    "eventlet": "import warnings; warnings.simplefilter('ignore'); import eventlet; eventlet.monkey_patch()",
}
ORDER = {
    "patched first": "{patch}\nimport errorsink",
    "patched after the import": "import errorsink\n{patch}",
    "patched after the first report": (
        # Not in the very moment in which the sinks are imported: no thread's import survives that.
        "import errorsink; errorsink.report_error(ValueError('first'))\n"
        "while not errorsink.stats().sinks: pass\n{patch}"
    ),
    "patched after the first flush": (
        "import errorsink; errorsink.report_error(ValueError('first')); assert errorsink.flush(20)\n{patch}"
    ),
}
TASKS = {
    "gevent": "import gevent; gevent.joinall([gevent.spawn(work, number) for number in range(20)])",
    "eventlet": (
        "import eventlet; pool = eventlet.GreenPool(); [pool.spawn_n(work, n) for n in range(20)]; pool.waitall()"
    ),
}


@pytest.mark.parametrize("order", ORDER.values(), ids=ORDER.keys())
@pytest.mark.parametrize("library", PATCH)
def test_reports_of_green_threads(program: Program, library: str, order: str) -> None:
    """Each report of a green thread arrives; flush works while they run, and the exit sends the rest."""
    pytest.importorskip(library)
    code = "\n".join(
        [
            order.format(patch=PATCH[library]),
            "import threading",
            "all_have_begun = threading.Barrier(20)",
            "def work(number):",
            "    errorsink.report_error(ValueError(number))",
            "    all_have_begun.wait(20)",
            "    if number % 5 == 0: assert errorsink.flush(20)",
            "    errorsink.report_error(ValueError(f'{number} again'))",
            TASKS[library],
            "assert errorsink.flush(20)",
            "assert errorsink.stats().sinks['journal'].delivered >= 40",
            "errorsink.report_error(ValueError('last'))",
        ]
    )
    child = program.run(code)
    said = [line for line in child.err.splitlines() if "were not greened" not in line]  # eventlet's own advice
    assert (child.code, said) == (0, [])
    first = ["first"] if "first" in order.partition("{patch}")[0] else []
    expected = [*first, *(f"{n}{end}" for n in range(20) for end in ("", " again")), "last"]
    assert program.journal.messages() == sorted(expected)


@pytest.mark.parametrize("library", PATCH)
def test_native_thread_reports_first(program: Program, library: str) -> None:
    """The first report comes from a native thread of the library's pool, which then ends: nothing hangs or is lost."""
    pytest.importorskip(library)
    in_pool = {
        "gevent": "import gevent; gevent.get_hub().threadpool.apply(report)",
        "eventlet": "import eventlet.tpool; eventlet.tpool.execute(report)",
    }
    program.run(
        "\n".join(
            [
                PATCH[library],
                "import errorsink",
                "def report(): errorsink.report_error(ValueError('native'))",
                in_pool[library],
                "errorsink.report_error(ValueError('green'))",
                "assert errorsink.flush(20)",
            ]
        )
    ).well()
    assert program.journal.messages() == ["green", "native"]


@pytest.mark.parametrize("library", PATCH)
def test_peer_is_silent(program: Program, library: str) -> None:
    """While a sink waits for its peer, green threads go on, and flush and the exit keep their limits."""
    pytest.importorskip(library)
    child = program.run(
        "\n".join(
            [
                PATCH[library],
                "import errorsink, time",
                "errorsink.report_error(ValueError('x'))",
                "print(int(errorsink.flush(0.2)))",
            ]
        ),
        environ={"JOURNAL_PEER": "silent", "ERRORSINK_SHUTDOWN_TIMEOUT": "0.3"},
    )
    assert (child.code, child.answer) == (0, 0)
    assert "Traceback" not in child.err


@needs_fork
def test_fork_of_a_gevent_process(program: Program) -> None:
    """A patched process that forks: parent and child report and flush."""
    pytest.importorskip("gevent")
    program.run(
        """
        import gevent.monkey; gevent.monkey.patch_all()
        import errorsink, os
        errorsink.report_error(ValueError("parent"))
        child = os.fork()
        if not child:
            errorsink.report_error(ValueError("child"))
            assert errorsink.flush(20)
        else:
            assert os.waitpid(child, 0)[1] == 0
        """
    ).well()
    assert program.journal.messages() == ["child", "parent"]
