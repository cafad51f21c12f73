"""Starts the two metastores and Spark, runs the steps, and stops everything."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import metastored
import metastored.spark
from metastored.spark.interpreter import interpreter_set
from metastored.testing import RunningServer, running_server
from tests.support.apache import ApacheMetastore, apache_2_3
from tools.demo import data, steps
from tools.demo.show import Steps, say


def main() -> int:
    if shutil.which("java") is None:
        print("the demo runs Spark, which needs Java 17: apt-get install openjdk-17-jre-headless", file=sys.stderr)
        return 1
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    shown = Steps(9)
    with apache_2_3() as old, running_server(workers=2) as new:
        try:
            run(shown, old, new)
            shown.summary()
            print("That was Spark's own Hive client, on a metastore that pip installed, with tables that never moved.")
            if os.environ.get("KEEP"):
                keep(old, new)
        except KeyboardInterrupt:
            return 130
    return 0


def run(shown: Steps, old: ApacheMetastore, new: RunningServer) -> None:
    with shown.step("The old cluster: an Apache Hive metastore 2.3.10 with orders and customers"):
        say(f"at {old.uri}")
        with metastored.connect(old.uri) as client:
            say(f"{data.fill_old_cluster(client, Path(old.warehouse)):,} rows in shop.customers and shop.orders")
    with shown.step("The new cluster: metastored, and Spark 4 with its address"):
        say(f"at {new.uri}")
        spark = session(new)
    try:
        with metastored.connect(new.uri) as client:
            with shown.step("The old database appears in the new metastore"):
                steps.connect_old_cluster(spark, old.uri)
            with shown.step("One query joins tables of both"):
                steps.join_both(spark)
            with shown.step("MERGE into an ACID table, without a jar"):
                steps.merge_accounts(spark)
            with shown.step("ANALYZE: statistics for Spark, Hive and Trino"):
                steps.analyze(spark)
            with shown.step("Compaction as a Spark job"):
                steps.compact(spark, client)
            with shown.step("A Lance table, and a vector search"):
                steps.search_vectors(spark, client)
    finally:
        stop(spark)
    with shown.step("The same as a file: copy, join, analyze"):
        steps.run_pipeline(new.uri)


def session(new: RunningServer) -> Any:
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        **metastored.spark.conf(new.uri, warehouse=new.warehouse),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
    }
    with interpreter_set():
        return SparkSession.builder.master("local[2]").config(map=settings).enableHiveSupport().getOrCreate()


def stop(spark: Any) -> None:
    """Ends the session and its JVM, so that the next step has the machine."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    spark.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        SparkContext._gateway = SparkContext._jvm = None


def keep(old: ApacheMetastore, new: RunningServer) -> None:
    """Waits for Ctrl-C."""
    print(f"\nThe old metastore: {old.uri}\nmetastored:        {new.uri}\nThe warehouse:     {new.warehouse}")
    command = os.path.relpath(Path(sys.executable).with_name("metastored"))
    print(f"Try: {command} sql --uri {new.uri} -e 'SHOW REMOTES'\nCtrl-C stops all.", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    raise SystemExit(main())
