"""A handler that answers each user only so often in a minute, whichever server they ask.

A user is counted by name only where the name was authenticated. Everybody else is counted by address: a name that is
merely claimed could be another one with each call.

Calls are counted in memory and brought to the database once a second, where the counts of all servers are summed. A
user who asks many servers at once can so go over the limit for a second, and is then held to it.
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
"""Seconds between two visits to the database."""


def _counted_as(session: Session) -> str:
    if session.authenticated and session.user:
        return session.user
    # A user's name holds no space in front of it, so the two kinds never meet.
    return f" {session.peer.rpartition(':')[0]}"


class RateLimited:
    """Lets `limit` calls a minute of each user pass. `keep_counting` must run beside it."""

    def __init__(
        self, inner: Handler, database: Database, pool: Pool, limit: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._inner = inner
        self._database = database
        self._pool = pool
        self._limit = limit
        self._clock = clock
        self._minute = -1
        self._known: dict[str, int] = {}
        """Calls of this minute that the database knows of, by everybody."""
        self._mine: dict[str, int] = {}
        """Calls of this minute that only this process knows of."""

    async def handle(self, call: Call, session: Session) -> Reply:
        # Who somebody is, and that they leave, is no request for anything.
        if call.method.object != "service":
            self._turn()
            user = _counted_as(session)
            calls = self._mine.get(user, 0)
            if calls + self._known.get(user, 0) >= self._limit:
                return Reply.failed(call.method, TOO_MANY, session.version, MetaException, InvalidOperationException)
            self._mine[user] = calls + 1
        return await self._inner.handle(call, session)

    def _turn(self) -> None:
        """Begin anew with each minute."""
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute = minute
            self._known = {}
            self._mine = {}

    async def flush(self) -> None:
        """Brings the counts to the database, and learns those of the other servers."""
        self._turn()
        minute, taken = self._minute, self._mine.copy()
        if not taken:
            return
        sums = await self._pool.run(lambda: self._database.run(lambda tx: rate_counters.add(tx, minute, taken)))
        if minute != self._minute:
            return
        self._known |= sums
        # Calls went on meanwhile; those stay until the next time.
        rest = {user: calls - taken.get(user, 0) for user, calls in self._mine.items()}
        self._mine = {user: calls for user, calls in rest.items() if calls}

    async def keep_counting(self) -> None:
        """Flushes as long as the server runs."""
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            try:
                await self.flush()
            except StoreError as error:
                log.warning("the counts of calls stay in memory: %s", error)
