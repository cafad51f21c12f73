"""The flowcharts of the documentation, drawn as SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.documentation.blocks import PAGES, blocks
from tools.diagrams import DiagramError, parse, svg

CHART = """\
flowchart TB
    client[a <client>] -->|Thrift| server
    subgraph box[one process]
        server["server & more"] --> store[(a database)]
    end
    server --> question{whose is it?} --> other
"""


def test_nodes_arrows_and_subgraphs_are_parsed() -> None:
    chart = parse(CHART)
    assert {name: (node.text, node.shape, node.group) for name, node in chart.nodes.items()} == {
        "client": ("a <client>", "box", None),
        "server": ("server & more", "box", "box"),
        "store": ("a database", "store", "box"),
        "question": ("whose is it?", "question", None),
        "other": ("other", "box", None),
    }
    assert chart.arrows == [
        ("client", "server", "Thrift"),
        ("server", "store", ""),
        ("server", "question", ""),
        ("question", "other", ""),
    ]
    assert chart.groups == {"box": "one process"}


def test_a_drawing_has_every_text_and_no_node_covers_another() -> None:
    chart = parse(CHART)
    drawing = ElementTree.fromstring(svg(CHART))
    texts = {element.text for element in drawing.iter() if element.text}
    assert texts == {"a <client>", "server & more", "a database", "whose is it?", "other", "Thrift", "one process"}
    assert len(drawing.findall("{*}line")) == len(chart.arrows)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_diagrams_of_all_pages_can_be_drawn(page: object) -> None:
    for block in blocks(page):  # type: ignore[arg-type]
        if block.language == "mermaid":
            drawing = ElementTree.fromstring(svg(block.text))
            _, _, width, height = (float(each) for each in drawing.attrib["viewBox"].split())
            inside = [
                (float(rect.attrib["x"]), float(rect.attrib["y"]), rect.attrib["width"], rect.attrib["height"])
                for rect in drawing.findall("{*}rect")
            ]
            for left, top, wide, high in inside:
                assert left >= 0 and top >= -0.5 and left + float(wide) <= width and top + float(high) <= height
            assert not re.search(r"#[0-9a-f]{3,6}\b", svg(block.text)), "colours are those of the theme, light or dark"


@pytest.mark.parametrize(
    "text",
    [
        "sequenceDiagram\n  a->>b: x",
        "flowchart LR\n  a --> b",
        "flowchart TB\n  a ==> b",
        "flowchart TB\n  a -->",
        "flowchart TB\n subgraph x\n a\n end\n subgraph y\n b\n end",
    ],
)
def test_what_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(DiagramError):
        svg(text)
