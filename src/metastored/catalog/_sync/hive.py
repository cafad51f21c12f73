# Made by tools/unasync.py from _async/hive.py: DO NOT EDIT.
"""The provider of every built-in catalog: a client of a metastore, or of a handler in this process.

Iceberg and Glue are handlers that translate the metastore's calls (`connectors/`). The in-memory catalog is
metastored's own metastore.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from metastored.catalog.handlers import Closing
from metastored.catalog.hive_changes import changed_database, changed_partition, changed_table
from metastored.catalog.hive_constraints import IN_HIVE_2_3, constraints_of, hive_constraints
from metastored.catalog.hive_objects import (
    VIEWS,
    database_status,
    goes_beyond_hive,
    hive_database,
    hive_partition,
    hive_table,
    hive_view,
    needs_path,
    partition_status,
    partition_values,
    table_status,
)
from metastored.catalog.hive_statistics import hive_statistics, table_statistics, with_counts
from metastored.catalog.status import (
    Constraint,
    ConstraintKind,
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
from metastored.catalog.status_cache import StatusCache
from metastored.client._sync.acid import current_acid
from metastored.client._sync.client import Client
from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    InvalidInputException,
    MetaException,
    NoSuchObjectException,
    NotSupported,
    ObjectNotFound,
)
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.model.acid import Acid, is_transactional
from metastored.model.columns import columns_of
from metastored.model.names import TableName
from metastored.model.partitions import PartitionValues, name_of
from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsDesc, Table
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddDefaultConstraintRequest,
    AddForeignKeyRequest,
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
    CheckConstraintsRequest,
    DefaultConstraintsRequest,
    DropConstraintRequest,
    ForeignKeysRequest,
    NotNullConstraintsRequest,
    PrimaryKeysRequest,
    UniqueConstraintsRequest,
)
from metastored.wire.structs import replace


class HiveProvider:
    """A catalog over a client. `iceberg` where tables are Iceberg's; `closing` is closed with it.

    `owner` owns databases, tables and views that are created without an owner.
    """

    def __init__(
        self,
        name: str,
        client: Client,
        iceberg: bool = False,
        closing: Closing | None = None,
        owner: str | None = None,
    ) -> None:
        self._name = name
        self.client: Final = client
        """The client, for locks, transactions, functions and the complete API."""
        self._iceberg = iceberg
        self._closing = closing
        self._owner = owner
        self._reads = client.uncopied()
        cache = client.api.cache
        self._statuses = StatusCache(0 if cache is None else cache.settings.tables)

    @property
    def name(self) -> str:
        return self._name

    def close(self) -> None:
        self.client.close()
        if self._closing is not None:
            self._closing.close()

    # Databases

    def create_database(
        self, database: Namespace, definition: DatabaseDefinition, if_not_exists: bool = False
    ) -> DatabaseStatus:
        if len(database) > 1 and not self._iceberg:
            # Some servers would take the dot for a part of the name.
            raise InvalidInputException(f"{_flat(database)} has several levels, and databases of a metastore have one")
        with self._can("creating databases"):
            self.client.create_database(hive_database(_flat(database), definition, self._owner), if_not_exists)
        return self.get_database(database)

    def get_database(self, database: Namespace) -> DatabaseStatus:
        return database_status(self._name, self.client.api.get_database(_flat(database)))

    def list_databases(self, pattern: str | None = None) -> list[DatabaseStatus]:
        statuses = []
        for name in self.client.databases(pattern):
            try:
                statuses.append(self.get_database((name,)))
            except NoSuchObjectException:
                continue  # It was dropped since its name was listed.
        return statuses

    def alter_database(self, database: Namespace, changes: DatabaseChanges) -> DatabaseStatus:
        name = _flat(database)
        with self._can("altering databases"):
            self.client.forget(name)
            there = self.client.api.get_database(name)
            self.client.api.alter_database(name, changed_database(there, changes))
        return self.get_database(database)

    def drop_database(self, database: Namespace, if_exists: bool = False, cascade: bool = False) -> None:
        name = _flat(database)
        try:
            # Hive before 4 replies to a drop of a missing database with a NullPointerException.
            self.client.api.get_database(name)
        except NoSuchObjectException:
            if if_exists:
                return
            raise
        with self._can("dropping databases"):
            self.client.api.drop_database(name, True, cascade)

    # Tables

    def create_table(
        self, database: Namespace, name: str, definition: TableDefinition, if_not_exists: bool = False
    ) -> TableStatus:
        base: str | None = None
        if needs_path(definition) and not self._iceberg:
            base = (self.client.api.get_database(_flat(database))).locationUri
        table = hive_table(_flat(database), name, definition, self._iceberg, self._owner, base)
        if is_transactional(table.parameters) and not self.client.capabilities.knows("get_open_txns"):
            raise NotSupported(
                f"catalog {self._name!r} ({self.client.uri}) has no transactions: create {_at(database, name)} without "
                "the option transactional"
            )
        with self._can("creating tables"):
            try:
                if definition.constraints:
                    self._create_with_constraints(table, definition.constraints)
                else:
                    self.client.create_table(table)
            except AlreadyExistsException:
                if not if_not_exists:
                    raise
            except MetaException:
                self._check_database(database)
                raise
        return self.get_table(database, name)

    def _create_with_constraints(self, table: Table, constraints: Sequence[Constraint]) -> None:
        if any(each.kind not in IN_HIVE_2_3 for each in constraints):
            self.client.capabilities.has_constraints(check=True)
        by_kind = hive_constraints(TableName("", table.dbName or "", table.tableName or ""), constraints)
        # Empty lists are sent too: Hive 2.3 refuses null, and ignores the lists that it does not know.
        self.client.api.create_table_with_constraints(table, *by_kind)

    def get_table(self, database: Namespace, name: str) -> TableStatus:
        table = self._reads.table(_at(database, name))
        (acid,) = current_acid(self.client, [table])
        return self._status(table, acid)

    def list_tables(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        db = _flat(database)
        self.client.api.get_database(db)  # Hive lists the tables of a missing database as none.
        structs: list[Table] = []
        for each in self._reads.table_objects(db, pattern):
            structs.append(each)
        acids = current_acid(self.client, structs)
        return [self._status(each, acid) for each, acid in zip(structs, acids, strict=True)]

    def alter_table(self, database: Namespace, name: str, changes: TableChanges) -> TableStatus:
        if self._iceberg and changes.drop_columns and changes.rename_columns:
            raise InvalidInputException(
                "columns of an Iceberg table are dropped and renamed in two changes, not in one"
            )
        if self._iceberg and any(map(goes_beyond_hive, changes.add_columns)):
            raise InvalidInputException(
                f"columns that are added to the Iceberg table {_at(database, name)} can be null and have no default: "
                "rows that are there have no value for them"
            )
        with self._can("altering tables"):
            self.client.change_table(
                _at(database, name), lambda there: changed_table(there, changes), cascade=changes.cascade
            )
        return self.get_table(database, changes.rename_to or name)

    def drop_table(self, database: Namespace, name: str, if_exists: bool = False, purge: bool = False) -> None:
        with self._can("dropping tables"):
            if self._kind(database, name, if_exists) in VIEWS:
                raise InvalidInputException(f"{_at(database, name)} is a view: drop it with drop_view")
            self.client.drop_table(_at(database, name), if_exists, purge=purge)

    # Views

    def create_view(
        self,
        database: Namespace,
        name: str,
        definition: ViewDefinition,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> TableStatus:
        view = hive_view(_flat(database), name, definition, self._owner)
        with self._can("creating views"):
            try:
                self.client.create_table(view)
            except AlreadyExistsException:
                if replace:
                    self._replace_view(database, name, view)
                elif not if_not_exists:
                    raise
            except MetaException:
                self._check_database(database)
                raise
        return self.get_view(database, name)

    def _replace_view(self, database: Namespace, name: str, view: Table) -> None:
        if self._kind(database, name, False) not in VIEWS:
            raise InvalidInputException(f"{_at(database, name)} is a table: a view cannot replace it")
        self.client.alter(_at(database, name), view)

    def get_view(self, database: Namespace, name: str) -> TableStatus:
        status = self.get_table(database, name)
        if not status.is_view:
            raise ObjectNotFound("view", str(_at(database, name)), f"{_at(database, name)} is a table, not a view")
        return status

    def list_views(self, database: Namespace, pattern: str | None = None) -> list[TableStatus]:
        return [each for each in self.list_tables(database, pattern) if each.is_view]

    def drop_view(self, database: Namespace, name: str, if_exists: bool = False) -> None:
        with self._can("dropping views"):
            kind = self._kind(database, name, if_exists)
            if kind is not None and kind not in VIEWS:
                raise InvalidInputException(f"{_at(database, name)} is a table: drop it with drop_table")
            self.client.drop_table(_at(database, name), if_exists)

    # Partitions

    def add_partitions(
        self, database: Namespace, name: str, partitions: Sequence[PartitionDefinition], if_not_exists: bool = False
    ) -> None:
        with self._can("partitions"):
            table = self._partitioned(database, name)
            parts = [hive_partition(table, each) for each in partitions]
            self.client.add_partitions(_at(database, name), parts, if_not_exists)

    def get_partition(self, database: Namespace, name: str, values: PartitionValues) -> PartitionStatus:
        with self._can("partitions"):
            table = self._partitioned(database, name)
            struct = self.client.partition(_at(database, name), partition_values(table, values))
            return partition_status(table, struct)

    def list_partitions(self, database: Namespace, name: str, where: str | None = None) -> Iterator[PartitionStatus]:
        with self._can("partitions"):
            table = self._partitioned(database, name)
            for each in self.client.partitions(_at(database, name), where):
                yield partition_status(table, each)

    def alter_partition(self, database: Namespace, name: str, definition: PartitionDefinition) -> PartitionStatus:
        with self._can("partitions"):
            self.client.forget(_flat(database), name)
            table = self._partitioned(database, name)
            _, part = self._part(table, database, name, definition.values)
            self.client.change_partitions(
                _at(database, name), [part], lambda there: changed_partition(there, definition)
            )
        return self.get_partition(database, name, definition.values)

    def drop_partition(self, database: Namespace, name: str, values: PartitionValues, if_exists: bool = False) -> None:
        with self._can("partitions"):
            table = self._partitioned(database, name)
            self.client.drop_partition(_at(database, name), partition_values(table, values), if_exists)

    # Statistics

    def get_statistics(
        self, database: Namespace, name: str, partition: PartitionValues | None = None
    ) -> TableStatistics:
        table = self._table(database, name)
        types = {each.name.lower(): each.type for each in columns_of(table)}
        with self._can("statistics"):
            if partition is None:
                return table_statistics(table.parameters, self.client.statistics(_at(database, name)), types)
            there, part = self._part(table, database, name, partition)
            statistics = self.client.partition_statistics(_at(database, name), [part])
            return table_statistics(there.parameters, statistics.get(part, {}), types)

    def set_statistics(
        self,
        database: Namespace,
        name: str,
        statistics: TableStatistics,
        partition: PartitionValues | None = None,
    ) -> None:
        table = self.client.fresh_table(_at(database, name))
        types = {(each.name or "").lower(): each.type or "" for each in (table.sd and table.sd.cols) or ()}
        missing = [column for column in statistics.columns if column.lower() not in types]
        if missing:
            raise InvalidInputException(f"{_at(database, name)} has no column {', '.join(missing)}")
        columns = tuple(
            hive_statistics(column.lower(), types[column.lower()], each) for column, each in statistics.columns.items()
        )
        with self._can("statistics"):
            part = None
            if partition is None:
                self.client.change_table(
                    _at(database, name),
                    lambda now: replace(now, parameters=with_counts(now.parameters, statistics)),
                    environment=KEEP_STATISTICS,
                )
            else:
                _, part = self._part(table, database, name, partition)
                self.client.change_partitions(
                    _at(database, name),
                    [part],
                    lambda now: replace(now, parameters=with_counts(now.parameters, statistics)),
                    environment=KEEP_STATISTICS,
                )
            if columns:
                described = ColumnStatisticsDesc(part is None, _flat(database), name, part)
                self.client.set_statistics(ColumnStatistics(described, columns, engine="hive"))

    def _part(self, table: Table, database: Namespace, name: str, given: PartitionValues) -> tuple[Any, str]:
        values = partition_values(table, given)
        return self.client.partition(_at(database, name), values), name_of(table, values)

    # Constraints

    def list_constraints(self, database: Namespace, name: str) -> tuple[Constraint, ...]:
        table, api = self._table(database, name), self.client.api
        db, own, catalog = table.dbName, table.tableName, table.catName or "hive"
        with self._can("constraints"):
            constraints: list[Any] = [
                *((api.get_primary_keys(PrimaryKeysRequest(db, own))).primaryKeys or ()),
                *((api.get_foreign_keys(ForeignKeysRequest(None, None, db, own))).foreignKeys or ()),
            ]
        if self.client.capabilities.has_constraints():
            unique = api.get_unique_constraints(UniqueConstraintsRequest(catalog, db, own))
            not_null = api.get_not_null_constraints(NotNullConstraintsRequest(catalog, db, own))
            defaults = api.get_default_constraints(DefaultConstraintsRequest(catalog, db, own))
            checks = api.get_check_constraints(CheckConstraintsRequest(catalog, db, own))
            constraints += unique.uniqueConstraints or ()
            constraints += not_null.notNullConstraints or ()
            constraints += defaults.defaultConstraints or ()
            constraints += checks.checkConstraints or ()
        return constraints_of(constraints)

    def add_constraint(self, database: Namespace, name: str, constraint: Constraint) -> None:
        if constraint.kind not in IN_HIVE_2_3:
            self.client.capabilities.has_constraints(check=True)
        by_kind, api = hive_constraints(_at(database, name), [constraint]), self.client.api
        with self._can("constraints"):
            match constraint.kind:
                case ConstraintKind.PRIMARY_KEY:
                    api.add_primary_key(AddPrimaryKeyRequest(by_kind.primary_keys))
                case ConstraintKind.FOREIGN_KEY:
                    api.add_foreign_key(AddForeignKeyRequest(by_kind.foreign_keys))
                case ConstraintKind.UNIQUE:
                    api.add_unique_constraint(AddUniqueConstraintRequest(by_kind.unique))
                case ConstraintKind.NOT_NULL:
                    api.add_not_null_constraint(AddNotNullConstraintRequest(by_kind.not_null))
                case ConstraintKind.DEFAULT:
                    api.add_default_constraint(AddDefaultConstraintRequest(by_kind.defaults))
                case ConstraintKind.CHECK:
                    api.add_check_constraint(AddCheckConstraintRequest(by_kind.checks))

    def drop_constraint(self, database: Namespace, name: str, constraint: str, if_exists: bool = False) -> None:
        # Hive's error about a missing constraint does not say what is missing.
        if constraint.lower() not in {(each.name or "").lower() for each in self.list_constraints(database, name)}:
            if if_exists:
                return
            raise ObjectNotFound("constraint", f"{_at(database, name)} {constraint}")
        with self._can("constraints"):
            self.client.api.drop_constraint(DropConstraintRequest(_flat(database), name, constraint))

    # How

    def _check_database(self, database: Namespace) -> None:
        """Raises DatabaseNotFound. Some catalogs report a missing database only in the words of another error."""
        self.client.api.get_database(_flat(database))

    def _status(self, table: Table, acid: Acid | None) -> TableStatus:
        """The status of a table that `_reads` returned. That of a transactional table is as new as its write ids."""
        if acid is not None:
            return table_status(self._name, table, acid)
        return self._statuses.status(table, self._convert)

    def _convert(self, table: Table) -> TableStatus:
        return table_status(self._name, table)

    def _table(self, database: Namespace, name: str) -> Table:
        return self.client.table(_at(database, name))

    def _partitioned(self, database: Namespace, name: str) -> Table:
        table = self._table(database, name)
        if not table.partitionKeys:
            hidden = ": Iceberg keeps track of its partitions itself" if self._iceberg else ""
            raise NotSupported(f"{self._name}.{_at(database, name)} has no partitions of its own{hidden}")
        return table

    def _kind(self, database: Namespace, name: str, if_exists: bool) -> str | None:
        try:
            return (self._table(database, name)).tableType
        except NoSuchObjectException:
            if not if_exists:
                raise
            return None

    @contextmanager
    def _can(self, what: str) -> Iterator[None]:
        """Raises NotSupported where the catalog does not have a method that is called inside."""
        try:
            yield
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise
            raise NotSupported(
                f"catalog {self._name!r} ({self.client.uri}) does not support {what}: {error}"
            ) from error


def _flat(database: Namespace) -> str:
    return ".".join(database)


def _at(database: Namespace, name: str) -> TableName:
    return TableName("", _flat(database), name)
