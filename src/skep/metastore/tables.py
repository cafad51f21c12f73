"""Tables and views: create, get, list, drop. Changing one is in `alter_table.py`."""

from __future__ import annotations

from skep.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    UnknownDBException,
    UnknownTableException,
)
from skep.hive.generation import Generation
from skep.hive.locations import join
from skep.hive.names import is_valid_table_name, normalize
from skep.hive.patterns import compile_pattern
from skep.metastore import normal, rows
from skep.metastore.basic_stats import gathered_on_create
from skep.metastore.changes import record
from skep.metastore.context import DEFAULT_CATALOG, Context, DatabaseName, Encoded, properties
from skep.metastore.directories import Making, finish
from skep.metastore.removal import remove_table
from skep.store import databases, tables
from skep.store.tables import TableRow
from skep.store.transaction import ConstraintViolated, Transaction
from skep.wire import binary
from skep.wire.generated.common import EnvironmentContext, FieldSchema, Table
from skep.wire.generated.tables import GetTableRequest, GetTableResult, GetTablesRequest, GetTablesResult
from skep.wire.structs import replace

TABLE_TYPES = ("MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW", "INDEX_TABLE", "MATERIALIZED_VIEW")


def table_name(name: str | None) -> str:
    if name is None:
        raise MetaException("a table name is missing: the request names none")
    return normalize(name)


def find_table(ctx: Context, tx: Transaction, where: DatabaseName, name: str) -> TableRow:
    row = tables.find(tx, where.catalog, where.database, name)
    if row is None:
        raise ctx.no_table(where, name)
    return row


# --- reading ----------------------------------------------------------------------------------------------------


def get_table(ctx: Context, dbname: str | None, tbl_name: str | None) -> Encoded:
    where = ctx.name(dbname)
    row = find_table(ctx, ctx.reader(), where, table_name(tbl_name))
    return Encoded(rows.table_reply(row, where.catalog, where.database))


def get_table_req(ctx: Context, req: GetTableRequest) -> GetTableResult:
    where = ctx.name(req.dbName, req.catName)
    row = find_table(ctx, ctx.reader(), where, table_name(req.tblName))
    return GetTableResult(table=rows.table_of(row, *where))


def get_table_objects_by_name(ctx: Context, dbname: str | None, tbl_names: tuple[str, ...] | None) -> Encoded:
    where = _existing(ctx, dbname, None)
    found = _by_names(ctx, where, tbl_names)
    return Encoded(rows.list_reply((rows.table_struct(row, *where) for row in found), len(found)))


def get_table_objects_by_name_req(ctx: Context, req: GetTablesRequest) -> GetTablesResult:
    where = _existing(ctx, req.dbName, req.catName)
    return GetTablesResult(tables=tuple(rows.table_of(row, *where) for row in _by_names(ctx, where, req.tblNames)))


def _existing(ctx: Context, dbname: str | None, catalog: str | None) -> DatabaseName:
    if not dbname:
        raise UnknownDBException("DB name is null or empty")
    where = ctx.name(dbname, catalog)
    if databases.find(ctx.reader(), *where) is None:
        raise UnknownDBException(f"Could not find database {where.database}")
    return where


def _by_names(ctx: Context, where: DatabaseName, names: tuple[str, ...] | None) -> list[TableRow]:
    """The tables that exist, in the order they were asked for, each once."""
    if names is None:
        raise InvalidOperationException(f"{where.database} cannot find null tables")
    wanted = list(dict.fromkeys(normalize(name) for name in names))
    found = {row.name: row for row in tables.find_many(ctx.reader(), *where, wanted)}
    return [found[name] for name in wanted if name in found]


def get_all_tables(ctx: Context, db_name: str | None) -> tuple[str, ...]:
    return tuple(tables.names(ctx.reader(), *ctx.name(db_name)))


def get_tables(ctx: Context, db_name: str | None, pattern: str | None) -> tuple[str, ...]:
    matches = compile_pattern(pattern)
    return tuple(name for name in tables.names(ctx.reader(), *ctx.name(db_name)) if matches(name))


def get_tables_by_type(
    ctx: Context, db_name: str | None, pattern: str | None, tableType: str | None
) -> tuple[str, ...]:
    if tableType not in TABLE_TYPES:
        raise MetaException(
            f"No enum constant org.apache.hadoop.hive.metastore.TableType.{tableType}:"
            f" the table types are {', '.join(TABLE_TYPES)}"
        )
    matches = compile_pattern(pattern)
    found = tables.names(ctx.reader(), *ctx.name(db_name), type=tableType)
    return tuple(name for name in found if matches(name))


