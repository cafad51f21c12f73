"""A handler that limits the calls of each user per minute, over all servers.

An authenticated user is counted by name. All other callers are counted by address: a name that is merely claimed could
change with each call.

Calls are counted in memory and flushed to the database once a second, where the counts of all servers are summed. So a
user who calls many servers at once can exceed the limit for a second.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from metastored.errors import InvalidOperationException, MetaException, StoreError
from metastored.model.refusals import TOO_MANY
from metastored.store.engine.database import Database
from metastored.store.security import rate_counters
from metastored.threads import Pool
from metastored.wire.message import Call, Handler, Reply, Session

log = logging.getLogger("metastored.gate")

FLUSH_EVERY: Final = 1.0
"""Seconds between two flushes to the database."""


def _counted_as(session: Session) -> str:
    if session.authenticated and session.user:
        return session.user
    # User names do not begin with a space, so names and addresses never collide.
    return f" {session.peer.rpartition(':')[0]}"


class RateLimited:
    """Passes `limit` calls a minute of each user. `keep_counting` must run in the background."""

    def __init__(
        self, inner: Handler, database: Database, pool: Pool, limit: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._inner = inner
        self._database = database
        self._pool = pool
        self._limit = limit
        self._clock = clock
        self._minute = -1
        self._flushed: dict[str, int] = {}
        """Calls of this minute in the database, of all servers."""
        self._pending: dict[str, int] = {}
        """Calls of this minute that are counted in this process only."""

    async def handle(self, call: Call, session: Session) -> Reply:
        # Methods about the connection or the server itself (set_ugi, shutdown, …) do not count.
        if call.method.object != "service":
            self._turn()
            user = _counted_as(session)
            calls = self._pending.get(user, 0)
            if calls + self._flushed.get(user, 0) >= self._limit:
                return Reply.failed(call.method, TOO_MANY, session.version, MetaException, InvalidOperationException)
            self._pending[user] = calls + 1
        return await self._inner.handle(call, session)

    def _turn(self) -> None:
        """Resets the counts at the start of each minute."""
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute = minute
            self._flushed = {}
            self._pending = {}

    async def flush(self) -> None:
        """Writes the counts to the database, and reads the counts of the other servers."""
        self._turn()
        minute, taken = self._minute, self._pending.copy()
        if not taken:
            return
        sums = await self._pool.run(lambda: self._database.run(lambda tx: rate_counters.add(tx, minute, taken)))
        if minute != self._minute:
            return
        self._flushed |= sums
        # Calls that were counted meanwhile are flushed the next time.
        rest = {user: calls - taken.get(user, 0) for user, calls in self._pending.items()}
        self._pending = {user: calls for user, calls in rest.items() if calls}

    async def keep_counting(self) -> None:
        """Flushes as long as the server runs."""
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            try:
                await self.flush()
            except StoreError as error:
                log.warning("the counts of calls stay in memory: %s", error)
