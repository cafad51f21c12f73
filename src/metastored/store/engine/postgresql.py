"""The store in a PostgreSQL database, by psycopg. Each thread has its own connection; for the loop see `pipeline.py`.

Transactions are READ COMMITTED; a transaction locks a row before it changes it (see the `lock` functions of the
aggregates). A lost connection is replaced at the next call; the call that lost it gets the error.
"""

import threading
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

try:
    import psycopg
except ImportError as exc:
    from metastored.errors import MissingExtra

    raise MissingExtra("A database on PostgreSQL", "postgres") from exc

from metastored.errors import StoreError
from metastored.store.engine.clock import DatabaseClock
from metastored.store.engine.database import NESTED, Database, LoopReader
from metastored.store.engine.libpq import Executor
from metastored.store.engine.pipeline import Pipeline
from metastored.store.engine.snapshot_connections import SnapshotConnections
from metastored.store.engine.statements import POSTGRESQL, Statement
from metastored.store.engine.stored import VERSION_COUNTER
from metastored.store.engine.transaction import ConstraintViolated, Params, Row, Snapshot, Transaction, WriteConflict

if TYPE_CHECKING:
    from sqlalchemy import Engine

OLDEST_SERVER = 13
CONNECT_TIMEOUT = 10
"""Seconds, unless the URL has its own value."""

IDLE_TIMEOUT = 60_000
"""Milliseconds between two statements of a transaction after which PostgreSQL ends it, unless the URL has its own.

A server that is stopped or cut off in the middle of a transaction would keep its locks, and all others waiting."""
_IDLE_SETTING = "idle_in_transaction_session_timeout"

ROWS_AT_ONCE = 1000
"""How many rows of a long result are fetched in one round trip."""

CONFLICTS = (
    "40001",  # serialization_failure
    "40P01",  # deadlock_detected
    "0A000",  # feature_not_supported: a table was changed since a statement was prepared
    "26000",  # invalid_sql_statement_name, and
    "42P05",  # duplicate_prepared_statement: behind a pool of connections
)
"""Codes of errors after which a transaction is tried again."""
CONSTRAINTS = ("23503", "23505")  # foreign_key_violation, unique_violation

_LOCK_SPACE = 0x736B6570
"""Separates our advisory locks from those of other programs. Servers of all versions have to use the same number."""
_SCHEMA_CLAIM = "schema"

_TIME = Statement("SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)")
_READ_VERSION = Statement(f"SELECT value FROM counters WHERE name = '{VERSION_COUNTER}'")
_NEXT_VERSION = Statement(f"UPDATE counters SET value = value + 1 WHERE name = '{VERSION_COUNTER}'")

Connection = psycopg.Connection[Row]


def connect(url: str) -> Connection:
    """A connection in autocommit mode to a server that metastored can use."""
    try:
        options: dict[str, Any] = {"client_encoding": "utf8", "application_name": "metastored"}
        if "connect_timeout" not in url:
            options["connect_timeout"] = CONNECT_TIMEOUT
        connection = psycopg.connect(url, autocommit=True, **options)
    except psycopg.Error as exc:
        raise StoreError(f"PostgreSQL does not respond: {_sentence(exc)}") from exc
    major = connection.info.server_version // 10_000
    encoding = connection.info.parameter_status("server_encoding")
    if major >= OLDEST_SERVER and encoding == "UTF8":
        return connection
    connection.close()
    if major < OLDEST_SERVER:
        raise StoreError(f"this PostgreSQL is version {major}; metastored needs {OLDEST_SERVER} or newer")
    raise StoreError(f"this PostgreSQL database has the encoding {encoding}; create one with ENCODING 'UTF8'")


_REFUSED = (psycopg.Error, UnicodeError)
"""The errors of psycopg; the last one for text that PostgreSQL cannot store."""


def _sentence(exc: Exception) -> str:
    return " ".join(str(exc).split()) or type(exc).__name__


