"""kill -9 with the spool on: what was reported is delivered by the next process."""

from __future__ import annotations

import json
import random
import time
from collections import Counter

from tests.collectors.contract import wait_until
from tests.process.children import LIMIT, Program
from tests.process.conftest import LONG_RUNS, needs_fork

pytestmark = needs_fork
BEAT = 0.005
"""Seconds between two beats of a thread in the victim. It gets its turns as errorsink's threads do, so that its beats
are a clock that a busy machine slows down for both."""
PROMISED = round(0.05 / BEAT)
"""Beats after which a report that has returned outlives the process: 50 ms where the machine has time."""
SYNCED = 3
"""How often the victim must have forced a byte to the disk meanwhile: some 20 ms, unless the disk is stuck."""

VICTIM = f"""
    import errorsink, json, os, sys, threading, time
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    beats = syncs = 0
    def say(*what): os.write(log, (json.dumps([beats, syncs, *what]) + chr(10)).encode())
    def sync():
        global syncs
        disk = os.open(sys.argv[1] + ".disk", os.O_WRONLY | os.O_CREAT)
        while True:
            os.pwrite(disk, b"x", 0)
            os.fsync(disk)
            syncs += 1
            time.sleep(0.003)
    threading.Thread(target=sync).start()
    def spin(which):
        for number in range(1_000_000):
            name = f"{{os.getpid()}} {{which}} {{number}}"
            uncaught = number % 50 == 7
            handling = "uncaught_exception" if uncaught else "handled"
            assert errorsink.report_error(ValueError(name), handling=handling)
            say(name, uncaught)
            time.sleep(0.003)
    for which in range(2): threading.Thread(target=spin, args=(which,)).start()
    while True:
        time.sleep({BEAT})
        beats += 1
        say("", False)
    """
HEIR = """
    import errorsink, sys
    errorsink.report_error(ValueError("heir"))
    from errorsink._spool import Spool
    import os, time
    spool = Spool(os.environ["ERRORSINK_SPOOL_DIR"], max_bytes=64_000_000, max_age=1e6, diagnose=print)
    ends = time.monotonic() + 25
    while sum(spool.counts().values()) and time.monotonic() < ends: time.sleep(0.02)
    assert not spool.counts(), spool.counts()
    """


def test_nothing_that_was_promised_is_lost(program: Program) -> None:
    """Processes are killed at random moments: each report that had returned 50 ms before is delivered by others, and
    each uncaught one that had returned at all; what comes twice has the same id."""
    spool = {"ERRORSINK_SPOOL_DIR": str(program.directory / "spool"), "ERRORSINK_BATCH_DELAY": "0.01"}
    moments = random.Random(6)
    promised: dict[str, str] = {}
    for turn in range(50 if LONG_RUNS else 12):
        log = program.directory / f"log{turn}"
        peer = ("down", "well")[turn % 2]
        victim = program.start(VICTIM, str(log), environ={**spool, "JOURNAL_PEER": peer})
        assert wait_until(lambda log=log: log.exists() and b' 0"' in log.read_bytes(), LIMIT)  # type: ignore[misc]
        pause = time.monotonic() + 0.03 + moments.random() * 0.25
        assert wait_until(lambda pause=pause: time.monotonic() >= pause, LIMIT)  # type: ignore[misc]
        victim.kill()
        _, said = victim.communicate()
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        last, last_sync = lines[-1][:2]
        for beat, sync, name, uncaught in lines:
            if name and (uncaught or (last - beat >= PROMISED and last_sync - sync >= SYNCED)):
                promised[name] = f"killed {last - beat} beats later, {peer}, {uncaught}, {said}"
    assert len(promised) > 100
    program.run(HEIR, environ=spool).well()
    entries = program.journal.entries()
    assert {name: promised[name] for name in promised.keys() - {entry["message"] for entry in entries}} == {}
    names = Counter(message for message, _ in {(entry["message"], entry["id"]) for entry in entries})
    assert [name for name, ids in names.items() if ids > 1] == []


def test_heirs_share_a_spool(program: Program) -> None:
    """What one process could not deliver, several that start together deliver, each report once."""
    spool = {"ERRORSINK_SPOOL_DIR": str(program.directory / "spool")}
    code = "import errorsink\nfor number in range(300): errorsink.report_error(ValueError(number))"
    left = program.run(code, environ={**spool, "JOURNAL_PEER": "down", "ERRORSINK_SHUTDOWN_TIMEOUT": "1"})
    assert left.code == 0, left.err
    assert program.journal.entries() == []
    heirs = [program.start(HEIR, environ=spool) for _ in range(3)]
    for heir in heirs:
        program.ended(heir).well()
    assert program.journal.messages() == sorted([*map(str, range(300)), *["heir"] * 3])
