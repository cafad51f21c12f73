"""Remote databases: rows of the store without a directory. What is in them is only at the remote."""

from __future__ import annotations

from collections.abc import Mapping

from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException, MetastoreError
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.model.remotes import keys
from metastored.model.remotes.values import Remote
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.registry.connectors import CONNECTORS, leads_to_remotes
from metastored.service.remotes.defining import Definition, altered, define
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, databases, remotes
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.remotes import Of, RemoteRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.databases import Database, DatabaseType
from metastored.wire.structs import replace


def is_remote_database(database: Database) -> bool:
    """Whether a stored database is remote: the store writes both of these only where it has a definition."""
    return database.type == DatabaseType.REMOTE and keys.is_remote(database.parameters)


def definition_keys(tx: Transaction, database: Database) -> dict[str, str] | None:
    """The parameters that define a new database as remote; None for a local one.

    Hive 4 says it by fields: a connector, and the name at the remote. A connector of Hive's own types makes nothing
    remote here; the database is then stored as Hive stores it.
    """
    definition = dict(database.parameters or {})
    named = database.connector_name
    if named and database.type == DatabaseType.REMOTE:
        connector = CONNECTORS.find(tx, normalize(named))
        if connector is not None and leads_to_remotes(connector.value):
            definition[keys.CONNECTOR] = normalize(named)
            if database.remote_dbname:
                definition.setdefault(keys.REMOTE, database.remote_dbname)
    return definition if keys.is_remote(definition) else None


def create_remote_database(
    ctx: Context, where: DatabaseName, database: Database, parameters: Mapping[str, str], taken: AlreadyExistsException
) -> None:
    """Makes a remote database. Its location is ignored, and no directory is made."""

    def create(tx: Transaction) -> None:
        catalog = catalogs.find(tx, where.catalog)
        if catalog is None:
            raise InvalidObjectException(f"No such catalog {where.catalog}")
        if keys.is_remote(rows.catalog_of(catalog).parameters):
            raise InvalidObjectException(f"catalog {where.catalog} is remote: its databases are those of the remote")
        if databases.find(tx, *where) is not None:
            raise taken
        definition = define(ctx, tx, where, None, parameters)
        stored = _stored(ctx, database, definition)
        id = databases.insert(tx, catalog.id, where.database, rows.database_body(stored))
        remotes.insert(tx, Of(db_id=id), definition.body)
        named = replace(stored, name=where.database, catalogName=where.catalog)
        record(ctx, tx, "CREATE_DATABASE", where, None, [("database", binary.encode(named))])

    ctx.database.run(create)


def _stored(ctx: Context, database: Database, definition: Definition[Remote]) -> Database:
    return Database(
        description=database.description,
        parameters=definition.shown,
        ownerName=database.ownerName if database.ownerName is not None else ctx.user,
        ownerType=database.ownerType if database.ownerType is not None else PrincipalType.USER,
        createTime=ctx.now(),
        type=DatabaseType.REMOTE,
        connector_name=definition.remote.connector,
        remote_dbname=definition.remote.remote_database,
    )


def find_remote(tx: Transaction, row: DatabaseRow, database: Database) -> RemoteRow | None:
    """The definition of a database; None for a local one."""
    return remotes.find(tx, Of(db_id=row.id)) if is_remote_database(database) else None


def alter_remote_database(
    ctx: Context, tx: Transaction, where: DatabaseName, row: DatabaseRow, remote: RemoteRow, given: Database
) -> None:
    """Changes the definition, the owner and the comment of a remote database that is locked."""
    before = rows.database_of(row, where.catalog)
    what = f"remote database {where.database}"
    try:
        own = altered(ctx, remote, before.parameters, given.parameters, what)
        definition = define(ctx, tx, where, None, own, remote)
    except InvalidObjectException as error:
        raise MetaException(error.message) from None
    after = replace(
        before,
        description=given.description if (given.description or "").strip() else before.description,
        parameters=definition.shown,
        ownerName=given.ownerName,
        ownerType=given.ownerType if given.ownerType is not None else before.ownerType,
        connector_name=definition.remote.connector,
        remote_dbname=definition.remote.remote_database,
    )
    databases.update(tx, row.id, rows.database_body(after))
    remotes.update(tx, remote.id, definition.body)
    objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
    record(ctx, tx, "ALTER_DATABASE", where, None, objects)


def refuse_in_remote(
    tx: Transaction,
    row: DatabaseRow,
    where: DatabaseName,
    what: str,
    kind: type[MetastoreError] = InvalidObjectException,
) -> None:
    """Raises an exception where a local object would be made in a remote database."""
    # Bodies without the key, which are nearly all, are not looked up.
    if keys.REMOTE.encode() in row.body and remotes.find(tx, Of(db_id=row.id)) is not None:
        raise kind(
            f"{what} cannot be created here: database {where.database} is remote, and has only what the remote has"
        )
