"""Changes of a metastore: what a writer can do, and the one that does it through the API of any metastore.

Through the API a target stamps times of its own, and makes directories that are missing; it is told not to look at
files, and never to delete any. The writer for a database of metastored's own is in `local.py`, and does neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from metastored.client._sync.client import Client
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.kinds import is_view
from metastored.model.names import DatabaseName, TableName
from metastored.service.statistics.basic import DO_NOT_UPDATE_STATS
from metastored.service.tables.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
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
KEEP_STATISTICS: Final = EnvironmentContext(properties={DO_NOT_UPDATE_STATS: "true"})


@dataclass(frozen=True)
class TableChange:
    """A table as it shall be, under its name in the target, and its columns' statistics that change."""

    of: TableName
    table: Table
    before: Table | None
    """None for a new one."""
    statistics: Sequence[ColumnStatisticsObj] = ()
    forgotten: Sequence[str] = ()
    """Columns whose statistics the source no longer has."""


class PartitionStatistics(NamedTuple):
    """Columns' statistics of one partition that change."""

    name: str
    partition: Partition
    columns: Sequence[ColumnStatisticsObj]
    forgotten: Sequence[str]


@dataclass(frozen=True)
class PageChange:
    """Partitions of one table: new ones, changed ones, and the statistics of these and of others."""

    of: TableName
    added: Sequence[Partition] = ()
    altered: Sequence[Partition] = ()
    statistics: Sequence[PartitionStatistics] = ()


class Writer(Protocol):
    """Puts things into a target, under the target's names. All that drop leave the data alone."""

    @property
    def stamped(self) -> Collection[str]:
        """Fields that the target sets by itself."""
        ...

    def put_catalog(self, catalog: Catalog, before: Catalog | None) -> None: ...
    def put_database(self, home: DatabaseName, database: Database, before: Database | None) -> None: ...
    def put_table(self, change: TableChange) -> None: ...
    def put_partitions(self, change: PageChange) -> None: ...
    def put_constraints(self, of: TableName, given: Mapping[str, Sequence[Any]], dropped: Sequence[str]) -> None: ...
    def put_function(self, home: DatabaseName, function: Function, before: Function | None) -> None: ...
    def put_role(self, role: Role, before: Role | None) -> None: ...
    def put_member(self, member: RolePrincipalGrant, before: RolePrincipalGrant | None) -> None: ...
    def put_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None: ...

    def drop_database(self, home: DatabaseName) -> None: ...
    def drop_table(self, of: TableName) -> None: ...
    def drop_partitions(self, of: TableName, names: Sequence[str]) -> None: ...
    def drop_function(self, home: DatabaseName, name: str) -> None: ...
    def drop_role(self, name: str) -> None: ...
    def drop_member(self, member: RolePrincipalGrant) -> None: ...
    def drop_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None: ...


class Dropping:
    """The drops, which are the same through a network and within the process."""

    def __init__(self, client: Client) -> None:
        self.client: Final = client

    def _catalog(self, of: TableName) -> str | None:
        """A catalog as requests name it: servers from before there were any are told none."""
        return (of.catalog or DEFAULT_CATALOG) if self.client.capabilities.knows("get_catalogs") else None

    def drop_database(self, home: DatabaseName) -> None:
        self.client.api.drop_database(home.field, False, True)

    def drop_table(self, of: TableName) -> None:
        self.client.drop_table(of, if_exists=True, delete_data=False)

    def drop_partitions(self, of: TableName, names: Sequence[str]) -> None:
        asked = DropPartitionsRequest(
            dbName=of.database,
            tblName=of.table,
            parts=RequestPartsSpec(names=tuple(names)),
            deleteData=False,
            ifExists=True,
            needResult=False,
            catName=self._catalog(of),
        )
        self.client.api.drop_partitions_req(asked)

    def drop_constraint(self, of: TableName, name: str) -> None:
        self.client.api.drop_constraint(DropConstraintRequest(of.database, of.table, name, self._catalog(of)))

    def drop_function(self, home: DatabaseName, name: str) -> None:
        self.client.api.drop_function(home.field, name)

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

    def put_database(self, home: DatabaseName, database: Database, before: Database | None) -> None:
        if before is None:
            self.client.api.create_database(database)
        else:
            self.client.api.alter_database(home.field, database)

    def put_function(self, home: DatabaseName, function: Function, before: Function | None) -> None:
        if before is None:
            self.client.api.create_function(function)
        else:
            self.client.api.alter_function(home.field, function.functionName, function)

    # Tables

    def put_table(self, change: TableChange) -> None:
        table, of = change.table, change.of
        if change.before is None:
            self.client.api.create_table(_unlisted(table))
        for column in change.forgotten:
            self.client.api.delete_table_column_statistics(of.database_field, of.table, column, "hive")
        if change.statistics:
            self._set_statistics(of, [(None, change.statistics)])
        # Statistics leave a mark in the parameters; the table gets its own back.
        if change.before is not None or change.statistics or change.forgotten:
            self.client.api.alter_table_with_environment_context(of.database_field, of.table, table, KEEP_STATISTICS)

    def _set_statistics(self, of: TableName, given: Sequence[tuple[str | None, Sequence[ColumnStatisticsObj]]]) -> None:
        catalog = self._catalog(of)
        sent = tuple(
            ColumnStatistics(
                statsDesc=ColumnStatisticsDesc(
                    isTblLevel=part is None, dbName=of.database, tableName=of.table, partName=part, catName=catalog
                ),
                statsObj=tuple(columns),
                engine="hive",
            )
            for part, columns in given
        )
        self.client.api.set_aggr_stats_for(SetPartitionsStatsRequest(colStats=sent, engine="hive"))

    def put_constraints(self, of: TableName, given: Mapping[str, Sequence[Any]], dropped: Sequence[str]) -> None:
        for name in dropped:
            self.drop_constraint(of, name)
        for kind, columns in given.items():
            method, request = _ADD[kind]
            if columns:
                self.client.api.call(method, request(tuple(columns)))

    # Partitions

    def put_partitions(self, change: PageChange) -> None:
        of = change.of
        if change.added:
            self.client.add_partitions(of, change.added, if_not_exists=True)
        for name, _, _, forgotten in change.statistics:
            for column in forgotten:
                self.client.api.delete_partition_column_statistics(of.database_field, of.table, name, column, "hive")
        new = [(name, columns) for name, _, columns, _ in change.statistics if columns]
        if new:
            self._set_statistics(of, new)
        # Adding stamps the time and may count files, and statistics leave a mark in the parameters. Unlike that of a
        # table, all of a partition can be changed afterwards.
        again = {part.values: part for _, part, _, _ in change.statistics}
        again |= {part.values: part for part in (*change.added, *change.altered)}
        if again:
            parts = tuple(again.values())
            self.client.api.alter_partitions_with_environment_context(
                of.database_field, of.table, parts, KEEP_STATISTICS
            )

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
    """A new table that asks not to have its files counted. Only where they would be: else the wish would be kept."""
    if is_view(table) or table.partitionKeys:
        return table
    return replace(table, parameters={**(table.parameters or {}), DO_NOT_UPDATE_STATS: "true"})
