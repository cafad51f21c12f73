"""Materialized views by statements: their text and their tables are stored, their rows are Hive's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import metastored
from metastored.client.statements.view_queries import tables_in
from metastored.errors import AlreadyExistsException, InvalidOperationException, MetastoreError, TableNotFound
from metastored.wire.structs import replace
from tests.client.test_sql_shows import comparable
from tests.support.driven import connected
from tests.support.in_process import serving_metastore

VIEW = "CREATE MATERIALIZED VIEW shop.totals AS SELECT id, amount FROM shop.ledger WHERE amount > 0"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_metastore(tmp_path_factory.mktemp("materialized")) as uri:
        yield uri


@pytest.fixture
def client(uri: str, half: str) -> Iterator[Any]:
    with connected(half, uri, user="ann") as found:
        found.sql(
            "DROP DATABASE IF EXISTS shop CASCADE; CREATE DATABASE shop; "
            "CREATE TRANSACTIONAL TABLE shop.ledger (id BIGINT COMMENT 'number', amount DECIMAL(10, 2)) STORED AS ORC"
        )
        yield found


def built(client: Any, name: str) -> None:
    """What Hive stores when it has computed the rows."""
    view = client.fresh_table(name)
    metadata = replace(
        view.creationMetadata, validTxnList="5:9223372036854775807::$shop.ledger:3:9223372036854775807::"
    )
    client.api.update_creation_metadata("hive", "shop", view.tableName, metadata)


def test_the_text_the_columns_and_the_tables_are_stored(client: Any) -> None:
    ((warning,),) = client.sql(VIEW).rows
    assert "has no rows" in warning and "REBUILD in Hive" in warning
    view = client.fresh_table("shop.totals")
    assert (view.tableType, view.rewriteEnabled, view.owner) == ("MATERIALIZED_VIEW", False, "ann")
    assert view.viewOriginalText == "SELECT id, amount FROM shop.ledger WHERE amount > 0"
    assert [(each.name, each.type) for each in view.sd.cols] == [("id", "bigint"), ("amount", "decimal(10,2)")]
    assert view.sd.inputFormat.endswith("OrcInputFormat")
    metadata = view.creationMetadata
    assert (metadata.dbName, metadata.tblName, set(metadata.tablesUsed)) == ("shop", "totals", {"shop.ledger"})
    assert client.api.get_materialized_views_for_rewriting("shop") in ([], ())
    with pytest.raises(AlreadyExistsException):
        client.sql(VIEW)
    assert client.sql(VIEW.replace("VIEW", "VIEW IF NOT EXISTS")).rows


def test_queries_are_rewritten_only_to_a_view_that_hive_has_built(client: Any) -> None:
    client.sql(VIEW)
    with pytest.raises(InvalidOperationException, match="was never built"):
        client.sql("ALTER MATERIALIZED VIEW shop.totals ENABLE REWRITE")
    built(client, "shop.totals")
    client.sql("ALTER MATERIALIZED VIEW shop.totals ENABLE REWRITE")
    assert client.sql("SHOW MATERIALIZED VIEWS IN shop").rows == (("totals", "Yes", "Manual refresh"),)
    assert list(client.api.get_materialized_views_for_rewriting("shop")) == ["totals"]
    client.sql("ALTER MATERIALIZED VIEW shop.totals DISABLE REWRITE")
    assert client.sql("SHOW MATERIALIZED VIEWS IN shop LIKE 't*'").columns == ("mv_name", "rewrite_enabled", "mode")
    assert client.sql("SHOW MATERIALIZED VIEWS IN shop LIKE 't*'").rows == (("totals", "No", "Manual refresh"),)
    assert client.sql("SHOW MATERIALIZED VIEWS IN shop LIKE 'x*'").rows == ()
    assert client.fresh_table("shop.totals").creationMetadata.validTxnList


def test_a_change_of_another_client_meanwhile_is_kept(client: Any, uri: str) -> None:
    client.sql(VIEW)
    built(client, "shop.totals")
    with metastored.connect(uri, user="bob", cache=False) as bob:
        for number in range(5):
            bob.sql(f"ALTER TABLE shop.totals SET TBLPROPERTIES ('n{number}' = 'x')")
            client.sql(f"ALTER MATERIALIZED VIEW shop.totals {'DISABLE' if number % 2 else 'ENABLE'} REWRITE")
    view = client.fresh_table("shop.totals")
    assert view.rewriteEnabled and {f"n{number}" for number in range(5)} <= view.parameters.keys()


def test_each_kind_is_dropped_and_altered_by_its_own_statements(client: Any) -> None:
    client.sql(VIEW + "; CREATE VIEW shop.v AS SELECT id FROM shop.ledger")
    for statement, sentence in {
        "DROP TABLE shop.totals": "is a materialized view: use DROP MATERIALIZED VIEW",
        "DROP VIEW shop.totals": "is a materialized view: use DROP MATERIALIZED VIEW",
        "DROP MATERIALIZED VIEW shop.v": "is a view: use DROP VIEW",
        "DROP MATERIALIZED VIEW IF EXISTS shop.ledger": "is a table: use DROP TABLE",
        "ALTER MATERIALIZED VIEW shop.ledger DISABLE REWRITE": "is a table: use ALTER TABLE",
        "ALTER VIEW shop.totals AS SELECT id FROM shop.ledger": "is a materialized view: use ALTER MATERIALIZED VIEW",
    }.items():
        with pytest.raises(InvalidOperationException, match=sentence):
            client.sql(statement)
    assert client.sql("SHOW VIEWS IN shop").rows == (("v",),)
    client.sql("DROP MATERIALIZED VIEW shop.totals; DROP MATERIALIZED VIEW IF EXISTS shop.totals")
    with pytest.raises(TableNotFound):
        client.sql("DROP MATERIALIZED VIEW shop.totals")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("AS SELECT id FROM shop.nosuch", "nosuch"),
        ("(id BIGINT) AS SELECT a.id FROM shop.ledger a JOIN shop.nosuch b ON a.id = b.id", "nosuch"),
        ("AS SELECT count(*) FROM shop.ledger", "write them with their types, CREATE MATERIALIZED VIEW"),
        ("AS DROP TABLE shop.ledger", "begins with SELECT"),
        ("PARTITIONED BY (id) AS SELECT id FROM shop.ledger", "one with partitions is made in Hive"),
    ],
)
def test_a_view_that_cannot_be_made_is_refused_and_nothing_is_stored(client: Any, text: str, sentence: str) -> None:
    with pytest.raises(metastored.errors.Error, match=sentence):
        client.sql(f"CREATE MATERIALIZED VIEW shop.m {text}")
    assert client.tables("shop") == ("ledger",)
    with pytest.raises(MetastoreError):
        client.sql("SHOW MATERIALIZED VIEWS IN nosuch")


def test_the_printed_statement_makes_the_view_again(client: Any) -> None:
    client.sql(
        "CREATE MATERIALIZED VIEW shop.m (day STRING COMMENT 'd;', n BIGINT) DISABLE REWRITE COMMENT 'it''s' "
        "STORED AS PARQUET TBLPROPERTIES ('k' = 'v') AS "
        "SELECT 'x;' AS day, count(*) AS n FROM shop.ledger GROUP BY 1"
    )
    before = client.fresh_table("shop.m")
    ((text,),) = client.sql("SHOW CREATE TABLE shop.m").rows
    assert "DISABLE REWRITE" in text
    client.sql("DROP MATERIALIZED VIEW shop.m")
    client.sql(text)
    after = client.fresh_table("shop.m")

    def plain(view: Any) -> Any:
        return replace(comparable(view), creationMetadata=replace(view.creationMetadata, materializationTime=0))

    assert plain(after) == plain(before)


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("SELECT 1", []),
        ("SELECT * FROM a, b.c x, `d e`.`f``g` WHERE a.x IN (SELECT y FROM h, i GROUP BY j, k)", "a b.c d e.f`g h i"),
        ("SELECT a FROM (SELECT b, c FROM d) e JOIN (f LEFT JOIN g ON f.x = g.x) ON e.a = f.b, h", "d f g h"),
        ("WITH w AS (SELECT * FROM a), v AS (SELECT * FROM w) SELECT * FROM w JOIN v JOIN db.w", "a db.w"),
        ("SELECT extract(year FROM d), trim(BOTH 'x' FROM e) FROM t WHERE a IS DISTINCT FROM b", "t"),
        ("SELECT ' FROM x' FROM t -- FROM y\n LATERAL VIEW explode(m) n AS k, v", "t"),
        ("SELECT * FROM range(5), t UNION ALL SELECT a, b FROM u ORDER BY a, b", "t u"),
        ("FROM t SELECT a, b", "t"),
        ("SELECT * FROM", []),
        ("SELECT ((((", []),
        (")))) FROM", []),
    ],
)
def test_the_tables_of_a_query(query: str, tables: str | list[str]) -> None:
    found = [".".join(each) for each in tables_in(query)]
    assert " ".join(found) == (tables if isinstance(tables, str) else "")
