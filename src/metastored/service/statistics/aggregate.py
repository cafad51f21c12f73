"""Column statistics over many partitions in one reply, for query planners.

The database aggregates; partitions are read one by one only where there is something to extrapolate, for decimals,
and for bit vectors. The result is cached until the statistics of the table's partitions change. Whether it is valid for
the reader's snapshot is not cached.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from metastored.hive.statistics.ndv import Estimation
from metastored.model.column_statistics import Column, numbers_of, shown
from metastored.service.core import rows
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.core.versioned_cache import VersionedCache
from metastored.service.statistics import validity as stats_validity
from metastored.service.statistics.data import column_of_row
from metastored.service.statistics.estimate import Gathered, of_partitions, of_totals
from metastored.service.statistics.get import (
    ENGINE,
    find_table,
    given_name,
    lower,
    lower_part_name,
)
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics as store
from metastored.store.objects.column_statistics import StatisticsRow, Totals
from metastored.store.objects.tables import TableRow
from metastored.wire.generated.statistics import AggrStats, PartitionsStatsRequest


class _Aggregate(NamedTuple):
    """The statistics of columns over partitions, in the requested order, and how many partitions have all of them."""

    columns: tuple[Column, ...]
    complete: int


@method
def get_aggr_stats_for(ctx: Context, request: PartitionsStatsRequest) -> AggrStats:
    where, name = ctx.name(request.dbName, request.catName), given_name(request.tblName, "table")
    columns = lower(request.colNames)
    names = list(dict.fromkeys(map(lower_part_name, request.partNames or ())))
    engine = request.engine or ENGINE
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        if not columns or not names:
            return AggrStats(colStats=(), partsFound=0)
        snapshot = request.validWriteIdList
        valid = None
        if snapshot is not None:
            valid = stats_validity.of_partitions(tx, rows.table_of(row, *where), row.id, names, snapshot)
        if valid is False:
            # Statistics that the reader's snapshot does not cover are treated as missing.
            return AggrStats(colStats=(), partsFound=0, isStatsCompliant=False)
        aggregate = _cached(ctx, tx, row, names, columns, engine)
    objects = tuple(shown(column, timestamps=ctx.rules.stamps_statistics) for column in aggregate.columns)
    return AggrStats(colStats=objects, partsFound=aggregate.complete, isStatsCompliant=valid)


def _cached(
    ctx: Context, tx: Transaction, row: TableRow, names: Sequence[str], columns: Sequence[str], engine: str
) -> _Aggregate:
    """The aggregated statistics, from the cache if the statistics are those of the table's row.

    The row was read in the same transaction, so its stamp belongs to the statistics that are read here.
    """

    def compute() -> tuple[_Aggregate, int]:
        aggregate = _aggregate(tx, row.id, names, columns, engine, how)
        return aggregate, _size(names) + _size(columns) + sum(map(_size_of_column, aggregate.columns))

    how = ctx.service.estimation
    key = (row.id, tuple(names), tuple(columns), engine, how)
    cache: VersionedCache[_Aggregate] = ctx.service.aggregates
    return cache.get(key, row.statistics_stamp, compute)


def _size(values: Sequence[object]) -> int:
    """The bytes of a sequence in memory."""
    return sys.getsizeof(values) + sum(map(sys.getsizeof, values))


def _size_of_column(column: Column) -> int:
    return _size(column) + _size(column.data)


def _aggregate(
    tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str, how: Estimation
) -> _Aggregate:
    totals: dict[str, Totals] = {}
    for one in store.totals(tx, table_id, names, columns, engine):
        # Where a column's type changed, the statistics of the type that most partitions have.
        if one.column_name not in totals or totals[one.column_name].partitions < one.partitions:
            totals[one.column_name] = one
    singly = [name for name, one in totals.items() if how.bit_vectors or _needs_partitions(one, len(names))]
    parts = _gathered(tx, table_id, names, singly, engine, totals, sketches=how.bit_vectors)
    statistics = tuple(
        of_partitions(parts[name], len(names), how) if name in parts else of_totals(totals[name], how)
        for name in columns
        if name in totals
    )
    if len(totals) == len(columns) and all(one.partitions == len(names) for one in totals.values()):
        return _Aggregate(statistics, len(names))
    return _Aggregate(statistics, store.complete(tx, table_id, names, columns, engine))


def _needs_partitions(totals: Totals, partition_count: int) -> bool:
    return totals.kind == "decimal" or 2 <= totals.partitions < partition_count


def _gathered(
    tx: Transaction,
    table_id: int,
    names: Sequence[str],
    columns: Sequence[str],
    engine: str,
    totals: dict[str, Totals],
    *,
    sketches: bool,
) -> dict[str, Gathered]:
    """The statistics of these columns, by partition; the bodies only where the numbers are not sufficient."""
    decoded = [name for name in columns if sketches or totals[name].kind == "decimal"]
    plain = [name for name in columns if name not in decoded]
    value_rows: list[Sequence[Any]] = []
    if plain:
        value_rows += store.numbers(tx, table_id, names, plain, engine)
    if decoded:
        read = store.of_partitions(tx, table_id, names, decoded, engine, sketches=sketches)
        value_rows += [_numbers_of(row) for row in read]
    by_column: dict[str, list[Sequence[Any]]] = {}
    for row in value_rows:
        by_column.setdefault(row[1], []).append(row)
    positions = {name: position for position, name in enumerate(names)}
    gathered: dict[str, Gathered] = {}
    for name, rows_of_column in by_column.items():
        total = totals[name]
        alike = [row for row in rows_of_column if row[2] == total.type and row[3] == total.kind]
        owners, _, _, _, low, high, double_low, double_high, *rest = zip(*alike, strict=True)
        double = total.kind == "double"
        bounds = (double_low, double_high) if double else (low, high)
        gathered[name] = Gathered(name, total.type, total.kind, [positions[owner] for owner in owners], *bounds, *rest)
    return gathered


def _numbers_of(row: StatisticsRow) -> Sequence[Any]:
    """The fields of `Numbers`, read from the body, and the bit vector after them."""
    low, high, *counts = numbers_of(column_of_row(row).data)
    return (row.owner, row.column_name, row.type, row.kind, low, high, low, high, *counts, row.bit_vector)
