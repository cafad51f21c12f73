"""PySpark, unmodified, on one metastored in front of several Apache metastores: one query joins them and local tables.

Remotes are made by SQL that is typed into Spark. The calls for partitions are counted on the wire to the remote.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.structs import FieldSchema
from metastored.testing import running_server
from metastored.wire.structs import replace
from tests.support.apache import PEERS, ApacheMetastore
from tests.support.ports import free_port
from tests.support.relay import relayed
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.apache, pytest.mark.slow]

THERE = "spark_remotes"
"""The database in each Hive."""

SCRIPT = """
def rows(query):
    return [list(row) for row in spark.sql(query).collect()]

def remote(name, uri):
    spark.sql(f"CREATE DATABASE {name} WITH DBPROPERTIES ('hive.metastore.uris'='{uri}', 'metastored.remote'='THERE')")

for name, uri in NAMES.items():
    remote(name, uri)
customers = spark.createDataFrame([(1, 'ann'), (2, 'bob')], "id int, name string")
customers.write.mode("overwrite").parquet("FOLDER/customers")
for ds in ("1", "2", "3"):
    orders = spark.range(int(ds)).selectExpr("cast(id + 1 as int) as customer", f"10 * {ds} as amount")
    orders.write.mode("overwrite").parquet("FOLDER/orders/ds=" + ds)
spark.createDataFrame([(1, 'es'), (2, 'de')], "customer int, country string") \\
    .write.mode("overwrite").parquet("FOLDER/countries")
spark.sql("CREATE DATABASE shop")
spark.sql("CREATE TABLE shop.discounts (customer INT, percent INT) USING parquet")
spark.sql("INSERT INTO shop.discounts VALUES (1, 50), (2, 20)")
spark.sql(
    "CREATE TABLE shop.seen (ignored INT) STORED AS parquet "
    "TBLPROPERTIES ('metastored.remote'='THERE.orders', 'hive.metastore.uris'='SECOND_URI')"
)
refused = None
try:
    spark.sql("INSERT INTO second.orders PARTITION (ds='9') VALUES (9, 9)")
except Exception as error:
    refused = str(error)
def error_of(work):
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

import metastored
from metastored.spark.acid.sql.guard import guarded
from metastored.spark.session_metastore import session_client

truncated = error_of(lambda: spark.sql("TRUNCATE TABLE old.customers"))
guard = guarded(spark.newSession(), lambda: session_client(spark))
one = guard.sql("SELECT 9 AS id, 'eve' AS name")
before_files = {
    "overwritten": error_of(lambda: guard.sql("INSERT OVERWRITE old.customers VALUES (9, 'eve')")),
    "appended": error_of(lambda: metastored.spark.sql(spark, "INSERT INTO old.customers VALUES (9, 'eve')")),
    "of a remote table": error_of(lambda: guard.sql("INSERT OVERWRITE shop.seen PARTITION (ds = '1') VALUES (9, 9)")),
    "inserted": error_of(lambda: one.write.insertInto("old.customers", overwrite=True)),
    "saved": error_of(lambda: one.write.mode("overwrite").saveAsTable("old.customers")),
    "created": error_of(lambda: guard.sql("CREATE TABLE old.fresh USING parquet AS SELECT 1 AS id")),
    "current database": error_of(lambda: [guard.sql("USE old"), guard.sql("INSERT INTO customers VALUES (9, 'eve')")]),
}
local = guard.sql("INSERT INTO shop.discounts SELECT 9, 9").collect()
spark.sql("INSERT OVERWRITE shop.discounts SELECT * FROM (VALUES (1, 50), (2, 20))")
joined = '''
    SELECT c.name, sum(o.amount * d.percent / 100) AS total
    FROM old.customers c JOIN second.orders o ON o.customer = c.id JOIN shop.discounts d ON d.customer = c.id
    WHERE o.ds >= '2' GROUP BY c.name ORDER BY c.name'''
result = {
    "databases": rows("SHOW DATABASES"),
    "tables": rows("SHOW TABLES IN old"),
    "selected": rows("SELECT * FROM old.customers ORDER BY id"),
    "joined": rows(joined),
    "described": rows("DESCRIBE EXTENDED old.customers"),
    "database": rows("DESCRIBE DATABASE EXTENDED second"),
    "remote table": rows("DESCRIBE EXTENDED shop.seen"),
    "partitions": rows("SHOW PARTITIONS second.orders"),
    "view": rows("SELECT name FROM old.first_customer"),
    "bare view": rows("SELECT name FROM old.bare ORDER BY name"),
    "refused": refused,
    "truncated": truncated,
    "refused before files": before_files,
}
if "newest" in NAMES:
    result["of three"] = rows('''
        SELECT c.name, n.country, count(*) FROM old.customers c JOIN second.orders o ON o.customer = c.id
        JOIN newest.countries n ON n.customer = c.id JOIN shop.discounts d ON d.customer = c.id
        WHERE o.ds = '2' GROUP BY c.name, n.country ORDER BY c.name''')
