"""Files that can't be used: set aside with one diagnostic, never a crash."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

from errorsink._spool import Spool, SpoolError
from errorsink._spool_file import MAX_SET_ASIDE
from tests.spool.conftest import MakeSibling, MakeSpool
from tests.spool.records import make_record

NAME = "spool-1.sqlite3"


def aside(directory: Path) -> list[Path]:
    """The files that were set aside, without their logs."""
    return [path for path in directory.glob("*.aside-*") if not path.name.endswith(("-wal", "-shm"))]


def works(spool: Spool) -> bool:
    """Whether a record goes in, and is counted."""
    spool.append([make_record("new")], ["otel_spans"])
    return spool.counts()["otel_spans"] == 1


def overwrite(path: Path, offset: int) -> None:
    """Spoils the rest of the file, from another process: closing the file in this one would end its locks."""
    code = (
        "import sys; file = open(sys.argv[1], 'r+b'); file.seek(int(sys.argv[2])); file.write(b'!' * int(sys.argv[3]))"
    )
    arguments = [str(path), str(offset), str(path.stat().st_size - offset)]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


def execute(path: Path, *statements: str) -> None:
    """Runs SQL as another program would."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement).fetchall()


def text(path: Path) -> None:
    path.write_text("my notes\n" * 1000)


def cut(path: Path) -> None:
    filled(path)
    os.truncate(path, 10_000)


def cut_in_the_header(path: Path) -> None:
    filled(path)
    os.truncate(path, 50)


def another_program_s(path: Path) -> None:
    execute(path, "CREATE TABLE record (title TEXT)")


def marked_by_another_program(path: Path) -> None:
    execute(path, "PRAGMA application_id = 7", "CREATE TABLE record (title TEXT)")


def empty_of_another_make(path: Path) -> None:
    execute(path, "PRAGMA page_size = 512", "CREATE TABLE a (b)", "DROP TABLE a")


def too_new(path: Path) -> None:
    filled(path)
    execute(path, "PRAGMA user_version = 2")


def without_a_table(path: Path) -> None:
    filled(path)
    execute(path, "DROP TABLE pending")


def with_other_columns(path: Path) -> None:
    filled(path)
    execute(path, "ALTER TABLE record RENAME COLUMN stored TO age")


def folder(path: Path) -> None:
    path.mkdir()
    (path / "notes").write_text("mine")


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_text("mine")
    path.symlink_to(path.parent / "elsewhere")


def folder_for_a_log(path: Path) -> None:
    filled(path)
    path.with_name(f"{path.name}-wal").mkdir()


def filled(path: Path) -> None:
    """A spool with records, left by a process that is gone."""
    spool = Spool(str(path.parent), max_bytes=8_000_000, max_age=3600, diagnose=lambda text: None)
    spool.append([make_record(f"old-{number}") for number in range(50)], ["datadog"])
    spool.close()


DAMAGE = (
    text,
    cut,
    cut_in_the_header,
    another_program_s,
    marked_by_another_program,
    empty_of_another_make,
    too_new,
    without_a_table,
    with_other_columns,
    folder,
    link,
    folder_for_a_log,
)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_what_cannot_be_used_is_set_aside(
    directory: Path, make_spool: MakeSpool, told: list[str], damage: Callable[[Path], None]
) -> None:
    """A new spool is begun in its place, and one diagnostic says so."""
    directory.mkdir()
    damage(directory / NAME)
    assert works(make_spool())
    assert (len(told), len(aside(directory))) == (1, 1)
    assert all(part in told[0] for part in ("ERRORSINK_SPOOL_DIR", str(directory / NAME), str(aside(directory)[0])))


@pytest.mark.parametrize("damage", [text, folder, another_program_s], ids=lambda damage: damage.__name__)
def test_what_is_set_aside_is_left_as_it_was(
    directory: Path, make_spool: MakeSpool, damage: Callable[[Path], None]
) -> None:
    """It may be somebody's."""
    directory.mkdir()
    damage(directory / NAME)
    path = directory / NAME / "notes" if damage is folder else directory / NAME
    before = path.read_bytes()
    make_spool()
    (moved,) = aside(directory)
    assert (moved / "notes" if damage is folder else moved).read_bytes() == before


def test_an_empty_file_becomes_the_spool(directory: Path, make_spool: MakeSpool, told: list[str]) -> None:
    """A process that was killed while it made the file leaves one."""
    directory.mkdir()
    (directory / NAME).write_bytes(b"")
    assert (works(make_spool()), told, aside(directory)) == (True, [], [])


def test_a_log_without_its_file_is_no_part_of_the_new_one(
    directory: Path, make_spool: MakeSpool, make_sibling: MakeSibling, told: list[str]
) -> None:
    """Somebody removed the file and left its log."""
    sibling = make_sibling()
    sibling.call("append", ["a"], ["datadog"])
    sibling.kill()
    (directory / NAME).unlink()
    spool = make_spool()
    assert (works(spool), spool.counts(), told) == (True, {"otel_spans": 1}, [])


def test_the_log_goes_with_the_file(directory: Path, make_sibling: MakeSibling, make_spool: MakeSpool) -> None:
    """Beside the new file, it would be taken for the new file's."""
    sibling = make_sibling()
    sibling.call("append", ["a"], ["datadog"])
    sibling.kill()
    (directory / NAME).unlink()
    folder(directory / NAME)
    log = (directory / f"{NAME}-wal").read_bytes()
    spool = make_spool()
    (moved,) = aside(directory)
    assert (works(spool), spool.counts()) == (True, {"otel_spans": 1})
    assert moved.with_name(f"{moved.name}-wal").read_bytes() == log


