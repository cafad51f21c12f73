"""Executes SHOW and DESCRIBE, as calls of the metastore under the caller's own session. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metastored.client._async.views import names_of_kind
from metastored.client.statements import descriptions, formatted
from metastored.client.statements.constraints import Constraints
from metastored.client.statements.create_table import create_database_statement, create_statement
from metastored.client.statements.values import Result, database_of, pattern_of, rows_of, table_of
from metastored.errors import ApplicationError, InvalidOperationException, NotSupported
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.hive.patterns import compile_pattern
from metastored.model import kinds
from metastored.model.names import DatabaseName, TableName
from metastored.model.partitions import keys_of, values_of
from metastored.statements import shows as s
from metastored.wire.generated.catalogs import GetCatalogRequest
from metastored.wire.generated.common import CompactionType, Table
from metastored.wire.generated.compaction import ShowCompactRequest
from metastored.wire.generated.constraints import AllTableConstraintsRequest
from metastored.wire.generated.locks import LockState, LockType, ShowLocksRequest
from metastored.wire.generated.transactions import TxnState

if TYPE_CHECKING:
    from metastored.client._async.operations import AsyncOperations

LOCKS: Final = (
    *("lockid", "database", "table", "partition", "lock_state", "blocked_by", "lock_type", "transaction_id"),
    *("last_heartbeat", "acquired_at", "user", "hostname", "agent_info"),
)
TRANSACTIONS: Final = ("txnid", "state", "startedtime", "lastheartbeattime", "user", "host")
COMPACTIONS: Final = (
    *("compactionid", "dbname", "tabname", "partname", "type", "state", "workerid", "enqueuetime", "starttime"),
    *("duration", "hadoopjobid", "errormessage"),
)


async def execute_show(client: AsyncOperations, current: DatabaseName, statement: s.ShowStatement) -> Result:
    """Executes one statement. Raises what the metastore raises."""
    match statement:
        case s.ShowCatalogs(like):
            try:
                names = tuple((await client.api.get_catalogs()).names or ())
            except NotSupported:
                names = (DEFAULT_CATALOG,)  # Metastores before Hive 3 have one.
            matches = compile_pattern(pattern_of(like))
            return rows_of("catalog_name", sorted(name for name in names if matches(name)))
        case s.ShowDatabases(like):
            databases = await client.databases(DatabaseName(current.catalog, pattern_of(like)).field)
            return rows_of("database_name", databases)
        case s.ShowTables(name, like):
            database = await _existing(client, database_of(name, current))
            return rows_of("tab_name", await client.api.get_tables(database.field, pattern_of(like)))
        case s.ShowViews(name, like):
            database = await _existing(client, database_of(name, current))
            return rows_of("tab_name", await names_of_kind(client, database, pattern_of(like), kinds.VIEW))
        case s.ShowFunctions(name, like):
            database = await _existing(client, database_of(name, current))
            functions = await client.api.get_functions(database.field, pattern_of(like))
            return rows_of("tab_name", [f"{database}.{each}" for each in sorted(functions)])
        case s.ShowPartitions():
            return await _partitions(client, table_of(statement.name, current), statement)
        case s.ShowTableExtended():
            return await _extended(client, current, statement)
        case s.ShowLocks() | s.ShowTransactions() | s.ShowCompactions():
            return await _activity(client, current, statement)
        case s.DescribeCatalog(name) as catalog:
            return descriptions.described_catalog(
                (await client.api.get_catalog(GetCatalogRequest(catalog.name))).catalog
            )
        case s.ShowCreateDatabase(name):
            target = database_of(name, current)
            client.forget(target.database)
            text = create_database_statement(await client.api.get_database(target.field))
            return rows_of("createdb_stmt", [text])
        case s.DescribeDatabase(name, extended):
            target = database_of(name, current)
            client.forget(target.database)
            return descriptions.described_database(await client.api.get_database(target.field), extended)
        case s.DescribeFunction(name, extended):
            target_name = table_of(name, current)
            function = await client.api.get_function(target_name.database_field, target_name.table)
            return descriptions.described_function(function, extended)
        case _:
            return await _of_table(client, current, statement)


async def _of_table(client: AsyncOperations, current: DatabaseName, statement: s.ShowStatement) -> Result:
    match statement:
        case s.DescribeTable(name, detail, partition, column):
            target = table_of(name, current)
            table = await client.fresh_table(target)
            if column is not None:
                return descriptions.described_column(target, table, column)
            if partition:
                values = values_of(str(target), keys_of(table), dict(partition))
                struct = await client.partition(target, values)
                shown = formatted.formatted_partition if detail == "FORMATTED" else formatted.extended_partition
                return shown(table, struct)
            return (
                formatted.formatted_table(table)
                if detail == "FORMATTED"
                else (descriptions.described_table(table, detail))
            )
        case s.ShowColumns(name, like):
            table = await client.fresh_table(table_of(name, current))
            matches = compile_pattern(pattern_of(like))
            columns = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
            return rows_of("field", [each.name for each in columns if matches(each.name or "")])
        case s.ShowTblproperties(name, key):
            table = await client.fresh_table(table_of(name, current))
            return descriptions.listed_properties(table, key)
        case s.ShowCreateTable(name):
            target = table_of(name, current)
            table = await client.fresh_table(target)
            text = create_statement(table, await _constraints(client, target, table))
            return rows_of("createtab_stmt", [text])
    raise AssertionError(statement)


async def _existing(client: AsyncOperations, name: DatabaseName) -> DatabaseName:
    """The name of a database. Raises DatabaseNotFound: the metastore lists nothing of a missing one."""
    await client.api.get_database(name.field)
    return name


async def _partitions(client: AsyncOperations, name: TableName, statement: s.ShowPartitions) -> Result:
    keys = keys_of(await client.fresh_table(name))
    if not keys:
        raise InvalidOperationException(f"{name} is not partitioned")
    names = None
    if statement.partition:
        given = {normalize(key): value for key, value in statement.partition}
        unknown = [key for key in given if key not in keys]
        if unknown:
            raise InvalidOperationException(
                f"{name} has no partition key {unknown[0]}; its partition keys are {', '.join(keys) or 'none'}"
            )
        asked = tuple(given.get(key, "") for key in keys)
        names = await client.api.get_partition_names_ps(name.database_field, name.table, asked, -1)
    if statement.where is not None or names is None:
        chosen = await client.partition_names(name, statement.where)
        names = chosen if names is None else tuple(each for each in chosen if each in set(names))
    return rows_of("partition", names)


async def _extended(client: AsyncOperations, current: DatabaseName, statement: s.ShowTableExtended) -> Result:
    database = await _existing(client, database_of(statement.database, current))
    names = await client.api.get_tables(database.field, statement.like)
    if not statement.partition:
        tables = await client.tables_by_name(database, names) if names else ()
        return formatted.extended_tables((each, None) for each in tables)
    if len(names) != 1:
        raise InvalidOperationException(f"a partition is one of one table, and {statement.like!r} names {len(names)}")
    name = database.table(names[0])
    table = await client.fresh_table(name)
    values = values_of(str(name), keys_of(table), dict(statement.partition))
    return formatted.extended_tables([(table, await client.partition(name, values))])


async def _constraints(client: AsyncOperations, name: TableName, table: Table) -> Constraints:
    """All constraints of a table; none where the server has no call for all of them (before Hive 4)."""
    if kinds.is_view(table):
        return Constraints()
    request = AllTableConstraintsRequest(name.database, name.table, table.catName or DEFAULT_CATALOG)
    try:
        response = (await client.api.get_all_table_constraints(request)).allTableConstraints
    except (NotSupported, ApplicationError):
        return Constraints()
    if response is None:
        return Constraints()
    return Constraints(
        response.primaryKeys or (),
        response.foreignKeys or (),
        response.uniqueConstraints or (),
        response.notNullConstraints or (),
        response.defaultConstraints or (),
        response.checkConstraints or (),
    )


async def _activity(
    client: AsyncOperations, current: DatabaseName, statement: s.ShowLocks | s.ShowTransactions | s.ShowCompactions
) -> Result:
    if isinstance(statement, s.ShowLocks):
        name = None if statement.name is None else table_of(statement.name, current)
        request = ShowLocksRequest(name.database, name.table) if name is not None else ShowLocksRequest()
        locks = (await client.api.show_locks(request)).locks or ()
        return Result(
            LOCKS,
            tuple(
                (
                    *(_id(each.lockid, each.lockIdInternal), each.dbname, each.tablename, each.partname),
                    *(LockState.NAMES.get(each.state or 0), _id(each.blockedByExtId, each.blockedByIntId)),
                    *(LockType.NAMES.get(each.type or 0), _text(each.txnid), _text(each.lastheartbeat)),
                    *(_text(each.acquiredat), each.user, each.hostname, each.agentInfo),
                )
                for each in sorted(locks, key=lambda lock: (lock.lockid or 0, lock.lockIdInternal or 0))
            ),
        )
    if isinstance(statement, s.ShowTransactions):
        transactions = (await client.api.get_open_txns_info()).open_txns or ()
        return Result(
            TRANSACTIONS,
            tuple(
                (
                    *(_text(each.id), TxnState.NAMES.get(each.state or 0), _text(each.startedTime)),
                    *(_text(each.lastHeartbeatTime), each.user, each.hostname),
                )
                for each in transactions
            ),
        )
    compactions = (await client.api.show_compact(ShowCompactRequest())).compacts or ()
    return Result(
        COMPACTIONS,
        tuple(
            (
                *(_text(each.id), each.dbname, each.tablename, each.partitionname),
                *(CompactionType.NAMES.get(each.type or 0), each.state, each.workerid, _text(each.enqueueTime)),
                *(_text(each.start), _duration(each.start, each.endTime), each.hadoopJobId, each.errorMessage),
            )
            for each in compactions
        ),
    )


def _id(external: int | None, internal: int | None) -> str | None:
    """A lock as Hive names it: the request and the number of the part within it."""
    return f"{external}.{internal}" if external and internal else _text(external)


def _text(number: int | None) -> str | None:
    return str(number) if number else None


def _duration(start: int | None, end: int | None) -> str | None:
    return str(end - start) if start and end and end >= start else None
