"""Calls in the callers' names at a Kerberized Apache Hive: metastored gets a delegation token for each caller.

Apache Hive lets a Kerberos user act for others only by tokens: metastored logs in with its own principal, requests a
token for the caller (`get_delegation_token`), and opens the caller's connection with it. Hive allows this to the users
of its `hadoop.proxyuser.*` settings. A token is cached for an hour, in memory only; one that Hive refuses is replaced.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

from metastored.client._async.pool import AsyncPool
from metastored.client._backend.aio import Deadline
from metastored.client.digest import DigestMd5, read_token
from metastored.client.endpoints import Endpoint as Address
from metastored.client.endpoints import Identity
from metastored.client.mechanisms import Mechanism
from metastored.client.pooling import PoolSettings
from metastored.errors import ApplicationError, AuthenticationError, MetastoreError
from metastored.hive.delegation import Token
from metastored.wire.codec import binary
from metastored.wire.methods import METHODS

LIFETIME: Final = 3600.0
"""Seconds for which a token is used for new connections. Hive's tokens are valid for a day unless they are renewed."""
MAX_TOKENS: Final = 1000
"""Tokens of one endpoint in memory."""

Prepare = Callable[[Identity], Awaitable[Address]]


class _Cached(NamedTuple):
    token: Token
    until: float


class DelegationTokens:
    """The tokens of one address. Used from one event loop."""

    def __init__(
        self, prepare: Prepare, base: Address, deadline: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`prepare` returns the address with metastored's own Kerberos login; `base` is the address without any."""
        self._prepare = prepare
        self._base = base
        self._deadline = deadline
        self._clock = clock
        self._cached: OrderedDict[str, _Cached] = OrderedDict()
        self._fetching: dict[str, asyncio.Lock] = {}

    async def prepare(self, identity: Identity) -> Address:
        """The address with a login as this user; without a user, with metastored's own."""
        own = await self._prepare(Identity(None))
        if identity.user is None:
            return own
        user = identity.user
        lock = self._fetching.setdefault(user, asyncio.Lock())
        try:
            async with lock:
                cached = self._usable(user) or await self._fetch(user)
        finally:
            if not lock.locked():
                self._fetching.pop(user, None)

        def login(host: str) -> Mechanism:
            return DigestMd5(cached.token, partial(self._forget, user, cached))

        return own._replace(sasl=login)

    def _usable(self, user: str) -> _Cached | None:
        cached = self._cached.get(user)
        if cached is None or cached.until <= self._clock():
            return None
        self._cached.move_to_end(user)
        return cached

    def _forget(self, user: str, refused: _Cached) -> None:
        if self._cached.get(user) is refused:
            del self._cached[user]

    async def _fetch(self, user: str) -> _Cached:
        """Raises AuthenticationError where Hive does not issue a token for this user."""
        method = METHODS["get_delegation_token"]
        address = self._base._replace(prepare=self._prepare)
        pool, deadline = AsyncPool((address,), PoolSettings(max_size=1)), Deadline(self._deadline)
        try:
            connection = await pool.acquire(Identity(None), deadline)
            try:
                body = binary.encode_args(method, (user, user))
                reply = await deadline.wait(connection.call(method, body), "a delegation token")
                text: str = reply.value(method)
            finally:
                pool.release(connection)
        except (MetastoreError, ApplicationError) as error:
            raise AuthenticationError(
                f"no delegation token for {user}: {error}. Allow metastored's principal to act for others "
                "(hadoop.proxyuser.* in the core-site.xml of the remote)"
            ) from None
        finally:
            deadline.cancel()
            await pool.close()
        cached = self._cached[user] = _Cached(read_token(text), self._clock() + LIFETIME)
        while len(self._cached) > MAX_TOKENS:
            self._cached.popitem(last=False)
        return cached
