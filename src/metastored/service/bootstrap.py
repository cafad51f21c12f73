"""The objects that a metastore has from its first start.

They are the catalog hive, its database default, the roles admin and public.
"""

from __future__ import annotations

from metastored.hive.locations import LOCAL_SCHEME, LocationError, qualified
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.service.core import rows
from metastored.service.core.context import Context, Service
from metastored.service.core.directories import NewDirectory
from metastored.service.databases.catalogs import insert_catalog
from metastored.service.security.privileges import OWN_AUTHORIZER
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import catalogs
from metastored.store.security import grants, roles
from metastored.store.security.grants import Grant, On
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import PrincipalType
from metastored.wire.message import Session


def stored_warehouse(database: Database) -> str | None:
    """The warehouse of the first start, or the directory that `metastored relocate` moved it to.

    It is the location of the catalog hive. None if the database is new, or if a client has set the
    catalog's location to a text that is not a location.
    """
    row = catalogs.find(database.reader(), DEFAULT_CATALOG)
    if row is None:
        return None
    try:
        return qualified(rows.catalog_of(row).locationUri or "", f"{LOCAL_SCHEME}:/")
    except LocationError:
        return None


def ensure_defaults(service: Service) -> None:
    """Creates the objects that are missing. Several servers may run it at the same time."""
    ctx = Context(service, Session(user="metastored"))
    if catalogs.find(ctx.reader(), DEFAULT_CATALOG) is not None:
        return
    now = ctx.now()
    default = Catalog(
        name=normalize(DEFAULT_CATALOG), description="Default catalog, for Hive", locationUri=ctx.warehouse.root
    )

    def make(tx: Transaction) -> None:
        if catalogs.find(tx, DEFAULT_CATALOG) is not None:
            return
        insert_catalog(ctx, tx, default)
        for role in ("admin", "public"):
            roles.insert(tx, role, role, now)
        everything = Grant("admin", PrincipalType.ROLE, "All", True, now, "admin", PrincipalType.ROLE, OWN_AUTHORIZER)
        grants.insert(tx, On(grants.GLOBAL), everything)

    with NewDirectory(ctx.warehouse) as made:
        made.make(ctx.warehouse.root)
        try:
            ctx.database.run(make)
        except ConstraintViolated:
            return  # Another server created it first.
        made.keep()
