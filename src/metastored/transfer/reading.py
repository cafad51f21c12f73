"""What there is in a metastore, whichever version it is: the client's calls in the form in which things are compared.

What a server is too old for is noted in a sentence and taken for empty. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, NoSuchObjectException
from metastored.hive.names import DEFAULT_CATALOG, encode_catalog_name
from metastored.model.names import DatabaseName, TableName
from metastored.service.tables.constraints import CHECK, DEFAULT, NOT_NULL, PRIMARY, UNIQUE
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

Answer = TypeVar("Answer")
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
"""The call, the request and the field of its answer, by kind; keys come before what may refer to them."""


class Reader:
    """One metastore, read."""

    def __init__(self, client: Client, name: str) -> None:
        self.client: Final = client
        self.name: Final = name
        self.lacking: Final[dict[str, str]] = {}
        """Sentences about what the server is too old for, by method."""

    def _optional(self, words: str, method: str, *args: Any) -> Any:
        """The answer, or None where the server has no such method."""
        return self._lenient(words, method, lambda: self.client.api.call(method, *args))

    def _lenient(self, words: str, method: str, ask: Callable[[], Answer]) -> Answer | None:
        if not self.client.capabilities.lacks(method):
            try:
                return ask()
            except ApplicationError as error:
                if error.type != ApplicationError.UNKNOWN_METHOD:
                    raise
                self.client.capabilities.learned(method, False)
        self.lacking.setdefault(method, f"{self.name} has no {method}: it has no {words} to be copied")
        return None

    # Catalogs and databases

    def has_catalogs(self) -> bool:
        return self.client.capabilities.knows("get_catalogs")

    def catalogs(self) -> list[str | None]:
        """All of them, the default one, which is None, first."""
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

    def database(self, home: DatabaseName) -> Database | None:
        try:
            return self.client.api.get_database(home.field)
        except NoSuchObjectException:
            return None

    # Tables

    def table_names(self, home: DatabaseName) -> list[str]:
        return sorted(self.client.api.get_all_tables(home.field))

    def tables(self, home: DatabaseName, names: Sequence[str], *, singly: bool = False) -> dict[str, Table]:
        """Those that there are, by name. A list need not tell what a materialized view was made from; `singly` does."""
        if not names:
            return {}
        if singly or "." in home.database:
            return self._one_by_one(home, names)
        found = self.client.tables_by_name(str(home), tuple(names))
        return {table.tableName or "": table for table in found}

    def _one_by_one(self, home: DatabaseName, names: Sequence[str]) -> dict[str, Table]:
        """Also for a database that Hive 4 let have a dot in its name, which `catalog.db` cannot say."""
        found = {}
        for name in names:
            with suppress(NoSuchObjectException):
                found[name] = self.client.table(home.table(name))
        return found

    def statistics(self, of: TableName, columns: Sequence[str]) -> Statistics:
        if not columns:
            return {}
        words, method = "column statistics", "get_table_statistics_req"
        return self._lenient(words, method, lambda: self.client.statistics(of, columns)) or {}

    def constraints(self, of: TableName) -> dict[str, tuple[Any, ...]]:
        """All but foreign keys, by kind."""
        found: dict[str, tuple[Any, ...]] = {}
        for kind, (method, request, field) in _CONSTRAINTS.items():
            asked = request(db_name=of.database, tbl_name=of.table, catName=self._catalog(of))
            answer = self._optional(f"{kind.replace('_', ' ')} constraints", method, asked)
            found[kind] = getattr(answer, field) or () if answer is not None else ()
        return found

    def foreign_keys(self, of: TableName) -> tuple[Any, ...]:
        asked = ForeignKeysRequest(foreign_db_name=of.database, foreign_tbl_name=of.table, catName=self._catalog(of))
        answer = self._optional("foreign keys", "get_foreign_keys", asked)
        return answer.foreignKeys or () if answer is not None else ()

    def _catalog(self, of: TableName) -> str | None:
        return (of.catalog or DEFAULT_CATALOG) if self.has_catalogs() else None

    # Partitions

    def partition_names(self, of: TableName) -> list[str]:
        """Sorted, so that a later run can go on behind a name."""
        return sorted(self.client.partition_names(of))

    def partitions(self, of: TableName, names: Sequence[str]) -> dict[Values, Partition]:
        """Those of the named partitions that there are, by their values."""
        if not names:
            return {}
        found = self.client.api.get_partitions_by_names(of.database_field, of.table, tuple(names))
        return {part.values or (): part for part in found}

    def partition_statistics(
        self, of: TableName, names: Sequence[str], columns: Sequence[str]
    ) -> dict[str, Statistics]:
        if not names or not columns:
            return {}
        words, method = "column statistics of partitions", "get_partitions_statistics_req"
        return self._lenient(words, method, lambda: self.client.partition_statistics(of, names, columns)) or {}

    # Functions

    def function_names(self, home: DatabaseName) -> list[str]:
        return sorted(self._optional("functions", "get_functions", home.field, "*") or ())

    def function(self, home: DatabaseName, name: str) -> Function | None:
        try:
            return self.client.api.get_function(home.field, name)
        except NoSuchObjectException:
            return None

    # Roles and privileges

    def role_names(self) -> list[str]:
        return sorted(self._optional("roles", "get_role_names") or ())

    def members(self, role: str) -> tuple[RolePrincipalGrant, ...]:
        try:
            answer = self.client.api.get_principals_in_role(GetPrincipalsInRoleRequest(roleName=role))
        except MetastoreError:
            return ()  # Hive has none for the role that everybody has.
        return answer.principalGrants or ()

    def role(self, name: str, members: Sequence[RolePrincipalGrant]) -> Role:
        """Only who has a role is told when it was made and by whom."""
        for member in members[:1]:
            for role in self.client.api.list_roles(member.principalName, member.principalType):
                if role.roleName == name:
                    return role
        return Role(roleName=name)

    def grants(self) -> tuple[HiveObjectPrivilege, ...]:
        """Everybody's privileges on everything."""
        return self._optional("privileges", "list_privileges", None, None, HiveObjectRef()) or ()
