"""Flink's Hive catalog, with nothing but a `hive-site.xml`, on a server that shows ACID tables as views to Spark.

Flink uses Hive 3.1.3's client. It does not read or write ACID tables, and says so itself: it gets them as tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from tests.support.apache import MissingPeer, run_with_flink
from tests.support.forks import running_server

pytestmark = [pytest.mark.apache, pytest.mark.peers, pytest.mark.slow]

SITE = "<configuration><property><name>hive.metastore.uris</name><value>{}</value></property></configuration>"
STATEMENTS = {
    "catalog": "CREATE CATALOG lake WITH ('type' = 'hive', 'hive-conf-dir' = '{}')",
    "use": "USE CATALOG lake",
    "database": "CREATE DATABASE shop COMMENT 'by Flink'",
    "databases": "SHOW DATABASES",
    "plain": "CREATE TABLE shop.plain (id INT, name STRING) WITH ('connector' = 'hive')",
    "insert": "INSERT INTO shop.plain VALUES (1, 'a'), (2, 'b')",
    "select": "SELECT id, name FROM shop.plain WHERE id > 1",
    "add": "ALTER TABLE shop.plain ADD (price DECIMAL(10, 2))",
    "rename": "ALTER TABLE shop.plain RENAME TO shop.renamed",
    "written here": "SELECT * FROM there.days",
    "partitions": "SHOW PARTITIONS there.days",
    "add a partition": "ALTER TABLE there.days ADD PARTITION (ds = '2024-01-03')",
    "view": "CREATE VIEW shop.ids AS SELECT id FROM shop.renamed",
    "use shop": "USE shop",
    "views": "SHOW VIEWS",
    "function": "CREATE FUNCTION shop.upper_case AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper'",
    "tables": "SHOW TABLES IN there",
    "describe acid": "DESCRIBE there.acid",
    "read acid": "SELECT * FROM there.acid",
    "write acid": "INSERT INTO there.acid VALUES (1)",
    "drop": "DROP VIEW shop.ids",
}


class Flink(NamedTuple):
    results: dict[str, Any]
    """Rows as texts, or an object with an error, by the names of the statements."""
    renamed: Any
    partitions: list[str]
    functions: list[str]
    kinds: tuple[str | None, str | None]
    """Of the ACID table: for clients that read ACID, and for Spark."""


@pytest.fixture(scope="module")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Flink:
    folder = tmp_path_factory.mktemp("flink")
    with running_server(acid_views="on") as server, metastored.connect(server.uri, cache=False) as client:
        (folder / "hive-site.xml").write_text(SITE.format(server.uri), "utf-8")
        client.create_database("there")
        days = metastored.table("there.days", {"id": "int"}, partitioned_by={"ds": "string"}, format="textfile")
        client.create_table(days)
        client.add_partitions("there.days", [metastored.partition(client.table("there.days"), ["2024-01-01"])])
        place = Path(server.warehouse.removeprefix("file:")) / "there.db/days/ds=2024-01-01"
        (place / "rows").write_text("1\n2\n", "utf-8")
        acid = metastored.table("there.acid", {"id": "int"}, format="orc", properties={"transactional": "true"})
        client.create_table(acid)
        statements = [each.format(folder) for each in STATEMENTS.values()]
        try:
            printed = run_with_flink("FlinkStatements", "".join(json.dumps(each) + "\n" for each in statements))
        except MissingPeer as reason:
            pytest.skip(str(reason))
        results = dict(zip(STATEMENTS, map(json.loads, printed.splitlines()), strict=True))
        return Flink(
            results,
            client.table("shop.renamed"),
            sorted(client.partition_names("there.days")),
            list(client.api.get_functions("shop", "*")),
            (client.table("there.acid").tableType, client.api.get_table("there", "acid").tableType),
        )


REFUSED = ("read acid", "write acid")


def test_all_statements_but_those_on_rows_of_acid_tables_succeed(flink: Flink) -> None:
    failed = {name for name, result in flink.results.items() if not isinstance(result, list)}
    assert failed == set(REFUSED), {name: flink.results[name] for name in failed}


def test_flink_reads_what_it_and_others_wrote(flink: Flink) -> None:
    assert flink.results["select"] == ["+I[2, b]"]
    assert sorted(flink.results["written here"]) == ["+I[1, 2024-01-01]", "+I[2, 2024-01-01]"]
    assert flink.results["partitions"] == ["+I[ds=2024-01-01]"]
    assert flink.results["databases"] == ["+I[default]", "+I[shop]", "+I[there]"]
    assert flink.results["views"] == ["+I[ids]"]


def test_others_see_what_flink_defined(flink: Flink) -> None:
    assert [(each.name, each.type) for each in flink.renamed.sd.cols] == [
        ("id", "int"),
        ("name", "string"),
        ("price", "decimal(10,2)"),
    ]
    assert flink.partitions == ["ds=2024-01-01", "ds=2024-01-03"]
    assert flink.functions == ["upper_case"]


def test_flink_sees_acid_tables_as_tables_and_refuses_their_rows_itself(flink: Flink) -> None:
    assert flink.kinds == ("MANAGED_TABLE", "VIRTUAL_VIEW")
    assert flink.results["describe acid"] == ["+I[id, INT, true, null, null, null]"]
    for name in REFUSED:
        assert "ACID table there.acid is not supported" in flink.results[name]["error"]
