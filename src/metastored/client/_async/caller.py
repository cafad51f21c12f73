"""Makes one call: over a pooled connection, with retries, and from the cache where possible.

Every method of the API is callable here, with types; the convenient forms are in client.py.
"""

from __future__ import annotations

import logging
import random
from struct import error as StructError
from typing import Any, Final

from metastored.client._async.events import AsyncEventPoll
from metastored.client._async.methods import AsyncMethods
from metastored.client._async.pool import AsyncPool
from metastored.client._backend import aio as io
from metastored.client.cache import Absent, MetadataCache, changes, is_cacheable, tags_of
from metastored.client.endpoints import Identity
from metastored.client.hints import not_a_metastore, unconnected
from metastored.client.metrics import Metrics
from metastored.client.naming import named
from metastored.client.outcomes import Lookup, lookup_of
from metastored.client.pooling import CLOSED
from metastored.client.retry import Retry
from metastored.client.versions import missing_method
from metastored.errors import (
    ApplicationError,
    ConnectError,
    ConnectionLost,
    Error,
    InvalidInputException,
    MetastoreError,
    MethodMissing,
    NoSuchObjectException,
    RemoteProtocolError,
    TransportError,
)
from metastored.model import arguments
from metastored.model.refusals import refusal
from metastored.wire.codec import binary
from metastored.wire.generated.functions import Function
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.message import EXCEPTION, Reply
from metastored.wire.methods import METHODS, Method

log = logging.getLogger("metastored.client")

KNOWN_TO_ALL: Final = frozenset({"get_all_databases", "get_databases", "get_database", "get_all_tables", "get_tables"})
"""The methods that every metastore has, also one with few methods."""


