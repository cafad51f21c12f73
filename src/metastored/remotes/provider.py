"""The definitions of the store for each call, and the local databases that a remote catalog must not hide.

On PostgreSQL a look at the store is a statement of the event loop, and mostly shows that nothing has changed. A read of
a single row comes with the version of the store, and needs no look. Where a thread has to look, calls that arrive at
the same time share one look: a call waits for the first that begins after its arrival, so it sees every change that was
made before.
"""

from __future__ import annotations

import asyncio
from typing import Final

from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.names import DatabaseName
from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import NO_REMOTES, Known
from metastored.service.remotes.definitions import Remotes
from metastored.store.engine.database import Database
from metastored.store.engine.replay import replayed
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
        if not self._waits:
            return self._current()
        version = await self._database.version_on_loop()
        known = None if version is None else await self.at(version)
        return await self._shared() if known is None else known

    async def at(self, version: int) -> Known | None:
        """The definitions in a version of the store; None if they have to be read."""
        known = self._known_at(version)
        if known is None:
            reader = self._database.loop_reader()
            answer = (
                None if reader is None else await replayed(reader, lambda database: remotes.version(database.reader()))
            )
            if answer is not None:
                self._remotes.note(version, answer.value)
                known = self._known_at(version)
        return known

    def _known_at(self, version: int) -> Known | None:
        known, local = self._last
        is_same = known.definitions is self._remotes.known_at(version) and local in (None, version)
        return known if is_same else None

    def _shared(self) -> asyncio.Future[Known]:
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
