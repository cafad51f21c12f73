"""Creating tables and views: checked, located, its directory made, then one transaction."""

from __future__ import annotations

from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException
from metastored.hive.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.locations import LOCAL_SCHEME, join, parse_location
from metastored.hive.names import DEFAULT_CATALOG, directory_name, is_valid_table_name, normalize
from metastored.model import kinds, normal
from metastored.model.kinds import EXTERNAL_PARAMETER
from metastored.model.names import DatabaseName
from metastored.model.origins import TABLE_TYPE, TableFormat
from metastored.model.remotes.values import is_remote
from metastored.service.core import rows, translation
from metastored.service.core.changes import record
from metastored.service.core.conflicts import no_pending_job
from metastored.service.core.context import Context, properties
from metastored.service.core.directories import NewDirectory, stored_location
from metastored.service.core.serving import method
from metastored.service.core.transactional import checked_on_create
from metastored.service.remotes.databases import refuse_in_remote
from metastored.service.remotes.defining import refuse_stray_keys
from metastored.service.remotes.tables import create_remote_table
from metastored.service.security.privileges import grants_of_new_table
from metastored.service.statistics.basic import gathered_on_create
from metastored.service.tables.add_constraints import ConstraintsByKind, add_all
from metastored.service.tables.get import directories_of
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import databases, tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    CreationMetadata,
    EnvironmentContext,
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import CreateTableRequest
from metastored.wire.structs import replace


@method
def create_table(ctx: Context, tbl: Table | None) -> None:
    create(ctx, tbl, {})


@method
def create_table_with_environment_context(
    ctx: Context, tbl: Table | None, environment_context: EnvironmentContext | None
) -> None:
    create(ctx, tbl, properties(environment_context))


@method
def create_table_with_constraints(
    ctx: Context,
    tbl: Table | None,
    primaryKeys: tuple[SQLPrimaryKey, ...] | None,
    foreignKeys: tuple[SQLForeignKey, ...] | None,
    uniqueConstraints: tuple[SQLUniqueConstraint, ...] | None,
    notNullConstraints: tuple[SQLNotNullConstraint, ...] | None,
    defaultConstraints: tuple[SQLDefaultConstraint, ...] | None,
    checkConstraints: tuple[SQLCheckConstraint, ...] | None,
) -> None:
    constraints = {
        PRIMARY: primaryKeys,
        UNIQUE: uniqueConstraints,
        FOREIGN: foreignKeys,
        NOT_NULL: notNullConstraints,
        DEFAULT: defaultConstraints,
        CHECK: checkConstraints,
    }
    create(ctx, tbl, {}, constraints=constraints)


@method
def create_table_req(ctx: Context, request: CreateTableRequest) -> None:
    constraints = {
        PRIMARY: request.primaryKeys,
        UNIQUE: request.uniqueConstraints,
        FOREIGN: request.foreignKeys,
        NOT_NULL: request.notNullConstraints,
        DEFAULT: request.defaultConstraints,
        CHECK: request.checkConstraints,
    }
    env = properties(request.envContext)
    create(ctx, request.table, env, request.processorCapabilities, constraints=constraints)


@method
def translate_table_dryrun(ctx: Context, request: CreateTableRequest) -> Table:
    """The table that a request would create."""
    if request.table is None:
        raise MetaException("Table cannot be null.")
    table = replace(request.table, catName=DEFAULT_CATALOG if request.table.catName is None else request.table.catName)
    if not ctx.rules.translates_managed or table.catName != DEFAULT_CATALOG:
        return table
    where = ctx.name(table.dbName, table.catName)
    row = databases.find(ctx.reader(), *where)
    if row is None:
        raise MetaException(f"Database {table.dbName} for table {table.tableName} could not be found")
    database = rows.database_of(row, where.catalog)
    return translation.created(table, database, request.processorCapabilities, ctx.warehouse.root)


# --- common to all -----------------------------------------------------------------------------------------------


