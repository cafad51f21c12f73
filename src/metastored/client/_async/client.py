"""The client that a program uses: the daily things in a pleasant form, everything else in `api`.

async with metastored.aconnect("thrift://a:9083,thrift://b:9083") as client:
    for name in await client.tables("sales", "orders*"):
        table = await client.table(f"sales.{name}")
    async for partition in client.partitions("sales.orders", where="ds >= '2024-01-01'"):
        …
"""

from __future__ import annotations

import copy
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from metastored.client._async.acid import AsyncRead, AsyncWrite
from metastored.client._async.caller import AsyncCaller
from metastored.client._async.capabilities import AsyncCapabilities
from metastored.client._async.locks import HEARTBEAT, AsyncLock, AsyncTransaction, components
from metastored.client._async.pool import AsyncPool
from metastored.client._backend import aio as io
from metastored.client.cache import CacheSettings, CacheStats, MetadataCache
from metastored.client.endpoints import Identity, endpoints_of
from metastored.client.metrics import Metrics
from metastored.client.pooling import PoolSettings, PoolStats
from metastored.client.retry import Retry
from metastored.client.sasl import Mechanism
from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    ConfigError,
    DatabaseAlreadyExists,
    Error,
    InvalidInputException,
    MetaException,
    NoSuchObjectException,
    NotSupported,
    ObjectNotFound,
    VersionUnknown,
)
from metastored.hive.filters.parser import parse_filter
from metastored.hive.filters.tree import FilterError, PartitionPredicate, predicate
from metastored.hive.generation import Generation
from metastored.hive.names import partition_values
from metastored.model import filters, makers
from metastored.model.columns import arrow_schema
from metastored.model.makers import Columns
from metastored.model.names import Name, TableName, database_name, table_name
from metastored.model.partitions import PartitionValues, keys_of, listed, values_of
from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsObj, EnvironmentContext, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import AddPartitionsRequest, Partition
from metastored.wire.generated.statistics import PartitionsStatsRequest, SetPartitionsStatsRequest, TableStatsRequest
from metastored.wire.generated.tables import ClientCapabilities, ClientCapability, GetTableRequest, GetTablesRequest
from metastored.wire.generated.transactions import TxnType
from metastored.wire.limits import MAX_REPLY
from metastored.wire.message import Handler
from metastored.wire.structs import replace

if TYPE_CHECKING:
    import pyarrow

BATCH: Final = 1000
"""Objects asked for, or sent, in one call."""
TIMEOUT: Final = 60.0
CAPABILITIES: Final = ClientCapabilities(values=(ClientCapability.INSERT_ONLY_TABLES,))
"""What this client understands: servers hide insert-only tables from those that do not say it."""