class PostgresTransaction(Transaction):
    """Statements on one psycopg connection. Results are in binary: as text a body is twice as long."""

    __slots__ = ("_connection", "changed", "executor", "on_loss")
    dialect = POSTGRESQL

    def __init__(self, connection: Connection, on_loss: Callable[[], None], *, prepares: bool = True) -> None:
        self._connection = connection
        self.executor = Executor(connection, prepares=prepares)
        self.on_loss = on_loss
        self.changed = False

    def store_error(self, exc: Exception) -> StoreError:
        """The error of metastored for an error of the driver."""
        if self._connection.closed:
            self.on_loss()
            return StoreError(f"the connection to PostgreSQL was lost: {_sentence(exc)}; the next call makes a new one")
        state = getattr(exc, "sqlstate", None)
        if state in CONFLICTS:
            return WriteConflict(f"another transaction came in between: {_sentence(exc)}")
        if state in CONSTRAINTS:
            return ConstraintViolated(f"PostgreSQL refused a row: {_sentence(exc)}")
        return StoreError(f"PostgreSQL could not do it: {_sentence(exc)}")

    def one(self, statement: Statement, **params: Any) -> Row | None:
        rows = self.all(statement, **params)
        return rows[0] if rows else None

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        try:
            return self.executor.rows(statement, params)
        except _REFUSED as exc:
            raise self.store_error(exc) from exc

    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        yield from self.all(statement, **params)

    def run(self, statement: Statement, **params: Any) -> int:
        try:
            changed = self.executor.changes(statement, params)
        except _REFUSED as exc:
            raise self.store_error(exc) from exc
        self.changed = self.changed or changed > 0
        return changed

    def many(self, statement: Statement, rows: Sequence[Params]) -> None:
        if not rows:
            return
        try:
            if len(rows) == 1:
                self.executor.changes(statement, rows[0])
            else:
                with self._connection.cursor() as cursor:
                    cursor.executemany(statement.postgresql, rows)
                # psycopg ends its pipeline with a request to flush, after which PostgreSQL does not count the time
                # until the next command: a server that is stopped here would keep its locks (IDLE_TIMEOUT).
                self._connection.execute(b"")
        except _REFUSED as exc:
            raise self.store_error(exc) from exc
        self.changed = True

    def insert(self, statement: Statement, **params: Any) -> int:
        self.changed = True
        return super().insert(statement, **params)

    def list(self, items: Sequence[Any]) -> Sequence[Any]:
        return list(items)


