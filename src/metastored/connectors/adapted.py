"""Any catalog as a handler: a small interface, `Source`, and the metastore's API in terms of it.

A source has blocking functions and speaks in Hive's structs. It is asked in threads of its own, so that a slow one
delays nobody else. What it cannot do it says with NotSupported; the caller then hears that there is no such method, as
from a metastore that lacks it. It never knows under which local name it is used.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from metastored.errors import (
    ApplicationError,
    Error,
    InvalidOperationException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    NotSupported,
)
from metastored.hive.filters.parser import parse_filter
from metastored.hive.filters.tree import FilterError, predicate
from metastored.hive.generation import Generation
from metastored.hive.names import CatalogNameError, decode_catalog_name, make_part_name, partition_values
from metastored.hive.patterns import compile_pattern
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import AddPartitionsRequest, AddPartitionsResult, Partition
from metastored.wire.generated.statistics import TableStatsRequest, TableStatsResult
from metastored.wire.generated.tables import (
    GetTableRequest,
    GetTableResult,
    GetTablesRequest,
    GetTablesResult,
    TableMeta,
)
from metastored.wire.message import Call, Reply, Session

log = logging.getLogger("metastored.connectors")

THREADS: Final = 8
"""Calls of one source at a time."""
HIVE_CATALOG: Final = "hive"
"""What Hive's own clients call the catalog when they mean none."""


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

    @abstractmethod
    def drop_table(self, db: str, name: str, purge: bool) -> None: ...

    def table_objects(self, db: str, names: Sequence[str]) -> Iterable[Table]:
        """Several tables; those that are missing are left out."""
        for name in names:
            try:
                yield self.table(db, name)
            except NoSuchObjectException:
                continue

    def partitions(self, db: str, name: str) -> Iterable[Partition]:
        raise NotSupported("it has no partitions")

    def partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        raise NotSupported("it has no partitions")

    def add_partitions(self, db: str, name: str, partitions: Sequence[Partition], if_not_exists: bool) -> None:
        raise NotSupported("it has no partitions")

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        raise NotSupported("it has no partitions")

    def drop_partition(self, db: str, name: str, values: Sequence[str]) -> None:
        raise NotSupported("it has no partitions")

    @abstractmethod
    def close(self) -> None: ...


