# Made by tools/unasync.py from _async/provider.py: DO NOT EDIT.
"""The interface of a catalog. An object with these methods can be passed to `CatalogManager`.

A provider knows its databases by their names within the catalog. A method for something that the catalog does not have
raises NotSupported; other errors are those of `metastored.errors`.
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
    """One catalog. In patterns, `*` stands for any text and `|` separates alternatives."""

    @property
    def name(self) -> str:
        """The name of the catalog."""

    def close(self) -> None:
        """Closes connections and files. The manager calls it once, at the end."""

    # Databases

    def create_database(
        self, database: Namespace, definition: DatabaseDefinition, if_not_exists: bool = False
    ) -> DatabaseStatus:
        """Creates a database and returns it. Raises DatabaseAlreadyExists unless `if_not_exists`."""

    def get_database(self, database: Namespace) -> DatabaseStatus:
        """Returns a database. Raises DatabaseNotFound."""

    def list_databases(self, pattern: str | None = None) -> list[DatabaseStatus]:
        """Returns the databases whose names match, or all."""

    def alter_database(self, database: Namespace, changes: DatabaseChanges) -> DatabaseStatus:
        """Changes a database and returns it. Raises DatabaseNotFound."""

    def drop_database(self, database: Namespace, if_exists: bool = False, cascade: bool = False) -> None:
        """Drops a database; with `cascade`, its tables too. Raises DatabaseNotFound unless `if_exists`.

        Raises InvalidOperationException for a database with tables, without `cascade`.
        """

    # Tables and views

    def create_table(
        self, database: Namespace, name: str, definition: TableDefinition, if_not_exists: bool = False
    ) -> TableStatus:
        """Creates a table and returns it. Raises TableAlreadyExists unless `if_not_exists`."""

    def get_table(self, database: Namespace, name: str) -> TableStatus:
        """Returns a table or a view; its `kind` says which. Raises TableNotFound."""

    def list_tables(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        """Returns the tables and views whose names match, or all. Raises DatabaseNotFound."""

    def alter_table(self, database: Namespace, name: str, changes: TableChanges) -> TableStatus:
        """Changes a table or a view and returns it. Raises TableNotFound, InvalidInputException."""

    def drop_table(self, database: Namespace, name: str, if_exists: bool = False, purge: bool = False) -> None:
        """Drops a table, and the data of a managed one; `purge` skips the trash.

        Raises TableNotFound unless `if_exists`, and InvalidInputException for a view.
        """

    def create_view(
        self,
        database: Namespace,
        name: str,
        definition: ViewDefinition,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> TableStatus:
        """Creates a view and returns it; with `replace`, changes a view of this name. Raises TableAlreadyExists."""

    def get_view(self, database: Namespace, name: str) -> TableStatus:
        """Returns a view. Raises ObjectNotFound, also for a table."""

    def list_views(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        """Returns the views whose names match, or all. Raises DatabaseNotFound."""

    def drop_view(self, database: Namespace, name: str, if_exists: bool = False) -> None:
        """Drops a view. Raises TableNotFound unless `if_exists`, and InvalidInputException for a table."""

    # Partitions

    def add_partitions(
        self, database: Namespace, name: str, partitions: Sequence[PartitionDefinition], if_not_exists: bool = False
    ) -> None:
        """Adds partitions to a table. Raises AlreadyExistsException unless `if_not_exists`."""

    def get_partition(self, database: Namespace, name: str, values: PartitionValues) -> PartitionStatus:
        """Returns a partition by its values. Raises ObjectNotFound."""

    def list_partitions(self, database: Namespace, name: str, where: str | None = None) -> Iterator[PartitionStatus]:
        """Iterates over the partitions for which a condition on the partition columns holds, or over all.

        Raises MetaException for a condition that cannot be read, such as `ds >= `.
        """

    def alter_partition(self, database: Namespace, name: str, definition: PartitionDefinition) -> PartitionStatus:
        """Changes the location and properties of a partition and returns it. Raises ObjectNotFound."""

    def drop_partition(self, database: Namespace, name: str, values: PartitionValues, if_exists: bool = False) -> None:
        """Drops a partition by its values. Raises ObjectNotFound unless `if_exists`."""

    # Statistics

    def get_statistics(
        self, database: Namespace, name: str, partition: PartitionValues | None = None
    ) -> TableStatistics:
        """Returns the statistics of a table, or of one of its partitions. Raises TableNotFound, ObjectNotFound."""

    def set_statistics(
        self,
        database: Namespace,
        name: str,
        statistics: TableStatistics,
        partition: PartitionValues | None = None,
    ) -> None:
        """Stores statistics of a table, or of one of its partitions. Raises InvalidInputException, ConversionError."""

    # Constraints

    def list_constraints(self, database: Namespace, name: str) -> tuple[Constraint, ...]:
        """Returns the constraints of a table. Raises TableNotFound."""

    def add_constraint(self, database: Namespace, name: str, constraint: Constraint) -> None:
        """Adds a constraint to a table. Raises NotSupported where the catalog has none of this kind."""

    def drop_constraint(self, database: Namespace, name: str, constraint: str, if_exists: bool = False) -> None:
        """Drops a constraint of a table by its name. Raises ObjectNotFound unless `if_exists`."""
