"""Databases, tables, partitions, statistics and locks of a metastore: the part of a client that changes no rows.

Every other method of the metastore is in `api`.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from metastored.client._async.caller import AsyncCaller
from metastored.client._async.capabilities import AsyncCapabilities
from metastored.client._async.leases import AsyncLease, lease_component
from metastored.client._async.locks import HEARTBEAT, AsyncLock, AsyncTransaction, components, transaction_state
from metastored.client._backend import aio as io
from metastored.client.cache import CacheStats, MetadataCache
from metastored.client.endpoints import Identity
from metastored.client.hints import unconnected
from metastored.client.pooling import PoolStats
from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    ConfigError,
    ConnectError,
    DatabaseAlreadyExists,
    Error,
    MetaException,
    NoSuchObjectException,
    NotSupported,
    ObjectNotFound,
)
from metastored.filters import refusals
from metastored.filters.where import Condition, FilterFault, PartitionPredicate, bind, parse, pushed
from metastored.hive.names import partition_values
from metastored.model import makers
from metastored.model.columns import arrow_schema
from metastored.model.conditions import having
from metastored.model.names import DatabaseName, Name, TableName, database_name, table_name
from metastored.model.partitions import PartitionValues, keys_of, listed, values_of
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsObj,
    EnvironmentContext,
    PrincipalType,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import AddPartitionsRequest, Partition
from metastored.wire.generated.statistics import PartitionsStatsRequest, SetPartitionsStatsRequest, TableStatsRequest
from metastored.wire.generated.tables import (
    ClientCapabilities,
    ClientCapability,
    GetTableRequest,
    GetTablesRequest,
)
from metastored.wire.generated.transactions import TxnType
from metastored.wire.structs import replace

if TYPE_CHECKING:
    import pyarrow

BATCH: Final = 1000
"""Maximum number of objects that are requested or sent in one call."""
CAPABILITIES: Final = ClientCapabilities(values=(ClientCapability.INSERT_ONLY_TABLES,))
"""What this client supports: servers hide insert-only tables from clients that do not send this."""


class AsyncMetadata:
    """The metadata of a metastore. Close it, or use it in `async with`."""

    def __init__(self, api: AsyncCaller, inside: io.InProcess | None, identity: Identity, batch: int) -> None:
        self.api = api
        """Every method of the metastore, with types, named as in Thrift."""
        self.capabilities: Final = AsyncCapabilities(api)
        """What this server supports."""
        self._inside = inside
        self._identity = identity
        self._batch = batch

    def __repr__(self) -> str:
        user = f", user={self._identity.user!r}" if self._identity.user else ""
        return f"<{type(self).__name__} of {self.uri}{user}>"

    async def __aenter__(self) -> Self:
        if self.api.pool is not None and self.api.pool.settings.min_idle:
            deadline = io.Deadline(self.api.timeout)
            try:
                await self.api.pool.start(self._identity, deadline)
            except ConnectError as error:
                raise ConnectError(unconnected(self.uri, str(error))) from None
            except Error as error:
                raise error.with_traceback(None) from None
            finally:
                deadline.cancel()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections: calls in progress fail, and later calls too."""
        await self.api.close()

    @property
    def uri(self) -> str:
        """The addresses of the metastore, or "this process"."""
        return self.api.uri

    @property
    def user(self) -> str | None:
        """The user that the connections name; None if they name none."""
        return self._identity.user

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the user that the connections name."""
        return self._identity.groups

    @property
    def cache(self) -> MetadataCache:
        """The cache of this client: `stats()`, `clear()`. Raises ConfigError if there is none."""
        if self.api.cache is None:
            raise ConfigError("this client has no cache: connect with cache=True")
        return self.api.cache

    def pool_stats(self) -> PoolStats | None:
        """Statistics of the connections; None for a client of a handler in this process."""
        return None if self.api.pool is None else self.api.pool.stats()

    def cache_stats(self) -> CacheStats | None:
        """Statistics of the cache; None without a cache."""
        return None if self.api.cache is None else self.api.cache.stats()

    def forget(self, db: str, table: str = "") -> None:
        """Invalidates the cache entries of a table, or of a database and everything in it."""
        if self.api.cache is not None:
            self.api.cache.changed(((db.lower(), table.lower()),))

    def within(self, seconds: float) -> Self:
        """The same client with another timeout for each call."""
        if seconds <= 0:
            raise ConfigError(f"a timeout of {seconds} s leaves no time")
        api, client = copy.copy(self.api), copy.copy(self)
        api.timeout = seconds
        client.api = api
        return client

    def uncopied(self) -> Self:
        """The same client for a reader of many objects: cached results are shared with other callers, not copied.

        The maps in them must not be changed. The same object is returned until its cache entry is removed.
        """
        api, client = copy.copy(self.api), copy.copy(self)
        api.copies = False
        client.api = api
        return client

    def with_unread_columns(self) -> Self:
        """The same client for a reader of many tables that needs the columns of few.

        In a long list of tables, `sd.cols` may be an `UnreadColumns` of `metastored.wire.replies.unread`.
        """
        api, client = copy.copy(self.api), copy.copy(self)
        api.reads_columns = False
        client.api = api
        return client

    # Databases

    async def databases(self, pattern: str | None = None) -> tuple[str, ...]:
        """The names of databases; in `pattern`, `*` matches anything and `|` separates alternatives."""
        return await (self.api.get_all_databases() if pattern is None else self.api.get_databases(pattern))

    async def database(self, name: str) -> Database:
        """A database, by `db` or `catalog.db`. Raises DatabaseNotFound."""
        return await self.api.get_database(database_name(name).field)

    async def create_database(self, database: Database | str, if_not_exists: bool = False) -> None:
        """Creates a database, by its name or from `metastored.database`. Raises DatabaseAlreadyExists.

        Its owner is the user of this client, unless it names another: metastores before Hive 4 store none by
        themselves.
        """
        sent = makers.database(database) if isinstance(database, str) else database
        if sent.ownerName is None and self.user is not None:
            sent = replace(sent, ownerName=self.user, ownerType=PrincipalType.USER)
        try:
            await self.api.create_database(sent)
        except DatabaseAlreadyExists:
            if not if_not_exists:
                raise

    async def drop_database(
        self, name: str, if_exists: bool = False, cascade: bool = False, delete_data: bool = True
    ) -> None:
        """Drops a database; with `cascade`, its tables too. Raises DatabaseNotFound, InvalidOperationException."""
        field = database_name(name).field
        if if_exists:
            # Hive before 4 replies to a drop of a missing database with a NullPointerException.
            try:
                await self.api.get_database(field)
            except NoSuchObjectException:
                return
        await self.api.drop_database(field, delete_data, cascade)

    # Tables

    async def tables(self, db: str, pattern: str | None = None) -> tuple[str, ...]:
        """The names of tables and views in a database."""
        field = database_name(db).field
        return await (self.api.get_all_tables(field) if pattern is None else self.api.get_tables(field, pattern))

    async def table(self, name: Name) -> Table:
        """A table or view, by `db.t` or `catalog.db.t`. Raises TableNotFound."""
        wanted = table_name(name)
        request = GetTableRequest(wanted.database, wanted.table, CAPABILITIES, wanted.catalog_field)
        result = await self.newest("get_table_req", (request,), "get_table", (wanted.database_field, wanted.table))
        return result if isinstance(result, Table) else _given(result.table, "table")

    async def fresh_table(self, name: Name) -> Table:
        """A table from the server, not from the cache. Raises TableNotFound."""
        wanted = table_name(name)
        self.forget(wanted.database, wanted.table)
        return await self.table(wanted)

    async def table_exists(self, name: Name) -> bool:
        """Whether a table or view of this name exists."""
        try:
            await self.table(name)
        except NoSuchObjectException:
            return False
        return True

    async def table_objects(self, db: str, pattern: str | None = None) -> AsyncIterator[Table]:
        """The tables of a database, in batches: one call for their names and one for each batch."""
        names = await self.tables(db, pattern)
        for at in range(0, len(names), self._batch):
            for table in await self.tables_by_name(db, names[at : at + self._batch]):
                yield table

    async def tables_by_name(self, db: str | DatabaseName, names: tuple[str, ...]) -> Sequence[Table]:
        """Those of the named tables that exist, in one call if the server supports it."""
        database = database_name(db)
        request = GetTablesRequest(database.database, names, CAPABILITIES, database.catalog_field)
        try:
            structs = await self.newest(
                "get_table_objects_by_name_req",
                (request,),
                "get_table_objects_by_name",
                (database.field, names),
            )
        except NotSupported:
            structs = []
            for name in names:
                try:
                    structs.append(await self.table(database.table(name)))
                except NoSuchObjectException:
                    continue  # It was dropped since its name was listed.
            return structs
        tables: Sequence[Table] = (
            structs if isinstance(structs, tuple) and not hasattr(structs, "tables") else structs.tables
        )
        return tables or ()

    async def create_table(self, table: Table, if_not_exists: bool = False) -> None:
        """Creates a table or view, such as `metastored.table(…)`. Raises TableAlreadyExists."""
        try:
            await self.api.create_table(table)
        except AlreadyExistsException:
            if not if_not_exists:
                raise

    async def alter(
        self,
        name: Name,
        table: Table,
        cascade: bool = False,
        environment: dict[str, str] | None = None,
        expected: tuple[str, str] | None = None,
    ) -> None:
        """Replaces a table, including its name; with `cascade`, its partitions get the new columns.

        `environment` are settings of this call, such as `{"DO_NOT_UPDATE_STATS": "true"}`. `expected=("version", "7")`:
        only if the table has this parameter with this value at that moment; raises MetaException if it has not. Hive
        2.3.10 and 4 have this condition too; earlier ones, such as 3.1.3, ignore it.
        """
        wanted = table_name(name)
        context = {**(environment or {}), **({"CASCADE": "true"} if cascade else {}), **having(expected)}
        await self.api.alter_table_with_environment_context(
            wanted.database_field, wanted.table, table, EnvironmentContext(properties=context) if context else None
        )

    async def arrow_schema(self, name: Name) -> pyarrow.Schema:
        """The columns of a table as an Arrow schema, partition keys last. Needs the extra `arrow`."""
        return arrow_schema(await self.table(name))

    async def drop_table(
        self, name: Name, if_exists: bool = False, delete_data: bool = True, purge: bool = False
    ) -> None:
        """Drops a table or view, and with `delete_data` the data of a managed table; `purge` skips the trash."""
        wanted = table_name(name)
        context = EnvironmentContext(properties={"ifPurge": "TRUE"}) if purge else None
        try:
            await self.api.drop_table_with_environment_context(
                wanted.database_field, wanted.table, delete_data, context
            )
        except NoSuchObjectException:
            if not if_exists:
                raise

    # Partitions

    async def partition_names(self, name: Name, where: str | None = None) -> tuple[str, ...]:
        """The names of partitions, `ds=1/h=2`, those for which `where` holds."""
        wanted = table_name(name)
        if where is None:
            return await self.api.get_partition_names(wanted.database_field, wanted.table, -1)
        holds, keys = await self._filter(wanted, where)
        names = await self.api.get_partition_names(wanted.database_field, wanted.table, -1)
        return tuple(each for each in names if holds(partition_values(each, keys)))

    async def partitions(self, name: Name, where: str | None = None) -> AsyncIterator[Partition]:
        """The partitions, in batches. `where` is a condition over partition keys: `ds >= '2024-01-01' and not b`.

        What the server can evaluate is sent to it; the client evaluates the rest. Raises MetaException, with the
        position, for a filter that cannot be read or does not fit the keys.
        """
        wanted = table_name(name)
        if where is not None:
            few = await self._few_by_filter(wanted, where)
            if few is not None:
                for partition in few:
                    yield partition
                return
        if self.capabilities.lacks("get_partitions_by_names"):
            async for partition in self._all_and_filter(wanted, where):
                yield partition
            return
        names = await self.partition_names(wanted, where)
        for at in range(0, len(names), self._batch):
            batch = names[at : at + self._batch]
            try:
                batch_of_partitions = await self.api.get_partitions_by_names(wanted.database_field, wanted.table, batch)
            except ApplicationError as error:
                if not self._unknown("get_partitions_by_names", error) or at:
                    raise
                async for partition in self._all_and_filter(wanted, where):
                    yield partition
                return
            for partition in batch_of_partitions:
                yield partition

    async def partition(self, name: Name, values: PartitionValues) -> Partition:
        """A partition by its values: `("2024-01-01", "1")`, `{"ds": "2024-01-01", "h": 1}` or `"ds=2024-01-01/h=1"`.

        Raises ObjectNotFound, and InvalidInputException if the values do not fit the partition keys of the table.
        """
        wanted = table_name(name)
        asked = await self._values(wanted, values)
        if not self.capabilities.lacks("get_partition"):
            try:
                return await self.api.get_partition(wanted.database_field, wanted.table, asked)
            except ApplicationError as error:
                if not self._unknown("get_partition", error):
                    raise
        async for partition in self._all_and_filter(wanted, None):
            if partition.values == asked:
                return partition
        raise ObjectNotFound("partition", f"{wanted} ({', '.join(asked)})")

    async def add_partitions(
        self, name: Name, partitions: Iterable[Partition | PartitionValues], if_not_exists: bool = False
    ) -> int:
        """Adds partitions in batches, each complete or not at all. Returns how many were sent.

        Each is a struct (`metastored.partition`), or only its values: a list, a dict or a name. A partition from values
        gets the columns of the table and the default directory.
        """
        wanted, sent = table_name(name), 0
        parts = await self._made(wanted, partitions)
        for at in range(0, len(parts), self._batch):
            batch = tuple(parts[at : at + self._batch])
            request = AddPartitionsRequest(
                wanted.database, wanted.table, batch, if_not_exists, False, wanted.catalog_field
            )
            await self.api.add_partitions_req(request)
            sent += len(batch)
        return sent

    async def drop_partition(
        self, name: Name, values: PartitionValues, if_exists: bool = False, delete_data: bool = True
    ) -> None:
        """Drops a partition, by values as in `partition`, and with `delete_data` the data of a managed table."""
        wanted = table_name(name)
        asked = await self._values(wanted, values)
        try:
            await self.api.drop_partition(wanted.database_field, wanted.table, asked, delete_data)
        except NoSuchObjectException:
            if not if_exists:
                raise

    # Statistics

    async def statistics(self, name: Name, columns: Iterable[str] | None = None) -> dict[str, ColumnStatisticsObj]:
        """The statistics of the columns of a table, by column. Columns without statistics are omitted."""
        wanted = table_name(name)
        asked = tuple(columns) if columns is not None else await self._columns(wanted)
        request = TableStatsRequest(wanted.database, wanted.table, asked, wanted.catalog_field, engine="hive")
        response = await self.api.get_table_statistics_req(request)
        return {each.colName or "": each for each in response.tableStats or ()}

    async def partition_statistics(
        self, name: Name, partitions: Iterable[str], columns: Iterable[str] | None = None
    ) -> dict[str, dict[str, ColumnStatisticsObj]]:
        """The statistics of columns of partitions, by the partition's name (`ds=2024-01-01`) and the column."""
        wanted = table_name(name)
        asked = tuple(columns) if columns is not None else await self._columns(wanted)
        by_partition: dict[str, dict[str, ColumnStatisticsObj]] = {}
        names = tuple(partitions)
        for at in range(0, len(names), self._batch):
            request = PartitionsStatsRequest(
                wanted.database, wanted.table, asked, names[at : at + self._batch], wanted.catalog_field, engine="hive"
            )
            answer = (await self.api.get_partitions_statistics_req(request)).partStats or {}
            by_partition |= {part: {each.colName or "": each for each in stats} for part, stats in answer.items()}
        return by_partition

    async def set_statistics(self, statistics: ColumnStatistics) -> None:
        """Stores statistics of columns of a table or a partition, which `statistics.statsDesc` names."""
        request = SetPartitionsStatsRequest(colStats=(statistics,), engine="hive")
        await self.api.set_aggr_stats_for(request)

    # Locks and transactions

    def lock(
        self, *names: Name, type: str = "exclusive", timeout: float = 60.0, heartbeat: float = HEARTBEAT
    ) -> AsyncLock:
        """Locks on tables (`db.t`) or databases (`db`), acquired all together or not at all.

        `type` is shared_read, shared_write, excl_write or exclusive. Use it in `async with`: the locks are kept alive
        by heartbeats and released at the end. Raises LockFailed after `timeout` seconds.
        """
        return AsyncLock(self.api, components(names, type), timeout, self._identity.user, None, heartbeat)

    def lease(self, name: str, what: str | None = None, table: Name | None = None) -> AsyncLease:
        """A lease: while one process holds it in `async with`, no other process that asks for this name gets it.

        It is a lock of the metastore that is kept alive by heartbeats. Of a process that was killed it can be taken
        after a minute, from any host. Raises LeaseHeld, which says who has it and since when, and NotSupported where
        the metastore has no locks. `what` names it in errors. With `table`, it is held at that table, and several
        processes may hold it together; `is_free()` says whether none does.
        """
        component = lease_component(name, table)
        return AsyncLease(self.api, self.capabilities, self._identity.user, what or f"the lease {name!r}", component)

    def transaction(self, heartbeat: float = HEARTBEAT, type: int = TxnType.DEFAULT) -> AsyncTransaction:
        """A transaction, for `async with`: kept alive by heartbeats, committed at the end, aborted on an error."""
        return AsyncTransaction(self.api, self.capabilities, self._identity.user, heartbeat, type)

    async def transaction_state(self, transaction: int) -> str:
        """What became of a transaction, after CommitUnknown: `open`, `committed` or `aborted`.

        A transaction that is still open is aborted by the server after its timeout of five minutes. An aborted one is
        known as such until its files are removed by the cleaner, and then counts as committed. Raises
        NoSuchTxnException if there was none.
        """
        return await transaction_state(self.api, transaction)

    # How

    async def _values(self, wanted: TableName, values: PartitionValues) -> tuple[str, ...]:
        """The values of a partition in the order of the keys. The table is read only for values with names."""
        if not isinstance(values, (str, Mapping)):
            return listed(str(wanted), values)
        return values_of(str(wanted), keys_of(await self.table(wanted)), values)

    async def _made(self, wanted: TableName, given: Iterable[Partition | PartitionValues]) -> list[Partition]:
        """The partitions to be added; those that are only values are created from the table."""
        table: Table | None = None
        made = []
        for each in given:
            if not isinstance(each, Partition):
                table = table or await self.table(wanted)
                each = makers.partition(table, each)
            made.append(replace(each, dbName=wanted.database, tableName=wanted.table))
        return made

    def _unknown(self, method: str, error: ApplicationError) -> bool:
        """Whether the error says that the server has no such method; this is cached."""
        unknown = error.type == ApplicationError.UNKNOWN_METHOD
        if unknown:
            self.capabilities.learned(method, False)
        return unknown

    async def newest(self, new: str, new_args: tuple[Any, ...], old: str, old_args: tuple[Any, ...]) -> Any:
        """Makes the newer of two forms of a call; if the server does not have it, the older one from then on.

        The missing form is still tried last: the server at this address may have been replaced.
        """
        forms = [(new, new_args), (old, old_args)]
        if self.capabilities.lacks(new):
            forms.reverse()
        for method, args in forms:
            try:
                result = await self.api.call(method, *args)
            except ApplicationError as error:
                if not self._unknown(method, error):
                    raise
                continue
            if self.capabilities.lacks(method):
                self.capabilities.learned(method, True)
            return result
        raise NotSupported(f"the metastore at {self.uri} has neither {new} nor {old}")

    async def _columns(self, wanted: TableName) -> tuple[str, ...]:
        table = await self.table(wanted)
        return tuple(column.name or "" for column in (table.sd and table.sd.cols) or ())

    async def _few_by_filter(self, wanted: TableName, where: str) -> Sequence[Partition] | None:
        """The partitions that the server finds, when they are not more than a batch; None otherwise.

        The server gets the part of the filter that its language can express for the types of the table's keys. A server
        that refuses this part leaves the whole filter to the client.
        """
        limit = min(self._batch, 32_766) + 1
        condition = _parsed(wanted, where)
        if pushed(condition) is None or self.capabilities.lacks("get_partitions_by_filter"):
            return None
        # The types are needed: Hive 4 compares keys of the type char with the blanks at their end, which do not count.
        sent = pushed(condition, _typed_keys(await self.table(wanted)))
        if sent is None:
            return None
        try:
            matching = await self.api.get_partitions_by_filter(wanted.database_field, wanted.table, sent.text, limit)
        except ApplicationError as error:
            if not self._unknown("get_partitions_by_filter", error):
                raise
            return None
        except MetaException as error:
            if not refusals.is_about_filters(error.message):
                raise
            return None
        if len(matching) >= limit:
            return None
        if sent.exact:
            return matching
        holds, _ = await self._filter(wanted, where)
        return [partition for partition in matching if holds(partition.values or ())]

    async def _all_and_filter(self, wanted: TableName, where: str | None) -> AsyncIterator[Partition]:
        """For a server that can only list: reads all partitions and filters them here."""
        holds: Callable[[Sequence[str]], bool] | None = None
        if where is not None:
            holds, _ = await self._filter(wanted, where)
        for partition in await self.api.get_partitions(wanted.database_field, wanted.table, -1):
            if holds is None or holds(partition.values or ()):
                yield partition

    async def _filter(self, wanted: TableName, where: str) -> tuple[PartitionPredicate, tuple[str, ...]]:
        """The filter as a function of the values of a partition, and the names of the partition keys."""
        keys = _typed_keys(await self.table(wanted))
        try:
            holds = bind(where, _parsed(wanted, where), keys)
        except FilterFault as error:
            raise MetaException(refusals.refused(where, wanted, error)) from None
        return holds, tuple(name for name, _ in keys)


def _parsed(table: TableName, where: str) -> Condition:
    try:
        return parse(where)
    except FilterFault as error:
        raise MetaException(refusals.refused(where, table, error)) from None


def _typed_keys(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple((key.name or "", key.type or "") for key in table.partitionKeys or ())


def _given(value: Any, what: str) -> Any:
    if value is None:
        raise ApplicationError(ApplicationError.MISSING_RESULT, f"the reply has no {what}")
    return value
