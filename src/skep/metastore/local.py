"""The metastore as a handler: answers every call from the store.

A call runs where its cost says (design decision 7): what reads one row of SQLite runs on the event loop, the rest
on the pool's threads. This file knows no method; it finds the function of the same name in its topic's module.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from skep.errors import ApplicationError, MetaException, MetastoreError, SkepError, StoreError
from skep.hive.generation import Generation
from skep.metastore.context import Context, Encoded, Service
from skep.store.pool import Pool
from skep.wire.message import Call, Reply, Session
from skep.wire.methods import METHODS, Method

log = logging.getLogger("skep.metastore")

TOPICS: Final = (
    *("service", "catalogs", "databases", "functions"),
    *("tables", "table_lists", "create_table", "alter_table", "drop_table"),
    *("partitions", "partition_search", "partition_specs", "partition_marks"),
    *("add_partitions", "alter_partitions", "drop_partitions", "exchange_partitions"),
    *("transactions", "write_ids", "locks", "compactions", "materializations"),
    *("notifications", "indexes", "types", "connectors", "files", "properties"),
    *("resource_plans", "schema_registry", "scheduled_queries", "procedures", "metrics"),
)
"""The modules that serve methods; a public function named like a method serves it."""

Function = Callable[..., Any]
_API_VERSION = {
    Generation.HIVE_2_3: "2.3",
    Generation.HIVE_3_1: "3.1",
    Generation.HIVE_4_0: "4.0.1",
    Generation.HIVE_4_2: "4.2",
}


def served() -> dict[str, Function]:
    """Every method that has a function."""
    found: dict[str, Function] = {}
    for topic in TOPICS:
        module = import_module(f"skep.metastore.{topic}")
        for name, value in vars(module).items():
            if name in METHODS and callable(value) and value.__module__ == module.__name__:
                found[name] = value
    return found


class Local:
    """Answers from the store. `pool` runs what may wait."""

    def __init__(self, service: Service, pool: Pool) -> None:
        self._service = service
        self._pool = pool
        self._functions = served()
        sqlite = service.database.dialect == "sqlite"
        self._on_loop = {
            name for name in self._functions if METHODS[name].cost == "point" and (sqlite or _needs_no_store(name))
        }

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        function = self._functions.get(method.name)
        if function is None:
            # A method of the API that skep does not serve is as unknown as one that Hive never had.
            unknown = ApplicationError(ApplicationError.UNKNOWN_METHOD, f"Invalid method name: '{method.name}'")
            return Reply.raised(method, unknown)
        if session.generation < Generation.HIVE_3_1 and method.versions[0] != "2.3":
            session.generation = Generation.HIVE_3_1
        if method.name in self._on_loop:
            return self._run(function, call, session)
        try:
            return await self._pool.run(partial(self._run, function, call, session))
        except StoreError as error:
            return _failed(method, error, session)

    def _run(self, function: Function, call: Call, session: Session) -> Reply:
        method = call.method
        try:
            value = function(Context(self._service, session), *call.args)
            if type(value) is Encoded:
                return Reply(value.body)
            return Reply.of(method, value)
        except MetastoreError as error:
            return Reply.raised(method, error, _API_VERSION[session.generation])
        except Exception as error:
            return _failed(method, error, session)


def _needs_no_store(name: str) -> bool:
    return METHODS[name].object in ("service", "config")


def _failed(method: Method, error: Exception, session: Session) -> Reply:
    """An error that Hive's IDL has no name for: a MetaException where the method declares it.

    The text avoids the words (IOException, TTransportException, …) that make Java clients try again.
    """
    if isinstance(error, ApplicationError):
        return Reply.raised(method, error)
    if isinstance(error, SkepError):
        log.warning("%s failed: %s", method.name, error)
        text = str(error)
    else:
        log.exception("%s failed", method.name)
        text = f"{method.name} failed inside skep ({type(error).__name__}: {error}); the server's log has more"
    return Reply.raised(method, MetaException(text), _API_VERSION[session.generation])
