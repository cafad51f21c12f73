"""Draws the flowcharts of the documentation as SVG, so that the site needs no program of another server.

GitHub draws the same text itself. The part of Mermaid's language that the pages use is understood: `flowchart TB`,
nodes `a`, `a[text]`, `a["text"]`, `a[(text)]` and `a{text}`, arrows `-->` and `-->|text|`, also several in a line, and
`subgraph name[text]` to `end`. Everything else is an error.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Final

CHARACTERS: Final = 24
"""The longest line of a node."""
LETTER, LINE, PAD, GAP_X, GAP_Y = 7.2, 18.0, 12.0, 24.0, 44.0
TITLE: Final = 30.0
"""The height of a subgraph's title."""
NODE: Final = re.compile(r'(\w+)(?:\[\((.+?)\)\]|\["(.+?)"\]|\[(.+?)\]|\{(.+?)\})?')
ARROW: Final = re.compile(r"\s*-->(?:\|(.+?)\|)?\s*")
SUBGRAPH: Final = re.compile(r"subgraph (\w+)(?:\[(.+)\])?$")


class DiagramError(ValueError):
    """A line that this module does not understand, or a layout that it does not know."""


@dataclass
class Node:
    name: str
    text: str
    shape: str = "box"
    group: str | None = None
    rank: int = 0
    x: float = 0
    y: float = 0

    @property
    def lines(self) -> list[str]:
        return textwrap.wrap(self.text, CHARACTERS)

    @property
    def width(self) -> float:
        return max(len(line) for line in self.lines) * LETTER + 2 * PAD + (PAD if self.shape == "question" else 0)

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + 2 * PAD + (PAD if self.shape == "store" else 0)


@dataclass
class Chart:
    nodes: dict[str, Node] = field(default_factory=dict)
    arrows: list[tuple[str, str, str]] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    """The titles of the subgraphs."""


def svg(text: str) -> str:
    """The drawing. Its colours are those of the site's theme, light or dark."""
    chart = parse(text)
    return _drawn(chart, *_placed(chart))


def parse(text: str) -> Chart:
    chart = Chart()
    first, *lines = [line.strip() for line in text.strip().splitlines()]
    if first != "flowchart TB":
        raise DiagramError(f"{first!r} is not 'flowchart TB'")
    group: str | None = None
    for line in lines:
        if line == "end":
            group = None
        elif found := SUBGRAPH.match(line):
            group = found[1]
            chart.groups[group] = found[2] or group
        else:
            _statement(chart, line, group)
    return chart


def _statement(chart: Chart, line: str, group: str | None) -> None:
    position, before, label = 0, None, ""
    while True:
        found = NODE.match(line, position)
        if not found:
            raise DiagramError(f"no node at {line[position:]!r}")
        node = _node(chart, found, group)
        if before is not None:
            chart.arrows.append((before, node.name, label))
        position = found.end()
        if position == len(line):
            return
        arrow = ARROW.match(line, position)
        if not arrow:
            raise DiagramError(f"no arrow at {line[position:]!r}")
        before, label, position = node.name, arrow[1] or "", arrow.end()


def _node(chart: Chart, found: re.Match[str], group: str | None) -> Node:
    name, store, quoted, plain, question = found.groups()
    node = chart.nodes.setdefault(name, Node(name, name))
    if text := store or quoted or plain or question:
        node.text = text
        node.shape = "store" if store else "question" if question else "box"
    if group is not None:
        node.group = group
    return node


def _placed(chart: Chart) -> tuple[dict[str, tuple[float, float, float, float]], float, float]:
    """Places the nodes, by rank from top to bottom. The boxes of the subgraphs, and the size of all."""
    nodes = [*chart.nodes.values()]
    for _ in nodes:
        for start, end, _label in chart.arrows:
            chart.nodes[end].rank = max(chart.nodes[end].rank, chart.nodes[start].rank + 1)
    spans = {name: [node.rank for node in nodes if node.group == name] for name in chart.groups}
    ranks = {name: range(min(found), max(found) + 1) for name, found in spans.items()}
    for name, own in ranks.items():
        for other, rest in ranks.items():
            if name < other and set(own) & set(rest):
                raise DiagramError(f"{name} and {other} are side by side")
    bottom = 0.0
    for rank in range(max(node.rank for node in nodes) + 1):
        row = [node for node in nodes if node.rank == rank]
        bottom += TITLE * sum(own.start == rank for own in ranks.values())
        height = max(node.height for node in row)
        owner = next((name for name, own in ranks.items() if rank in own), None)
        inner = [node for node in row if node.group == owner]
        _spread(inner, -(sum(node.width for node in inner) + GAP_X * (len(inner) - 1)) / 2)
        for node in row:
            node.y = bottom + height / 2
        bottom += height + GAP_Y
    boxes = {name: _box([node for node in nodes if node.group == name], title) for name, title in chart.groups.items()}
    for rank in range(max(node.rank for node in nodes) + 1):
        owner = next((name for name, own in ranks.items() if rank in own), None)
        if owner is not None:  # Nodes beside a subgraph are on its right.
            outer = [node for node in nodes if node.rank == rank and node.group != owner]
            _spread(outer, boxes[owner][2] + 2 * GAP_X)
    left = min([node.x - node.width / 2 for node in nodes] + [box[0] for box in boxes.values()]) - 2
    for node in nodes:
        node.x -= left
    boxes = {name: _box([node for node in nodes if node.group == name], title) for name, title in chart.groups.items()}
    right = max([node.x + node.width / 2 for node in nodes] + [box[2] for box in boxes.values()]) + 2
    return boxes, right, max([bottom - GAP_Y + 2] + [box[3] + 2 for box in boxes.values()])


