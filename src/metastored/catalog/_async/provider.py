"""What a catalog has to be able to do. Whoever implements it can be put into a manager.

A provider knows its own databases by their names within it; the catalog's name is only told in what it answers. What
it cannot do at all raises NotSupported; what is missing or there already, the errors of `metastored.errors`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from metastored.catalog.status import (
    Constraint,
    DatabaseChanges,
    DatabaseDefinition,
    DatabaseStatus,
    Namespace,
    PartitionDefinition,
    PartitionStatus,
    TableChanges,
    TableDefinition,
    TableStatistics,
    TableStatus,
    ViewDefinition,
)
from metastored.model.partitions import PartitionValues


class AsyncCatalogProvider(Protocol):
    """One catalog. In patterns, `*` stands for anything and `|` separates alternatives."""

    @property
    def name(self) -> str: ...

    async def close(self) -> None: ...

    # Databases

    async def create_database(
        self, database: Namespace, given: DatabaseDefinition, if_not_exists: bool = False
    ) -> DatabaseStatus: ...

    async def get_database(self, database: Namespace) -> DatabaseStatus: ...

    async def list_databases(self, pattern: str | None = None) -> list[DatabaseStatus]: ...

    async def alter_database(self, database: Namespace, changes: DatabaseChanges) -> DatabaseStatus: ...

    async def drop_database(self, database: Namespace, if_exists: bool = False, cascade: bool = False) -> None: ...

    # Tables and views

    async def create_table(
        self, database: Namespace, name: str, given: TableDefinition, if_not_exists: bool = False
    ) -> TableStatus: ...

    async def get_table(self, database: Namespace, name: str) -> TableStatus:
        """A table or a view; its `kind` says which."""

    async def list_tables(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        """Tables and views."""

    async def alter_table(self, database: Namespace, name: str, changes: TableChanges) -> TableStatus: ...

    async def drop_table(
        self, database: Namespace, name: str, if_exists: bool = False, purge: bool = False
    ) -> None: ...

    async def create_view(
        self,
        database: Namespace,
        name: str,
        given: ViewDefinition,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> TableStatus: ...

    async def get_view(self, database: Namespace, name: str) -> TableStatus: ...

    async def list_views(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]: ...

    async def drop_view(self, database: Namespace, name: str, if_exists: bool = False) -> None: ...

    # Partitions

    async def add_partitions(
        self, database: Namespace, name: str, given: Sequence[PartitionDefinition], if_not_exists: bool = False
    ) -> None: ...

    async def get_partition(self, database: Namespace, name: str, values: PartitionValues) -> PartitionStatus: ...

    def list_partitions(
        self, database: Namespace, name: str, where: str | None = None
    ) -> AsyncIterator[PartitionStatus]:
        """Those for which a filter over the partition columns holds, `ds >= '2024-01-01'`, as they come."""

    async def alter_partition(self, database: Namespace, name: str, given: PartitionDefinition) -> PartitionStatus: ...

    async def drop_partition(
        self, database: Namespace, name: str, values: PartitionValues, if_exists: bool = False
    ) -> None: ...

    # Statistics

    async def get_statistics(
        self, database: Namespace, name: str, partition: PartitionValues | None = None
    ) -> TableStatistics: ...

    async def set_statistics(
        self,
        database: Namespace,
        name: str,
        given: TableStatistics,
        partition: PartitionValues | None = None,
    ) -> None: ...

    # Constraints

    async def list_constraints(self, database: Namespace, name: str) -> tuple[Constraint, ...]: ...

    async def add_constraint(self, database: Namespace, name: str, given: Constraint) -> None: ...

    async def drop_constraint(
        self, database: Namespace, name: str, constraint: str, if_exists: bool = False
    ) -> None: ...
