"""Tables and views by their names. Lists are in `lists.py`; each kind of change has its own module."""

from __future__ import annotations

from metastored.errors import InvalidOperationException, MetaException, UnknownDBException, UnknownTableException
from metastored.hive.names import normalize
from metastored.hive.patterns import compile_pattern
from metastored.model.acid import PROPERTIES, says_insert_only
from metastored.model.names import DatabaseName
from metastored.service.core import rows, translation
from metastored.service.core.context import Context, Encoded
from metastored.service.core.serving import method
from metastored.service.tables.projection import projected, wanted_fields
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, tables
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, Table
from metastored.wire.generated.tables import (
    ClientCapabilities,
    ClientCapability,
    GetFieldsRequest,
    GetFieldsResponse,
    GetSchemaRequest,
    GetSchemaResponse,
    GetTableRequest,
    GetTablesRequest,
)

_PROPERTIES_BYTES = PROPERTIES.encode()


def required_table_name(name: str | None) -> str:
    """The name of a table, in lower case. Raises MetaException where a request has none."""
    if name is None:
        raise MetaException("Table name cannot be null.")
    return normalize(name)


def find_table(ctx: Context, tx: Transaction, where: DatabaseName, name: str | None) -> TableRow:
    """Returns the table; raises NoSuchObjectException, with the name as the caller wrote it, if it does not exist."""
    row = tables.find(tx, *where, required_table_name(name))
    if row is None:
        raise ctx.no_table(where, name or "")
    return row


# --- one --------------------------------------------------------------------------------------------------------


def directories_of(ctx: Context, tx: Transaction, where: DatabaseName, name: str) -> set[str]:
    """The directories of a database and of one of its tables, if these exist."""
    locations: list[str | None] = []
    database = databases.find(tx, *where)
    if database is not None:
        database_struct = rows.database_of(database, where.catalog)
        locations += (database_struct.locationUri, translation.managed_directory(database_struct, ctx.warehouse.root))
    row = tables.find(tx, *where, name)
    if row is not None:
        table = rows.table_of(row, *where)
        locations.append(table.sd.location if table.sd is not None else None)
    return {location for location in locations if location}


@method
def get_table(ctx: Context, dbname: str | None, tbl_name: str | None) -> Encoded:
    return Encoded(rows.table_reply(_got(ctx, ctx.name(dbname), tbl_name, None)))


@method
def get_table_req(ctx: Context, req: GetTableRequest) -> Encoded:
    where = ctx.name(req.dbName, req.catName)
    abilities = req.processorCapabilities
    if abilities:
        ctx.saw_hive_4()
    struct = _got(ctx, where, req.tblName, req.capabilities)
    if abilities and ctx.rules.returns_access and translation.applies(where.catalog, abilities):
        struct = binary.encode(translation.translated(binary.decode(Table, struct), abilities))
    return Encoded(rows.wrapped_reply(struct))


def _got(ctx: Context, where: DatabaseName, name: str | None, capabilities: ClientCapabilities | None) -> bytes:
    row = find_table(ctx, ctx.reader(), where, name)
    _check_capable(ctx, row, capabilities)
    return struct_of(ctx, row, where)


def struct_of(ctx: Context, row: TableRow, where: DatabaseName) -> bytes:
    """The Table as this caller gets it."""
    return rows.table_struct(row, ctx.shown(where.catalog), where.database, with_id=ctx.rules.returns_ids)


def _check_capable(ctx: Context, row: TableRow, capabilities: ClientCapabilities | None) -> None:
    """Raises an error for clients without support for insert-only tables: they would read uncommitted rows."""
    if not ctx.rules.checks_capabilities or _PROPERTIES_BYTES not in row.body:
        return
    if capabilities is not None and ClientCapability.INSERT_ONLY_TABLES in (capabilities.values or ()):
        return
    if ctx.session.conf.get("metastore.client.capability.check", "true").lower() == "false":
        return
    if says_insert_only(rows.table_of(row, None, "").parameters):
        raise MetaException(
            "Your client does not appear to support insert-only tables. To skip capability checks, please set"
            " metastore.client.capability.check to false. This setting can be set globally, or on the client for the"
            " current metastore session. Note that this may lead to incorrect results, data loss, undefined behavior,"
            " etc. if your client is actually incompatible. You can also specify custom client capabilities via"
            " get_table_req API."
        )


# --- many -------------------------------------------------------------------------------------------------------


@method
def get_table_objects_by_name(ctx: Context, dbname: str | None, tbl_names: tuple[str, ...] | None) -> Encoded:
    where = existing_database(ctx, dbname, None)
    selected = _by_names(ctx, where, tbl_names, None)
    return Encoded(rows.list_reply((struct_of(ctx, row, where) for row in selected), len(selected)))


