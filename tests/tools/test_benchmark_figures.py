"""The figures of the benchmarks: groups are repeated alone, and published in the page on performance."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import GROUPS, NAMED
from benchmarks.figures import Figures
from benchmarks.plots import plot
from benchmarks.publishing import BEGIN, END, IMAGES, PAGE, image, publish, published
from benchmarks.rows import Results


def results(name: str, seconds: float) -> Results:
    found = Results()
    found.faster(name, seconds, 1.0, least=2, aim=4)
    return found


def test_a_group_that_is_repeated_replaces_its_own_figures_only(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    first = Figures.read(file)
    first.put("slice", results("get_table", 0.5), quick=False)
    first.put("copy", results("copy", 0.2), quick=True)
    first.write(file)
    second = Figures.read(file)
    second.put("slice", results("get_table", 0.1), quick=False)
    second.write(file)
    last = Figures.read(file)
    assert [(row.ratio, row.verdict) for row in last.rows("slice")] == [(10.0, "aim")]
    assert [row.name for row in last.rows("copy")] == ["copy"]
    assert last.groups["copy"]["quick"] is True


def test_growth_curves_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = Results()
    found.growth["add partitions"] = {100: 0.5, 1000: 4.0}
    figures = Figures()
    figures.put("growth", found, quick=False)
    figures.write(tmp_path / "figures.json")
    assert Figures.read(tmp_path / "figures.json").growth("growth") == {"add partitions": {100: 0.5, 1000: 4.0}}


@pytest.mark.slow
def test_figures_are_published_between_the_two_comments(tmp_path: Path) -> None:
    page, images = tmp_path / "page.md", tmp_path / "images"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n", "utf-8")
    figures = Figures()
    figures.put("slice", results("get_table", 0.5), quick=True)
    publish(figures, None, page, images)
    text = page.read_text("utf-8")
    assert text.startswith("above\n") and text.endswith("\nbelow\n") and "old" not in text
    assert "| get_table | 500 | 1,000 | ms | 2.00 | ≥ 2 | met |" in text
    assert "(`--quick`)" in text and "### What fell since the last release" in text
    first = image("slice", images).read_bytes()
    plot(figures, "slice", image("slice", images))
    assert image("slice", images).read_bytes() == first, "equal figures give equal plots"


@pytest.mark.slow
def test_groups_that_were_not_measured_again_keep_their_part_and_their_plot(tmp_path: Path) -> None:
    page, images = tmp_path / "page.md", tmp_path / "images"
    page.write_text(f"{BEGIN}\n{END}\n", "utf-8")
    both, again = Figures(), Figures()
    both.put("slice", results("get_table", 0.5), quick=False)
    both.put("copy", results("copy", 0.2), quick=False)
    publish(both, None, page, images)
    before = page.read_text("utf-8")
    publish(both, None, page, images)
    assert page.read_text("utf-8") == before
    again.put("slice", results("get_table", 0.1), quick=False)
    publish(again, None, page, images)
    text = page.read_text("utf-8")
    assert list(published(text)) == ["slice", "copy"]
    assert published(text)["copy"] == published(before)["copy"]
    assert "| get_table | 100 | 1,000 | ms | 10.00 |" in text and "| get_table | 500 |" not in text
    assert image("copy", images).exists()


def test_the_page_describes_every_group_and_shows_every_plot() -> None:
    text = PAGE.read_text("utf-8")
    assert all(f"| `{group}` |" in text for group in GROUPS + NAMED)
    assert all(f"](../images/{file.name})" in text for file in IMAGES.glob("performance-*.svg"))
