"""Writes the list of refused statements of docs/guide/acid-sql.md from the tests; with --check only compares it.

Run it after every change of `tests/spark/acid/sql/refused.py`: `python tools/refused_statements.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests.spark.acid.sql.refused import REFUSED  # noqa: E402
from tools.reference_page import write_or_check  # noqa: E402

OUT = ROOT / "docs/guide/acid-sql.md"
BEGIN = "<!-- This list is written by tools/refused_statements.py from tests/spark/acid/sql/refused.py. -->\n"
END = "<!-- The end of the list. -->\n"


def listed() -> str:
    """The table of refused statements."""
    lines = dict.fromkeys(f"| {each.form} | {each.instead} |\n" for each in REFUSED)
    return "".join(["| refused | instead |\n", "|---|---|\n", *lines])


def render(page: str) -> str:
    """The page with the list. Raises ValueError if it has no place for the list."""
    start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
    return f"{page[:start]}\n{listed()}\n{page[stop:]}"


def main() -> int:
    return write_or_check(OUT, render(OUT.read_text("utf-8")), check="--check" in sys.argv, tool=__file__)


if __name__ == "__main__":
    sys.exit(main())
