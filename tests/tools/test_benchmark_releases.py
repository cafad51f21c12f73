"""The figures of a release: compared with those of the last one, and with the limits of the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import times
from benchmarks.figures import Figures
from benchmarks.growth import growth_of, sizes_of_million
from benchmarks.releases import FILE, Baseline, changes, failures, fallen
from benchmarks.rows import Results, Row


def figures(*rows: Row, group: str = "slice", quick: bool = False, seconds: float = 0.0) -> Figures:
    made = Figures()
    made.put(group, Results(list(rows)), quick, seconds)
    return made


def more(name: str, ratio: float, least: float | None = None) -> Row:
    return Row(name, 1.0, ratio, "ms", ratio, least)


def less(name: str, ratio: float, least: float | None = None) -> Row:
    return Row(name, ratio, 1.0, "ms", ratio, least, higher_is_better=False)


def baseline(**ratios: float) -> Baseline:
    return Baseline("1.0", {"slice": ratios})


@pytest.mark.parametrize(
    ("row", "before", "change"),
    [
        (more("a", 7.9), 10.0, -0.21),
        (more("a", 8.1), 10.0, None),
        (more("a", 30.0), 10.0, None),
        (less("a", 1.5), 1.0, -1 / 3),
        (less("a", 1.2), 1.0, None),
        (less("a", 0.5), 1.0, None),
    ],
)
def test_a_row_fell_if_it_is_a_fifth_worse_whatever_is_better(row: Row, before: float, change: float | None) -> None:
    found = fallen(figures(row), baseline(a=before))
    assert [each.change for each in found] == ([] if change is None else [pytest.approx(change)])


def test_the_worst_rows_come_first() -> None:
    found = fallen(figures(more("a", 7.0), more("b", 2.0), more("c", 5.0)), baseline(a=10.0, b=10.0, c=10.0))
    assert [each.name for each in found] == ["b", "c", "a"]


def test_rows_of_one_side_and_short_looks_are_not_compared() -> None:
    assert not fallen(figures(more("new", 1.0)), baseline(old=10.0))
    assert not fallen(figures(more("a", 1.0), group="copy"), baseline(a=10.0))
    assert not fallen(figures(more("a", 1.0), quick=True), baseline(a=10.0))


def test_the_table_names_what_fell_and_how_many_rows_were_compared() -> None:
    now = figures(more("a", 5.0), more("b", 9.9), more("new", 1.0))
    text = changes(now, baseline(a=10.0, b=10.0))
    assert "2 rows were compared with those of 1.0; 1 fell by more than 20%" in text
    assert "| slice: a | 10 | 5 | -50% |" in text
    assert "slice: b" not in text
    assert "|" not in changes(now, baseline(b=10.0))
    assert changes(now, None) == "There is no release to compare with.\n"


def test_a_baseline_is_read_as_it_was_written_without_short_looks(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    assert Baseline.read(file) is None
    now = figures(more("a", 5.0))
    now.put("copy", Results([more("b", 1.0)]), quick=True)
    Baseline.of(now, "1.0").write(file)
    assert Baseline.read(file) == Baseline("1.0", {"slice": {"a": 5.0}})


def test_a_row_below_its_limit_fails_the_check_with_its_name() -> None:
    now = figures(more("a", 5.0, least=10), more("b", 10.0, least=10), less("c", 1.3, least=1.25), more("d", 0.1))
    assert list(failures(now, ["slice"])) == ["slice: a: 5.00, not ≥ 10", "slice: c: 1.30, not ≤ 1.25"]


def test_a_group_without_complete_figures_fails_the_check() -> None:
    now = figures(more("a", 50.0, least=10), quick=True)
    assert list(failures(now, ["slice", "copy"])) == ["slice: measured with --quick", "copy: not measured"]
    assert not list(failures(figures(more("a", 50.0, least=10)), ["slice"]))


def test_the_baseline_of_this_tree_can_be_read() -> None:
    found = Baseline.read(FILE)
    assert found is not None and found.version
    assert all(ratio > 0 for rows in found.ratios.values() for ratio in rows.values())


def test_the_times_of_groups_are_listed_longest_first() -> None:
    now = figures(seconds=10.0)
    now.put("tail", Results(), quick=False, seconds=3_600.0)
    lines = [" ".join(line.split()) for line in times(now, ["slice", "tail"])]
    assert lines == ["tail 3,600 s", "slice 10 s", "together 3,610 s: more than 3,600 s"]


def test_growth_compares_the_most_objects_with_the_fewest() -> None:
    constant = growth_of("get_table", {100: 0.001, 1_000: 0.002, 10_000: 0.004}, each=False)
    assert (constant.ratio, constant.unit, constant.verdict) == (4.0, "ms", "MISSED")
    by_object = growth_of("names", {100: 0.001, 10_000: 0.1}, each=True)
    assert [by_object.ratio, by_object.metastored] == pytest.approx([1.0, 10.0])
    assert (by_object.unit, by_object.verdict) == ("µs", "aim")


def test_sizes_are_those_of_a_million() -> None:
    row = sizes_of_million(1024.0, 2048.0)
    assert [row.metastored, row.peer, row.ratio] == pytest.approx([976.5625, 1953.125, 2.0])
