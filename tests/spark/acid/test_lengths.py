"""Texts are stored with the length of char and varchar, as Hive does: cut without an error, and char padded."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.spark import acid
from tests.spark.acid.conftest import INSERT_ONLY, Warehouse, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TEXTS = ("", "ab", "abc", "abcdef", "äöüß", "a  b", None)
CHARS = ("   ", "ab ", "abc", "abc", "äöü", "a  ", None)
VARCHARS = ("", "ab", "abc", "abc", "äöü", "a  ", None)


def test_inserted_texts_are_cut_and_char_is_padded(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "int", "c": "char(3)", "v": "varchar(3)", "s": "string"})
    rows = [(number, text, text, text) for number, text in enumerate(TEXTS)]
    frame = spark.createDataFrame(rows, "id int, c string, v string, s string")
    acid.insert(spark, name, frame, client=warehouse.client)
    expected = list(zip(range(len(TEXTS)), CHARS, VARCHARS, TEXTS, strict=True))
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == expected


def test_updates_and_merges_fit_texts_too(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "int", "c": "char(3)", "v": "varchar(3)"})
    acid.insert(spark, name, spark.sql("select 1 as id, 'x' as c, 'y' as v"), client=warehouse.client)
    acid.update(spark, name, {"c": "'longer'", "v": "'longer'"}, client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [(1, "lon", "lon")]
    source = spark.sql("select * from values (1, 'z', 'merged'), (2, 'merged', 'z') as s(id, c, v)")
    acid.merge(spark, name, source, "target.id = source.id", matched="*", not_matched="*", client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [(1, "z  ", "mer"), (2, "mer", "z")]


def test_texts_inside_of_other_types_are_fitted(spark: Any, warehouse: Warehouse) -> None:
    columns = {
        "l": "array<varchar(2)>",
        "m": "map<char(2),array<varchar(1)>>",
        "s": "struct<a:char(2),b:int,c:string>",
    }
    name = warehouse.create("t", columns)
    frame = spark.sql(
        "select array('abc', null) as l, map('a', array('xyz')) as m, named_struct('a', 'b', 'b', 1, 'c', 'long') as s "
        "union all select null, null, null"
    )
    acid.insert(spark, name, frame, client=warehouse.client)
    found = [tuple(row) for row in acid.read(spark, name, client=warehouse.client).collect()]
    assert sorted(found, key=lambda row: row[0] is None) == [
        (["ab", None], {"a ": ["x"]}, ("b ", 1, "long")), (None, None, None),
    ]  # fmt: skip


def test_the_rows_of_an_insert_only_table_are_fitted(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"c": "char(2)", "v": "varchar(2)"}, properties=INSERT_ONLY)
    acid.insert(spark, name, spark.sql("select 'a' as c, 'abc' as v"), client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [("a ", "ab")]
