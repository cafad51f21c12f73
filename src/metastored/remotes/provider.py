"""The definitions of the store for each call, and the local databases that a remote catalog must not hide.

On PostgreSQL a look at the store is a statement. Calls that arrive at the same time share one: a call waits for the
first look that begins after its arrival, so it sees every change that was made before.
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
from metastored.store.objects import databases
from metastored.threads import Pool


class StoredDefinitions:
    """`await provider()` returns the definitions as they are now. Raises StoreError."""

    def __init__(self, remotes: Remotes, database: Database, pool: Pool, trino_catalog: str = "") -> None:
        """`trino_catalog` is as in `Known`."""
        self._trino_catalog = trino_catalog
        self._remotes = remotes
        self._database = database
        self._pool = pool
        self._waits: Final = database.dialect != "sqlite"
        self._known = NO_REMOTES
        self._version: int | None = None
        """The store's version of the local databases, where they matter."""
        self._running: asyncio.Task[Known] | None = None
        self._next: asyncio.Task[Known] | None = None

    def peek(self) -> Known | None:
        """The definitions as they were last, where the present ones must be waited for; None where they need not."""
        return self._known if self._waits else None

    async def __call__(self) -> Known:
        if not self._waits:
            return self._current()
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._look(self._running))
        return await asyncio.shield(self._next)

    async def _look(self, before: asyncio.Task[Known] | None) -> Known:
        if before is not None and not before.done():
            await asyncio.wait([before])
        # From here on it is too late for calls that arrive.
        self._running, self._next = self._next, None
        return await self._pool.run(self._current)

    def _current(self) -> Known:
        definitions = self._remotes.current()
        if not any(each.prefix is not None for each in definitions.catalogs):
            if self._known.definitions is not definitions:
                self._known = Known(definitions, trino_catalog=self._trino_catalog)
            return self._known
        return self._with_local(definitions)

    def _with_local(self, definitions: Definitions) -> Known:
        version = self._database.version()
        if self._known.definitions is not definitions or version != self._version:
            names = databases.names(self._database.reader(), DEFAULT_CATALOG)
            local = [DatabaseName(DEFAULT_CATALOG, name) for name in names]
            self._known = Known(definitions, local, self._trino_catalog)
            self._version = version
        return self._known