def _spread(row: list[Node], left: float) -> None:
    for node in row:
        node.x = left + node.width / 2
        left += node.width + GAP_X


def _box(nodes: list[Node], title: str) -> tuple[float, float, float, float]:
    left = min(node.x - node.width / 2 for node in nodes) - PAD
    return (
        left,
        min(node.y - node.height / 2 for node in nodes) - TITLE,
        max(max(node.x + node.width / 2 for node in nodes) + PAD, left + len(title) * (LETTER + 0.6) + 2 * PAD),
        max(node.y + node.height / 2 for node in nodes) + PAD,
    )


def _drawn(chart: Chart, boxes: dict[str, tuple[float, float, float, float]], width: float, height: float) -> str:
    ink, paper, soft = "var(--md-default-fg-color)", "var(--md-default-bg-color)", "var(--md-code-bg-color)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' font-family="sans-serif" font-size="13" text-anchor="middle" fill="{ink}" stroke="none">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{ink}"/></marker></defs>',
    ]
    for name, (left, top, right, bottom) in boxes.items():
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="8"'
            f' fill="none" stroke="{ink}" stroke-dasharray="4 4"/>'
            f'<text x="{left + PAD:.1f}" y="{top + 19:.1f}" text-anchor="start" font-weight="bold">'
            f"{escape(chart.groups[name])}</text>"
        )
    labels = []
    for start, end, label in chart.arrows:
        a, b = chart.nodes[start], chart.nodes[end]
        ends = (a.x, a.y + a.height / 2, b.x, b.y - b.height / 2)
        x1, y1, x2, y2 = (f"{each:.1f}" for each in ends)
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{ink}" marker-end="url(#arrow)"/>')
        if label:
            x, y = ends[0] + 0.4 * (ends[2] - ends[0]), ends[1] + 0.4 * (ends[3] - ends[1]) + 4
            labels.append(
                f'<text x="{x:.1f}" y="{y:.1f}" stroke="{paper}" stroke-width="6" paint-order="stroke">'
                f"{escape(label)}</text>"
            )
    parts += [_figure(node, ink, soft) for node in chart.nodes.values()]
    return "".join([*parts, *labels, "</svg>"])


def _figure(node: Node, ink: str, soft: str) -> str:
    left, top, width, height = node.x - node.width / 2, node.y - node.height / 2, node.width, node.height
    paint = f'fill="{soft}" stroke="{ink}"'
    offset = 0.0
    if node.shape == "store":
        offset = PAD / 2
        curve = f"a{width / 2:.1f} 6 0 0 0 {width:.1f} 0a{width / 2:.1f} 6 0 0 0 -{width:.1f} 0"
        shape = (
            f'<path d="M{left:.1f} {top + 6:.1f}v{height - 12:.1f}a{width / 2:.1f} 6 0 0 0 {width:.1f} 0'
            f'v-{height - 12:.1f}" {paint}/><path d="M{left:.1f} {top + 6:.1f}{curve}" {paint}/>'
        )
    elif node.shape == "question":
        points = [(0, 0.5), (PAD, 0), (width - PAD, 0), (width, 0.5), (width - PAD, 1), (PAD, 1)]
        written = " ".join(f"{left + x:.1f},{top + y * height:.1f}" for x, y in points)
        shape = f'<polygon points="{written}" {paint}/>'
    else:
        shape = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" {paint}/>'
    first = node.y - (len(node.lines) - 1) * LINE / 2 + 4.5 + offset
    text = "".join(
        f'<text x="{node.x:.1f}" y="{first + number * LINE:.1f}">{escape(line)}</text>'
        for number, line in enumerate(node.lines)
    )
    return shape + text
