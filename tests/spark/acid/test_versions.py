"""Stored views over ACID tables, and time travel, as far as the directories still have the rows."""

from __future__ import annotations

import pytest

import metastored
from metastored.errors import InvalidInputException
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.queue import request, worker_id
from metastored.spark.acid.compaction.worker import work
from metastored.wire.structs import replace
from tests.spark.acid.conftest import INSERT_ONLY, Shop, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def create_view(shop: Shop, name: str, text: str, columns: dict[str, str], **parameters: str) -> None:
    """Stores a view as Hive does, or with parameters as Spark does."""
    made = metastored.table(f"{shop.database}.{name}", columns, properties=parameters)
    shop.client.create_table(replace(made, tableType="VIRTUAL_VIEW", viewOriginalText=text, viewExpandedText=text))


def in_database(name: str, *outputs: str) -> dict[str, str]:
    """The parameters in which Spark stores the database of a view, and the columns of its query."""
    return {
        "view.catalogAndNamespace.numParts": "2",
        "view.catalogAndNamespace.part.0": "spark_catalog",
        "view.catalogAndNamespace.part.1": name,
        "view.query.out.numCols": str(len(outputs)),
        **{f"view.query.out.col.{at}": column for at, column in enumerate(outputs)},
    }


# Views


def test_a_view_is_read_at_the_snapshot_of_the_statement(shop: Shop) -> None:
    text = "SELECT o.*, who FROM orders o LEFT JOIN customers c ON c.id = o.id WHERE n > 10"
    columns = {"nr": "int", "name": "string", "n": "bigint", "customer": "string"}
    create_view(shop, "big", text, columns, **in_database(shop.database, "id", "name", "n", "who"))
    create_view(shop, "bigger", "SELECT * FROM big WHERE n > 20", columns, **in_database(shop.database))
    shop.spark.sql("USE default")
    db = shop.database
    try:
        assert shop.sql(f"SELECT * FROM {db}.big") == [(2, "b", 20, None), (3, "c", 30, "bob")]
        found = shop.sql(f"SELECT b.nr, {db}.bigger.customer FROM {db}.big b JOIN {db}.bigger USING (nr)")
        assert found == [(3, "bob")]
        assert shop.sql(f"SELECT count(*) FROM {db}.big, {db}.orders o WHERE o.id = nr") == [(2,)]
        frame = shop.frame(f"SELECT nr FROM {db}.big")
        shop.sql(f"DELETE FROM {db}.orders WHERE id IN (SELECT nr FROM {db}.bigger)")
        assert rows_of(frame) == [(2,), (3,)]
        assert shop.sql(f"SELECT nr FROM {db}.big") == [(2,)]
        shop.sql(f"INSERT INTO {db}.orders SELECT nr + 10, name, n FROM {db}.big")
    finally:
        shop.spark.sql(f"USE {db}")
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (12, "b", 20)]
    assert [row["viewName"] for row in shop.spark.sql("SHOW VIEWS").collect()] == []


def test_names_in_a_view_are_not_those_of_the_session(shop: Shop) -> None:
    """Temporary views and the current database do not change what a view reads."""
    create_view(shop, "all_orders", "SELECT id FROM orders", {"id": "int"}, **in_database(shop.database, "id"))
    create_view(shop, "of_hive", f"SELECT `orders`.`id` FROM `{shop.database}`.`orders`", {"id": "int"})
    shop.spark.range(7, 8).createOrReplaceTempView("orders")
    shop.spark.range(8, 9).createOrReplaceTempView("all_orders")
    try:
        assert shop.sql("SELECT id FROM orders") == [(7,)] and shop.sql("SELECT id FROM all_orders") == [(8,)]
        assert shop.sql(f"SELECT id FROM {shop.database}.all_orders") == [(1,), (2,), (3,)]
        assert shop.sql("SELECT id FROM of_hive") == [(1,), (2,), (3,)]
    finally:
        shop.spark.catalog.dropTempView("orders")
        shop.spark.catalog.dropTempView("all_orders")


def test_a_view_keeps_its_columns_when_the_table_gets_more(shop: Shop) -> None:
    create_view(shop, "every", "SELECT * FROM items", {"a": "int", "b": "int"}, **in_database(shop.database, "id", "x"))
    create_view(shop, "hives", f"SELECT * FROM {shop.database}.items", {"a": "int", "b": "int"})
    shop.client.add_columns(f"{shop.database}.items", {"y": "string"})
    assert shop.sql("SELECT * FROM every") == [(1, 100), (2, 200)]
    with pytest.raises(InvalidInputException, match="has 3 columns, and the view 2"):
        shop.sql("SELECT * FROM hives")


