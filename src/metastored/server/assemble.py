"""Puts the parts of a server together: the database, the warehouse, the metastore. One function, called in a worker.

Importing this module loads all of them, and opens none: the parent of several workers imports it before it forks, so
that they share the memory. Nothing else of the server imports it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from metastored.config import KEYS, Settings
from metastored.errors import StoreError
from metastored.gate.audited import Audited
from metastored.gate.authorized import Authorized
from metastored.gate.caller import Policy
from metastored.gate.rate_limited import RateLimited
from metastored.gate.read_only import ReadOnly
from metastored.gate.services import ForServices
from metastored.hive.statistics.ndv import ESTIMATIONS
from metastored.server.auth.mechanisms import authenticator, proofs, users
from metastored.server.server import PROOF_THREADS, STREAM_THREADS, Application
from metastored.service.bootstrap import ensure_defaults, stored_warehouse
from metastored.service.core.context import Service
from metastored.service.housekeeping import reap
from metastored.service.local import Local
from metastored.service.retention import clean
from metastored.service.security.tokens import password_of
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import check_schema, ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.wire.message import Handler

log = logging.getLogger("metastored.server")

Background = tuple[Callable[[], Coroutine[Any, Any, None]], ...]

JOBS_EVERY: Final = 60.0
"""Seconds between two looks for directories that a crashed server left unmoved."""

REAP_EVERY: Final = 60.0
"""Seconds between two looks for transactions and locks whose clients are gone, and for events that are old."""


class FailedJobs:
    """How many jobs of directories have failed, as of the last look at the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.number = 0

    def count(self) -> None:
        self.number = jobs.count_failed(self._database.reader())


def build(settings: Settings) -> Application:
    """The application that the settings describe. Opens the database: only after the process was forked."""
    threads = settings.threads + STREAM_THREADS + PROOF_THREADS
    database = open_database(settings.database_url, settings.data, threads=threads)
    ensure_schema(database)
    known = users(settings, database)
    stored = stored_warehouse(database)
    warehouse = Warehouse(
        settings.warehouse or stored or settings.warehouse_root,
        settings.directories,
        schemes=settings.location_schemes,
        timeout=settings.directory_timeout,
        trash_days=settings.trash_days,
    )
    warehouse.check()
    failed = FailedJobs(database)
    pool = Pool(settings.threads)
    service = Service(
        database,
        warehouse,
        started=time.time(),
        estimation=ESTIMATIONS[settings.distinct_values],
        admins=frozenset(settings.admin_users),
        partition_limit=settings.limits_partitions_per_call,
        configured=told_to_hive(settings),
    )
    ensure_defaults(service)

    async def finish_left_jobs() -> None:
        while True:
            try:
                await pool.run(lambda: warehouse.finish_jobs(database))
                await pool.run(failed.count)
            except StoreError as error:
                log.warning("jobs of directories were not looked for and are later: %s", error)
            await asyncio.sleep(JOBS_EVERY)

    async def keep_house() -> None:
        while True:
            await asyncio.sleep(REAP_EVERY)
            try:
                await pool.run(lambda: reap(service))
                await pool.run(lambda: clean(service, settings.event_retention))
            except StoreError as error:
                log.warning("housekeeping was not done and is tried again later: %s", error)

    handler, counting = guarded(Local(service, pool), settings, service, pool)
    return Application(
        handler,
        pool,
        authenticator=authenticator(settings, known, partial(password_of, service)),
        background=(finish_left_jobs, keep_house, *counting),
        close=database.close,
        spool=settings.data if settings.database_url is None else None,
        proofs=proofs(settings, known),
        check=lambda: check_schema(database),
        failed_jobs=lambda: failed.number,
        warehouse=warehouse.root,
        first_warehouse=stored_warehouse(database) or warehouse.root,
    )


def told_to_hive(settings: Settings) -> dict[str, str]:
    """What clients are told who ask for Hive's keys, as far as this server's settings are not Hive's defaults."""
    found: dict[str, str] = {}

    def tell(value: str, *keys: str) -> None:
        found.update(dict.fromkeys(keys, value))

    if settings.port != KEYS["port"].default and settings.port:
        tell(str(settings.port), "metastore.thrift.port", "hive.metastore.port")
    if settings.event_retention != KEYS["event_retention"].default:
        kept = f"{settings.event_retention:.0f}s"
        tell(kept, "metastore.event.db.listener.timetolive", "hive.metastore.event.db.listener.timetolive")
    if settings.limits_partitions_per_call >= 0:
        limit = str(settings.limits_partitions_per_call)
        tell(limit, "metastore.limit.partition.request", "hive.metastore.limit.partition.request")
    if settings.admin_users:
        tell(",".join(settings.admin_users), "metastore.users.in.admin.role", "hive.users.in.admin.role")
    if settings.distinct_values == "density":
        tell("true", "metastore.stats.ndv.densityfunction", "hive.metastore.stats.ndv.densityfunction")
    if settings.tls_certificate is not None:
        tell("true", "metastore.use.SSL", "hive.metastore.use.SSL")
    if settings.kerberos_principal is not None:
        tell("true", "metastore.sasl.enabled", "hive.metastore.sasl.enabled")
    return found


def guarded(inner: Handler, settings: Settings, service: Service, pool: Pool) -> tuple[Handler, Background]:
    """The handler behind those of `gate/` that the settings turn on, and what must run beside them.

    What is off is not there: a call pays for nothing that nobody asked for. Only the store of tokens is always guarded.
    """
    background = list[Callable[[], Coroutine[Any, Any, None]]]()
    handler: Handler = ForServices(inner, (*settings.admin_users, *settings.service_users))
    if settings.authorization == "sql":
        policy = Policy(frozenset(settings.admin_users), service.warehouse.root, frozenset(settings.service_users))
        handler = Authorized(handler, service.database, pool, policy)
    if settings.read_only == "on":
        handler = ReadOnly(handler)
    if settings.limits_calls_per_minute:
        limited = RateLimited(handler, service.database, pool, settings.limits_calls_per_minute)
        handler = limited
        background.append(limited.keep_counting)
    if settings.audit == "on":
        # Outermost, so that what is refused is told too.
        handler = Audited(handler)
    return handler, tuple(background)