def create(
    ctx: Context,
    requested: Table | None,
    env: dict[str, str],
    capabilities: translation.Abilities | None = None,
    constraints: ConstraintsByKind | None = None,
) -> None:
    """Creates the table with its constraints and, unless it is a view, its directory."""
    if requested is None or requested.tableName is None:
        raise MetaException("Table name cannot be null.")
    if not is_valid_table_name(requested.tableName, ctx.accepts):
        raise InvalidObjectException(f"{requested.tableName} is not a valid object name")
    where = ctx.name_for_new(requested.dbName, requested.catName, InvalidObjectException)
    if is_remote(requested.parameters):
        _create_remote(ctx, where, requested, constraints or {})
        return
    refuse_stray_keys(requested.parameters, f"table {where.database}.{requested.tableName}")
    normal.check_columns(requested)
    name = normalize(requested.tableName)
    draft = replace(requested, catName=where.catalog)
    if ctx.service.lance_external:
        draft = _external_if_lance(draft)
    if not ctx.rules.translates_managed:
        draft = checked_on_create(draft, ctx.rules)
    with ctx.reading() as tx:
        row = databases.find(tx, *where)
        if row is None:
            raise InvalidObjectException(ctx.missing_database(where))
        refuse_in_remote(tx, row, where, f"table {requested.tableName}")
        if tables.find(tx, *where, name) is not None:
            raise _taken(ctx, where, requested)
        database = rows.database_of(row, where.catalog)
        if ctx.rules.translates_managed:
            if where.catalog == DEFAULT_CATALOG:
                draft = translation.created(draft, database, capabilities, ctx.warehouse.root)
            draft = checked_on_create(draft, ctx.rules)
        table = normal.stored(draft, ctx.rules.external_in_any_case)
        if not kinds.is_view(table):
            table = _located(ctx, table, database, name)
            no_pending_job(tx, [_place(table)])

    def owned() -> set[str]:
        with ctx.reading() as tx:
            return directories_of(ctx, tx, where, name)

    with NewDirectory(ctx.warehouse, owned) as made:
        new = False
        if not kinds.is_view(table):
            new = made.make(_place(table))
        parameters = gathered_on_create(ctx, table, env, directory_is_new=new)
        now = ctx.now()
        table = replace(
            table,
            createTime=now,
            parameters=normal.ddl_time(parameters, now),
            creationMetadata=_dated(ctx, table.creationMetadata),
        )
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, where, table, constraints or {}))
        except ConstraintViolated:
            raise _taken(ctx, where, requested) from None
        made.keep()


def _external_if_lance(table: Table) -> Table:
    """Lance's own clients for Hive never set EXTERNAL: a DROP TABLE of any engine would delete the dataset."""
    parameters = table.parameters or {}
    if (parameters.get(TABLE_TYPE) or "").lower() != TableFormat.LANCE.value or EXTERNAL_PARAMETER in parameters:
        return table
    return replace(table, parameters={**parameters, EXTERNAL_PARAMETER: "TRUE"})


def _create_remote(ctx: Context, where: DatabaseName, requested: Table, constraints: ConstraintsByKind) -> None:
    if any(constraints.values()):
        raise InvalidObjectException(
            f"remote table {where.database}.{requested.tableName} has the constraints of the remote, and no others"
        )
    taken = _taken(ctx, where, requested)
    try:
        create_remote_table(ctx, where, requested, taken)
    except ConstraintViolated:
        raise taken from None


def _dated(ctx: Context, metadata: CreationMetadata | None) -> CreationMetadata | None:
    """The creation metadata of a materialized view, with the time of its build in milliseconds."""
    return None if metadata is None else replace(metadata, materializationTime=ctx.now_in_milliseconds())


def _taken(ctx: Context, where: DatabaseName, table: Table) -> AlreadyExistsException:
    if not ctx.rules.names_catalogs:
        return AlreadyExistsException(f"Table {table.tableName} already exists")
    return AlreadyExistsException(f"Table {ctx.full_name(where, table.tableName or '')} already exists")


def _located(ctx: Context, table: Table, database: Database, name: str) -> Table:
    """The table with a location: its own, or the default one below its database."""
    assert table.sd is not None
    base = database.locationUri
    if ctx.rules.separates_managed_location:
        default_directory = (
            translation.external_directory if kinds.is_external(table) else translation.managed_directory
        )
        base = default_directory(database, ctx.warehouse.root)
    if table.sd.location:
        location = stored_location(ctx, table.sd.location)
        scheme, _, path = parse_location(location)
        if path in ("", "/") and (ctx.rules.refuses_roots or scheme == LOCAL_SCHEME):
            raise InvalidObjectException(f"{table.tableName} location must not be root path")
    elif base:
        location = join(base, directory_name(name))
    else:
        raise MetaException(f"table {name} has no location, and neither has its database {table.dbName}")
    return replace(table, sd=replace(table.sd, location=location))


def _place(table: Table) -> str | None:
    return table.sd.location if table.sd is not None else None


def _insert(ctx: Context, tx: Transaction, where: DatabaseName, table: Table, constraints: ConstraintsByKind) -> None:
    row = databases.find(tx, *where)
    if row is None:
        raise InvalidObjectException(ctx.missing_database(where))
    databases.lock(tx, row.id)
    if tables.find(tx, *where, table.tableName or "") is not None:
        raise _taken(ctx, where, table)
    if not kinds.is_view(table):
        no_pending_job(tx, [_place(table)])
    columns = rows.table_columns(table)
    table_id = tables.insert(tx, row.id, table.tableName or "", **columns._asdict())
    grants_of_new_table(ctx, tx, table_id, table)
    record(ctx, tx, "CREATE_TABLE", where, table.tableName, [("table", binary.encode(table))])
    add_all(ctx, tx, constraints, InvalidObjectException)
