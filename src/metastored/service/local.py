"""The metastore as a handler: serves every call from the store.

A call that reads one row of SQLite, or a few for a short reply, runs on the event loop; so does one that reads single
rows of PostgreSQL, which is run again with each row that it needed. The rest runs on the pool's threads.

This file names no method: `core/serving.py` collects the functions that serve them.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, Final

from metastored.errors import (
    ApplicationError,
    Error,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    StoreError,
)
from metastored.hive.locations import LocationError
from metastored.hive.names import CatalogNameError, FullNameError, PartitionNameError
from metastored.service.core.compat import show, shown_by
from metastored.service.core.conflicts import ATTEMPTS, ConcurrentChange
from metastored.service.core.context import Context, Encoded, NotItsTurn, Service
from metastored.service.core.serving import Function, served, served_if_short
from metastored.store.engine.database import Database
from metastored.store.engine.replay import replayed
from metastored.threads import Pool
from metastored.wire.checks import fault
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS, Method

log = logging.getLogger("metastored.service")

ON_LOOP: Final = 4 * 1024
"""The longest call in bytes that may be served on the event loop: parsing longer ones would block other connections."""

SHORT_ON_LOOP: Final = 64 * 1024
"""The same for functions marked as `short`: they look at the beginning of long arguments, or compare them."""

UNREADABLE: Final = (CatalogNameError, FullNameError, PartitionNameError, LocationError)
"""Errors in names and locations of clients. Their messages say what was wrong."""


class Local:
    """Serves calls from the store. `pool` runs the calls that may block."""

    def __init__(self, service: Service, pool: Pool) -> None:
        self._service = service
        self._pool = pool
        self._for_ended = asyncio.Semaphore()
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        """Of the long lists that are read one after the other, on the event loop that served the last of them."""
        self._functions = served()
        self._shown = {name: shown_by(METHODS[name]) for name in self._functions}
        self._if_short = served_if_short()
        self._reader = reader = service.database.loop_reader()
        self._lists_wait = reader is None
        points = {name for name in self._functions if METHODS[name].cost == "point"}
        self._on_loop = points if reader is None else {name for name in points if _needs_no_store(name)}
        self._by_rows = {name for name in points - self._on_loop if METHODS[name].verb == "read"}

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        function = self._functions.get(method.name)
        if function is None:
            # A method of the API that metastored does not serve gets the same error as one that Hive never had.
            unknown = ApplicationError(ApplicationError.UNKNOWN_METHOD, f"Invalid method name: '{method.name}'")
            return Reply.raised(method, unknown)
        show(session, self._shown[method.name])
        if method.name in self._on_loop and call.size <= ON_LOOP:
            return self._run(function, call, session)
        if method.name in self._by_rows and call.size <= ON_LOOP and self._reader is not None:
            result = await replayed(self._reader, partial(self._run, function, call, session))
            if result is not None:
                call.version = result.version
                return result.value
        elif method.name in self._if_short and call.size <= SHORT_ON_LOOP:
            short = await self._served_if_short(call, session)
            if short is not None:
                return short
        has_turn = not self._lists_wait or method.verb != "read"
        try:
            try:
                reply = await self._pool.run(partial(self._run_for_readers, function, call, session, has_turn=has_turn))
            except NotItsTurn:
                async with self._turn_on(asyncio.get_running_loop()):
                    reply = await self._pool.run(partial(self._run_for_readers, function, call, session))
            return reply or await self._run_last(function, call, session)
        except StoreError as error:
            return _failed(method, error, session)

    def _turn_on(self, loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
        """A semaphore belongs to one event loop; a server has one for all calls of a worker."""
        if self._turn is None or self._turn[0] is not loop:
            self._turn = loop, asyncio.Semaphore()
        return self._turn[1]

    async def _served_if_short(self, call: Call, session: Session) -> Reply | None:
        attempt = partial(self._run_if_short, self._if_short[call.method.name], call, session)
        if self._reader is None:
            return attempt()
        result = await replayed(self._reader, attempt)
        return None if result is None else result.value

    def _run_if_short(
        self, function: Function, call: Call, session: Session, database: Database | None = None
    ) -> Reply | None:
        if None in call.args:
            return None
        try:
            value: Encoded | None = function(Context(self._service, session, database), *call.args)
        except (Error, *UNREADABLE):
            return None
        return None if value is None else Reply(value.body)

    def _run_for_readers(
        self, function: Function, call: Call, session: Session, *, has_turn: bool = True
    ) -> Reply | None:
        """Serves a call; None for a read whose peer has probably disconnected while the call was waiting."""
        if session.ended and call.method.verb == "read":
            return None
        return self._run(function, call, session, has_turn=has_turn)

    async def _run_last(self, function: Function, call: Call, session: Session) -> Reply:
        """Serves a read for a peer that has sent its last byte, one such call at a time.

        Most of these peers are gone, and only a reply shows which: the calls of others must not wait for theirs.
        """
        async with self._for_ended:
            if session.gone:
                return Reply.failed(call.method, "the client has disconnected", session.version)
            return await self._pool.run(partial(self._run, function, call, session))

    def _run(
        self,
        function: Function,
        call: Call,
        session: Session,
        database: Database | None = None,
        *,
        has_turn: bool = True,
    ) -> Reply:
        method = call.method
        try:
            wrong = fault(call)
            if wrong is not None:
                return Reply.failed(method, wrong, session.version)
            value = self._call(function, call, session, database, has_turn)
            if type(value) is Encoded:
                return Reply(value.body)
            return Reply.of(method, value)
        except MetastoreError as error:
            return Reply.raised(method, _declared(method, error, session), session.version)
        except NotItsTurn:
            raise
        except Exception as error:
            return _failed(method, error, session)

    def _call(self, function: Function, call: Call, session: Session, database: Database | None, has_turn: bool) -> Any:
        """Calls the function; retries when it raises ConcurrentChange because of a conflict with another call."""
        for _ in range(ATTEMPTS):
            try:
                return function(Context(self._service, session, database, has_turn=has_turn), *call.args)
            except ConcurrentChange as conflict:
                last = conflict
            service = self._service
            failures = service.warehouse.finish_jobs(
                service.database, last.jobs, retry=last.needed, now=service.clock()
            )
            for failure in failures:
                if failure.id in last.needed:
                    raise MetaException(
                        f"{failure}. A pending job of an earlier call must be done first; metastored doctor"
                        " lists it, and each call that needs it retries it"
                    )
        raise MetaException(str(last))


def _needs_no_store(name: str) -> bool:
    return METHODS[name].object in ("service", "config")


def _declared(method: Method, error: MetastoreError, session: Session) -> MetastoreError:
    """A missing object, as a MetaException where the method's version declares no NoSuchObjectException.

    Hive's Thrift turns an undeclared exception into "Internal error processing …", which names nothing and which Java
    clients take for a broken connection.
    """
    declared = method.throws_in(session.version)
    if isinstance(error, NoSuchObjectException) and type(error).__name__ not in declared:
        return MetaException(str(error)) if MetaException.__name__ in declared else error
    return error


def _failed(method: Method, error: Exception, session: Session) -> Reply:
    """An error that Hive's IDL has no exception for: a MetaException where the method declares it.

    The text avoids the words (IOException, TTransportException, …) that make Java clients retry.
    """
    if isinstance(error, ApplicationError):
        return Reply.raised(method, error)
    if isinstance(error, (Error, *UNREADABLE)):
        log.warning("%s failed: %s", method.name, error)
        text = str(error)
    else:
        log.exception("%s failed", method.name)
        text = f"{method.name} failed inside metastored ({type(error).__name__}: {error}); the server's log has more"
    return Reply.raised(method, MetaException(text), session.version)