class AsyncClient:
    """A metastore. `metastored.aconnect` makes one; close it, or use it in `async with`."""

    def __init__(self, api: AsyncCaller, inside: io.InProcess | None, identity: Identity, batch: int) -> None:
        self.api = api
        """Every method of the metastore, with types, named as in Thrift."""
        self.capabilities: Final = AsyncCapabilities(api)
        """What this server can do."""
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
        """Closes all connections: calls that are under way fail, and later ones too."""
        if self.api.pool is not None:
            await self.api.pool.close()
        if self._inside is not None:
            await self._inside.close()

    @property
    def uri(self) -> str:
        """Where the client is connected: the addresses that were given, or "this process"."""
        return self.api.uri

    @property
    def cache(self) -> MetadataCache:
        """The cache of this client: `stats()`, `clear()`. Raises ConfigError where there is none."""
        if self.api.cache is None:
            raise ConfigError("this client has no cache: connect without cache=False")
        return self.api.cache

    def pool_stats(self) -> PoolStats | None:
        """The connections as they are now; None for a client within the process."""
        return None if self.api.pool is None else self.api.pool.stats()

    def cache_stats(self) -> CacheStats | None:
        """What the cache has done so far; None without one."""
        return None if self.api.cache is None else self.api.cache.stats()

    def forget(self, db: str, table: str = "") -> None:
        """Forgets what is remembered of a table, or of a database and all that is in it."""
        if self.api.cache is not None:
            self.api.cache.changed(((db.lower(), table.lower()),))

    def within(self, seconds: float) -> Self:
        """The same client, with another deadline for each of its calls."""
        if seconds <= 0:
            raise ConfigError(f"a deadline of {seconds} s leaves no time")
        api, client = copy.copy(self.api), copy.copy(self)
        api.timeout = seconds
        client.api = api
        return client

    # Databases

    async def databases(self, pattern: str | None = None) -> tuple[str, ...]:
        """The names of databases; in `pattern`, `*` stands for anything and `|` separates alternatives."""
        return await (self.api.get_all_databases() if pattern is None else self.api.get_databases(pattern))

    async def database(self, name: str) -> Database:
        """A database, by `db` or `catalog.db`. Raises DatabaseNotFound."""
        return await self.api.get_database(database_name(name).field)

    async def create_database(self, database: Database | str, if_not_exists: bool = False) -> None:
        """Creates a database, given by its name or made by `metastored.database`. Raises DatabaseAlreadyExists."""
        sent = makers.database(database) if isinstance(database, str) else database
        try:
            await self.api.create_database(sent)
        except DatabaseAlreadyExists:
            if not if_not_exists:
                raise

    async def drop_database(
        self, name: str, if_exists: bool = False, cascade: bool = False, delete_data: bool = True
    ) -> None:
        """Drops a database; with `cascade`, what is in it too. Raises DatabaseNotFound, InvalidOperationException."""
        field = database_name(name).field
        if if_exists:
            # Hive before 4 answers a drop of a missing database with a NullPointerException.
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
        found = await self._newest("get_table_req", (request,), "get_table", (wanted.database_field, wanted.table))
        return found if isinstance(found, Table) else _given(found.table, "table")

    async def fresh_table(self, name: Name) -> Table:
        """A table as it is on the server now, not from the cache. Raises TableNotFound."""
        wanted = table_name(name)
        self.forget(wanted.database, wanted.table)
        return await self.table(wanted)

    async def table_exists(self, name: Name) -> bool:
        """Whether there is a table or view of this name."""
        try:
            await self.table(name)
        except NoSuchObjectException:
            return False
        return True

    async def table_objects(self, db: str, pattern: str | None = None) -> AsyncIterator[Table]:
        """The tables themselves, in batches: one call for their names and one for each batch of them."""
        names = await self.tables(db, pattern)
        for at in range(0, len(names), self._batch):
            for table in await self.tables_by_name(db, names[at : at + self._batch]):
                yield table

    async def tables_by_name(self, db: str, names: tuple[str, ...]) -> Sequence[Table]:
        """Those of the named tables that there are, in one call where the server has one for it."""
        database = database_name(db)
        request = GetTablesRequest(database.database, names, CAPABILITIES, database.catalog_field)
        try:
            found = await self._newest(
                "get_table_objects_by_name_req",
                (request,),
                "get_table_objects_by_name",
                (database.field, names),
            )
        except NotSupported:
            found = []
            for name in names:
                try:
                    found.append(await self.table(database.table(name)))
                except NoSuchObjectException:
                    continue  # It was dropped since its name was listed.
            return found
        tables: Sequence[Table] = found if isinstance(found, tuple) and not hasattr(found, "tables") else found.tables
        return tables or ()

    async def create_table(self, table: Table, if_not_exists: bool = False) -> None:
        """Creates a table or view; `metastored.table` makes one in a line. Raises TableAlreadyExists."""
        try:
            await self.api.create_table(table)
        except AlreadyExistsException:
            if not if_not_exists:
                raise

    async def alter(
        self, name: Name, table: Table, cascade: bool = False, environment: dict[str, str] | None = None
    ) -> None:
        """Replaces a table, its name too; with `cascade`, its partitions get the new columns.

        `environment` are settings of this call, such as `{"DO_NOT_UPDATE_STATS": "true"}`.
        """
        wanted = table_name(name)
        context = {**(environment or {}), **({"CASCADE": "true"} if cascade else {})}
        await self.api.alter_table_with_environment_context(
            wanted.database_field, wanted.table, table, EnvironmentContext(properties=context) if context else None
        )

    async def set_parameters(self, name: Name, **parameters: str) -> Table:
        """Sets parameters of a table and leaves its others as they are. Returns the table as it was sent."""
        table = await self.fresh_table(name)
        changed = replace(table, parameters={**(table.parameters or {}), **parameters})
        await self.alter(name, changed)
        return changed

    async def rename_table(self, name: Name, to: Name) -> None:
        """Renames a table or moves it to another database: `to` is `t`, `db.t` or `catalog.db.t`.

        The directory of a managed table moves with it. Raises TableNotFound, and InvalidOperationException where the
        new name is taken.
        """
        wanted = table_name(name)
        target = wanted._replace(table=to) if isinstance(to, str) and "." not in to else table_name(to)
        if target.catalog not in ("", wanted.catalog):
            raise InvalidInputException(f"{wanted} cannot be renamed to {target}: a table stays in its catalog")
        table = await self.fresh_table(wanted)
        await self.alter(wanted, replace(table, tableName=target.table, dbName=target.database))
        self.forget(target.database, target.table)

    async def add_columns(self, name: Name, columns: Columns, cascade: bool = False) -> Table:
        """Adds columns behind those of a table: `{"note": "string", "at": ("timestamp", "when")}`.

        With `cascade`, the partitions that exist get them too. Returns the table as it was sent; raises
        InvalidInputException where a column is there already.
        """
        table = await self.fresh_table(name)
        changed = makers.with_columns(table, columns)
        await self.alter(name, changed, cascade)
        return changed

    async def arrow_schema(self, name: Name) -> pyarrow.Schema:
        """The columns of a table as an Arrow schema, partition keys last. Needs `pip install 'metastored[arrow]'`."""
        return arrow_schema(await self.table(name))

    async def drop_table(
        self, name: Name, if_exists: bool = False, delete_data: bool = True, purge: bool = False
    ) -> None:
        """Drops a table or view, and with `delete_data` the data of a managed one; `purge` skips the trash."""
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
        names = await self.api.get_partition_names(wanted.database_field, wanted.table, -1)
        if where is None:
            return names
        holds, keys = await self._filter(wanted, where)
        return tuple(each for each in names if holds(partition_values(each, keys)))

    async def partitions(self, name: Name, where: str | None = None) -> AsyncIterator[Partition]:
        """The partitions, in batches. `where` is a filter over partition keys, as Hive's: `ds >= '2024-01-01'`."""
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
                found = await self.api.get_partitions_by_names(wanted.database_field, wanted.table, batch)
            except ApplicationError as error:
                if not self._unknown("get_partitions_by_names", error) or at:
                    raise
                async for partition in self._all_and_filter(wanted, where):
                    yield partition
                return
            for partition in found:
                yield partition

    async def partition(self, name: Name, values: PartitionValues) -> Partition:
        """A partition by its values: `("2024-01-01", "1")`, `{"ds": "2024-01-01", "h": 1}` or `"ds=2024-01-01/h=1"`.

        Raises ObjectNotFound, and InvalidInputException where the values do not fit the table's partition keys.
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

        Each is a struct (`metastored.partition`), or only its values: a list, a dict or a name. Those get the table's
        columns and the usual directory.
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
        """Drops a partition, named as for `partition`, and with `delete_data` the data of a managed table's."""
        wanted = table_name(name)
        asked = await self._values(wanted, values)
        try:
            await self.api.drop_partition(wanted.database_field, wanted.table, asked, delete_data)
        except NoSuchObjectException:
            if not if_exists:
                raise

    # Statistics

    async def statistics(self, name: Name, columns: Iterable[str] | None = None) -> dict[str, ColumnStatisticsObj]:
        """The statistics of a table's columns, by column. Columns that have none are left out."""
        wanted = table_name(name)
        asked = tuple(columns) if columns is not None else await self._columns(wanted)
        request = TableStatsRequest(wanted.database, wanted.table, asked, wanted.catalog_field, engine="hive")
        found = await self.api.get_table_statistics_req(request)
        return {each.colName or "": each for each in found.tableStats or ()}

    async def partition_statistics(
        self, name: Name, partitions: Iterable[str], columns: Iterable[str] | None = None
    ) -> dict[str, dict[str, ColumnStatisticsObj]]:
        """The statistics of columns of partitions, by the partition's name (`ds=2024-01-01`) and the column."""
        wanted = table_name(name)
        asked = tuple(columns) if columns is not None else await self._columns(wanted)
        found: dict[str, dict[str, ColumnStatisticsObj]] = {}
        names = tuple(partitions)
        for at in range(0, len(names), self._batch):
            request = PartitionsStatsRequest(
                wanted.database, wanted.table, asked, names[at : at + self._batch], wanted.catalog_field, engine="hive"
            )
            answer = (await self.api.get_partitions_statistics_req(request)).partStats or {}
            found |= {part: {each.colName or "": each for each in stats} for part, stats in answer.items()}
        return found

    async def set_statistics(self, statistics: ColumnStatistics) -> None:
        """Stores statistics of columns of a table or a partition, which `statistics.statsDesc` names."""
        request = SetPartitionsStatsRequest(colStats=(statistics,), engine="hive")
        await self.api.set_aggr_stats_for(request)

    # Locks and transactions

    def lock(
        self, *names: Name, type: str = "exclusive", timeout: float = 60.0, heartbeat: float = HEARTBEAT
    ) -> AsyncLock:
        """Locks on tables (`db.t`) or databases (`db`), given all at once or not at all.

        `type` is shared_read, shared_write, excl_write or exclusive. Use it in `async with`: it is kept alive by
        heartbeats and given back at the end. LockFailed after `timeout` seconds.
        """
        return AsyncLock(self.api, components(names, type), timeout, self._identity.user, None, heartbeat)

    def transaction(self, heartbeat: float = HEARTBEAT) -> AsyncTransaction:
        """A transaction, for `async with`: kept alive by heartbeats, committed at the end, aborted on an error."""
        return AsyncTransaction(self.api, self.capabilities, self._identity.user, heartbeat)

    def read(self, *names: Name, timeout: float = 60.0, heartbeat: float = HEARTBEAT) -> AsyncRead:
        """A consistent read of transactional tables, for `async with`: `snapshots` says what can be seen of each."""
        reading = AsyncTransaction(self.api, self.capabilities, self._identity.user, heartbeat, TxnType.READ_ONLY)
        return AsyncRead(self, reading, names, timeout)

    def write(
        self,
        name: Name,
        operation: str = "insert",
        partitions: Sequence[str] = (),
        exclusive: bool | None = None,
        timeout: float = 60.0,
        heartbeat: float = HEARTBEAT,
    ) -> AsyncWrite:
        """A write to a transactional table, for `async with`: `write_id` is what its files are named by.

        `operation` is insert, update, delete, merge or overwrite; `partitions` (`ds=1`) narrows the locks to them.
        `exclusive` keeps other writers out, where the server knows such locks; None does as its version of Hive does.
        It is committed at the end, and aborted on an error.
        """
        writing = AsyncTransaction(self.api, self.capabilities, self._identity.user, heartbeat)
        return AsyncWrite(self, writing, table_name(name), operation, tuple(partitions), exclusive, timeout)

    # How

    async def _values(self, wanted: TableName, values: PartitionValues) -> tuple[str, ...]:
        """The values of a partition in the order of the table's keys; the table is read only where they are named."""
        if not isinstance(values, (str, Mapping)):
            return listed(str(wanted), values)
        return values_of(str(wanted), keys_of(await self.table(wanted)), values)

    async def _made(self, wanted: TableName, given: Iterable[Partition | PartitionValues]) -> list[Partition]:
        """Partitions to be added, those that are only values made from the table."""
        table: Table | None = None
        made = []
        for each in given:
            if not isinstance(each, Partition):
                table = table or await self.table(wanted)
                each = makers.partition(table, each)
            made.append(replace(each, dbName=wanted.database, tableName=wanted.table))
        return made

    def _unknown(self, method: str, error: ApplicationError) -> bool:
        """Whether the server has no such method; it is remembered."""
        unknown = error.type == ApplicationError.UNKNOWN_METHOD
        if unknown:
            self.capabilities.learned(method, False)
        return unknown

    async def _newest(self, new: str, new_args: tuple[Any, ...], old: str, old_args: tuple[Any, ...]) -> Any:
        """The newer of two forms of a call; where the server does not know it, the older from then on.

        The one that it did not know is still the last resort: at the same address there may be another server by now.
        """
        forms = [(new, new_args), (old, old_args)]
        if self.capabilities.lacks(new):
            forms.reverse()
        for method, args in forms:
            try:
                found = await self.api.call(method, *args)
            except ApplicationError as error:
                if not self._unknown(method, error):
                    raise
                continue
            if self.capabilities.lacks(method):
                self.capabilities.learned(method, True)
            return found
        raise NotSupported(f"the metastore at {self.uri} has neither {new} nor {old}")

    async def _columns(self, wanted: TableName) -> tuple[str, ...]:
        table = await self.table(wanted)
        return tuple(column.name or "" for column in (table.sd and table.sd.cols) or ())

    async def _few_by_filter(self, wanted: TableName, where: str) -> Sequence[Partition] | None:
        """What the server finds, when that is not more than a batch."""
        limit = min(self._batch, 32_766) + 1
        if self.capabilities.lacks("get_partitions_by_filter"):
            return None
        try:
            found = await self.api.get_partitions_by_filter(wanted.database_field, wanted.table, where, limit)
        except ApplicationError as error:
            if not self._unknown("get_partitions_by_filter", error):
                raise
            return None
        except MetaException as error:
            if not filters.is_about_filters(error.message):
                raise
            raise MetaException(filters.explained(where, await self.table(wanted), str(error))) from None
        return found if len(found) < limit else None

    async def _all_and_filter(self, wanted: TableName, where: str | None) -> AsyncIterator[Partition]:
        """For a server that can only list: all partitions come, and are filtered here."""
        holds: Callable[[Sequence[str]], bool] | None = None
        if where is not None:
            holds, _ = await self._filter(wanted, where)
        for partition in await self.api.get_partitions(wanted.database_field, wanted.table, -1):
            if holds is None or holds(partition.values or ()):
                yield partition

    async def _filter(self, wanted: TableName, where: str) -> tuple[PartitionPredicate, tuple[str, ...]]:
        """The filter as a function of a partition's values, and the table's partition keys."""
        table = await self.table(wanted)
        keys = tuple((key.name or "", key.type or "") for key in table.partitionKeys or ())
        try:
            generation = await self.capabilities.generation()
        except VersionUnknown:
            generation = Generation.HIVE_2_3
        try:
            holds = predicate(parse_filter(where, generation), keys, generation)
        except FilterError as error:
            raise MetaException(filters.explained(where, table, str(error))) from None
        return holds, tuple(name for name, _ in keys)


