"""`Source`: what a catalog that is not a metastore has to do to be shown as one. See `handler.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from metastored.errors import NoSuchObjectException, NotSupported
from metastored.filters.hive.tree import Filter
from metastored.wire.generated.common import ColumnStatisticsObj, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition


class Source(ABC):
    """A catalog, as little of it as is needed. What is missing is NoSuchObjectException, and so on."""

    @abstractmethod
    def databases(self) -> Sequence[str]: ...

    @abstractmethod
    def database(self, name: str) -> Database: ...

    @abstractmethod
    def create_database(self, database: Database) -> None: ...

    @abstractmethod
    def alter_database(self, name: str, database: Database) -> None: ...

    @abstractmethod
    def drop_database(self, name: str) -> None:
        """It is empty by then."""

    @abstractmethod
    def tables(self, db: str) -> Sequence[str]:
        """The names of tables and views."""

    @abstractmethod
    def table(self, db: str, name: str) -> Table: ...

    @abstractmethod
    def create_table(self, table: Table) -> None: ...

    @abstractmethod
    def alter_table(self, db: str, name: str, table: Table) -> None: ...

    def alter_table_if(self, db: str, name: str, table: Table, key: str, value: str | None) -> None:
        """Alters it only if a parameter has this value now, atomically."""
        raise NotSupported("it cannot alter a table on a condition")

    @abstractmethod
    def drop_table(self, db: str, name: str, purge: bool) -> None: ...

    def table_objects(self, db: str, names: Sequence[str]) -> Iterable[Table]:
        """Several tables; those that are missing are left out."""
        for name in names:
            try:
                yield self.table(db, name)
            except NoSuchObjectException:
                continue

    def partitions(self, db: str, name: str, where: Filter | None = None) -> Iterable[Partition]:
        """All partitions, or at least those for which the filter holds: whoever calls it filters what is returned."""
        raise NotSupported("it has no partitions")

    def partitions_of(self, db: str, name: str, values: Sequence[Sequence[str]]) -> Iterable[Partition]:
        """The partitions with these values; those that are missing are left out."""
        for each in values:
            try:
                yield self.partition(db, name, each)
            except NoSuchObjectException:
                continue

    def partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        raise NotSupported("it has no partitions")

    def add_partitions(self, db: str, name: str, partitions: Sequence[Partition], if_not_exists: bool) -> None:
        raise NotSupported("it has no partitions")

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        raise NotSupported("it has no partitions")

    def drop_partition(self, db: str, name: str, values: Sequence[str]) -> None:
        raise NotSupported("it has no partitions")

    def column_statistics(self, db: str, name: str, columns: Sequence[str]) -> Sequence[ColumnStatisticsObj]:
        """The statistics of a table's columns, of those that have any."""
        return ()

    def partition_statistics(
        self, db: str, name: str, values: Sequence[str], columns: Sequence[str]
    ) -> Sequence[ColumnStatisticsObj]:
        """The same for one partition."""
        return ()

    def partitions_statistics(
        self, db: str, name: str, values: Sequence[Sequence[str]], columns: Sequence[str]
    ) -> Iterable[Sequence[ColumnStatisticsObj]]:
        """The same for several partitions, in their order; an empty sequence for one that has none."""
        return [self.partition_statistics(db, name, each, columns) for each in values]

    @abstractmethod
    def close(self) -> None: ...
