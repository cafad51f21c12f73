"""Copies the statistics of columns that the source's metastore has. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, NotSupported
from metastored.model.names import TableName
from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsDesc, ColumnStatisticsObj
from metastored.wire.generated.statistics import SetPartitionsStatsRequest

_MISSING = (ApplicationError, MetastoreError, NotSupported)
"""A metastore without these statistics: a copy is complete without them."""


def copy_table_statistics(client: Client, source: TableName, target: TableName) -> None:
    """Copies the statistics of the columns of a table without partitions."""
    try:
        statistics = client.statistics(source)
    except _MISSING:
        return
    if statistics:
        client.set_statistics(_statistics(target, None, list(statistics.values())))


def copy_partition_statistics(client: Client, source: TableName, target: TableName, names: Sequence[str]) -> None:
    """Copies the statistics of the columns of partitions."""
    try:
        by_partition = client.partition_statistics(source, names)
    except _MISSING:
        return
    statistics = tuple(
        _statistics(target, name, list(columns.values())) for name, columns in by_partition.items() if columns
    )
    if statistics:
        client.api.set_aggr_stats_for(SetPartitionsStatsRequest(colStats=statistics, engine="hive"))


def _statistics(target: TableName, partition: str | None, columns: list[ColumnStatisticsObj]) -> ColumnStatistics:
    about = ColumnStatisticsDesc(
        isTblLevel=partition is None,
        dbName=target.database,
        tableName=target.table,
        partName=partition,
        catName=target.catalog_field,
    )
    return ColumnStatistics(statsDesc=about, statsObj=tuple(columns), engine="hive")
