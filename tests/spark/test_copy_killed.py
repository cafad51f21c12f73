"""Copies whose driver is killed: nothing wrong is visible, and the next copy finishes without doing anything twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.structs import StorageDescriptor
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
from metastored.hive.locations import local_path
from metastored.spark.files import LocalFiles
from metastored.hive.transactions import leases
from metastored.spark.copying import files

files.BATCH, leases.HEARTBEAT, leases.EXPIRES = 1, 0.2, 1.0
publish, copy_file, published, copied = files._publish, LocalFiles.copy, [], []

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def killed_in_a_file(self, source, target):
    copied.append(1)
    if POINT == "in a file" and len(copied) == 1:
        with open(local_path(source), "rb") as read, open(local_path(target), "wb") as written:
            written.write(read.read()[:100])
        killed()
    return copy_file(self, source, target)

def killed_at_publishing(*arguments):
    published.append(1)
    if POINT == "before" and len(published) == 3:
        killed()
    publish(*arguments)
    if POINT == "after" and len(published) == 2:
        killed()

LocalFiles.copy, files._publish = killed_in_a_file, killed_at_publishing
done = metastored.spark.copy_table(spark, "far.t", "near.t", format=FORMAT)
result = [done.rows, done.copied_files, list(done.partitions), list(done.skipped), spark.table("near.t").count()]
"""


def directory(sd: StorageDescriptor | None) -> Path:
    return Path(local_path((sd or StorageDescriptor()).location or ""))


def run(server: RunningServer, folder: Path, script: str) -> Any:
    """The result of a copy. A JVM of its own, which ends when the program is killed."""
    conf = {"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse}
    return run_spark(script.replace("FOLDER", str(folder)), conf=conf, fresh=True)


@pytest.mark.parametrize(
    ("format", "files", "after"),
    [("parquet", 1, True), ("orc", 0, False), pytest.param("orc", 0, True, marks=pytest.mark.soak)],
    ids=["files are copied", "rows are rewritten", "rows are rewritten, two kills"],
)
def test_a_killed_copy_goes_on_with_the_partitions_that_are_not_published(
    tmp_path: Path, format: str, files: int, after: bool
) -> None:
    """With `after`, it is killed once more, after a partition was published: of rows, that is in `make soak`."""

    def copy(point: str | None) -> str:
        return COPY.replace("POINT", repr(point)).replace("FORMAT", repr(format))

    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        source = SOURCE
        if files:
            # A part of a file is in a directory that nobody reads, and the target has no partition.
            with pytest.raises(SparkFailure, match="exit code -9"):
                run(server, tmp_path, source + copy("in a file"))
            assert client.partition_names("near.t") == ()
            assert list(directory(client.table("near.t").sd).glob(".copy-*/rows/*/*"))
            source = ""
        # The files of the third partition are written and moved, and the metastore does not name them.
        with pytest.raises(SparkFailure, match="exit code -9"):
            run(server, tmp_path, source + copy("before"))
        assert client.partition_names("near.t") == ("ds=1", "ds=2")
        root = directory(client.table("near.t").sd)
        assert list(root.glob("ds=3/copy-*"))
        published = 2
        if after:
            # The fourth is published, and the copy is killed before it can do anything else.
            with pytest.raises(SparkFailure, match="exit code -9"):
                run(server, tmp_path, copy("after"))
            assert client.partition_names("near.t") == ("ds=1", "ds=2", "ds=3", "ds=4")
            published = 4
        *figures, copied, skipped, count = run(server, tmp_path, copy(None))
        names = [f"ds={number}" for number in range(1, 6)]
        rows = sum(number * 10 for number in range(published + 1, 6))
        assert (figures, copied, skipped) == ([rows, files * (5 - published)], names[published:], names[:published])
        assert count == 10 + 20 + 30 + 40 + 50
        for each in client.partitions("near.t"):
            location = directory(each.sd)
            assert [path.name for path in location.parent.iterdir()] == [location.name]
        assert not list(root.glob(".copy-*"))
