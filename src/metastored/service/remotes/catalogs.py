"""Remote catalogs: rows of the store without databases. What is in them is only at the remote."""

from __future__ import annotations

from metastored.errors import InvalidObjectException, MetaException
from metastored.hive.names import normalize
from metastored.model.remotes import keys
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.values import ALL_NAMES
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.remote_bodies import parameters_of
from metastored.service.remotes.defining import altered, define_catalog
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, remotes
from metastored.store.objects.catalogs import CatalogRow
from metastored.store.objects.remotes import Of, RemoteRow
from metastored.wire.codec import binary
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.structs import replace


def insert_remote_catalog(ctx: Context, tx: Transaction, catalog: Catalog) -> None:
    """Adds a remote catalog. It has no location, no directory and no database `default` of its own."""
    definition = define_catalog(ctx, tx, catalog.name or "", catalog.parameters or {})
    _check_prefix(tx, definition.remote)
    stored = replace(catalog, locationUri="", parameters=definition.shown)
    id = catalogs.insert(tx, catalog.name or "", rows.catalog_body(stored))
    remotes.insert(tx, Of(cat_id=id), definition.body)
    record(ctx, tx, "CREATE_CATALOG", None, None, [("catalog", binary.encode(stored))])


def _check_prefix(tx: Transaction, catalog: RemoteCatalog) -> None:
    """Raises InvalidObjectException where two catalogs with one prefix would show all their databases."""
    if catalog.prefix is None or catalog.databases != ALL_NAMES:
        return
    for row in remotes.all(tx):
        if row.database is None and row.catalog != catalog.name:
            parameters = parameters_of(row)
            prefix = parameters.get(keys.PREFIX)
            if prefix is not None and normalize(prefix) == catalog.prefix and keys.DATABASES not in parameters:
                raise InvalidObjectException(
                    f"remote catalog {catalog.name}: '{keys.PREFIX}' is {catalog.prefix!r}, which remote catalog"
                    f" {row.catalog} has; give them different ones, or one of them '{keys.DATABASES}'"
                )


def find_remote(tx: Transaction, row: CatalogRow, catalog: Catalog) -> RemoteRow | None:
    """The definition of a catalog; None for a local one."""
    return remotes.find(tx, Of(cat_id=row.id)) if keys.is_remote(catalog.parameters) else None


def alter_remote_catalog(ctx: Context, tx: Transaction, row: CatalogRow, remote: RemoteRow, given: Catalog) -> None:
    """Changes the definition and the comment of a remote catalog."""
    before = rows.catalog_of(row)
    try:
        own = altered(ctx, remote, before.parameters, given.parameters, f"remote catalog {row.name}")
        definition = define_catalog(ctx, tx, row.name, own, remote)
        _check_prefix(tx, definition.remote)
    except InvalidObjectException as error:
        raise MetaException(error.message) from None
    after = replace(
        before,
        description=given.description if (given.description or "").strip() else before.description,
        parameters=definition.shown,
    )
    catalogs.update(tx, row.id, rows.catalog_body(after))
    remotes.update(tx, remote.id, definition.body)
    objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
    record(ctx, tx, "ALTER_CATALOG", None, None, objects)
