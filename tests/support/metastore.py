"""A metastore without a network: calls go in and come out as the bytes that would be on the wire.

Its clock is stopped until a test moves it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from metastored.hive.generation import Compat, Generation
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core.context import Service
from metastored.service.housekeeping import reap
from metastored.service.local import Local
from metastored.store.engine.database import Database
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.wire.codec import binary
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS


class Clock:
    """Seconds since the epoch, set by a test."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


class Metastore:
    """`metastore.call(method, …)` returns the result as a server of one generation does."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        generation: Compat | Generation = Generation.HIVE_3_1,
        warehouse: Warehouse | None = None,
        **settings: Any,
    ) -> None:
        """`settings` are further fields of the service."""
        self.clock = clock
        self.database = database
        self.service = Service(database, warehouse or Warehouse("file:/nowhere", "off"), clock=clock, **settings)
        self.compat = generation if isinstance(generation, Compat) else Compat.only(generation)
        self.generation = self.compat.replies
        ensure_defaults(self.service)
        self._pool = Pool(2)
        self._local = Local(self.service, self._pool)
        self._loop = asyncio.new_event_loop()

    def call(self, name: str, *args: Any) -> Any:
        """The decoded result; raises the error of the reply. Each call comes from a client of its own."""
        method = METHODS[name]
        given = (*args, *[None] * (len(method.args) - len(args)))
        call = Call(method, None, body=binary.encode_args(method, given))
        session = Session("test", self.compat, user="tester")
        reply = self._loop.run_until_complete(self._local.handle(call, session))
        return reply.value(method)

    def reap(self) -> None:
        """Runs the periodic housekeeping of a server."""
        reap(self.service)

    def close(self) -> None:
        self._pool.close()
        self._loop.close()