spark.catalog.tableExists("second.marker_before")
result["pruned"] = rows("SELECT count(*) FROM second.orders WHERE ds = '3'")
spark.catalog.tableExists("second.marker_after")
result["of a remote table"] = rows("SELECT count(*) FROM shop.seen WHERE ds = '2'")
spark.sql("DROP TABLE shop.seen PURGE")
for name in NAMES:
    spark.sql(f"DROP DATABASE {name} CASCADE")
spark.sql("DROP DATABASE shop CASCADE")
result["after"] = rows("SHOW DATABASES")
"""


def fill(hive: ApacheMetastore, folder: Path, stack: ExitStack) -> None:
    """The tables of a Hive, whose files Spark writes later, and two views as Spark itself stores them."""
    client = stack.enter_context(metastored.connect(hive.uri))
    client.create_database(THERE)
    stack.callback(client.drop_database, THERE, cascade=True)

    def create(name: str, columns: dict[str, str], keys: dict[str, str] | None = None) -> None:
        where = f"file:{folder / name}"
        table = metastored.table(f"{THERE}.{name}", columns, partitioned_by=keys, format="parquet", location=where)
        client.create_table(table)

    create("customers", {"id": "int", "name": "string"})
    create("countries", {"customer": "int", "country": "string"})
    create("orders", {"customer": "int", "amount": "int"}, {"ds": "string"})
    client.add_partitions(f"{THERE}.orders", [("1",), ("2",), ("3",)])
    for name, query in (
        ("first_customer", f"SELECT name FROM {THERE}.customers WHERE id = 1"),
        ("bare", "SELECT name FROM customers"),
    ):
        view = metastored.table(f"{THERE}.{name}", {"name": "string"})
        assert view.sd is not None
        client.create_table(
            replace(
                view,
                sd=replace(view.sd, cols=(FieldSchema("name", "string"),), location=None),
                tableType="VIRTUAL_VIEW",
                viewOriginalText=query,
                viewExpandedText=query,
                parameters={
                    "view.catalogAndNamespace.numParts": "2",
                    "view.catalogAndNamespace.part.0": "spark_catalog",
                    "view.catalogAndNamespace.part.1": THERE,
                    "view.query.out.numCols": "1",
                    "view.query.out.col.0": "name",
                },
            )
        )


INSTALLED = any((PEERS / "hive-4.0.1").glob("*.jar"))
"""With 4.0.1 the same queries run, and one more: they need not run without it too."""


@pytest.fixture(
    scope="module",
    params=[pytest.param("2.3, 3.1 and 4.0", marks=pytest.mark.peers) if INSTALLED else "2.3 and 3.1"],
)
def found(
    request: pytest.FixtureRequest,
    hive_2_3: ApacheMetastore,
    hive_3_1: ApacheMetastore,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Any]]:
    """What Spark returns, the calls that the second remote got, and what is there after all remotes are dropped."""
    folder = tmp_path_factory.mktemp("data")
    hives = {"old": hive_2_3, "second": hive_3_1}
    if "4.0" in request.param:
        hives["newest"] = request.getfixturevalue("hive_4_0_1")
    with ExitStack() as stack:
        for hive in hives.values():
            fill(hive, folder, stack)
        relay = stack.enter_context(relayed(hive_3_1.port, records=True))
        server = stack.enter_context(running_server())
        names = {name: hive.uri for name, hive in hives.items()} | {"second": relay.uri}
        script = SCRIPT.replace("NAMES", repr(names)).replace("THERE", THERE).replace("FOLDER", f"file:{folder}")
        conf = {"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse}
        result: dict[str, Any] = run_spark(script.replace("SECOND_URI", relay.uri), conf=conf)
        result["uris"] = names
        result["calls"] = relay.calls()
        with metastored.connect(hive_3_1.uri) as client:
            result["there"] = client.api.get_partition_names(THERE, "orders", -1)
        yield result


def test_create_database_with_an_address_makes_a_remote_database(found: dict[str, Any]) -> None:
    assert found["databases"] == sorted([["default"], ["shop"], *([name] for name in found["uris"])])
    assert {row[1] for row in found["tables"]} >= {"customers", "orders"}
    assert {row[0] for row in found["tables"]} == {"old"}


def test_a_table_of_an_apache_metastore_is_selected(found: dict[str, Any]) -> None:
    assert found["selected"] == [[1, "ann"], [2, "bob"]]


def test_one_query_joins_hive_2_3_hive_3_1_and_a_local_table(found: dict[str, Any]) -> None:
    assert [[name, float(total)] for name, total in found["joined"]] == [["ann", 25.0], ["bob", 10.0]]


def test_one_query_joins_hive_4_0_with_the_others(found: dict[str, Any]) -> None:
    if "newest" not in found["uris"]:
        pytest.skip("the Hive 4.0.1 server is not on this machine: make peers installs it")
    assert found["of three"] == [["ann", "es", 1], ["bob", "de", 1]]


def test_describe_shows_the_configuration_of_the_remote(found: dict[str, Any]) -> None:
    uris = found["uris"]
    properties = next(row[1] for row in found["described"] if row[0] == "Table Properties")
    assert f"metastored.remote={THERE}.customers" in properties and f"hive.metastore.uris={uris['old']}" in properties
    assert ["Database", "old", ""] in found["described"]
    shown = dict(row[:2] for row in found["database"])
    assert f"(hive.metastore.uris,{uris['second']})" in shown["Properties"]
    of_table = next(row[1] for row in found["remote table"] if row[0] == "Table Properties")
    assert f"metastored.remote={THERE}.orders" in of_table


def test_partitions_are_listed(found: dict[str, Any]) -> None:
    assert found["partitions"] == [["ds=1"], ["ds=2"], ["ds=3"]]


def test_a_view_with_and_without_the_name_of_its_database_is_selected(found: dict[str, Any]) -> None:
    assert (found["view"], found["bare view"]) == ([["ann"]], [["ann"], ["bob"]])


def test_the_remote_is_asked_for_the_partitions_of_the_query_only(found: dict[str, Any]) -> None:
    assert found["pruned"] == [[3]]
    calls = found["calls"]
    start = next(at for at, call in enumerate(calls) if b"marker_before" in call.body)
    end = next(at for at, call in enumerate(calls) if b"marker_after" in call.body)
    about_partitions = [call for call in calls[start:end] if "partition" in call.name]
    assert [call.name for call in about_partitions] == ["get_partitions_by_filter"]
    assert b"ds = " in about_partitions[0].body


def test_a_remote_table_is_selected(found: dict[str, Any]) -> None:
    assert found["of a remote table"] == [[2]]


def test_a_write_is_refused_with_the_name_of_the_remote(found: dict[str, Any]) -> None:
    assert "remote database 'second'" in found["refused"] and "read-only" in found["refused"]


def test_spark_refuses_to_empty_a_managed_table_of_a_read_only_remote(found: dict[str, Any]) -> None:
    """It is external here. Spark would delete the files of a managed one before it calls the metastore."""
    assert "external table" in found["truncated"]
    assert found["selected"] == [[1, "ann"], [2, "bob"]]


@pytest.mark.parametrize(
    "write",
    ["overwritten", "appended", "of a remote table", "inserted", "saved", "created", "current database"],
)
def test_a_session_of_metastored_refuses_a_write_before_spark_starts(found: dict[str, Any], write: str) -> None:
    error = found["refused before files"][write]
    assert error.startswith("InvalidOperationException") and "was not written" in error
    assert found["selected"] == [[1, "ann"], [2, "bob"]]


def test_dropping_remotes_from_spark_leaves_what_is_there(found: dict[str, Any]) -> None:
    assert found["after"] == [["default"]]
    assert found["there"] == ("ds=1", "ds=2", "ds=3")


BROKEN = """
def tried(query):
    try:
        return [row[0] for row in spark.sql(query).collect()]
    except Exception as error:
        return str(error)

