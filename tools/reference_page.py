"""What the generators of docs/reference share: a page is written or, with --check, compared with its file."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs/reference"


def write_or_check(page: Path, text: str, *, check: bool, tool: str) -> int:
    """The exit code: with `check`, 1 and a line that names the tool if the file differs; else the file is written."""
    if page.exists() and page.read_text("utf-8") == text:
        return 0
    if check:
        print(f"not current: {page.relative_to(ROOT)}; run python tools/{Path(tool).name}")
        return 1
    page.write_text(text, "utf-8")
    return 0
