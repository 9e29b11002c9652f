"""The documentation holds what it promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple

import pytest

from errorsink.cli.demo import environment_for
from errorsink.cli.receiver import Inbox, ReceivedLog, Receiver, error_id
from tests.docs.pages import PAGES, ROOT, blocks

_LINK = re.compile(r"\]\(([^)#]*)(#[^)]*)?\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that exists."""
    links = [link for link, _ in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    return {
        "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in _HEADING.findall(page.read_text("utf-8"))
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_headings(page: Path) -> None:
    """Every link into a page names a heading of it."""
    links = [(link, anchor) for link, anchor in _LINK.findall(page.read_text("utf-8")) if anchor and "://" not in link]
    targets = [(page.parent / link if link else page, anchor) for link, anchor in links]
    assert [(target, anchor) for target, anchor in targets if anchor not in anchors(target)] == []


def test_the_index_leads_to_every_page() -> None:
    """docs/README.md links each page below docs."""
    index = ROOT / "docs" / "README.md"
    linked = {index.parent / link for link, _ in _LINK.findall(index.read_text("utf-8"))}
    assert {*ROOT.glob("docs/*/**/*.md")} - linked == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_is_python(page: Path) -> None:
    """Every block of Python parses."""
    assert all(ast.parse(block) for block in blocks(page))


class Ran(NamedTuple):
    """How a program ended, and what had arrived by then."""

    inbox: Inbox
    status: int
    out: str

    @property
    def log(self) -> ReceivedLog:
        """The one log; it has one span beside it."""
        (log,), (_,) = self.inbox.logs, self.inbox.spans
        return log


@pytest.fixture
def run_step(tmp_path: Path) -> Callable[[int], Ran]:
    """Runs a program of the tutorial as the tutorial says."""

    def run(number: int) -> Ran:
        program = tmp_path / "shop.py"
        program.write_text(blocks(ROOT / "docs" / "tutorial" / "first-steps.md")[number], "utf-8")
        inbox = Inbox()
        with Receiver(inbox, grpc_port=None) as receiver:
            # On a busy machine the import of an exporter alone can take longer than the default deadline of the exit.
            exit_deadline = {"ERRORSINK_SHUTDOWN_TIMEOUT": "30"}
            env = environment_for({"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.http_endpoint, **exit_deadline})
            command = [sys.executable, str(program)]
            ended = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", timeout=60)
        return Ran(inbox, ended.returncode, ended.stdout)

    return run


def test_the_tutorial_reports_an_error(run_step: Callable[[int], Ran]) -> None:
    """The error arrives at normal exit, without a flush, with the id that was printed."""
    ran = run_step(0)
    assert (ran.status, ran.out) == (0, f"reported as {error_id(ran.log)}\n")
    assert ran.log.attributes["order.id"] == "A-1001"


def test_the_tutorial_keeps_a_secret(run_step: Callable[[int], Ran]) -> None:
    """The password is masked wherever it was."""
    log = run_step(1).log
    assert "password=[REDACTED:" in repr(log.body)
    assert "opensesame" not in repr(log)


def test_the_tutorial_reports_what_nobody_catches(run_step: Callable[[int], Ran]) -> None:
    """The program ends as before, and its end is FATAL."""
    ran = run_step(2)
    assert (ran.status, ran.log.severity_number) == (1, 21)


def test_the_tutorial_shows_the_account(run_step: Callable[[int], Ran]) -> None:
    """Three errors, all counted and all there."""
    ran = run_step(3)
    assert len(ran.inbox.logs) == len(ran.inbox.spans) == 3
    assert ran.out.startswith("Stats(reported=3, recorded=3,")
