"""Re-entry: finalisers and signal handlers that call errorsink at any line of errorsink, on any of its threads."""

from __future__ import annotations

import pytest

from tests.process.children import Program

TRACED = """
    import os, sys, threading, time
    import errorsink
    FOLDER = os.path.dirname(errorsink.__file__) + os.sep
    CALL = sys.argv[1]
    OFTEN = 1 if CALL == "recent_errors" else 2
    inside = threading.local()
    main = threading.get_ident()
    lines = set()
    nested = [0]
    budget = {}

    def act():
        if CALL == "report_error":
            nested[0] += 1
            errorsink.report_error(ValueError("nested"))
        elif CALL == "flush": errorsink.flush(0)
        elif CALL == "stats": errorsink.stats()
        else: errorsink.recent_errors()

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(FOLDER): return None
        call = (frame.f_code, threading.get_ident())
        budget[call] = budget.get(call, 0) + 1
        return local if budget[call] < 8 else None

    def local(frame, event, argument):
        where = (frame.f_code.co_filename, frame.f_lineno, threading.get_ident())
        # A few times at each line on each thread: at first, and when caches are filled.
        if event == "line" and not getattr(inside, "on", False) and budget.get(where, 0) < OFTEN:
            budget[where] = budget.get(where, 0) + 1
            lines.add((*where[:2], where[2] == main))
            inside.on = True
            try: act()
            finally: inside.on = False
        return local

    errorsink.report_error(ValueError("warm"))
    assert errorsink.flush(20)
    from errorsink import _native
    start = _native.Thread.__init__
    def started(self, run):
        def traced_run():
            sys.settrace(trace)
            run()
        start(self, traced_run)
    _native.Thread.__init__ = started
    errorsink.configure(queue_size=8, batch_delay=0.0)
    sys.settrace(trace)
    outer = 0
    for number in range(6):
        try: {}["key"]
        except KeyError as error: errorsink.report_error(error, attributes={"n": number, "list": [1, "two"]})
        outer += 1
    errorsink.flush(20); errorsink.stats(); errorsink.recent_errors()
    sys.settrace(None)
    quiet = 0
    while quiet < 3:  # errorsink's own threads are still traced, and each line may report
        stats = errorsink.stats()
        quiet = quiet + 1 if errorsink.flush(20) and errorsink.stats() == stats else 0
    assert stats.reported == 1 + outer + nested[0], (stats, outer, nested)
    assert stats.reported == stats.recorded + sum(stats.gated.values()) + sum(stats.refused.values()), stats
    account = stats.sinks["journal"]
    assert account.balanced, account
    assert account.queued == 0, account
    assert stats.contained == 0, stats
    def missing(on_main, *wanted):
        return set(wanted) - {os.path.basename(name) for name, _, where in lines.copy() if where == on_main}
    assert not missing(True, "_api.py", "_capture.py", "_inbox.py", "_pipeline.py"), lines
    behind = ("_inbox.py", "_pipeline.py", "_dispatch.py", "_delivery.py", "_queue.py", "_render.py")
    assert not missing(False, *behind), lines
    assert account.recorded == stats.recorded - 1, (account, stats.recorded)  # one went to the pipeline before
    print(len(lines))
    """


@pytest.mark.parametrize("call", ["report_error", "flush", "stats", "recent_errors"])
def test_at_every_line(program: Program, call: str) -> None:
    """A call at each line of each module on the way, on the caller's and on errorsink's threads: no deadlock, the
    accounts add up, nothing is contained."""
    child = program.run(TRACED, call)
    assert child.code == 0, child.err
    assert child.answer > 500
    assert [line for line in child.err.splitlines() if "(queue-full)" not in line] == []


SIGNALS = """
    import gc, signal, sys, time, threading
    import errorsink
    made = [0, 0, 0]
    class Cyclic:
        def __init__(self): self.me = self
        def __del__(self):
            made[1] += 1
            errorsink.report_error(ValueError("finaliser"))
    def handler(*_):
        made[0] += 1
        errorsink.report_error(ValueError("signal"))
        errorsink.flush(0)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    gc.set_threshold(1)
    ends = time.monotonic() + 1.0
    while time.monotonic() < ends or made[1] < 10:
        Cyclic()
        made[2] += 1
        errorsink.report_error(ValueError("plain"))
    if hasattr(signal, "setitimer"): signal.setitimer(signal.ITIMER_REAL, 0)
    gc.set_threshold(700); gc.collect()
    errorsink.flush(20); errorsink.flush(20)
    stats = errorsink.stats()
    assert stats.reported == sum(made), (stats, made)
    assert stats.reported == stats.recorded + sum(stats.refused.values()), stats
    account = stats.sinks["journal"]
    assert account.balanced and account.recorded == stats.recorded and account.queued == 0, (account, stats)
    """


def test_signals_and_finalisers(program: Program) -> None:
    """A timer's signal handler and cyclic garbage report at random moments: no deadlock, the accounts add up."""
    child = program.run(SIGNALS)
    assert child.code == 0, child.err
    assert "contained" not in child.err, child.err


FEEDBACK = """
    import logging, sys, warnings
    import errorsink
    class Handler(logging.Handler):
        def emit(self, record): errorsink.report_error(record.getMessage())
    root = logging.getLogger(); root.addHandler(Handler()); root.setLevel(logging.DEBUG)
    logging.captureWarnings(True); warnings.simplefilter("always")
    import journal_sink
    original = journal_sink.JournalSink.send
    def send(self, items, timeout):
        logging.getLogger("urllib3").warning("connection refused")
        warnings.warn("unclosed", ResourceWarning)
        return original(self, items, timeout)
    journal_sink.JournalSink.send = send
    mode = sys.argv[1]
    if mode == "disabled":
        import os; os.environ["DISABLE_ERROR_REPORTING"] = "1"
    if mode == "shut down": errorsink.shutdown()
    for number in range(200): errorsink.report_error(ValueError(number))
    logging.error("by the application")
    errorsink.flush(0.5)
    stats = errorsink.stats()
    print(stats.recorded)
    """


@pytest.mark.parametrize(
    ("mode", "peer", "recorded"),
    [("on", "well", 201), ("on", "down", 201), ("disabled", "down", 0), ("shut down", "down", 0)],
)
def test_logs_of_the_delivery_are_no_reports(program: Program, mode: str, peer: str, recorded: int) -> None:
    """A logging handler that feeds errorsink, and a client that logs its failures: what the application logs is
    reported, what errorsink's own delivery logs or warns of is not, and there is no loop."""
    child = program.run(FEEDBACK, mode, environ={"JOURNAL_PEER": peer, "ERRORSINK_SHUTDOWN_TIMEOUT": "0.2"})
    assert (child.code, child.answer) == (0, recorded), child.err
    assert child.err.count("\n") <= 1, child.err
