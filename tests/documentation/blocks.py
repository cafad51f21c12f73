"""The code blocks of README.md and docs/: their language, text, and what the page says about them.

A block that no test runs has a comment on the line before it: `<!-- not run: needs AWS -->`. A block whose first line
is a comment with the name of a file, such as `# daily.yml`, is stored as this file. Blocks of the languages in
`NO_CODE` are output and diagrams.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.apache import ROOT

PAGES: Final = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
NO_CODE: Final = ("text", "mermaid", "json")
FENCED: Final = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
SIGNATURES: Final = ROOT / "docs/reference/python.md"
"""A generated page: its blocks are signatures."""
FILE: Final = re.compile(r"(?:#|--) ((?:~/)?[\w./-]+\.\w+)$")


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str
    reason: str | None
    """Why tests do not run it; None for a block that a test runs, and for output."""
    prose: str
    """The text between the block before and this one."""

    @property
    def file(self) -> str | None:
        """The name of the file as which the reader stores the block."""
        found = FILE.match(self.text.partition("\n")[0])
        return found[1] if found and self.language not in ("text", "mermaid", "bash") else None

    @property
    def stops_servers(self) -> bool:
        """Whether the page says before the block that the server is stopped."""
        return re.search(r"\bstop the servers?\b", self.prose, re.IGNORECASE) is not None

    @property
    def prints(self) -> bool:
        """Whether it is the output of the blocks before it."""
        return self.language == "text" and self.prose.rstrip().endswith("prints:")


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, those inside of lists too."""
    text = page.read_text("utf-8")
    found = list(FENCED.finditer(text))
    ends = [0, *(each.end() for each in found)]
    return [
        Block(
            name_of(page),
            text.count("\n", 0, each.start()) + 1,
            each["language"],
            textwrap.dedent(each["text"]),
            each["reason"],
            text[end : each.start()],
        )
        for each, end in zip(found, ends, strict=False)
    ]


def programs(page: str, language: str) -> list[str]:
    """The texts of the blocks of a page, by its path from the root, that are run, of one language."""
    return [block.text for block in blocks(ROOT / page) if block.language == language and block.reason is None]


def code(page: Path) -> list[Block]:
    """The blocks of a page that are run."""
    if page == SIGNATURES:
        return []
    return [block for block in blocks(page) if block.language not in NO_CODE and block.reason is None]


def name_of(page: Path) -> str:
    """The path from the root, for a page of this repository."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


FOLLOWED: Final = [page for page in PAGES if code(page)]
