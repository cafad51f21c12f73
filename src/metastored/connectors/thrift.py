"""A metastore that speaks Thrift, directly or over HTTP, as a handler: bytes go there and come back unread.

Each has its own connections, its own limit of calls and a deadline for each call, so that one that is dead or slow
delays nobody who asks another. What fails on the way becomes a MetaException that says who failed and how; what the
metastore itself answers, errors too, is passed on as it is. It never knows under which local name it is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from metastored.client._async.pool import AsyncPool
from metastored.client._backend.aio import Connection, Deadline
from metastored.client._backend.relays import RelayedReply
from metastored.client.endpoints import Endpoint, Identity
from metastored.client.endpoints import endpoint_of as client_endpoint_of
from metastored.client.pooling import PoolSettings
from metastored.connectors.addresses import MAX_REPLY
from metastored.connectors.failures import unreachable
from metastored.errors import (
    AuthenticationError,
    ConfigError,
    ConnectionLost,
    Error,
    RemoteProtocolError,
    TimeoutExceeded,
    TransportError,
)
from metastored.wire.message import Call, Handler, Reply, Session

log = logging.getLogger("metastored.connectors.thrift")

DEADLINE: Final = 30.0
"""Seconds for one call, from asking to the last byte of the answer. Of an answer that is relayed, the time counts in
which its reader waits for the metastore."""
POOL: Final = PoolSettings(max_size=16)


def endpoint_of(uri: str) -> Endpoint:
    """Where `thrift://host:port` points to."""
    endpoint = client_endpoint_of(uri)
    if endpoint.path is not None:
        raise ConfigError(f"{uri!r} is not the address of a metastore that speaks Thrift; write thrift://host:9083")
    return endpoint._replace(max_reply=MAX_REPLY)


def _of_session(session: Session) -> Identity:
    return Identity(session.user, session.groups)


class ThriftMetastore:
    """One metastore at one or more addresses, which are tried in their order. Used from one event loop."""

    bounded: Final = True
    """Every call ends within the deadline, and needs no task around it."""

    def __init__(
        self,
        uri: str,
        endpoint: Endpoint | None = None,
        deadline: float = DEADLINE,
        pool: PoolSettings = POOL,
        *,
        addresses: Sequence[Endpoint] = (),
        identity: Callable[[Session], Identity] = _of_session,
        replaces_tokens: bool = False,
    ) -> None:
        """`endpoint` or `addresses` where the defaults of `endpoint_of(uri)` do not fit; `uri` is for messages then.

        `replaces_tokens`: a second login may succeed where the first was refused.
        """
        self._replaces_tokens = replaces_tokens
        self.uri: Final = uri
        self._addresses = tuple(addresses) or (endpoint or endpoint_of(uri),)
        self._identity = identity
        self._deadline = deadline
        self._settings = pool
        self._pool: AsyncPool | None = None

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        if method.oneway:
            return Reply(b"\0")  # The only one is `shutdown`, and the metastore is not ours to stop.
        if self._pool is None:
            self._pool = AsyncPool(self._addresses, self._settings)
        deadline = Deadline(self._deadline)
        try:
            return await self._ask(self._pool, call, self._identity(session), deadline)
        except Error as error:
            # Of the way to the metastore: what it replies itself, errors too, is in the reply.
            log.warning("%s at %s failed: %s", method.name, self.uri, error)
            return unreachable(method, self._explain(method.name, error), session.version)
        finally:
            deadline.cancel()

    async def close(self) -> None:
        """Closes all connections: calls that are under way fail, and later ones too."""
        if self._pool is not None:
            await self._pool.close()

    async def _ask(self, pool: AsyncPool, call: Call, identity: Identity, deadline: Deadline) -> Reply:
        method, again = call.method, call.method.retry == "safe"
        while True:
            connection = await self._connection(pool, identity, deadline)
            relayed = False
            try:
                answer = connection.call(method, call.body, call.relays)
                reply = await deadline.wait(answer, f"the answer to {method.name}")
                if isinstance(reply.body, RelayedReply):
                    relayed = True
                    reply.body.seconds = deadline.remaining()
                    reply.body.when_ended(partial(self._relayed, pool, connection))
                return reply
            except ConnectionLost:
                if not (again and connection.reused and not connection.received):
                    raise
                # It was closed while nobody used it, as after a restart; the others are no better. A new one is tried.
                again = False
                pool.drop_idle()
            except TimeoutExceeded:
                connection.abort()
                pool.addresses.failed(connection.endpoint)
                pool.drop_idle()
                raise
            except BaseException:
                connection.abort()
                raise
            finally:
                if not relayed:
                    pool.release(connection)

    def _relayed(self, pool: AsyncPool, connection: Connection, error: Error | None) -> None:
        """The last byte of a relayed reply has come, or will not."""
        if isinstance(error, TimeoutExceeded):
            pool.addresses.failed(connection.endpoint)
            pool.drop_idle()
        pool.release(connection)

    async def _connection(self, pool: AsyncPool, identity: Identity, deadline: Deadline) -> Connection:
        try:
            return await pool.acquire(identity, deadline)
        except AuthenticationError:
            if not self._replaces_tokens:
                raise
            # The remote does not know the cached token any more, as after a restart: the next login has a new one.
            return await pool.acquire(identity, deadline)

    def _explain(self, method: str, error: Exception) -> str:
        """What happened and what would work, without the words by which Java clients decide to try again."""
        at = f"the metastore at {self.uri}"
        if isinstance(error, TimeoutExceeded):
            text = f"{at} is too slow or hangs: {error} (metastored.remote.timeout)."
            return f"{text} Try again later, or ask those who run it."
        if isinstance(error, ConnectionLost):
            return (
                f"{at} did not finish its answer to {method}: {error}. If this goes on, see whether it restarts, "
                "and whether it demands TLS or SASL on this port."
            )
        if isinstance(error, RemoteProtocolError):
            first = self._addresses[0]
            framing = "framed" if first.framed else "unframed"
            expected = (
                f"{framing} {first.wire_protocol} Thrift" if first.path is None else "Thrift over HTTP at this path"
            )
            return f"{at} gave no usable answer to {method}: {error}. Check that it speaks {expected}."
        if self._pool is not None and self._pool.closed:
            return f"{at} cannot be reached: metastored is stopping."
        if not isinstance(error, TransportError):
            return f"{at} cannot be used: {error}"
        return f"{at} cannot be reached: {error}. Check that it runs and that the address is right."


class ReadsElsewhere:
    """Reads go to one handler and all other calls to another, as the method table says."""

    bounded: Final = True

    def __init__(self, reads: ThriftMetastore, others: ThriftMetastore) -> None:
        self._reads = reads
        self._others = others

    async def handle(self, call: Call, session: Session) -> Reply:
        chosen: Handler = self._reads if call.method.verb == "read" else self._others
        return await chosen.handle(call, session)

    async def close(self) -> None:
        await self._reads.close()
        await self._others.close()
