"""Catalogs (Hive 3 and later). `hive` is the default and cannot be dropped."""

from __future__ import annotations

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG, DEFAULT_DATABASE, is_valid_catalog_name, normalize
from metastored.model.remotes.values import is_remote
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.directories import NewDirectory, stored_location
from metastored.service.core.removing import plan_removal, removing
from metastored.service.core.serving import method
from metastored.service.remotes.catalogs import alter_remote_catalog, find_remote, insert_remote_catalog
from metastored.service.remotes.defining import refuse_new_keys, refuse_stray_keys
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import catalogs, databases, remotes
from metastored.store.objects.catalogs import CatalogRow
from metastored.wire.codec import binary
from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
    GetCatalogResponse,
    GetCatalogsResponse,
)
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.databases import Database, DatabaseType
from metastored.wire.structs import replace


def _find(tx: Transaction, name: str | None) -> CatalogRow:
    row = catalogs.find(tx, normalize(name or ""))
    if row is None:
        raise NoSuchObjectException(f"No catalog {name}")
    return row


@method
def get_catalog(ctx: Context, catName: GetCatalogRequest) -> GetCatalogResponse:
    return GetCatalogResponse(catalog=rows.catalog_of(_find(ctx.reader(), catName.name)))


@method
def get_catalogs(ctx: Context) -> GetCatalogsResponse:
    return GetCatalogsResponse(names=tuple(catalogs.names(ctx.reader())))


@method
def create_catalog(ctx: Context, catalog: CreateCatalogRequest) -> None:
    request_catalog = catalog.catalog
    if request_catalog is None or request_catalog.name is None:
        raise MetaException("create_catalog needs a catalog with a name")
    if not is_valid_catalog_name(request_catalog.name):
        raise InvalidObjectException(f"{request_catalog.name} is not a valid catalog name")
    name = normalize(request_catalog.name)
    taken = AlreadyExistsException(f"Catalog {request_catalog.name} already exists")
    if is_remote(request_catalog.parameters):
        _create_remote(ctx, replace(request_catalog, name=name, createTime=ctx.now()), taken)
        return
    refuse_stray_keys(request_catalog.parameters, f"catalog {name}")
    if not request_catalog.locationUri:
        raise InvalidObjectException("You must specify a path for the catalog")
    # Hive returns a catalog's location as it was written; its databases are in the directory that this resolves to.
    stored, location = (
        replace(request_catalog, name=name, createTime=ctx.now()),
        stored_location(ctx, request_catalog.locationUri),
    )

    def create(tx: Transaction) -> None:
        if catalogs.find(tx, name) is not None:
            raise taken
        insert_catalog(ctx, tx, stored, location)
        record(ctx, tx, "CREATE_CATALOG", None, None, [("catalog", binary.encode(stored))])

    with NewDirectory(ctx.warehouse) as made:
        made.make(location)
        try:
            ctx.database.run(create)
        except ConstraintViolated:
            raise taken from None
        made.keep()


def _create_remote(ctx: Context, catalog: Catalog, taken: AlreadyExistsException) -> None:
    def create(tx: Transaction) -> None:
        if catalogs.find(tx, catalog.name or "") is not None:
            raise taken
        insert_remote_catalog(ctx, tx, catalog)

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None


def insert_catalog(ctx: Context, tx: Transaction, catalog: Catalog, location: str | None = None) -> None:
    """Creates a catalog with its database `default`, whose location is `location`, or else the catalog's."""
    name = catalog.name or ""
    id = catalogs.insert(tx, name, rows.catalog_body(catalog))
    default = Database(
        description=f"Default database for catalog {name}",
        locationUri=location or catalog.locationUri,
        parameters={},
        ownerType=PrincipalType.USER,
    )
    if name == DEFAULT_CATALOG:
        # The default catalog keeps the texts from before there were catalogs.
        default = replace(
            default, description="Default Hive database", ownerName="public", ownerType=PrincipalType.ROLE
        )
    elif ctx.rules.stamps_databases:
        default = replace(default, createTime=ctx.now(), type=DatabaseType.NATIVE)
    databases.insert(tx, id, DEFAULT_DATABASE, rows.database_body(default))


@method
def alter_catalog(ctx: Context, rqst: AlterCatalogRequest) -> None:
    changed = rqst.newCat
    if changed is None:
        raise MetaException("alter_catalog needs a catalog")
    if changed.locationUri and not is_remote(changed.parameters):
        stored_location(ctx, changed.locationUri)  # Checked only: Hive stores it as it was written.

    def alter(tx: Transaction) -> None:
        row = _find(tx, rqst.name)
        if changed.name != rqst.name:
            raise InvalidOperationException("You cannot change a catalog's name")
        before = rows.catalog_of(row)
        remote = find_remote(tx, row, before)
        if remote is not None:
            alter_remote_catalog(ctx, tx, row, remote, changed)
            return
        refuse_new_keys(before.parameters, changed.parameters, f"catalog {row.name}")
        if changed.locationUri:
            stored_location(ctx, changed.locationUri)  # Where its parameters are a remote's it was not checked before.
        after = replace(
            before,
            description=changed.description if (changed.description or "").strip() else before.description,
            locationUri=changed.locationUri or before.locationUri,
            parameters=changed.parameters if changed.parameters is not None else before.parameters,
        )
        catalogs.update(tx, row.id, rows.catalog_body(after))
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_CATALOG", None, None, objects)

    ctx.database.run(alter)


@method
def drop_catalog(ctx: Context, catName: DropCatalogRequest) -> None:
    name = normalize(catName.name or "")
    if name == DEFAULT_CATALOG:
        raise MetaException("Can not drop hive catalog")
    # The flag is of 4.1, and true by default: a client that cannot send it expects an error for a missing catalog.
    lenient = catName.ifExists is True and ctx.generation >= Generation.HIVE_4_2

    def drop(tx: Transaction) -> tuple[None, list[int]]:
        row = catalogs.find(tx, name)
        if row is None:
            if lenient:
                return None, []
            raise NoSuchObjectException(f"No catalog {name}")
        held = databases.rows(tx, name)
        if any(database.name != DEFAULT_DATABASE for database in held):
            raise InvalidOperationException(
                f"There are non-default databases in the catalog {name} so it cannot be dropped."
            )
        planned = []
        for database in held:
            if not databases.is_empty(tx, database.id):
                raise InvalidOperationException(f"There are still objects in the default database for catalog {name}")
            location = rows.database_of(database, name).locationUri
            databases.delete(tx, database.id)
            if location:
                planned.append(plan_removal(ctx, tx, location, purge=False))
        catalogs.delete(tx, row.id)
        if is_remote(rows.catalog_of(row).parameters):
            remotes.changed(tx)
        objects = [("catalog", binary.encode(rows.catalog_of(row)))]
        record(ctx, tx, "DROP_CATALOG", None, None, objects)
        return None, planned

    removing(ctx, drop)
