"""The property store of Hive 4: maps of texts by a path such as `db.table`, in a namespace. They are documents.

Hive selects maps by an expression in the language JEXL, which metastored does not support: a call with an expression
other than `true` is refused, because the reply would have too many maps.

A namespace of metastored's own, which can only be read, lists the definitions of remotes (`model/remotes/lists.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from metastored.errors import MetaException, NoSuchObjectException
from metastored.model.remotes.lists import NAMESPACE, list_key, list_values
from metastored.service.core import rows
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, databases, remotes, tables
from metastored.store.objects.remotes import RemoteRow
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import PrincipalType, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.service import PropertyGetRequest, PropertyGetResponse, PropertySetRequest

NAMESPACES: Final = ("hms",)
"""The only namespace that a Hive metastore declares."""
LEVELS: Final = 3
"""A name begins with a cluster, a database and a table; the rest is the name of a property."""
MAPS: Final = Kind("properties", PropertySetRequest)
"""The parent is the namespace, the key the path of the map; the values are in a PropertySetRequest."""


def _check(namespace: str | None) -> str:
    if namespace not in NAMESPACES:
        raise NoSuchObjectException(f"no PropertyManager namespace is declared, namespace {namespace}")
    return namespace or ""


def _split(name: str) -> tuple[str, str]:
    """(the map's path, the property) of a full name such as `db.table.property`."""
    parts = name.split(".")
    if len(parts) > LEVELS:
        return ".".join(parts[:LEVELS]), ".".join(parts[LEVELS:])
    return ".".join(parts[:-1]), parts[-1]


@method
def set_properties(ctx: Context, req: PropertySetRequest) -> bool:
    """Sets the properties of the request; an empty text removes a property."""
    namespace = _check(req.nameSpace)
    changes: dict[str, dict[str, str]] = {}
    for name, value in (req.propertyMap or {}).items():
        path, own = _split(name)
        if not own:
            raise MetaException(f"the property {name!r} has no name behind its last dot")
        changes.setdefault(path, {})[own] = value

    def put(tx: Transaction) -> None:
        MAPS.lock(tx, namespace)
        for path, values in sorted(changes.items()):
            known = MAPS.find(tx, path, namespace)
            merged = dict(known.value.propertyMap or {}) if known is not None else {}
            for own, value in values.items():
                if value:
                    merged[own] = value
                else:
                    merged.pop(own, None)
            stored = PropertySetRequest(nameSpace=namespace, propertyMap=merged)
            if known is None:
                MAPS.insert(tx, path, stored, parent=namespace)
            elif merged:
                MAPS.update(tx, known, stored)
            else:
                MAPS.delete(tx, known)

    ctx.database.run(put)
    return True


@method
def get_properties(ctx: Context, req: PropertyGetRequest) -> PropertyGetResponse:
    """The maps whose path begins with a prefix, each with the selected properties, or all of them."""
    is_list = req.nameSpace == NAMESPACE
    namespace = NAMESPACE if is_list else _check(req.nameSpace)
    predicate = (req.mapPredicate or "").strip()
    if predicate not in ("", "true"):
        raise MetaException(
            f"the predicate {predicate!r} is an expression, which metastored does not evaluate; leave it out"
        )
    maps: dict[str, dict[str, str]] = {}
    prefix = req.mapPrefix or ""
    for key, values in _remotes(ctx, prefix) if is_list else _maps(ctx, namespace, prefix):
        if req.mapSelection:
            values = {name: value for name, value in values.items() if name in req.mapSelection}
        if values:
            maps[key] = values
    return PropertyGetResponse(properties=maps)


def _maps(ctx: Context, namespace: str, prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for each in MAPS.below(ctx.reader(), namespace):
        if each.key.startswith(prefix):
            yield each.key, each.value.propertyMap or {}


def _remotes(ctx: Context, prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The definitions as their objects show them: secrets are masked table_row."""
    with ctx.reading() as tx:
        for row in remotes.all(tx):
            key = list_key(*filter(None, (row.catalog, row.database, row.table)))
            if key.startswith(prefix):
                yield key, _values(tx, row)


def _values(tx: Transaction, row: RemoteRow) -> dict[str, str]:
    if row.database is None:
        catalog_row = catalogs.find(tx, row.catalog)
        catalog = Catalog() if catalog_row is None else rows.catalog_of(catalog_row)
        return list_values(catalog.parameters, comment=catalog.description)
    if row.table is None:
        database_row = databases.find(tx, row.catalog, row.database)
        database = Database() if database_row is None else rows.database_of(database_row, row.catalog)
        owner_type = PrincipalType.NAMES.get(database.ownerType or 0)
        return list_values(database.parameters, database.ownerName, owner_type, database.description)
    table_row = tables.find(tx, row.catalog, row.database, row.table)
    table = Table() if table_row is None else rows.table_of(table_row, row.catalog, row.database)
    return list_values(table.parameters, table.owner, PrincipalType.NAMES.get(table.ownerType or 0))
