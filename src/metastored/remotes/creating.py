"""New remotes are tested before they are created: what they show has to exist.

A database or a table that the remote does not have is refused. A remote that does not answer is a warning in the log,
because the object may well be there. A remote catalog with a prefix, whose databases belong to the list of all
databases, is refused if none of its hosts exists: that list would fail for everybody. Where listings leave out remotes
that do not answer (`remotes_partial`), that is a warning too. Nothing is written here.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, Final

from metastored.connectors.network import missing_host
from metastored.errors import Error, NoSuchObjectException, UnknownDBException
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.values import Remote, is_remote
from metastored.remotes import refusals
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.service.core.context import Context, Service
from metastored.service.remotes.defining import define, define_catalog
from metastored.store.objects import databases, tables
from metastored.threads import Pool
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import CreateDatabaseRequest, Database
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import Struct

log = logging.getLogger("metastored.remotes")

Described = Table | Database | CreateDatabaseRequest | Catalog
_EVENTS: Final = {"CREATE_TABLE", "CREATE_DATABASE", "CREATE_CATALOG"}


class Creations:
    """Tests what calls would create."""

    def __init__(self, service: Service, endpoints: Endpoints, pool: Pool, partial: bool) -> None:
        self._service = service
        self._endpoints = endpoints
        self._pool = pool
        self._partial = partial

    async def refusal(self, call: Call, session: Session) -> Reply | None:
        """The error of a call that would create a remote of nothing; None for all others. See `may_create`."""
        given = _described(call.args)
        if given is None:
            return None
        try:
            remote = await self._pool.run(lambda: self._proposed(given, session))
        except Error:
            return None  # The metastore refuses the definition itself.
        if remote is None:
            return None
        if isinstance(remote, RemoteCatalog):
            return await self._test_catalog(call.method, session, remote)
        return await self._test(call.method, session, remote)

    def _proposed(self, given: Described, session: Session) -> Remote | RemoteCatalog | None:
        """What a definition would be, if it is allowed; None where the name is taken, which is another error."""
        ctx, parameters = Context(self._service, session), given.parameters or {}
        tx = ctx.reader()
        if isinstance(given, Catalog):
            return define_catalog(ctx, tx, given.name or "", parameters).remote
        if isinstance(given, Table):
            where = DatabaseName(*ctx.name(given.dbName, given.catName))
            table = normalize(given.tableName or "")
            if databases.find(tx, *where) is None or tables.find(tx, *where, table) is not None:
                return None
            return define(ctx, tx, where, table, parameters).remote
        name = given.name if isinstance(given, Database) else given.databaseName
        where = DatabaseName(*ctx.name(name, given.catalogName))
        return None if databases.find(tx, *where) is not None else define(ctx, tx, where, None, parameters).remote

    async def _test(self, method: Method, session: Session, remote: Remote) -> Reply | None:
        database = DatabaseName(remote.catalog, remote.database).field
        if remote.table is None:
            read = Call(METHODS["get_database"], (database,))
        else:
            read = Call(METHODS["get_table"], (database, remote.table))
        sent = Known(Definitions((remote,))).renaming((remote,)).call(read)
        try:
            (await self._endpoints.handler(remote.endpoint).handle(sent, session)).value(read.method)
        except (NoSuchObjectException, UnknownDBException):
            self._endpoints.forget(remote.endpoint)
            return refusals.nothing_there(method, session, remote)
        except Error as error:
            log.warning("%s is created, and could not be tested: %s", remote, error)
        return None

    async def _test_catalog(self, method: Method, session: Session, catalog: RemoteCatalog) -> Reply | None:
        missing = await missing_host(catalog.endpoint)
        if missing is not None and catalog.prefix is not None and not self._partial:
            return refusals.no_host(method, session, catalog, missing)
        read = Call(METHODS["get_all_databases"], ())
        try:
            (await self._endpoints.handler(catalog.endpoint).handle(read, session)).value(read.method)
        except Error as error:
            log.warning("%s is created, and could not be tested: %s", catalog, error)
        return None


@cache
def may_create(method: Method) -> bool:
    """Whether calls of a method create tables, databases or catalogs."""
    return method.verb == "ddl" and not _EVENTS.isdisjoint(method.event.split())


def _described(value: Any) -> Described | None:
    """The first object in decoded arguments whose parameters make it remote."""
    if isinstance(value, Described) and is_remote(value.parameters):
        return value
    if isinstance(value, Struct | tuple):
        return next((described for item in value if (described := _described(item)) is not None), None)
    return None
