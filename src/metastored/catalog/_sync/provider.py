# Made by tools/unasync.py from _async/provider.py: DO NOT EDIT.
"""What a catalog has to be able to do. Whoever implements it can be put into a manager.

A provider knows its own databases by their names within it; the catalog's name is only told in what it answers. What
it cannot do at all raises NotSupported; what is missing or there already, the errors of `metastored.errors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


class CatalogProvider(Protocol):
    """One catalog. In patterns, `*` stands for anything and `|` separates alternatives."""

    @property
    def name(self) -> str: ...

    def close(self) -> None: ...

    # Databases

    def create_database(
        self, database: Namespace, given: DatabaseDefinition, if_not_exists: bool = False
    ) -> DatabaseStatus: ...

    def get_database(self, database: Namespace) -> DatabaseStatus: ...

    def list_databases(self, pattern: str | None = None) -> list[DatabaseStatus]: ...

    def alter_database(self, database: Namespace, changes: DatabaseChanges) -> DatabaseStatus: ...

    def drop_database(self, database: Namespace, if_exists: bool = False, cascade: bool = False) -> None: ...

    # Tables and views

    def create_table(
        self, database: Namespace, name: str, given: TableDefinition, if_not_exists: bool = False
    ) -> TableStatus: ...

    def get_table(self, database: Namespace, name: str) -> TableStatus:
        """A table or a view; its `kind` says which."""

    def list_tables(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        """Tables and views."""

    def alter_table(self, database: Namespace, name: str, changes: TableChanges) -> TableStatus: ...

    def drop_table(self, database: Namespace, name: str, if_exists: bool = False, purge: bool = False) -> None: ...

    def create_view(
        self,
        database: Namespace,
        name: str,
        given: ViewDefinition,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> TableStatus: ...

    def get_view(self, database: Namespace, name: str) -> TableStatus: ...

    def list_views(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]: ...

    def drop_view(self, database: Namespace, name: str, if_exists: bool = False) -> None: ...

    # Partitions

    def add_partitions(
        self, database: Namespace, name: str, given: Sequence[PartitionDefinition], if_not_exists: bool = False
    ) -> None: ...

    def get_partition(self, database: Namespace, name: str, values: PartitionValues) -> PartitionStatus: ...

    def list_partitions(self, database: Namespace, name: str, where: str | None = None) -> Iterator[PartitionStatus]:
        """Those for which a filter over the partition columns holds, `ds >= '2024-01-01'`, as they come."""

    def alter_partition(self, database: Namespace, name: str, given: PartitionDefinition) -> PartitionStatus: ...

    def drop_partition(
        self, database: Namespace, name: str, values: PartitionValues, if_exists: bool = False
    ) -> None: ...

    # Statistics

    def get_statistics(
        self, database: Namespace, name: str, partition: PartitionValues | None = None
    ) -> TableStatistics: ...

    def set_statistics(
        self,
        database: Namespace,
        name: str,
        given: TableStatistics,
        partition: PartitionValues | None = None,
    ) -> None: ...

    # Constraints

    def list_constraints(self, database: Namespace, name: str) -> tuple[Constraint, ...]: ...

    def add_constraint(self, database: Namespace, name: str, given: Constraint) -> None: ...

    def drop_constraint(self, database: Namespace, name: str, constraint: str, if_exists: bool = False) -> None: ...
