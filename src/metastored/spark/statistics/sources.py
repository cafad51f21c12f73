"""The rows and files that an analyze reads: of a plain table by Spark's catalog, of a transactional one at a snapshot.

Files are listed before the rows are read. If files change in between, the next run sees another fingerprint and
analyzes them again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from metastored.client._sync.client import Client
from metastored.errors import ConfigError, InvalidInputException
from metastored.hive.locations import same_location
from metastored.hive.names import DEFAULT_PARTITION, make_part_name
from metastored.hive.quoting import backquoted
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.model.formats import format_of
from metastored.model.names import TableName
from metastored.model.partitions import keys_of, name_of
from metastored.model.spark.properties import PARTITION_PROVIDER, PARTITIONS_IN_CATALOG, PROVIDER
from metastored.spark.files import in_threads
from metastored.spark.statistics.files import DataFiles, acid_files, plain_files
from metastored.spark.table_data import data_location
from metastored.wire.generated.common import Table
from metastored.wire.generated.partitions import Partition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Part(NamedTuple):
    """A partition of the metastore, or a table without partitions."""

    name: str | None
    parameters: Mapping[str, str]
    files: DataFiles


class Source(Protocol):
    """A table to be analyzed."""

    parts: Sequence[Part]

    def rows(self, names: Collection[str] | None) -> DataFrame:
        """The rows of these partitions, or more; None means all. The keys are the last columns."""

    def parquet_locations(self) -> Mapping[str | None, str] | None:
        """Where the files of each part are, if all of them are Parquet and every row of them is visible."""


class PlainSource:
    """A table that Spark reads itself."""

    def __init__(self, spark: SparkSession, name: TableName, table: Table, partitions: Sequence[Partition]) -> None:
        self._spark = spark
        self._name = name
        self._table = table
        places: list[tuple[str | None, Mapping[str, str], str]]
        if keys_of(table):
            places = [
                (name_of(table, each.values or ()), each.parameters or {}, _location(each)) for each in partitions
            ]
        else:
            places = [(None, table.parameters or {}, data_location(table))]
        files = in_threads(lambda place: plain_files(spark, place[2]), places)
        self.parts: Sequence[Part] = [
            Part(part, parameters, data_files) for (part, parameters, _), data_files in zip(places, files, strict=True)
        ]

        self._locations = {part: location for part, _, location in places}
        self._frame: DataFrame | None = None

    def parquet_locations(self) -> Mapping[str | None, str] | None:
        return self._locations if format_of(self._table) == "parquet" else None

    def rows(self, names: Collection[str] | None) -> DataFrame:
        if self._frame is None:
            full = f"{backquoted(self._name.database)}.{backquoted(self._name.table)}"
            self._check_catalog(full)
            self._spark.catalog.refreshTable(full)
            self._frame = self._spark.table(full)
        return self._frame

    def _check_catalog(self, full: str) -> None:
        """Raises ConfigError if the session has no table of this name, or another one: its rows would be analyzed."""
        from pyspark.errors import AnalysisException

        hint = "use a session of the same metastore (metastored.spark.session)"
        try:
            shown = {row[0]: row[1] for row in self._spark.sql(f"DESCRIBE TABLE EXTENDED {full}").collect()}
        except AnalysisException as error:
            raise ConfigError(f"the Spark session does not find {self._name}: {hint}") from error
        location, other = data_location(self._table), shown.get("Location")
        if not other or not same_location(other, location):
            raise ConfigError(f"the Spark session has another table {self._name}, at {other}, not {location}: {hint}")


class AcidSource:
    """A transactional table at a snapshot."""

    def __init__(
        self,
        spark: SparkSession,
        client: Client,
        name: TableName,
        partitions: Sequence[Partition],
        write_ids: ValidWriteIdList,
        transactions: ValidTxnList,
    ) -> None:
        from metastored.spark.acid.files.state import table_state
        from metastored.spark.acid.tables import acid_table

        self._spark = spark
        table = acid_table(client, name)
        keys = table.key_names
        parameters: dict[str | None, Mapping[str, str]] = {
            name_of(table.struct, each.values or ()): each.parameters or {} for each in partitions
        }
        if not keys:
            parameters = {None: table.parameters}
        names = None if not keys else [each for each in parameters if each is not None]
        self._state = table_state(spark, client, table, write_ids, transactions, names)
        self._names = [
            make_part_name(keys, [DEFAULT_PARTITION if value is None else value for value in each.values])
            if keys
            else None
            for each in self._state.partitions
        ]
        files = in_threads(lambda each: acid_files(spark, each), self._state.partitions)
        self.parts: Sequence[Part] = [
            Part(part, parameters.get(part, {}), data_files)
            for part, data_files in zip(self._names, files, strict=True)
        ]

    def parquet_locations(self) -> None:
        return None

    def rows(self, names: Collection[str] | None) -> DataFrame:
        from metastored.spark.acid.rows.scan import scan

        partitions = tuple(
            each if names is None or part in names else dataclasses.replace(each, data=(), deletes=())
            for part, each in zip(self._names, self._state.partitions, strict=True)
        )
        return scan(self._spark, self._state._replace(partitions=partitions))


def check_table(table: Table) -> None:
    """Raises InvalidInputException for a view, and for a table whose partitions the metastore does not know."""
    data_location(table)
    parameters = table.parameters or {}
    if keys_of(table) and PROVIDER in parameters and parameters.get(PARTITION_PROVIDER) != PARTITIONS_IN_CATALOG:
        raise InvalidInputException(
            f"the partitions of {table.dbName}.{table.tableName} are not in the metastore: run metastored.spark.repair"
        )


def _location(partition: Partition) -> str:
    if partition.sd is None or not partition.sd.location:
        raise InvalidInputException(f"the partition {partition.values} has no location")
    return partition.sd.location
