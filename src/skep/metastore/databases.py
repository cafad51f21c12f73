"""Databases: one function a Thrift method. Directories are made before, and removed after, the transaction."""

from __future__ import annotations

from skep.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from skep.hive.generation import Generation
from skep.hive.locations import join
from skep.hive.names import is_valid_database_name, normalize
from skep.hive.patterns import compile_pattern
from skep.metastore import rows
from skep.metastore.changes import record
from skep.metastore.context import DEFAULT_CATALOG, DEFAULT_DATABASE, Context, DatabaseName, Encoded
from skep.metastore.directories import Making, finish, plan_removal
from skep.metastore.removal import remove_table
from skep.store import catalogs, databases, functions, tables
from skep.store.databases import DatabaseRow
from skep.store.transaction import ConstraintViolated, Transaction
from skep.wire import binary
from skep.wire.generated.common import PrincipalType
from skep.wire.generated.databases import Database
from skep.wire.structs import replace


def find_database(ctx: Context, tx: Transaction, where: DatabaseName) -> DatabaseRow:
    row = databases.find(tx, where.catalog, where.database)
    if row is None:
        raise NoSuchObjectException(where.database)
    return row


def get_database(ctx: Context, name: str | None) -> Encoded:
    where = ctx.name(name)
    return Encoded(rows.database_reply(find_database(ctx, ctx.reader(), where), where.catalog))


def get_databases(ctx: Context, pattern: str | None) -> tuple[str, ...]:
    catalog, wanted = ctx.pattern(pattern)
    matches = compile_pattern(wanted)
    return tuple(name for name in databases.names(ctx.reader(), catalog) if matches(name))


def get_all_databases(ctx: Context) -> tuple[str, ...]:
    return tuple(databases.names(ctx.reader(), DEFAULT_CATALOG))


def create_database(ctx: Context, database: Database | None) -> None:
    if database is None or database.name is None:
        raise MetaException("create_database needs a database with a name")
    if not is_valid_database_name(database.name, ctx.generation):
        raise InvalidObjectException(f"{database.name} is not a valid database name")
    where = DatabaseName(normalize(database.catalogName or DEFAULT_CATALOG), normalize(database.name))
    if database.catalogName is not None:
        ctx.saw_catalog()
    taken = AlreadyExistsException(f"Database {database.name} already exists")
    with ctx.reading() as tx:
        catalog = catalogs.find(tx, where.catalog)
        if catalog is None:
            raise InvalidObjectException(f"No catalog {where.catalog}")
        if databases.find(tx, *where) is not None:
            raise taken
        root = rows.catalog_of(catalog).locationUri or ctx.warehouse.root
    stored = _stored(database, database.locationUri or join(root, f"{where.database}.db"), ctx)
    with Making(ctx.warehouse) as made:
        made.make(stored.locationUri)
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, where, catalog.id, stored, taken))
        except ConstraintViolated:
            raise taken from None
        made.keep()


def _stored(database: Database, location: str, ctx: Context) -> Database:
    """The database as it is kept: what the caller left out has Hive's default."""
    return replace(
        database,
        locationUri=location,
        parameters=database.parameters or {},
        ownerType=database.ownerType if database.ownerType is not None else PrincipalType.USER,
        createTime=ctx.now() if ctx.generation >= Generation.HIVE_4_0 else database.createTime,
    )


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
    databases.insert(tx, catalog_id, where.database, rows.database_body(database))
    named = replace(database, name=where.database, catalogName=where.catalog)
    record(ctx, tx, "CREATE_DATABASE", where, None, [("database", binary.encode(named))])


def alter_database(ctx: Context, dbname: str | None, db: Database | None) -> None:
    """2.3 changes parameters and owner and passes over a missing database; later versions change more."""
    where = ctx.name(dbname)
    if db is None:
        raise MetaException("alter_database needs a database")
    changed: Database = db

    def alter(tx: Transaction) -> None:
        row = databases.find(tx, *where)
        if row is None:
            if ctx.generation < Generation.HIVE_3_1:
                return
            raise NoSuchObjectException(where.database)
        databases.lock(tx, row.id, exclusive=True)
        before = rows.database_of(row, where.catalog)
        after = replace(before, parameters=changed.parameters or {})
        if changed.ownerName is not None or ctx.generation < Generation.HIVE_3_1:
            after = replace(after, ownerName=changed.ownerName, ownerType=changed.ownerType)
        if ctx.generation >= Generation.HIVE_3_1:
            after = replace(after, description=changed.description)
            if changed.locationUri:
                after = replace(after, locationUri=changed.locationUri)
        databases.update(tx, row.id, rows.database_body(after))
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_DATABASE", where, None, objects)

    ctx.database.run(alter)


def drop_database(ctx: Context, name: str | None, deleteData: bool | None, cascade: bool | None) -> None:
    where = ctx.name(name)
    if where.database == DEFAULT_DATABASE:
        suffix = "" if ctx.generation < Generation.HIVE_3_1 else f" in catalog {where.catalog}"
        raise MetaException(f"Can not drop default database{suffix}")

    def drop(tx: Transaction) -> list[int]:
        row = databases.find(tx, *where)
        if row is None:
            raise _missing_to_drop(ctx, where)
        databases.lock(tx, row.id, exclusive=True)
        names = tables.names(tx, *where)
        owned = functions.names(tx, *where)
        if not cascade:
            if names:
                raise InvalidOperationException(f"Database {where.database} is not empty. One or more tables exist.")
            if owned:
                raise InvalidOperationException(f"Database {where.database} is not empty. One or more functions exist.")
        database = rows.database_of(row, where.catalog)
        jobs: list[int] = []
        for table in names:
            jobs += remove_table(ctx, tx, where, table, delete_data=bool(deleteData))
        for function in owned:
            found = functions.find(tx, *where, function)
            if found is not None:
                functions.delete(tx, found.id)
        databases.delete(tx, row.id)
        if deleteData and database.locationUri:
            jobs.append(plan_removal(ctx, tx, database.locationUri))
        record(ctx, tx, "DROP_DATABASE", where, None, [("database", binary.encode(database))])
        return jobs

    finish(ctx, ctx.database.run(drop))


def _missing_to_drop(ctx: Context, where: DatabaseName) -> Exception:
    if ctx.generation >= Generation.HIVE_4_0:
        return NoSuchObjectException(where.database)
    # 2.3 and 3.1 stumble over the missing database; clients accept a MetaException here.
    return MetaException(f"database {where.database} does not exist")
