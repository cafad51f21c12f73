"""Starts metastored, runs a short PySpark session against it, and prints the result.

    make demo

Spark is unmodified: it only gets the address of the metastore.
"""

from __future__ import annotations

import os
import shutil
import sys

from metastored.testing import running_server

STATEMENTS = (
    "create database orchard",
    "create table orchard.harvest (tree int, kg double, day string) using parquet partitioned by (day)",
    "insert into orchard.harvest values (1, 20.5, '2024-09-01'), (2, 31.0, '2024-09-01'), (1, 18.0, '2024-09-02')",
    "show partitions orchard.harvest",
    "select day, sum(kg) as kg from orchard.harvest where day >= '2024-09-02' group by day",
    "alter table orchard.harvest rename to orchard.apples",
    "show tables in orchard",
)


def main() -> int:
    if shutil.which("java") is None:
        print("the demo runs Spark, which needs Java 17: apt-get install openjdk-17-jre-headless", file=sys.stderr)
        return 1
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    with running_server(workers=2) as server:
        print(f"metastored serves at {server.uri}\n", flush=True)
        spark = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "ERROR")
            .config("spark.sql.warehouse.dir", server.warehouse)
            .config("spark.hadoop.hive.metastore.uris", server.uri)
            .enableHiveSupport()
            .getOrCreate()
        )
        try:
            for statement in STATEMENTS:
                print(f"spark-sql> {statement}")
                rows = spark.sql(statement).collect()
                for row in rows:
                    print("   ", "  ".join(str(value) for value in row))
                print(flush=True)
        finally:
            spark.stop()
    print("That was Spark's own Hive client, on a metastore that pip installed.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
