"""Plans of statements on ACID tables: each kind of statement, each clause, and what is refused. Without Spark.

The ACID tables are `shop.orders`, `shop.items` and `shop.My Orders`; the view `shop.open_orders` reads the first one,
and was created in the database `archive`. `shop` is the current database. `shop.points` is a Lance table.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import pytest

from metastored.errors import StatementError
from metastored.model.names import TableName
from metastored.spark.acid.sql.indirection import CannotEvaluate
from metastored.spark.acid.sql.planning import plan
from metastored.spark.acid.sql.tables import Definition, Found, Parts
from metastored.spark.acid.sql.values import (
    Assignment,
    Clause,
    Compact,
    CreateAs,
    Delete,
    DropPartitions,
    Insert,
    Inserts,
    Merge,
    Passed,
    Plan,
    Query,
    RenamePartition,
    RenameTable,
    Sql,
    Stored,
    Truncate,
    Unqualified,
    Update,
    View,
)
from tests.spark.acid.sql.refused import MERGE, MISTAKES, REFUSED

ORDERS, ITEMS, MINE, OPEN = (TableName("", "shop", name) for name in ("orders", "items", "my orders", "open_orders"))
POINTS = TableName("", "shop", "points")
VIEW = Definition(
    OPEN, "SELECT o.*, p.who FROM shop.orders o JOIN people p USING (id) JOIN x.y ON true", "archive", "spark_catalog",
    ("id", "who"), ("id", "who"),
)  # fmt: skip
ACID = {"orders": Found(ORDERS), "items": Found(ITEMS), "my orders": Found(MINE), "open_orders": Found(ORDERS, VIEW)}
ACID["points"] = Found(POINTS, lance=True)
FIRST, SECOND = View("acid_0", ORDERS), View("acid_1", ITEMS)


def lookup(names: Set[Parts]) -> Mapping[Parts, Found]:
    return {
        parts: ACID[parts[-1]]
        for parts in names
        if parts[-1] in ACID and parts[:-1] in ((), ("shop",), ("spark_catalog", "shop"))
    }


def planned(text: str) -> Plan:
    return plan(text, lookup)


def query(text: str, *views: View) -> Query:
    return Query(Sql(text, views), command=False)


# Statements that Spark executes


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM customers",
        "SELECT orders FROM customers",
        "SELECT * FROM other.orders",
        "SELECT * FROM iceberg.shop.orders",
        "SELECT 'orders' AS x, \"items\" -- FROM orders",
        "SELECT /* orders */ 1",
        "WITH orders AS (SELECT 1 AS id) SELECT * FROM orders",
        "WITH RECURSIVE items AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM items WHERE n < 3) SELECT * FROM items",
        "VALUES (1, 2)",
        "INSERT INTO customers SELECT 1",
        "UPDATE customers SET x = 1",
        "DELETE FROM customers",
        "MERGE INTO customers USING people ON true WHEN MATCHED THEN DELETE",
        "CREATE TABLE new AS SELECT 1 AS x",
        "CREATE TABLE new (x INT) TBLPROPERTIES ('transactional' = 'true')",
        "CREATE VIEW v AS SELECT * FROM customers",
        "CREATE TABLE new LIKE orders",
        "CREATE FUNCTION f AS 'org.example.F'",
        "DESCRIBE orders",
        "DESCRIBE FORMATTED shop.orders",
        "SHOW PARTITIONS orders",
        "SHOW CREATE TABLE orders",
        "DROP TABLE orders",
        "ALTER TABLE orders ADD COLUMNS (x INT)",
        "ALTER TABLE orders SET TBLPROPERTIES ('a' = 'b')",
        "CREATE OR REPLACE VIEW v (a) AS SELECT id FROM open_orders",
        "CREATE VIEW w AS SELECT * FROM orders",
        "ALTER VIEW v AS SELECT * FROM orders",
        "ALTER TABLE customers DROP COLUMN x",
        "ALTER TABLE customers DROP PARTITION (day = 1)",
        "ALTER TABLE customers RENAME TO people",
        "TRUNCATE TABLE customers",
        "REFRESH TABLE orders",
        "COMMENT ON TABLE orders IS 'x'",
        "USE shop",
        "SET spark.sql.shuffle.partitions = 2",
        "EXPLAIN SELECT * FROM customers",
        "EXPLAIN",
        "this is not a statement",
        "SELEC * FROM customers",
        "SELECT * FROM customers; SELECT 1",
        "EXECUTE IMMEDIATE 'SELECT 1'",
        "EXECUTE IMMEDIATE 'SELECT * FROM customers WHERE id = ?' INTO x USING 1",
        "SELECT execute immediate FROM customers",
        "BEGIN EXECUTE IMMEDIATE 'SELECT 1'; END",
        "SELECT IDENTIFIER('id') FROM IDENTIFIER('customers')",
        "SELECT * FROM IDENTIFIER('other.orders')",
        "DROP TABLE IDENTIFIER('shop.orders')",
    ],
)
def test_a_statement_without_rows_of_acid_tables_is_sparks(statement: str) -> None:
    assert planned(statement) == Passed()


# Queries


@pytest.mark.parametrize(
    ("statement", "text", "views"),
    [
        ("SELECT * FROM orders", "SELECT * FROM acid_0 AS orders", [FIRST]),
        ("SELECT * FROM orders;", "SELECT * FROM acid_0 AS orders", [FIRST]),
        ("select * from ORDERS", "select * from acid_0 AS ORDERS", [FIRST]),
        ("SELECT * FROM shop.orders", "SELECT * FROM acid_0 AS orders", [FIRST]),
        ("SELECT * FROM Spark_Catalog.Shop.Orders", "SELECT * FROM acid_0 AS Orders", [FIRST]),
        ("SELECT * FROM `shop`.`orders`", "SELECT * FROM acid_0 AS `orders`", [FIRST]),
        ("SELECT `My Orders`.x FROM `My Orders`", "SELECT `My Orders`.x FROM acid_0 AS `My Orders`",
         [View("acid_0", MINE)]),
        ("SELECT o.id FROM orders o", "SELECT o.id FROM acid_0 o", [FIRST]),
        ("SELECT o.id FROM orders AS o(id)", "SELECT o.id FROM acid_0 AS o(id)", [FIRST]),
        ("SELECT orders.id FROM orders", "SELECT orders.id FROM acid_0 AS orders", [FIRST]),
        ("SELECT shop.orders.id FROM shop.orders", "SELECT orders.id FROM acid_0 AS orders", [FIRST]),
        ("SELECT shop.orders.* FROM shop.orders", "SELECT orders.* FROM acid_0 AS orders", [FIRST]),
        ("SELECT spark_catalog.shop.orders.id FROM orders", "SELECT orders.id FROM acid_0 AS orders", [FIRST]),
        ("SELECT shop.orders.place.city FROM orders", "SELECT orders.place.city FROM acid_0 AS orders", [FIRST]),
        ("SELECT o.items FROM orders o, customers", "SELECT o.items FROM acid_0 o, customers", [FIRST]),
        ("SELECT * FROM orders a JOIN items b ON a.id = b.id JOIN customers c USING (id)",
         "SELECT * FROM acid_0 a JOIN acid_1 b ON a.id = b.id JOIN customers c USING (id)", [FIRST, SECOND]),
        ("SELECT * FROM orders a, orders b WHERE a.id < b.id",
         "SELECT * FROM acid_0 a, acid_0 b WHERE a.id < b.id", [FIRST]),
        ("SELECT * FROM customers WHERE id IN (SELECT id FROM orders)",
         "SELECT * FROM customers WHERE id IN (SELECT id FROM acid_0 AS orders)", [FIRST]),
        ("SELECT (SELECT max(x) FROM orders) AS m", "SELECT (SELECT max(x) FROM acid_0 AS orders) AS m", [FIRST]),
        ("SELECT * FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = c.id)",
         "SELECT * FROM customers c WHERE EXISTS (SELECT 1 FROM acid_0 o WHERE o.id = c.id)", [FIRST]),
        ("SELECT * FROM (SELECT * FROM orders) x", "SELECT * FROM (SELECT * FROM acid_0 AS orders) x", [FIRST]),
        ("SELECT id FROM orders UNION ALL SELECT id FROM items",
         "SELECT id FROM acid_0 AS orders UNION ALL SELECT id FROM acid_1 AS items", [FIRST, SECOND]),
        ("WITH x AS (SELECT * FROM orders) SELECT * FROM x",
         "WITH x AS (SELECT * FROM acid_0 AS orders) SELECT * FROM x", [FIRST]),
        ("WITH orders AS (SELECT * FROM orders) SELECT * FROM orders",
         "WITH orders AS (SELECT * FROM acid_0 AS orders) SELECT * FROM orders", [FIRST]),
        ("WITH a AS (SELECT * FROM items), items AS (SELECT 1) SELECT * FROM a, items",
         "WITH a AS (SELECT * FROM acid_0 AS items), items AS (SELECT 1) SELECT * FROM a, items",
         [View("acid_0", ITEMS)]),
        ("WITH items AS (SELECT 1) SELECT * FROM (SELECT * FROM items, shop.items i)",
         "WITH items AS (SELECT 1) SELECT * FROM (SELECT * FROM items, acid_0 i)", [View("acid_0", ITEMS)]),
        ("SELECT * FROM orders TABLESAMPLE (10 ROWS)", "SELECT * FROM (acid_0 AS orders) TABLESAMPLE (10 ROWS)",
         [FIRST]),
        ("SELECT * FROM orders PIVOT (sum(x) FOR y IN (1, 2))",
         "SELECT * FROM acid_0 AS orders PIVOT (sum(x) FOR y IN (1, 2))", [FIRST]),
        ("SELECT * FROM orders LATERAL VIEW explode(tags) v AS tag",
         "SELECT * FROM acid_0 AS orders LATERAL VIEW explode(tags) v AS tag", [FIRST]),
        ("SELECT /*+ BROADCAST(orders) */ * FROM orders", "SELECT /*+ BROADCAST(orders) */ * FROM acid_0 AS orders",
         [FIRST]),
        ("FROM orders SELECT id", "FROM acid_0 AS orders SELECT id", [FIRST]),
        ("FROM orders |> WHERE id = 1", "FROM acid_0 AS orders |> WHERE id = 1", [FIRST]),
        ("/* one */ SELECT 'é𝄞' AS x, '\\'orders' -- two\nFROM orders -- three\nWHERE a = r'\\d'",
         "SELECT 'é𝄞' AS x, '\\'orders' -- two\nFROM acid_0 AS orders -- three\nWHERE a = r'\\d'", [FIRST]),
        ("EXPLAIN SELECT * FROM orders", "EXPLAIN SELECT * FROM acid_0 AS orders", [FIRST]),
        ("EXPLAIN FORMATTED\nSELECT * FROM orders", "EXPLAIN FORMATTED\nSELECT * FROM acid_0 AS orders", [FIRST]),
    ],
)  # fmt: skip
def test_a_query_has_views_in_the_place_of_acid_tables(statement: str, text: str, views: list[View]) -> None:
    assert planned(statement) == query(text, *views)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("INSERT INTO customers SELECT id FROM orders", "INSERT INTO customers SELECT id FROM acid_0 AS orders"),
        ("INSERT OVERWRITE customers SELECT id FROM orders",
         "INSERT OVERWRITE customers SELECT id FROM acid_0 AS orders"),
        ("CREATE TABLE new USING orc AS SELECT * FROM orders",
         "CREATE TABLE new USING orc AS SELECT * FROM acid_0 AS orders"),
        ("MERGE INTO customers c USING orders o ON c.id = o.id WHEN MATCHED THEN DELETE",
         "MERGE INTO customers c USING acid_0 o ON c.id = o.id WHEN MATCHED THEN DELETE"),
        ("DELETE FROM customers WHERE id IN (SELECT id FROM orders)",
         "DELETE FROM customers WHERE id IN (SELECT id FROM acid_0 AS orders)"),
        ("FROM orders INSERT INTO a SELECT x INSERT INTO b SELECT y",
         "FROM acid_0 AS orders INSERT INTO a SELECT x INSERT INTO b SELECT y"),
    ],
)  # fmt: skip
def test_a_command_that_writes_other_tables_reads_acid_tables_at_a_snapshot(statement: str, text: str) -> None:
    assert planned(statement) == Query(Sql(text, (FIRST,)), command=True)


# INSERT


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO orders VALUES (1, 'a'), (2, 'b')", Insert(ORDERS, Sql("VALUES (1, 'a'), (2, 'b')"))),
        ("INSERT INTO TABLE shop.orders SELECT * FROM customers", Insert(ORDERS, Sql("SELECT * FROM customers"))),
        ("INSERT INTO orders TABLE customers", Insert(ORDERS, Sql("TABLE customers"))),
        ("INSERT INTO orders TABLE items", Insert(ORDERS, Sql("TABLE acid_0", (View("acid_0", ITEMS),)))),
        ("INSERT INTO orders (SELECT 1)", Insert(ORDERS, Sql("(SELECT 1)"))),
        ("INSERT INTO orders (Id, Name) VALUES (1, 'a')",
         Insert(ORDERS, Sql("VALUES (1, 'a')"), columns=("id", "name"))),
        ("INSERT INTO orders BY NAME SELECT 1 AS id", Insert(ORDERS, Sql("SELECT 1 AS id"), by_name=True)),
        ("INSERT INTO orders PARTITION (Day = '2026-01-01', hour) SELECT 1, 2",
         Insert(ORDERS, Sql("SELECT 1, 2"), partition=(("day", "'2026-01-01'"), ("hour", None)))),
        ("INSERT INTO orders PARTITION (day = 1) (id) SELECT 2",
         Insert(ORDERS, Sql("SELECT 2"), columns=("id",), partition=(("day", "1"),))),
        ("INSERT OVERWRITE orders SELECT * FROM orders WHERE id > 1",
         Insert(ORDERS, Sql("SELECT * FROM acid_0 AS orders WHERE id > 1", (FIRST,)), overwrite=True)),
        ("INSERT OVERWRITE TABLE orders PARTITION (day = 1) SELECT 1",
         Insert(ORDERS, Sql("SELECT 1"), overwrite=True, partition=(("day", "1"),))),
        ("WITH x AS (SELECT * FROM items) INSERT INTO orders SELECT * FROM x",
         Insert(ORDERS, Sql("WITH x AS (SELECT * FROM acid_0 AS items) SELECT * FROM x", (View("acid_0", ITEMS),)))),
        ("INSERT INTO orders WITH x AS (SELECT 1) SELECT * FROM x",
         Insert(ORDERS, Sql("WITH x AS (SELECT 1) SELECT * FROM x"))),
        ("INSERT INTO orders SELECT CASE WHEN a THEN 1 END FROM customers",
         Insert(ORDERS, Sql("SELECT CASE WHEN a THEN 1 END FROM customers"))),
    ],
)  # fmt: skip
def test_an_insert_has_its_query_columns_and_partition(statement: str, expected: Insert) -> None:
    assert planned(statement) == expected


# UPDATE and DELETE


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE orders SET x = 1", Update(ORDERS, (Assignment("x", Sql("1")),))),
        ("UPDATE shop.orders AS o SET o.X = o.x + 1, y = upper('a,b') WHERE o.id = 3 AND y IS NULL",
         Update(ORDERS, (Assignment("x", Sql("x + 1")), Assignment("y", Sql("upper('a,b')"))),
                Sql("id = 3 AND y IS NULL"))),
        ("UPDATE orders SET orders.x = shop.orders.y WHERE spark_catalog.shop.orders.place.city = 'a'",
         Update(ORDERS, (Assignment("x", Sql("y")),), Sql("place.city = 'a'"))),
        ("UPDATE orders SET x = (SELECT max(n) FROM items), y = DEFAULT_VALUE WHERE id IN (SELECT id FROM items i)",
         Update(ORDERS,
                (Assignment("x", Sql("(SELECT max(n) FROM acid_0 AS items)", (View("acid_0", ITEMS),))),
                 Assignment("y", Sql("DEFAULT_VALUE"))),
                Sql("id IN (SELECT id FROM acid_0 i)", (View("acid_0", ITEMS),)))),
        ("UPDATE orders SET x = CASE WHEN a = 1 THEN 2 ELSE 3 END, `a b` = 4 -- all\nWHERE /* some */ true",
         Update(ORDERS,
                (Assignment("x", Sql("CASE WHEN a = 1 THEN 2 ELSE 3 END")), Assignment("a b", Sql("4"))),
                Sql("true"))),
        ("UPDATE `shop`.`Orders` SET x = `orders`.`x`", Update(ORDERS, (Assignment("x", Sql("`x`")),))),
    ],
)  # fmt: skip
def test_an_update_has_its_assignments_and_its_condition(statement: str, expected: Update) -> None:
    assert planned(statement) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("DELETE FROM orders", Delete(ORDERS)),
        ("DELETE FROM shop.orders o WHERE o.id BETWEEN 1 AND 3", Delete(ORDERS, Sql("id BETWEEN 1 AND 3"))),
        ("DELETE FROM orders WHERE id NOT IN (SELECT id FROM orders WHERE x)",
         Delete(ORDERS, Sql("id NOT IN (SELECT id FROM acid_0 AS orders WHERE x)", (FIRST,)))),
        ("DELETE FROM orders WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = orders.id)",
         Delete(ORDERS, Sql("EXISTS (SELECT 1 FROM acid_0 i WHERE i.id = target.id)", (View("acid_0", ITEMS),)))),
        ("DELETE FROM orders WHERE EXISTS (SELECT 1 FROM items orders WHERE orders.id = 1) AND orders.x",
         Delete(ORDERS, Sql("EXISTS (SELECT 1 FROM acid_0 orders WHERE orders.id = 1) AND x",
                            (View("acid_0", ITEMS),)))),
        ("DELETE FROM orders o WHERE shop.orders.x AND EXISTS (SELECT 1 FROM shop.orders WHERE shop.orders.x = o.x)",
         Delete(ORDERS, Sql("orders.x AND EXISTS (SELECT 1 FROM acid_0 AS orders WHERE orders.x = target.x)",
                            (FIRST,)))),
        ("DELETE FROM orders WHERE shop.orders.x AND x IN (SELECT shop.orders.x FROM shop.orders)",
         Delete(ORDERS, Sql("x AND x IN (SELECT orders.x FROM acid_0 AS orders)", (FIRST,)))),
    ],
)  # fmt: skip
def test_a_delete_has_its_condition(statement: str, expected: Delete) -> None:
    assert planned(statement) == expected


# MERGE


def test_a_merge_has_all_clauses_in_their_order() -> None:
    found = planned(
        """
        MERGE INTO shop.orders AS t USING items s ON t.id = s.id AND CASE WHEN s.x THEN true END
        WHEN MATCHED AND s.gone THEN DELETE
        WHEN MATCHED AND s.n > 1 THEN UPDATE SET t.x = s.x, y = CASE WHEN s.y THEN 1 ELSE 2 END
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED AND s.id > 0 THEN INSERT (id, t.x) VALUES (s.id, coalesce(s.x, 0))
        WHEN NOT MATCHED BY TARGET THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.old THEN UPDATE SET x = t.x + 1
        WHEN NOT MATCHED BY SOURCE THEN DELETE;
        """
    )
    assert found == Merge(
        ORDERS,
        Sql("SELECT * FROM acid_0 s", (View("acid_0", ITEMS),)),
        Sql("target.id = source.id AND CASE WHEN source.x THEN true END"),
        (
            Clause("delete", Sql("source.gone"), ()),
            Clause(
                "update",
                Sql("source.n > 1"),
                (Assignment("x", Sql("source.x")), Assignment("y", Sql("CASE WHEN source.y THEN 1 ELSE 2 END"))),
            ),
            Clause("update"),
        ),
        (
            Clause(
                "insert",
                Sql("source.id > 0"),
                (Assignment("id", Sql("source.id")), Assignment("x", Sql("coalesce(source.x, 0)"))),
            ),
            Clause("insert"),
        ),
        (
            Clause("update", Sql("target.old"), (Assignment("x", Sql("target.x + 1")),)),
            Clause("delete", None, ()),
        ),
    )


def test_an_insert_of_a_merge_needs_no_columns_as_in_hive() -> None:
    found = planned(
        "MERGE INTO orders o USING items i ON o.id = i.id WHEN NOT MATCHED THEN INSERT VALUES (i.id, 'a, b')"
    )
    assert isinstance(found, Merge)
    assert found.not_matched == (Clause("insert", None, (), (Sql("source.id"), Sql("'a, b'"))),)


def test_columns_of_a_merge_without_a_qualifier_are_noted() -> None:
    found = planned(
        "MERGE INTO orders o USING items i ON o.id = i.id AND a > b.c "
        "WHEN MATCHED THEN UPDATE SET x = x + i.y + (SELECT max(z) FROM customers WHERE z < o.z)"
    )
    assert isinstance(found, Merge) and found.matched[0].assignments is not None
    assert found.condition == Sql("target.id = source.id AND a > b.c", (), (Unqualified(26, "a"), Unqualified(30, "b")))
    text = "x + source.y + (SELECT max(z) FROM customers WHERE z < target.z)"
    assert found.matched[0].assignments[0].expression == Sql(text, (), (Unqualified(0, "x"),))


@pytest.mark.parametrize(
    ("using", "rows", "alias"),
    [
        ("customers", "SELECT * FROM customers", "customers"),
        ("other.customers", "SELECT * FROM other.customers", "other.customers"),
        ("other.customers c", "SELECT * FROM other.customers c", "c"),
        ("(SELECT c.id FROM customers c) AS `C`", "SELECT * FROM (SELECT c.id FROM customers c) AS `C`", "`C`"),
        ("(VALUES (1)) v", "SELECT * FROM (VALUES (1)) v", "v"),
        ("(VALUES (1, 2)) v(id, x)", "SELECT * FROM (VALUES (1, 2)) v(id, x)", "v"),
        ("VALUES (1, 2) AS v(id, x)", "SELECT * FROM VALUES (1, 2) AS v(id, x)", "v"),
        ("customers AS c(id, x)", "SELECT * FROM customers AS c(id, x)", "c"),
    ],
)
def test_the_source_of_a_merge_is_a_table_or_a_query(using: str, rows: str, alias: str) -> None:
    found = planned(f"MERGE INTO orders USING {using} ON {alias}.id = orders.id WHEN MATCHED THEN DELETE")
    condition = Sql("source.id = target.id")
    assert found == Merge(ORDERS, Sql(rows), condition, (Clause("delete", None, ()),))


def test_the_source_of_a_merge_may_come_from_a_with_clause() -> None:
    found = planned("WITH x AS (SELECT * FROM orders) MERGE INTO orders USING x ON true WHEN MATCHED THEN DELETE")
    assert isinstance(found, Merge)
    assert found.source == Sql("WITH x AS (SELECT * FROM acid_0 AS orders) SELECT * FROM x", (FIRST,))


# ALTER TABLE and TRUNCATE TABLE


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE shop.orders COMPACT 'major'", Compact(ORDERS, "major")),
        ("alter table orders compact 'MINOR';", Compact(ORDERS, "minor")),
        ("ALTER TABLE `My Orders` PARTITION (Day = '2026-01-01', h = 7) COMPACT 'minor' -- now",
         Compact(MINE, "minor", (("day", "'2026-01-01'"), ("h", "7")))),
        ("TRUNCATE TABLE orders", Truncate(ORDERS)),
        ("truncate table shop.orders partition (Day = '2026-01-01');", Truncate(ORDERS, (("day", "'2026-01-01'"),))),
        ("TRUNCATE TABLE IDENTIFIER('orders')", Truncate(ORDERS)),
        ("ALTER TABLE orders DROP PARTITION (day = -1)", DropPartitions(ORDERS, ((("day", "-1"),),))),
        ("ALTER TABLE orders DROP IF EXISTS PARTITION (a = 1, b = 'x, y'), PARTITION (a = date'2026-01-01') PURGE",
         DropPartitions(ORDERS, ((("a", "1"), ("b", "'x, y'")), (("a", "date'2026-01-01'"),)), if_exists=True)),
        ("ALTER TABLE orders PARTITION (day = 1) RENAME TO PARTITION (day = 2)",
         RenamePartition(ORDERS, (("day", "1"),), (("day", "2"),))),
        ("ALTER TABLE orders RENAME TO archive", RenameTable(ORDERS, ("archive",))),
        ("ALTER TABLE shop.orders RENAME TO spark_catalog.shop.`Old Orders`",
         RenameTable(ORDERS, ("shop", "old orders"))),
    ],
)  # fmt: skip
def test_a_statement_on_a_table_as_a_whole_has_its_parts(statement: str, expected: Plan) -> None:
    assert planned(statement) == expected


# CREATE TABLE AS


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TABLE n TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x",
         CreateAs(("n",), Sql("SELECT 1 AS x"), properties=(("transactional", "true"),))),
        ("CREATE TABLE IF NOT EXISTS other.N STORED AS ORC PARTITIONED BY (Y, z) CLUSTERED BY (x) INTO 4 BUCKETS "
         "COMMENT 'new' TBLPROPERTIES ('transactional' = 'TRUE', 'a' = 'b') AS (SELECT * FROM orders AS o)",
         CreateAs(("other", "n"), Sql("(SELECT * FROM acid_0 AS o)", (FIRST,)), True, "orc", ("y", "z"),
                  (("x",), 4), (("transactional", "TRUE"), ("a", "b")), "new")),
        ("CREATE TABLE n USING orc TBLPROPERTIES ('transactional' = 'true') AS WITH o AS (SELECT * FROM orders) "
         "SELECT * FROM o",
         CreateAs(("n",), Sql("WITH o AS (SELECT * FROM acid_0 AS orders) SELECT * FROM o", (FIRST,)),
                  properties=(("transactional", "true"),))),
    ],
)  # fmt: skip
def test_create_table_as_has_its_query_and_its_properties(statement: str, expected: CreateAs) -> None:
    assert planned(statement) == expected


# Names that are values


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("SELECT * FROM IDENTIFIER('orders')", "SELECT * FROM acid_0 AS `orders`"),
        ("SELECT * FROM identifier ( 'Shop.`Orders` -- all' ) AS o", "SELECT * FROM acid_0 AS o"),
        ("SELECT * FROM IDENTIFIER('or' || 'ders'), customers", "SELECT * FROM acid_0 AS `orders`, customers"),
        ("EXECUTE IMMEDIATE 'SELECT * FROM orders'", "SELECT * FROM acid_0 AS orders"),
        ("EXECUTE IMMEDIATE 'SELECT * FROM ' || 'orders';", "SELECT * FROM acid_0 AS orders"),
        ("EXECUTE IMMEDIATE \"EXECUTE IMMEDIATE 'SELECT * FROM orders'\"", "SELECT * FROM acid_0 AS orders"),
    ],
)
def test_names_that_are_constants_are_evaluated(statement: str, text: str) -> None:
    def concatenated(text: str) -> str:
        if "||" not in text:
            raise CannotEvaluate("it is not a constant")
        return "".join(part.strip().strip("'") for part in text.split("||"))

    assert plan(statement, lookup, evaluate=concatenated) == query(text, FIRST)


def test_an_identifier_can_be_the_target_of_a_change() -> None:
    assert planned("INSERT INTO IDENTIFIER('orders') (a) VALUES (1)") == Insert(
        ORDERS, Sql("VALUES (1)"), columns=("a",)
    )
    assert planned("DELETE FROM IDENTIFIER('shop.orders') WHERE x = 1") == Delete(ORDERS, Sql("x = 1"))


# Stored views and versions


def test_a_stored_view_has_the_names_of_its_own_database() -> None:
    found = planned("SELECT open_orders.id FROM shop.open_orders JOIN customers USING (id)")
    body = "SELECT o.*, p.who FROM acid_0 o JOIN `spark_catalog`.`archive`.people p USING (id) JOIN x.y ON true"
    view = View("acid_1", OPEN, stored=Stored(Sql(body, (FIRST,)), ("id", "who"), ("id", "who")))
    assert found == query("SELECT open_orders.id FROM acid_1 AS open_orders JOIN customers USING (id)", view)


def test_a_table_and_a_view_on_it_are_read_at_one_snapshot() -> None:
    found = planned("INSERT INTO orders SELECT * FROM orders UNION ALL SELECT * FROM open_orders")
    assert isinstance(found, Insert)
    assert [view.name for view in found.query.views] == ["acid_0", "acid_1"]
    assert found.query.views[1].stored is not None
    assert found.query.views[1].stored.query.views == (FIRST,)


def test_a_version_has_a_view_of_its_own() -> None:
    found = planned(
        "SELECT * FROM orders a JOIN orders VERSION AS OF 7 b ON a.id = b.id, shop.orders VERSION AS OF '7'"
    )
    assert found == query(
        "SELECT * FROM acid_0 a JOIN acid_1 b ON a.id = b.id, acid_1 AS orders",
        FIRST,
        View("acid_1", ORDERS, version=7),
    )


# FROM … INSERT, and DEFAULT


def test_inserts_after_from_have_its_rows() -> None:
    one = Insert(ORDERS, Sql("FROM customers c SELECT c.x WHERE c.y = 1"))
    assert planned("FROM customers c INSERT INTO orders SELECT c.x WHERE c.y = 1") == Inserts((one,))
    found = planned(
        "FROM items INSERT INTO orders SELECT id INSERT OVERWRITE TABLE items PARTITION (day = 1) (id) SELECT x"
    )
    view = View("acid_0", ITEMS)
    assert found == Inserts(
        (
            Insert(ORDERS, Sql("FROM acid_0 AS items SELECT id", (view,))),
            Insert(ITEMS, Sql("FROM acid_0 AS items SELECT x", (view,)), True, ("id",), partition=(("day", "1"),)),
        )
    )


def test_the_words_default_are_noted() -> None:
    text = "VALUES (1, default), (DEFAULT, 'DEFAULT'), DEFAULT"
    found = planned(f"INSERT INTO orders (a, b) {text}")
    assert isinstance(found, Insert) and found.query == Sql(text)
    assert [(text[each.offset :][:7].upper(), each.number) for each in found.defaults] == [
        ("DEFAULT", 1), ("DEFAULT", 0), ("DEFAULT", 0),
    ]  # fmt: skip
    update = planned("UPDATE orders SET x = DEFAULT, y = 1")
    assert update == Update(ORDERS, (Assignment("x", None), Assignment("y", Sql("1"))))
    merge = planned(
        f"{MERGE} WHEN MATCHED THEN UPDATE SET x = default WHEN NOT MATCHED THEN INSERT VALUES (1, DEFAULT)"
    )
    assert isinstance(merge, Merge)
    assert merge.matched[0].assignments == (Assignment("x", None),)
    assert merge.not_matched[0].values == (Sql("1"), None)


# Refused statements


@pytest.mark.parametrize(("statement", "reason"), [*((each.statement, each.reason) for each in REFUSED), *MISTAKES])
def test_a_statement_that_cannot_be_carried_out_is_refused_with_the_reason(statement: str, reason: str) -> None:
    with pytest.raises(StatementError, match=reason):
        planned(statement)


# Lance tables


def test_a_lance_table_is_read_in_a_query_with_and_without_acid_tables() -> None:
    assert planned("SELECT * FROM points") == query("SELECT * FROM acid_0 AS points", View("acid_0", POINTS, True))
    expected = query(
        "SELECT * FROM acid_0 AS orders JOIN acid_1 p ON p.id = orders.id", FIRST, View("acid_1", POINTS, True)
    )
    assert planned("SELECT * FROM orders JOIN points p ON p.id = orders.id") == expected


def test_a_lance_table_is_the_source_of_a_change_of_an_acid_table() -> None:
    found = planned("INSERT INTO orders SELECT * FROM shop.points")
    assert isinstance(found, Insert) and found.query.views == (View("acid_0", POINTS, True),)


@pytest.mark.parametrize(
    "statement", ["DESCRIBE points", "DROP TABLE points", "CACHE TABLE points", "TRUNCATE TABLE points"]
)
def test_statements_without_rows_on_a_lance_table_are_those_of_spark(statement: str) -> None:
    assert planned(statement) == Passed()


@pytest.mark.parametrize("statement", ["INSERT INTO points SELECT 1", "DELETE FROM points WHERE id = 1"])
def test_a_change_of_a_lance_table_is_refused_with_the_function_to_use(statement: str) -> None:
    with pytest.raises(StatementError, match=r"write it by metastored\.spark\.lance\.write"):
        planned(statement)
