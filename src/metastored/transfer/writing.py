"""Writes to a target: the interface of a writer, and the writer that uses the API of any metastore.

Through the API a target sets its own timestamps, and creates missing directories; requests disable its counting of
files, and never delete data. The writer for a database of metastored is in `local.py`, and does neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from metastored.client._sync.client import Client
from metastored.hive.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.names import DEFAULT_CATALOG
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.model.kinds import is_view
from metastored.model.names import DatabaseName, TableName
from metastored.transfer.differences import STAMPED
from metastored.wire.generated.catalogs import AlterCatalogRequest, Catalog, CreateCatalogRequest
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    EnvironmentContext,
    Table,
)
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddDefaultConstraintRequest,
    AddForeignKeyRequest,
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
    DropConstraintRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.generated.roles import (
    HiveObjectPrivilege,
    PrivilegeBag,
    Role,
    RolePrincipalGrant,
)
from metastored.wire.generated.statistics import SetPartitionsStatsRequest
from metastored.wire.structs import replace

_ADD: Final = {
    PRIMARY: ("add_primary_key", AddPrimaryKeyRequest),
    UNIQUE: ("add_unique_constraint", AddUniqueConstraintRequest),
    NOT_NULL: ("add_not_null_constraint", AddNotNullConstraintRequest),
    DEFAULT: ("add_default_constraint", AddDefaultConstraintRequest),
    CHECK: ("add_check_constraint", AddCheckConstraintRequest),
    FOREIGN: ("add_foreign_key", AddForeignKeyRequest),
}
AS_SENT: Final = EnvironmentContext(properties=KEEP_STATISTICS)


@dataclass(frozen=True)
class TableChange:
    """The new definition of a table, its name in the target, and the changed column statistics."""

    name: TableName
    table: Table
    before: Table | None
    """None for a new table."""
    statistics: Sequence[ColumnStatisticsObj] = ()
    dropped_statistics: Sequence[str] = ()
    """Columns whose statistics the source no longer has."""


class PartitionStatistics(NamedTuple):
    """The changed column statistics of one partition."""

    name: str
    partition: Partition
    columns: Sequence[ColumnStatisticsObj]
    dropped_statistics: Sequence[str]


@dataclass(frozen=True)
class PageChange:
    """New and changed partitions of one table, and changed statistics of these and other partitions."""

    name: TableName
    added: Sequence[Partition] = ()
    altered: Sequence[Partition] = ()
    statistics: Sequence[PartitionStatistics] = ()


class Writer(Protocol):
    """Writes objects to a target, with the target's names. Drops never delete data."""

    @property
    def stamped(self) -> Collection[str]:
        """Fields that the target sets itself."""
        ...

    def put_catalog(self, catalog: Catalog, before: Catalog | None) -> None: ...
    def put_database(self, db: DatabaseName, database: Database, before: Database | None) -> None: ...
    def put_table(self, change: TableChange) -> None: ...
    def put_partitions(self, change: PageChange) -> None: ...
    def put_constraints(
        self, table: TableName, constraints: Mapping[str, Sequence[Any]], dropped: Sequence[str]
    ) -> None: ...
    def put_function(self, db: DatabaseName, function: Function, before: Function | None) -> None: ...
    def put_role(self, role: Role, before: Role | None) -> None: ...
    def put_member(self, member: RolePrincipalGrant, before: RolePrincipalGrant | None) -> None: ...
    def put_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None: ...

    def drop_database(self, db: DatabaseName) -> None: ...
    def drop_table(self, table: TableName) -> None: ...
    def drop_partitions(self, table: TableName, names: Sequence[str]) -> None: ...
    def drop_function(self, db: DatabaseName, name: str) -> None: ...
    def drop_role(self, name: str) -> None: ...
    def drop_member(self, member: RolePrincipalGrant) -> None: ...
    def drop_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None: ...


class Dropping:
    """The drops, which are the same for both writers."""

    def __init__(self, client: Client) -> None:
        self.client: Final = client

    def _catalog(self, table: TableName) -> str | None:
        """The catalog for a request; None for servers without catalogs."""
        return (table.catalog or DEFAULT_CATALOG) if self.client.capabilities.knows("get_catalogs") else None

    def drop_database(self, db: DatabaseName) -> None:
        self.client.api.drop_database(db.field, False, True)

    def drop_table(self, table: TableName) -> None:
        self.client.drop_table(table, if_exists=True, delete_data=False)

    def drop_partitions(self, table: TableName, names: Sequence[str]) -> None:
        request = DropPartitionsRequest(
            dbName=table.database,
            tblName=table.table,
            parts=RequestPartsSpec(names=tuple(names)),
            deleteData=False,
            ifExists=True,
            needResult=False,
            catName=self._catalog(table),
        )
        self.client.api.drop_partitions_req(request)

    def drop_constraint(self, table: TableName, name: str) -> None:
        self.client.api.drop_constraint(DropConstraintRequest(table.database, table.table, name, self._catalog(table)))

    def drop_function(self, db: DatabaseName, name: str) -> None:
        self.client.api.drop_function(db.field, name)

    def drop_role(self, name: str) -> None:
        self.client.api.drop_role(name)

    def drop_member(self, member: RolePrincipalGrant) -> None:
        self.client.api.revoke_role(member.roleName, member.principalName, member.principalType)

    def drop_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None:
        self.client.api.revoke_privileges(PrivilegeBag(privileges=tuple(grants)))


