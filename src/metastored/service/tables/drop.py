"""Dropping tables, and truncating them: the metadata in one transaction, directories after it."""

from __future__ import annotations

from metastored.errors import MetaException, NoSuchObjectException
from metastored.hive.statistics.basic import BASIC_STATS, NUM_FILES, TOTAL_SIZE, clear_basic_state, set_basic_state
from metastored.model import kinds, normal
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import fields, record
from metastored.service.core.conflicts import locked
from metastored.service.core.context import Context
from metastored.service.core.directories import NULL_PATH, clear
from metastored.service.core.internal import internal_error
from metastored.service.core.partition_lists import splicer
from metastored.service.core.removing import check_databases, purges, removing
from metastored.service.core.serving import method
from metastored.service.statistics.basic import ERASURE_CODED
from metastored.service.tables.get import find_table, required_table_name
from metastored.service.tables.removal import DONE, own_directory, remove_with_indexes
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import AsyncOperationResp, EnvironmentContext, Table
from metastored.wire.generated.tables import DropTableRequest, TruncateTableRequest, TruncateTableResponse
from metastored.wire.structs import replace


@method
def drop_table(ctx: Context, dbname: str | None, name: str | None, deleteData: bool | None) -> None:
    drop(ctx, ctx.name(dbname), name, bool(deleteData))


@method
def drop_table_with_environment_context(
    ctx: Context,
    dbname: str | None,
    name: str | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> None:
    drop(ctx, ctx.name(dbname), name, bool(deleteData), environment_context)


@method
def drop_table_req(ctx: Context, dropTableReq: DropTableRequest) -> AsyncOperationResp:
    where = ctx.name(dropTableReq.dbName, dropTableReq.catalogName)
    drop(ctx, where, dropTableReq.tableName, bool(dropTableReq.deleteData), dropTableReq.envContext)
    return DONE


def drop(
    ctx: Context, where: DatabaseName, name: str | None, delete_data: bool, env: EnvironmentContext | None = None
) -> None:
    key = required_table_name(name)

    def remove(tx: Transaction) -> tuple[None, list[int]]:
        if ctx.rules.drops_need_database and databases.find(tx, *where) is None:
            raise ctx.no_database(where)
        if tables.find(tx, *where, key) is None:
            raise ctx.no_table(where, name or "")
        return None, remove_with_indexes(ctx, tx, where, key, delete_data=delete_data, env=env)

    removing(ctx, remove, _expected(ctx, where, key) if delete_data else ())


def _expected(ctx: Context, where: DatabaseName, name: str) -> list[str | None]:
    row = tables.find(ctx.reader(), *where, name)
    return [] if row is None else [own_directory(ctx, where, row)]


# --- truncating -------------------------------------------------------------------------------------------------


@method
def truncate_table(ctx: Context, dbName: str | None, tableName: str | None, partNames: tuple[str, ...] | None) -> None:
    try:
        truncate(ctx, ctx.name(dbName), tableName, partNames)
    except NoSuchObjectException as error:
        # The method declares no exception for it; truncate_table_req does.
        raise internal_error("truncate_table", str(error)) from None


@method
def truncate_table_req(ctx: Context, req: TruncateTableRequest) -> TruncateTableResponse:
    truncate(ctx, ctx.name(req.dbName), req.tableName, req.partNames)
    return TruncateTableResponse()


def truncate(ctx: Context, where: DatabaseName, name: str | None, part_names: tuple[str, ...] | None) -> None:
    """Empties the directories of a table, or of some partitions, and sets their statistics to zero.

    Files are removed first: an interrupted truncation leaves fewer rows, but never statistics of zero rows where there
    are some.
    """
    key = required_table_name(name)
    if ctx.rules.truncates_existing_partition_statistics:
        part_names = part_names or None
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        table = rows.table_of(row, *where)
        locations = _to_clear(tx, where, row, table, part_names)
        check_databases(ctx, tx, list(filter(ctx.warehouse.looks_at, locations)))
    for location in locations:
        clear(ctx, location, purge=purges(table))
    now = ctx.now()

    def zero(tx: Transaction) -> None:
        current = locked(tx, find_table(ctx, tx, where, key))
        before = rows.table_of(current, *where)
        if part_names is None and not before.partitionKeys:
            after = replace(
                before, parameters=_zeroed(ctx, before.parameters, now, all=not ctx.rules.truncates_existing_statistics)
            )
            tables.update(tx, current.id, **rows.table_columns(after)._asdict())
            objects = [("before", binary.encode(before)), ("after", binary.encode(after)), fields(isTruncateOp=True)]
            record(ctx, tx, "ALTER_TABLE", where, key, objects)
            return
        splice = splicer(ctx, tx, where, current)
        for part in _chosen(tx, current, part_names):
            partition = splice.partition(part)
            changed = replace(
                partition,
                parameters=_zeroed(
                    ctx, partition.parameters, now, all=not ctx.rules.truncates_existing_partition_statistics
                ),
            )
            partitions.set_body(tx, part[0], rows.partition_body(changed))
            objects = [
                ("table", binary.encode(before)),
                ("before", binary.encode(partition)),
                ("after", binary.encode(changed)),
                fields(isTruncateOp=True),
            ]
            record(ctx, tx, "ALTER_PARTITION", where, key, objects)

    ctx.database.run(zero)


def _chosen(tx: Transaction, row: tables.TableRow, names: tuple[str, ...] | None) -> list[Row]:
    if names is None:
        return list(partitions.each(tx, row.id))
    return list(partitions.find_many(tx, row.id, list(dict.fromkeys(names))))


def _to_clear(
    tx: Transaction, where: DatabaseName, row: tables.TableRow, table: Table, names: tuple[str, ...] | None
) -> list[str]:
    if table.partitionKeys or names is not None:
        splice = rows.Splicer(None, *where, partitions.shapes(tx, row.id), partitions.bases(tx, row.id))
        descriptors = (splice.partition(part).sd for part in _chosen(tx, row, names))
        return [sd.location for sd in descriptors if sd is not None and sd.location]
    location = table.sd.location if table.sd is not None else None
    if not location or kinds.is_view(table):
        raise MetaException(NULL_PATH)
    return [location]


def _zeroed(ctx: Context, parameters: dict[str, str] | None, now: int, *, all: bool) -> dict[str, str]:
    """Statistics of an empty table: those that exist become zero; with `all` those of files in any case.

    The number of rows too: engines compute `count(*)` from `numRows` as long as the statistics are marked as accurate.
    """
    present = parameters or {}
    known = (*BASIC_STATS, ERASURE_CODED) if ctx.rules.counts_erasure_coded else BASIC_STATS
    counted = {key: "0" for key in present if key in known}
    if all:
        counted |= {NUM_FILES: "0", TOTAL_SIZE: "0"}
        if ctx.rules.counts_erasure_coded:
            counted[ERASURE_CODED] = "0"
    return normal.ddl_time(set_basic_state(clear_basic_state({**present, **counted})), now)
