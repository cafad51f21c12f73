"""Puts the parts of a server together: the database, the warehouse, the metastore. One function, called in a worker.

Importing this module loads all of them, and opens none: the parent of several workers imports it before it forks, so
that they share the memory. Nothing else of the server imports it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import partial
from typing import Any, Final, NamedTuple

from metastored.config import KEYS, Settings
from metastored.connectors.context import Context
from metastored.connectors.registry import Connectors
from metastored.errors import StoreError
from metastored.gate.audited import Audited
from metastored.gate.authorized import Authorized
from metastored.gate.caller import Policy
from metastored.gate.hooked import Hook, Hooked, load_hook
from metastored.gate.measured import Measured
from metastored.gate.rate_limited import RateLimited
from metastored.gate.read_only import ReadOnly
from metastored.gate.services import ForServices
from metastored.gate.tallies import WorkerTally
from metastored.hive.statistics.ndv import ESTIMATIONS
from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.hosts import AllowedHosts
from metastored.remotes.creating import Creations
from metastored.remotes.definitions import Provider
from metastored.remotes.endpoints import Connect, Endpoints
from metastored.remotes.leases import Leases
from metastored.remotes.provider import StoredDefinitions
from metastored.remotes.routing import Routed
from metastored.server.auth.mechanisms import authenticator, users, verifiers
from metastored.server.places import Places
from metastored.server.server import AUTHENTICATION_THREADS, STREAM_THREADS, Application
from metastored.service.bootstrap import ensure_defaults, stored_warehouse
from metastored.service.core.context import Service
from metastored.service.housekeeping import reap
from metastored.service.local import Local
from metastored.service.remotes.definitions import Remotes
from metastored.service.retention import clean
from metastored.service.security.roles import roles_of
from metastored.service.security.tokens import password_of
from metastored.service.tables.sharing import Sharing
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import check_schema, ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.wire.message import Handler, Session

log = logging.getLogger("metastored.server")

Background = tuple[Callable[[], Coroutine[Any, Any, None]], ...]

JOBS_EVERY: Final = 60.0
"""Seconds between two searches for directories that a crashed server did not move."""

REAP_EVERY: Final = 60.0
"""Seconds between two runs of the housekeeping: expired transactions and locks, old events."""


class FailedJobs:
    """How many jobs of directories have failed, as of the last look at the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.number = 0

    def count(self) -> None:
        self.number = jobs.count_failed(self._database.reader())


def build(settings: Settings) -> Application:
    """The application that the settings describe. Opens the database: only after the process was forked."""
    threads = settings.threads + STREAM_THREADS + AUTHENTICATION_THREADS
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
        clock=database.clock(),
        started=time.time(),
        estimation=ESTIMATIONS[settings.distinct_values],
        admins=frozenset(settings.admin_users),
        partition_limit=settings.limits_partitions_per_call,
        configured=hive_values(settings),
        lance_external=settings.lance_external == "on",
        remote_hosts=AllowedHosts.read(settings.remotes_hosts),
        remote_secrets=RemoteSecrets.read(settings.remotes_key_file, settings.remotes_references),
    )
    ensure_defaults(service)

    async def finish_pending_jobs() -> None:
        while True:
            try:
                await pool.run(lambda: warehouse.finish_jobs(database))
                await pool.run(failed.count)
            except StoreError as error:
                log.warning("pending directory jobs could not be read; retrying later: %s", error)
            await asyncio.sleep(JOBS_EVERY)

    async def keep_house() -> None:
        while True:
            await asyncio.sleep(REAP_EVERY)
            try:
                await pool.run(database.set_clock)
                await pool.run(lambda: reap(service))
                await pool.run(lambda: clean(service, settings.event_retention))
            except StoreError as error:
                log.warning("housekeeping failed and is retried later: %s", error)

    remotes = with_remotes(Local(service, pool), settings, service, pool)
    gate = guarded(remotes.handler, settings, service, pool, remotes.owns, remotes.tables_in)
    places = gate.places
    return Application(
        gate.handler,
        pool,
        authenticator=authenticator(settings, known, partial(password_of, service)),
        background=(finish_pending_jobs, keep_house, remotes.end_leases, *gate.background),
        disconnect=remotes.endpoints.close,
        measure_remotes=remotes.measure,
        remote_status=remotes.status,
        close=database.close,
        spool=settings.data if settings.database_url is None else None,
        verifiers=verifiers(settings, known),
        check=lambda: check_schema(database),
        failed_jobs=lambda: failed.number,
        may_open=places.refusal,
        files=warehouse,
        file_rules=places,
        warehouse=warehouse.root,
        first_warehouse=stored_warehouse(database) or warehouse.root,
    )


class WithRemotes(NamedTuple):
    """The metastore with its remotes, and its background work."""

    handler: Handler
    endpoints: Endpoints
    end_leases: Callable[[], Coroutine[Any, Any, None]]
    definitions: Provider

    async def owns(self, table: TableName) -> bool:
        """Whether a table is a remote's."""
        return (await self.definitions()).table(table) is not None

    async def tables_in(self, database: DatabaseName) -> tuple[str, ...]:
        """The names of the remote tables of a local database."""
        remotes = (await self.definitions()).definitions.tables_in(database.catalog, database.database)
        return tuple(each.table for each in remotes if each.table is not None)

    def measure(self, tally: WorkerTally) -> None:
        """Counts the calls to each remote from now on."""
        self.endpoints.measure = lambda name, handler: Measured(handler, tally.remote(name))

    def status(self) -> dict[str, dict[str, int]]:
        """The gauges of each endpoint that was called."""
        return {
            str(endpoint): {"available": int(each.available), "running": each.running, "waiting": each.waiting}
            for endpoint, each in self.endpoints.status().items()
        }


