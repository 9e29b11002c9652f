"""The pages of the documentation, and the programs in them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    """The blocks of Python of a page, in order."""
    return [textwrap.dedent(block) for block in _BLOCK.findall(page.read_text("utf-8"))]
