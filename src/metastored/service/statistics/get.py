"""Column statistics: getting them, of tables and of partitions.

Setting, deleting and aggregating have modules of their own. Replies omit bit vectors and histograms, as Hive's do,
unless the server estimates from bit vectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.errors import MetaException
from metastored.hive.names import normalize
from metastored.model.column_statistics import shown
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.service.core.serving import method
from metastored.service.statistics import validity as stats_validity
from metastored.service.statistics.data import column_of_row, spliced
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics as store
from metastored.store.objects import tables
from metastored.store.objects.column_statistics import StatisticsRow
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsDesc, CompactionInfoStruct
from metastored.wire.generated.statistics import PartitionsStatsRequest, TableStatsRequest, TableStatsResult

ENGINE: Final = "hive"
"""The engine of the statistics, unless a call names another. Since Hive 4 other engines may keep their own."""


def lower_part_name(name: str) -> str:
    """A partition name with its keys in lower case; the values stay as they are."""
    if name == name.lower():
        return name
    parts = (part.partition("=") for part in name.split("/"))
    return "/".join(f"{key.lower()}{sign}{value}" for key, sign, value in parts)


def find_table(ctx: Context, tx: Transaction, where: DatabaseName, name: str) -> TableRow:
    row = tables.find(tx, *where, name)
    if row is None:
        raise ctx.unspecified_table(where, name)
    return row


def lower(names: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys(name.lower() for name in names or ()))


def given_name(name: str | None, what: str) -> str:
    if name is None:
        raise MetaException(f"a {what} name is missing: the request names none")
    return normalize(name)


# --- getting ------------------------------------------------------------------------------------------------


@method
def get_table_column_statistics(
    ctx: Context, db_name: str | None, tbl_name: str | None, col_name: str | None
) -> ColumnStatistics | None:
    where, name = ctx.name(db_name), given_name(tbl_name, "table")
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        statistics = store.of_table(tx, row.id, [given_name(col_name, "column")], ENGINE, sketches=_sketches(ctx))
    return _statistics(ctx, where, name, None, statistics)


@method
def get_partition_column_statistics(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None, col_name: str | None
) -> ColumnStatistics | None:
    where, name = ctx.name(db_name), given_name(tbl_name, "table")
    part = lower_part_name(part_name or "")
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        columns = [given_name(col_name, "column")]
        statistics = store.of_partitions(tx, row.id, [part], columns, ENGINE, sketches=_sketches(ctx))
    return _statistics(ctx, where, name, part, statistics)


def _sketches(ctx: Context) -> bool:
    return ctx.service.estimation.bit_vectors


def _statistics(
    ctx: Context, where: DatabaseName, table: str, part: str | None, statistics: list[StatisticsRow]
) -> ColumnStatistics | None:
    """None if there are no statistics: Thrift has no null, so clients get a missing result, as with Hive."""
    if not statistics:
        return None
    desc = ColumnStatisticsDesc(
        isTblLevel=part is None,
        dbName=where.database,
        tableName=table,
        partName=part,
        lastAnalyzed=min(row.last_analyzed for row in statistics),
        catName=where.catalog if ctx.rules.names_catalogs else None,
    )
    timestamps = ctx.rules.stamps_statistics
    objects = tuple(shown(column_of_row(row), timestamps=timestamps) for row in statistics)
    return ColumnStatistics(statsDesc=desc, statsObj=objects, engine=ENGINE if ctx.rules.names_engines else None)


@method
def get_table_statistics_req(ctx: Context, request: TableStatsRequest) -> TableStatsResult:
    where, name = ctx.name(request.dbName, request.catName), given_name(request.tblName, "table")
    columns = lower(request.colNames)
    timestamps = ctx.rules.stamps_statistics
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        statistics = store.of_table(tx, row.id, columns, request.engine or ENGINE, sketches=_sketches(ctx))
        valid = stats_validity.of_table(rows.table_of(row, *where), row.write_id, request.validWriteIdList)
    by_name = {one.column_name: one for one in statistics}
    objects = tuple(shown(column_of_row(by_name[name]), timestamps=timestamps) for name in columns if name in by_name)
    return TableStatsResult(tableStats=objects, isStatsCompliant=valid)


@method
def get_partitions_statistics_req(ctx: Context, request: PartitionsStatsRequest) -> Encoded:
    where, name = ctx.name(request.dbName, request.catName), given_name(request.tblName, "table")
    part_names = [lower_part_name(part) for part in request.partNames or ()]
    timestamps = ctx.rules.stamps_statistics
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        engine, columns = request.engine or ENGINE, lower(request.colNames)
        statistics = store.of_partitions(tx, row.id, part_names, columns, engine, sketches=_sketches(ctx))
        valid = stats_validity.of_partitions(
            tx,
            rows.table_of(row, *where),
            row.id,
            dict.fromkeys(one.owner for one in statistics),
            request.validWriteIdList,
        )
    by_part: dict[str, list[bytes]] = {}
    for one in statistics:
        if one.bit_vector is None and one.histogram is None:
            data = spliced(one, timestamps=timestamps)
        else:
            data = binary.encode(shown(column_of_row(one), timestamps=timestamps))
        by_part.setdefault(one.owner, []).append(data)
    return Encoded(rows.statistics_by_partition(by_part, valid))


@method
def find_columns_with_stats(ctx: Context, cr: CompactionInfoStruct) -> tuple[str, ...]:
    """For a compactor: the columns whose statistics it should recompute."""
    where, name = ctx.name(cr.dbname), given_name(cr.tablename, "table")
    with ctx.reading() as tx:
        row = tables.find(tx, *where, name)
        return tuple(store.columns_of(tx, row.id, cr.partitionname)) if row is not None else ()
