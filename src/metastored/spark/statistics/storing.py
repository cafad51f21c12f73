"""Writes statistics into the metastore: Hive's column statistics, the basic statistics, and Spark's properties.

The order makes a crash harmless. The table's own properties are first: they cover all partitions. Then follow, for each
batch of partitions, the column statistics, and at last the parameters with the fingerprint of the files. A partition
without that fingerprint is analyzed again by the next run.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError
from metastored.hive.statistics import ndv
from metastored.hive.statistics.basic import (
    COLUMN_STATS_ACCURATE,
    KEEP_STATISTICS,
    NUM_FILES,
    NUM_ROWS,
    RAW_DATA_SIZE,
    TOTAL_SIZE,
    read_accuracy,
    set_basic_state,
    set_columns_state,
)
from metastored.hive.transactions.snapshots import ValidWriteIdList
from metastored.model.names import TableName
from metastored.model.partitions import name_of
from metastored.model.spark.properties import STATISTICS_PREFIX
from metastored.model.spark.statistics import stats_from_properties, stats_to_properties
from metastored.model.spark.values import CatalogStatistics, ColumnStat
from metastored.spark.statistics.files import DataFiles
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    Table,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.statistics import SetPartitionsStatsRequest
from metastored.wire.structs import replace

FINGERPRINT: Final = "metastored.statistics.files"
"""The parameter with the fingerprint of the files that were analyzed."""
SKETCH_PREFIX: Final = "metastored.statistics.sketch."
"""Parameters of a partitioned table: the bit vector of a column over all partitions that have a fingerprint."""
BATCH: Final = 200
"""Partitions that are written by one call."""


class Analyzed(NamedTuple):
    """The statistics of a partition, or of a table without partitions."""

    rows: int
    files: DataFiles
    columns: tuple[ColumnStatisticsObj, ...]
    """In Hive's form."""


class Writer(NamedTuple):
    """Who writes: the client, the table, and for a transactional table the snapshot that was analyzed."""

    client: Client
    name: TableName
    snapshot: ValidWriteIdList | None

    @property
    def write_id(self) -> int:
        """That of the statistics: the highest of the snapshot, for an analyze writes no rows."""
        return self.snapshot.high_watermark if self.snapshot is not None else -1

    @property
    def write_ids(self) -> str | None:
        return str(self.snapshot) if self.snapshot is not None else None

    @property
    def written(self) -> tuple[int, str] | None:
        """The write id and the snapshot; None for a table that is not transactional."""
        return None if self.snapshot is None else (self.write_id, str(self.snapshot))


def is_current(parameters: Mapping[str, str], files: DataFiles, columns: Sequence[str]) -> bool:
    """Whether a partition has accurate statistics of these columns, gathered here from exactly these files."""
    accuracy = read_accuracy(parameters)
    return (
        parameters.get(FINGERPRINT) == files.fingerprint
        and accuracy.basic
        and accuracy.columns.issuperset(each.lower() for each in columns)
        and parameters.get(TOTAL_SIZE) == str(files.size)
        and NUM_ROWS in parameters
    )


def store_table(writer: Writer, analyzed: Analyzed, spark: Mapping[str, ColumnStat]) -> None:
    """Writes the statistics of a table without partitions."""
    _set_columns(writer, [(None, analyzed.columns)])

    def parameters(old: Mapping[str, str]) -> dict[str, str]:
        basic = _with_basic(old, analyzed)
        return with_spark_statistics(basic, analyzed.rows, analyzed.files.size, spark, str(writer.name))

    _alter_table(writer, parameters)


def store_partitioned_table(
    writer: Writer,
    totals: tuple[int, int] | None,
    spark: Mapping[str, ColumnStat],
    sketches: Mapping[str, ndv.HyperLogLog],
) -> None:
    """Writes what the table itself has of all partitions: Spark's statistics, and the sketches of its columns.

    `totals` are the rows and bytes; None if not all partitions were analyzed, and Spark's statistics stay as they are.
    """
    new = {
        f"{SKETCH_PREFIX}{name}": base64.b64encode(each.serialize()).decode("ascii") for name, each in sketches.items()
    }

    def parameters(old: Mapping[str, str]) -> dict[str, str]:
        changed = {**old, **new}
        return changed if totals is None else with_spark_statistics(changed, *totals, spark, str(writer.name))

    old = writer.client.fresh_table(writer.name).parameters or {}
    if parameters(old) != old:
        _alter_table(writer, parameters)


