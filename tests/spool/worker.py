"""A process with a spool of its own: reads calls as JSON lines, answers each with one, until it is killed.

    python -m tests.spool.worker DIRECTORY [hooks]

With `hooks` it forks as an application does that has wired the spool's fork hooks.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from itertools import count
from typing import Any, Callable

from errorsink import _spool_session
from errorsink._spool import Spool, SpoolError
from tests.spool.records import make_record


class Worker:
    """The calls, by name."""

    def __init__(self, directory: str, hooks: bool) -> None:
        self.spool = Spool(directory, max_bytes=8_000_000, max_age=3600, diagnose=lambda text: None)
        if hooks:
            os.register_at_fork(
                before=self.spool.before_fork,
                after_in_parent=self.spool.after_fork_in_parent,
                after_in_child=self.spool.after_fork_in_child,
            )

    def append(self, ids: list[str], sinks: list[str]) -> Any:
        return self.spool.append([make_record(record_id) for record_id in ids], sinks)

    def done(self, sink: str, ids: list[str]) -> None:
        self.spool.done(sink, ids)

    def claim(self, sink: str, limit: int) -> list[str]:
        return [record.id for record in self.spool.claim(sink, limit)]

    def counts(self) -> dict[str, int]:
        return self.spool.counts()

    def release(self) -> None:
        self.spool.release()

    def close(self) -> None:
        self.spool.close()

    def stream(self, name: str) -> None:
        """Appends and acknowledges without end, and says each time what has returned, and what is about to be done."""
        for number in count():
            record_id = f"{name}-{number}"
            self.append([record_id], ["datadog", "otel_logs"])
            print(json.dumps(["appended", record_id]), flush=True)
            if number % 3 == 0:
                print(json.dumps(["doing", record_id]), flush=True)
                self.done("datadog", [record_id])
                print(json.dumps(["done", record_id]), flush=True)

    def limit_files(self, size: int) -> None:
        """No file may grow beyond this: what a full disk is to SQLite."""
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    # ---------------------------------------------------------------------------------------------------- forks

    def fork_idle(self) -> int:
        """A child that lives on and never touches the spool."""
        return self._fork(signal.pause)

    def fork_append(self, ids: list[str]) -> int:
        """The exit status of a child that stores records and ends without a word."""
        return _status(self._fork(lambda: self.append(ids, ["datadog"])))

    def fork_storm(self, forks: int) -> list[int]:
        """The exit statuses of children that each store a record, forked while four threads are storing."""
        over = threading.Event()

        def store(name: str) -> None:
            for number in count():
                if over.is_set():
                    return
                self.append([f"{name}-{number}"], ["datadog"])

        threads = [threading.Thread(target=store, args=(f"thread{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        statuses = [self.fork_append([f"child-{number}"]) for number in range(forks)]
        over.set()
        for thread in threads:
            thread.join()
        return statuses

    def fork_while_busy(self) -> int:
        """The exit status of a child, forked while another thread is in a transaction that doesn't end."""
        _spool_session.PATIENCE = 0.05
        inside, over = threading.Event(), threading.Event()

        def dawdle(_: object) -> None:
            inside.set()
            over.wait()

        thread = threading.Thread(target=lambda: self.spool._session.transact(dawdle, _spool_session.READ))
        thread.start()
        inside.wait()
        status = _status(self._fork(lambda: self.append(["child"], ["datadog"])))
        over.set()
        thread.join()
        return status

    def fork_inside(self) -> int:
        """The exit status of a child, forked in the middle of this thread's own transaction."""
        status = 0

        def fork(_: object) -> None:
            nonlocal status
            status = _status(self._fork(lambda: self.append(["child"], ["datadog"])))

        self.spool._session.transact(fork, _spool_session.READ)
        return status

    def _fork(self, child: Callable[[], object]) -> int:
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            os.closerange(0, 2)  # Who reads what the parent says shall not wait for the child.
            try:
                child()
            except SpoolError:
                os._exit(3)
            except BaseException:
                os._exit(1)
            os._exit(0)
        return pid


def _status(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Answers calls until the input ends."""
    worker = Worker(sys.argv[1], "hooks" in sys.argv[2:])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = getattr(worker, name)(*arguments)
        except SpoolError as error:
            answer = {"SpoolError": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
