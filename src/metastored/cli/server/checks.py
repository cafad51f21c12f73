"""The checks of `metastored doctor`, besides those of the database itself (`store/diagnosis.py`). They only read.

Each check returns what it looked at in a few words, and findings with remedies.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from metastored import __version__
from metastored.errors import Error, StoreError, TransportError
from metastored.model.counting import counted
from metastored.store.diagnosis import Finding

if TYPE_CHECKING:
    from metastored.cli.options import Login
    from metastored.client._sync.client import Client
    from metastored.config import Settings
    from metastored.store.engine.database import Database

SKEW: Final = 5.0
"""Seconds by which clocks may differ: transactions and locks time out by the clocks of all servers."""
LITTLE_SPACE: Final = 0.05
"""The part of a file system that should be free."""
PATIENCE: Final = 10.0
"""Seconds for a call of the running server."""


class Check(NamedTuple):
    """What one check looked at, and what it found."""

    area: str
    detail: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences that are worth reading and no problems."""


def check_configuration(settings: Settings) -> Check:
    """The combinations of settings that a server refuses or warns about, and files that others may read."""
    from metastored.server.safety import findings, open_files

    warnings = findings(settings)
    wrong = [
        Finding("configuration", each.text, "correct the settings: the server does not start with them")
        for each in warnings
        if each.refuses
    ]
    notes = (*(each.text for each in warnings if not each.refuses), *open_files(settings))
    return Check("configuration", "the settings can be combined", tuple(wrong), notes)


def check_http(settings: Settings) -> Check:
    """The paths that the HTTP port of a server with these settings has."""
    from metastored.config import ICEBERG_PATH, LANCE_PATH, RESERVED_PATHS

    if settings.http_port is None:
        return Check("HTTP", "there is no HTTP port (http_port)")
    paths = [settings.http_path, *RESERVED_PATHS]
    paths += [path for path, on in ((ICEBERG_PATH, settings.iceberg), (LANCE_PATH, settings.lance)) if on == "on"]
    return Check("HTTP", f"port {settings.http_port} serves {', '.join(paths)}")


def check_versions(database: Database | None) -> Check:
    """The versions of what metastored uses."""
    from importlib.metadata import PackageNotFoundError, version

    parts = [f"metastored {__version__}", f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    if database is not None and database.dialect == "postgresql":
        parts.append(f"PostgreSQL {_one(database, 'SHOW server_version')}")
    for package in ("pyspark", "pyarrow", "pylance", "pyiceberg"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return Check("versions", ", ".join(parts))


def check_warehouse(settings: Settings, database: Database) -> Check:
    """Whether this user could use the warehouse as a server does. Creates nothing."""
    from metastored.hive.locations import is_local, local_path
    from metastored.service.bootstrap import stored_warehouse
    from metastored.store.warehouse.directories import Warehouse

    root = settings.warehouse or stored_warehouse(database) or settings.warehouse_root
    warehouse = Warehouse(root, settings.directories, schemes=settings.location_schemes)
    if not warehouse.looks_at(root):
        return Check("warehouse", f"{root} is not accessed by this server (directories: {settings.directories})")
    try:
        warehouse.check()
    except StoreError as error:
        return Check("warehouse", root, (Finding("warehouse", str(error), "install the driver, or set directories"),))
    if not is_local(root):
        return Check("warehouse", f"{root}: the driver is installed; the storage was not called")
    path = local_path(root)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    if not os.path.isdir(path) or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        what = "is not a directory" if not os.path.isdir(path) else "may not be written by this user"
        advice = "run the server as a user who may write to it, or change the permissions"
        return Check("warehouse", root, (Finding("warehouse", f"{path} {what}", advice),))
    usage = shutil.disk_usage(path)
    free = f"{usage.free / 2**30:,.1f} GiB are free"
    if usage.free < usage.total * LITTLE_SPACE:
        return Check("warehouse", root, (Finding("warehouse", f"{path}: only {free}", "free some space"),))
    return Check("warehouse", f"{root}: {free}")


def check_clocks(database: Database) -> Check:
    """Compares the clock of this machine with that of PostgreSQL, and with the newest times in the database."""
    now, wrong = time.time(), []
    advice = "synchronize the clocks of all machines, such as by chrony or systemd-timesyncd"
    detail = "no time in the database is in the future"
    if database.dialect == "postgresql":
        there = float(_one(database, "SELECT extract(epoch FROM clock_timestamp())") or now)
        detail = f"that of PostgreSQL differs by {abs(there - now):.1f} s; {detail}"
        if abs(there - now) > SKEW:
            wrong.append(Finding("clock", f"the clock of PostgreSQL differs by {there - now:+.1f} s", advice))
    for what, statement in (
        ("the newest event", "SELECT max(time) FROM events"),
        ("the last heartbeat of a transaction", "SELECT max(heartbeat) / 1000 FROM txns"),
    ):
        newest = _one(database, statement)
        if newest is not None and float(newest) > now + SKEW:
            ahead = float(newest) - now
            wrong.append(Finding("clock", f"{what} is {ahead:,.0f} s in the future of this machine", advice))
    return Check("clocks", detail, tuple(wrong))


def check_server(uri: str, login: Login, database: Database, *, must_answer: bool) -> Iterator[Check]:
    """The running server, if there is one, and its remotes, which are called through it."""
    from metastored.store.engine import meta
    from metastored.store.objects import remotes

    number = len(remotes.all(database.reader()))
    with login.connect(uri) as connected:
        client = connected.within(PATIENCE)
        try:
            version = str(client.capabilities.version())
            uuid = client.api.get_metastore_db_uuid()
        except TransportError as error:
            if must_answer:
                advice = "start the server, or correct --uri"
                yield Check("server", uri, (Finding("server", str(error), advice),))
            else:
                yield Check("server", f"no server answers at {uri}")
            yield Check("remotes", f"{counted(number, 'definition')}; remotes are called through a running server only")
            return
        except Error as error:
            yield Check("server", f"{uri} answers, but refuses this caller: {error}")
            yield Check("remotes", f"{counted(number, 'definition')}; not called")
            return
        if uuid != meta.value(database.reader(), meta.UUID):
            yield Check("server", f"the one at {uri} uses another database")
            yield Check("remotes", f"{counted(number, 'definition')}; remotes are called through a running server only")
            return
        yield Check("server", f"the one at {uri} answers as Hive {version}")
        yield _remotes(client)


def _remotes(client: Client) -> Check:
    from metastored.cli.others.remotes import tested_remote

    tested = [tested_remote(client, row) for row in client.sql("SHOW REMOTES").dicts()]
    advice = "metastored remotes test NAME repeats this; ALTER REMOTE changes its address or credentials"
    wrong = [Finding("remote", f"{each.kind} {each.name}: {each.detail}", advice) for each in tested if not each.ok]
    answering = f"{len(tested) - len(wrong)} of {len(tested)} answer" if tested else "there are none"
    open_storage = [f"; {each.name}: {each.warning}" for each in tested if each.warning is not None]
    return Check("remotes", answering + "".join(open_storage), tuple(wrong))


def _one(database: Database, statement: str) -> str | None:
    from metastored.store.engine.statements import Statement

    row = database.reader().one(Statement(statement))
    return None if row is None or row[0] is None else str(row[0])
