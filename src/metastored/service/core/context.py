"""The first argument of every metastore function: store, warehouse, caller, clock, and names parsed as Hive does.

Each call gets a new Context, which ends with the call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from metastored.errors import InvalidOperationException, MetaException, MetastoreError, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG, CatalogNameError, decode_catalog_name, normalize, read_database
from metastored.hive.statistics.ndv import HIVES_ESTIMATION, Estimation
from metastored.model.names import DatabaseName
from metastored.model.remotes.hosts import ALL_HOSTS, AllowedHosts
from metastored.service.core import compat
from metastored.service.core.compat import RULES, Rules
from metastored.service.core.event_cache import EventCache
from metastored.service.core.versioned_cache import MEGABYTE, VersionedCache
from metastored.service.core.write_id_cache import WriteIdCache
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.message import Session, Stream


def properties(context: EnvironmentContext | None) -> dict[str, str]:
    """The properties of an environment context; {} when there is none."""
    return (context.properties if context is not None else None) or {}


class Encoded:
    """A reply that is already a result struct in Thrift binary."""

    __slots__ = ("body",)

    def __init__(self, body: bytes | Stream) -> None:
        self.body: Final = body


@dataclass(frozen=True)
class Service:
    """The state that all calls of a server share."""

    database: Database
    warehouse: Warehouse
    clock: Callable[[], float] = time.time
    started: float = 0.0
    estimation: Estimation = HIVES_ESTIMATION
    """How the number of distinct values of several partitions is estimated."""
    admins: frozenset[str] = frozenset()
    """Users who have the role admin by the server's settings."""
    partition_limit: int = -1
    """How many partitions one call may request; unlimited when negative."""
    configured: Mapping[str, str] = field(default_factory=dict)
    """The server's settings for Hive's own keys, by their names in Hive 3 and later (metastore.…)."""
    lance_external: bool = True
    """Whether a Lance table that does not say whether it is external is created as an external one."""
    remote_hosts: AllowedHosts = ALL_HOSTS
    """Where remotes may point."""
    remote_secrets: RemoteSecrets = field(default_factory=RemoteSecrets)
    """How the secrets of remotes are stored."""
    rendered: EventCache = field(default_factory=EventCache)
    replies: VersionedCache[bytes] = field(default_factory=lambda: VersionedCache(64, 8 * MEGABYTE))
    """Encoded replies of `get_valid_write_ids`."""
    aggregates: VersionedCache[Any] = field(default_factory=lambda: VersionedCache(256, 16 * MEGABYTE))
    """Column statistics of many partitions, aggregated; see `statistics/aggregate.py`."""
    names: VersionedCache[bytes] = field(default_factory=lambda: VersionedCache(256, 32 * MEGABYTE))
    """Encoded lists of the names of tables and partitions; see `core/name_lists.py`."""
    write_ids: WriteIdCache = field(default_factory=WriteIdCache)


class NotItsTurn(Exception):
    """A call is about to read a long list, and has not waited for its turn. It is called again when that has come."""


