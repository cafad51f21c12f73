"""PySpark, unchanged, on a metastored whose remote is a real Hive metastore: remotes are made and used by SQL alone."""

from __future__ import annotations

import pytest

from metastored.testing import running_server
from tests.support.apache import ApacheMetastore
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.apache, pytest.mark.slow]

THERE = "spark_there"

BEFORE = f"""
spark.sql("CREATE DATABASE {THERE}")
spark.sql("CREATE TABLE {THERE}.clicks (id INT, item STRING) PARTITIONED BY (ds STRING) STORED AS parquet")
for ds in ("1", "2", "3"):
    spark.sql(f"INSERT INTO {THERE}.clicks PARTITION (ds='{{ds}}') VALUES ({{ds}}, 'item-{{ds}}')")
spark.sql("CREATE VIEW {THERE}.recent AS SELECT id, item FROM {THERE}.clicks WHERE ds >= '2'")
spark.sql("USE {THERE}")
spark.sql("CREATE VIEW {THERE}.bare AS SELECT id FROM clicks")
result = True
"""

THROUGH = """
def rows(query):
    return [list(row) for row in spark.sql(query).collect()]

spark.sql("CREATE DATABASE Old WITH DBPROPERTIES ('hive.metastore.uris'='URI', 'metastored.remote'='THERE')")
spark.sql("CREATE DATABASE shop")
spark.sql("CREATE TABLE shop.prices (item STRING, price INT) STORED AS parquet")
spark.sql("INSERT INTO shop.prices VALUES ('item-2', 20), ('item-3', 30)")
spark.sql(
    "CREATE TABLE shop.seen (ignored INT) STORED AS parquet "
    "TBLPROPERTIES ('metastored.remote'='THERE.clicks', 'hive.metastore.uris'='URI')"
)
refused = None
try:
    spark.sql("INSERT INTO old.clicks PARTITION (ds='9') VALUES (9, 'x')")
except Exception as error:
    refused = str(error)
result = {
    "databases": rows("SHOW DATABASES"),
    "tables": rows("SHOW TABLES IN old"),
    "joined": rows("SELECT c.id, p.price FROM old.clicks c JOIN shop.prices p ON c.item = p.item ORDER BY c.id"),
    "pruned": rows("SELECT id FROM shop.seen WHERE ds = '2'"),
    "partitions": rows("SHOW PARTITIONS old.clicks"),
    "view": rows("SELECT id FROM old.recent ORDER BY id"),
    "bare": rows("SELECT id FROM old.bare ORDER BY id"),
    "described": dict(row[:2] for row in rows("DESCRIBE EXTENDED shop.seen") if row[0] == "Table Properties"),
    "refused": refused,
}
spark.sql("DROP TABLE shop.seen PURGE")
spark.sql("DROP DATABASE old CASCADE")
spark.sql("DROP DATABASE shop CASCADE")
result["after"] = rows("SHOW DATABASES")
"""


def test_spark_joins_local_and_remote_tables_and_sees_views_under_local_names(hive_2_3: ApacheMetastore) -> None:
    uri = f"thrift://{hive_2_3.host}:{hive_2_3.port}"
    warehouse = f"file:{hive_2_3.warehouse}"
    assert run_spark(BEFORE, conf=direct(uri, warehouse))
    with running_server() as server:
        script = THROUGH.replace("URI", uri).replace("THERE", THERE)
        found = run_spark(script, conf=direct(server.uri, server.warehouse))
    assert found["databases"] == [["default"], ["old"], ["shop"]]
    assert sorted(row[1] for row in found["tables"]) == ["bare", "clicks", "recent"]
    assert {row[0] for row in found["tables"]} == {"old"}
    assert found["joined"] == [[2, 20], [3, 30]]
    assert found["pruned"] == [[2]]
    assert found["partitions"] == [["ds=1"], ["ds=2"], ["ds=3"]]
    assert found["view"] == [[2], [3]]
    assert found["bare"] == [[1], [2], [3]]
    assert f"metastored.remote={THERE}.clicks" in found["described"]["Table Properties"]
    assert "remote database 'old'" in found["refused"] and "read-only" in found["refused"]
    assert found["after"] == [["default"]]
    assert run_spark(f"result = spark.table('{THERE}.clicks').count()", conf=direct(uri, warehouse)) == 3


def direct(uri: str, warehouse: str) -> dict[str, str]:
    return {"spark.hadoop.hive.metastore.uris": uri, "spark.sql.warehouse.dir": warehouse}
