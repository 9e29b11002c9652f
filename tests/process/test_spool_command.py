"""`errorsink spool`: what a process that is gone has left, shown and sent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.process.children import Child, Program


def spool(program: Program, *arguments: str, **environ: str) -> Child:
    """The command's end."""
    command = [sys.executable, "-m", "errorsink", "spool", *arguments]
    return program.ended(program.start_command(command, environ))


@pytest.fixture
def left(program: Program, tmp_path: Path) -> str:
    """A spool in which a process has left three reports that it couldn't send."""
    directory = str(tmp_path / "spool")
    program.run(
        """
        import errorsink
        for number in range(3): errorsink.report_error(ValueError(f"left {number}"))
        """,
        environ={"ERRORSINK_SPOOL_DIR": directory, "JOURNAL_PEER": "down", "ERRORSINK_SHUTDOWN_TIMEOUT": "0.3"},
    )
    assert program.journal.messages() == []
    return directory


def test_what_is_left_is_shown_and_stays(program: Program, left: str) -> None:
    for _ in range(2):
        shown = spool(program, "show", ERRORSINK_SPOOL_DIR=left)
        assert (shown.code, shown.out) == (1, "journal: 3 waiting\n")
    assert program.journal.messages() == []


def test_what_is_left_is_sent_once(program: Program, left: str) -> None:
    sent = spool(program, "send", ERRORSINK_SPOOL_DIR=left).well()
    again = spool(program, "send", ERRORSINK_SPOOL_DIR=left).well()
    assert (sent.out, again.out) == ("journal: 3 reports sent, 0 waiting\n", "journal: 0 reports sent, 0 waiting\n")
    assert program.journal.messages() == ["left 0", "left 1", "left 2"]
    assert spool(program, "show", ERRORSINK_SPOOL_DIR=left).well().out == "Nothing waits.\n"


def test_what_cant_be_sent_stays(program: Program, left: str) -> None:
    """The peer is still down, or the sink is off: it is said, and nothing is lost."""
    down = spool(program, "send", "--timeout", "0.3", ERRORSINK_SPOOL_DIR=left, JOURNAL_PEER="down")
    off = spool(program, "send", ERRORSINK_SPOOL_DIR=left, ERRORSINK_JOURNAL="0")
    assert (down.code, down.out) == (1, "journal: 0 reports sent, 3 waiting\n")
    assert (off.code, off.out) == (1, "journal: 3 waiting for a sink that isn't on here\n")
    assert spool(program, "send", ERRORSINK_SPOOL_DIR=left).well().out == "journal: 3 reports sent, 0 waiting\n"


def test_where_there_is_no_spool_it_says_so(program: Program, left: str) -> None:
    none = spool(program, "show")
    closed = spool(program, "send", ERRORSINK_SPOOL_DIR=left, DISABLE_ERROR_REPORTING="1")
    bad = spool(program, "send", "--timeout", "soon", ERRORSINK_SPOOL_DIR=left)
    assert (none.code, none.out) == (2, "There is no spool: ERRORSINK_SPOOL_DIR isn't set.\n")
    assert (closed.code, closed.out) == (2, "Error reporting is closed here (disabled); nothing is sent.\n")
    assert (bad.code, "argument --timeout: expected seconds from 0.1 to 86,400, got 'soon'" in bad.err) == (2, True)
