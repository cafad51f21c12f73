"""What conditions say about partitions and row groups. Only names and literals are looked at: no Spark is started."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import DateType, DoubleType, LongType, StringType, StructField

from metastored.spark.acid.rows.pruning import _is_about, _leaf, conjuncts
from metastored.spark.acid.rows.scan import path_key

FIELDS = {
    "id": StructField("id", LongType()),
    "name": StructField("Name", StringType()),
    "day": StructField("day", DateType()),
    "amount": StructField("amount", DoubleType()),
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a = 1", ["a = 1"]),
        ("a = 1 and (b = 2 AND c = 3)", ["a = 1", "b = 2", "c = 3"]),
        ("((a = 1))", ["a = 1"]),
        ("a = 1 or b = 2", ["a = 1 or b = 2"]),
        ("a = 1 or b = 2 and c = 3", ["a = 1 or b = 2 and c = 3"]),
        ("(a = 1 or b = 2) and not c", ["a = 1 or b = 2", "not c"]),
        ("a between 1 and 2 and b in (1, 2)", ["a between 1 and 2", "b in (1, 2)"]),
        ("case when a and b then c and d end and e", ["case when a and b then c and d end", "e"]),
        # Printed by sqlglot, these would mean something else in Spark.
        ("name = 'O''Brien' and log10(n) = 2", ["name = 'O''Brien'", "log10(n) = 2"]),
        ("a = 1 -- and b\n and c = 'x and y'", ["a = 1", "c = 'x and y'"]),
        ("this is not a condition at all (", []),
    ],
)
def test_a_condition_is_split_at_its_ands_and_keeps_its_text(where: str, expected: list[str]) -> None:
    assert [each.text for each in conjuncts(where)] == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("ds = '1'", True),
        ("DS in ('1', '2') or h > 3", True),
        ("upper(ds) = 'A' and 1 = 1", False),  # Its second part has no column.
        ("ds = id", False),
        ("t.ds = '1'", False),
        ("ds = (select max(ds) from u)", False),
        ("ds > rand()", False),
        ("my_function(ds) = 1", False),
        ("1 = 1", False),
    ],
)
def test_conditions_about_keys_alone_choose_partitions(where: str, expected: bool) -> None:
    assert all(_is_about(each.tree, ("ds", "h")) for each in conjuncts(where)) is expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 5", ("EQ", "id", "LONG", [5])),
        ("5 < ID", ("GT", "id", "LONG", [5])),
        ("id >= -5", ("GTE", "id", "LONG", [-5])),
        ("id between 1 and 3", ("BETWEEN", "id", "LONG", [1, 3])),
        ("id in (1, 2)", ("IN", "id", "LONG", [1, 2])),
        ("name <= 'x'", ("LTE", "Name", "STRING", ["x"])),
        ("id = 1.5", None),
        ("id = '5'", None),
        ("name = 5", None),
        ("amount > 1", None),
        ("id + 1 = 5", None),
        ("id = amount", None),
        ("id <=> 5", None),
        ("id <> 5", None),
        ("id not between 1 and 3", None),
        ("id in (select 1)", None),
        ("id is null", None),
        ("other = 1", None),
        ("day = '2024-13-01'", None),
    ],
)
def test_comparisons_of_a_column_with_literals_of_its_type_skip_row_groups(where: str, expected: Any) -> None:
    (condition,) = conjuncts(where)
    assert _leaf(condition.tree, FIELDS) == expected


@pytest.mark.parametrize("where", ["day = date'2024-02-29'", "day = '2024-02-29'", "day = cast('2024-02-29' as date)"])
def test_dates_are_compared_as_dates(where: str) -> None:
    found = _leaf(conjuncts(where)[0].tree, FIELDS)
    assert found is not None and (found[2], [str(each) for each in found[3]]) == ("DATE", ["2024-02-29"])


def test_a_path_is_written_as_spark_shows_it() -> None:
    assert path_key("file:/w/t/ds=a b%2F/h=1/delta_1_1/bucket_00000") == "/w/t/ds=a%20b%252F/h=1/delta_1_1/bucket_00000"
    assert path_key("hdfs://host:8020/w/ä") == "/host:8020/w/ä"
