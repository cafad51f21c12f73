"""PySpark, unmodified, on one metastored in front of an Apache metastore 2.3.10 and a second metastored."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import metastored
from metastored.testing import RunningServer, running_server
from tests.support.apache import ApacheMetastore
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.apache, pytest.mark.slow]

OLD = "spark_remotes_old"

SCRIPT = """
def rows(query):
    return [list(row) for row in spark.sql(query).collect()]

spark.sql("CREATE DATABASE old WITH DBPROPERTIES ('hive.metastore.uris'='OLD_URI', 'metastored.remote'='OLD_NAME')")
spark.sql("CREATE DATABASE second WITH DBPROPERTIES ('hive.metastore.uris'='SECOND_URI', 'metastored.remote'='far')")
customers = spark.createDataFrame([(1, 'ann'), (2, 'bob')], "id int, name string")
customers.write.mode("overwrite").parquet("OLD_PATH/customers")
for ds in ("1", "2", "3"):
    spark.range(int(ds)).selectExpr("cast(id + 1 as int) as customer", "10 * DS as amount".replace("DS", ds)) \\
        .write.mode("overwrite").parquet("SECOND_PATH/orders/ds=" + ds)
spark.sql("CREATE DATABASE shop")
spark.sql("CREATE TABLE shop.discounts (customer INT, percent INT) USING parquet")
spark.sql("INSERT INTO shop.discounts VALUES (1, 50), (2, 20)")
result = {
    "databases": rows("SHOW DATABASES"),
    "selected": rows("SELECT * FROM old.customers ORDER BY id"),
    "joined": rows('''
        SELECT c.name, sum(o.amount * d.percent / 100) AS total
        FROM old.customers c JOIN second.orders o ON o.customer = c.id JOIN shop.discounts d ON d.customer = c.id
        WHERE o.ds >= '2' GROUP BY c.name ORDER BY c.name'''),
    "described": rows("DESCRIBE EXTENDED old.customers"),
    "database": rows("DESCRIBE DATABASE EXTENDED second"),
}
spark.sql("SELECT 'before the pruned query'").collect()
spark.catalog.tableExists("second.marker_before")
result["pruned"] = rows("SELECT count(*) FROM second.orders WHERE ds = '3'")
spark.catalog.tableExists("second.marker_after")
"""


@pytest.fixture(scope="module")
def found(hive_2_3: ApacheMetastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What Spark says, with the log of the second metastored and the numbers of calls to each remote."""
    old_path, second_path = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("second")
    with running_server(audit="on") as second, running_server(http_port=0, http_tls="off") as server:
        with metastored.connect(hive_2_3.uri) as client:
            client.create_database(OLD)
            client.create_table(
                metastored.table(
                    f"{OLD}.customers",
                    {"id": "int", "name": "string"},
                    format="parquet",
                    location=f"file:{old_path / 'customers'}",
                )
            )
        with metastored.connect(second.uri) as client:
            client.create_database("far")
            orders = metastored.table(
                "far.orders",
                {"customer": "int", "amount": "int"},
                partitioned_by={"ds": "string"},
                format="parquet",
                location=f"file:{second_path / 'orders'}",
            )
            client.create_table(orders)
            client.add_partitions("far.orders", [("1",), ("2",), ("3",)])
        script = SCRIPT
        for word, value in (
            ("OLD_URI", hive_2_3.uri),
            ("OLD_NAME", OLD),
            ("OLD_PATH", f"file:{old_path}"),
            ("SECOND_URI", second.uri),
            ("SECOND_PATH", f"file:{second_path}"),
        ):
            script = script.replace(word, value)
        conf = {"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse}
        result: dict[str, Any] = run_spark(script, conf=conf)
        result["log"] = second.log.splitlines()
        result["counted"] = counted(server, hive_2_3.uri)
        result["uris"] = (hive_2_3.uri, second.uri)
        yield result
    with metastored.connect(hive_2_3.uri) as client:
        client.drop_database(OLD, cascade=True)


def counted(server: RunningServer, uri: str) -> set[str]:
    """The methods that were called at a remote, as metastored's metrics have them."""
    deadline = time.monotonic() + 30
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/metrics") as page:
            lines = page.read().decode().splitlines()
        methods = {
            line.split('method="')[1].split('"')[0]
            for line in lines
            if line.startswith("metastored_remote_calls_total{") and f'remote="{uri}"' in line
        }
        if methods:
            return methods
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_create_database_with_an_address_makes_a_remote_database(found: dict[str, Any]) -> None:
    assert found["databases"] == [["default"], ["old"], ["second"], ["shop"]]


def test_a_table_of_apache_hive_is_selected(found: dict[str, Any]) -> None:
    assert found["selected"] == [[1, "ann"], [2, "bob"]]
    assert "get_table" in found["counted"]


def test_one_query_joins_apache_hive_a_second_metastored_and_a_local_table(found: dict[str, Any]) -> None:
    assert [[name, float(total)] for name, total in found["joined"]] == [["ann", 25.0], ["bob", 10.0]]


def test_describe_shows_the_configuration_of_the_remote(found: dict[str, Any]) -> None:
    old, second = found["uris"]
    properties = next(row[1] for row in found["described"] if row[0] == "Table Properties")
    assert f"metastored.remote={OLD}.customers" in properties and f"hive.metastore.uris={old}" in properties
    assert ["Database", "old", ""] in found["described"]
    shown = dict(row[:2] for row in found["database"])
    assert f"(hive.metastore.uris,{second})" in shown["Properties"]


def test_the_remote_is_asked_for_the_partitions_of_the_query_only(found: dict[str, Any]) -> None:
    assert found["pruned"] == [[3]]
    lines = found["log"]
    start = next(at for at, line in enumerate(lines) if "marker_before" in line)
    end = next(at for at, line in enumerate(lines) if "marker_after" in line)
    methods = [line.split("method=")[1].split()[0] for line in lines[start + 1 : end] if "method=" in line]
    assert [method for method in methods if "partition" in method] == ["get_partitions_by_filter"]
