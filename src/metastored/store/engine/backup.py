"""Backup and restore: the embedded database by SQLite's backup API, PostgreSQL row by row (`copying.py`).

A backup is one consistent state of the database, taken while servers write to it, in a file of its own, which is a
SQLite database for both: a plain copy of `metastored.db` would lack the content of the write-ahead log. A restore
writes a new database, of either kind, and never replaces one. Neither touches the warehouse, nor TLS keys.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from metastored.errors import StoreError
from metastored.store.engine import private
from metastored.store.engine.file_lock import FileLock
from metastored.store.engine.migrate import HEAD, REVISIONS, VERSION_TABLE, ensure_schema
from metastored.store.engine.sqlite import FILE, USE_LOCK, SqliteDatabase, connect
from metastored.store.engine.transaction import Row
from metastored.store.engine.triggers import sqlite_triggers

PAGES: Final = 4096
"""Pages copied in one step; Ctrl-C is handled between two steps."""
BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""The suffixes of a database's files. A log that belongs to another database would destroy a restored one."""

_PROGRAMS: Final = (
    "SELECT CASE WHEN type = 'table' THEN 'virtual table' ELSE type END, name, tbl_name, sql FROM sqlite_schema "
    "WHERE type NOT IN ('table', 'index') OR (type = 'table' AND sql LIKE 'CREATE VIRTUAL%')"
)
_OWN_PROGRAMS: Final = {("trigger", name, "tables", text) for name, text in sqlite_triggers().items()}
_FIRST_WITH_TRIGGERS: Final = "0009"

Progress = Callable[[int, int, int], None]
Rows = Callable[[int, int], None]
"""Rows that are done, and rows in all."""


class Copied(NamedTuple):
    """A file that was written."""

    size: int
    """Bytes."""
    revision: str
    """The version of the schema."""

    @property
    def is_old(self) -> bool:
        """Whether the next start of a server upgrades the schema."""
        return self.revision != HEAD


def back_up(folder: Path, file: Path, *, pages: int = PAGES, progress: Progress | None = None) -> Copied:
    """Writes the database of a data folder to a new file. Raises StoreError; then the file does not exist."""
    _check_target(file)
    # Kept open while it is copied, so that no restore begins meanwhile.
    with closing(SqliteDatabase(folder, 1, create=False)), closing(connect(folder / FILE)) as source:
        revision = _revision(source, folder / FILE)
        with _unfinished(file) as unfinished:
            _copy(source, unfinished, pages, progress)
            size = unfinished.stat().st_size
    return Copied(size, revision)


def restore(file: Path, folder: Path, *, progress: Progress | None = None) -> Copied:
    """Creates a database in a data folder from a backup.

    Raises StoreError; then the folder has no database. The backup is checked first. A folder that has a database, or is
    used by a running server, is refused.
    """
    with closing(_open_backup(file)) as source:
        programs = _programs(source, file)
        revision = _revision(source, file)
        _check_triggers(programs, revision, file)
        _check_length(source, file)
        _check(source, file)
        private.make_folder(folder)
        private.secure(folder)
        lock = FileLock(folder / USE_LOCK)
        try:
            if not lock.try_alone():
                raise StoreError(
                    f"a running server, or another command, uses the database in {folder}: stop it, or name another "
                    "folder with --data"
                )
            for end in BESIDE:
                _refuse_existing(folder / f"{FILE}{end}")
            with _unfinished(folder / FILE) as unfinished:
                _copy(source, unfinished, PAGES, progress)
                size = unfinished.stat().st_size
        finally:
            lock.close()
    return Copied(size, revision)


def back_up_postgresql(url: str, file: Path, *, progress: Rows | None = None) -> Copied:
    """Writes a PostgreSQL database to a new file, as one snapshot. Raises StoreError; then the file does not exist."""
    from metastored.store.engine.copying import copy_database
    from metastored.store.engine.postgresql import PostgresDatabase

    _check_target(file)
    with closing(PostgresDatabase(url, 1)) as source:
        # Beside the file, which needs the same space.
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.name}.unfinished-") as folder:
            with closing(SqliteDatabase(Path(folder), 1)) as target:
                copy_database(source, target, progress)
            return back_up(Path(folder), file)


def restore_postgresql(file: Path, url: str, *, progress: Rows | None = None) -> Copied:
    """Creates the tables of metastored in an empty PostgreSQL database, from a backup of either kind of database.

    Raises StoreError; then the database is as empty as before. The backup is checked, and upgraded to the newest
    schema.
    """
    from metastored.store.engine.copying import copy_database
    from metastored.store.engine.postgresql import PostgresDatabase

    with tempfile.TemporaryDirectory(prefix="metastored-restore-") as folder:
        copied = restore(file, Path(folder))
        with closing(SqliteDatabase(Path(folder), 1)) as source, closing(PostgresDatabase(url, 1)) as target:
            ensure_schema(source)
            copy_database(source, target, progress)
    return Copied(copied.size, HEAD)


def _check_target(file: Path) -> None:
    """Raises StoreError where no backup can be written, before anything is read."""
    if file.is_dir():
        raise StoreError(f"{file} is a directory; name a file in it that does not exist, such as {file / 'backup.db'}")
    if not file.parent.is_dir():
        raise StoreError(f"{file} cannot be written: there is no folder {file.parent}; make it first")
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise StoreError(f"{file} cannot be written: the folder {file.parent} may not be written by this user")
    _refuse_existing(file)


