"""Writes the figures into the documentation: one SVG for each group, and their tables in the page on performance.

It measures nothing. What it writes is between two comments of the page; the rest of the page is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figures import Figures
from benchmarks.plots import plot
from benchmarks.releases import Baseline, changes
from benchmarks.rows import Row

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PAGE: Final = DOCS / "concepts/performance.md"
IMAGES: Final = DOCS / "images"
BEGIN: Final = "<!-- figures: written by python -m benchmarks --publish; do not edit -->"
END: Final = "<!-- end of the figures -->"
TABLE: Final = """| | metastored | peer | | ratio | limit | |
|---|---:|---:|---|---:|---|---|
"""
HEADING: Final = "### What fell since the last release"
NOTHING: Final = "No group has been published yet.\n"


def publish(figures: Figures, baseline: Baseline | None, page: Path = PAGE, images: Path = IMAGES) -> None:
    """Replaces the plots, and the section of the page between the two comments."""
    for old in images.glob("performance-*.svg"):
        old.unlink()
    for group in figures.groups:
        plot(figures, group, image(group, images))
    text = page.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{section(figures, baseline)}\n{END}{after}", "utf-8")


def image(group: str, images: Path = IMAGES) -> Path:
    return images / f"performance-{group}.svg"


def section(figures: Figures, baseline: Baseline | None) -> str:
    """What fell since the last release; then a heading, the conditions, the plot and the table of each group."""
    if not figures.groups:
        return NOTHING
    groups = "\n".join(part for group in figures.groups for part in _group(figures, group))
    return f"{HEADING}\n\n{changes(figures, baseline)}\n{groups}"


def _group(figures: Figures, group: str) -> Iterator[str]:
    about = figures.groups[group]
    sizes = ", smaller sizes (`--quick`)" if about["quick"] else ""
    yield f"### {group}\n"
    programs = (("Python", "python"), ("SQLite", "sqlite"), ("PostgreSQL", "postgresql"))
    versions = ", ".join(f"{name} {about[key]}" for name, key in programs)
    yield (
        f"Measured {about['measured']} in {about['seconds']:.0f} s with {versions} on {about['cores']} cores "
        f"({about['machine']}){sizes}.\n"
    )
    rows = figures.rows(group)
    if rows or figures.growth(group):
        yield f"![Ratios of the group {group}](../images/{image(group).name})\n"
    if rows:
        yield TABLE + "".join(map(_row, rows))


def _row(row: Row) -> str:
    sign = "≥" if row.higher_is_better else "≤"
    limit = "" if row.least is None else f"{sign} {row.least:g}"
    verdict = {"aim": "met, and the aim", "ok": "met", "MISSED": "missed", "": ""}[row.verdict]
    name = f"{row.name} ({row.note})" if row.note else row.name
    cells = (name, _figure(row.metastored), _figure(row.peer), row.unit, f"{row.ratio:.2f}", limit, verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
