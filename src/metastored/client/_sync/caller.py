# Made by tools/unasync.py from _async/caller.py: DO NOT EDIT.
"""How one call is made: over a pooled connection, again where that does no harm, from the cache where it may be.

Every method of the API is callable here, with types; what is more pleasant is in client.py.
"""

from __future__ import annotations

import logging
import random
from struct import error as StructError
from typing import Any, Final

from metastored.client._backend import threads as io
from metastored.client._sync.methods import Methods
from metastored.client._sync.pool import Pool
from metastored.client.cache import Absent, MetadataCache, changes, is_cacheable, tags_of, tags_of_event
from metastored.client.endpoints import Identity
from metastored.client.hints import not_a_metastore
from metastored.client.metrics import Metrics
from metastored.client.naming import named
from metastored.client.outcomes import Question, question
from metastored.client.retry import Retry
from metastored.client.versions import missing_method
from metastored.errors import (
    ApplicationError,
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
from metastored.wire import binary
from metastored.wire.generated.functions import Function
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.message import EXCEPTION, Reply
from metastored.wire.methods import METHODS, Method

log = logging.getLogger("metastored.client")

KNOWN_TO_ALL: Final = frozenset({"get_all_databases", "get_databases", "get_database", "get_all_tables", "get_tables"})
"""What every metastore answers, also those that answer little."""
ANSWER: Final = "the answer to"
MAX_EVENTS: Final = 1000
"""More events than these since the last look: everything is forgotten instead."""


class Caller(Methods):
    """Every method of the metastore."""

    def __init__(
        self,
        pool: Pool | None,
        inside: io.InProcess | None,
        identity: Identity,
        timeout: float,
        retry: Retry,
        cache: MetadataCache | None,
        metrics: Metrics | None = None,
    ) -> None:
        self.pool: Final = pool
        self.timeout = timeout
        """Seconds for a call, its repetitions included."""
        self.cache: Final = cache
        self.uri: Final = "this process" if pool is None else str(pool.addresses)
        self._inside = inside
        self._identity = identity
        self._retry = retry.checked()
        self._metrics = metrics
        self._shared = _Shared(cache is not None and cache.settings.events_every > 0)

    @property
    def address(self) -> str:
        """Where calls go at present: of several addresses, the one that answered last."""
        return self.uri if self.pool is None else self.pool.addresses.current

    @property
    def calls(self) -> int:
        """Calls that were sent, repetitions included."""
        return self._shared.calls

    def call(self, name: str, *args: Any) -> Any:
        """The answer of any method. Arguments that are left out are null."""
        method = METHODS.get(name)
        if method is None:
            raise InvalidInputException(f"the metastore's API has no method {name!r}")
        if len(args) > len(method.args):
            raise InvalidInputException(f"{name} takes {len(method.args)} arguments, not {len(args)}")
        given = (*args, *[None] * (len(method.args) - len(args)))
        body = _encoded(method, given)
        deadline = io.Deadline(self.timeout)
        try:
            if self.cache is not None and is_cacheable(method):
                return self._remembered(self.cache, method, given, body, deadline)
            try:
                return self._asked(method, given, body, deadline)
            finally:
                # Also after an error: what was lost on the way may have been done.
                if self.cache is not None and changes(method):
                    self.cache.changed(tags_of(method, given))
        except Error as error:
            # Without the frames of pool and sockets, and without what they raised: the message says it all.
            raise error.with_traceback(None) from None
        finally:
            deadline.cancel()

    # The cache

    def _remembered(
        self, cache: MetadataCache, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline
    ) -> Any:
        key = (method.name, body)
        self._look_at_events(cache, deadline)
        kept = cache.get(key)
        if kept is None:
            kept = self._fetched(cache, key, method, args, deadline)
        if isinstance(kept, Absent):
            raise kept.error
        # Maps can be changed by who gets them: everybody gets their own.
        return binary.copy_result(method, kept)

    def _fetched(
        self, cache: MetadataCache, key: tuple[str, bytes], method: Method, args: tuple[Any, ...], deadline: io.Deadline
    ) -> Any:
        """The answer, or an Absent; asked for once, however many wait for it."""
        shared = self._shared
        while True:
            with shared.lock:
                under_way = shared.flights.get(key)
                if under_way is None:
                    flight = shared.flights[key] = io.new_turn()
            if under_way is not None:
                cache.joined()
                outcome = deadline.wait(io.follow(under_way), f"another's call of {method.name}")
                if isinstance(outcome, Error):
                    raise outcome
                if outcome is not None:
                    return outcome
                continue  # Who asked has given up.
            result: Any = None
            try:
                moment = cache.moment()
                result = self._worth_keeping(method, args, key[1], deadline)
                cache.put(key, result, tags_of(method, args), moment)
                return result
            except Error as error:
                result = error
                raise
            finally:
                with shared.lock:
                    del shared.flights[key]
                io.give(flight, result)

    def _worth_keeping(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Any:
        try:
            return self._asked(method, args, body, deadline)
        except NoSuchObjectException as error:
            return Absent(error)

    def _look_at_events(self, cache: MetadataCache, deadline: io.Deadline) -> None:
        """Forgets what others have changed, where the server keeps a log of it."""
        now, shared = io.now(), self._shared
        with shared.lock:
            if not shared.has_events or now < shared.next_look:
                return
            shared.next_look = now + cache.settings.events_every
        last = shared.last_event
        try:
            current = (self._plain("get_current_notificationEventId", (), deadline)).eventId
            if last is not None and current != last:
                request = NotificationEventRequest(lastEvent=last, maxEvents=MAX_EVENTS)
                events = (self._plain("get_next_notification", (request,), deadline)).events or ()
                cache.saw_events(len(events))
                if current < last or len(events) >= MAX_EVENTS:
                    cache.clear()
                for event in events:
                    cache.changed(tags_of_event(event.eventType, event.dbName, event.tableName, event.message))
            shared.last_event = current
        except (ApplicationError, MetastoreError) as error:
            shared.has_events = False
            log.info("no notification events at %s, so what others change is seen by age only: %s", self.uri, error)
        except TransportError as error:
            log.debug("the events of %s could not be read this time: %s", self.uri, error)

    # The network

    def _plain(self, name: str, args: tuple[Any, ...], deadline: io.Deadline) -> Any:
        method = METHODS[name]
        return self._asked(method, args, binary.encode_args(method, args), deadline)

    def _asked(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Any:
        reply = self._exchange(method, args, body, deadline)
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

    def _exchange(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Reply | _Done:
        """The reply, or, where it was lost and a read told that the call took effect, what it would have said."""
        if self._metrics is None:
            return self._repeated(method, args, body, deadline)
        started, outcome = io.now(), "failed"
        try:
            reply = self._repeated(method, args, body, deadline)
            outcome = "error" if isinstance(reply, Reply) and _is_refusal(reply) else "ok"
            return reply
        finally:
            self._metrics.called(method.name, io.now() - started, outcome)

    def _repeated(self, method: Method, args: tuple[Any, ...], body: bytes, deadline: io.Deadline) -> Reply | _Done:
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(method, body, deadline)
            except (TransportError, RemoteProtocolError) as error:
                sent = isinstance(error, ConnectionLost)
                asked = question(method, args) if sent and method.retry == "lookup" else None
                if not self._retry.again(method, error, attempt, sent) or (
                    sent and method.retry == "lookup" and asked is None
                ):
                    raise self._explained(error, method, sent) from None
                delay = self._retry.delay(attempt, random.random())
                if delay >= deadline.remaining():
                    raise self._explained(error, method, sent) from None
                if self._metrics is not None:
                    self._metrics.repeated(method.name)
                log.info("%s at %s failed and is tried again in %.3f s: %s", method.name, self.uri, delay, error)
            io.sleep(delay)
            if asked is not None:
                found = self._looked_up(asked, deadline)
                if asked.took_effect(found):
                    return _Done(asked.result(found))

    def _once(self, method: Method, body: bytes, deadline: io.Deadline) -> Reply:
        self._shared.calls += 1
        doing = f"{ANSWER} {method.name}"
        if self._inside is not None:
            return deadline.wait(self._inside.call(method, body), doing)
        assert self.pool is not None
        connection = self.pool.acquire(self._identity, deadline)
        try:
            reply = deadline.wait(connection.call(method, body), doing)
            if reply.kind == EXCEPTION and not _is_unknown_method(reply):
                connection.abort()  # Old servers hang up after an internal error, a little later than they say so.
            return reply
        except ConnectionLost:
            if connection.reused and not connection.received:
                self.pool.drop_idle()  # It was restarted: the others are no better.
            raise
        except BaseException:
            connection.abort()
            raise
        finally:
            self.pool.release(connection)

    def _looked_up(self, asked: Question, deadline: io.Deadline) -> Any:
        """What is there now; None where there is nothing."""
        try:
            if asked.object == "table":
                return self._table(asked.db, asked.name, deadline)
            if asked.object == "database":
                return self._plain("get_database", (asked.db,), deadline)
            if asked.object == "function":
                found: Function = self._plain("get_function", (asked.db, asked.name), deadline)
                return found
        except NoSuchObjectException:
            return None
        parts = []
        for values in asked.values:
            try:
                parts.append(self._plain("get_partition", (asked.db, asked.name, values), deadline))
            except NoSuchObjectException:
                break
        return parts

    def _table(self, db: str, name: str, deadline: io.Deadline) -> Any:
        try:
            return (self._plain("get_table_req", (GetTableRequest(db, name),), deadline)).table
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise
        return self._plain("get_table", (db, name), deadline)

    def _explained(self, error: Exception, method: Method, sent: bool) -> Exception:
        text = f"{method.name} at {self.uri}: {error}"
        if method.retry != "safe" and (sent or str(error).startswith(ANSWER)):
            text += "; whether it took effect is not known"
        return RemoteProtocolError(text) if isinstance(error, RemoteProtocolError) else type(error)(text)


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
    """Whether a reply says an error: Thrift's own, or one of the API, which is not in the result's field 0."""
    body = reply.body
    return reply.kind == EXCEPTION or (isinstance(body, bytes) and body[0] != 0 and body[1:3] != b"\0\0")


class _Shared:
    """What callers with different deadlines have in common."""

    def __init__(self, has_events: bool) -> None:
        self.lock = io.Lock()
        self.calls = 0
        self.flights: dict[tuple[str, bytes], io.Turn] = {}
        """The questions that are being asked, each by one for all that want to know."""
        self.has_events = has_events
        self.last_event: int | None = None
        self.next_look = 0.0


class _Done:
    """A call whose answer was lost and that took effect."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
