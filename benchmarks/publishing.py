"""Writes the figures into the documentation: one SVG for each group, and their tables in the page on performance.

It measures nothing. What it writes is between two comments of the page; the rest of the page is written by hand. Groups
that were not measured again keep what is there, with its date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
MARK: Final = "### "
HEADING: Final = f"{MARK}What fell since the last release"
NOTHING: Final = "No group has been published yet.\n"


def publish(figures: Figures, baseline: Baseline | None, page: Path = PAGE, images: Path = IMAGES) -> None:
    """Replaces the plots of these groups, and their parts of the page between the two comments."""
    for group in figures.groups:
        plot(figures, group, image(group, images))
    text = page.read_text("utf-8")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    new = section(figures, baseline, published(old))
    page.write_text(f"{before}{BEGIN}\n\n{new}\n{END}{after}", "utf-8")


def published(section: str) -> dict[str, str]:
    """The parts of groups in a section that was written before, by their names."""
    parts = section.split(f"\n{MARK}")[1:]
    by_name = {part.partition("\n")[0]: f"{MARK}{part.strip()}\n" for part in parts}
    return {name: part for name, part in by_name.items() if f"{MARK}{name}" != HEADING}


def image(group: str, images: Path = IMAGES) -> Path:
    return images / f"performance-{group}.svg"


def section(figures: Figures, baseline: Baseline | None, earlier: Mapping[str, str]) -> str:
    """What fell since the last release; then a heading, the conditions, the plot and the table of each group.

    `earlier` has the parts of groups that were published before.
    """
    parts = {**earlier, **{group: "\n".join(_group(figures, group)) for group in figures.groups}}
    if not parts:
        return NOTHING
    groups = "\n".join(parts.values())
    return f"{HEADING}\n\n{changes(figures, baseline)}\n{groups}"


def _group(figures: Figures, group: str) -> Iterator[str]:
    about = figures.groups[group]
    sizes = ", smaller sizes (`--quick`)" if about["quick"] else ""
    yield f"{MARK}{group}\n"
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
