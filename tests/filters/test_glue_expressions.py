"""Partition filters in the words of Glue."""

from __future__ import annotations

import pytest

from metastored.filters.glue import glue_expression
from metastored.filters.hive.parser import parse_filter
from metastored.hive.generation import Generation


@pytest.mark.parametrize(
    ("where", "expression"),
    [
        ("ds = 'a' and h > 3", "(ds = 'a') AND (h > 3)"),
        ('DS != "it\'s"', "ds <> 'it''s'"),
        ("(h) in (1, 2)", "h IN (1, 2)"),
        ("ds like 'a%'", "ds LIKE 'a%'"),
        # Glue would compare as another type: the part is left to the caller.
        ("h = '1' and ds = 'a'", "(ds = 'a')"),
        ("h = '1' or ds = 'a'", ""),
        ("ds = '" + "x" * 3000 + "'", ""),
    ],
)
def test_a_filter_in_the_words_of_glue_lets_nothing_be_lost(where: str, expression: str) -> None:
    tree = parse_filter(where, Generation.HIVE_3_1)
    assert glue_expression(tree, {"ds": "string", "h": "int"}) == expression
