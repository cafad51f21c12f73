"""The calls about statistics and constraints of an adapted source, which has no constraints."""

from __future__ import annotations

from typing import Any

from metastored.connectors.adapted.aggregation import aggregated
from metastored.connectors.adapted.partitions import database_name
from metastored.connectors.adapted.sources import Source
from metastored.errors import NoSuchObjectException
from metastored.hive.names import partition_values
from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsDesc, ColumnStatisticsObj
from metastored.wire.generated.constraints import (
    CheckConstraintsResponse,
    DefaultConstraintsResponse,
    ForeignKeysResponse,
    NotNullConstraintsResponse,
    PrimaryKeysResponse,
    UniqueConstraintsResponse,
)
from metastored.wire.generated.statistics import (
    AggrStats,
    PartitionsStatsRequest,
    PartitionsStatsResult,
    TableStatsRequest,
    TableStatsResult,
)


class StatisticsCalls:
    """A function here that is named as a method of the API answers it."""

    source: Source

    def get_table_statistics_req(self, request: TableStatsRequest) -> TableStatsResult:
        """Those of columns; those of the whole table are among its parameters."""
        db = database_name(request.dbName, request.catName)
        statistics = self.source.column_statistics(db, request.tblName or "", request.colNames or ())
        return TableStatsResult(tableStats=tuple(statistics))

    def get_table_column_statistics(self, db: str, name: str, column: str) -> ColumnStatistics:
        statistics = tuple(self.source.column_statistics(database_name(db), name, (column,)))
        if not statistics:
            raise NoSuchObjectException(
                f"Statistics for dbName={db}, tableName={name}, columnName={column} do not exist."
            )
        return ColumnStatistics(ColumnStatisticsDesc(True, db, name), statistics)

    def get_partition_column_statistics(self, db: str, name: str, partition: str, column: str) -> ColumnStatistics:
        values = partition_values(partition, self._key_names(database_name(db), name))
        statistics = tuple(self.source.partition_statistics(database_name(db), name, values, (column,)))
        if not statistics:
            raise NoSuchObjectException(
                f"Statistics for dbName={db}, tableName={name}, partName={partition}, columnName={column} do not exist."
            )
        return ColumnStatistics(ColumnStatisticsDesc(False, db, name, partition), statistics)

    def get_partitions_statistics_req(self, request: PartitionsStatsRequest) -> PartitionsStatsResult:
        db, table = database_name(request.dbName, request.catName), request.tblName or ""
        return PartitionsStatsResult(self._of_partitions(db, table, request))

    def get_aggr_stats_for(self, request: PartitionsStatsRequest) -> AggrStats:
        db, table = database_name(request.dbName, request.catName), request.tblName or ""
        by_partition = self._of_partitions(db, table, request)
        return aggregated(request.partNames or (), request.colNames or (), by_partition)

    def _of_partitions(
        self, db: str, table: str, request: PartitionsStatsRequest
    ) -> dict[str, tuple[ColumnStatisticsObj, ...]]:
        """The statistics of the requested partitions, of those that have any."""
        keys, columns = self._key_names(db, table), request.colNames or ()
        names = tuple(dict.fromkeys(request.partNames or ()))
        if not keys or not names or not columns:
            return {}
        values = [partition_values(name, keys) for name in names]
        by_values = self.source.partitions_statistics(db, table, values, columns)
        return {name: tuple(each) for name, each in zip(names, by_values, strict=True) if each}

    def _key_names(self, db: str, table: str) -> tuple[str, ...]:
        return tuple(key.name or "" for key in self.source.table(db, table).partitionKeys or ())


class ConstraintCalls:
    """There are no constraints, which is not a failure for an engine that only reads."""

    def get_primary_keys(self, request: Any) -> PrimaryKeysResponse:
        return PrimaryKeysResponse(())

    def get_foreign_keys(self, request: Any) -> ForeignKeysResponse:
        return ForeignKeysResponse(())

    def get_unique_constraints(self, request: Any) -> UniqueConstraintsResponse:
        return UniqueConstraintsResponse(())

    def get_not_null_constraints(self, request: Any) -> NotNullConstraintsResponse:
        return NotNullConstraintsResponse(())

    def get_default_constraints(self, request: Any) -> DefaultConstraintsResponse:
        return DefaultConstraintsResponse(())

    def get_check_constraints(self, request: Any) -> CheckConstraintsResponse:
        return CheckConstraintsResponse(())
