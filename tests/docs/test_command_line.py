"""The reference of the command line names every command and every option."""

from __future__ import annotations

import pytest

from errorsink.cli import main
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
COMMANDS = {
    ("demo",): "command-line.md",
    ("listen",): "listen.md",
    ("doctor",): "command-line.md",
    ("settings",): "command-line.md",
    ("redact",): "command-line.md",
    ("spool", "show"): "command-line.md",
    ("spool", "send"): "command-line.md",
    ("datadog", "check"): "command-line.md",
}


def usage(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """What `--help` begins with, on one line and without what is the same everywhere."""
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    lines = capsys.readouterr().out.partition("\n\n")[0]
    return " ".join(lines.split()).removeprefix("usage: ").replace(" [-h]", "")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_usage_is_on_the_page(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    """Each command's page shows all of its options, in the order of `--help`."""
    page = (REFERENCE / COMMANDS[command]).read_text("utf-8")
    shown = next(
        line.strip() for line in page.splitlines() if f"{line} ".startswith(f"    errorsink {' '.join(command)} ")
    )
    assert shown.removesuffix(" < text") == usage(capsys, *command)


def test_every_command_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """A new command without a line in the reference fails here."""
    assert main([]) == 2
    listed = capsys.readouterr().out.partition("  command\n")[2]
    names = [line.split()[0] for line in listed.splitlines() if line.strip()]
    page = (REFERENCE / "command-line.md").read_text("utf-8")
    assert names == list(dict.fromkeys(command[0] for command in COMMANDS))
    assert all(f"| [`{' '.join(command)}`](" in page for command in COMMANDS)
