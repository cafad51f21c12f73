"""SQL on ACID tables with Spark: the rows that each statement gives, and statements that are refused.

Each test has a database with the ACID tables `orders` (1 to 3) and `items` (of the orders 1 and 2), and Spark's own
table `customers`; it is the current database.
"""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Callable
from typing import Any

import pytest

import metastored
import metastored.spark
from metastored.errors import AcidStatementError, AcidTableError, InvalidInputException, InvalidOperationException
from metastored.spark import acid
from metastored.spark.acid.compaction.queue import entries
from metastored.spark.acid.sql.guard import guarded
from metastored.testing import RunningServer
from tests.spark.acid.conftest import INSERT_ONLY, Shop, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]


# Queries


QUERIES = [
    ("SELECT id FROM orders", [(1,), (2,), (3,)]),
    ("SELECT ID FROM ORDERS WHERE `name` = 'b' -- the second", [(2,)]),
    ("SELECT o.id, x, who FROM orders o JOIN items USING (id) LEFT JOIN customers c ON c.id = o.id",
     [(1, 100, "ann"), (2, 200, None)]),
    ("SELECT orders.id FROM orders WHERE id IN (SELECT id FROM items) AND EXISTS "
     "(SELECT 1 FROM customers c WHERE c.id = orders.id)", [(1,)]),
    ("WITH orders AS (SELECT id FROM orders WHERE n > 10) SELECT count(*) FROM orders", [(2,)]),
    ("SELECT max(x), (SELECT sum(n) FROM orders) FROM items", [(200, 60)]),
    ("SELECT id FROM orders EXCEPT SELECT id FROM items UNION ALL SELECT id FROM customers WHERE id = 1",
     [(1,), (3,)]),
    ("SELECT a.id, b.id FROM orders a, orders b WHERE a.id < b.id AND b.id < 3", [(1, 2)]),
    ("FROM orders SELECT sum(n)", [(60,)]),
    ("SELECT id FROM orders TABLESAMPLE (100 PERCENT) WHERE orders.id = 1", [(1,)]),
    ("SELECT /*+ BROADCAST(items) */ n FROM orders JOIN items ON orders.id = items.id", [(10,), (20,)]),
    ("SELECT count(*) FROM customers", [(2,)]),
]  # fmt: skip


def test_a_query_reads_acid_and_other_tables_in_one_statement(shop: Shop) -> None:
    for statement, expected in QUERIES:
        assert shop.sql(statement) == expected, statement


def test_a_query_names_tables_with_their_database(shop: Shop) -> None:
    db = shop.database
    assert shop.sql(f"SELECT {db}.orders.id FROM {db}.orders WHERE {db.upper()}.Orders.n = 20") == [(2,)]
    assert shop.sql(f"SELECT id FROM spark_catalog.{db}.`orders` WHERE id = 1") == [(1,)]


def test_a_query_is_lazy_and_stays_at_its_snapshot(shop: Shop) -> None:
    frame = shop.frame("SELECT id FROM orders")
    filtered = frame.where("id > 1")
    shop.sql("DELETE FROM orders")
    assert rows_of(filtered) == [(2,), (3,)]
    assert shop.orders == []


def test_a_query_leaves_no_views_in_the_session(shop: Shop) -> None:
    frame = shop.frame("SELECT * FROM orders JOIN items USING (id)")
    assert frame.count() == 2
    assert [row["viewName"] for row in shop.spark.sql("SHOW VIEWS").collect()] == []


def test_the_transaction_of_a_query_ends_when_its_result_is_not_referenced_any_more(shop: Shop) -> None:
    def opened() -> int:
        return len([each for each in shop.client.api.get_open_txns_info().open_txns or () if each.state == 3])

    gc.collect()
    before = opened()
    frame = shop.frame("SELECT id FROM orders")
    assert opened() > before
    del frame
    for _ in range(100):
        gc.collect()
        if opened() <= before:
            break
        time.sleep(0.1)
    assert opened() <= before


