"""The metastore as a handler: answers every call from the store.

A call runs where its cost says: what reads one row of SQLite runs on the event loop, the rest
on the pool's threads. This file knows no method: `core/serving.py` collects the functions that
serve them.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

from metastored.errors import ApplicationError, Error, MetaException, MetastoreError, StoreError
from metastored.hive.generation import Generation
from metastored.service.core.conflicts import ATTEMPTS, ConcurrentChange
from metastored.service.core.context import Context, Encoded, Service
from metastored.service.core.serving import Function, served
from metastored.threads import Pool
from metastored.wire.checks import fault
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS, Method

log = logging.getLogger("metastored.service")

ON_LOOP: Final = 4 * 1024
"""Bytes of a call that may be answered on the event loop: parsing what is longer would keep the others waiting."""


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
            # A method of the API that metastored does not serve is as unknown as one that Hive never had.
            unknown = ApplicationError(ApplicationError.UNKNOWN_METHOD, f"Invalid method name: '{method.name}'")
            return Reply.raised(method, unknown)
        if session.generation < Generation.HIVE_3_1 and method.versions[0] != "2.3":
            session.generation = Generation.HIVE_3_1
        if method.name in self._on_loop and call.size <= ON_LOOP:
            return self._run(function, call, session)
        try:
            return await self._pool.run(partial(self._run, function, call, session))
        except StoreError as error:
            return _failed(method, error, session)

    def _run(self, function: Function, call: Call, session: Session) -> Reply:
        method = call.method
        try:
            wrong = fault(call)
            if wrong is not None:
                return Reply.failed(method, wrong, session.version)
            value = self._answer(function, call, session)
            if type(value) is Encoded:
                return Reply(value.body)
            return Reply.of(method, value)
        except MetastoreError as error:
            return Reply.raised(method, error, session.version)
        except Exception as error:
            return _failed(method, error, session)

    def _answer(self, function: Function, call: Call, session: Session) -> Any:
        """What the function says; if other calls outran it, it begins again."""
        for _ in range(ATTEMPTS):
            try:
                return function(Context(self._service, session), *call.args)
            except ConcurrentChange as conflict:
                last = conflict
            service = self._service
            failures = service.warehouse.finish_jobs(
                service.database, last.jobs, retry=last.needed, now=service.clock()
            )
            for failure in failures:
                if failure.id in last.needed:
                    raise MetaException(
                        f"{failure}. A job that was left by an earlier call must be done first; metastored doctor"
                        " lists it, and it is tried again by each call that needs it"
                    )
        raise MetaException(str(last))


def _needs_no_store(name: str) -> bool:
    return METHODS[name].object in ("service", "config")


def _failed(method: Method, error: Exception, session: Session) -> Reply:
    """An error that Hive's IDL has no name for: a MetaException where the method declares it.

    The text avoids the words (IOException, TTransportException, …) that make Java clients try again.
    """
    if isinstance(error, ApplicationError):
        return Reply.raised(method, error)
    if isinstance(error, Error):
        log.warning("%s failed: %s", method.name, error)
        text = str(error)
    else:
        log.exception("%s failed", method.name)
        text = f"{method.name} failed inside metastored ({type(error).__name__}: {error}); the server's log has more"
    return Reply.raised(method, MetaException(text), session.version)
