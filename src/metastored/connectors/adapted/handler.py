"""Any catalog as a handler: a small interface, `Source`, and the metastore's API in terms of it.

A source has blocking functions and speaks in Hive's structs. It is asked in threads of its own, so that a slow one
delays nobody else. What it cannot do it says with NotSupported; the caller then hears that there is no such method, as
from a metastore that lacks it. It never knows under which local name it is used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from metastored.connectors.adapted.partitions import PartitionCalls, database_name
from metastored.connectors.adapted.sources import Source as Source
from metastored.connectors.adapted.statistics import StatisticsCalls
from metastored.connectors.failures import Unreachable, unreachable
from metastored.errors import (
    ApplicationError,
    Error,
    InvalidObjectException,
    InvalidOperationException,
    MetastoreError,
    NoSuchObjectException,
    NotSupported,
    UnknownDBException,
    UnknownPartitionException,
    UnknownTableException,
)
from metastored.hive.names import decode_catalog_name
from metastored.hive.patterns import compile_pattern
from metastored.model.conditions import EXPECTED_KEY, EXPECTED_VALUE
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, Table
from metastored.wire.generated.databases import Database, GetDatabaseRequest
from metastored.wire.generated.tables import (
    GetFieldsRequest,
    GetFieldsResponse,
    GetSchemaRequest,
    GetSchemaResponse,
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


class Adapted(PartitionCalls, StatisticsCalls):
    """A source as a handler. A function here that is named as a method of the API answers it."""

    def __init__(self, source: Source, threads: int = THREADS) -> None:
        self.source = source
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="metastored-source")

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        function: Callable[..., Any] | None = getattr(self, method.name, None)
        if function is None or method.oneway:
            return Reply(b"\0") if method.oneway else _unknown(call, "there is no such call here")
        try:
            value = await asyncio.get_running_loop().run_in_executor(self._threads, function, *call.args)
            return Reply.of(method, value)
        except Unreachable as error:
            return unreachable(method, error, session.version)
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
        return self.source.database(database_name(name))

    def get_database_req(self, request: GetDatabaseRequest) -> Database:
        return self.source.database(database_name(request.name, request.catalogName))

    def create_database(self, database: Database) -> None:
        self.source.create_database(database)

    def alter_database(self, name: str, database: Database) -> None:
        self.source.alter_database(database_name(name), database)

    def drop_database(self, name: str, delete_data: bool, cascade: bool) -> None:
        db = database_name(name)
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
            return tuple(self.source.tables(database_name(db)))
        except NoSuchObjectException:
            return ()  # As Hive does.

    def get_tables(self, db: str, pattern: str | None) -> tuple[str, ...]:
        return tuple(filter(compile_pattern(pattern), self.get_all_tables(db)))

    def get_tables_by_type(self, db: str, pattern: str | None, type: str | None) -> tuple[str, ...]:
        tables = self.source.table_objects(database_name(db), self.get_tables(db, pattern))
        return tuple(table.tableName or "" for table in tables if not type or table.tableType == type)

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
        return self.source.table(database_name(db), name)

    def get_table_req(self, request: GetTableRequest) -> GetTableResult:
        return GetTableResult(
            table=self.source.table(database_name(request.dbName, request.catName), request.tblName or "")
        )

    def get_table_objects_by_name(self, db: str, names: Sequence[str] | None) -> tuple[Table, ...]:
        return tuple(self.source.table_objects(database_name(db), names or ()))

    def get_table_objects_by_name_req(self, request: GetTablesRequest) -> GetTablesResult:
        db = database_name(request.dbName, request.catName)
        return GetTablesResult(tables=tuple(self.source.table_objects(db, request.tblNames or ())))

    def get_fields(self, db: str, name: str) -> tuple[FieldSchema, ...]:
        table = self.get_table(db, name)
        return tuple((table.sd and table.sd.cols) or ())

    def get_schema(self, db: str, name: str) -> tuple[FieldSchema, ...]:
        return (*self.get_fields(db, name), *(self.get_table(db, name).partitionKeys or ()))

    def get_fields_with_environment_context(
        self, db: str, name: str, context: EnvironmentContext | None
    ) -> tuple[FieldSchema, ...]:
        return self.get_fields(db, name)

    def get_schema_with_environment_context(
        self, db: str, name: str, context: EnvironmentContext | None
    ) -> tuple[FieldSchema, ...]:
        return self.get_schema(db, name)

    def get_fields_req(self, request: GetFieldsRequest) -> GetFieldsResponse:
        return GetFieldsResponse(self.get_fields(database_name(request.dbName, request.catName), request.tblName or ""))

    def get_schema_req(self, request: GetSchemaRequest) -> GetSchemaResponse:
        return GetSchemaResponse(self.get_schema(database_name(request.dbName, request.catName), request.tblName or ""))

    def create_table(self, table: Table) -> None:
        self.source.create_table(table)

    def create_table_with_environment_context(self, table: Table, context: EnvironmentContext | None) -> None:
        self.source.create_table(table)

    def alter_table(self, db: str, name: str, table: Table) -> None:
        self.source.alter_table(database_name(db), name, table)

    def alter_table_with_environment_context(
        self, db: str, name: str, table: Table, context: EnvironmentContext | None
    ) -> None:
        given = (context and context.properties) or {}
        key, value = given.get(EXPECTED_KEY), given.get(EXPECTED_VALUE)
        if key is None:
            self.source.alter_table(database_name(db), name, table)
        else:
            self.source.alter_table_if(database_name(db), name, table, key, value)

    def drop_table(self, db: str, name: str, delete_data: bool) -> None:
        self.source.drop_table(database_name(db), name, False)

    def drop_table_with_environment_context(
        self, db: str, name: str, delete_data: bool, context: EnvironmentContext | None
    ) -> None:
        purge = ((context and context.properties) or {}).get("ifPurge", "").lower() == "true"
        self.source.drop_table(database_name(db), name, purge)


def _pattern(text: str | None) -> str | None:
    return text if text is None or not text.startswith("@") else decode_catalog_name(text).database


def _unknown(call: Call, why: str) -> Reply:
    text = f"Invalid method name: '{call.method.name}' ({why})"
    return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, text))


EQUIVALENTS: Final[dict[str, tuple[type[MetastoreError], ...]]] = {
    "NoSuchObjectException": (UnknownTableException, UnknownDBException, UnknownPartitionException),
    "InvalidObjectException": (InvalidOperationException,),
    "InvalidOperationException": (InvalidObjectException,),
}
"""What a method declares in place of an error, where it does not declare the error itself."""


def _raised(call: Call, error: MetastoreError, session: Session) -> Reply:
    """The error itself where the method declares it, else one that means the same, else its text in a MetaException."""
    declared = call.method.throws_in(session.version)
    name = type(error).__name__
    if name in declared:
        return Reply.raised(call.method, error, session.version)
    for other in EQUIVALENTS.get(name, ()):
        if other.__name__ in declared:
            return Reply.raised(call.method, other(str(error)), session.version)
    return Reply.failed(call.method, str(error), session.version)
