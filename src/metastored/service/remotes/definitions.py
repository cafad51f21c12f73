"""All definitions of remotes, read from the store and cached with the number of their state.

While nothing changes, `Remotes.current()` costs one look at the store's version: on SQLite without waiting, on
PostgreSQL as one statement. A change by any server is seen by the next call.
"""

from __future__ import annotations

import logging

from metastored.errors import Error
from metastored.model.remotes import keys
from metastored.model.remotes.catalogs import RemoteCatalog, read_remote_catalog
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import Remote, read_remote
from metastored.service.core.remote_bodies import parameters_of
from metastored.service.remotes.defining import merged
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import remotes
from metastored.store.objects.remotes import RemoteRow
from metastored.store.security.remote_secrets import RemoteSecrets

log = logging.getLogger("metastored.service")


class Remotes:
    """The definitions of one database."""

    def __init__(self, database: Database, secrets: RemoteSecrets) -> None:
        self._database = database
        self._secrets = secrets
        # The store's version and the definitions are replaced together: a thread reads both, or neither.
        self._cached: tuple[int, Definitions] | None = None

    def known_at(self, version: int) -> Definitions | None:
        """The definitions of a version of the store; None if they have to be read."""
        cached = self._cached
        return cached[1] if cached is not None and cached[0] == version else None

    def note(self, version: int, number: int) -> None:
        """Tells the number of the definitions' state, which was read after a version of the store."""
        cached = self._cached
        if cached is not None and cached[1].version == number:
            self._cached = version, cached[1]

    def current(self) -> Definitions:
        """The present definitions, for a thread that may wait. Raises StoreError."""
        version = self._database.version()
        cached = self._cached
        if cached is not None and cached[0] == version:
            return cached[1]
        number = remotes.version(self._database.reader())
        if cached is not None and cached[1].version == number:
            # Something else was written.
            self._cached = version, cached[1]
            return cached[1]
        with self._database.read() as tx:
            definitions = read_definitions(tx, self._secrets)
        self._cached = version, definitions
        return definitions


def read_definitions(tx: Transaction, secrets: RemoteSecrets) -> Definitions:
    """All definitions of one state of the store."""
    number = remotes.version(tx)
    catalogs, others = list[RemoteCatalog](), list[Remote]()
    for row in remotes.all(tx):
        if row.database is None:
            catalogs.append(_catalog(row, secrets))
        else:
            others.append(_remote(tx, row, row.database, secrets))
    return Definitions(others, catalogs, number)


def _remote(tx: Transaction, row: RemoteRow, database: str, secrets: RemoteSecrets) -> Remote:
    what = f"the remote {row.catalog}.{database}" + (f".{row.table}" if row.table else "")
    try:
        own = secrets.opened(parameters_of(row))
        return read_remote(row.catalog, database, row.table, merged(tx, secrets, own, what))
    except Error as error:
        return Remote(row.catalog, database, row.table, database, row.table, _invalid(what, error))


def _catalog(row: RemoteRow, secrets: RemoteSecrets) -> RemoteCatalog:
    try:
        return read_remote_catalog(row.catalog, secrets.opened(parameters_of(row)))
    except Error as error:
        return RemoteCatalog(row.catalog, _invalid(f"the remote catalog {row.catalog}", error))


def _invalid(what: str, error: Error) -> Endpoint:
    """A definition that cannot be read fails its own calls, and no others."""
    log.error("%s cannot be used: %s", what, error)
    return Endpoint(keys.INVALID, ((keys.VIA, str(error)),))
