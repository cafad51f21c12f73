"""The database, which holds all state: one interface to SQLite and PostgreSQL. It knows no tables.

    database = open_database(None, Path("data"))          # opening.py: SQLite, in data/metastored.db
    database = open_database("postgresql://…", None)
    ensure_schema(database)                               # migrate.py

    tables.find(database.reader(), "hive", "db", "t")     # one statement, no transaction
    with database.read() as tx: ...                       # several reads of one state
    database.run(lambda tx: ...)                          # a write: all or nothing, retried on a conflict

A worker process opens its own after it was forked. Each thread has its own connection, opened at its first use.
"""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

from metastored.store.engine.clock import Clock
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import ConstraintViolated, Row, Snapshot, Transaction, WriteConflict

if TYPE_CHECKING:
    from sqlalchemy import Engine

Result = TypeVar("Result")

THREADS = 16
"""How many threads besides the first one may use a database, by default."""

RETRY_PAUSE = 0.01
"""Seconds. The first pause before a retry is at most twice this; each further one doubles."""

NESTED = "this thread has a transaction open already; transactions do not nest"


class Versioned(NamedTuple):
    """Rows, and the version of the database that they were read in; None where it is not known, as without any row."""

    version: int | None
    rows: list[Row]


class LoopReader(Protocol):
    """Reads for the event loop that do not wait on a thread."""

    def read(self, statement: Statement, params: Mapping[str, Any]) -> asyncio.Future[Versioned] | None:
        """The rows of a statement; None if it has to run on a thread. The future raises StoreError."""


class Database(ABC):
    """A SQLite file or a PostgreSQL database."""

    dialect: ClassVar[str]

    @abstractmethod
    def reader(self) -> Transaction:
        """This thread's connection in autocommit mode: every statement sees all transactions committed before it."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction whose statements all see the same state. It must not write."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that is committed at its end, or rolled back by any exception."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """A state to read from for longer than one call, from any thread. Close it soon."""

    @abstractmethod
    def version(self) -> int:
        """A number that changes with every commit of any process.

        It shows that something changed, not what or how often. Read it before the data that is put into a cache, never
        after.
        """

    def loop_reader(self) -> LoopReader | None:
        """For the one event loop of a server; None for SQLite, whose reads do not wait."""
        return None

    async def version_on_loop(self) -> int | None:
        """The version, by `loop_reader`; None if `version` has to be called on a thread."""
        return None

    def clock(self) -> Clock:
        """The clock that all servers of this database have. The servers of an SQLite file are on one machine."""
        return time.time

    def set_clock(self) -> None:
        """Asks for the time again, for the clocks that `clock` returned. Raises StoreError."""
        return

    @abstractmethod
    def claim(self, *names: str) -> AbstractContextManager[None]:
        """Holds names exclusively among all processes that use this database.

        It waits for other holders, and ends when this process ends. It may be held during slow work. Claims do not
        nest: several names are claimed by one call, in an order that is the same for all.
        """

    @abstractmethod
    def creation(self) -> AbstractContextManager[Transaction]:
        """A write transaction that creates the tables; no other process changes the schema meanwhile."""

    @abstractmethod
    def migration(self) -> AbstractContextManager[Engine]:
        """Keeps every other process from changing the schema; yields an engine with one connection for changing it."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection. No thread may be using the database."""

    def run(self, work: Callable[[Transaction], Result], *, attempts: int = 5) -> Result:
        """Calls `work` in a write transaction; retries it after a conflict with another transaction.

        On PostgreSQL two transactions can each find a name free and then both insert it. The one that fails is retried,
        and then finds the name taken: so `work` raises its own error.
        """
        for attempt in range(1, attempts + 1):
            try:
                with self.write() as tx:
                    return work(tx)
            except (WriteConflict, ConstraintViolated):
                if attempt == attempts or not self._retries:
                    raise
            time.sleep(random.uniform(0, RETRY_PAUSE * 2**attempt))
        raise ValueError(f"a write must be attempted at least once, not {attempts} times")

    _retries: ClassVar[bool]
    """Whether a retry can help. SQLite has one writer at a time, so it has no conflicts."""