@method
def get_table_objects_by_name_req(ctx: Context, req: GetTablesRequest) -> Encoded:
    if req.processorCapabilities or req.projectionSpec is not None or req.tablesPattern is not None:
        ctx.saw_hive_4()
    if not ctx.rules.finds_by_patterns:
        where = existing_database(ctx, req.dbName, req.catName)
        selected = _by_names(ctx, where, req.tblNames, req.capabilities)
        return Encoded(rows.wrapped_list((struct_of(ctx, row, where) for row in selected), len(selected)))
    fields = wanted_fields(req.projectionSpec)
    structs = [
        struct if fields is None else binary.encode(projected(binary.decode(Table, struct), fields))
        for struct in _by_patterns(ctx, req)
    ]
    return Encoded(rows.wrapped_list(structs, len(structs)))


def _by_patterns(ctx: Context, req: GetTablesRequest) -> list[bytes]:
    """Tables by their names, by a pattern, or by both, of every database whose name fits."""
    if not req.dbName:
        raise UnknownDBException("DB name is null or empty")
    where = ctx.name(req.dbName, req.catName)
    matches = compile_pattern(req.tablesPattern) if req.tablesPattern is not None else None
    structs: list[bytes] = []
    with ctx.reading() as tx:
        for database in _databases(tx, where):
            names = req.tblNames
            if matches is not None:
                known = tables.names(tx, *database)
                requested_names = None if names is None else set(map(normalize, names))
                names = tuple(
                    name for name in known if matches(name) and (requested_names is None or name in requested_names)
                )
            selected = _by_names(ctx, database, names, req.capabilities)
            structs += (struct_of(ctx, row, database) for row in selected)
        if not structs and databases.find(tx, *where) is None:
            name = ctx.database_name(where)
            suffix = "" if ctx.rules.filters_in_a_database else f": database {name}"
            raise UnknownDBException(f"Could not find database {name}{suffix}")
    return structs


def _databases(tx: Transaction, where: DatabaseName) -> list[DatabaseName]:
    """The databases that match a name in which a star matches anything; the database itself if there is no star."""
    if "*" not in where.database or "|" in where.database:
        return [where]
    fits = compile_pattern(where.database)
    return [DatabaseName(where.catalog, name) for name in databases.names(tx, where.catalog) if fits(name)]


def existing_database(ctx: Context, dbname: str | None, catalog: str | None) -> DatabaseName:
    if not dbname:
        raise UnknownDBException("DB name is null or empty")
    where = ctx.name(dbname, catalog)
    if databases.find(ctx.reader(), *where) is None:
        raise UnknownDBException(f"Could not find database {ctx.database_name(where)}")
    return where


def _by_names(
    ctx: Context,
    where: DatabaseName,
    names: tuple[str, ...] | None,
    capabilities: ClientCapabilities | None,
) -> list[TableRow]:
    """The tables that exist, in the requested order, each once."""
    if names is None:
        raise InvalidOperationException(f"{where.database} cannot find null tables")
    keys = list(dict.fromkeys(normalize(name) for name in names))
    rows_by_name = {row.name: row for row in tables.find_many(ctx.reader(), *where, keys)}
    for row in rows_by_name.values():
        _check_capable(ctx, row, capabilities)
    return [rows_by_name[name] for name in keys if name in rows_by_name]


# --- columns ----------------------------------------------------------------------------------------------------

Fields = tuple[FieldSchema, ...]


@method
def get_fields(ctx: Context, db_name: str | None, table_name: str | None) -> Fields:
    return _fields(ctx, ctx.name(db_name), table_name)[0]


@method
def get_fields_with_environment_context(
    ctx: Context, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None
) -> Fields:
    return _fields(ctx, ctx.name(db_name), table_name)[0]


@method
def get_fields_req(ctx: Context, req: GetFieldsRequest) -> GetFieldsResponse:
    return GetFieldsResponse(_fields(ctx, ctx.name(req.dbName, req.catName), req.tblName)[0])


@method
def get_schema(ctx: Context, db_name: str | None, table_name: str | None) -> Fields:
    fields, keys = _fields(ctx, ctx.name(db_name), table_name)
    return fields + keys


@method
def get_schema_with_environment_context(
    ctx: Context, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None
) -> Fields:
    return get_schema(ctx, db_name, table_name)


@method
def get_schema_req(ctx: Context, req: GetSchemaRequest) -> GetSchemaResponse:
    fields, keys = _fields(ctx, ctx.name(req.dbName, req.catName), req.tblName)
    return GetSchemaResponse(fields + keys)


def _fields(ctx: Context, where: DatabaseName, name: str | None) -> tuple[Fields, Fields]:
    # Hive reads `t.column` as the table t here.
    key = None if name is None else name.split(".")[0]
    row = tables.find(ctx.reader(), *where, required_table_name(key))
    if row is None:
        raise UnknownTableException(f"{ctx.full_name(where, key or '')} table not found")
    table = rows.table_of(row, *where)
    return (table.sd.cols if table.sd is not None else None) or (), table.partitionKeys or ()