def _refuse_existing(file: Path) -> None:
    if os.path.lexists(file):
        raise _exists(file)


def _exists(file: Path) -> StoreError:
    return StoreError(f"{file} exists already and is not overwritten: move it away, or name another one")


def _open_backup(file: Path) -> sqlite3.Connection:
    """Read-only: a backup may be on a medium that cannot be written."""
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise StoreError(f"the backup {file} cannot be read: {error.strerror or error}") from error
    # A copy of a database that was in use may have its log beside it, which must be read too.
    alone = "" if _log_of(file).exists() else "&immutable=1"
    try:
        return sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro{alone}", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise _no_database(file, error) from error


def _programs(source: sqlite3.Connection, file: Path) -> set[Row]:
    """What SQLite runs by itself: metastored's triggers, each with exactly the text that metastored writes.

    Raises StoreError for a file with another trigger, a view or a virtual table. Reading one would run what the author
    of the file wrote, now or in each later write.
    """
    found: set[Row] = set()
    try:
        source.execute("PRAGMA trusted_schema = OFF")
        for row in source.execute(_PROGRAMS):
            if row not in _OWN_PROGRAMS:
                raise StoreError(f"{file} is not a backup of metastored: it has the {row[0]} {row[1]!r}")
            found.add(row)
    except sqlite3.Error as error:
        raise _no_database(file, error) from error
    return found


def _check_triggers(programs: set[Row], revision: str, file: Path) -> None:
    """Raises StoreError for a file without a trigger that its schema has: caches would not notice changes."""
    missing = sorted(name for _, name, _, _ in _OWN_PROGRAMS - programs)
    if missing and revision >= _FIRST_WITH_TRIGGERS:
        raise StoreError(f"{file} is not a backup of metastored: it lacks the trigger {missing[0]!r}")


def _revision(source: sqlite3.Connection, file: Path) -> str:
    """The version of the schema. Raises StoreError when this metastored does not support it."""
    try:
        row = source.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    except sqlite3.Error as error:
        raise _no_database(file, error) from error
    if row is None:
        raise StoreError(f"{file} is empty: no metastored has used it yet")
    if row[0] not in REVISIONS:
        raise StoreError(
            f"{file} has the schema {row[0]} of a newer metastored; this one supports schemas up to {HEAD}: upgrade "
            "metastored"
        )
    return str(row[0])


def _no_database(file: Path, error: sqlite3.Error) -> StoreError:
    return StoreError(f"{file} is not a database of metastored: {error}")


def _check_length(database: sqlite3.Connection, file: Path) -> None:
    """Raises StoreError for a file that ends too early: SQLite takes the rest of its last page for zeros."""
    (pages,), (size,) = (database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    length = file.stat().st_size
    # With a log beside it, some pages are in that.
    if length % size or (length < pages * size and not _log_of(file).exists()):
        raise StoreError(f"{file} is damaged and cannot be used: it has {length} bytes of {pages * size}")


def _log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def _check(database: sqlite3.Connection, file: Path) -> None:
    """Raises StoreError when SQLite's integrity check fails."""
    try:
        problems = [row[0] for row in database.execute("PRAGMA integrity_check(1)")]
    except sqlite3.Error as error:
        problems = [str(error)]
    if problems != ["ok"]:
        reason = " ".join(str(problems[0]).split()) if problems else "nothing was returned"
        raise StoreError(f"{file} is damaged and cannot be used: {reason}")


def _copy(source: sqlite3.Connection, target: Path, pages: int, progress: Progress | None) -> None:
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            # One transaction around all steps: SQLite would restart the copy after each write of others.
            source.execute("BEGIN")
            try:
                source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
                source.backup(copy, pages=pages, progress=progress)
            finally:
                source.execute("ROLLBACK")
            # One file, complete without a log beside it.
            copy.execute("PRAGMA journal_mode = delete")
            _check(copy, target)
    except sqlite3.Error as error:
        raise StoreError(f"{target.parent.parent} could not take the copy: {error}") from error


@contextmanager
def _unfinished(file: Path) -> Iterator[Path]:
    """A new file, which gets the name `file` at the end; it is removed when anything fails.

    It is in a folder of its own beside `file`, for its owner alone: where others may create files, one of them could
    put a log for SQLite next to it.
    """
    try:
        folder = tempfile.TemporaryDirectory(
            dir=file.parent, prefix=f"{file.name}.unfinished-", ignore_cleanup_errors=True
        )
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}") from error
    with folder as name:
        unfinished = Path(name) / file.name
        os.close(private.create(unfinished, os.O_EXCL, shown=file))
        yield unfinished
        _sync(unfinished)
        _put_in_place(unfinished, file)
        _sync(file.parent)


def _put_in_place(unfinished: Path, file: Path) -> None:
    """Gives a complete file its name. Raises StoreError when that name is taken meanwhile."""
    try:
        os.link(unfinished, file)
    except FileExistsError:
        raise _exists(file) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise StoreError(f"{file} cannot be written: {error.strerror or error}") from error
        # A file system without hard links.
        _refuse_existing(file)
        unfinished.rename(file)


def _sync(path: Path) -> None:
    """Flushes the file to disk, so that it survives a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
