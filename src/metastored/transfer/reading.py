"""Reads the objects of a metastore of any version, in the form in which they are compared.

If a server is too old for a method, that is noted in a sentence and the result is empty. This module never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, NoSuchObjectException
from metastored.hive.constraints import CHECK, DEFAULT, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.names import DEFAULT_CATALOG, encode_catalog_name
from metastored.model.names import DatabaseName, TableName
from metastored.wire.generated.catalogs import Catalog, GetCatalogRequest
from metastored.wire.generated.common import ColumnStatisticsObj, Table
from metastored.wire.generated.constraints import (
    CheckConstraintsRequest,
    DefaultConstraintsRequest,
    ForeignKeysRequest,
    NotNullConstraintsRequest,
    PrimaryKeysRequest,
    UniqueConstraintsRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    HiveObjectPrivilege,
    HiveObjectRef,
    Role,
    RolePrincipalGrant,
)

T = TypeVar("T")
Values = tuple[str, ...]
Statistics = dict[str, ColumnStatisticsObj]
"""By column."""

_CONSTRAINTS: Final[dict[str, tuple[str, Any, str]]] = {
    PRIMARY: ("get_primary_keys", PrimaryKeysRequest, "primaryKeys"),
    UNIQUE: ("get_unique_constraints", UniqueConstraintsRequest, "uniqueConstraints"),
    NOT_NULL: ("get_not_null_constraints", NotNullConstraintsRequest, "notNullConstraints"),
    DEFAULT: ("get_default_constraints", DefaultConstraintsRequest, "defaultConstraints"),
    CHECK: ("get_check_constraints", CheckConstraintsRequest, "checkConstraints"),
}
"""The method, the request and the field of the reply, by kind; keys come before constraints that refer to them."""


class Reader:
    """Reads one metastore."""

    def __init__(self, client: Client, name: str) -> None:
        self.client: Final = client
        self.name: Final = name
        self.missing_methods: Final[dict[str, str]] = {}
        """Sentences about methods that the server does not have, by method."""

    def _optional(self, words: str, method: str, *args: Any) -> Any:
        """The result, or None if the server has no such method."""
        return self._lenient(words, method, lambda: self.client.api.call(method, *args))

    def _lenient(self, words: str, method: str, call: Callable[[], T]) -> T | None:
        if not self.client.capabilities.lacks(method):
            try:
                return call()
            except ApplicationError as error:
                if error.type != ApplicationError.UNKNOWN_METHOD:
                    raise
                self.client.capabilities.learned(method, False)
        self.missing_methods.setdefault(method, f"{self.name} has no {method}: it has no {words} to be copied")
        return None

    # Catalogs and databases

    def has_catalogs(self) -> bool:
        return self.client.capabilities.knows("get_catalogs")

    def catalogs(self) -> list[str | None]:
        """All catalogs; the default catalog, which is None, comes first."""
        if not self.has_catalogs():
            return [None]
        names = self.client.api.get_catalogs().names or ()
        return [None, *sorted(name for name in names if name != DEFAULT_CATALOG)]

    def catalog(self, name: str | None) -> Catalog | None:
        if not self.has_catalogs():
            return None
        try:
            return self.client.api.get_catalog(GetCatalogRequest(name=name or DEFAULT_CATALOG)).catalog
        except NoSuchObjectException:
            return None

    def databases(self, catalog: str | None) -> list[str]:
        if catalog is None:
            return sorted(self.client.api.get_all_databases())
        return sorted(self.client.api.get_databases(encode_catalog_name(catalog, None)))

    def database(self, db: DatabaseName) -> Database | None:
        try:
            return self.client.api.get_database(db.field)
        except NoSuchObjectException:
            return None

    # Tables

    def table_names(self, db: DatabaseName) -> list[str]:
        return sorted(self.client.api.get_all_tables(db.field))

    def tables(self, db: DatabaseName, names: Sequence[str], *, singly: bool = False) -> dict[str, Table]:
        """The existing tables, by name. With `singly`, materialized views have their sources, which lists may omit."""
        if not names:
            return {}
        if singly or "." in db.database:
            return self._one_by_one(db, names)
        tables = self.client.tables_by_name(str(db), tuple(names))
        return {table.tableName or "": table for table in tables}

    def _one_by_one(self, db: DatabaseName, names: Sequence[str]) -> dict[str, Table]:
        """One call per table; also for databases of Hive 4 with a dot in the name, where `catalog.db` is ambiguous."""
        tables = {}
        for name in names:
            with suppress(NoSuchObjectException):
                tables[name] = self.client.table(db.table(name))
        return tables

    def statistics(self, table: TableName, columns: Sequence[str]) -> Statistics:
        if not columns:
            return {}
        words, method = "column statistics", "get_table_statistics_req"
        return self._lenient(words, method, lambda: self.client.statistics(table, columns)) or {}

    def constraints(self, table: TableName) -> dict[str, tuple[Any, ...]]:
        """All but foreign keys, by kind."""
        constraints: dict[str, tuple[Any, ...]] = {}
        for kind, (method, request, field) in _CONSTRAINTS.items():
            request = request(db_name=table.database, tbl_name=table.table, catName=self._catalog(table))
            reply = self._optional(f"{kind.replace('_', ' ')} constraints", method, request)
            constraints[kind] = getattr(reply, field) or () if reply is not None else ()
        return constraints

    def foreign_keys(self, table: TableName) -> tuple[Any, ...]:
        request = ForeignKeysRequest(
            foreign_db_name=table.database, foreign_tbl_name=table.table, catName=self._catalog(table)
        )
        reply = self._optional("foreign keys", "get_foreign_keys", request)
        return reply.foreignKeys or () if reply is not None else ()

    def _catalog(self, table: TableName) -> str | None:
        return (table.catalog or DEFAULT_CATALOG) if self.has_catalogs() else None

    # Partitions

    def partition_names(self, table: TableName) -> list[str]:
        """Sorted, so that a later run can resume after a name."""
        return sorted(self.client.partition_names(table))

    def partitions(self, table: TableName, names: Sequence[str]) -> dict[Values, Partition]:
        """The existing partitions among these names, by their values."""
        if not names:
            return {}
        partitions = self.client.api.get_partitions_by_names(table.database_field, table.table, tuple(names))
        return {part.values or (): part for part in partitions}

    def partition_statistics(
        self, table: TableName, names: Sequence[str], columns: Sequence[str]
    ) -> dict[str, Statistics]:
        if not names or not columns:
            return {}
        words, method = "column statistics of partitions", "get_partitions_statistics_req"
        return self._lenient(words, method, lambda: self.client.partition_statistics(table, names, columns)) or {}

    # Functions

    def function_names(self, db: DatabaseName) -> list[str]:
        return sorted(self._optional("functions", "get_functions", db.field, "*") or ())

    def function(self, db: DatabaseName, name: str) -> Function | None:
        try:
            return self.client.api.get_function(db.field, name)
        except NoSuchObjectException:
            return None

    # Roles and privileges

    def role_names(self) -> list[str]:
        return sorted(self._optional("roles", "get_role_names") or ())

    def members(self, role: str) -> tuple[RolePrincipalGrant, ...]:
        try:
            reply = self.client.api.get_principals_in_role(GetPrincipalsInRoleRequest(roleName=role))
        except MetastoreError:
            return ()  # Hive raises for the role public.
        return reply.principalGrants or ()

    def role(self, name: str, members: Sequence[RolePrincipalGrant]) -> Role:
        """The role with its creation time and grantor, which are only returned in the roles of a member."""
        for member in members[:1]:
            for role in self.client.api.list_roles(member.principalName, member.principalType):
                if role.roleName == name:
                    return role
        return Role(roleName=name)

    def grants(self) -> tuple[HiveObjectPrivilege, ...]:
        """All grants of the metastore."""
        return self._optional("privileges", "list_privileges", None, None, HiveObjectRef()) or ()
