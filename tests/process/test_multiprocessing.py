"""multiprocessing: its children end without `atexit`, and what they reported arrives all the same."""

from __future__ import annotations

import pytest

from tests.process.children import Program
from tests.process.conftest import needs_fork

METHODS = [pytest.param("fork", marks=needs_fork), "spawn", pytest.param("forkserver", marks=needs_fork)]


@pytest.mark.parametrize("method", METHODS)
def test_children_are_drained(program: Program, method: str) -> None:
    """A child that returns from its target, or calls sys.exit in it, is drained, however it was started."""
    program.run(
        """
        import errorsink, multiprocessing, sys
        def work(name):
            errorsink.report_error(ValueError(name))
            if name == "exits": sys.exit(0)
        if __name__ == "__main__":
            errorsink.report_error(ValueError("parent"))
            context = multiprocessing.get_context(sys.argv[1])
            children = [context.Process(target=work, args=(name,)) for name in ("returns", "exits")]
            for child in children: child.start()
            for child in children: child.join()
            assert [child.exitcode for child in children] == [0, 0]
        """,
        method,
    ).well()
    assert program.journal.messages() == ["exits", "parent", "returns"]


@pytest.mark.parametrize("method", METHODS)
def test_report_while_the_main_module_is_imported(program: Program, method: str) -> None:
    """A child that reports before it knows that it is one, while it imports the main module, is drained too."""
    program.run(
        """
        import errorsink, multiprocessing, sys
        errorsink.report_error(ValueError(__name__))
        def work(): errorsink.report_error(ValueError("work"))
        if __name__ == "__main__":
            context = multiprocessing.get_context(sys.argv[1])
            child = context.Process(target=work)
            child.start(); child.join()
            assert child.exitcode == 0
        """,
        method,
    ).well()
    imported = [] if method == "fork" else ["__mp_main__"]
    assert program.journal.messages() == sorted(["__main__", *imported, "work"])


@pytest.mark.parametrize("method", METHODS)
def test_process_pool_executor(program: Program, method: str) -> None:
    """Each task's report of a ProcessPoolExecutor arrives once."""
    program.run(
        """
        import concurrent.futures, errorsink, multiprocessing, sys
        def work(number):
            try: raise ValueError(number)
            except ValueError: return bool(errorsink.report_error())
        if __name__ == "__main__":
            errorsink.report_error(ValueError("parent"))
            context = multiprocessing.get_context(sys.argv[1])
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                assert all(pool.map(work, range(20)))
        """,
        method,
    ).well()
    assert program.journal.messages() == sorted(["parent", *map(str, range(20))])


def test_pool_that_is_closed(program: Program) -> None:
    """Each task's report of a multiprocessing.Pool arrives once, where the pool is closed and joined."""
    program.run(
        """
        import errorsink, multiprocessing
        def work(number): errorsink.report_error(ValueError(number))
        if __name__ == "__main__":
            pool = multiprocessing.get_context().Pool(2)
            pool.map(work, range(20))
            pool.close(); pool.join()
        """
    ).well()
    assert program.journal.messages() == sorted(map(str, range(20)))


@needs_fork
def test_uncaught_error_of_a_child(program: Program) -> None:
    """A child that dies of an exception: multiprocessing prints it, which is no hook of Python's, and exits with 1."""
    child = program.run(
        """
        import errorsink, multiprocessing
        errorsink.install_hooks()
        def work():
            errorsink.report_error(ValueError("before"))
            raise KeyError("uncaught")
        process = multiprocessing.get_context("fork").Process(target=work)
        process.start(); process.join()
        print(process.exitcode)
        """
    )
    assert (child.code, child.answer) == (0, 1)
    assert child.err.count("Traceback") == 1
    assert program.journal.messages() == ["before"]


def test_threads_that_outlive_the_target(program: Program) -> None:
    """What a child's threads report after its target has returned arrives as well."""
    program.run(
        """
        import errorsink, multiprocessing, threading
        def late(process_ends):
            process_ends.wait(20)
            errorsink.report_error(ValueError("late"))
        def work():
            import multiprocessing.util
            ends = threading.Event()
            multiprocessing.util.Finalize(None, ends.set, exitpriority=-200)  # after errorsink's own
            threading.Thread(target=late, args=(ends,)).start()
            errorsink.report_error(ValueError("early"))
        if __name__ == "__main__":
            child = multiprocessing.get_context().Process(target=work)
            child.start(); child.join()
            assert child.exitcode == 0
        """
    ).well()
    assert program.journal.messages() == ["early", "late"]


@needs_fork
def test_billiard(program: Program) -> None:
    """Celery's twin of multiprocessing: each task's report of a prefork pool arrives once."""
    pytest.importorskip("billiard")
    program.run(
        """
        import billiard, errorsink
        def work(number):
            try: raise ValueError(number)
            except ValueError: return bool(errorsink.report_error())
        errorsink.report_error(ValueError("parent"))
        pool = billiard.Pool(2)
        assert all(pool.map(work, range(20)))
        pool.close(); pool.join()
        """
    ).well()
    assert program.journal.messages() == sorted(["parent", *map(str, range(20))])
