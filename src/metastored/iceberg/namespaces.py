"""The operations on namespaces: a namespace is a database of the metastore, and a prefix its catalog.

`location`, `comment` and `owner` are fields of the database, under the names that Iceberg's Hive catalog uses; every
other property is a parameter of it. A metastore never removes these fields, so they can only be set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from metastored.errors import AlreadyExistsException, InvalidOperationException
from metastored.hive.names import DEFAULT_CATALOG, encode_catalog_name, normalize
from metastored.iceberg.catalog import Catalog
from metastored.iceberg.errors import AlreadyExists, BadRequest, NamespaceNotEmpty, Unprocessable
from metastored.iceberg.planning.operations import can_plan
from metastored.iceberg.requests import Json, Request, database_name, distinct, page_of, texts
from metastored.iceberg.routes import announced
from metastored.model.names import DatabaseName
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

__all__ = [
    "config",
    "create_namespace",
    "drop_namespace",
    "list_namespaces",
    "load_namespace",
    "namespace_exists",
    "update_namespace",
]

LOCATION: Final = "location"
COMMENT: Final = "comment"
OWNER: Final = "hive.metastore.database.owner"
OWNER_TYPE: Final = "hive.metastore.database.owner-type"
FIELDS: Final = (LOCATION, COMMENT, OWNER, OWNER_TYPE)
_PRINCIPALS: Final = {name: number for number, name in PrincipalType.NAMES.items()}


def config(catalog: Catalog, request: Request) -> Json:
    """The endpoints, and the prefix of all paths: `warehouse` of a client's settings is the name of a catalog."""
    name = normalize(request.parameter("warehouse") or "") or DEFAULT_CATALOG
    catalog.check_catalog(name)
    endpoints = announced(planning=can_plan(), signing=catalog.caller.signs)
    return {"defaults": {}, "overrides": {"prefix": name}, "endpoints": endpoints}


def list_namespaces(catalog: Catalog, request: Request) -> Json:
    """The databases of a catalog. A database has no namespaces in it."""
    catalog.check_catalog(request.route.prefix)
    parent = request.parameter("parent")
    if parent:
        catalog.database(database_name(request.route.prefix, parent.split("\x1f")))
        names: list[str] = []
    else:
        names = sorted(_names(catalog, request.route.prefix))
    page = page_of(names, request)
    return {"namespaces": [[name] for name in page.names], "next-page-token": page.token}


def _names(catalog: Catalog, prefix: str) -> tuple[str, ...]:
    name = normalize(prefix)
    if name in ("", DEFAULT_CATALOG):
        return catalog.client.api.get_all_databases()
    return catalog.client.api.get_databases(encode_catalog_name(name, None))


def create_namespace(catalog: Catalog, request: Request) -> Json:
    fields = request.fields()
    name = database_name(request.route.prefix, fields.get("namespace"))
    properties = texts(fields, "properties", "the request")
    catalog.check_catalog(request.route.prefix)
    created = Database(
        name=name.database,
        catalogName=name.catalog_field,
        parameters={},
        # A metastore gives a database that names no owner to nobody, who could then not make tables in it.
        ownerName=catalog.caller.user,
        ownerType=PrincipalType.USER if catalog.caller.user is not None else None,
    )
    try:
        catalog.client.api.create_database(_with(created, properties))
    except AlreadyExistsException:
        raise AlreadyExists(f"Namespace already exists: {name}") from None
    return _described(name, catalog.database(name))


def load_namespace(catalog: Catalog, request: Request) -> Json:
    return _described(request.database, catalog.database(request.database))


def namespace_exists(catalog: Catalog, request: Request) -> None:
    catalog.database(request.database)


def drop_namespace(catalog: Catalog, request: Request) -> None:
    """Drops a database that is empty, of tables of every kind."""
    name = request.database
    catalog.database(name)
    try:
        catalog.client.api.drop_database(name.field, False, False)
    except InvalidOperationException as error:
        if "not empty" in str(error).lower():
            raise NamespaceNotEmpty(f"Namespace {name} is not empty: {error}") from None
        raise


def update_namespace(catalog: Catalog, request: Request) -> Json:
    """Sets and removes properties."""
    fields, name = request.fields(), request.database
    updates = texts(fields, "updates", "the request")
    removals = frozenset[str]()
    if fields.get("removals") is not None:
        removals = distinct(fields, "removals", str, "the request")
    both = sorted(updates.keys() & removals)
    if both:
        raise Unprocessable(f"the property {both[0]!r} is in updates and in removals: one of them is meant")
    before = catalog.database(name)
    shown = _properties(before)
    removed = removals & shown.keys()
    fixed = [key for key in FIELDS if key in removed]
    if fixed:
        raise BadRequest(f"{fixed[0]} of a namespace is not removed: set another value")
    parameters = {key: value for key, value in (before.parameters or {}).items() if key not in removed}
    changed = replace(before, parameters=parameters)
    catalog.client.api.alter_database(name.field, _with(changed, updates))
    return {
        "updated": sorted(updates),
        "removed": sorted(removed),
        "missing": sorted(removals - shown.keys()),
    }


def _with(database: Database, properties: Mapping[str, str]) -> Database:
    """A database with properties set. Raises BadRequest for a type of owner that does not exist."""
    changes: dict[str, Any] = {
        "parameters": {
            **(database.parameters or {}),
            **{key: value for key, value in properties.items() if key not in FIELDS},
        }
    }
    if LOCATION in properties:
        changes["locationUri"] = properties[LOCATION]
    if COMMENT in properties:
        changes["description"] = properties[COMMENT]
    if OWNER in properties or OWNER_TYPE in properties:
        kind = properties.get(OWNER_TYPE, "USER").upper()
        if kind not in _PRINCIPALS or OWNER not in properties:
            raise BadRequest(f"{OWNER_TYPE} is {kind}: it is one of {', '.join(_PRINCIPALS)}, and {OWNER} goes with it")
        changes |= {"ownerName": properties[OWNER], "ownerType": _PRINCIPALS[kind]}
    return replace(database, **changes)


def _properties(database: Database) -> dict[str, str]:
    kind = None if database.ownerType is None else PrincipalType.NAMES.get(database.ownerType)
    fields = {LOCATION: database.locationUri, COMMENT: database.description, OWNER: database.ownerName}
    fields[OWNER_TYPE] = kind
    return {**(database.parameters or {}), **{key: value for key, value in fields.items() if value}}


def _described(name: DatabaseName, database: Database) -> Json:
    return {"namespace": [name.database], "properties": _properties(database)}
