"""The definitions of the store for each call, and the local databases that a remote catalog must not hide.

On PostgreSQL a look at the store is a statement. It is sent from the event loop, and mostly shows that nothing has
changed. Otherwise a thread looks; calls that arrive at the same time share one look: a call waits for the first that
begins after its arrival, so it sees every change that was made before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import suppress
from typing import Any, Final

from metastored.errors import StoreError
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.names import DatabaseName
from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import NO_REMOTES, Known
from metastored.service.remotes.definitions import Remotes
from metastored.store.engine.database import Database
from metastored.store.engine.replay import replayed
from metastored.store.engine.transaction import Row
from metastored.store.objects import databases, remotes
from metastored.threads import Pool


class StoredDefinitions:
    """`await provider()` returns the definitions as they are now. Raises StoreError."""

    def __init__(self, definitions: Remotes, database: Database, pool: Pool, trino_catalog: str = "") -> None:
        """`trino_catalog` is as in `Known`."""
        self._trino_catalog = trino_catalog
        self._remotes = definitions
        self._database = database
        self._pool = pool
        self._waits: Final = database.dialect != "sqlite"
        self._last: tuple[Known, int | None] = NO_REMOTES, None
        """With the store's version of the local databases, where they matter. Both are replaced together."""
        self._running: asyncio.Task[Known] | None = None
        self._next: asyncio.Task[Known] | None = None

    def peek(self) -> Known | None:
        """The definitions as they were last, where the present ones must be waited for; None where they need not."""
        return self._last[0] if self._waits else None

    async def __call__(self) -> Known:
        return await self.begin() if self._waits else self._current()

    def begin(self) -> Look:
        """Begins to look at the store. The result is awaited later, or the look is cancelled."""
        version = self._database.pending_version()
        return Look(self, version, self.shared() if version is None else None)

    def known_at(self, version: int) -> Known | None:
        """What is known of a version of the store; None if it has to be looked at again."""
        known, local = self._last
        is_same = known.definitions is self._remotes.known_at(version) and local in (None, version)
        return known if is_same else None

    async def unchanged_at(self, version: int) -> Known | None:
        """What is known of a new version of the store that has other changes only; None if a thread has to look."""
        reader = self._database.loop_reader()
        if reader is not None:
            number = await replayed(reader, lambda database: remotes.version(database.reader()))
            if number is not None:
                self._remotes.note(version, number)
        return self.known_at(version)

    def shared(self) -> asyncio.Future[Known]:
        """The result of the next look by a thread."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._look(self._running))
        return asyncio.shield(self._next)

    async def _look(self, before: asyncio.Task[Known] | None) -> Known:
        if before is not None and not before.done():
            await asyncio.wait([before])
        # From here on it is too late for calls that arrive.
        self._running, self._next = self._next, None
        return await self._pool.run(self._current)

    def _current(self) -> Known:
        definitions = self._remotes.current()
        known, local = self._last
        version = self._database.version() if _matter(definitions) else None
        if known.definitions is definitions and local == version:
            return known
        names = () if version is None else databases.names(self._database.reader(), DEFAULT_CATALOG)
        known = Known(definitions, [DatabaseName(DEFAULT_CATALOG, name) for name in names], self._trino_catalog)
        self._last = known, version
        return known


def _matter(definitions: Definitions) -> bool:
    """Whether local databases matter: those that a remote catalog would hide."""
    return any(each.prefix is not None for each in definitions.catalogs)


class Look:
    """A look at the definitions that has begun."""

    __slots__ = ("_provider", "_shared", "_version")

    def __init__(
        self,
        provider: StoredDefinitions,
        version: asyncio.Future[list[Row]] | None,
        shared: asyncio.Future[Known] | None,
    ) -> None:
        self._provider = provider
        self._version = version
        self._shared = shared

    def __await__(self) -> Generator[Any, None, Known]:
        return self._result().__await__()

    def cancel(self) -> None:
        for each in (self._version, self._shared):
            if each is not None:
                each.cancel()

    async def _result(self) -> Known:
        if self._version is not None:
            with suppress(StoreError):  # The thread reports what is wrong, if it still is.
                ((version,),) = await self._version
                known = self._provider.known_at(version)
                if known is None:
                    known = await self._provider.unchanged_at(version)
                if known is not None:
                    return known
        return await (self._shared or self._provider.shared())
