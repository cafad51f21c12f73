"""Values are assigned to columns by `spark.sql.storeAssignmentPolicy`, in INSERT, UPDATE and MERGE, as Spark does it.

Spark's own tables are the reference: the same values are inserted into a table of parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ArithmeticException, NumberFormatException, PySparkException

from metastored.spark import acid
from tests.spark.acid.conftest import Shop, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY, ANSI_MODE = "spark.sql.storeAssignmentPolicy", "spark.sql.ansi.enabled"
TYPES = {
    "i": "int", "s": "smallint", "n": "bigint", "d": "decimal(5,2)", "f": "double", "t": "string", "b": "boolean",
    "day": "date", "at": "timestamp", "a": "array<int>", "m": "map<string,int>", "r": "struct<x:int,y:string>",
}  # fmt: skip
VALUES = [
    ("i", "timestamp'2026-01-01 00:00:00'"), ("i", "'7'"), ("i", "7L"), ("i", "7.9D"), ("i", "true"), ("i", "NULL"),
    ("s", "7"), ("d", "1.239"), ("d", "1.5D"), ("f", "7"), ("t", "7"), ("t", "date'2026-01-01'"), ("t", "true"),
    ("b", "1"), ("b", "'true'"), ("day", "'2026-01-01'"), ("day", "timestamp'2026-01-01 12:00:00'"),
    ("at", "date'2026-01-01'"), ("at", "7"), ("n", "timestamp'2026-01-01 00:00:00'"), ("a", "array(7L)"),
    ("a", "array('7')"), ("m", "map('a', 7L)"), ("r", "named_struct('x', 7L, 'y', 'b')"), ("r", "struct('7', 'b')"),
    ("r", "struct(7, 8)"), ("i", "array(1)"),
]  # fmt: skip


@pytest.fixture
def shop(shop: Shop) -> Iterator[Shop]:
    shop.warehouse.create("typed", TYPES)
    shop.spark.sql(f"CREATE TABLE plain ({', '.join(f'{name} {type}' for name, type in TYPES.items())}) USING parquet")
    yield shop


@contextmanager
def settings(spark: Any, **values: str) -> Iterator[None]:
    names = {"policy": POLICY, "ansi": ANSI_MODE}
    before = {names[name]: spark.conf.get(names[name]) for name in values}
    try:
        for name, value in values.items():
            spark.conf.set(names[name], value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.set(name, old)


@pytest.mark.parametrize(
    ("policy", "ansi"),
    [
        ("ANSI", "true"), ("STRICT", "true"), ("LEGACY", "false"),
        *(
            pytest.param(policy, ansi, marks=pytest.mark.soak)
            for policy, ansi in (("ANSI", "false"), ("STRICT", "false"), ("LEGACY", "true"))
        ),
    ],
)  # fmt: skip
def test_the_same_casts_are_allowed_as_in_an_insert_of_spark(shop: Shop, policy: str, ansi: str) -> None:
    """All values with each policy and each mode of expressions; the other pairs of both are in `make soak`."""
    different = []
    with settings(shop.spark, policy=policy, ansi=ansi):
        for column, value in VALUES:
            found = [_outcome(each, shop, column, value) for each in (_explained, _planned)]
            if found[0] != found[1]:
                different.append((column, value, *found))
    assert different == []


def _explained(shop: Shop, column: str, value: str) -> str:
    """The plan of Spark. It has an error as a text."""
    rows = shop.spark.sql(f"EXPLAIN INSERT INTO plain ({column}) SELECT {value}").collect()
    return "\n".join(row[0] for row in rows)


def _planned(shop: Shop, column: str, value: str) -> str:
    from metastored.spark.acid.rows.assignment import assigned, positional
    from metastored.spark.acid.tables import acid_table

    table = acid_table(shop.client, f"{shop.database}.typed")
    schema = type(table.columns)([table.columns[column]])
    frame = shop.spark.sql(f"SELECT {value} AS {column}")
    assigned(positional(frame, schema), schema, table.name).schema  # noqa: B018
    return ""


def _outcome(run: Callable[[Shop, str, str], str], shop: Shop, column: str, value: str) -> str:
    """Whether a cast is allowed, refused by the policy, or not possible."""
    try:
        text = run(shop, column, value)
    except PySparkException as error:
        text = str(error)
    if "INCOMPATIBLE_DATA_FOR_TABLE" in text:
        return "refused"
    return "failed" if "Error occurred" in text or "MISMATCH" in text else "allowed"


def test_a_timestamp_is_not_inserted_into_an_int_column_with_sparks_error(shop: Shop) -> None:
    expected = (
        r"\[INCOMPATIBLE_DATA_FOR_TABLE\.CANNOT_SAFELY_CAST\] Cannot write incompatible data for the table "
        r".*\.`orders`: "
        r'Cannot safely cast `id` "TIMESTAMP" to "INT"'
    )
    for statement in (
        "INSERT INTO orders VALUES (timestamp'2026-01-01 00:00:00', 'x', 1)",
        "INSERT INTO orders (id) SELECT current_timestamp()",
        "INSERT OVERWRITE orders BY NAME SELECT timestamp'2026-01-01 00:00:00' AS id",
    ):
        with pytest.raises(AnalysisException, match=expected):
            shop.sql(statement)
    with pytest.raises(AnalysisException, match=r'Cannot safely cast .*`n` "TIMESTAMP" to "BIGINT"'):
        shop.sql("UPDATE orders SET n = current_timestamp()")
    with pytest.raises(AnalysisException, match=r'Cannot safely cast .*`n` "STRING" to "BIGINT"'):
        shop.sql("MERGE INTO orders o USING items i ON o.id = i.id WHEN MATCHED THEN UPDATE SET n = 'x'")
    with pytest.raises(AnalysisException, match=r'Cannot safely cast .*`id` "STRING" to "INT"'):
        shop.sql("MERGE INTO orders o USING items i ON false WHEN NOT MATCHED THEN INSERT (id) VALUES ('x')")
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        acid.insert(shop.spark, f"{shop.database}.orders", shop.spark.sql("SELECT '1' AS id"), client=shop.client)
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (3, "c", 30)]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_value_that_does_not_fit_raises_an_error_and_changes_nothing(shop: Shop, ansi: str) -> None:
    before = shop.orders
    with settings(shop.spark, ansi=ansi):
        for statement in (
            "INSERT INTO orders (id) VALUES (3000000000L)",
            "INSERT INTO orders (id) SELECT n * 1000000000L FROM orders",
            "UPDATE orders SET id = n * 1000000000L WHERE id = 3",
            "MERGE INTO orders o USING items i ON o.id = i.id WHEN MATCHED THEN UPDATE SET id = 3000000000L",
            "MERGE INTO orders o USING items i ON o.id = -i.id WHEN NOT MATCHED THEN INSERT (id) VALUES (3e10D)",
        ):
            with pytest.raises((ArithmeticException, NumberFormatException, PySparkException), match="CAST_OVERFLOW"):
                shop.sql(statement)
    assert shop.orders == before


def test_values_of_clauses_that_do_not_hold_are_not_evaluated(shop: Shop) -> None:
    shop.sql(
        "MERGE INTO orders o USING items i ON o.id = i.id "
        "WHEN MATCHED AND o.id = 1 THEN UPDATE SET id = i.x WHEN MATCHED THEN UPDATE SET n = 1 / (o.id - 1)"
    )
    assert shop.orders == [(2, "b", 1), (3, "c", 30), (100, "a", 10)]


def test_under_legacy_everything_is_cast(shop: Shop) -> None:
    with settings(shop.spark, policy="LEGACY"):
        shop.sql("INSERT INTO orders SELECT '4', 4, 4.9D UNION ALL SELECT 'five', 5, NULL")
        shop.sql("INSERT INTO orders SELECT 4294967301L, 'x', NULL")
        shop.sql("UPDATE orders SET n = '7' WHERE id = 1")
    found = [(None, "5", None), (1, "a", 7), (2, "b", 20), (3, "c", 30), (4, "4", 4), (5, "x", None)]
    assert shop.orders == found


def test_fields_of_structs_are_matched_by_position_or_by_name(shop: Shop) -> None:
    typed = f"{shop.database}.typed"
    shop.sql("INSERT INTO typed (i, r) VALUES (1, struct(7, 'a'))")
    shop.sql("INSERT INTO typed (i, r) SELECT 2, named_struct('y', 8, 'x', 'b')")
    shop.sql("INSERT INTO typed BY NAME SELECT 3 AS i, named_struct('y', 'c', 'x', 9) AS r")
    frame = shop.spark.sql("SELECT 4 AS i, array(1L) AS a, named_struct('Y', 'd', 'X', 10L) AS r")
    acid.insert(shop.spark, typed, frame, client=shop.client)
    found = rows_of(shop.frame("SELECT i, r.x, r.y FROM typed"))
    assert found == [(1, 7, "a"), (2, 8, "b"), (3, 9, "c"), (4, 10, "d")]
