"""Puts the parts of a server together: the database, the warehouse, the metastore. One function, called in a worker.

Importing this module loads all of them, and opens none: the parent of several workers imports it before it forks, so
that they share the memory. Nothing else of the server imports it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from skep.config import Settings
from skep.errors import StoreError
from skep.metastore.bootstrap import ensure_defaults
from skep.metastore.context import Service
from skep.metastore.housekeeping import reap
from skep.metastore.local import Local
from skep.metastore.retention import clean
from skep.server.auth import authenticator
from skep.server.server import STREAM_THREADS, Application
from skep.store.migrate import ensure_schema
from skep.store.opening import open_database
from skep.store.pool import Pool
from skep.store.warehouse import Warehouse

log = logging.getLogger("skep.server")

JOBS_EVERY: Final = 60.0
"""Seconds between two looks for directories that a crashed server left unmoved."""

REAP_EVERY: Final = 60.0
"""Seconds between two looks for transactions and locks whose clients are gone, and for events that are old."""


def build(settings: Settings) -> Application:
    """The application that the settings describe. Opens the database: only after the process was forked."""
    proof = authenticator(settings)
    database = open_database(settings.database_url, settings.data, threads=settings.threads + STREAM_THREADS)
    ensure_schema(database)
    warehouse = Warehouse(settings.warehouse_root, settings.directories)
    pool = Pool(settings.threads)
    service = Service(database, warehouse, started=time.time())
    ensure_defaults(service)

    async def finish_left_jobs() -> None:
        while True:
            for error in await pool.run(lambda: warehouse.finish_jobs(database)):
                log.warning("%s", error)
            await asyncio.sleep(JOBS_EVERY)

    async def keep_house() -> None:
        while True:
            await asyncio.sleep(REAP_EVERY)
            try:
                await pool.run(lambda: reap(service))
                await pool.run(lambda: clean(service, settings.event_retention))
            except StoreError as error:
                log.warning("housekeeping was not done and is tried again later: %s", error)

    return Application(
        Local(service, pool),
        pool,
        authenticator=proof,
        background=(finish_left_jobs, keep_house),
        close=database.close,
        spool=settings.data if settings.database_url is None else None,
    )
