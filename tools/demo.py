"""Starts an Apache metastore as the old cluster and metastored as the new one, and joins tables of both in PySpark.

    make demo

Spark is unmodified: it only gets the address of metastored. The statement that makes the remote is metastored's own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import metastored
import metastored.spark
from metastored.testing import running_server
from tests.support.apache import ApacheMetastore, apache_2_3

OLD = (
    "create database orchard",
    "create table orchard.harvest (tree int, kg double, day string) using parquet partitioned by (day)",
    "insert into orchard.harvest values (1, 20.5, '2024-09-01'), (2, 31.0, '2024-09-01'), (1, 18.0, '2024-09-02')",
)
NEW = (
    "CREATE REMOTE DATABASE old_orchard CONNECTED TO orchard WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')",
    "SHOW REMOTES",
    "show databases",
    "create database market",
    "create table market.prices (day string, euro double) using parquet",
    "insert into market.prices values ('2024-09-01', 2.0), ('2024-09-02', 2.5)",
    "select h.day, sum(h.kg * p.euro) as euro from old_orchard.harvest h join market.prices p on h.day = p.day "
    "group by h.day order by h.day",
    "show partitions old_orchard.harvest",
    "DROP REMOTE DATABASE old_orchard",
    "show databases",
)


def main() -> int:
    if shutil.which("java") is None:
        print("the demo runs Spark, which needs Java 17: apt-get install openjdk-17-jre-headless", file=sys.stderr)
        return 1
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with apache_2_3() as old, running_server(workers=2) as new:
        print(f"The old cluster: Apache Hive metastore 2.3.10 at {old.uri}\n", flush=True)
        show(old.uri, f"file:{old.warehouse}", OLD, old)
        print(f"The new one: metastored at {new.uri}\n", flush=True)
        show(new.uri, new.warehouse, NEW, old)
    print("That was Spark's own Hive client, on a metastore that pip installed, with a table that never moved.")
    return 0


def show(uri: str, warehouse: str, statements: Sequence[str], old: ApacheMetastore) -> None:
    """Executes statements in a new Spark session, and prints them with their results."""
    spark = session(uri, warehouse)
    try:
        for statement in statements:
            text = statement.format(uri=old.uri)
            print(f"sql> {text}")
            rows = metastored.spark.sql(spark, text).collect()
            for row in rows:
                print("   ", "  ".join("" if value is None else str(value) for value in row))
            print(flush=True)
    finally:
        stop(spark)


def session(uri: str, warehouse: str) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    for key, value in metastored.spark.conf(uri, warehouse=warehouse).items():
        builder = builder.config(key, value)
    return builder.enableHiveSupport().getOrCreate()


def stop(spark: Any) -> None:
    """Ends the session and its JVM: a JVM connects to one metastore only."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    spark.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        SparkContext._gateway = SparkContext._jvm = None


if __name__ == "__main__":
    raise SystemExit(main())
