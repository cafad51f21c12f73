"""The same statements at metastored and at Apache's metastores, as far as the API of each goes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from metastored.errors import Error, InvalidOperationException, NoSuchObjectException, NotSupported
from tests.client.conftest import Server


def test_a_table_is_made_changed_shown_and_dropped(client: Any, db: str) -> None:
    client.sql(
        """
        CREATE TABLE orders (id BIGINT COMMENT 'number', price DECIMAL(10,2)) COMMENT 'sold'
            PARTITIONED BY (ds STRING, h INT) STORED AS ORC TBLPROPERTIES ('a' = 'b');
        ALTER TABLE orders ADD COLUMNS (note STRING);
        ALTER TABLE orders SET TBLPROPERTIES ('c' = 'd');
        ALTER TABLE orders UNSET TBLPROPERTIES ('a');
        ALTER TABLE orders ADD PARTITION (ds = '1', h = 1) PARTITION (ds = '1', h = 10) PARTITION (ds = '2', h = 2);
        ALTER TABLE orders PARTITION (ds = '2', h = 2) RENAME TO PARTITION (ds = '3', h = 3);
        ALTER TABLE orders DROP PARTITION (h > 9);
        COMMENT ON COLUMN orders.id IS 'the number'
        """,
        db,
    )
    assert client.sql("SHOW PARTITIONS orders", db).rows == (("ds=1/h=1",), ("ds=3/h=3",))
    assert [row[0] for row in client.sql("SHOW COLUMNS IN orders", db).rows] == ["id", "price", "note", "ds", "h"]
    rows = client.sql("DESCRIBE FORMATTED orders", db).rows
    assert ("id", "bigint", "the number") in rows and ("", "c", "d") in rows
    client.sql("ALTER TABLE orders RENAME TO sales; CREATE VIEW v AS SELECT id FROM sales", db)
    assert client.sql("SHOW TABLES LIKE 's*'", db).rows == (("sales",),)
    assert client.sql("SHOW VIEWS", db).rows == (("v",),)
    client.sql("DROP VIEW v; DROP TABLE sales; DROP TABLE IF EXISTS sales", db)
    with pytest.raises(NoSuchObjectException):
        client.sql("DROP TABLE sales", db)


def test_the_printed_statement_makes_the_table_again(client: Any, db: str) -> None:
    client.sql(
        "CREATE TABLE t (a INT COMMENT 'it''s', b MAP<STRING,INT>) PARTITIONED BY (c DATE) ROW FORMAT DELIMITED FIELDS "
        "TERMINATED BY '\\t' TBLPROPERTIES ('k' = 'v'); CREATE TABLE s (Id BIGINT, x STRING) USING parquet",
        db,
    )
    for name in ("t", "s"):
        before = client.fresh_table((db, name))
        ((text,),) = client.sql(f"SHOW CREATE TABLE {name}", db).rows
        client.sql(f"DROP TABLE {name}; {text}", db)
        after = client.fresh_table((db, name))
        assert (after.sd, after.partitionKeys, after.tableType) == (before.sd, before.partitionKeys, before.tableType)
        assert client.sql(f"SHOW CREATE TABLE {name}", db).rows == ((text,),)


def test_partitions_are_exchanged(client: Any, db: str) -> None:
    client.sql(
        """
        CREATE TABLE orders (id BIGINT) PARTITIONED BY (ds STRING);
        CREATE TABLE staged LIKE orders;
        ALTER TABLE staged ADD PARTITION (ds = '1') PARTITION (ds = '2');
        ALTER TABLE orders EXCHANGE PARTITION (ds = '1') WITH TABLE staged
        """,
        db,
    )
    assert client.sql("SHOW PARTITIONS orders", db).rows == (("ds=1",),)
    assert client.sql("SHOW PARTITIONS staged", db).rows == (("ds=2",),)
    with pytest.raises(Error):
        client.sql("ALTER TABLE orders EXCHANGE PARTITION (ds = '1') WITH TABLE staged", db)


def test_a_materialized_view_is_made_shown_and_dropped(client: Any, db: str, server: Server) -> None:
    client.sql("CREATE TABLE t (a INT, b STRING)", db)
    text = "CREATE MATERIALIZED VIEW m DISABLE REWRITE COMMENT 'c' AS SELECT a FROM t"
    if server.version.major < 3:
        with pytest.raises(NotSupported, match="3"):
            client.sql(text, db)
        assert client.sql("SHOW TABLES", db).rows == (("t",),)
        return
    client.sql(text, db)
    assert client.sql("SHOW MATERIALIZED VIEWS", db).rows == (("m", "No", "Manual refresh"),)
    view = client.fresh_table((db, "m"))
    assert (view.tableType, view.viewOriginalText) == ("MATERIALIZED_VIEW", "SELECT a FROM t")
    assert set(view.creationMetadata.tablesUsed) == {f"{db}.t"}
    client.sql("ALTER MATERIALIZED VIEW m DISABLE REWRITE; DROP MATERIALIZED VIEW m", db)
    assert client.sql("SHOW TABLES", db).rows == (("t",),)


def test_a_database_that_does_not_exist_is_an_error(client: Any) -> None:
    for text in ("SHOW TABLES IN nosuch", "CREATE TABLE nosuch.t (a INT)", "DROP DATABASE nosuch CASCADE"):
        with pytest.raises(Error, match="nosuch"):
            client.sql(text)
    client.sql("DROP DATABASE IF EXISTS nosuch CASCADE")


def test_roles_and_privileges_are_granted_shown_and_revoked(client: Any, db: str, server: Server) -> None:
    role = f"role_{uuid.uuid4().hex[:8]}"
    client.sql(f"CREATE TABLE t (a INT); CREATE ROLE {role}; GRANT {role} TO USER bob WITH ADMIN OPTION", db)
    try:
        client.sql(f"GRANT SELECT, INSERT ON t TO ROLE {role} WITH GRANT OPTION; GRANT ALL ON t TO USER carol", db)
        client.sql(f"GRANT SELECT ON DATABASE {db} TO GROUP staff", db)
        rows = [(*row[4:8], row[9]) for row in client.sql("SHOW GRANT ON TABLE t", db).rows]
        assert (role, "ROLE", "SELECT", "true", "ann") in rows
        assert sum(row[0] == "carol" for row in rows) == 4
        assert (role, "USER") not in rows
        assert role in [row[0] for row in client.sql("SHOW ROLE GRANT USER bob").rows]
        assert [row[:3] for row in client.sql(f"SHOW PRINCIPALS {role}").rows] == [("bob", "USER", "true")]
        client.sql(f"REVOKE INSERT ON t FROM ROLE {role}; REVOKE ALL ON t FROM USER carol", db)
        rows = [row[4:7] for row in client.sql("SHOW GRANT ON TABLE t", db).rows]
        assert rows == [(role, "ROLE", "SELECT")]
        client.sql(f"REVOKE SELECT ON DATABASE {db} FROM GROUP staff; REVOKE {role} FROM USER bob")
        with pytest.raises(InvalidOperationException, match="was not granted"):
            client.sql(f"REVOKE {role} FROM USER bob")
    finally:
        client.sql(f"DROP ROLE {role}")
    with pytest.raises(NoSuchObjectException, match="there is no role"):
        client.sql(f"DROP ROLE {role}")


def test_what_a_version_lacks_is_an_error_that_says_so(client: Any, server: Server) -> None:
    if server.version.major >= 3:
        assert ("hive",) in client.sql("SHOW CATALOGS").rows
        return
    assert client.sql("SHOW CATALOGS").rows == (("hive",),)
    with pytest.raises(NotSupported):
        client.sql("CREATE CATALOG c LOCATION 'file:///tmp/c'")