def with_remotes(local: Handler, settings: Settings, service: Service, pool: Pool) -> WithRemotes:
    """The local metastore with the remotes that its database defines."""
    database = service.database
    hook = load_hook(settings.filter) if settings.filter is not None else None
    if hook is not None:
        local = Hooked(local, hook, None)
    remotes = Remotes(database, service.remote_secrets)
    definitions = StoredDefinitions(remotes, database, pool, settings.remotes_trino_catalog or "")
    connect = Connectors(Context(service.remote_hosts, service.remote_secrets)).connect
    endpoints = Endpoints(connect if hook is None else hooked(connect, hook))
    leases = Leases(local, endpoints, database, pool)

    async def roles(session: Session) -> Collection[str]:
        return await pool.run(lambda: roles_of(database.reader(), session.user or "", session.groups))

    async def end_leases() -> None:
        while True:
            await asyncio.sleep(REAP_EVERY)
            try:
                await leases.sweep(await definitions())
            except StoreError as error:
                log.warning("leases at remotes could not be read; retried later: %s", error)

    partial_lists = settings.remotes_partial == "on"
    handler = Routed(
        local,
        definitions,
        endpoints,
        transactions=leases,
        roles=roles,
        creations=Creations(service, endpoints, pool, partial_lists),
        partial=partial_lists,
        pool=pool,
    )
    return WithRemotes(handler, endpoints, end_leases, definitions)


def hooked(inner: Connect, hook: Hook) -> Connect:
    """Connectors whose objects pass through a function."""
    return lambda endpoint: Hooked(inner(endpoint), hook, str(endpoint))


def hive_values(settings: Settings) -> dict[str, str]:
    """The values of Hive's keys that clients can read, where this server's settings differ from Hive's defaults."""
    values: dict[str, str] = {}

    def put(value: str, *keys: str) -> None:
        values.update(dict.fromkeys(keys, value))

    if settings.port != KEYS["port"].default and settings.port:
        put(str(settings.port), "metastore.thrift.port", "hive.metastore.port")
    if settings.event_retention != KEYS["event_retention"].default:
        kept = f"{settings.event_retention:.0f}s"
        put(kept, "metastore.event.db.listener.timetolive", "hive.metastore.event.db.listener.timetolive")
    if settings.limits_partitions_per_call >= 0:
        limit = str(settings.limits_partitions_per_call)
        put(limit, "metastore.limit.partition.request", "hive.metastore.limit.partition.request")
    if settings.admin_users:
        put(",".join(settings.admin_users), "metastore.users.in.admin.role", "hive.users.in.admin.role")
    if settings.distinct_values == "density":
        put("true", "metastore.stats.ndv.densityfunction", "hive.metastore.stats.ndv.densityfunction")
    if settings.shows_acid_views:
        from metastored.acid_views.handler import LISTING_AGE

        put("true", "metastore.compactor.delayed.cleanup.enabled", "hive.compactor.delayed.cleanup.enabled")
        kept = f"{settings.acid_view_retention + LISTING_AGE:.0f}s"
        put(kept, "metastore.compactor.cleaner.retention.time", "hive.compactor.cleaner.retention.time.seconds")
    if settings.tls_certificate is not None:
        put("true", "metastore.use.SSL", "hive.metastore.use.SSL")
    if settings.kerberos_principal is not None:
        put("true", "metastore.sasl.enabled", "hive.metastore.sasl.enabled")
    return values


class Guarded(NamedTuple):
    """A handler behind the wrappers of `gate/`."""

    handler: Handler
    background: Background
    places: Places
    """Which files the server may open for a caller."""


def guarded(
    inner: Handler,
    settings: Settings,
    service: Service,
    pool: Pool,
    is_remote: Callable[[TableName], Awaitable[bool]],
    remote_tables: Callable[[DatabaseName], Awaitable[tuple[str, ...]]] | None = None,
) -> Guarded:
    """The handler behind the wrappers of `gate/` that the settings turn on, and their background tasks.

    A wrapper that is off is not installed, so calls do not pay for it. Only the store of tokens is always guarded.
    """
    background = list[Callable[[], Coroutine[Any, Any, None]]]()
    handler: Handler = ForServices(inner, (*settings.admin_users, *settings.service_users))
    lacking = holds = None
    if settings.authorization == "sql":
        policy = Policy(frozenset(settings.admin_users), service.warehouse.root, frozenset(settings.service_users))
        handler = authorized = Authorized(handler, service.database, pool, policy)
        lacking, holds = authorized.lacking, authorized.holds
    if settings.read_only == "on":
        handler = ReadOnly(handler)

    sharing = Sharing(service.database)

    async def is_shared(name: TableName, location: str) -> bool:
        return await pool.run(lambda: sharing.is_shared(name, location))

    places = Places(is_remote, lacking, settings.location_schemes, holds, is_shared, remote_tables)
    if settings.shows_acid_views:
        from metastored.acid_views.handler import AcidViews

        users = frozenset(settings.acid_views_users)
        handler = AcidViews(
            handler,
            service.warehouse,
            pool,
            places.refusal,
            lambda session: session.acid_views or session.user in users,
            by_request=settings.acid_views == "on",
        )
    if settings.limits_calls_per_minute:
        limited = RateLimited(handler, service.database, pool, settings.limits_calls_per_minute)
        handler = limited
        background.append(limited.keep_counting)
    if settings.audit == "on":
        # Outermost, so that refused calls are logged too.
        handler = Audited(handler)
    return Guarded(handler, tuple(background), places)