def test_rows_of_acid_tables_are_written_to_other_tables(shop: Shop) -> None:
    shop.sql("CREATE TABLE copied USING parquet AS SELECT id, n FROM orders WHERE id < 3")
    shop.sql("INSERT INTO copied SELECT id, x FROM items WHERE id = 2")
    assert shop.sql("SELECT * FROM copied") == [(1, 10), (2, 20), (2, 200)]


def test_explain_shows_the_plan_at_the_snapshot(shop: Shop) -> None:
    ((text,),) = shop.sql("EXPLAIN SELECT id FROM orders")
    assert "Physical Plan" in text and "Scan orc" in text


# INSERT


def test_an_insert_adds_rows_by_position_by_column_and_by_name(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40)")
    shop.sql("INSERT INTO orders (n, id) SELECT x, id + 4 FROM items WHERE id = 1")
    shop.sql("INSERT INTO orders BY NAME SELECT 'f' AS name, 6 AS id")
    assert shop.orders[3:] == [(4, "d", 40), (5, None, 100), (6, "f", None)]
    with pytest.raises(InvalidInputException, match=r"the query has 1 column; INSERT INTO .* expects 3: id, name, n"):
        shop.sql("INSERT INTO orders SELECT 1")


def test_an_overwrite_can_read_the_table_it_replaces(shop: Shop) -> None:
    shop.sql("INSERT OVERWRITE orders SELECT id, upper(name), n FROM orders WHERE id < 3")
    assert shop.orders == [(1, "A", 10), (2, "B", 20)]


def test_partitions_are_static_or_dynamic(shop: Shop) -> None:
    shop.warehouse.create("days", {"id": "int"}, keys={"day": "date", "h": "int"})
    shop.sql("INSERT INTO days PARTITION (day = '2026-01-01', h) SELECT id, id FROM orders WHERE id < 3")
    shop.sql("INSERT INTO days PARTITION (day = date'2026-01-02', h = 7) VALUES (7)")
    shop.sql("INSERT INTO days SELECT 8, date'2026-01-03', 8")
    found = shop.sql("SELECT id, string(day), h FROM days")
    assert found == [(1, "2026-01-01", 1), (2, "2026-01-01", 2), (7, "2026-01-02", 7), (8, "2026-01-03", 8)]
    shop.sql("INSERT OVERWRITE days PARTITION (day = '2026-01-01', h = 1) SELECT 0 WHERE false")
    shop.sql("DELETE FROM days WHERE h = 7")
    assert shop.sql("SELECT id FROM days") == [(2,), (8,)]


def test_an_insert_only_table_has_inserts_and_no_updates(shop: Shop) -> None:
    shop.warehouse.create("log", {"id": "int"}, properties=INSERT_ONLY, format="parquet")
    shop.sql("INSERT INTO log SELECT id FROM orders")
    shop.sql("INSERT OVERWRITE log SELECT id FROM log WHERE id > 1")
    assert shop.sql("SELECT * FROM log") == [(2,), (3,)]
    with pytest.raises(InvalidInputException, match="is insert-only: there is no delete"):
        shop.sql("DELETE FROM log")


# UPDATE and DELETE


def test_an_update_changes_the_rows_of_its_condition(shop: Shop) -> None:
    shop.sql("UPDATE orders o SET n = o.n + 1, name = CASE WHEN id = 1 THEN 'x' ELSE name END WHERE o.id < 3")
    assert shop.orders == [(1, "x", 11), (2, "b", 21), (3, "c", 30)]
    shop.sql("UPDATE orders SET n = NULL")
    assert {row[2] for row in shop.orders} == {None}


def test_conditions_have_subqueries_on_the_same_snapshot(shop: Shop) -> None:
    shop.sql("UPDATE orders SET n = 0 WHERE id IN (SELECT id FROM items) AND id NOT IN (SELECT id FROM customers)")
    assert shop.orders == [(1, "a", 10), (2, "b", 0), (3, "c", 30)]
    shop.sql("DELETE FROM orders WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = orders.id AND i.x = 100)")
    assert [row[0] for row in shop.orders] == [2, 3]
    shop.sql("DELETE FROM orders WHERE n < (SELECT max(n) FROM orders)")
    assert [row[0] for row in shop.orders] == [3]


