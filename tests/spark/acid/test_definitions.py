"""Statements on an ACID table as a whole: TRUNCATE, DROP PARTITION, RENAME, CREATE TABLE AS, default values."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import metastored
from metastored.errors import (
    AlreadyExistsException,
    CommitUnknown,
    InvalidInputException,
    LockFailed,
    TableNotFound,
)
from metastored.spark import acid
from metastored.wire.generated.common import SQLDefaultConstraint
from metastored.wire.generated.constraints import AddDefaultConstraintRequest
from tests.spark.acid.conftest import INSERT_ONLY, Shop, Warehouse, WrittenOnce, new_warehouse, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def days(shop: Shop, written_once: WrittenOnce) -> Shop:
    """With a table of four partitions."""
    shop.warehouse.create("days", {"id": "int"}, keys={"day": "date", "h": "int"})
    with written_once.statements("days"):
        shop.sql(
            "INSERT INTO days VALUES (1, date'2026-01-01', 1), (2, date'2026-01-01', 2), (3, date'2026-01-02', 1), "
            "(4, date'2026-01-02', NULL)"
        )
    return shop


def ids(shop: Shop, table: str = "days") -> list[int]:
    return [row[0] for row in shop.sql(f"SELECT id FROM {table}")]


# TRUNCATE


def test_truncate_removes_all_rows_in_a_transaction(shop: Shop) -> None:
    assert shop.frame("TRUNCATE TABLE orders").columns == []
    assert shop.orders == []
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40)")
    assert shop.orders == [(4, "d", 40)]


def test_truncate_empties_the_partitions_that_have_the_values(days: Shop) -> None:
    days.sql("TRUNCATE TABLE days PARTITION (day = '2026-01-01', h = 01)")
    assert ids(days) == [2, 3, 4]
    days.sql("TRUNCATE TABLE days PARTITION (h = NULL)")
    assert ids(days) == [2, 3]
    days.sql("TRUNCATE TABLE days PARTITION (day = date'2026-01-02')")
    assert ids(days) == [2]
    with pytest.raises(InvalidInputException, match=r"has no partition \(day = '2030-01-01'\)"):
        days.sql("TRUNCATE TABLE days PARTITION (day = '2030-01-01')")
    with pytest.raises(InvalidInputException, match="has no partition keys x"):
        days.sql("TRUNCATE TABLE days PARTITION (x = 1)")
    days.sql("TRUNCATE TABLE days")
    assert ids(days) == [] and len(days.client.partition_names(f"{days.database}.days")) == 4


def test_truncate_of_an_insert_only_table(shop: Shop) -> None:
    shop.warehouse.create("log", {"id": "int"}, properties=INSERT_ONLY)
    shop.sql("INSERT INTO log VALUES (1)")
    shop.sql("TRUNCATE TABLE log")
    assert shop.sql("SELECT * FROM log") == []


def test_truncate_is_a_part_of_a_transaction(shop: Shop) -> None:
    name = f"{shop.database}.orders"
    with pytest.raises(ZeroDivisionError), acid.transaction(shop.spark, shop.client) as transaction:
        transaction.truncate(name)
        raise ZeroDivisionError
    assert len(shop.orders) == 3
    acid.truncate(shop.spark, name, client=shop.client)
    assert shop.orders == []


def test_truncate_on_every_metastore(each_spark_warehouse: Warehouse, spark: Any) -> None:
    client = each_spark_warehouse.client
    if client.capabilities.version() < (3, 0):
        pytest.skip("Hive before 3.0 has no write ids")
    name = each_spark_warehouse.create("t", {"id": "int"}, keys={"k": "int"})
    rows = spark.createDataFrame([(1, 1), (2, 2)], "id int, k int")
    acid.insert(spark, name, rows, client=client)
    acid.truncate(spark, name, ["k=1"], client=client)
    assert rows_of(acid.read(spark, name, client=client)) == [(2, 2)]
    acid.insert(spark, name, rows, client=client)
    acid.truncate(spark, name, client=client)
    assert rows_of(acid.read(spark, name, client=client)) == []


@pytest.mark.parametrize("server", ["metastored 3.1", "metastored 4.0", "metastored 4.2"])
def test_truncate_beside_other_writers(metastores: Callable[[str], str], spark: Any, server: str) -> None:
    """Rows of an insert are there, or were removed by a truncate after it; and none is there twice."""
    with metastored.connect(metastores(server), user="ann") as client, new_warehouse(client) as warehouse:
        name = warehouse.create("t", {"id": "int"})
        failed: list[BaseException] = []

        def insert() -> None:
            try:
                for id in range(3):
                    frame = spark.range(id, id + 1).selectExpr("cast(id as int) id")
                    acid.insert(spark, name, frame, client=client, retries=20)
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=insert)
        thread.start()
        for _ in range(2):
            acid.truncate(spark, name, client=client, retries=20)
        thread.join()
        assert failed == []
        acid.insert(spark, name, spark.createDataFrame([(9,)], "id int"), client=client)
        found = [row[0] for row in rows_of(acid.read(spark, name, client=client))]
        assert 9 in found and len(found) == len(set(found))


def test_readers_at_older_snapshots_see_the_rows_where_locks_allow_it(
    metastores: Callable[[str], str], spark: Any
) -> None:
    with metastored.connect(metastores("metastored 4.2"), user="ann") as client, new_warehouse(client) as warehouse:
        name = warehouse.create("t", {"id": "int"})
        acid.insert(spark, name, spark.createDataFrame([(1,)], "id int"), client=client)
        before = acid.read(spark, name, client=client)
        acid.truncate(spark, name, client=client)
        assert rows_of(before) == [(1,)] and rows_of(acid.read(spark, name, client=client)) == []


# Partitions


def test_partitions_are_dropped_by_some_or_all_of_their_values(days: Shop) -> None:
    name = f"{days.database}.days"
    days.sql("ALTER TABLE days DROP PARTITION (day = '2026-01-01', h = 2)")
    assert ids(days) == [1, 3, 4]
    with pytest.raises(InvalidInputException, match="has no partition"):
        days.sql("ALTER TABLE days DROP PARTITION (day = '2026-01-02'), PARTITION (h = 77)")
    assert ids(days) == [1, 3, 4]
    days.sql("ALTER TABLE days DROP IF EXISTS PARTITION (day = '2026-01-02'), PARTITION (h = 77)")
    assert ids(days) == [1]
    assert days.client.partition_names(name) == ("day=2026-01-01/h=1",)
    assert not (days.warehouse.path(name) / "day=2026-01-02").exists() or not list(
        (days.warehouse.path(name) / "day=2026-01-02").rglob("bucket_*")
    )
    days.sql("INSERT INTO days VALUES (5, date'2026-01-02', 1)")
    assert ids(days) == [1, 5]


def test_a_partition_is_renamed_with_its_rows(days: Shop) -> None:
    days.sql("ALTER TABLE days PARTITION (day = '2026-01-01', h = 2) RENAME TO PARTITION (day = '2026-02-02', h = '7')")
    found = days.sql("SELECT id, string(day), h FROM days WHERE id = 2")
    assert found == [(2, "2026-02-02", 7)]
    days.sql("UPDATE days SET id = 20 WHERE h = 7")
    assert ids(days) == [1, 3, 4, 20]
    with pytest.raises(InvalidInputException, match="has values of day, h"):
        days.sql("ALTER TABLE days PARTITION (h = 1) RENAME TO PARTITION (h = 3)")


def test_a_drop_waits_for_transactions_that_use_the_table(days: Shop) -> None:
    name = f"{days.database}.days"
    with acid.transaction(days.spark, days.client) as transaction:
        transaction.delete(name, "id = 1")
        for statement in (
            "ALTER TABLE days DROP PARTITION (day = '2026-01-01')",
            "ALTER TABLE days RENAME TO other",
            "ALTER TABLE days PARTITION (day = '2026-01-01', h = 2) RENAME TO PARTITION (day = '2026-01-01', h = 3)",
        ):
            with pytest.raises(LockFailed):
                days.sql(statement, timeout=0.2)
    assert ids(days) == [2, 3, 4]


def test_values_of_partitions_can_have_any_signs(shop: Shop) -> None:
    shop.warehouse.create("people", {"id": "int"}, keys={"name": "string"})
    for at, name in enumerate(["O'Brien", "a=b/c", "x`y", "--", "ü %"]):
        shop.sql("INSERT INTO people VALUES (:id, :name)", {"id": at, "name": name})
        assert shop.sql("SELECT name FROM people WHERE name = :name", {"name": name}) == [(name,)]
        shop.sql("TRUNCATE TABLE people PARTITION (name = :name)", {"name": name})
        assert shop.sql("SELECT * FROM people") == []
        shop.sql("ALTER TABLE people DROP PARTITION (name = :name)", {"name": name})
    assert shop.client.partition_names(f"{shop.database}.people") == ()


# RENAME


def test_a_table_is_renamed_with_its_rows_and_write_ids(shop: Shop) -> None:
    shop.sql("ALTER TABLE orders RENAME TO bills")
    assert ids(shop, "bills") == [1, 2, 3]
    shop.sql("UPDATE bills SET n = 0 WHERE id = 1")
    shop.sql(f"ALTER TABLE bills RENAME TO {shop.database}.orders")
    assert shop.orders == [(1, "a", 0), (2, "b", 20), (3, "c", 30)]


# CREATE TABLE AS


def test_create_table_as_makes_an_acid_table_of_the_rows(shop: Shop) -> None:
    (row,) = shop.frame(
        "CREATE TABLE big STORED AS ORC PARTITIONED BY (name) COMMENT 'the big ones' "
        "TBLPROPERTIES ('transactional' = 'true', 'a' = 'b') AS SELECT * FROM orders WHERE n > :n",
        {"n": 10},
    ).collect()
    assert row.asDict() == {"num_affected_rows": 2, "num_inserted_rows": 2}
    table = shop.client.table(f"{shop.database}.big")
    assert [key.name for key in table.partitionKeys or ()] == ["name"]
    assert (table.parameters or {}).items() >= {"transactional": "true", "a": "b", "comment": "the big ones"}.items()
    shop.sql("UPDATE big SET n = n + 1")
    assert shop.sql("SELECT id, n, name FROM big") == [(2, 21, "b"), (3, 31, "c")]
    shop.sql("CREATE TABLE IF NOT EXISTS big TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x")
    assert len(shop.sql("SELECT * FROM big")) == 2
    with pytest.raises(AlreadyExistsException):
        shop.sql("CREATE TABLE big TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x")
    assert len(shop.sql("SELECT * FROM big")) == 2


@pytest.mark.parametrize(
    "query",
    ["SELECT raise_error('no') AS x FROM orders", "SELECT no_such_column FROM orders", "SELECT 1 AS a, 2 AS a",
     "SELECT NULL AS x"],
)  # fmt: skip
def test_nothing_is_left_if_create_table_as_fails(shop: Shop, query: str) -> None:
    directory = shop.warehouse.path(f"{shop.database}.orders").parent
    before = sorted(path.name for path in directory.iterdir())
    with pytest.raises(Exception):  # noqa: B017
        shop.sql(f"CREATE TABLE failed TBLPROPERTIES ('transactional' = 'true') AS {query}")
    with pytest.raises(TableNotFound):
        shop.client.table(f"{shop.database}.failed")
    assert sorted(path.name for path in directory.iterdir()) == before


def test_a_table_whose_commit_is_unknown_is_not_dropped(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    from metastored.client._sync.locks import Transaction

    commit = Transaction.commit

    def unknown(transaction: Any, *args: Any) -> None:
        commit(transaction, *args)
        raise CommitUnknown("the connection is lost", transaction.id)

    monkeypatch.setattr(Transaction, "commit", unknown)
    with pytest.raises(CommitUnknown):
        shop.sql("CREATE TABLE made TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x", retries=3)
    monkeypatch.undo()
    assert shop.sql("SELECT * FROM made") == [(1,)]


# Default values


def test_default_is_the_value_of_the_constraint_or_null(shop: Shop, client: metastored.Client) -> None:
    constraints = {"name": "'it''s new'", "n": "CAST(7 AS BIGINT)"}
    client.api.add_default_constraint(
        AddDefaultConstraintRequest(
            tuple(
                SQLDefaultConstraint(
                    catName=client.table(f"{shop.database}.orders").catName, table_db=shop.database,
                    table_name="orders", column_name=column, default_value=value, dc_name=f"d_{column}",
                    enable_cstr=True, validate_cstr=False, rely_cstr=False,
                )
                for column, value in constraints.items()
            )
        )
    )  # fmt: skip
    shop.sql("INSERT INTO orders VALUES (4, DEFAULT, 40), (default, 'e', DEFAULT)")
    shop.sql("INSERT INTO orders (id) VALUES (6)")
    shop.sql("INSERT INTO orders (n, id) VALUES (DEFAULT, 7)")
    shop.sql("UPDATE orders SET name = DEFAULT, n = DEFAULT WHERE id = 1")
    shop.sql(
        "MERGE INTO orders o USING (SELECT 2 AS id UNION ALL SELECT 8) s ON o.id = s.id "
        "WHEN MATCHED THEN UPDATE SET n = DEFAULT WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, DEFAULT)"
    )
    assert shop.orders == [
        (None, "e", 7), (1, "it's new", 7), (2, "b", 7), (3, "c", 30), (4, "it's new", 40), (6, "it's new", 7),
        (7, "it's new", 7), (8, "it's new", 7),
    ]  # fmt: skip
