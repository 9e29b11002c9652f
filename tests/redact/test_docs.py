"""The reference page and the table say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from errorsink._redact import table
from errorsink._redact_rules import Rule

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "redaction.md"


def _rows() -> list[str]:
    return [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("rule", table(), ids=lambda rule: rule.kind)
def test_the_page_lists_the_kind(rule: Rule) -> None:
    """With its meaning, and whether it is off by default."""
    off = "" if rule.default else " (off by default)"
    assert f"| `{rule.kind}` | {rule.meaning}{off} |" in _rows()


def test_the_page_lists_nothing_else() -> None:
    """No kind is left on it that is gone."""
    kinds = PAGE.read_text(encoding="utf-8").partition("## Kinds")[2]
    assert kinds.count("\n| `") == len(table())
