"""The operations on namespaces: databases, and catalogs where the namespace has them.

A property of a namespace is a parameter of the database, except these, which are fields of it: `database.description`,
`database.location-uri`, `database.owner` and `database.owner-type`, and `catalog.description` and
`catalog.location-uri` of a catalog. `comment`, `location` and `owner`, as Lance's Python client writes them, are
accepted too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from lance_namespace import (
    CreateNamespaceRequest,
    CreateNamespaceResponse,
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    DropNamespaceRequest,
    DropNamespaceResponse,
    InvalidInputError,
    ListNamespacesRequest,
    ListNamespacesResponse,
    NamespaceAlreadyExistsError,
    NamespaceExistsRequest,
    NamespaceExistsResponse,
    NamespaceNotEmptyError,
    NamespaceNotFoundError,
    PermissionDeniedError,
)

from metastored.errors import AlreadyExistsException, InvalidOperationException
from metastored.hive.locations import join
from metastored.hive.names import directory_name
from metastored.lance.connection import LANCE_TABLES, Connected
from metastored.lance.files import remove_dataset
from metastored.lance.locations import default_location, stored_location
from metastored.lance.requests import mode_of, operation, page_of
from metastored.model.names import DatabaseName
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, DropCatalogRequest
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.databases import Database

CREATE: Final = ("create", "existok", "overwrite")
DROP: Final = ("fail", "skip")
BEHAVIOR: Final = ("restrict", "cascade")

_DESCRIPTION: Final = ("database.description", "comment")
_LOCATION: Final = ("database.location-uri", "location")
_OWNER: Final = ("database.owner", "owner")
_OWNER_TYPE: Final = ("database.owner-type",)
_PRINCIPALS: Final = {name: number for number, name in PrincipalType.NAMES.items()}
_FIELDS: Final = frozenset((*_DESCRIPTION, *_LOCATION, *_OWNER, *_OWNER_TYPE))


class NamespaceOperations(Connected):
    """list, describe, create, drop, exists."""

    @operation(ListNamespacesRequest)
    def list_namespaces(self, request: ListNamespacesRequest) -> ListNamespacesResponse:
        """The catalogs or databases in a namespace, sorted. A database has no namespaces in it."""
        self.check_catalogs()
        where = self.levels.namespace(request.id)
        if isinstance(where, DatabaseName):
            self.database(where)
            names: list[str] = []
        elif where is None and self.levels.catalogs:
            names = sorted(self.client.api.get_catalogs().names or ())
        else:
            if where is not None:
                self.catalog(where)
            names = self.databases(where or "")
        page, token = page_of(names, request.page_token, request.limit)
        return ListNamespacesResponse(namespaces=page, page_token=token)

    @operation(DescribeNamespaceRequest)
    def describe_namespace(self, request: DescribeNamespaceRequest) -> DescribeNamespaceResponse:
        """The properties of a database or a catalog; the metastore itself has none."""
        where = self.levels.namespace(request.id)
        if where is None:
            self.check_catalogs()
            return DescribeNamespaceResponse(properties={})
        if isinstance(where, str):
            return DescribeNamespaceResponse(properties=_of_catalog(self.catalog(where)))
        return DescribeNamespaceResponse(properties=_of_database(self.database(where)))

    @operation(NamespaceExistsRequest)
    def namespace_exists(self, request: NamespaceExistsRequest) -> NamespaceExistsResponse:
        """Raises NamespaceNotFoundError if it does not exist."""
        self.describe_namespace(DescribeNamespaceRequest(id=request.id))
        return NamespaceExistsResponse()

    @operation(CreateNamespaceRequest)
    def create_namespace(self, request: CreateNamespaceRequest) -> CreateNamespaceResponse:
        """Creates a database or a catalog. `overwrite` drops an existing one with everything in it."""
        mode = mode_of(request.mode, CREATE, "mode")
        where = self.levels.namespace(request.id)
        if where is None:
            raise NamespaceAlreadyExistsError("the root namespace is the metastore itself: it exists")
        try:
            return CreateNamespaceResponse(properties=self._created_namespace(where, request.properties or {}))
        except AlreadyExistsException:
            if mode == "create":
                raise NamespaceAlreadyExistsError(f"namespace {where} already exists") from None
        if mode == "overwrite":
            self._drop(where, cascade=True)
            return CreateNamespaceResponse(properties=self._created_namespace(where, request.properties or {}))
        return CreateNamespaceResponse(
            properties=self.describe_namespace(DescribeNamespaceRequest(id=request.id)).properties
        )

    @operation(DropNamespaceRequest)
    def drop_namespace(self, request: DropNamespaceRequest) -> DropNamespaceResponse:
        """Drops a database or a catalog; with `cascade` everything in it, the data of Lance tables included."""
        mode = mode_of(request.mode, DROP, "mode")
        behavior = mode_of(request.behavior, BEHAVIOR, "behavior")
        where = self.levels.namespace(request.id)
        if where is None:
            raise InvalidInputError("the root namespace is the metastore itself: it cannot be dropped")
        try:
            properties = (
                _of_catalog(self.catalog(where)) if isinstance(where, str) else _of_database(self.database(where))
            )
        except NamespaceNotFoundError:
            if mode == "fail":
                raise
            return DropNamespaceResponse(properties={})
        self._drop(where, behavior == "cascade")
        return DropNamespaceResponse(properties=properties)

    def _created_namespace(self, where: DatabaseName | str, properties: Mapping[str, str]) -> dict[str, str]:
        if isinstance(where, str):
            self.check_catalogs()
            self.client.api.create_catalog(CreateCatalogRequest(self._new_catalog(where, properties)))
            return _of_catalog(self.catalog(where))
        if where.catalog:
            self.catalog(where.catalog)
        self.client.api.create_database(self._new_database(where, properties))
        return _of_database(self.database(where))

    def _new_database(self, name: DatabaseName, properties: Mapping[str, str]) -> Database:
        root, location = self.properties.root, _first(properties, _LOCATION)
        if location is None and root is not None:
            location = default_location(root, name.catalog, name.database)
        # A metastore gives a database that names no owner to nobody, who could then not make tables in it.
        owner, kind = _first(properties, _OWNER) or self.owner, (_first(properties, _OWNER_TYPE) or "USER").upper()
        if kind not in _PRINCIPALS:
            raise InvalidInputError(f"database.owner-type is {kind}: it is one of {', '.join(_PRINCIPALS)}")
        return Database(
            name=name.database,
            description=_first(properties, _DESCRIPTION),
            locationUri=None if location is None else stored_location(location),
            parameters={key: value for key, value in properties.items() if key not in _FIELDS},
            ownerName=owner,
            ownerType=_PRINCIPALS[kind] if owner is not None else None,
            catalogName=name.catalog_field,
        )

    def _new_catalog(self, name: str, properties: Mapping[str, str]) -> Catalog:
        location = _first(properties, ("catalog.location-uri", *_LOCATION))
        if location is None:
            if self.properties.root is None:
                raise InvalidInputError(
                    f"catalog {name} needs a location: the property catalog.location-uri, or the namespace's root"
                )
            location = join(self.properties.root, directory_name(name))
        return Catalog(
            name=name,
            description=_first(properties, ("catalog.description", *_DESCRIPTION)),
            locationUri=stored_location(location),
        )

    def _drop(self, where: DatabaseName | str, cascade: bool) -> None:
        if isinstance(where, str):
            self._drop_catalog(where, cascade)
        else:
            self._drop_database(where, cascade)

    def _drop_catalog(self, name: str, cascade: bool) -> None:
        databases = [DatabaseName(name, each) for each in self.databases(name)]
        if cascade:
            for database in databases:
                if database.database != "default":  # It goes with its catalog, once it is empty.
                    self._drop_database(database, cascade=True)
                    continue
                self._drop_tables(database)
        elif any(each.database != "default" or self.client.api.get_all_tables(each.field) for each in databases):
            raise NamespaceNotEmptyError(f"namespace {name} is not empty: it has databases or tables in it")
        self.client.api.drop_catalog(DropCatalogRequest(name))

    def _drop_database(self, name: DatabaseName, cascade: bool) -> None:
        """The data of deregistered tables may be in the directory of the database: only `cascade` removes it."""
        if not cascade and self.client.api.get_all_tables(name.field):
            raise NamespaceNotEmptyError(f"namespace {name} is not empty: it has tables in it")
        locations = self._places_in(name) if cascade else {}
        try:
            self.client.api.drop_database(name.field, cascade, cascade)
        except InvalidOperationException as error:
            if "not empty" not in str(error).lower():
                raise
            raise NamespaceNotEmptyError(f"namespace {name} is not empty: {error}") from None
        for location in locations.values():
            remove_dataset(location, self.properties.storage_options)

    def _drop_tables(self, name: DatabaseName) -> None:
        locations = self._places_in(name)
        for table in self.client.api.get_all_tables(name.field):
            self.client.drop_table(name.table(table))
            if table in locations:
                remove_dataset(locations[table], self.properties.storage_options)

    def _places_in(self, name: DatabaseName) -> dict[str, str]:
        """The locations of the Lance tables of a database whose data is removed now, by their names.

        The data of a remote's table stays where it is: only its definition goes.
        """
        places: dict[str, str] = {}
        for table in LANCE_TABLES.tables(self.client, name):
            with suppress(PermissionDeniedError):
                places[table.tableName or ""] = self.place(name.table(table.tableName or ""), table, removes=True)
        return places


def _first(properties: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((properties[key] for key in keys if key in properties), None)


def _of_database(database: Database) -> dict[str, str]:
    owner_type = None if database.ownerType is None else PrincipalType.NAMES.get(database.ownerType)
    fields = {
        "database.description": database.description,
        "database.location-uri": database.locationUri,
        "database.owner": database.ownerName,
        "database.owner-type": owner_type,
        "comment": database.description,
        "location": database.locationUri,
    }
    return {**(database.parameters or {}), **{key: value for key, value in fields.items() if value}}


def _of_catalog(catalog: Catalog) -> dict[str, str]:
    fields = {"catalog.description": catalog.description, "catalog.location-uri": catalog.locationUri}
    return {**(catalog.parameters or {}), **{key: value for key, value in fields.items() if value}}
