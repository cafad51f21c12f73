"""Databases: one function per Thrift method. Directories are created before, and removed after, the transaction."""

from __future__ import annotations

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.locations import join
from metastored.hive.names import DEFAULT_CATALOG, DEFAULT_DATABASE, database_directory, is_valid_database_name
from metastored.hive.patterns import compile_pattern
from metastored.model.names import DatabaseName
from metastored.model.remotes.values import is_remote
from metastored.service.core import rows, translation
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked_database, no_pending_job
from metastored.service.core.context import Context, Encoded
from metastored.service.core.directories import NewDirectory, stored_location
from metastored.service.core.removing import contains_databases, plan_removal, removing
from metastored.service.core.serving import method
from metastored.service.remotes.databases import (
    alter_remote_database,
    create_remote_database,
    definition_keys,
    find_remote,
    is_remote_database,
)
from metastored.service.remotes.defining import refuse_new_keys, refuse_stray_keys
from metastored.service.tables.removal import DONE, lock_all, own_directory, remove_table
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import catalogs, databases, functions, remotes, tables
from metastored.store.objects.databases import DatabaseRow
from metastored.store.security import roles
from metastored.store.transactions.resources import database_dropped
from metastored.wire.codec import binary
from metastored.wire.generated.common import AsyncOperationResp, PrincipalType
from metastored.wire.generated.databases import (
    AlterDatabaseRequest,
    CreateDatabaseRequest,
    Database,
    DatabaseType,
    DropDatabaseRequest,
    GetDatabaseObjectsRequest,
    GetDatabaseObjectsResponse,
    GetDatabaseRequest,
)
from metastored.wire.structs import replace


def find_database(ctx: Context, tx: Transaction, where: DatabaseName) -> DatabaseRow:
    row = databases.find(tx, *where)
    if row is None:
        raise ctx.no_database(where)
    return row


# --- reading ----------------------------------------------------------------------------------------------------


@method
def get_database(ctx: Context, name: str | None) -> Encoded:
    return _got(ctx, ctx.name(name), None)


@method
def get_database_req(ctx: Context, request: GetDatabaseRequest) -> Encoded:
    return _got(ctx, ctx.name(request.name, request.catalogName), request.processorCapabilities)


def _got(ctx: Context, where: DatabaseName, abilities: translation.Abilities | None) -> Encoded:
    row = find_database(ctx, ctx.reader(), where)
    if ctx.rules.separates_managed_location:
        database = _stamped(ctx, where, rows.database_of(row, where.catalog))
        translated = translation.translated_database(database, abilities, ctx.warehouse.root)
        row = row._replace(body=rows.database_body(translated))
    return Encoded(rows.database_reply(row, ctx.shown(where.catalog)))


@method
def get_databases(ctx: Context, pattern: str | None) -> tuple[str, ...]:
    catalog, name_pattern = ctx.pattern(pattern)
    matches = compile_pattern(name_pattern)
    return tuple(name for name in databases.names(ctx.reader(), catalog) if matches(name))


@method
def get_all_databases(ctx: Context) -> tuple[str, ...]:
    return tuple(databases.names(ctx.reader(), DEFAULT_CATALOG))


@method
def get_databases_req(ctx: Context, request: GetDatabaseObjectsRequest) -> GetDatabaseObjectsResponse:
    catalog, name_pattern = ctx.pattern(request.pattern, request.catalogName)
    matches = compile_pattern(name_pattern)
    matching = [row for row in databases.rows(ctx.reader(), catalog) if matches(row.name)]
    return GetDatabaseObjectsResponse(tuple(rows.database_of(row, ctx.shown(catalog)) for row in matching))


# --- creating ---------------------------------------------------------------------------------------------------


