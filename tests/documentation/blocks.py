"""The code blocks of README.md and docs/: their language, text, and the reason if tests do not run them.

A block that no test runs has a comment on the line before it: `<!-- not run: needs AWS -->`. Blocks of the languages in
`NO_CODE` are output and diagrams.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.apache import ROOT

PAGES: Final = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
NO_CODE: Final = ("text", "mermaid")
FENCED: Final = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str
    reason: str | None
    """Why tests do not run it; None for a block that a test runs, and for output."""


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, those inside of lists too."""
    text = page.read_text("utf-8")
    return [
        Block(
            page.relative_to(ROOT).as_posix(),
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            textwrap.dedent(found["text"]),
            found["reason"],
        )
        for found in FENCED.finditer(text)
    ]


def programs(page: str, language: str) -> list[str]:
    """The texts of the blocks of a page, by its path from the root, that are run, of one language."""
    return [block.text for block in blocks(ROOT / page) if block.language == language and block.reason is None]