def test_a_value_can_be_a_subquery(shop: Shop) -> None:
    shop.sql("UPDATE orders SET n = (SELECT max(x) FROM items) WHERE id = 3")
    assert shop.orders[2] == (3, "c", 200)


def test_a_delete_without_a_condition_removes_all_rows(shop: Shop) -> None:
    shop.sql("DELETE FROM orders")
    assert shop.orders == []


# MERGE


def test_a_merge_has_all_its_clauses(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40), (5, 'e', 50)")
    shop.sql("INSERT INTO items VALUES (4, 400), (8, 800), (9, 900)")
    shop.sql(
        """
        MERGE INTO orders AS t USING items AS s ON t.id = s.id
        WHEN MATCHED AND s.x = 100 THEN DELETE
        WHEN MATCHED AND x > 300 THEN UPDATE SET t.n = t.n + x, name = upper(name)
        WHEN MATCHED THEN UPDATE SET n = s.x
        WHEN NOT MATCHED AND s.id = 9 THEN INSERT (id, n) VALUES (s.id, x * 2)
        WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = concat(t.name, '!')
        """
    )
    assert shop.orders == [(2, "b", 200), (3, "c!", 30), (4, "D", 440), (9, None, 1800)]


def test_a_merge_takes_all_columns_of_a_query_by_their_names(shop: Shop) -> None:
    shop.sql(
        "MERGE INTO orders USING (SELECT 'z' AS name, 3 AS id, 0L AS n UNION ALL SELECT 'new', 7, 1L) AS s "
        "ON orders.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (3, "z", 0), (7, "new", 1)]


def test_a_merge_inserts_values_for_all_columns_as_in_hive(shop: Shop) -> None:
    missing = "MERGE INTO orders o USING (SELECT 7 AS id) s ON o.id = s.id WHEN NOT MATCHED THEN"
    shop.sql(f"{missing} INSERT VALUES (s.id, 'g', 70)")
    assert (7, "g", 70) in shop.orders
    with pytest.raises(InvalidInputException, match=r"INSERT has 2 values, and .* 3 columns: id, name, n"):
        shop.sql(f"{missing} INSERT VALUES (s.id, 'h')")


def test_the_source_of_a_merge_has_names_for_its_columns(shop: Shop) -> None:
    shop.sql(
        "MERGE INTO orders t USING (VALUES (1, 'x'), (7, 'y')) s(id, v) ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = v WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.v)"
    )
    assert shop.orders == [(1, "x", 10), (2, "b", 20), (3, "c", 30), (7, "y", None)]


def test_values_can_be_correlated_subqueries(shop: Shop) -> None:
    shop.sql("UPDATE orders o SET n = (SELECT max(x) FROM items i WHERE i.id = o.id), name = upper(name)")
    assert shop.orders == [(1, "A", 100), (2, "B", 200), (3, "C", None)]
    shop.sql(
        "MERGE INTO orders o USING customers c ON o.id = c.id "
        "WHEN MATCHED THEN UPDATE SET n = (SELECT sum(x) FROM items i WHERE i.id <= o.id + c.id)"
    )
    assert shop.orders == [(1, "A", 300), (2, "B", 200), (3, "C", 300)]


MERGES = [
    ("ON o.id = s.id AND s.id IN (SELECT id FROM items)", [(1, -1), (2, -1), (3, 30), (13, 0), (14, 0)]),
    ("ON o.id = s.id AND o.id + s.id IN (SELECT x / 100 + 1 FROM items)", [(1, -1), (2, 20), (3, 30), (12, 0), (13, 0),
                                                                         (14, 0)]),
    ("ON o.id = s.id AND s.id > (SELECT min(i.id) FROM items i WHERE i.id <= o.id)",
     [(1, 10), (2, -1), (3, -1), (11, 0), (14, 0)]),
    ("ON o.id = s.id AND EXISTS (SELECT 1 FROM items i WHERE i.id = o.id AND i.x > s.id * 50)",
     [(1, -1), (2, -1), (3, 30), (13, 0), (14, 0)]),
]  # fmt: skip


def test_the_condition_of_a_merge_can_have_subqueries(shop: Shop) -> None:
    for on, expected in MERGES:
        shop.sql("INSERT OVERWRITE orders VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30)")
        shop.sql(
            f"MERGE INTO orders o USING (SELECT id FROM VALUES (1), (2), (3), (4) AS v(id)) s {on} "
            "WHEN MATCHED THEN UPDATE SET n = -1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id + 10, 0)"
        )
        assert shop.sql("SELECT id, n FROM orders") == expected, on


def test_rows_that_are_not_in_the_source_are_found_by_a_condition_with_a_subquery(shop: Shop) -> None:
    shop.sql(
        "MERGE INTO orders o USING customers c ON o.id = c.id AND o.n < (SELECT max(x) FROM items i WHERE i.id = o.id) "
        "WHEN MATCHED AND c.who IN (SELECT who FROM customers) THEN UPDATE SET name = c.who "
        "WHEN NOT MATCHED BY SOURCE AND o.id NOT IN (SELECT id FROM items) THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0"
    )
    assert shop.orders == [(1, "ann", 10), (2, "b", 0)]


def test_clauses_of_a_merge_can_have_subqueries(shop: Shop) -> None:
    shop.sql(
        "MERGE INTO orders o USING items i ON o.id = i.id "
        "WHEN MATCHED AND o.id IN (SELECT id FROM customers) THEN UPDATE SET n = -1 "
        "WHEN MATCHED AND NOT EXISTS (SELECT 1 FROM customers c WHERE c.id = i.id) THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE AND o.id IN (SELECT max(id) FROM customers) THEN UPDATE SET n = -3"
    )
    assert shop.orders == [(1, "a", -1), (3, "c", -3)]


def test_inserts_after_from_are_one_transaction(shop: Shop) -> None:
    shop.sql("FROM customers c INSERT INTO orders SELECT c.id + 10, c.who, NULL WHERE c.id = 1")
    assert shop.orders[3:] == [(11, "ann", None)]
    (row,) = shop.frame(
        "FROM items INSERT INTO items SELECT id + 10, x INSERT INTO orders (id, n) SELECT id + 20, count(*) GROUP BY id"
    ).collect()
    assert row.asDict() == {"num_affected_rows": 4, "num_inserted_rows": 4}
    assert shop.sql("SELECT id FROM items") == [(1,), (2,), (11,), (12,)]
    assert [row[0] for row in shop.orders[4:]] == [21, 22]
    before = shop.orders
    with pytest.raises(Exception, match="no luck"):
        shop.sql("FROM items INSERT INTO orders (id) SELECT 99 INSERT INTO items SELECT id, raise_error('no luck')")
    assert shop.orders == before


def test_a_merge_reads_other_tables_and_a_with_clause(shop: Shop) -> None:
    shop.sql("MERGE INTO orders o USING customers c ON o.id = c.id WHEN MATCHED THEN UPDATE SET name = who")
    assert shop.orders == [(1, "ann", 10), (2, "b", 20), (3, "bob", 30)]
    shop.sql(
        "WITH old AS (SELECT id FROM orders WHERE n < 15) "
        "MERGE INTO orders o USING old ON o.id = old.id WHEN MATCHED THEN DELETE"
    )
    assert [row[0] for row in shop.orders] == [2, 3]


def test_a_row_that_would_be_changed_twice_is_an_error_and_changes_nothing(shop: Shop) -> None:
    shop.sql("INSERT INTO items VALUES (1, 101)")
    with pytest.raises(InvalidOperationException, match="matches more than one row"):
        shop.sql("MERGE INTO orders o USING items i ON o.id = i.id WHEN MATCHED THEN UPDATE SET n = i.x")
    assert shop.orders[0] == (1, "a", 10)


def test_a_column_of_both_sides_has_to_be_qualified(shop: Shop) -> None:
    with pytest.raises(InvalidInputException, match="id is a column of the target and of the source"):
        shop.sql("MERGE INTO orders o USING items i ON o.id = i.id WHEN MATCHED THEN UPDATE SET n = id")


def test_alter_table_compact_puts_a_compaction_into_the_queue(shop: Shop) -> None:
    shop.warehouse.create("days", {"id": "int"}, keys={"day": "date"})
    shop.sql("ALTER TABLE orders COMPACT 'major'")
    shop.sql("ALTER TABLE days PARTITION (day = '2026-01-01') COMPACT 'minor'")
    queue = [each for each in entries(shop.client) if each.table.database == shop.database]
    assert [(each.table.table, each.partition, each.kind) for each in queue] == [
        ("orders", None, "major"),
        ("days", "day=2026-01-01", "minor"),
    ]
    for each in queue:
        shop.client.api.mark_failed(each.info)


# Statements that are refused, and plain statements


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("LOAD DATA INPATH '/x' INTO TABLE orders", "LOAD DATA is not supported"),
        ("SELECT * FROM orders TIMESTAMP AS OF '2026-01-01'", "does not store when"),
        ("CREATE TEMP VIEW v AS SELECT * FROM orders", "metastored.spark.acid.view makes"),
        ("SELECT * FROM orders WHERE", "column"),
        ("UPDATE orders SET place.x = 1", "is not a column of the table"),
    ],
)
def test_a_statement_that_cannot_be_carried_out_is_refused(shop: Shop, statement: str, reason: str) -> None:
    with pytest.raises(AcidStatementError, match=reason):
        shop.sql(statement)
    assert len(shop.orders) == 3


