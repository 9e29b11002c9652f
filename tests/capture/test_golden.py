"""The stack of a program that fails equals what Python itself printed on standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import zipapp
import zipfile
from pathlib import Path

import pytest

from tests.capture.programs import NOTES, PROGRAMS
from tests.capture.reported import plain

SITE = """
import atexit, json, os, sys, traceback

if sys.version_info < (3, 11):
    import exceptiongroup  # patches `traceback`, as long as nobody else has a hook

def printed(kind, error, tb):
    # The interpreter's own printer knows neither the backport's groups nor, before 3.13, source in archives.
    if sys.version_info < (3, 11) or os.environ["PRINTER"] == "traceback":
        traceback.print_exception(kind, error, tb)
    else:
        sys.__excepthook__(kind, error, tb)

sys.excepthook = printed

import errorsink
from errorsink import _current, _ring

class Paused:  # no sinks and no redaction: they would cost each program a second
    def accept(self, snapshot):
        pass

    def drain_at_exit(self):
        pass

    def redact(self, text):
        return text

    def redact_value(self, key, text):
        return text

_current.running[_current.KEY] = Paused()
errorsink.install_hooks()

def write():
    from errorsink._render import Renderer

    renderer = Renderer(Paused())
    with open(os.environ["RECORD"], "w", encoding="utf-8") as file:
        json.dump([renderer.record(snapshot).stack for snapshot in _ring.snapshots()], file)

atexit.register(write)
"""


STRIPPED = {"tab-error"}
"""Programs whose source line the interpreter's own printer strips of its tabs, other than `traceback`."""


def run(folder: Path, *arguments: str, stdin: str = "", printer: str = "interpreter") -> tuple[str, str]:
    """The stack that errorsink recorded of a program's failure, and what Python printed, without caret lines."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    record = folder / "record.json"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONUTF8": "1",
        "PYTHON_COLORS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "RECORD": str(record),
        "PRINTER": printer,
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    (stack,) = json.loads(record.read_text(encoding="utf-8"))
    return plain(stack), plain(done.stderr.removesuffix("\n"))


def written(folder: Path, program: str | dict[str, str]) -> Path:
    """Writes a program's files; returns the one to run."""
    files = {"main.py": program} if isinstance(program, str) else program
    for name, text in files.items():
        encoding = "latin-1" if "latin-1" in text else "utf-8"
        (folder / name).write_text(text, encoding=encoding)
    return folder / "main.py"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_stack_is_what_python_printed(name: str, tmp_path: Path) -> None:
    """A program's uncaught error has the stack that Python prints, caret lines aside."""
    printer = "traceback" if name in STRIPPED else "interpreter"
    stack, printed = run(tmp_path, str(written(tmp_path, PROGRAMS[name])), printer=printer)
    assert stack == printed


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes, task groups and except* came with Python 3.11")
@pytest.mark.parametrize("name", NOTES)
def test_notes_and_groups_are_what_python_printed(name: str, tmp_path: Path) -> None:
    """The same for what only later versions have."""
    stack, printed = run(tmp_path, str(written(tmp_path, NOTES[name])))
    assert stack == printed


FUNCTION = "def fail():\n    raise ValueError(\n        'zipped'\n    )\n"


@pytest.mark.parametrize(
    ("module", "main"),
    [(FUNCTION, "import mod\nmod.fail()\n"), ("x = 1\ny = x / 0\n", "import mod\n")],
    ids=["function", "import"],
)
def test_source_in_a_zip_archive_is_shown(module: str, main: str, tmp_path: Path) -> None:
    """Modules in a zip archive are shown with their source, also where their import is what fails."""
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("mod.py", module)
    path = written(tmp_path, f"import sys\nsys.path.insert(0, {str(tmp_path / 'lib.zip')!r})\n{main}")
    stack, printed = run(tmp_path, str(path), printer="traceback")
    assert stack == printed


def test_a_zipped_program_is_shown(tmp_path: Path) -> None:
    """A program that is an archive is shown with its source."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "__main__.py").write_text("def fail():\n    return 1 / 0\n\nfail()\n")
    zipapp.create_archive(source, tmp_path / "app.pyz")
    stack, printed = run(tmp_path, str(tmp_path / "app.pyz"), printer="traceback")
    assert stack == printed


def test_a_program_given_as_a_module_is_shown(tmp_path: Path) -> None:
    """`python -m package` is shown as Python shows it."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("from package.part import fail\nfail()\n")
    (package / "part.py").write_text("def fail():\n    raise ValueError('x')\n")
    stack, printed = run(tmp_path, "-m", "package")
    assert stack == printed


def test_a_program_given_as_text_is_shown(tmp_path: Path) -> None:
    """`python -c` is shown as Python shows it."""
    stack, printed = run(tmp_path, "-c", "def fail():\n    raise ValueError('x')\n\nfail()\n")
    assert stack == printed


def test_a_program_from_standard_input_is_shown(tmp_path: Path) -> None:
    """A program on standard input is shown as Python shows it."""
    stack, printed = run(tmp_path, "-", stdin="def fail():\n    raise ValueError('x')\n\nfail()\n")
    assert stack == printed


def test_undecodable_source_is_left_out_as_python_does(tmp_path: Path) -> None:
    """Source that can't be decoded leaves its place without its text."""
    (tmp_path / "odd.py").write_bytes(b"\xff\xfe not utf-8\nraise\n")
    program = f"exec(compile('\\nraise ValueError(1)', {str(tmp_path / 'odd.py')!r}, 'exec'))\n"
    stack, printed = run(tmp_path, str(written(tmp_path, program)))
    assert stack == printed


SUGGESTING = {
    "name": "number = 1\nprint(numbr)\n",
    "attribute": "'text'.uper()\n",
    "import": "from collections import dequeu\n",
}


@pytest.mark.parametrize("name", SUGGESTING)
def test_suggestions_are_left_out(name: str, tmp_path: Path) -> None:
    """Python's "Did you mean" is all that is left out: it reads locals and lists the attributes of objects."""
    stack, printed = run(tmp_path, str(written(tmp_path, textwrap.dedent(SUGGESTING[name]))))
    assert stack == printed.partition(". Did you mean")[0]
