"""A small metastore in memory: a Handler with a few databases, for tests that need one to talk to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metastored.errors import ApplicationError, MetastoreError, NoSuchObjectException
from metastored.hive.patterns import compile_pattern
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, GetAllFunctionsResponse
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import TableMeta
from metastored.wire.message import Call, Reply, Session

PARTITIONS = 3


class MemoryMetastore:
    """Serves reads of `databases`, a map of database names to table names. A method here is named as in the API."""

    def __init__(self, databases: dict[str, tuple[str, ...]]) -> None:
        self.databases = databases
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.users: list[str | None] = []
        """The user of each call, as set by set_ugi."""

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name == "set_ugi":
            session.user = call.args[0]
            return Reply.of(call.method, call.args[1])
        self.calls.append((call.method.name, call.args))
        self.users.append(session.user)
        function: Callable[..., Any] | None = getattr(self, call.method.name, None)
        if function is None:
            text = f"Invalid method name: '{call.method.name}'"
            return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, text))
        try:
            return Reply.of(call.method, function(*call.args))
        except MetastoreError as error:
            return Reply.raised(call.method, error)

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]

    def get_all_databases(self) -> tuple[str, ...]:
        return tuple(self.databases)

    def get_databases(self, pattern: str | None) -> tuple[str, ...]:
        return tuple(filter(compile_pattern(pattern), self.databases))

    def get_database(self, name: str) -> Database:
        self._tables(name)
        return Database(name=name, description="in memory", locationUri=f"/warehouse/{name}.db")

    def get_all_tables(self, database: str) -> tuple[str, ...]:
        return self._tables(database)

    def get_table(self, database: str, name: str) -> Table:
        if name not in self._tables(database):
            raise NoSuchObjectException(f"{database}.{name} table not found")
        return Table(
            tableName=name,
            dbName=database,
            owner="ann",
            sd=StorageDescriptor(
                cols=tuple(FieldSchema(f"c{i}", "string", None) for i in range(50)),
                location=f"/warehouse/{database}.db/{name}",
            ),
            partitionKeys=(FieldSchema("ds", "string", None),),
            parameters={"comment": f"from {database}"},
            tableType="MANAGED_TABLE",
        )

    def get_table_objects_by_name(self, database: str, names: tuple[str, ...]) -> tuple[Table, ...]:
        return tuple(self.get_table(database, name) for name in names)

    def get_partitions(self, database: str, name: str, limit: int) -> tuple[Partition, ...]:
        sd = self.get_table(database, name).sd
        return tuple(
            Partition(values=(f"{at}",), dbName=database, tableName=name, sd=sd, parameters={})
            for at in range(PARTITIONS)
        )

    def get_table_meta(self, databases: str, tables: str, types: tuple[str, ...] | None) -> tuple[TableMeta, ...]:
        return tuple(
            TableMeta(dbName=database, tableName=table, tableType="MANAGED_TABLE")
            for database in self.get_databases(databases)
            for table in filter(compile_pattern(tables), self.databases[database])
        )

    def get_all_functions(self) -> GetAllFunctionsResponse:
        return GetAllFunctionsResponse(
            functions=tuple(Function(functionName="f", dbName=name, className="F") for name in self.databases)
        )

    def _tables(self, database: str) -> tuple[str, ...]:
        if database not in self.databases:
            raise NoSuchObjectException(f"{database}")
        return self.databases[database]
