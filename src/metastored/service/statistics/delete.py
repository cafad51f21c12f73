"""Column statistics: deleting them, on request and with the columns that they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metastored.errors import InvalidInputException, InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.names import PartitionNameError, normalize, partition_values
from metastored.model.acid import is_transactional
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.statistics.get import find_table, lower_part_name
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics as store
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import PartitionRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.statistics import DeleteColumnStatisticsRequest


@method
def delete_table_column_statistics(
    ctx: Context, db_name: str | None, tbl_name: str | None, col_name: str | None, engine: str | None
) -> bool:
    where, name = _to_delete(ctx, db_name, None, tbl_name)
    columns = None if col_name is None else [normalize(col_name)]

    def change(tx: Transaction) -> None:
        row = tables.find(tx, *where, name)
        if row is None:
            named = ctx.full_name(where, name) if ctx.rules.names_catalogs else name
            raise NoSuchObjectException(f"Table {named}  for which stats deletion is requested doesn't exist")
        row = locked(tx, row)
        gone = store.delete(tx, row.id, columns=columns, engine=engine)
        if not gone and col_name is not None and not ctx.rules.deletes_missing_statistics:
            raise NoSuchObjectException(
                f"Column stats doesn't exist for db={where.database} table={name} col={col_name.lower()}"
            )
        _record_deletion(ctx, tx, where, rows.table_of(row, *where), columns, engine)

    ctx.database.run(change)
    return True


@method
def delete_partition_column_statistics(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_name: str | None,
    col_name: str | None,
    engine: str | None,
) -> bool:
    where, name = _to_delete(ctx, db_name, None, tbl_name)
    part = lower_part_name(part_name or "")
    columns = None if col_name is None else [normalize(col_name)]

    def change(tx: Transaction) -> None:
        row = tables.find(tx, *where, name)
        if row is None:
            raise InvalidObjectException(f"{where.database}.{name} table not found")
        row = locked(tx, row)
        table = rows.table_of(row, *where)
        try:
            partition_values(part, [key.name or "" for key in table.partitionKeys or ()])
        except PartitionNameError as error:
            raise InvalidObjectException(str(error)) from None
        partition = partitions.find(tx, row.id, part)
        if partition is None and ctx.rules.deletes_missing_statistics:
            return
        if partition is None:
            raise NoSuchObjectException(f"Partition {part} for which stats deletion is requested doesn't exist")
        gone = store.delete(tx, row.id, partitions=[part], columns=columns, engine=engine)
        if not gone and col_name is not None and not ctx.rules.deletes_missing_statistics:
            named = f"table={ctx.full_name(where, name)}"
            if not ctx.rules.names_catalogs:
                named = f"db={where.database} table={name}"
            raise NoSuchObjectException(
                f"Column stats doesn't exist for {named} partition={part} col={col_name.lower()}"
            )
        _record_deletion(ctx, tx, where, table, columns, engine, [partition])

    ctx.database.run(change)
    return True


@method
def delete_column_statistics_req(ctx: Context, req: DeleteColumnStatisticsRequest) -> bool:
    where, name = _to_delete(ctx, req.db_name, req.cat_name, req.tbl_name)
    columns = [normalize(column) for column in req.col_names] if req.col_names else None

    def change(tx: Transaction) -> None:
        row = find_table(ctx, tx, where, name)
        row = locked(tx, row)
        table = rows.table_of(row, *where)
        if is_transactional(table.parameters):
            raise MetaException("Cannot delete stats via this API for a transactional table")
        if req.tableLevel or not table.partitionKeys:
            store.delete(tx, row.id, columns=columns, engine=req.engine)
            _record_deletion(ctx, tx, where, table, columns, req.engine)
            return
        part_names = [lower_part_name(part) for part in req.part_names or partitions.names(tx, row.id)]
        if part_names:
            store.delete(tx, row.id, partitions=part_names, columns=columns, engine=req.engine)
            parts = partitions.find_many(tx, row.id, part_names)
            _record_deletion(ctx, tx, where, table, columns, req.engine, parts)

    ctx.database.run(change)
    return True


def _to_delete(ctx: Context, db: str | None, cat: str | None, table: str | None) -> tuple[DatabaseName, str]:
    if table is None:
        raise InvalidInputException("Table name is null.")
    return ctx.name(db if db is not None else "default", cat), normalize(table)


def _record_deletion(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    table: Table,
    columns: Sequence[str] | None,
    engine: str | None,
    parts: Sequence[PartitionRow] | None = None,
) -> None:
    """Records an event for each column, and each partition, as in Hive."""
    if columns is None:
        columns = [field.name or "" for field in (table.sd.cols if table.sd is not None else None) or ()]
    encoded = ("table", binary.encode(table))
    for column in columns:
        objects = [encoded, ("column", column.encode())]
        if engine is not None:
            objects.append(("engine", engine.encode()))
        if parts is None:
            record(ctx, tx, "DELETE_TBL_COL_STAT_EVENT", where, table.tableName, objects)
        for part in parts or ():
            values = binary.encode(Partition(values=rows.partition_own(part.body).values))
            named = [*objects, ("partition", part.name.encode()), ("values", values)]
            record(ctx, tx, "DELETE_PART_COL_STAT_EVENT", where, table.tableName, named)


def forget_changed_columns(tx: Transaction, table_id: int, before: Table, after: Table, *, cascade: bool) -> None:
    """Deletes the statistics of columns that a table no longer has, or has with another type.

    With `cascade` also those of its partitions, whose columns then change as well.
    """
    gone = _changed(before.sd, after.sd)
    if gone:
        store.forget_columns(tx, table_id, gone, of_partitions=False)
        if cascade:
            store.forget_columns(tx, table_id, gone, of_partitions=True)


def forget_changed_columns_of_partitions(
    tx: Transaction, table_id: int, changed: Mapping[str, tuple[StorageDescriptor, StorageDescriptor]]
) -> None:
    """As `forget_changed_columns`, for partitions, whose columns may differ from those of their table.

    `changed` has (before, after).
    """
    names: dict[tuple[str, ...], list[str]] = {}
    for name, (before, after) in changed.items():
        names.setdefault(tuple(_changed(before, after)), []).append(name)
    for gone, parts in names.items():
        if gone:
            store.delete(tx, table_id, partitions=parts, columns=gone)


def _changed(before: StorageDescriptor | None, after: StorageDescriptor | None) -> list[str]:
    kept = {(field.name, field.type) for field in (after.cols if after is not None else None) or ()}
    old = (before.cols if before is not None else None) or ()
    return [field.name or "" for field in old if (field.name, field.type) not in kept]