@pytest.mark.parametrize("call", ["append", "claim", "counts", "expire", "done"])
def test_damage_in_the_middle_of_use_is_set_aside(
    directory: Path, make_spool: MakeSpool, told: list[str], call: str
) -> None:
    """The call that meets it goes on with a new file."""
    filled_by = make_spool()
    filled_by.append([make_record(f"old-{number}") for number in range(50)], ["datadog"])
    filled_by.release()
    spool = make_spool()
    execute(directory / NAME, "PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(directory / NAME, 4096)
    calls: dict[str, Callable[[], object]] = {
        "append": lambda: spool.append([make_record("a")], ["datadog"]),
        "claim": lambda: spool.claim("datadog", 100),
        "counts": spool.counts,
        "expire": spool.expire,
        "done": lambda: spool.done("datadog", ["old-3"]),
    }
    calls[call]()
    assert (works(spool), len(told), len(aside(directory))) == (True, 1, 1)


def test_tables_that_vanish_in_the_middle_of_use_are_damage(directory: Path, spool: Spool, told: list[str]) -> None:
    """Another program took the file for its own."""
    execute(directory / NAME, "DROP TABLE pending", "DROP TABLE record")
    assert (works(spool), len(told), len(aside(directory))) == (True, 1, 1)


def test_a_file_that_a_sibling_set_aside_is_left(directory: Path, make_spool: MakeSpool, told: list[str]) -> None:
    """What is appended goes to the file that the next process will find."""
    spool = make_spool()
    spool.append([make_record("old")], ["datadog"])
    for path in directory.glob(f"{NAME}*"):
        path.rename(directory / path.name.replace(NAME, "moved"))
    spool.append([make_record("new")], ["datadog"])
    spool.release()
    assert ([record.id for record in make_spool().claim("datadog", 10)], told) == (["new"], [])


def test_a_file_set_aside_during_a_transaction_gets_it_in_vain(directory: Path, make_spool: MakeSpool) -> None:
    """The transaction is done again on the new file: what append has returned for can be found."""
    spool = make_spool()

    def clock() -> float:
        if not list(directory.glob("moved*")):
            for path in directory.glob(f"{NAME}*"):
                path.rename(directory / path.name.replace(NAME, "moved"))
        return 0.0

    spool._clock = clock
    spool.append([make_record("a")], ["datadog"])
    spool.release()
    assert [record.id for record in make_spool().claim("datadog", 10)] == ["a"]


@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_is_removed_in_the_middle_of_use_is_made_again(directory: Path, spool: Spool, what: str) -> None:
    """Somebody cleaned up."""
    spool.append([make_record("a")], ["datadog"])
    if what == "file":
        (directory / NAME).unlink()
    else:
        shutil.rmtree(directory)
    assert works(spool)


def test_files_set_aside_do_not_pile_up(directory: Path, make_spool: MakeSpool) -> None:
    """A disk that damages one file after the other needs a person."""
    directory.mkdir()
    for _ in range(MAX_SET_ASIDE):
        text(directory / NAME)
        make_spool().close()
    text(directory / NAME)
    with pytest.raises(SpoolError, match=f"{MAX_SET_ASIDE} files were set aside already; remove them"):
        make_spool()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of files")
def test_a_full_disk_stores_nothing_and_says_so(make_sibling: MakeSibling) -> None:
    """The caller still has the record; when there is room again, the spool works on."""
    sibling = make_sibling()
    sibling.call("append", ["a"], ["datadog"])
    sibling.call("limit_files", 50_000)
    answers = [sibling.call("append", [f"b{number}"], ["datadog"]) for number in range(10)]
    sibling.call("limit_files", 10_000_000)
    stored = answers.count([])
    assert "SpoolError" in answers[-1]
    assert (sibling.call("append", ["c"], ["datadog"]), sibling.call("counts")) == ([], {"datadog": stored + 2})


@pytest.mark.parametrize("where", ["a file", "below a file"])
def test_a_directory_that_cannot_be_used_is_told_with_the_remedy(tmp_path: Path, where: str) -> None:
    """The variable, the path, and what to do."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / ("" if where == "a file" else "below")
    with pytest.raises(SpoolError) as raised:
        Spool(str(path), max_bytes=8_000_000, max_age=3600, diagnose=lambda text: None)
    assert all(part in str(raised.value) for part in ("ERRORSINK_SPOOL_DIR", str(path), "name a directory"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_directory_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    """Permissions bind a user who isn't root, so the process becomes one."""
    code = """if True:
        import os, sys
        from errorsink._spool import Spool, SpoolError
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            Spool(sys.argv[1], max_bytes=8_000_000, max_age=3600, diagnose=print)
        except SpoolError as error:
            print(error)
    """
    tmp_path.chmod(0o500)
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "spool")], capture_output=True, text=True)
    tmp_path.chmod(0o700)
    assert (told.stdout.startswith(f"ERRORSINK_SPOOL_DIR: {tmp_path / 'spool'} can't be used"), told.stderr) == (
        True,
        "",
    )


def test_a_spool_that_siblings_keep_busy_is_no_error_at_the_start(
    directory: Path, make_spool: MakeSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be used, only not this moment: the first call that finds it free opens it."""
    monkeypatch.setattr("errorsink._spool_session.PATIENCE", 0.02)
    make_spool().close()
    with contextlib.closing(sqlite3.connect(directory / NAME, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        database.execute("BEGIN EXCLUSIVE")
        spool = make_spool()
        with pytest.raises(SpoolError, match="locked"):
            spool.counts()
    assert works(spool)