@method
def create_database(ctx: Context, database: Database | None) -> None:
    if database is None or database.name is None:
        raise MetaException("Database name cannot be null.")
    if not is_valid_database_name(database.name, ctx.accepts):
        raise InvalidObjectException(f"{database.name} is not a valid database name")
    where = ctx.name(database.name, database.catalogName)
    taken = AlreadyExistsException(f"Database {database.name} already exists")
    with ctx.reading() as tx:
        catalog = catalogs.find(tx, where.catalog)
        if catalog is None:
            raise InvalidObjectException(f"No such catalog {where.catalog}")
        if databases.find(tx, *where) is not None:
            raise taken
        definition = definition_keys(tx, database)
        outer = rows.catalog_of(catalog) if where.catalog != DEFAULT_CATALOG else None
        if outer is not None and definition is None and is_remote(outer.parameters):
            raise InvalidObjectException(f"catalog {where.catalog} is remote: its databases are those of the remote")
        parent_location = outer.locationUri if outer is not None else None
    if definition is not None:
        try:
            create_remote_database(ctx, where, database, definition, taken)
        except ConstraintViolated:
            raise taken from None
        return
    refuse_stray_keys(database.parameters, f"database {where.database}")
    location_uri = database.locationUri
    if location_uri is None:
        # A catalog's location is stored as it was written.
        location = join(
            stored_location(ctx, parent_location) if parent_location else ctx.warehouse.root,
            database_directory(where.database),
        )
    else:
        location = stored_location(ctx, location_uri)
    stored = _stored(ctx, database, location)
    if stored.managedLocationUri:
        stored = replace(stored, managedLocationUri=stored_location(ctx, stored.managedLocationUri))
    no_pending_job(ctx.reader(), [location, stored.managedLocationUri])

    def owned() -> list[str]:
        row = databases.find(ctx.reader(), *where)
        return [] if row is None else _directories(ctx, rows.database_of(row, where.catalog))

    with NewDirectory(ctx.warehouse, owned) as made:
        made.make(stored.locationUri)
        if ctx.rules.separates_managed_location:
            made.make(stored.managedLocationUri)
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, where, catalog.id, stored, taken))
        except ConstraintViolated:
            raise taken from None
        made.keep()


@method
def create_database_req(ctx: Context, createDatabaseRequest: CreateDatabaseRequest) -> None:
    request = createDatabaseRequest
    # Hive 4.0.0 sends the type as a string, later ones as a number.
    kind = DatabaseType.REMOTE if request.type in (DatabaseType.REMOTE, "REMOTE") else DatabaseType.NATIVE
    create_database(
        ctx,
        Database(
            name=request.databaseName,
            description=request.description,
            locationUri=request.locationUri,
            parameters=request.parameters,
            privileges=request.privileges,
            ownerName=request.ownerName,
            ownerType=request.ownerType,
            catalogName=request.catalogName,
            createTime=request.createTime,
            managedLocationUri=request.managedLocationUri,
            type=kind,
            connector_name=request.dataConnectorName,
            remote_dbname=request.remote_dbname,
        ),
    )


def _stamped(ctx: Context, where: DatabaseName, database: Database) -> Database:
    """The database `default` of `hive` with the time of the first start, which is that of the role admin."""
    if where != (DEFAULT_CATALOG, DEFAULT_DATABASE) or database.createTime is not None:
        return database
    admin = roles.find(ctx.reader(), "admin")
    return replace(database, createTime=admin.create_time if admin else None, type=database.type or DatabaseType.NATIVE)


def _stored(ctx: Context, database: Database, location: str) -> Database:
    """The database as it is stored: fields that the caller omitted have Hive's default."""
    stored = replace(
        database,
        locationUri=location,
        parameters=database.parameters or {},
        ownerType=database.ownerType if database.ownerType is not None else PrincipalType.USER,
    )
    if ctx.rules.stamps_databases:
        owner = database.ownerName if database.ownerName is not None else ctx.user
        stored = replace(stored, createTime=ctx.now(), ownerName=owner, type=database.type or DatabaseType.NATIVE)
    return stored


def _insert(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    catalog_id: int,
    database: Database,
    taken: AlreadyExistsException,
) -> None:
    if databases.find(tx, *where) is not None:
        raise taken
    no_pending_job(tx, [database.locationUri])
    databases.insert(tx, catalog_id, where.database, rows.database_body(database))
    named = replace(database, name=where.database, catalogName=where.catalog)
    record(ctx, tx, "CREATE_DATABASE", where, None, [("database", binary.encode(named))])


# --- changing ---------------------------------------------------------------------------------------------------


@method
def alter_database(ctx: Context, dbname: str | None, db: Database | None) -> None:
    where = ctx.name(dbname)
    if db is None:
        raise MetaException(f"alter_database needs the new definition of {where.database}")
    # Of a remote database the client sends the remote's location back, which is not used here.
    changed = db if is_remote(db.parameters) else _with_locations(ctx, db)

    def alter(tx: Transaction) -> None:
        row = databases.find(tx, *where)
        if row is None:
            if ctx.rules.alters_complete_database:
                raise ctx.no_database(where)
            return
        row = locked_database(tx, where.catalog, row)
        before = rows.database_of(row, where.catalog)
        remote = find_remote(tx, row, before)
        if remote is not None:
            alter_remote_database(ctx, tx, where, row, remote, changed)
            return
        refuse_new_keys(before.parameters, changed.parameters, f"database {where.database}")
        after = _changed(ctx, before, _with_locations(ctx, changed))
        databases.update(tx, row.id, rows.database_body(after))
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_DATABASE", where, None, objects)

    ctx.database.run(alter)


@method
def alter_database_req(ctx: Context, alterDbReq: AlterDatabaseRequest) -> None:
    alter_database(ctx, alterDbReq.oldDbName, alterDbReq.newDb)


