"""The statements on ACID tables that are refused: cases of the tests, and the list of the guide.

`tools/refused_statements.py` writes the list of docs/guide/acid-sql.md from REFUSED. The tables are those of
test_planning.py.
"""

from __future__ import annotations

from typing import NamedTuple

MERGE = "MERGE INTO orders USING c ON true"


class Refused(NamedTuple):
    """A statement, a pattern of its error, and its line in the guide; lines are listed once."""

    statement: str
    reason: str
    form: str
    """What the guide lists, in the words of SQL."""
    instead: str
    """What to do instead."""


def _same(form: str, instead: str, *cases: tuple[str, str]) -> list[Refused]:
    return [Refused(statement, reason, form, instead) for statement, reason in cases]


REFUSED = [
    *_same("`LOAD DATA`", "read the files with Spark, and `INSERT INTO`",
           ("LOAD DATA INPATH '/x' INTO TABLE orders", "LOAD DATA is not supported")),
    *_same("`ANALYZE TABLE`", "`metastored.spark.statistics.analyze`",
           ("ANALYZE TABLE orders COMPUTE STATISTICS", "ANALYZE TABLE is not supported")),
    *_same("`CACHE TABLE`", "cache the DataFrame of a `SELECT`",
           ("CACHE TABLE orders", "CACHE TABLE is not supported"),
           ("CACHE TABLE x AS SELECT * FROM orders", "CACHE TABLE is not supported")),
    *_same("`CREATE TEMPORARY VIEW`", "`metastored.spark.acid.view`, or a stored view",
           ("CREATE TEMPORARY VIEW v AS SELECT * FROM orders", "metastored.spark.acid.view makes a temporary view"),
           ("CREATE OR REPLACE GLOBAL TEMP VIEW v AS SELECT * FROM open_orders", "makes a temporary view")),
    *_same("`CREATE OR REPLACE TABLE`", "`INSERT OVERWRITE`",
           ("CREATE OR REPLACE TABLE orders AS SELECT 1 AS id", "not supported on an ACID table"),
           ("CREATE OR REPLACE TABLE n TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS id",
            "can have STORED AS")),
    *_same("`CREATE TABLE … AS` of an ACID table with `LOCATION`, `SORTED BY`, `OPTIONS` or types of columns",
           "create the table, then `INSERT INTO` it",
           ("CREATE TABLE n LOCATION '/x' TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x",
            "can have STORED AS"),
           ("CREATE TABLE n (x INT) TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x", "can have STORED AS"),
           ("CREATE TABLE n PARTITIONED BY (x INT) TBLPROPERTIES ('transactional' = 'true') AS SELECT 1 AS x",
            "without types"),
           ("CREATE TABLE n CLUSTERED BY (x) SORTED BY (x) INTO 4 BUCKETS TBLPROPERTIES ('transactional' = 'true') "
            "AS SELECT 1 AS x", "can have STORED AS")),
    *_same("`ALTER TABLE … DROP COLUMN`, `REPLACE COLUMNS`", "another table: files have columns by their position",
           ("ALTER TABLE orders DROP COLUMN x", "DROP COLUMN is not supported on an ACID table, as in Hive"),
           ("ALTER TABLE shop.orders DROP COLUMNS (x, y)", "columns by their position"),
           ("ALTER TABLE orders REPLACE COLUMNS (x INT)", "REPLACE COLUMNS is not supported")),
    *_same("`TIMESTAMP AS OF`", "`VERSION AS OF` a write id: times of commits are not stored",
           ("SELECT * FROM orders TIMESTAMP AS OF '2026-01-01'", "does not store when a write id was committed")),
    *_same("`VERSION AS OF` with an expression, or of a view", "a number, after the name of a table",
           ("SELECT * FROM orders VERSION AS OF 1 + 2", "names the ACID table shop.orders|as a number"),
           ("SELECT * FROM orders VERSION AS OF 'main'", "as a number"),
           ("SELECT * FROM open_orders VERSION AS OF 3", "a view has no versions")),
    *_same("assignments to fields of structs", "assign the complete struct",
           ("UPDATE orders SET place.city = 'a'", "place.city is not a column of the table"),
           ("UPDATE orders o SET orders.x = 1", "orders.x is not a column of the table")),
    *_same("`INSERT INTO … REPLACE WHERE`", "`DELETE`, then `INSERT`",
           ("INSERT INTO orders REPLACE WHERE x = 1 SELECT 2", "REPLACE WHERE is not supported")),
    *_same("`PARTITION (…) IF NOT EXISTS`", "look for the partition first",
           ("INSERT INTO orders PARTITION (day = 1) IF NOT EXISTS SELECT 1", "names the ACID table shop.orders")),
    *_same("`INSERT` into a view", "the table itself",
           ("INSERT INTO open_orders VALUES (1)", "shop.open_orders is a view: write to its table"),
           ("DELETE FROM open_orders", "shop.open_orders is a view: write to its table")),
    *_same("`INSERT OVERWRITE DIRECTORY` of rows of ACID tables", "write the DataFrame of a `SELECT`",
           ("INSERT OVERWRITE DIRECTORY '/x' USING orc SELECT * FROM orders", "names the ACID table shop.orders")),
    *_same("`MERGE WITH SCHEMA EVOLUTION`", "`ALTER TABLE … ADD COLUMNS` first",
           ("MERGE WITH SCHEMA EVOLUTION INTO orders USING c ON true WHEN MATCHED THEN DELETE",
            "names the ACID table")),
    *_same("`UPDATE … FROM`, `DELETE … USING`", "`MERGE INTO`, as in Spark",
           ("UPDATE orders SET x = 1 FROM customers", "UPDATE … FROM is not a statement of Spark: use MERGE INTO"),
           ("DELETE FROM orders USING customers WHERE true", "DELETE … USING is not a statement of Spark")),
    *_same("`WITH` before `UPDATE` and `DELETE`", "a subquery",
           ("WITH c AS (SELECT 1) DELETE FROM orders", "names the ACID table shop.orders|WITH before DELETE"),
           ("WITH c AS (SELECT 1) UPDATE orders SET x = 1", "names the ACID table shop.orders|WITH before UPDATE")),
    *_same("`FROM … INSERT` into ACID tables and others at once", "one statement for each kind of table",
           ("FROM customers INSERT INTO orders SELECT 1 INSERT INTO people SELECT 2",
            "INSERTs into ACID tables and into other tables in one statement")),
    *_same("`TABLE t` as a query", "`SELECT * FROM t`",
           ("TABLE orders", "this statement is not supported"),
           ("SELECT * FROM (TABLE orders)", "write the ACID table shop.orders by its name")),
    *_same("`EXPLAIN` of a change", "`EXPLAIN` of its query",
           ("EXPLAIN DELETE FROM orders", "EXPLAIN is supported for queries")),
    *_same("`EXECUTE IMMEDIATE` with `INTO` or `USING`, or in a script", "`args=` of `metastored.spark.sql`",
           ("EXECUTE IMMEDIATE 'SELECT * FROM orders WHERE id = ?' USING 1", "give the values as args="),
           ("EXECUTE IMMEDIATE 'SELECT max(id) FROM orders' INTO x", "give the values as args="),
           ("BEGIN EXECUTE IMMEDIATE 'DELETE FROM orders'; END", "give the values as args=")),
    *_same("`EXECUTE IMMEDIATE` and `IDENTIFIER` of variables of a script, and of expressions that are not constant",
           "the name, or the statement itself",
           ("BEGIN DECLARE v STRING DEFAULT 'x'; EXECUTE IMMEDIATE v; END", "could be an ACID table"),
           ("SELECT * FROM IDENTIFIER(name)", "could be an ACID table and cannot be evaluated"),
           ("EXECUTE IMMEDIATE (SELECT text FROM orders)", "names an ACID table")),
    *_same("scripts (`BEGIN … END`), and several statements in one text", "give them one by one",
           ("BEGIN SELECT * FROM orders; END", "the statement names the ACID table shop.orders"),
           ("SELECT * FROM orders; DROP TABLE orders", "there are several statements"),
           ("SELECT * FROM customers;\nDELETE FROM items", "line 2, column 13: there are several statements")),
    *_same("statements that metastored cannot parse", "write it differently",
           ("SELECT * FRM orders WHERE", "the statement names the ACID table shop.orders"),
           ("OPTIMIZE orders", "this statement is not supported")),
]  # fmt: skip
"""What could be written, and is not supported."""