class AsyncCaller(AsyncMethods):
    """Every method of the metastore."""

    def __init__(
        self,
        pool: AsyncPool | None,
        inside: io.InProcess | None,
        identity: Identity,
        timeout: float,
        retry: Retry,
        cache: MetadataCache | None,
        metrics: Metrics | None = None,
    ) -> None:
        self.pool: Final = pool
        self.timeout = timeout
        """Seconds for a call, including its retries."""
        self.cache: Final = cache
        self.copies = True
        """Whether each caller gets maps of its own in a cached result."""
        self.reads_columns = True
        """Whether the columns of tables in a long reply are decoded."""
        self.uri: Final = "this process" if pool is None else str(pool.addresses)
        self._inside = inside
        self._identity = identity
        self._retry = retry.checked()
        self._metrics = metrics
        self._shared = _Shared()
        self._events = None if cache is None else AsyncEventPoll(cache, self._uncached, self.uri, timeout)

    @property
    def address(self) -> str:
        """The address that calls are sent to: of several addresses, the one that replied last."""
        return self.uri if self.pool is None else self.pool.addresses.current

    @property
    def calls(self) -> int:
        """The number of calls that were sent, including retries."""
        return self._shared.calls

    async def call(self, name: str, *args: Any) -> Any:
        """The result of any method. Arguments that are left out are null."""
        method = METHODS.get(name)
        if method is None:
            raise InvalidInputException(f"the metastore's API has no method {name!r}")
        if len(args) > len(method.args):
            raise InvalidInputException(f"{name} takes {len(method.args)} arguments, not {len(args)}")
        args = (*args, *[None] * (len(method.args) - len(args)))
        body = _encoded(method, args)
        if not self.reads_columns:
            method = method.with_unread_columns
        deadline = io.Deadline(self.timeout)
        try:
            if self.cache is not None and is_cacheable(method):
                return await self._cached(self.cache, method, args, body, deadline)
            try:
                return await self._result(method, args, body, deadline)
            finally:
                # Also after an error: a write whose reply was lost may have taken effect.
                if self.cache is not None and changes(method):
                    self.cache.changed(tags_of(method, args))
        except Error as error:
            # Without the frames and the causes in pool and sockets: the message is complete.
            raise error.with_traceback(None) from None
        finally:
            deadline.cancel()

    async def close(self) -> None:
        """Closes all connections and ends everything that runs beside the calls."""
        if self._events is not None:
            self._events.stop()
        if self.pool is not None:
            await self.pool.close()
        if self._events is not None:
            await self._events.join()
        if self._inside is not None:
            await self._inside.close()

    # The cache

    async def _cached(
        self, cache: MetadataCache, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline
    ) -> Any:
        # Results with unread columns are cached apart: other callers would not understand them.
        key = (method.name, body if method.reads_columns else body + b" with unread columns")
        value = cache.get(key)
        if value is None:
            value = await self._fetched(cache, key, method, args, body, deadline)
        if isinstance(value, Absent):
            raise value.error
        # A caller may change a map: each caller gets maps of its own.
        return binary.copy_result(method, value) if self.copies else value

    async def _fetched(
        self,
        cache: MetadataCache,
        key: tuple[str, bytes],
        method: Method,
        args: tuple[Any, ...],
        body: bytes,
        deadline: io.Deadline,
    ) -> Any:
        """The result, or an Absent. Concurrent calls with the same arguments are combined into one."""
        shared = self._shared
        while True:
            with shared.lock:
                running = shared.fetches.get(key)
                if running is None:
                    own = shared.fetches[key] = io.new_waiter()
            if running is not None:
                cache.joined()
                outcome = await deadline.wait(io.follow(running), f"a concurrent call of {method.name}")
                if isinstance(outcome, Error):
                    raise outcome
                if outcome is not None:
                    return outcome
                continue  # The caller that fetched it was cancelled.
            result: Any = None
            try:
                assert self._events is not None
                await self._events.start(deadline)
                moment = cache.moment()
                result = await self._result_or_absent(method, args, body, deadline)
                cache.put(key, result, tags_of(method, args), moment)
                return result
            except Error as error:
                result = error
                raise
            finally:
                with shared.lock:
                    del shared.fetches[key]
                io.resolve(own, result)

    async def _result_or_absent(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Any:
        try:
            return await self._result(method, args, body, deadline)
        except NoSuchObjectException as error:
            return Absent(error)

    # The network

    async def _uncached(self, name: str, args: tuple[Any, ...], deadline: io.Deadline) -> Any:
        method = METHODS[name]
        return await self._result(method, args, binary.encode_args(method, args), deadline)

    async def _result(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Any:
        reply = await self._exchange(method, args, body, deadline)
        return self._value(reply, method, args) if isinstance(reply, Reply) else reply.value

    def _value(self, reply: Reply, method: Method, args: tuple[Any, ...]) -> Any:
        try:
            value = reply.value(method)
        except MetastoreError as error:
            raise refusal(error) or named(error, method, args) from None
        except ApplicationError as error:
            if (refused := refusal(error)) is not None:
                raise refused from None
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise
            if method.name in KNOWN_TO_ALL and self.pool is not None:
                port = self.pool.addresses.order()[0].port
                raise RemoteProtocolError(f"{self.uri}: {not_a_metastore(method.name, port)}") from None
            raise MethodMissing(missing_method(method, self.uri, error.message)) from None
        if value is None and method.returns is not None:
            raise ApplicationError(ApplicationError.MISSING_RESULT, f"{method.name} failed: unknown result")
        return value

    async def _exchange(
        self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline
    ) -> Reply | _Done:
        """The reply; or, if it was lost and a lookup showed that the call took effect, its result."""
        if self._metrics is None:
            return await self._retried(method, args, body, deadline)
        started, outcome = io.now(), "failed"
        try:
            reply = await self._retried(method, args, body, deadline)
            outcome = "error" if isinstance(reply, Reply) and _is_refusal(reply) else "ok"
            return reply
        finally:
            self._metrics.called(method.name, io.now() - started, outcome)

    async def _retried(
        self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline
    ) -> Reply | _Done:
        attempt, lost = 0, False
        lookup: Lookup | None = None
        while True:
            attempt += 1
            sent = False
            try:
                connection = None if self.pool is None else await self.pool.acquire(self._identity, deadline)
                sent = True
                reply = await self._once(connection, method, body, deadline)
            except (TransportError, RemoteProtocolError) as error:
                if sent and not lost:
                    lost = True
                    lookup = lookup_of(method, args) if method.retry == "lookup" else None
                delay = self._retry.delay(attempt, random.random())
                if (
                    not self._retry.again(method, error, attempt, sent)
                    or (lost and method.retry == "lookup" and lookup is None)
                    or delay >= deadline.remaining()
                ):
                    raise self._explained(error, method, lost) from None
                if self._metrics is not None:
                    self._metrics.repeated(method.name)
                log.info("%s at %s failed and is retried in %.3f s: %s", method.name, self.uri, delay, error)
                failure = error
            else:
                # An earlier attempt may have taken effect after its lookup: this one was then refused for that reason.
                if lookup is not None and _is_refusal(reply):
                    return await self._outcome(lookup, failure, method, deadline) or reply
                return reply
            await io.sleep(delay)
            if lookup is not None and (done := await self._outcome(lookup, failure, method, deadline)) is not None:
                return done

    async def _once(
        self, connection: io.Connection | None, method: Method, body: bytes, deadline: io.Deadline
    ) -> Reply:
        """One attempt, over this connection or in this process."""
        self._shared.calls += 1
        doing = f"the reply to {method.name}"
        if connection is None or self.pool is None:
            assert self._inside is not None
            return await deadline.wait(self._inside.call(method, body), doing)
        try:
            reply = await deadline.wait(connection.call(method, body), doing)
            if reply.kind == EXCEPTION and not _is_unknown_method(reply):
                connection.abort()  # Old servers close the connection shortly after an internal error.
            return reply
        except BaseException as error:
            connection.abort()
            if isinstance(error, (ConnectionLost, RemoteProtocolError)):
                if not connection.reused:
                    self.pool.addresses.failed(connection.endpoint)
                elif not connection.received:
                    self.pool.drop_idle()  # The server was restarted: all idle connections are stale.
            raise
        finally:
            self.pool.release(connection)

    async def _outcome(self, lookup: Lookup, failure: Exception, method: Method, deadline: io.Deadline) -> _Done | None:
        """The result of a call whose reply was lost, if it took effect. Raises `failure` if the lookup fails."""
        try:
            read = await self._looked_up(lookup, deadline)
        except Error as error:
            text = f"{failure}; the lookup of its outcome failed too ({error})"
            raise self._explained(type(failure)(text), method, lost=True) from None
        return _Done(lookup.result(read)) if lookup.took_effect(read) else None

    async def _looked_up(self, lookup: Lookup, deadline: io.Deadline) -> Any:
        """The object as it is now; None if it does not exist."""
        try:
            if lookup.object == "table":
                return await self._table(lookup.db, lookup.name, deadline)
            if lookup.object == "database":
                return await self._uncached("get_database", (lookup.db,), deadline)
            if lookup.object == "function":
                function: Function = await self._uncached("get_function", (lookup.db, lookup.name), deadline)
                return function
        except NoSuchObjectException:
            return None
        parts = []
        for values in lookup.values:
            try:
                parts.append(await self._uncached("get_partition", (lookup.db, lookup.name, values), deadline))
            except NoSuchObjectException:
                break
        return parts

    async def _table(self, db: str, name: str, deadline: io.Deadline) -> Any:
        try:
            return (await self._uncached("get_table_req", (GetTableRequest(db, name),), deadline)).table
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise
        return await self._uncached("get_table", (db, name), deadline)

    def _explained(self, error: Exception, method: Method, lost: bool) -> Exception:
        """The error with the name of the call; if it was sent and is not idempotent, also that it may have happened."""
        sent = ""
        if method.retry != "safe" and lost:
            sent = f"; {method.name} was sent and may have happened: whether it took effect is not known"
        if isinstance(error, ConnectError) and str(error) != CLOSED:
            return type(error)(unconnected(self.uri, str(error), sent))
        return type(error)(f"{method.name} at {self.uri}: {error}{sent}")


def _encoded(method: Method, args: tuple[Any, ...]) -> bytes:
    """The arguments in Thrift binary. Raises InvalidInputException, which names the argument, for a wrong type."""
    try:
        if arguments.fits(method, args):
            return binary.encode_args(method, args)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StructError):
        if arguments.fault(method, args) is None:
            raise
    raise InvalidInputException(arguments.fault(method, args))


def _is_unknown_method(reply: Reply) -> bool:
    assert isinstance(reply.body, bytes)
    return binary.decode_application_error(reply.body).type == ApplicationError.UNKNOWN_METHOD


def _is_refusal(reply: Reply) -> bool:
    """Whether a reply is an error: a TApplicationException, or a result without field 0, which is an exception."""
    body = reply.body
    return reply.kind == EXCEPTION or (isinstance(body, bytes) and body[0] != 0 and body[1:3] != b"\0\0")


class _Shared:
    """State that is shared by callers with different timeouts (`client.within`)."""

    def __init__(self) -> None:
        self.lock = io.Lock()
        self.calls = 0
        self.fetches: dict[tuple[str, bytes], io.Waiter] = {}
        """The calls in progress whose results will be cached; other calls with the same arguments wait for them."""


class _Done:
    """A call whose reply was lost and that took effect."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
