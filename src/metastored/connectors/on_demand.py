"""An adapted source that is made at its first call, in a thread, and again after its credentials were refused.

Making one may read files and call the catalog: that must neither stop the server nor a definition from being read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from metastored.connectors.adapted.handler import Adapted
from metastored.connectors.adapted.sources import Source
from metastored.connectors.adapted.statistics import ConstraintCalls
from metastored.connectors.background import in_thread
from metastored.connectors.failures import CredentialsRefused, Unreachable, unreachable
from metastored.errors import Error
from metastored.wire.message import Call, Reply, Session

CLOSING: Final = 2.0
"""Seconds to wait for calls that are under way when a source is closed."""


class Remote(Adapted, ConstraintCalls):
    """A source as engines use it, which ask for constraints whenever they plan a query."""


class OnDemand:
    """A source's handler. Used from one event loop."""

    def __init__(self, make: Callable[[], Source]) -> None:
        """`make` may wait and may raise any Error."""
        self._make: Final = make
        self._making = asyncio.Lock()
        self._adapted: Adapted | None = None

    async def handle(self, call: Call, session: Session) -> Reply:
        try:
            adapted = await self._current()
        except Error as error:
            failure = error if isinstance(error, Unreachable) else str(error)
            return unreachable(call.method, failure, session.version)
        reply = await adapted.handle(call, session)
        if isinstance(reply.error, CredentialsRefused) and self._adapted is adapted:
            self._adapted = None
            await self._close(adapted)
        return reply

    async def close(self) -> None:
        """Closes the source."""
        async with self._making:
            adapted, self._adapted = self._adapted, None
        if adapted is not None:
            await self._close(adapted)

    async def _close(self, adapted: Adapted) -> None:
        """Waits a little for the calls that are under way; they end by their own timeouts."""
        with suppress(TimeoutError):
            await asyncio.wait_for(in_thread(adapted.close), CLOSING)

    async def _current(self) -> Adapted:
        async with self._making:
            if self._adapted is None:
                self._adapted = Remote(await in_thread(self._make))
            return self._adapted
