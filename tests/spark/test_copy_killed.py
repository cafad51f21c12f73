"""Copies whose driver is killed: nothing wrong is visible, and the next copy finishes without doing anything twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.testing import RunningServer, running_server
from tests.support.spark import SparkFailure, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SOURCE = """
for ds in range(1, 6):
    spark.range(ds * 10).selectExpr("id", f"{ds} as ds").write.mode("append").partitionBy("ds").parquet("FOLDER/t")
spark.sql("CREATE DATABASE far")
spark.sql("CREATE DATABASE near")
spark.sql("CREATE TABLE far.t (id BIGINT, ds INT) USING parquet PARTITIONED BY (ds) LOCATION 'FOLDER/t'")
spark.sql("MSCK REPAIR TABLE far.t")
"""
COPY = """
import os, signal
import metastored.spark
from metastored.spark.copying import files

files.BATCH = 1
publish, calls = files._publish, []

def killed(*arguments):
    calls.append(1)
    if POINT == "before" and len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    publish(*arguments)
    if POINT == "after" and len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

files._publish = killed
done = metastored.spark.copy(spark, "far.t", "near.t")
result = [done.rows, list(done.partitions), list(done.skipped), spark.table("near.t").count()]
"""


def run(server: RunningServer, folder: Path, script: str) -> Any:
    conf = {"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse}
    return run_spark(script.replace("FOLDER", str(folder)), conf=conf)


def test_a_killed_copy_goes_on_with_the_partitions_that_are_not_published(tmp_path: Path) -> None:
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        # The files of the third partition are written and moved, and the metastore does not name them.
        with pytest.raises(SparkFailure, match="exit code -9"):
            run(server, tmp_path, SOURCE + COPY.replace("POINT", "'before'"))
        assert client.partition_names("near.t") == ("ds=1", "ds=2")
        root = Path(local_path((client.table("near.t").sd or metastored.structs.StorageDescriptor()).location or ""))
        assert list(root.glob("ds=3/copy-*"))
        # The fourth is published, and the copy is killed before it can do anything else.
        with pytest.raises(SparkFailure, match="exit code -9"):
            run(server, tmp_path, COPY.replace("POINT", "'after'"))
        assert client.partition_names("near.t") == ("ds=1", "ds=2", "ds=3", "ds=4")
        rows, copied, skipped, count = run(server, tmp_path, COPY.replace("POINT", "None"))
        assert (rows, copied, skipped) == (50, ["ds=5"], ["ds=1", "ds=2", "ds=3", "ds=4"])
        assert count == 10 + 20 + 30 + 40 + 50
        for each in client.partitions("near.t"):
            location = Path(local_path((each.sd and each.sd.location) or ""))
            assert [path.name for path in location.parent.iterdir()] == [location.name]
        assert not list(root.glob(".copy-*"))
