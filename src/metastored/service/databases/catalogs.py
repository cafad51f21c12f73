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
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.directories import NewDirectory, placed
from metastored.service.core.removing import plan_removal, removing
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import catalogs, databases
from metastored.store.objects.catalogs import CatalogRow
from metastored.wire import binary
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
from metastored.wire.generated.databases import Database
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
    given = catalog.catalog
    if given is None or given.name is None:
        raise MetaException("create_catalog needs a catalog with a name")
    if not is_valid_catalog_name(given.name):
        raise InvalidObjectException(f"{given.name} is not a valid catalog name")
    if not given.locationUri:
        raise InvalidObjectException("You must specify a path for the catalog")
    name = normalize(given.name)
    taken = AlreadyExistsException(f"Catalog {given.name} already exists")
    # Hive tells a catalog's location as it was written; its databases lie where that leads to.
    stored, home = replace(given, name=name, createTime=ctx.now()), placed(ctx, given.locationUri)

    def create(tx: Transaction) -> None:
        if catalogs.find(tx, name) is not None:
            raise taken
        insert_catalog(ctx, tx, stored, home)
        record(ctx, tx, "CREATE_CATALOG", None, None, [("catalog", binary.encode(stored))])

    with NewDirectory(ctx.warehouse) as made:
        made.make(home)
        try:
            ctx.database.run(create)
        except ConstraintViolated:
            raise taken from None
        made.keep()


def insert_catalog(ctx: Context, tx: Transaction, catalog: Catalog, home: str | None = None) -> None:
    """A catalog with its database `default`, which lies at `home`, or where the catalog says it does."""
    name = catalog.name or ""
    id = catalogs.insert(tx, name, rows.catalog_body(catalog))
    default = Database(
        description=f"Default database for catalog {name}",
        locationUri=home or catalog.locationUri,
        parameters={},
        ownerType=PrincipalType.USER,
    )
    if name == DEFAULT_CATALOG:
        # This one is as it was before there were catalogs.
        default = replace(
            default, description="Default Hive database", ownerName="public", ownerType=PrincipalType.ROLE
        )
    databases.insert(tx, id, DEFAULT_DATABASE, rows.database_body(default))


@method
def alter_catalog(ctx: Context, rqst: AlterCatalogRequest) -> None:
    wanted = rqst.newCat
    if wanted is None:
        raise MetaException("alter_catalog needs a catalog")
    if wanted.locationUri:
        placed(ctx, wanted.locationUri)  # It is stored as it was written, as Hive does, if it may be used at all.

    def alter(tx: Transaction) -> None:
        row = _find(tx, rqst.name)
        if wanted.name != rqst.name:
            raise InvalidOperationException("You cannot change a catalog's name")
        before = rows.catalog_of(row)
        after = replace(
            before,
            description=wanted.description if (wanted.description or "").strip() else before.description,
            locationUri=wanted.locationUri or before.locationUri,
            parameters=wanted.parameters if wanted.parameters is not None else before.parameters,
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
    # A client that has never heard of the flag (Hive before 4.1) wants to hear of a missing catalog.
    lenient = catName.ifExists is True and ctx.generation >= Generation.HIVE_4_0

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
        objects = [("catalog", binary.encode(rows.catalog_of(row)))]
        record(ctx, tx, "DROP_CATALOG", None, None, objects)
        return None, planned

    removing(ctx, drop)
