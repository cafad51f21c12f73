"""The store in a SQLite file. It never waits inside a transaction for anything but the disk.

A writer first takes an exclusive flock on a lock file and only then begins: SQLite's own way of waiting
sleeps and retries, which lets some writers wait for seconds where the kernel's queue takes milliseconds.
"""

import json
import os
import sqlite3
import sys
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metastored.errors import StoreError
from metastored.store.engine import private
from metastored.store.engine.database import NESTED, Database
from metastored.store.engine.file_lock import FileLock
from metastored.store.engine.mounts import network_file_system
from metastored.store.engine.snapshot_connections import SnapshotConnections
from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.transaction import ConstraintViolated, Params, Row, Snapshot, Transaction

if TYPE_CHECKING:
    from sqlalchemy import Engine

FILE = "metastored.db"
WRITE_LOCK = "metastored.lock"
USE_LOCK = "metastored.use.lock"
"""Held shared by all processes that have the database open, and exclusively by one that replaces it."""
CLAIM_LOCK = "metastored.claim-{}.lock"
CLAIM_LOCKS = 16
OLDEST_SQLITE = (3, 35, 0)  # the first with RETURNING

BUSY_TIMEOUT = 10_000
"""Milliseconds. Only a foreign program that writes without the lock file can cause such a wait."""

JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of write-ahead log that stay on disk after a checkpoint."""

PAGE_CACHE = 8 * 1024
"""KiB of pages that each connection may keep in memory."""

_SETTINGS: dict[str, str | int] = {
    "journal_mode": "wal",
    "synchronous": 2,  # FULL: acknowledged commits survive a power failure
    "foreign_keys": 1,
    "busy_timeout": BUSY_TIMEOUT,
    "journal_size_limit": JOURNAL_SIZE_LIMIT,
    "cache_size": -PAGE_CACHE,
}
if sys.platform == "darwin":
    # On macOS fsync alone leaves the data in the cache of the disk.
    _SETTINGS |= {"fullfsync": 1, "checkpoint_fullfsync": 1}


def connect(path: Path) -> sqlite3.Connection:
    """A connection with every setting made and checked."""
    try:
        connection = sqlite3.connect(
            path,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT / 1000,
            cached_statements=512,
        )
    except sqlite3.Error as exc:
        raise StoreError(f"SQLite cannot open {path}: {exc}") from exc
    try:
        for name, value in _SETTINGS.items():
            connection.execute(f"PRAGMA {name} = {value}")
            (actual,) = connection.execute(f"PRAGMA {name}").fetchone()
            if actual != value:
                raise StoreError(f"SQLite refused PRAGMA {name} = {value} for {path} and stays at {actual}")
    except BaseException as exc:
        connection.close()
        if isinstance(exc, sqlite3.Error):
            raise StoreError(f"{path} is not a database that SQLite can use: {exc}") from exc
        raise
    return connection


_REFUSED = (sqlite3.Error, UnicodeError, OverflowError)
"""The errors of sqlite3; the last two for parameters that SQLite cannot store."""


def _store_error(exc: Exception) -> StoreError:
    if isinstance(exc, sqlite3.IntegrityError):
        return ConstraintViolated(f"SQLite refused a row: {exc}")
    return StoreError(f"SQLite could not do it: {exc}")


class SqliteTransaction(Transaction):
    """Statements on one sqlite3 connection."""

    __slots__ = ("_connection", "_execute")
    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute: Callable[..., sqlite3.Cursor] = connection.execute

    def one(self, statement: Statement, **params: Any) -> Row | None:
        try:
            row: Row | None = self._execute(statement.sqlite, params).fetchone()
        except _REFUSED as exc:
            raise _store_error(exc) from exc
        return row

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        try:
            return self._execute(statement.sqlite, params).fetchall()
        except _REFUSED as exc:
            raise _store_error(exc) from exc

    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        try:
            cursor = self._execute(statement.sqlite, params)
            try:
                yield from cursor
            finally:
                cursor.close()
        except _REFUSED as exc:
            raise _store_error(exc) from exc

    def run(self, statement: Statement, **params: Any) -> int:
        try:
            return self._execute(statement.sqlite, params).rowcount
        except _REFUSED as exc:
            raise _store_error(exc) from exc

    def many(self, statement: Statement, rows: Sequence[Params]) -> None:
        try:
            self._connection.executemany(statement.sqlite, rows)
        except _REFUSED as exc:
            raise _store_error(exc) from exc

    def list(self, items: Sequence[Any]) -> str:
        return json.dumps(items, ensure_ascii=False)


class SqliteSnapshot(SqliteTransaction, Snapshot):
    """A read transaction on a connection that is then returned to its owner."""

    __slots__ = ("_cursors", "_give_back")

    def __init__(self, connection: sqlite3.Connection, give_back: Callable[[sqlite3.Connection], None]) -> None:
        super().__init__(connection)
        self._give_back: Callable[[sqlite3.Connection], None] | None = give_back
        self._cursors: set[sqlite3.Cursor] = set()

    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        try:
            cursor = self._execute(statement.sqlite, params)
            self._cursors.add(cursor)
            try:
                yield from cursor
            finally:
                self._cursors.discard(cursor)
                cursor.close()
        except _REFUSED as exc:
            raise _store_error(exc) from exc

    def close(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is None:
            return
        # A query that was not read to its end would keep the old state open beyond the transaction.
        for cursor in self._cursors:
            cursor.close()
        give_back(self._connection)


class _ThreadConnection:
    """The state of one thread: its connection, its handle on the write lock. It ends with the thread."""

    def __init__(self, folder: Path) -> None:
        self.connection = connect(folder / FILE)
        self.lock = FileLock(folder / WRITE_LOCK)
        self.transaction = SqliteTransaction(self.connection)

    def begin(self, statement: str) -> None:
        if self.connection.in_transaction:
            raise StoreError(NESTED)
        try:
            self.connection.execute(statement)
        except sqlite3.Error as exc:
            raise _store_error(exc) from exc

    def commit(self) -> None:
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as exc:
            self.rollback()
            raise _store_error(exc) from exc

    def rollback(self) -> None:
        # An error such as a full disk has rolled back already.
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        self.connection.close()
        self.lock.close()

    def __del__(self) -> None:
        # An object whose constructor failed has no connection, and the rest is closed by the code that raised.
        with suppress(AttributeError):
            self.close()


class SqliteDatabase(Database):
    """The SQLite file of a data folder."""

    dialect = SQLITE
    _retries = False

    def __init__(self, folder: Path, threads: int, *, create: bool = True) -> None:
        """Without `create`, raises StoreError when there is no database in the folder, and leaves no trace of it."""
        super().__init__()
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            needed = ".".join(map(str, OLDEST_SQLITE))
            raise StoreError(f"this Python has SQLite {sqlite3.sqlite_version}; metastored needs {needed} or newer")
        if create:
            private.make_folder(folder)
        else:
            require(folder)
        self.folder = folder.resolve()
        _refuse_network_file_system(self.folder)
        private.secure(self.folder)
        self._threads = threads
        self._local = threading.local()
        self._guard = threading.Lock()
        self._watching = threading.Lock()
        self._owned: weakref.WeakSet[_ThreadConnection] = weakref.WeakSet()
        self._snapshots = SnapshotConnections(partial(connect, self.folder / FILE), _begin_snapshot, sqlite3.Error)
        self._closed = False
        self._in_use = FileLock(self.folder / USE_LOCK)
        try:
            if not self._in_use.try_shared():
                raise StoreError(f"the database in {self.folder} is being restored; try again when that has ended")
            # One at a time: the process that creates the file switches it to write-ahead logging, which SQLite does not
            # wait for.
            lock = FileLock(self.folder / WRITE_LOCK)
            try:
                with lock:
                    _create_file(self.folder / FILE)
                    # A connection that never writes: only then does its data_version count every write.
                    self._watch = connect(self.folder / FILE)
            finally:
                lock.close()
        except BaseException:
            self._in_use.close()
            raise

    def _mine(self) -> _ThreadConnection:
        mine: _ThreadConnection | None = getattr(self._local, "mine", None)
        if mine is not None and not self._closed:
            return mine
        with self._guard:
            if self._closed:
                raise StoreError(f"the database in {self.folder} is closed")
            if len(self._owned) > self._threads:
                raise StoreError(
                    f"more than {self._threads + 1} threads use the database in {self.folder}; "
                    "open it with a larger number of threads"
                )
            mine = _ThreadConnection(self.folder)
            self._owned.add(mine)
        self._local.mine = mine
        self._local.transaction = mine.transaction
        return mine

    def reader(self) -> Transaction:
        try:
            transaction: Transaction = self._local.transaction
        except AttributeError:
            return self._mine().transaction
        return transaction

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        mine = self._mine()
        mine.begin("BEGIN")
        try:
            yield mine.transaction
        finally:
            mine.rollback()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        mine = self._mine()
        if mine.connection.in_transaction:
            raise StoreError(NESTED)
        with mine.lock:
            mine.begin("BEGIN IMMEDIATE")
            try:
                yield mine.transaction
            except BaseException:
                mine.rollback()
                raise
            mine.commit()

    def snapshot(self) -> Snapshot:
        return SqliteSnapshot(self._snapshots.take(), self._snapshots.give_back)

    def version(self) -> int:
        try:
            # From Python 3.12 on, threads that run the same statement on one connection get each other's rows.
            with self._watching:
                version: int = self._watch.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as exc:
            raise _store_error(exc) from exc
        return version

    @contextmanager
    def claim(self, *names: str) -> Iterator[None]:
        # A few lock files shared by all names: two names on one file only wait for each other.
        numbers = {zlib.crc32(name.encode()) % CLAIM_LOCKS for name in names}
        with ExitStack() as held:
            for number in sorted(numbers):
                lock = FileLock(self.folder / CLAIM_LOCK.format(number))
                held.callback(lock.close)
                held.enter_context(lock)
            yield

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """A new connection, while no other process writes."""
        lock = FileLock(self.folder / WRITE_LOCK)
        try:
            with lock:
                connection = connect(self.folder / FILE)
                try:
                    yield connection
                finally:
                    connection.close()
        finally:
            lock.close()

    @contextmanager
    def creation(self) -> Iterator[Transaction]:
        # On a connection of its own: the one that writes SQLite's statistics of tables does not use them.
        with self._alone() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield SqliteTransaction(connection)
                connection.execute("COMMIT")
            except sqlite3.Error as exc:
                raise _store_error(exc) from exc

    @contextmanager
    def migration(self) -> Iterator["Engine"]:
        from sqlalchemy import create_engine, event
        from sqlalchemy.pool import StaticPool

        with self._alone() as connection:
            # A migration that rebuilds a table drops the old one, which must not delete other rows by cascade.
            connection.execute("PRAGMA foreign_keys = 0")
            engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
            event.listen(engine, "begin", lambda opened: opened.exec_driver_sql("BEGIN IMMEDIATE"))
            try:
                yield engine
            finally:
                engine.dispose()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            owned = list(self._owned)
            self._owned.clear()
        for mine in owned:
            mine.close()
        self._snapshots.close()
        self._watch.close()
        self._in_use.close()


def _begin_snapshot(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("BEGIN")
        # BEGIN alone does not take a snapshot yet; the first read does.
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    except sqlite3.Error as exc:
        raise _store_error(exc) from exc


def _create_file(file: Path) -> None:
    """An empty file with the right mode: SQLite gives its write-ahead log and its shared memory the same one."""
    # Never opened when it exists: closing a descriptor would release the locks that SQLite has in this process.
    if not file.exists():
        os.close(private.create(file, os.O_EXCL))


def require(folder: Path) -> None:
    """Raises StoreError when the folder has no database; the message says what it has instead."""
    try:
        if (folder / FILE).is_file():
            return
        what = "is a file" if folder.is_file() else "exists, without one" if folder.is_dir() else "does not exist"
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
    raise StoreError(
        f"there is no database of metastored ({FILE}) in {folder}: that folder {what}. Name the folder of an existing "
        "one with --data; metastored serve --data creates a new one"
    )


def _refuse_network_file_system(folder: Path) -> None:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return
    with mounts.open(encoding="utf-8", errors="surrogateescape") as lines:
        kind = network_file_system(folder, lines)
    if kind is not None:
        raise StoreError(
            f"the data folder {folder} is on a network file system ({kind}), where SQLite loses data: "
            "use a local disk, or PostgreSQL with a database URL"
        )
