"""Copies of tables and databases between metastores, or to another format: `metastored.spark.copy_table`.

    copy_table(spark, "remote_db.orders", "shop.orders", partitions="ds >= '2024-01-01'")
    copy_database(spark, "remote_db", "mirror")

Importing this package does not import pyspark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metastored.client._sync.client import Client
from metastored.model.names import TableName, database_name, table_name
from metastored.spark.acid.reading import connected
from metastored.spark.copying.commits import copy_whole
from metastored.spark.copying.databases import copy_all
from metastored.spark.copying.files import copy_files
from metastored.spark.copying.planning import plan_copy
from metastored.spark.copying.results import CopyResult, DatabaseCopyResult
from metastored.spark.read_only import refuse_read_only
from metastored.spark.session_metastore import forget_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CopyResult", "DatabaseCopyResult", "copy_database", "copy_table"]


def copy_table(
    spark: SparkSession,
    source: str,
    target: str,
    partitions: str | Sequence[str] | None = None,
    format: str | None = None,
    mode: str = "incremental",
    client: Client | None = None,
) -> CopyResult:
    """Copies a table (`db.t`): data, schema, partitions and statistics.

    Both names are those of the session's metastore, in which other metastores are remotes; or of `client`. `partitions`
    is a condition over the partition keys, or a list of names (`ds=2024-01-01`). `format` is that of the target:
    parquet, orc, lance, iceberg or delta; by default that of an existing target, else that of the source, else parquet.

    `incremental` copies only what has changed at the source since an earlier copy, and drops partitions that an earlier
    copy made and the source does not have any more; `overwrite` copies everything. Files are copied byte for byte where
    all readers get the same rows from them, else rows are rewritten. They are read back and compared by the number of
    rows and a checksum before they are published; a difference raises CopyMismatch. Each partition is published
    completely or not at all, so a copy that was interrupted can be repeated. Raises InvalidOperationException for a
    target that belongs to a read-only remote.
    """
    with connected(spark, client) as used:
        return _copied(spark, used, table_name(source), table_name(target), partitions, format, mode)


def copy_database(
    spark: SparkSession,
    source: str,
    target: str,
    format: str | None = None,
    mode: str = "incremental",
    client: Client | None = None,
) -> DatabaseCopyResult:
    """Copies all tables and views of a database, each table as `copy_table` does. The target is created if it is new.

    The copy ends at the first table that cannot be copied. Tables that were copied before it stay, and a copy that is
    repeated finds them unchanged.
    """
    with connected(spark, client) as used:

        def one(source: TableName, target: TableName) -> CopyResult:
            return _copied(spark, used, source, target, None, format, mode)

        return copy_all(used, database_name(source), database_name(target), one)


def _copied(
    spark: SparkSession,
    client: Client,
    source: TableName,
    target: TableName,
    partitions: str | Sequence[str] | None,
    format: str | None,
    mode: str,
) -> CopyResult:
    refuse_read_only(client, [target])
    plan = plan_copy(spark, client, source, target, partitions, format, mode)
    done = copy_whole(spark, client, plan) if plan.whole else copy_files(spark, client, plan)
    forget_tables(spark)
    return done