# Time travel


def test_a_version_is_the_table_after_a_write_id(shop: Shop) -> None:
    shop.sql("UPDATE orders SET n = 0 WHERE id = 1")
    shop.sql("DELETE FROM orders WHERE id = 2")
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40)")
    versions = [shop.sql(f"SELECT id, n FROM orders VERSION AS OF {version}") for version in range(5)]
    assert versions == [
        [],
        [(1, 10), (2, 20), (3, 30)],
        [(1, 0), (2, 20), (3, 30)],
        [(1, 0), (3, 30)],
        [(1, 0), (3, 30), (4, 40)],
    ]
    found = shop.sql("SELECT a.id FROM orders VERSION AS OF '1' AS a LEFT ANTI JOIN orders b ON a.id = b.id")
    assert found == [(2,)]
    assert shop.sql("SELECT count(*) FROM orders VERSION AS OF :v", {"v": 1}) == [(3,)]
    name = f"{shop.database}.orders"
    assert rows_of(acid.read(shop.spark, name, "n > 10", ["id"], shop.client, version=1)) == [(2,), (3,)]
    with pytest.raises(InvalidInputException, match=r"has no version 5: .* the newest is 4"):
        shop.sql("SELECT * FROM orders VERSION AS OF 5")
    shop.sql("INSERT OVERWRITE orders SELECT * FROM orders VERSION AS OF 1")
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (3, "c", 30)]


def test_a_minor_compaction_keeps_all_versions(shop: Shop) -> None:
    name = f"{shop.database}.orders"
    shop.sql("UPDATE orders SET n = 0 WHERE id = 1")
    shop.sql("DELETE FROM orders WHERE id = 2")
    compact(shop, name, CompactionKind.MINOR)
    assert [len(shop.sql(f"SELECT * FROM orders VERSION AS OF {version}")) for version in (1, 2, 3)] == [3, 3, 2]
    assert shop.sql("SELECT n FROM orders VERSION AS OF 1 WHERE id = 1") == [(10,)]


def compact(shop: Shop, name: str, kind: CompactionKind) -> None:
    request(shop.client, table_name(name), None, kind, worker_id())
    done = work(shop.spark, shop.client, "test-1")
    assert done is not None and done.outcome == "compacted"


def test_a_version_before_a_base_is_refused(shop: Shop) -> None:
    name = f"{shop.database}.orders"
    shop.sql("UPDATE orders SET n = 0 WHERE id = 1")
    compact(shop, name, CompactionKind.MAJOR)
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40)")
    assert len(shop.sql("SELECT * FROM orders VERSION AS OF 2")) == 3
    with pytest.raises(InvalidInputException, match=r"at version 1: base_0000002.* which the cleaner removes"):
        shop.sql("SELECT * FROM orders VERSION AS OF 1")
    shop.sql("INSERT OVERWRITE items SELECT 1, 1")
    with pytest.raises(InvalidInputException, match=r"at version 1: base_0000002 in"):
        shop.sql("SELECT * FROM items VERSION AS OF 1")
    assert shop.sql("SELECT * FROM items VERSION AS OF 2") == [(1, 1)]


def test_an_aborted_overwrite_hides_no_version(shop: Shop) -> None:
    name = f"{shop.database}.items"
    with pytest.raises(ZeroDivisionError), acid.transaction(shop.spark, shop.client) as transaction:
        transaction.insert_overwrite(name, shop.spark.sql("SELECT 1 AS id"))
        raise ZeroDivisionError
    assert len(shop.sql("SELECT * FROM items VERSION AS OF 1")) == 2


def test_versions_of_partitions_and_of_insert_only_tables(shop: Shop) -> None:
    shop.warehouse.create("log", {"id": "int"}, keys={"day": "int"}, properties=INSERT_ONLY)
    for id in (1, 2, 3):
        shop.sql(f"INSERT INTO log VALUES ({id}, {id % 2})")
    assert shop.sql("SELECT id FROM log VERSION AS OF 2") == [(1,), (2,)]
    shop.sql("INSERT OVERWRITE log PARTITION (day = 1) SELECT 9")
    assert shop.sql("SELECT id FROM log") == [(2,), (9,)]
    with pytest.raises(InvalidInputException, match=r"base_0000004 in .*day=1 has replaced"):
        shop.sql("SELECT id FROM log VERSION AS OF 2")
