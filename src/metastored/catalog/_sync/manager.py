# Made by tools/unasync.py from _async/manager.py: DO NOT EDIT.
"""Several catalogs behind one interface, by names such as `catalog.database.table`.

with metastored.catalog.CatalogManager.load("application.yaml") as catalogs:
    catalogs.create_database("sales", if_not_exists=True)
    table = catalogs.get_table("hive.sales.orders")

A catalog is opened when it is first used: a catalog that is down affects only calls to that catalog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from metastored.catalog._sync.opening import opened
from metastored.catalog._sync.provider import CatalogProvider
from metastored.catalog.hive_objects import table_definition
from metastored.catalog.names import Name, ResolvedName, parts_of, resolve_database, resolve_table
from metastored.catalog.settings import Catalog, CatalogSettings, load
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
    TableKind,
    TableStatistics,
    TableStatus,
    ViewDefinition,
)
from metastored.catalog.temporary import TemporaryViews
from metastored.client._backend import threads as io
from metastored.client.metrics import Metrics
from metastored.errors import ConfigError, InvalidInputException, ObjectNotFound
from metastored.model.partitions import PartitionValues
from metastored.wire.generated.common import Table

OPENING: Final = 120.0
"""Seconds that a call waits while another call opens the same catalog."""


class CatalogManager:
    """The catalogs of a program. Close it, or use it in `with`."""

    def __init__(
        self,
        catalogs: Mapping[str, CatalogProvider | Catalog],
        default_catalog: str | None = None,
        default_database: Namespace = ("default",),
        global_temporary_database: Namespace = ("global_temp",),
        metrics: Metrics | None = None,
    ) -> None:
        """`catalogs` are providers, or the settings of catalogs that are opened at their first use."""
        if not catalogs:
            raise ConfigError("a catalog manager needs at least one catalog")
        self._catalogs = dict(catalogs)
        self._metrics = metrics
        self._lock: Final = io.Lock()
        self._opening: dict[str, io.Waiter] = {}
        self.temporary: Final = TemporaryViews(global_temporary_database)
        self.default_catalog = next(iter(catalogs))
        self.default_database = default_database
        if default_catalog is not None:
            self.use(default_catalog)

    @classmethod
    def of(cls, settings: CatalogSettings, metrics: Metrics | None = None) -> Self:
        """Returns the manager of these settings."""
        return cls(
            {each.name: each for each in settings.list},
            settings.default_catalog,
            settings.default_database,
            settings.global_temporary_database,
            metrics,
        )

    @classmethod
    def load(
        cls,
        file: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        metrics: Metrics | None = None,
        **given: Any,
    ) -> Self:
        """Returns the manager that a file, the environment and keywords (`list=[…]`) describe."""
        return cls.of(load(file, environment, given), metrics)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self._catalogs)}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the catalogs that were opened."""
        for provider in self._catalogs.values():
            if not isinstance(provider, Catalog):
                provider.close()

    # Catalogs

    @property
    def catalogs(self) -> tuple[str, ...]:
        """The names of the catalogs."""
        return tuple(self._catalogs)

    def use(self, catalog: str | None = None, database: Name | None = None) -> None:
        """Sets the default catalog and the default database."""
        if catalog is not None:
            if catalog not in self._catalogs:
                raise InvalidInputException(f"there is no catalog {catalog!r}; known are {', '.join(self._catalogs)}")
            self.default_catalog = catalog
        if database is not None:
            self.default_database = parts_of(database)

    def provider(self, catalog: str | None = None) -> CatalogProvider:
        """Returns a catalog; the `client` of a built-in one has locks, transactions and the complete API."""
        name = catalog or self.default_catalog
        if name not in self._catalogs:
            raise InvalidInputException(f"there is no catalog {name!r}; known are {', '.join(self._catalogs)}")
        while True:
            with self._lock:
                catalog_provider = self._catalogs[name]
                if not isinstance(catalog_provider, Catalog):
                    return catalog_provider
                under_way = self._opening.get(name)
                if under_way is None:
                    turn = self._opening[name] = io.new_waiter()
            if under_way is not None:
                self._other(under_way, name)
                continue  # It is open now, or opening it failed and is retried.
            try:
                provider = opened(catalog_provider, self._metrics)
                self._catalogs[name] = provider
                return provider
            finally:
                with self._lock:
                    del self._opening[name]
                io.resolve(turn)

    @staticmethod
    def _other(under_way: io.Waiter, name: str) -> None:
        deadline = io.Deadline(OPENING)
        try:
            deadline.wait(io.follow(under_way), f"opening catalog {name!r}, which another call has started,")
        finally:
            deadline.cancel()

    # Databases

    def create_database(
        self, name: Name, definition: DatabaseDefinition | None = None, if_not_exists: bool = False
    ) -> DatabaseStatus:
        """Creates a database, `db` or `catalog.db`, and returns it. Raises DatabaseAlreadyExists."""
        provider, resolved = self._database(name)
        return provider.create_database(resolved.database, definition or DatabaseDefinition(), if_not_exists)

    def get_database(self, name: Name | None = None) -> DatabaseStatus:
        """A database, by `db` or `catalog.db`; without a name the default one. Raises DatabaseNotFound."""
        provider, resolved = self._database(name)
        return provider.get_database(resolved.database)

    def list_databases(self, catalog: str | None = None, pattern: str | None = None) -> list[DatabaseStatus]:
        """The databases of a catalog, by default of the default one; in `pattern`, `*` stands for any text."""
        return (self.provider(catalog)).list_databases(pattern)

    def alter_database(self, name: Name, changes: DatabaseChanges) -> DatabaseStatus:
        """Changes a database and returns it. Raises DatabaseNotFound."""
        provider, resolved = self._database(name)
        return provider.alter_database(resolved.database, changes)

    def drop_database(self, name: Name, if_exists: bool = False, cascade: bool = False) -> None:
        """Drops a database; with `cascade`, its tables too. Raises DatabaseNotFound."""
        provider, resolved = self._database(name)
        provider.drop_database(resolved.database, if_exists, cascade)

    # Tables

    def create_table(self, name: Name, definition: TableDefinition | Table, if_not_exists: bool = False) -> TableStatus:
        """Creates a table and returns it. Raises TableAlreadyExists.

        `definition` is a TableDefinition, or a struct of Hive's as `metastored.table` makes it or a client returns it.
        """
        provider, resolved = self._table(name)
        wanted = table_definition(definition) if isinstance(definition, Table) else definition
        if not isinstance(wanted, TableDefinition):
            raise InvalidInputException(
                f"a table is created from a TableDefinition or metastored.table(…), not from {definition!r}"
            )
        return provider.create_table(resolved.database, resolved.name, wanted, if_not_exists)

    def get_table(self, name: Name) -> TableStatus:
        """A table or view; a temporary view comes before others of its name."""
        temporary = self.temporary.find(parts_of(name))
        if temporary is not None:
            return temporary
        self._not_global(name)
        provider, resolved = self._table(name)
        return provider.get_table(resolved.database, resolved.name)

    def list_tables(self, database: Name | None = None, pattern: str | None = None) -> list[TableStatus]:
        """The tables and views of a database; global temporary views are in their own database.

        Temporary views of the session are in `temporary.list()`.
        """
        if self._is_global(database):
            return self.temporary.list(pattern, shared=True)
        provider, resolved = self._database(database)
        return provider.list_tables(resolved.database, pattern)

    def alter_table(self, name: Name, changes: TableChanges) -> TableStatus:
        """Changes a table or view and returns it. Raises TableNotFound."""
        provider, resolved = self._table(name)
        return provider.alter_table(resolved.database, resolved.name, changes)

    def drop_table(self, name: Name, if_exists: bool = False, purge: bool = False) -> None:
        """Drops a table, and the data of a managed one; `purge` skips the trash. Raises TableNotFound."""
        if self.temporary.find(parts_of(name)) is not None:
            raise InvalidInputException(f"{'.'.join(parts_of(name))} is a temporary view: drop it with drop_view")
        provider, resolved = self._table(name)
        provider.drop_table(resolved.database, resolved.name, if_exists, purge)

    # Views

    def create_view(
        self, name: Name, definition: ViewDefinition, if_not_exists: bool = False, replace: bool = False
    ) -> TableStatus:
        """Creates a view, or with `replace` changes one, and returns it. Raises TableAlreadyExists.

        A view in the database of global temporary views is one of them; other temporary views: `temporary.create`.
        """
        if self._is_global(parts_of(name)[:-1]):
            there = self.temporary.find(parts_of(name))
            if there is not None and if_not_exists:
                return there
            return self.temporary.create(parts_of(name)[-1], definition, shared=True, replace=replace)
        provider, resolved = self._table(name)
        return provider.create_view(resolved.database, resolved.name, definition, if_not_exists, replace)

    def get_view(self, name: Name) -> TableStatus:
        """A view; a temporary view comes before others of its name. Raises ObjectNotFound, for a table too."""
        temporary = self.temporary.find(parts_of(name))
        if temporary is not None:
            return temporary
        self._not_global(name)
        provider, resolved = self._table(name)
        return provider.get_view(resolved.database, resolved.name)

    def list_views(self, database: Name | None = None, pattern: str | None = None) -> list[TableStatus]:
        """The views of a database, by default of the default one."""
        if self._is_global(database):
            return self.temporary.list(pattern, shared=True)
        provider, resolved = self._database(database)
        return provider.list_views(resolved.database, pattern)

    def drop_view(self, name: Name, if_exists: bool = False) -> None:
        """Drops a view; a temporary view comes before others of its name.

        Raises TableNotFound, and InvalidInputException for a table.
        """
        parts = parts_of(name)
        if self.temporary.find(parts) is not None or self._is_global(parts[:-1]):
            self.temporary.drop(parts[-1], shared=len(parts) > 1, if_exists=if_exists)
            return
        provider, resolved = self._table(name)
        provider.drop_view(resolved.database, resolved.name, if_exists)

    # Partitions

    def add_partitions(
        self, name: Name, partitions: Sequence[PartitionDefinition], if_not_exists: bool = False
    ) -> None:
        """Adds partitions to a table. Raises AlreadyExistsException unless `if_not_exists`."""
        provider, resolved = self._table(name)
        provider.add_partitions(resolved.database, resolved.name, partitions, if_not_exists)

    def get_partition(self, name: Name, values: PartitionValues) -> PartitionStatus:
        """A partition by its values: a dict, a name such as `ds=2024-01-01/h=1`, or a list. Raises ObjectNotFound."""
        provider, resolved = self._table(name)
        return provider.get_partition(resolved.database, resolved.name, values)

    def list_partitions(self, name: Name, where: str | None = None) -> Iterator[PartitionStatus]:
        """The partitions of a table that match a filter, such as `ds >= '2024-01-01'`; without one, all."""
        provider, resolved = self._table(name)
        for each in provider.list_partitions(resolved.database, resolved.name, where):
            yield each

    def alter_partition(self, name: Name, definition: PartitionDefinition) -> PartitionStatus:
        """Changes the location and properties of a partition and returns it. Raises ObjectNotFound."""
        provider, resolved = self._table(name)
        return provider.alter_partition(resolved.database, resolved.name, definition)

    def drop_partition(self, name: Name, values: PartitionValues, if_exists: bool = False) -> None:
        """Drops a partition by its values, given as to `get_partition`. Raises ObjectNotFound."""
        provider, resolved = self._table(name)
        provider.drop_partition(resolved.database, resolved.name, values, if_exists)

    # Statistics and constraints

    def get_statistics(self, name: Name, partition: PartitionValues | None = None) -> TableStatistics:
        """The statistics of a table, or of one of its partitions: counts, and those of its columns."""
        provider, resolved = self._table(name)
        return provider.get_statistics(resolved.database, resolved.name, partition)

    def set_statistics(self, name: Name, statistics: TableStatistics, partition: PartitionValues | None = None) -> None:
        """Stores statistics of a table, or of one of its partitions."""
        provider, resolved = self._table(name)
        provider.set_statistics(resolved.database, resolved.name, statistics, partition)

    def list_constraints(self, name: Name) -> tuple[Constraint, ...]:
        """The constraints of a table."""
        provider, resolved = self._table(name)
        return provider.list_constraints(resolved.database, resolved.name)

    def add_constraint(self, name: Name, constraint: Constraint) -> None:
        """Adds a constraint to a table. Raises NotSupported where the catalog has none of this kind."""
        provider, resolved = self._table(name)
        provider.add_constraint(resolved.database, resolved.name, constraint)

    def drop_constraint(self, name: Name, constraint: str, if_exists: bool = False) -> None:
        """Drops a constraint of a table by its name. Raises ObjectNotFound."""
        provider, resolved = self._table(name)
        provider.drop_constraint(resolved.database, resolved.name, constraint, if_exists)

    # How

    def _is_global(self, database: Name | None) -> bool:
        """Whether a database is that of global temporary views, which no catalog has."""
        if not database:
            return database is None and self.temporary.is_global(self.default_database)
        return self.temporary.is_global(parts_of(database))

    def _not_global(self, name: Name) -> None:
        """Raises ObjectNotFound for a global temporary view that does not exist."""
        if self._is_global(parts_of(name)[:-1]):
            raise ObjectNotFound(TableKind.GLOBAL_TEMPORARY_VIEW.value, ".".join(parts_of(name)))

    def _database(self, name: Name | None) -> tuple[CatalogProvider, ResolvedName]:
        if name is None:
            return self.provider(), ResolvedName(self.default_catalog, self.default_database)
        resolved = resolve_database(name, self.default_catalog, self._catalogs)
        return self.provider(resolved.catalog), resolved

    def _table(self, name: Name) -> tuple[CatalogProvider, ResolvedName]:
        resolved = resolve_table(name, self.default_catalog, self.default_database, self._catalogs)
        return self.provider(resolved.catalog), resolved
