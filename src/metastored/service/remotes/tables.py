"""Remote tables: rows of a local database without columns, partitions and a directory. These are only at the remote."""

from __future__ import annotations

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
)
from metastored.hive.names import is_valid_table_name, normalize
from metastored.model import kinds, normal
from metastored.model.names import DatabaseName
from metastored.model.remotes import keys
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked
from metastored.service.core.context import Context
from metastored.service.remotes.databases import refuse_in_remote
from metastored.service.remotes.defining import altered, define
from metastored.service.security.privileges import grants_of_new_table
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, remotes, tables
from metastored.store.objects.remotes import Of, RemoteRow
from metastored.store.objects.tables import TableRow
from metastored.store.transactions.resources import table_renamed
from metastored.wire.codec import binary
from metastored.wire.generated.common import PrincipalType, SerDeInfo, StorageDescriptor, Table
from metastored.wire.structs import replace


def create_remote_table(ctx: Context, where: DatabaseName, given: Table, taken: AlreadyExistsException) -> None:
    """Makes a remote table. Its columns, partition keys and location are ignored, and no directory is made."""
    name, what = normalize(given.tableName or ""), f"remote table {where.database}.{given.tableName}"
    if kinds.is_view(given):
        raise InvalidObjectException(f"{what}: a view is not made remote; a remote table may well show a view")

    def create(tx: Transaction) -> None:
        row = databases.find(tx, *where)
        if row is None:
            raise InvalidObjectException(ctx.missing_database(where))
        databases.lock(tx, row.id)
        refuse_in_remote(tx, row, where, f"table {given.tableName}")
        if tables.find(tx, *where, name) is not None:
            raise taken
        definition = define(ctx, tx, where, name, given.parameters or {})
        table = _stored(ctx, given, where.table(name), definition.shown)
        table_id = tables.insert(tx, row.id, name, **rows.table_columns(table)._asdict())
        grants_of_new_table(ctx, tx, table_id, table)
        remotes.insert(tx, Of(table_id=table_id), definition.body)
        record(ctx, tx, "CREATE_TABLE", where, name, [("table", binary.encode(table))])

    ctx.database.run(create)


def _stored(ctx: Context, given: Table, name: tuple[str, str, str], shown: dict[str, str]) -> Table:
    now = ctx.now()
    return Table(
        tableName=name[2],
        dbName=name[1],
        catName=name[0],
        owner=given.owner,
        ownerType=given.ownerType if given.ownerType is not None else PrincipalType.USER,
        createTime=now,
        lastAccessTime=0,
        retention=0,
        sd=StorageDescriptor(
            cols=(),
            compressed=False,
            numBuckets=-1,
            serdeInfo=SerDeInfo(parameters={}),
            bucketCols=(),
            sortCols=(),
            parameters={},
        ),
        partitionKeys=(),
        parameters=normal.ddl_time(_parameters(shown), now),
        privileges=given.privileges,
        tableType=kinds.EXTERNAL,
    )


def _parameters(shown: dict[str, str]) -> dict[str, str]:
    # An external table without purge: no drop ever looks for its data.
    return {kinds.EXTERNAL_PARAMETER: "TRUE"} | shown


def find_remote(tx: Transaction, row: TableRow, table: Table) -> RemoteRow | None:
    """The definition of a table; None for a local one."""
    return remotes.find(tx, Of(table_id=row.id)) if keys.is_remote(table.parameters) else None


def alter_remote_table(
    ctx: Context, where: DatabaseName, row: TableRow, given: Table, taken: InvalidOperationException
) -> None:
    """Changes the local name, the definition and the owner of a remote table.

    Everything else that the caller sends is the remote's, which got it if it may be written.
    """
    target = DatabaseName(where.catalog, normalize(given.dbName or ""))
    name = normalize(given.tableName or "")
    what = f"remote table {where.database}.{row.name}"
    if not is_valid_table_name(name, ctx.accepts):
        raise InvalidOperationException(f"{given.tableName} is not a valid object name")
    if given.catName is not None and normalize(given.catName) != where.catalog:
        raise InvalidOperationException(f"{what} cannot be moved to another catalog, {given.catName}")

    def change(tx: Transaction) -> None:
        homes = databases.find_many(tx, where.catalog, {where.database, target.database}, locked=True)
        home = homes.get(target.database)
        if home is None:
            raise InvalidOperationException(f"{what} cannot be renamed: there is no database {target.database}")
        current = locked(tx, row)
        before = rows.table_of(current, *where)
        remote = find_remote(tx, current, before)
        assert remote is not None  # it goes away with the table alone
        renamed = (target, name) != (where, row.name)
        if renamed and tables.find(tx, *target, name) is not None:
            raise taken
        try:
            refuse_in_remote(tx, home, target, f"table {name}")
            own = altered(ctx, remote, before.parameters, given.parameters, what)
            definition = define(ctx, tx, target, name, own, remote)
        except InvalidObjectException as error:
            raise InvalidOperationException(error.message) from None
        after = replace(
            before,
            tableName=name,
            dbName=target.database,
            owner=given.owner if given.owner is not None else before.owner,
            ownerType=given.ownerType if given.ownerType is not None else before.ownerType,
            parameters=normal.ddl_time(_parameters(definition.shown), ctx.now()),
        )
        columns = rows.table_columns(after)._asdict()
        tables.update(tx, current.id, **columns, named=(home.id, name) if renamed else None)
        if renamed:
            table_renamed(tx, where.table(row.name), target.table(name))
        remotes.update(tx, remote.id, definition.body)
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_TABLE", target, name, objects)

    ctx.database.run(change)
