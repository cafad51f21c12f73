"""Verified Parquet files for tables whose commits are made by other libraries: Iceberg and Delta."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from metastored.hive.locations import join
from metastored.spark.copying.checksums import Checksum
from metastored.spark.copying.planning import CopyPlan
from metastored.spark.copying.staging import size_of, stage, staged_checksum, verify
from metastored.spark.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY: Final = "copy_partition_"
"""The prefix of copies of partition keys: Spark removes a column by which it partitions from the files."""
_TIMESTAMPS: Final = "spark.sql.parquet.outputTimestampType"


def write_parquet(
    spark: Any, plan: CopyPlan, frame: DataFrame, files: Files, location: str, keys_in_files: bool
) -> tuple[Checksum, int]:
    """Writes the rows of a DataFrame, each file with the rows of one partition. Returns their checksum and size.

    With `keys_in_files` the files have the partition keys as columns. If they are not equal to the rows, they are
    removed and CopyMismatch is raised.
    """
    from pyspark.sql import functions as F

    keys, written = list(plan.keys), frame
    if keys_in_files:
        for key in plan.keys:
            written = written.withColumn(_KEY + key, F.col(f"`{key}`"))
        keys = [_KEY + key for key in keys]
    try:
        with timestamps_in_microseconds(spark):
            expected = stage(written, "parquet", location, keys)
        if expected.rows:
            verify(str(plan.source), expected, staged_checksum(spark, written, "parquet", location))
    except BaseException:
        files.remove(location)
        raise
    return expected, size_of(files, location)[1]


def paths_below(files: Files, location: str, path: str = "") -> list[tuple[str, int]]:
    """The data files below a directory: their paths from there, and their sizes."""
    paths: list[tuple[str, int]] = []
    for entry in files.entries(join(location, path) if path else location):
        below = f"{path}/{entry.name}" if path else entry.name
        if entry.is_directory:
            paths += paths_below(files, location, below)
        elif not entry.name.startswith((".", "_")):
            paths.append((below, entry.size))
    return paths


@contextmanager
def timestamps_in_microseconds(spark: Any) -> Iterator[None]:
    """Iceberg and Delta do not have Spark's default, INT96."""
    before = spark.conf.get(_TIMESTAMPS)
    spark.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        spark.conf.set(_TIMESTAMPS, before)