MISTAKES = [
    ("", "there is no statement"),
    (" -- nothing\n;", "there is no statement"),
    ("SELECT 'a FROM orders", "quotes or a comment are not closed"),
    ("ALTER TABLE customers COMPACT 'major'", "customers is not an ACID table: it has nothing to compact"),
    ("ALTER TABLE orders COMPACT 'rebalance'", "write COMPACT 'minor' or COMPACT 'major'"),
    ("ALTER TABLE orders COMPACT major", "write COMPACT 'minor' or COMPACT 'major'"),
    ("ALTER TABLE orders COMPACT 'major' AND WAIT", "and nothing after it"),
    ("ALTER TABLE orders DROP PARTITION (day < 1)", "a value for each key"),
    ("ALTER TABLE orders DROP PARTITION (day = 1) SOMETHING", "this part of DROP PARTITION is not supported"),
    ("ALTER TABLE orders DROP PARTITION (day = (SELECT max(x) FROM items))", "a PARTITION clause is a constant"),
    ("ALTER TABLE orders PARTITION (day = 1) RENAME TO x", r"write PARTITION \(key = value\) RENAME TO PARTITION"),
    ("TRUNCATE TABLE orders PARTITION (day)", "write TRUNCATE TABLE t"),
    ("INSERT INTO orders PARTITION (day = (SELECT max(x) FROM items)) SELECT 1", "is a constant"),
    ("INSERT INTO orders (a, A) SELECT 1, 2", "the column a is given twice"),
    ("UPDATE orders SET x = 1, X = 2", "the column x is given twice"),
    ("DELETE FROM orders o WHERE EXISTS (SELECT 1 FROM c target WHERE target.id = o.id)", "give it another alias"),
    (f"{MERGE} WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *", "this clause is never reached"),
    (f"{MERGE} WHEN NOT MATCHED THEN DELETE", "this action cannot follow WHEN NOT MATCHED"),
    (f"{MERGE} WHEN NOT MATCHED THEN UPDATE SET x = 1", "WHEN NOT MATCHED can only INSERT"),
    (f"{MERGE} WHEN MATCHED THEN INSERT *", "only WHEN NOT MATCHED can INSERT"),
    (f"{MERGE} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *", r"there is no source row for UPDATE SET \*"),
    (f"{MERGE} WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)", "lists 2 columns and 1 value"),
    (f"{MERGE} WHEN NOT MATCHED THEN INSERT (a, a) VALUES (1, 2)", "the column a is given twice"),
    ("MERGE INTO orders USING (SELECT 1) ON true WHEN MATCHED THEN DELETE", "needs an alias"),
    ("MERGE INTO orders USING other.orders ON true WHEN MATCHED THEN DELETE", "have the same name: give aliases"),
    ("MERGE INTO orders o(a) USING c ON true WHEN MATCHED THEN DELETE", "alias with columns|cannot be parsed"),
]
"""Statements that are wrong."""