def stored_sketches(parameters: Mapping[str, str]) -> dict[str, ndv.HyperLogLog]:
    """The sketches of the columns of a partitioned table; broken ones are left out."""
    sketches = {}
    for key, text in parameters.items():
        if key.startswith(SKETCH_PREFIX):
            try:
                sketch = ndv.read(base64.b64decode(text, validate=True))
            except binascii.Error:
                continue
            if isinstance(sketch, ndv.HyperLogLog):
                sketches[key.removeprefix(SKETCH_PREFIX)] = sketch
    return sketches


def store_partitions(writer: Writer, table: Table, analyzed: Mapping[str, Analyzed]) -> None:
    """Writes the statistics of partitions, by name, in batches."""
    names = list(analyzed)
    for at in range(0, len(names), BATCH):
        batch = names[at : at + BATCH]
        _set_columns(writer, [(name, analyzed[name].columns) for name in batch])

        def changed(partition: Partition) -> Partition:
            one = analyzed[name_of(table, partition.values or ())]
            parameters = _with_basic(partition.parameters or {}, one)
            parameters |= stats_to_properties(CatalogStatistics(one.files.size, one.rows))
            return replace(partition, parameters=parameters)

        _alter_partitions(writer, batch, changed)


def with_spark_statistics(
    parameters: Mapping[str, str], rows: int, size: int, columns: Mapping[str, ColumnStat], table: str
) -> dict[str, str]:
    """The parameters with Spark's statistics. Those of other columns stay only if rows and bytes did not change."""
    kept: dict[str, ColumnStat] = {}
    old = stats_from_properties(parameters, table)
    if old is not None and (old.row_count, old.size_in_bytes) == (rows, size):
        kept = dict(old.col_stats)
    rest = {key: value for key, value in parameters.items() if not key.startswith(STATISTICS_PREFIX)}
    return rest | stats_to_properties(CatalogStatistics(size, rows, {**kept, **columns}))


def _with_basic(parameters: Mapping[str, str], analyzed: Analyzed) -> dict[str, str]:
    """The parameters with the basic statistics, marked as accurate, as are those of the columns."""
    new = {NUM_ROWS: str(analyzed.rows), NUM_FILES: str(analyzed.files.count), TOTAL_SIZE: str(analyzed.files.size)}
    same = all(parameters.get(key) == value for key, value in new.items())
    same = same and parameters.get(FINGERPRINT) in (None, analyzed.files.fingerprint)
    # The statistics of other columns, and the size of the data in memory, are those of other files if these changed.
    stale = () if same else (RAW_DATA_SIZE, COLUMN_STATS_ACCURATE)
    kept = {key: value for key, value in parameters.items() if key not in stale}
    updated = set_basic_state({**kept, **new, FINGERPRINT: analyzed.files.fingerprint})
    return (
        set_columns_state(updated, [each.colName or "" for each in analyzed.columns]) if analyzed.columns else updated
    )


def _set_columns(writer: Writer, by_owner: Sequence[tuple[str | None, tuple[ColumnStatisticsObj, ...]]]) -> None:
    name = writer.name
    statistics = tuple(
        ColumnStatistics(
            statsDesc=ColumnStatisticsDesc(
                part is None, name.database, name.table, partName=part, catName=name.catalog_field
            ),
            statsObj=columns,
            engine="hive",
        )
        for part, columns in by_owner
        if columns
    )
    if statistics:
        request = SetPartitionsStatsRequest(
            statistics, writeId=writer.write_id, validWriteIdList=writer.write_ids, engine="hive"
        )
        writer.client.api.set_aggr_stats_for(request)


def _alter_table(writer: Writer, parameters: Callable[[Mapping[str, str]], dict[str, str]]) -> None:
    def changed(table: Table) -> Table:
        new = parameters(table.parameters or {})
        new.pop("transient_lastDdlTime", None)  # The metastore sets this parameter itself.
        return replace(table, parameters=new)

    def alter(write: tuple[int, str] | None) -> None:
        writer.client.change_table(writer.name, changed, environment=KEEP_STATISTICS, write=write)

    _newest(writer, "alter_table_req", alter)
    writer.client.forget(writer.name.database, writer.name.table)


def _alter_partitions(writer: Writer, names: Sequence[str], change: Callable[[Partition], Partition]) -> None:
    def alter(write: tuple[int, str] | None) -> None:
        writer.client.change_partitions(writer.name, names, change, environment=KEEP_STATISTICS, write=write)

    _newest(writer, "alter_partitions_req", alter)


def _newest(writer: Writer, method: str, alter: Callable[[tuple[int, str] | None], None]) -> None:
    """Alters with the write id and the snapshot, or without them if the server has no call for them."""
    if writer.written is not None and not writer.client.capabilities.lacks(method):
        try:
            alter(writer.written)
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise
            writer.client.capabilities.learned(method, False)
        else:
            return
    alter(None)