def get_fields(ctx: Context, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
    return _table_for_fields(ctx, db_name, table_name)[0]


def get_fields_with_environment_context(
    ctx: Context, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None
) -> tuple[FieldSchema, ...]:
    return _table_for_fields(ctx, db_name, table_name)[0]


def get_schema(ctx: Context, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
    fields, keys = _table_for_fields(ctx, db_name, table_name)
    return fields + keys


def get_schema_with_environment_context(
    ctx: Context, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None
) -> tuple[FieldSchema, ...]:
    fields, keys = _table_for_fields(ctx, db_name, table_name)
    return fields + keys


def _table_for_fields(
    ctx: Context, db_name: str | None, name: str | None
) -> tuple[tuple[FieldSchema, ...], tuple[FieldSchema, ...]]:
    where = ctx.name(db_name)
    # Hive reads `t.column` as the table t here.
    wanted = table_name(name).split(".")[0]
    row = tables.find(ctx.reader(), *where, wanted)
    if row is None:
        raise UnknownTableException(f"{ctx.full_name(where, wanted)} table not found")
    table = rows.table_of(row, *where)
    return (table.sd.cols if table.sd is not None else None) or (), table.partitionKeys or ()


# --- creating ---------------------------------------------------------------------------------------------------


def create_table(ctx: Context, tbl: Table | None) -> None:
    create(ctx, tbl, {})


def create_table_with_environment_context(
    ctx: Context, tbl: Table | None, environment_context: EnvironmentContext | None
) -> None:
    create(ctx, tbl, properties(environment_context))


def create(ctx: Context, given: Table | None, env: dict[str, str]) -> None:
    """Makes the table and, unless it is a view, its directory."""
    if given is None or given.tableName is None:
        raise MetaException("create_table needs a table with a name")
    if not is_valid_table_name(given.tableName, ctx.generation):
        raise InvalidObjectException(f"{given.tableName} is not a valid object name")
    normal.check_columns(given)
    table = normal.stored(given)
    where = DatabaseName(normalize(given.catName or DEFAULT_CATALOG), table.dbName or "")
    if given.catName is not None:
        ctx.saw_catalog()
    table = replace(table, catName=where.catalog)
    name = table.tableName or ""
    with ctx.reading() as tx:
        row = databases.find(tx, *where)
        if row is None:
            raise InvalidObjectException(where.database)
        if tables.find(tx, *where, name) is not None:
            raise _taken(ctx, where, given)
        database = rows.database_of(row, where.catalog)
    with Making(ctx.warehouse) as made:
        new = False
        if not normal.is_view(table):
            table = _located(table, database.locationUri, name)
            assert table.sd is not None
            new = made.make(table.sd.location)
        parameters = gathered_on_create(ctx.warehouse, table, directory_is_new=new)
        now = ctx.now()
        table = replace(table, createTime=now, parameters=normal.ddl_time(parameters, now))
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, where, table))
        except ConstraintViolated:
            raise _taken(ctx, where, given) from None
        made.keep()


def _taken(ctx: Context, where: DatabaseName, table: Table) -> AlreadyExistsException:
    if ctx.generation < Generation.HIVE_3_1:
        return AlreadyExistsException(f"Table {table.tableName} already exists")
    return AlreadyExistsException(f"Table {where.catalog}.{where.database}.{table.tableName} already exists")


def _located(table: Table, database_location: str | None, name: str) -> Table:
    """The table with a location: its own, or the one below its database."""
    assert table.sd is not None
    if table.sd.location:
        return table
    if not database_location:
        raise MetaException(f"table {name} has no location, and neither has its database {table.dbName}")
    return replace(table, sd=replace(table.sd, location=join(database_location, name)))


def _insert(ctx: Context, tx: Transaction, where: DatabaseName, table: Table) -> None:
    row = databases.find(tx, *where)
    if row is None:
        raise InvalidObjectException(where.database)
    databases.lock(tx, row.id)
    if tables.find(tx, *where, table.tableName or "") is not None:
        raise _taken(ctx, where, table)
    columns = rows.table_columns(table)
    tables.insert(tx, row.id, table.tableName or "", **columns._asdict())
    record(ctx, tx, "CREATE_TABLE", where, table.tableName, [("table", binary.encode(table))])


# --- dropping ---------------------------------------------------------------------------------------------------


def drop_table(ctx: Context, dbname: str | None, name: str | None, deleteData: bool | None) -> None:
    drop(ctx, dbname, name, bool(deleteData))


def drop_table_with_environment_context(
    ctx: Context,
    dbname: str | None,
    name: str | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> None:
    drop(ctx, dbname, name, bool(deleteData))


def drop(ctx: Context, dbname: str | None, name: str | None, delete_data: bool) -> None:
    where, wanted = ctx.name(dbname), table_name(name)

    def remove(tx: Transaction) -> list[int]:
        if ctx.generation >= Generation.HIVE_3_1 and databases.find(tx, *where) is None:
            raise NoSuchObjectException(where.database)
        return remove_table(ctx, tx, where, wanted, delete_data=delete_data)

    finish(ctx, ctx.database.run(remove))