class PostgresSnapshot(PostgresTransaction, Snapshot):
    """A REPEATABLE READ transaction on a connection that is then returned to its owner."""

    __slots__ = ("_cursors", "_give_back")
    _numbers = count()

    def __init__(
        self, connection: Connection, on_loss: Callable[[], None], give_back: Callable[[Connection], None]
    ) -> None:
        super().__init__(connection, on_loss, prepares=False)
        self._give_back: Callable[[Connection], None] | None = give_back
        self._cursors: set[psycopg.ServerCursor[Row]] = set()

    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        """By a cursor on the server, so that neither side ever holds the complete result."""
        try:
            cursor = self._connection.cursor(f"metastored_{next(self._numbers)}")
            self._cursors.add(cursor)
            try:
                cursor.itersize = ROWS_AT_ONCE
                cursor.execute(statement.postgresql, params, binary=True)
                yield from cursor
            finally:
                self._cursors.discard(cursor)
                cursor.close()
        except _REFUSED as exc:
            raise self.store_error(exc) from exc

    def close(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is None:
            return
        # Closed while this transaction is open: the next one on this connection does not know these cursors.
        for cursor in self._cursors:
            with suppress(psycopg.Error):
                cursor.close()
        give_back(self._connection)


class _ThreadConnection:
    """The state of one thread. It ends with the thread."""

    def __init__(self, url: str, on_loss: Callable[[], None], generation: int) -> None:
        self.generation = generation
        self.connection = connect(url)
        self.transaction = PostgresTransaction(self.connection, on_loss)
        self.executor = self.transaction.executor
        if _IDLE_SETTING not in url:
            try:
                self.connection.execute(f"SET {_IDLE_SETTING} = {IDLE_TIMEOUT}".encode())
            except psycopg.Error as exc:
                raise self.transaction.store_error(exc) from exc

    def begin(self, statement: bytes) -> None:
        idle = self.connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
        if not idle and not self.connection.closed:
            raise StoreError(NESTED)
        self.transaction.changed = False
        try:
            self.executor.simple(statement)
        except psycopg.Error as exc:
            raise self.transaction.store_error(exc) from exc

    def commit(self, last: Statement | None = None) -> None:
        """Commits, after a last statement if there is one."""
        try:
            if last is None:
                self.executor.simple(b"COMMIT")
            else:
                self.executor.commit_after(last)
        except psycopg.Error as exc:
            error = self.transaction.store_error(exc)
            if self.connection.closed:
                raise StoreError(
                    f"{error}; it is unknown whether the change was committed: check before you retry"
                ) from exc
            raise error from exc

    def rollback(self) -> None:
        # The error that caused the rollback is reported, and a broken connection has rolled back by itself.
        with suppress(psycopg.Error):
            if not self.connection.closed:
                self.executor.simple(b"ROLLBACK")

    def close(self) -> None:
        self.connection.close()

    def __del__(self) -> None:
        # An object whose constructor failed has no connection.
        with suppress(AttributeError):
            self.close()


class PostgresDatabase(Database):
    """A PostgreSQL database, 13 or newer."""

    dialect = POSTGRESQL
    _retries = True

    def __init__(self, url: str, threads: int) -> None:
        super().__init__()
        self._url = url
        self._threads = threads
        self._local = threading.local()
        self._guard = threading.Lock()
        self._generation = 0
        self._owned: weakref.WeakSet[_ThreadConnection] = weakref.WeakSet()
        self._snapshots = SnapshotConnections(partial(connect, url), self._begin_snapshot, psycopg.Error)
        self._closed = False
        self._clock: DatabaseClock | None = None
        self._pipeline = Pipeline(partial(connect, url))
        self._mine()

    def _lost(self) -> None:
        """After one connection was lost the others are probably lost too: replace all at once, not one by one."""
        with self._guard:
            self._generation += 1
        self._snapshots.drop_idle()

    def _mine(self) -> _ThreadConnection:
        mine: _ThreadConnection | None = getattr(self._local, "mine", None)
        if mine is not None and mine.generation == self._generation and not self._closed:
            return mine
        if mine is not None:
            with self._guard:
                self._owned.discard(mine)
            self._local.mine = None
            mine.close()
        with self._guard:
            if self._closed:
                raise StoreError("the PostgreSQL database is closed")
            if len(self._owned) > self._threads:
                raise StoreError(
                    f"more than {self._threads + 1} threads use the PostgreSQL database; "
                    "open it with a larger number of threads"
                )
            generation = self._generation
        mine = _ThreadConnection(self._url, self._lost, generation)
        with self._guard:
            self._owned.add(mine)
        self._local.mine = mine
        return mine

    def reader(self) -> Transaction:
        return self._mine().transaction

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        mine = self._mine()
        mine.begin(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield mine.transaction
        finally:
            mine.rollback()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        mine = self._mine()
        mine.begin(b"BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            yield mine.transaction
            # Last of all, because no other transaction can commit while this row is locked.
            mine.commit(_NEXT_VERSION if mine.transaction.changed else None)
        except BaseException:
            mine.rollback()
            raise

    def snapshot(self) -> Snapshot:
        return PostgresSnapshot(self._snapshots.take(), self._lost, self._snapshots.give_back)

    def _begin_snapshot(self, connection: Connection) -> None:
        try:
            # BEGIN alone does not take a snapshot yet; the first statement does.
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
        except psycopg.Error as exc:
            raise PostgresTransaction(connection, self._lost).store_error(exc) from exc

    def version(self) -> int:
        row = self.reader().one(_READ_VERSION)
        if row is None:
            raise StoreError("the PostgreSQL database has no schema of metastored's yet")
        version: int = row[0]
        return version

    def loop_reader(self) -> LoopReader:
        return self._pipeline

    async def version_on_loop(self) -> int | None:
        pending = self._pipeline.read(_READ_VERSION, {})
        if pending is not None:
            with suppress(StoreError):  # The thread reports what is wrong, if it still is.
                rows = (await pending).rows
                return rows[0][0] if rows else None
        return None

    def clock(self) -> DatabaseClock:
        with self._guard:
            clock = self._clock
        if clock is None:
            clock = DatabaseClock(self._time)
            with self._guard:
                self._clock = clock
        return clock

    def set_clock(self) -> None:
        if self._clock is not None:
            self._clock.set()

    def _time(self) -> float:
        row = self.reader().one(_TIME)
        assert row is not None  # a SELECT without a table
        return float(row[0])

    @contextmanager
    def claim(self, *names: str) -> Iterator[None]:
        # On a connection of its own: the locks are released with it when this process dies.
        connection = connect(self._url)
        try:
            for key, name in sorted({zlib.crc32(name.encode()) - 2**31: name for name in names}.items()):
                try:
                    connection.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_SPACE, key))
                except psycopg.Error as exc:
                    raise StoreError(f"PostgreSQL could not lock {name!r}: {_sentence(exc)}") from exc
            yield
        finally:
            connection.close()

    @contextmanager
    def creation(self) -> Iterator[Transaction]:
        # The version is not counted: its row is created here, and nothing was read before.
        with self.claim(_SCHEMA_CLAIM):
            mine = self._mine()
            mine.begin(b"BEGIN ISOLATION LEVEL READ COMMITTED")
            try:
                # Each statement runs once: none is prepared.
                yield PostgresTransaction(mine.connection, self._lost, prepares=False)
                mine.commit()
            except BaseException:
                mine.rollback()
                raise

    @contextmanager
    def migration(self) -> Iterator["Engine"]:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import StaticPool

        with self.claim(_SCHEMA_CLAIM):
            connection = connect(self._url)
            connection.autocommit = False
            engine = create_engine("postgresql+psycopg://", creator=lambda: connection, poolclass=StaticPool)
            try:
                yield engine
            finally:
                engine.dispose()
                connection.close()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            owned = list(self._owned)
            self._owned.clear()
        self._pipeline.close()
        for mine in owned:
            mine.close()
        self._snapshots.close()
