"""A pipeline as text and as SVG: the steps, what they need, and the tables that each reads and writes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from metastored.pipeline.effects import effects_of
from metastored.pipeline.model import Step
from metastored.pipeline.report import reads, writes

WIDTH: Final = 260
LINE: Final = 18
GAP_X: Final = 60
GAP_Y: Final = 24
MARGIN: Final = 20
LONGEST: Final = 38
"""Signs in a line of a box."""


def as_text(steps: Sequence[Step]) -> str:
    """One paragraph for each step, in the order in which they run."""
    lines = []
    for at, step in enumerate(steps, 1):
        effects = effects_of(step)
        after = f"  after {', '.join(step.needs)}" if step.needs else ""
        lines.append(f"{at}. {step.name} ({step.type}){after}")
        for word, names in (("reads", reads(effects)), ("writes", writes(effects))):
            if names:
                lines.append(f"     {word} {names}")
    return "\n".join(lines)


def as_svg(steps: Sequence[Step]) -> str:
    """A drawing: a column for each distance from the first steps, boxes with arrows from what a step needs."""
    columns = _columns(steps)
    boxes: dict[str, tuple[int, int, int]] = {}
    heights = []
    for column in range(max(columns.values(), default=0) + 1):
        y = MARGIN
        for step in (each for each in steps if columns[each.name] == column):
            height = LINE * len(_lines(step)) + 14
            boxes[step.name] = (MARGIN + column * (WIDTH + GAP_X), y, height)
            y += height + GAP_Y
        heights.append(y)
    width = 2 * MARGIN + len(heights) * (WIDTH + GAP_X) - GAP_X
    body = [*_arrows(steps, boxes), *(part for step in steps for part in _box(step, *boxes[step.name]))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{max(heights)}" '
            'font-family="sans-serif" font-size="13">',
            '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
            *body,
            "</svg>",
        ]
    )


def _columns(steps: Sequence[Step]) -> dict[str, int]:
    """The distance of each step from those that need nothing. `steps` are in their order."""
    columns: dict[str, int] = {}
    for step in steps:
        columns[step.name] = max((columns[each] + 1 for each in step.needs), default=0)
    return columns


def _lines(step: Step) -> list[str]:
    effects = effects_of(step)
    lines = [f"{step.name}  ({step.type})"]
    for word, names in (("reads", reads(effects)), ("writes", writes(effects))):
        if names:
            lines.append(f"{word} {names}")
    return [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in lines]


def _box(step: Step, x: int, y: int, height: int) -> list[str]:
    parts = [f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="6" fill="#f4f6f8" stroke="#555"/>']
    for at, line in enumerate(_lines(step)):
        weight = ' font-weight="bold"' if at == 0 else ""
        parts.append(f'<text x="{x + 10}" y="{y + LINE * (at + 1)}"{weight}>{escape(line)}</text>')
    return parts


def _arrows(steps: Sequence[Step], boxes: dict[str, tuple[int, int, int]]) -> list[str]:
    parts = []
    for step in steps:
        x2, y2, height2 = boxes[step.name]
        for name in step.needs:
            x1, y1, height1 = boxes[name]
            start, end = (x1 + WIDTH, y1 + height1 // 2), (x2, y2 + height2 // 2)
            middle = (start[0] + end[0]) // 2
            path = f"M{start[0]} {start[1]} C{middle} {start[1]} {middle} {end[1]} {end[0]} {end[1]}"
            parts.append(f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#end)"/>')
    return parts
