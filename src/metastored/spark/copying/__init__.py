"""Copies of tables and databases between metastores, or to another format: `metastored.spark.copy`.

    copy(spark, "remote_db.orders", "shop.orders", partitions="ds >= '2024-01-01'")

Importing this package does not import pyspark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.model.names import TableName, database_name, table_name
from metastored.spark.acid.reading import connected
from metastored.spark.copying.commits import copy_whole
from metastored.spark.copying.databases import copy_database
from metastored.spark.copying.files import copy_files
from metastored.spark.copying.planning import plan_copy
from metastored.spark.copying.results import CopyResult, DatabaseCopyResult
from metastored.spark.read_only import refuse_read_only
from metastored.spark.session_metastore import forget_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CopyResult", "DatabaseCopyResult", "copy"]


def copy(
    spark: SparkSession,
    source: str,
    target: str,
    partitions: str | Sequence[str] | None = None,
    format: str | None = None,
    mode: str = "incremental",
    client: Client | None = None,
) -> CopyResult | DatabaseCopyResult:
    """Copies a table (`db.t`) or all tables and views of a database (`db`): data, schema, partitions and statistics.

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

        def one(source: TableName, target: TableName) -> CopyResult:
            refuse_read_only(used, [target])
            plan = plan_copy(spark, used, source, target, partitions, format, mode)
            done = copy_whole(spark, used, plan) if plan.whole else copy_files(spark, used, plan)
            forget_tables(spark)
            return done

        if "." in source and "." in target:
            return one(table_name(source), table_name(target))
        if "." in source or "." in target:
            raise InvalidInputException(f"{source} and {target} are not two tables or two databases")
        if partitions is not None:
            raise InvalidInputException("partitions belong to a table, and a database was given")
        return copy_database(used, database_name(source), database_name(target), one)
