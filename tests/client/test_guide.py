"""docs/guide/filters.md: it names every function, and says since when each form of a filter is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import FilterSyntaxError
from metastored.filters.where import FilterFault, parse
from metastored.filters.where.functions import FUNCTIONS
from metastored.hive.generation import Generation

GUIDES = Path(__file__).parents[2] / "docs/guide"


def test_the_page_names_every_function_and_the_clients_error() -> None:
    page = (GUIDES / "filters.md").read_text("utf-8")
    listed = re.search(r"The functions are (.*?); and cast, coalesce and nvl", page, re.DOTALL)
    assert listed is not None
    synonyms = {"substring", "ucase", "lcase", "dayofmonth", "ceiling", "pmod"}
    operators = {name for name in FUNCTIONS if not name.isidentifier()}
    assert set(listed[1].replace("\n", " ").split(", ")) == set(FUNCTIONS) - synonyms - operators
    (arithmetic,) = (line for line in page.splitlines() if line.startswith("| arithmetic |"))
    assert all(f" {operator} " in arithmetic for operator in operators)
    with pytest.raises(FilterFault) as fault:
        parse("ds = = 1")
    assert str(fault.value) in page.replace("\n> ", " ")


@pytest.mark.parametrize(
    ("where", "generation"),
    [
        ("h <> 3 and '2024-01-01' <= ds", Generation.HIVE_2_3),
        ("h not between 1 and 3", Generation.HIVE_2_3),
        ("(struct(ds, h)) in (const struct('2024-01-01', 1), const struct('2024-01-02', 2))", Generation.HIVE_2_3),
        ("(h) in (1, 2)", Generation.HIVE_2_3),
        ("ds == '1' or `my key` = '1' or h not in (1, 2)", Generation.HIVE_4_0),
        ("ds = DATE '2024-01-01' or ds = TIMESTAMP '2024-01-01 00:00:00'", Generation.HIVE_4_0),
        ("(ds = '1') is not true", Generation.HIVE_4_2),
    ],
)
def test_each_form_of_a_filter_is_read_since_the_version_that_the_page_says(where: str, generation: Generation) -> None:
    for known in Generation:
        if known >= generation:
            parse_filter(where, known)
        else:
            older = parse_or_none(where, known)
            assert older is None or older != parse_filter(where, generation)


def parse_or_none(where: str, generation: Generation) -> object:
    try:
        return parse_filter(where, generation)
    except FilterSyntaxError:
        return None