def _with_locations(ctx: Context, database: Database) -> Database:
    result = database
    if result.locationUri is not None:
        result = replace(result, locationUri=stored_location(ctx, result.locationUri))
    if result.managedLocationUri:
        result = replace(result, managedLocationUri=stored_location(ctx, result.managedLocationUri))
    return result


def _changed(ctx: Context, before: Database, requested: Database) -> Database:
    """The altered database. Fields that the request omits keep their values; the name never changes."""
    after = replace(
        before,
        parameters=requested.parameters or {},
        ownerName=requested.ownerName,
        ownerType=requested.ownerType if requested.ownerType is not None else before.ownerType,
    )
    if not ctx.rules.alters_complete_database:
        return after
    return replace(
        after,
        description=requested.description if (requested.description or "").strip() else before.description,
        locationUri=requested.locationUri or before.locationUri,
        managedLocationUri=requested.managedLocationUri or before.managedLocationUri,
    )


# --- dropping ---------------------------------------------------------------------------------------------------


@method
def drop_database(ctx: Context, name: str | None, deleteData: bool | None, cascade: bool | None) -> None:
    _drop(ctx, ctx.name(name), delete_data=bool(deleteData), cascade=bool(cascade))


@method
def drop_database_req(ctx: Context, req: DropDatabaseRequest) -> AsyncOperationResp:
    try:
        where = ctx.name(req.name, req.catalogName)
        _drop(ctx, where, delete_data=bool(req.deleteData), cascade=bool(req.cascade))
    except NoSuchObjectException:
        if not req.ignoreUnknownDb:
            raise
    return DONE


def _drop(ctx: Context, where: DatabaseName, *, delete_data: bool, cascade: bool) -> None:
    if where.database == DEFAULT_DATABASE and (where.catalog == DEFAULT_CATALOG or not ctx.rules.drops_other_defaults):
        suffix = f" in catalog {where.catalog}" if ctx.rules.names_catalogs else ""
        raise MetaException(f"Can not drop default database{suffix}")

    def drop(tx: Transaction) -> tuple[None, list[int]]:
        row = databases.find(tx, *where)
        if row is None:
            raise _missing_to_drop(ctx, where)
        row = locked_database(tx, where.catalog, row)
        held = tables.rows(tx, *where)
        owned = functions.names(tx, *where)
        if not cascade:
            if held:
                raise InvalidOperationException(f"Database {where.database} is not empty. One or more tables exist.")
            if owned:
                raise InvalidOperationException(f"Database {where.database} is not empty. One or more functions exist.")
        database = rows.database_of(row, where.catalog)
        jobs: list[int] = []
        locked_tables = lock_all(tx, held)
        if is_remote_database(database) or remotes.has_tables(tx, row.id):
            # Before the first event: every transaction locks the number of the definitions before that of the events.
            remotes.changed(tx)
        for table in locked_tables:
            jobs += remove_table(ctx, tx, where, table, delete_data=delete_data, planned=jobs)
        for function in owned:
            function_row = functions.find(tx, *where, function)
            if function_row is not None:
                functions.delete(tx, function_row.id)
        databases.delete(tx, row.id)
        database_dropped(tx, *where)
        if delete_data:
            directories = _directories(ctx, database)
            if where.database == DEFAULT_DATABASE:
                # Its directory is the catalog's: it stays as long as the catalog's other databases are in it.
                directories = [each for each in directories if not contains_databases(ctx, tx, each)]
            no_pending_job(tx, directories, own=jobs)
            jobs += [plan_removal(ctx, tx, directory, purge=False) for directory in directories]
        record(ctx, tx, "DROP_DATABASE", where, None, [("database", binary.encode(database))])
        return None, jobs

    removing(ctx, drop, _expected(ctx, where) if delete_data else ())


def _expected(ctx: Context, where: DatabaseName) -> list[str | None]:
    """The directories that are probably removed with a database: its own and those of its tables."""
    with ctx.reading() as tx:
        row = databases.find(tx, *where)
        held = tables.rows(tx, *where)
    if row is None:
        return []
    return [
        *_directories(ctx, rows.database_of(row, where.catalog)),
        *(own_directory(ctx, where, each) for each in held),
    ]


def _directories(ctx: Context, database: Database) -> list[str]:
    """The directories that are removed with a database; none with a remote one."""
    if is_remote_database(database):
        return []
    directories = [database.locationUri]
    if ctx.rules.separates_managed_location:
        directories.append(translation.managed_directory(database, ctx.warehouse.root))
    return [directory for directory in dict.fromkeys(directories) if directory]


def _missing_to_drop(ctx: Context, where: DatabaseName) -> Exception:
    if ctx.rules.drop_names_database:
        return ctx.no_database(where)
    # 2.3 and 3.1 fail on the missing database; clients accept a MetaException here.
    return MetaException(f"database {where.database} does not exist")