class Context:
    """The context of one call."""

    __slots__ = ("_has_turn", "database", "removals", "service", "session", "warehouse")

    def __init__(
        self, service: Service, session: Session, database: Database | None = None, *, has_turn: bool = True
    ) -> None:
        """`database` is another view of the service's database, for a call that is replayed: see `store/engine`."""
        self._has_turn: Final = has_turn
        self.service: Final = service
        self.session: Final = session
        self.database: Final = database or service.database
        self.warehouse: Final = service.warehouse
        self.removals: Final[list[str]] = []
        """The directories that the transaction of `removing.py` plans to remove."""

    @property
    def generation(self) -> Generation:
        return self.session.generation

    @property
    def rules(self) -> Rules:
        """The rules of the generation that this caller's replies follow."""
        return RULES[self.session.generation]

    @property
    def accepts(self) -> Generation:
        """The newest generation whose requests are accepted from this caller: not older than `generation`."""
        return max(self.session.accepts, self.session.generation)

    @property
    def accepted(self) -> Rules:
        """The rules for what a request may contain: names, keys and fields of any generation that is accepted."""
        return RULES[self.accepts]

    @property
    def dialects(self) -> tuple[Generation, ...]:
        """The generations in which a filter is read: that of the replies and, if it cannot read it, the newest."""
        own, newest = self.generation, self.accepts
        return (own,) if own == newest else (own, newest)

    @property
    def user(self) -> str | None:
        return self.session.user

    def now(self) -> int:
        """Seconds since the epoch, as Hive stores times."""
        return int(self.service.clock())

    def now_in_milliseconds(self) -> int:
        return int(self.service.clock() * 1000)

    def check_turn(self) -> None:
        """Called before a list of more than a few hundred rows is read. Raises NotItsTurn.

        SQLite's driver releases the interpreter's lock for each row, and waits for it again while another thread runs:
        two long lists at the same time take several times as long as one after the other, and so do all calls beside
        them. So a worker reads one at a time, up to where its rows are sent while they are read. A call learns how long
        its list is when it has read the first rows.
        """
        if not self._has_turn:
            raise NotItsTurn

    def reader(self) -> Transaction:
        """For one statement that only reads."""
        return self.database.reader()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """For several statements over one snapshot."""
        with self.database.read() as tx:
            yield tx

    def name(self, database: str | None, catalog: str | None = None) -> DatabaseName:
        """A database field (`db` or `@cat#db`), with the catalog of a request where it has one."""
        if database is not None and not database.startswith("@"):
            if catalog is None:
                return DatabaseName(DEFAULT_CATALOG, normalize(database))
            self.saw_catalog()
            return DatabaseName(normalize(catalog), normalize(database))
        try:
            catalog_name, name = read_database(database, catalog)
        except CatalogNameError as error:
            raise MetaException(str(error)) from None
        if database is not None or catalog is not None:
            self.saw_catalog()
        if name is None:
            raise MetaException("Database name cannot be null.")
        return DatabaseName(catalog_name, name)

    def name_for_new(self, database: str | None, catalog: str | None, missing: type[MetastoreError]) -> DatabaseName:
        """The database of an object to be created; `missing` is the error of 3.1 if no database is named."""
        rules = self.rules
        if (
            database is None
            and rules.nameless_database_is_invalid_object
            and not rules.nameless_database_is_meta_exception
        ):
            raise missing("Database name cannot be null.")
        return self.name(database, catalog)

    def pattern(self, database: str | None, catalog: str | None = None) -> tuple[str, str | None]:
        """As `name`, where the name may be absent or a pattern, which is not normalised."""
        try:
            decoded = decode_catalog_name(database)
        except CatalogNameError as error:
            raise MetaException(str(error)) from None
        if decoded.catalog is not None or catalog is not None:
            self.saw_catalog()
        return read_database(database, catalog)[0], decoded.database

    def saw_catalog(self) -> None:
        """Clients before Hive 3 know no catalogs: a call that names one gets the replies of 3.1 or later."""
        compat.show(self.session, Generation.HIVE_3_1)

    def saw_hive_4(self) -> None:
        """A request with a field that only clients of Hive 4 set gets its replies, if they are accepted."""
        compat.show(self.session, Generation.HIVE_4_0)

    # --- texts that differ between the generations ---

    def shown(self, catalog: str) -> str | None:
        """A catalog's name as replies carry it: None for clients from before there were catalogs."""
        return catalog if self.rules.names_catalogs else None

    def database_name(self, where: DatabaseName) -> str:
        return f"{where.catalog}.{where.database}" if self.rules.names_catalogs else where.database

    def no_database(self, where: DatabaseName) -> NoSuchObjectException:
        return NoSuchObjectException(self.missing_database(where))

    def missing_database(self, where: DatabaseName) -> str:
        """The name of a missing database in messages."""
        return f"database {self.database_name(where)}" if self.rules.names_missing_databases_in_full else where.database

    def full_name(self, where: DatabaseName, table: str) -> str:
        """`db.t` for 2.3, `cat.db.t` for later clients."""
        return f"{self.database_name(where)}.{table}"

    def no_table(self, where: DatabaseName, table: str) -> NoSuchObjectException:
        return NoSuchObjectException(f"{self.full_name(where, table)} table not found")

    def unspecified_table(self, where: DatabaseName, table: str) -> NoSuchObjectException:
        """As `no_table`, in the wording of the calls that get statistics or count by a filter."""
        which = "catalog.database.table" if self.rules.names_catalogs else "database/table"
        return NoSuchObjectException(f"Specified {which} does not exist : {self.full_name(where, table)}")

    def no_table_to_alter(self, where: DatabaseName, table: str) -> InvalidOperationException:
        return InvalidOperationException(f"{self.full_name(where, table)} table not found")