def _given(value: Any, what: str) -> Any:
    if value is None:
        raise ApplicationError(ApplicationError.MISSING_RESULT, f"the answer holds no {what}")
    return value


def aconnect(
    uris: str | Iterable[str] | None = None,
    *,
    handler: Handler | None = None,
    user: str | None = None,
    groups: Sequence[str] = (),
    password: str | None = None,
    token: str | None = None,
    sasl: Callable[[str], Mechanism] | None = None,
    tls: ssl.SSLContext | None = None,
    protocol: str | None = None,
    framed: bool | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = TIMEOUT,
    connect_timeout: float = 5.0,
    max_reply: int = MAX_REPLY,
    max_size: int = 10,
    min_idle: int = 0,
    idle_timeout: float = 60.0,
    max_lifetime: float = 1800.0,
    max_waiting: int = 1000,
    check_after: float = 30.0,
    look_every: float = 1.0,
    retry: Retry = Retry(),  # noqa: B008
    cache: bool | CacheSettings = True,
    batch: int = BATCH,
    metrics: Metrics | None = None,
) -> AsyncClient:
    """A client of the metastore at these addresses, or of a handler in this process. Connects when first used.

    `thrift://a:9083,thrift://b:9083`: the second is used when the first does not answer. `thrifts://` is inside TLS;
    `https://host:port/path` is Thrift over HTTP. `user` is told to the server (set_ugi); with `password` it is proven,
    by HTTP Basic or by SASL PLAIN; `sasl=kerberos("hive/_HOST@REALM")` proves it by Kerberos. `metrics` is told of each
    call (`metastored.client.metrics`).
    """
    if (uris is None) == (handler is None):
        raise ConfigError("either the addresses of a metastore or a handler has to be given")
    if not 1 <= batch <= 32_766:
        raise ConfigError(f"batch is {batch}; it lies between 1 and 32766")
    if timeout <= 0:
        raise ConfigError(f"timeout is {timeout}; a call needs some time")
    settings = cache if isinstance(cache, CacheSettings) else CacheSettings(enabled=cache)
    memory = MetadataCache(settings, io.now) if settings.enabled else None
    if handler is not None:
        inside = io.InProcess(handler, user)
        caller = AsyncCaller(None, inside, Identity(user, tuple(groups)), timeout, retry, memory, metrics)
        return _watched(AsyncClient(caller, inside, Identity(user, tuple(groups)), batch), metrics)
    assert uris is not None
    pool_settings = PoolSettings(max_size, min_idle, idle_timeout, max_lifetime, max_waiting, check_after, look_every)
    identity = Identity(user, tuple(groups))
    found = []
    for endpoint in endpoints_of(uris, tls):
        over_http = endpoint.path is not None
        if over_http:
            from metastored.client.http import basic, bearer

            proof = [basic(user or "", password)] if password is not None else [bearer(token)] if token else []
            endpoint = endpoint._replace(headers=(*proof, *(headers or {}).items()))
        elif token is not None or headers:
            raise ConfigError("token and headers are for http:// and https:// addresses")
        elif sasl is None and password is not None:
            from metastored.client.sasl import plain

            sasl = plain(user or "", password)
        secured = over_http or sasl is not None
        found.append(
            endpoint._replace(
                protocol=protocol or (endpoint.protocol if over_http else None),
                framed=False if secured else framed,
                connect_timeout=connect_timeout,
                max_reply=max_reply,
                decode=True,
                sasl=None if over_http else sasl,
            )
        )
        if secured:
            identity = Identity(None)
    pool = AsyncPool(found, pool_settings)
    caller = AsyncCaller(pool, None, identity, timeout, retry, memory, metrics)
    return _watched(AsyncClient(caller, None, identity, batch), metrics)


def _watched(client: AsyncClient, metrics: Metrics | None) -> AsyncClient:
    if metrics is not None:
        metrics.watch(client)
    return client