def test_a_guarded_session_refuses_plain_statements_on_acid_tables(shop: Shop, server: RunningServer) -> None:
    session: Any = guarded(copy.copy(shop.spark), lambda: metastored.connect(server.uri, cache=False))
    name = f"{shop.database}.orders"
    plain: list[Callable[[], Any]] = [
        lambda: session.sql("SELECT * FROM orders"),
        lambda: session.sql("INSERT INTO orders VALUES (1, 'a', 1)"),
        lambda: session.sql("TRUNCATE TABLE orders"),
        lambda: session.sql("ALTER TABLE orders RENAME TO bills"),
        lambda: session.sql("ALTER TABLE orders DROP PARTITION (day = 1)"),
        lambda: session.sql("CREATE TABLE n TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x"),
        lambda: session.table("orders"),
        lambda: session.read.table(name),
        lambda: session.readStream.table(name),
        lambda: session.catalog.cacheTable(name),
        lambda: session.catalog.cacheTable(tableName="orders"),
    ]
    for use in plain:
        with pytest.raises(AcidTableError, match=r"metastored\.spark\.sql"):
            use()
    assert session.sql("SELECT count(*) FROM customers").collect()[0][0] == 2
    session.catalog.cacheTable("customers")
    assert session.catalog.isCached("customers")
    session.catalog.uncacheTable("customers")
    assert session.table("customers").count() == 2 and session.read.table("customers").count() == 2
    found = metastored.spark.sql(session, "SELECT count(*) FROM orders", client=shop.client)
    assert found.collect()[0][0] == 3
    assert shop.spark.sql("SELECT 1").collect()[0][0] == 1
    another = session.newSession()
    assert another.sql("SELECT 1").collect()[0][0] == 1
    with pytest.raises(AcidTableError):
        another.table(name)


@pytest.mark.parametrize("name", ["O'Brien", "a\\b", 'say "x"'])
def test_a_condition_on_a_key_means_what_spark_makes_of_it(shop: Shop, name: str) -> None:
    people = shop.warehouse.create("people", {"id": "int"}, keys={"name": "string"})
    frame = shop.spark.createDataFrame([(1, name), (2, "other")], "id int, name string")
    acid.insert(shop.spark, people, frame, client=shop.client)
    literal = name.replace("\\", "\\\\").replace("'", "''")
    condition = f"name = '{literal}' AND log10(id * 100) = 2"
    assert shop.sql(f"SELECT id FROM people WHERE {condition}") == [(1,)]
    shop.sql(f"DELETE FROM people WHERE {condition}")
    assert shop.sql("SELECT id, name FROM people") == [(2, "other")]
