"""The frame of the command line."""

from __future__ import annotations

import argparse
import builtins
import subprocess
import sys
from typing import Any, Callable

import pytest

from errorsink import __version__
from errorsink.cli import _COMMANDS, main
from errorsink.cli import settings as settings_command
from tests.cli.listening import COMMAND


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`errorsink --help` lists all commands, without importing any."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(f"    {name}" in out for name in _COMMANDS)


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """`errorsink` alone is wrong use, and says what is right."""
    assert main([]) == 2
    assert "usage: errorsink" in capsys.readouterr().out


def test_an_unknown_command_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The commands that exist are named."""
    with pytest.raises(SystemExit) as ended:
        main(["lissen"])
    assert ended.value.code == 2
    assert "listen" in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    """`errorsink --version` is the package's."""
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"errorsink {__version__}\n"


@pytest.mark.parametrize("module", ["errorsink", "errorsink.cli"])
def test_it_runs_as_a_module(module: str) -> None:
    """`python -m errorsink` is the command too."""
    ended = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True)
    assert ended.stdout == f"errorsink {__version__}\n"


def test_listen_imports_no_http_client() -> None:
    """A command pays only for its own packages."""
    script = "import sys; from errorsink.cli import main\ntry: main(['listen', '--help'])\nexcept SystemExit: pass\n"
    script += "print([name for name in ('httpx', 'datadog_api_client', 'opentelemetry.sdk') if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("command", "package"), [("listen", "grpc"), ("demo", "google"), ("listen", "opentelemetry")])
def test_a_missing_extra_is_told_with_the_remedy(command: str, package: str) -> None:
    """Without the extra's packages the command says what to install, and exits with 2."""
    script = (
        f"import sys; sys.modules[{package!r}] = None; from errorsink.cli import main; sys.exit(main([{command!r}]))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 2
    assert f"errorsink {command}: the package '{package}' is not installed" in ended.stderr
    assert "pip install 'errorsink[otel]'" in ended.stderr
    assert "Traceback" not in ended.stderr


Run = Callable[[argparse.Namespace], int]


@pytest.fixture
def settings_runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], None]:
    """Replaces what `errorsink settings` does."""
    return lambda run: monkeypatch.setattr(settings_command, "run", run)


def test_ctrl_c_ends_quietly(settings_runs: Callable[[Run], None], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 130, as a shell expects, and no traceback."""

    def run(args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    settings_runs(run)
    assert main(["settings"]) == 130
    assert capsys.readouterr().err == ""


def test_a_reader_that_goes_away_ends_quietly() -> None:
    """A closed pipe is no error worth a traceback, also when the rest of the buffer is written at exit."""
    process = subprocess.Popen([*COMMAND, "settings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(20), error) == (141, "")


def test_text_that_the_terminal_lacks_is_escaped() -> None:
    """A terminal with a small character set gets escapes, not a UnicodeEncodeError."""
    ended = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", "from errorsink.cli import main; main([]); print('\\u2713')"],
        capture_output=True,
        text=True,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert ended.stdout.endswith("\\u2713\n")


def test_a_fault_in_a_command_is_not_taken_for_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only third-party packages come with an extra: a module of ours that is missing is a fault, and shown."""
    original: Callable[..., Any] = builtins.__import__

    def broken(name: str, *args: Any) -> Any:
        if name == "errorsink.cli._show":
            raise ModuleNotFoundError("gone", name=name)
        return original(name, *args)

    monkeypatch.delitem(sys.modules, "errorsink.cli.listen", raising=False)
    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(ModuleNotFoundError, match="gone"):
        main(["listen"])
