"""Column statistics: setting and merging them, of tables and of partitions.

Every change also marks the statistics of these columns as accurate, in the parameter COLUMN_STATS_ACCURATE of the table
or partition. A request is one transaction: all of its partitions, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from metastored.errors import InvalidInputException, InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.names import PartitionNameError, normalize, partition_values
from metastored.hive.statistics.basic import read_accuracy, set_columns_state
from metastored.model.acid import is_transactional
from metastored.model.column_statistics import Column, column_of, completed, merged, shown
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.statistics import validity as stats_validity
from metastored.service.statistics.data import column_of_row, row_of
from metastored.service.statistics.get import ENGINE, find_table, given_name, lower_part_name
from metastored.service.statistics.validity import Writer
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics as store
from metastored.store.objects import partitions, tables
from metastored.store.objects.column_statistics import StatisticsRow
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import ColumnStatistics, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.statistics import SetPartitionsStatsRequest, SetPartitionsStatsResponse
from metastored.wire.structs import replace


class _Change(NamedTuple):
    """New statistics of a table (`part` is None) or of one partition."""

    part: str | None
    columns: list[Column]
    statistics: ColumnStatistics


@method
def update_table_column_statistics(ctx: Context, stats_obj: ColumnStatistics | None) -> bool:
    return _set(ctx, [_described(stats_obj)], table=True, engine=None, writer=None)


@method
def update_partition_column_statistics(ctx: Context, stats_obj: ColumnStatistics | None) -> bool:
    return _set(ctx, [_described(stats_obj)], table=False, engine=None, writer=None)


@method
def update_table_column_statistics_req(ctx: Context, req: SetPartitionsStatsRequest) -> SetPartitionsStatsResponse:
    return SetPartitionsStatsResponse(result=_update_req(ctx, req, table=True))


@method
def update_partition_column_statistics_req(ctx: Context, req: SetPartitionsStatsRequest) -> SetPartitionsStatsResponse:
    return SetPartitionsStatsResponse(result=_update_req(ctx, req, table=False))


def _update_req(ctx: Context, req: SetPartitionsStatsRequest, *, table: bool) -> bool:
    if len(req.colStats or ()) != 1:
        raise InvalidInputException("Only one stats object expected")
    if req.needMerge:
        raise InvalidInputException("Merge is not supported for non-aggregate stats")
    statistics = [_described(one) for one in req.colStats or ()]
    return _set(ctx, statistics, table=table, engine=req.engine, writer=_writer(ctx, req))


@method
def set_aggr_stats_for(ctx: Context, request: SetPartitionsStatsRequest) -> bool:
    statistics = [_described(one) for one in request.colStats or ()]
    if not statistics:
        return True
    table = bool(statistics[0].statsDesc is not None and statistics[0].statsDesc.isTblLevel)
    if table and len(statistics) != 1:
        raise MetaException(f"Expecting only 1 ColumnStatistics for table's column stats, but find {len(statistics)}")
    merge = bool(request.needMerge)
    return _set(ctx, statistics, table=table, engine=request.engine, writer=_writer(ctx, request), merge=merge)


def _described(statistics: ColumnStatistics | None) -> ColumnStatistics:
    if statistics is None or statistics.statsDesc is None:
        raise InvalidObjectException("statistics need a description that names their table")
    return statistics


def _writer(ctx: Context, request: SetPartitionsStatsRequest) -> Writer | None:
    """The writer of the statistics; None for clients that send no snapshot."""
    if request.validWriteIdList is None and not ctx.rules.guards_statistics:
        return None
    return Writer(request.writeId if request.writeId is not None else -1, request.validWriteIdList)


def _set(
    ctx: Context,
    requested: Sequence[ColumnStatistics],
    *,
    table: bool,
    engine: str | None,
    writer: Writer | None,
    merge: bool = False,
) -> bool:
    """Writes all statistics of a request, which are of one table, in one transaction.

    Every call that writes uses it.
    """
    desc = requested[0].statsDesc
    assert desc is not None
    where, name = ctx.name(desc.dbName, desc.catName), given_name(desc.tableName, "table")
    engine = engine or requested[0].engine or ENGINE
    changes = [_change(one, table=table) for one in requested]

    def write(tx: Transaction) -> None:
        row = find_table(ctx, tx, where, name) if table else _find_partitioned(ctx, tx, where, name)
        row = locked(tx, row)
        before = rows.table_of(row, *where)
        if table:
            _set_of_table(ctx, tx, where, row, before, changes[0], engine, writer, merge=merge)
        else:
            _set_of_partitions(ctx, tx, where, row, before, changes, engine, writer, merge=merge)

    ctx.database.run(write)
    return True


def _change(statistics: ColumnStatistics, *, table: bool) -> _Change:
    columns = [column_of(one) for one in statistics.statsObj or ()]
    assert statistics.statsDesc is not None
    if table:
        return _Change(None, columns, statistics)
    if statistics.statsDesc.partName is None:
        raise InvalidObjectException("statistics of a partition need its name")
    return _Change(lower_part_name(statistics.statsDesc.partName), columns, statistics)


def _find_partitioned(ctx: Context, tx: Transaction, where: DatabaseName, name: str) -> TableRow:
    row = tables.find(tx, *where, name)
    if row is None:
        raise InvalidObjectException(f"{ctx.full_name(where, name)} table not found")
    return row


def _set_of_table(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    row: TableRow,
    table: Table,
    change: _Change,
    engine: str,
    writer: Writer | None,
    *,
    merge: bool,
) -> None:
    _check_columns(table, change.columns)
    parameters = table.parameters or {}
    known = {one.column_name: one for one in _old(tx, row.id, None, [change], engine)}
    columns = _resolved(ctx, change.columns, known, parameters, merge=merge)
    if not columns:
        return
    store.write_of_table(tx, [row_of(row.id, column, engine, ctx.now()) for column in columns])
    state = set_columns_state(parameters, (column.name for column in columns))
    write_id = row.write_id
    if writer is not None and is_transactional(table.parameters):
        state = stats_validity.checked(ctx.full_name(where, row.name), parameters, state, write_id, writer)
        write_id = writer.write_id
    after = replace(table, parameters=state, writeId=write_id)
    tables.update(tx, row.id, **rows.table_columns(after)._asdict())
    objects = [("table", binary.encode(after)), ("statistics", binary.encode(_event(ctx, where, change, columns)))]
    record(ctx, tx, "UPDATE_TBL_COL_STAT_EVENT", where, row.name, objects)


def _check_columns(table: Table, columns: Iterable[Column]) -> None:
    known = {field.name for field in (table.sd.cols if table.sd is not None else None) or ()}
    for column in columns:
        if column.name not in known:
            raise MetaException(
                f"Column {column.name} doesn't exist in table {table.tableName} in database {table.dbName}"
            )


def _old(
    tx: Transaction, table_id: int, parts: Sequence[str] | None, changes: Sequence[_Change], engine: str
) -> list[StatisticsRow]:
    names = list(dict.fromkeys(column.name for change in changes for column in change.columns))
    if parts is None:
        return store.of_table(tx, table_id, names, engine, sketches=True)
    return store.of_partitions(tx, table_id, parts, names, engine, sketches=True)


def _resolved(
    ctx: Context,
    new: Sequence[Column],
    known: dict[str, StatisticsRow],
    parameters: dict[str, str],
    *,
    merge: bool,
) -> list[Column]:
    """The statistics to write. Since Hive 3 only columns whose statistics are still valid are merged."""
    accurate = read_accuracy(parameters).columns if merge else frozenset[str]()
    columns: list[Column] = []
    for column in new:
        old = known.get(column.name)
        if not merge:
            columns.append(column if old is None else completed(column, column_of_row(old)))
        elif not ctx.rules.merges_accurate or column.name in accurate:
            columns.append(column if old is None else merged(column, column_of_row(old)))
    return columns


def _set_of_partitions(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    row: TableRow,
    table: Table,
    changes: Sequence[_Change],
    engine: str,
    writer: Writer | None,
    *,
    merge: bool,
) -> None:
    keys = [key.name or "" for key in table.partitionKeys or ()]
    for change in changes:
        try:
            partition_values(change.part or "", keys)
        except PartitionNameError as error:
            raise InvalidObjectException(str(error)) from None
    parts = list(dict.fromkeys(change.part or "" for change in changes))
    parts_by_name = {one.name: one for one in partitions.find_many(tx, row.id, parts)}
    if len(parts_by_name) < len(parts):
        raise NoSuchObjectException("Partition for which stats is gathered doesn't exist.")
    known: dict[str, dict[str, StatisticsRow]] = {}
    for old in _old(tx, row.id, parts, changes, engine):
        known.setdefault(old.owner, {})[old.column_name] = old
    new_rows, bodies, events = [], [], []
    transactional = writer is not None and is_transactional(table.parameters)
    for change in _one_each(changes):
        part = parts_by_name[change.part or ""]
        own = rows.partition_own(part.body)
        parameters = own.parameters or {}
        columns = _resolved(ctx, change.columns, known.get(part.name, {}), parameters, merge=merge)
        if not columns:
            continue
        new_rows += [row_of(part.id, column, engine, ctx.now()) for column in columns]
        state = set_columns_state(parameters, (column.name for column in columns))
        write_id = part.write_id
        if transactional and writer is not None:
            state = stats_validity.checked(ctx.full_name(where, row.name), parameters, state, write_id, writer)
            write_id = writer.write_id
        bodies.append((write_id, rows.partition_body(replace(own, parameters=state)), part.id))
        events.append((change, columns, own))
    store.write_of_partitions(tx, row.id, new_rows)
    partitions.set_written(tx, bodies)
    encoded = ("table", binary.encode(table))
    for change, columns, own in events:
        values = ("values", binary.encode(Partition(values=own.values)))
        objects = [encoded, values, ("statistics", binary.encode(_event(ctx, where, change, columns)))]
        record(ctx, tx, "UPDATE_PART_COL_STAT_EVENT", where, row.name, objects)


def _one_each(changes: Sequence[_Change]) -> Iterable[_Change]:
    """One change for each partition: a request may name a partition twice, with statistics of different rows."""
    by_part: dict[str | None, _Change] = {}
    for change in changes:
        before = by_part.get(change.part)
        if before is not None:
            old = {column.name: column for column in before.columns}
            columns = [merged(one, old[one.name]) if one.name in old else one for one in change.columns]
            change = change._replace(columns=columns)
        by_part[change.part] = change
    return by_part.values()


def _event(ctx: Context, where: DatabaseName, change: _Change, columns: Sequence[Column]) -> ColumnStatistics:
    """The statistics as they were written, for the event."""
    desc = change.statistics.statsDesc
    assert desc is not None
    described = replace(
        desc,
        dbName=where.database,
        catName=where.catalog,
        tableName=normalize(desc.tableName or ""),
        partName=change.part,
        lastAnalyzed=ctx.now(),
    )
    objects = tuple(shown(column, timestamps=True) for column in columns)
    return replace(change.statistics, statsDesc=described, statsObj=objects)
