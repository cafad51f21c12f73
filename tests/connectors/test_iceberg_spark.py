"""A remote table of Iceberg, read by Spark with Iceberg's own library, which knows nothing of remotes."""

from __future__ import annotations

from pathlib import Path

import pytest

import metastored
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from tests.connectors.test_iceberg_remote import Lake
from tests.support.forks import running_server
from tests.support.spark import SPARK_3_5, iceberg_jar, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
def rows(statement):
    return [[str(value) for value in row] for row in spark.sql(statement).collect()]

result = {
    "table": rows("select * from ice.here.orders order by id"),
    "database": rows("select count(*) from ice.sales.orders"),
    "listed": [row[1] for row in rows("show tables in ice.sales")],
    "joined": rows(
        "select a.name from ice.here.orders a join ice.sales.orders b on a.id = b.id where b.id > 1 order by 1"
    ),
}
"""


def test_spark_selects_and_joins_remote_tables_of_iceberg(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with running_server() as server:
        with metastored.connect(server.uri, user="ann") as client:
            client.create_database("here")
            path = {"iceberg.table.path": lake.orders.location()}
            sd = StorageDescriptor(cols=())
            client.create_table(Table(tableName="orders", dbName="here", sd=sd, parameters=path))
            catalog = {
                "metastored.remote": "Sales",
                "metastored.remote.via": "iceberg",
                "iceberg.catalog.uri": lake.uri,
                "iceberg.catalog.name": "lake",
            }
            client.api.create_database(Database("sales", parameters=catalog))
        conf = {
            "spark.master": "local[1]",
            "spark.jars": iceberg_jar(),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hive",
            "spark.sql.catalog.ice.uri": server.uri,
            "spark.sql.catalog.ice.warehouse": server.warehouse,
        }
        found = run_spark(SCRIPT, conf=conf, python=str(SPARK_3_5 / "bin/python"))
    lake.catalog.close()
    assert found == {
        "table": [["1", "a"], ["2", "b"], ["3", "c"]],
        "database": [["3"]],
        "listed": ["orders"],
        "joined": [["b"], ["c"]],
    }