class Adapted:
    """A source as a handler. A function here that is named as a method of the API answers it."""

    def __init__(self, source: Source, threads: int = THREADS) -> None:
        self.source: Final = source
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="metastored-source")

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        function: Callable[..., Any] | None = getattr(self, method.name, None)
        if function is None or method.oneway:
            return Reply(b"\0") if method.oneway else _unknown(call, "there is no such call here")
        try:
            value = await asyncio.get_running_loop().run_in_executor(self._threads, function, *call.args)
            return Reply.of(method, value)
        except MetastoreError as error:
            return _raised(call, error, session)
        except NotSupported as error:
            return _unknown(call, str(error))
        except Error as error:
            return Reply.failed(method, str(error), session.version)
        except Exception as error:
            log.warning("%s failed: %s", method.name, error, exc_info=True)
            return Reply.failed(method, f"{method.name} failed: {type(error).__name__}: {error}", session.version)

    def close(self) -> None:
        """Ends the threads; what they are doing is still finished."""
        self._threads.shutdown()
        self.source.close()

    # The service

    def getVersion(self) -> str:
        return "3.1"

    def set_ugi(self, user: str, groups: Sequence[str]) -> tuple[str, ...]:
        return tuple(groups or ())

    # Databases

    def get_all_databases(self) -> tuple[str, ...]:
        return tuple(self.source.databases())

    def get_databases(self, pattern: str | None) -> tuple[str, ...]:
        return tuple(filter(compile_pattern(_pattern(pattern)), self.source.databases()))

    def get_database(self, name: str) -> Database:
        return self.source.database(_name(name))

    def create_database(self, database: Database) -> None:
        self.source.create_database(database)

    def alter_database(self, name: str, database: Database) -> None:
        self.source.alter_database(_name(name), database)

    def drop_database(self, name: str, delete_data: bool, cascade: bool) -> None:
        db = _name(name)
        self.source.database(db)
        tables = self.source.tables(db)
        if tables and not cascade:
            raise InvalidOperationException(f"Database {db} is not empty. One or more tables exist.")
        for table in tables:
            self.source.drop_table(db, table, False)
        self.source.drop_database(db)

    # Tables

    def get_all_tables(self, db: str) -> tuple[str, ...]:
        try:
            return tuple(self.source.tables(_name(db)))
        except NoSuchObjectException:
            return ()  # As Hive does.

    def get_tables(self, db: str, pattern: str | None) -> tuple[str, ...]:
        return tuple(filter(compile_pattern(pattern), self.get_all_tables(db)))

    def get_tables_by_type(self, db: str, pattern: str | None, type: str | None) -> tuple[str, ...]:
        found = self.source.table_objects(_name(db), self.get_tables(db, pattern))
        return tuple(table.tableName or "" for table in found if not type or table.tableType == type)

    def get_table_meta(
        self, dbs: str | None, pattern: str | None, types: Sequence[str] | None
    ) -> tuple[TableMeta, ...]:
        return tuple(
            TableMeta(db, table.tableName, table.tableType, (table.parameters or {}).get("comment"))
            for db in self.get_databases(dbs)
            for table in self.source.table_objects(db, self.get_tables(db, pattern))
            if not types or table.tableType in types
        )

    def get_table(self, db: str, name: str) -> Table:
        return self.source.table(_name(db), name)

    def get_table_req(self, request: GetTableRequest) -> GetTableResult:
        return GetTableResult(table=self.source.table(_name(request.dbName, request.catName), request.tblName or ""))

    def get_table_objects_by_name(self, db: str, names: Sequence[str] | None) -> tuple[Table, ...]:
        return tuple(self.source.table_objects(_name(db), names or ()))

    def get_table_objects_by_name_req(self, request: GetTablesRequest) -> GetTablesResult:
        db = _name(request.dbName, request.catName)
        return GetTablesResult(tables=tuple(self.source.table_objects(db, request.tblNames or ())))

    def get_fields(self, db: str, name: str) -> tuple[FieldSchema, ...]:
        table = self.get_table(db, name)
        return tuple((table.sd and table.sd.cols) or ())

    def get_schema(self, db: str, name: str) -> tuple[FieldSchema, ...]:
        return (*self.get_fields(db, name), *(self.get_table(db, name).partitionKeys or ()))

    def get_table_statistics_req(self, request: TableStatsRequest) -> TableStatsResult:
        """None of single columns; those of the whole table are among its parameters."""
        return TableStatsResult(tableStats=())

    def create_table(self, table: Table) -> None:
        self.source.create_table(table)

    def create_table_with_environment_context(self, table: Table, context: EnvironmentContext | None) -> None:
        self.source.create_table(table)

    def alter_table(self, db: str, name: str, table: Table) -> None:
        self.source.alter_table(_name(db), name, table)

    def alter_table_with_environment_context(
        self, db: str, name: str, table: Table, context: EnvironmentContext | None
    ) -> None:
        self.source.alter_table(_name(db), name, table)

    def drop_table(self, db: str, name: str, delete_data: bool) -> None:
        self.source.drop_table(_name(db), name, False)

    def drop_table_with_environment_context(
        self, db: str, name: str, delete_data: bool, context: EnvironmentContext | None
    ) -> None:
        purge = ((context and context.properties) or {}).get("ifPurge", "").lower() == "true"
        self.source.drop_table(_name(db), name, purge)

    # Partitions

    def get_partitions(self, db: str, name: str, limit: int) -> tuple[Partition, ...]:
        return _first(self.source.partitions(_name(db), name), limit)

    def get_partition_names(self, db: str, name: str, limit: int) -> tuple[str, ...]:
        keys = self._keys(db, name)
        found = (make_part_name(keys, part.values or ()) for part in self.source.partitions(_name(db), name))
        return _first(sorted(found), limit)

    def get_partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        return self.source.partition(_name(db), name, tuple(values))

    def get_partition_by_name(self, db: str, name: str, partition: str) -> Partition:
        return self.source.partition(_name(db), name, partition_values(partition, self._keys(db, name)))

    def get_partitions_by_names(self, db: str, name: str, names: Sequence[str]) -> tuple[Partition, ...]:
        keys = self._keys(db, name)
        found = []
        for each in names:
            try:
                found.append(self.source.partition(_name(db), name, partition_values(each, keys)))
            except NoSuchObjectException:
                continue
        return tuple(found)

    def get_partitions_by_filter(self, db: str, name: str, where: str, limit: int) -> tuple[Partition, ...]:
        table = self.get_table(db, name)
        keys = tuple((key.name or "", key.type or "") for key in table.partitionKeys or ())
        try:
            holds = predicate(parse_filter(where, Generation.HIVE_3_1), keys, Generation.HIVE_3_1)
        except FilterError as error:
            raise MetaException(f"the filter {where!r} over the partitions of {db}.{name}: {error}") from error
        return _first((each for each in self.source.partitions(_name(db), name) if holds(each.values or ())), limit)

    def add_partitions_req(self, request: AddPartitionsRequest) -> AddPartitionsResult:
        db = _name(request.dbName, request.catName)
        parts = tuple(request.parts or ())
        self.source.add_partitions(db, request.tblName or "", parts, bool(request.ifNotExists))
        return AddPartitionsResult(partitions=parts if request.needResult else None)

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        self.source.alter_partition(_name(db), name, partition)

    def drop_partition(self, db: str, name: str, values: Sequence[str], delete_data: bool) -> bool:
        self.source.drop_partition(_name(db), name, tuple(values))
        return True

    def _keys(self, db: str, name: str) -> tuple[str, ...]:
        return tuple(key.name or "" for key in self.get_table(db, name).partitionKeys or ())


def _first(found: Iterable[Any], limit: int) -> tuple[Any, ...]:
    each = tuple(found)
    return each if limit < 0 else each[:limit]


def _name(text: str | None, catalog: str | None = None) -> str:
    """A database's name. Where Hive's clients put a catalog before it, it is the outer part of a nested name."""
    try:
        named = decode_catalog_name(text or "")
    except CatalogNameError as error:
        raise MetaException(str(error)) from error
    outer, db = catalog or named.catalog, named.database or ""
    return db if outer in (None, "", HIVE_CATALOG) else f"{outer}.{db}"


def _pattern(text: str | None) -> str | None:
    return text if text is None or not text.startswith("@") else decode_catalog_name(text).database


def _unknown(call: Call, why: str) -> Reply:
    text = f"Invalid method name: '{call.method.name}' ({why})"
    return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, text))


def _raised(call: Call, error: MetastoreError, session: Session) -> Reply:
    """The error itself where the method declares it, else its text in one that it does."""
    if type(error).__name__ in call.method.throws_in(session.version):
        return Reply.raised(call.method, error, session.version)
    return Reply.failed(call.method, str(error), session.version)