class RemoteWriter(Dropping):
    """Through the API, into any metastore from 2.3 on."""

    stamped: Collection[str] = STAMPED

    # Catalogs, databases, functions

    def put_catalog(self, catalog: Catalog, before: Catalog | None) -> None:
        if before is None:
            self.client.api.create_catalog(CreateCatalogRequest(catalog=catalog))
        else:
            self.client.api.alter_catalog(AlterCatalogRequest(name=catalog.name, newCat=catalog))

    def put_database(self, db: DatabaseName, database: Database, before: Database | None) -> None:
        if before is None:
            self.client.api.create_database(database)
        else:
            self.client.api.alter_database(db.field, database)

    def put_function(self, db: DatabaseName, function: Function, before: Function | None) -> None:
        if before is None:
            self.client.api.create_function(function)
        else:
            self.client.api.alter_function(db.field, function.functionName, function)

    # Tables

    def put_table(self, change: TableChange) -> None:
        table, name = change.table, change.name
        if change.before is None:
            self.client.api.create_table(_unlisted(table))
        for column in change.dropped_statistics:
            self.client.api.delete_table_column_statistics(name.database_field, name.table, column, "hive")
        if change.statistics:
            self._set_statistics(name, [(None, change.statistics)])
        # Setting statistics changes the table's parameters; this restores them.
        if change.before is not None or change.statistics or change.dropped_statistics:
            self.client.api.alter_table_with_environment_context(name.database_field, name.table, table, AS_SENT)

    def _set_statistics(
        self, table: TableName, statistics: Sequence[tuple[str | None, Sequence[ColumnStatisticsObj]]]
    ) -> None:
        catalog = self._catalog(table)
        sent = tuple(
            ColumnStatistics(
                statsDesc=ColumnStatisticsDesc(
                    isTblLevel=part is None,
                    dbName=table.database,
                    tableName=table.table,
                    partName=part,
                    catName=catalog,
                ),
                statsObj=tuple(columns),
                engine="hive",
            )
            for part, columns in statistics
        )
        self.client.api.set_aggr_stats_for(SetPartitionsStatsRequest(colStats=sent, engine="hive"))

    def put_constraints(
        self, table: TableName, constraints: Mapping[str, Sequence[Any]], dropped: Sequence[str]
    ) -> None:
        for name in dropped:
            self.drop_constraint(table, name)
        for kind, columns in constraints.items():
            method, request = _ADD[kind]
            if columns:
                self.client.api.call(method, request(tuple(columns)))

    # Partitions

    def put_partitions(self, change: PageChange) -> None:
        table = change.name
        if change.added:
            self.client.add_partitions(table, change.added, if_not_exists=True)
        for name, _, _, dropped_statistics in change.statistics:
            for column in dropped_statistics:
                self.client.api.delete_partition_column_statistics(
                    table.database_field, table.table, name, column, "hive"
                )
        new = [(name, columns) for name, _, columns, _ in change.statistics if columns]
        if new:
            self._set_statistics(table, new)
        # Adding stamps the time and may count files, and statistics leave a mark in the parameters. Unlike that of a
        # table, all of a partition can be changed afterwards.
        again = {part.values: part for _, part, _, _ in change.statistics}
        again |= {part.values: part for part in (*change.added, *change.altered)}
        if again:
            parts = tuple(again.values())
            self.client.api.alter_partitions_with_environment_context(table.database_field, table.table, parts, AS_SENT)

    # Roles and privileges

    def put_role(self, role: Role, before: Role | None) -> None:
        if before is None:
            self.client.api.create_role(role)

    def put_member(self, member: RolePrincipalGrant, before: RolePrincipalGrant | None) -> None:
        if before is not None:
            self.drop_member(before)
        self.client.api.grant_role(
            member.roleName,
            member.principalName,
            member.principalType,
            member.grantorName,
            member.grantorPrincipalType,
            bool(member.grantOption),
        )

    def put_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None:
        self.client.api.grant_privileges(PrivilegeBag(privileges=tuple(grants)))


def _unlisted(table: Table) -> Table:
    """A new table with a parameter that disables the counting of files; only where Hive would count, because otherwise
    the parameter would be stored.
    """
    if is_view(table) or table.partitionKeys:
        return table
    return replace(table, parameters={**(table.parameters or {}), **KEEP_STATISTICS})