result = {query: tried(query) for query in ("SHOW DATABASES", "SELECT * FROM shop.plain", "SELECT * FROM shop.dead")}
"""


@pytest.mark.parametrize("partial", ["off", "on"])
def test_a_remote_that_is_down_breaks_the_list_of_databases_with_its_repair_and_nothing_else(partial: str) -> None:
    uri = f"thrift://127.0.0.1:{free_port()}"
    with running_server(remotes_partial=partial) as server, metastored.connect(server.uri, cache=False) as client:
        client.create_database("shop")
        client.create_table(metastored.table("shop.plain", {"id": "int"}))
        keys = f"('hive.metastore.uris' = '{uri}')"
        client.sql(f"CREATE REMOTE TABLE shop.dead CONNECTED TO stock.items WITH TBLPROPERTIES {keys}")
        client.sql(f"CREATE REMOTE CATALOG old PREFIX 'old_' WITH PROPERTIES {keys}")
        conf = {"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse}
        listed, plain, dead = run_spark(BROKEN, conf=conf).values()
    if partial == "on":
        assert listed == ["default", "shop"]
    else:
        assert f"remote catalog 'old' ({uri})" in listed and "(DROP REMOTE CATALOG old)" in listed
    assert plain == []
    assert f"remote table 'shop.dead' ('stock.items' at {uri})" in dead
