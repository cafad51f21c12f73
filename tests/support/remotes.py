"""Remotes for tests: definitions by few words, and a local metastore with remotes over real sockets beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from metastored.connectors.registry import Connectors
from metastored.model.names import DatabaseName
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import Access, Remote
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.routing import Routed
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import ThriftServer, serving

SOON = 0.2
LATE = 60.0


def endpoint(uri: str, timeout: float = LATE) -> Endpoint:
    return Endpoint("thrift", (("hive.metastore.uris", uri),), timeout)


def remote_database(name: str, remote_name: str, uri: str, timeout: float = LATE, **fields: Any) -> Remote:
    return Remote("hive", name, None, remote_name, None, endpoint(uri, timeout), **fields)


def remote_table(name: str, remote_name: str, uri: str, timeout: float = LATE, **fields: Any) -> Remote:
    """Both names are `db.table`."""
    database, _, table = name.partition(".")
    there, _, its = remote_name.partition(".")
    return Remote("hive", database, table, there, its, endpoint(uri, timeout), **fields)


class House:
    """A local metastore with `default` and `shop`, and a remote one whose `raw` is known here as `sales`."""

    def __init__(self, living: ThriftServer, dead: ThriftServer, partial: bool = False) -> None:
        self.local = MemoryMetastore({"default": ("orders",), "raw": ("shadow",), "shop": ("mine",), "sales": ()})
        self.living = living
        self.dead = dead
        self.endpoints = Endpoints(Connectors().connect)
        self.roles: tuple[str, ...] = ()
        self.define([])
        self.handler = Routed(self.local, self._definitions, self.endpoints, roles=self._roles, partial=partial)

    def define(
        self, remotes: Iterable[Remote], catalogs: Iterable[RemoteCatalog] = (), access: Access = Access.READ
    ) -> None:
        """These remotes, beside `sales`."""
        sales = remote_database("sales", "raw", self.living.uri, access=access)
        local = [DatabaseName("hive", name) for name in self.local.databases]
        self.known = Known(Definitions([sales, *remotes], catalogs), local)

    async def _definitions(self) -> Known:
        return self.known

    async def _roles(self, session: Session) -> tuple[str, ...]:
        return self.roles

    @property
    def remote(self) -> MemoryMetastore:
        assert isinstance(self.living.handler, MemoryMetastore)
        return self.living.handler

    async def ask(self, name: str, *args: Any, user: str | None = None, session: Session | None = None) -> Any:
        """What a caller gets, on a connection of its own unless one is given."""
        method = METHODS[name]
        return (await self.handler.handle(Call(method, args), session or Session(user=user))).value(method)


@asynccontextmanager
async def house(*names: str, partial: bool = False) -> AsyncIterator[House]:
    """`names` are those of further remotes: `lost` and `patient` are in a metastore that never answers."""
    async with AsyncExitStack() as stack:
        living = await stack.enter_async_context(
            serving(MemoryMetastore({"raw": ("clicks", "views"), "default": ("theirs",), "hidden": ("secret",)}))
        )
        dead = await stack.enter_async_context(serving(None))
        known = {
            "lost": remote_database("lost", "raw", dead.uri, SOON),
            "patient": remote_database("patient", "raw", dead.uri),
            "twin": remote_database("twin", "raw", living.uri),
            "theirs": remote_database("theirs", "default", living.uri),
            "shop.seen": remote_table("shop.seen", "raw.clicks", living.uri),
            "shop.gone": remote_table("shop.gone", "raw.clicks", dead.uri, SOON),
        }
        found = House(living, dead, partial)
        for name in names:
            database, _, table = name.partition(".")
            found.local.databases[database] = (*found.local.databases.get(database, ()), *([table] if table else []))
        found.define([known[name] for name in names])
        try:
            yield found
        finally:
            await found.endpoints.close()
