# Made by tools/unasync.py from _async/opening.py: DO NOT EDIT.
"""Opens a catalog by its settings."""

from __future__ import annotations

from typing import Any

from metastored.catalog._sync.hive import HiveProvider
from metastored.catalog.handlers import Closing, in_memory, of_glue, of_iceberg
from metastored.catalog.settings import CacheKeys, Catalog, GlueCatalog, HiveCatalog, IcebergCatalog, MemoryCatalog
from metastored.catalog.status import DatabaseChanges, DatabaseDefinition
from metastored.client._sync.client import connect
from metastored.client.cache import CacheSettings
from metastored.client.endpoints import TransportSettings
from metastored.client.hints import question
from metastored.client.metrics import Metrics
from metastored.client.pooling import PoolSettings
from metastored.errors import RemoteProtocolError, TransportError

USER = "hive"
"""The user of a metastore's catalog without `username`, and the owner of what it creates."""
FRAMED = {"auto": None, "buffered": False, "framed": True}


def opened(settings: Catalog, metrics: Metrics | None = None) -> HiveProvider:
    """The catalog, ready for use."""
    match settings:
        case HiveCatalog():
            return _hive(settings, metrics)
        case MemoryCatalog():
            return _memory(settings, metrics)
        case IcebergCatalog():
            return _adapted(settings.name, of_iceberg(settings), settings.cache, metrics, iceberg=True)
        case GlueCatalog():
            return _adapted(settings.name, of_glue(settings), settings.cache, metrics)


def _hive(settings: HiveCatalog, metrics: Metrics | None) -> HiveProvider:
    pool, thrift = settings.connection_pool, settings.thrift
    credentials: dict[str, Any] = {"password": settings.password}
    if settings.kerberos_principal is not None:
        from metastored.client.sasl import kerberos

        credentials = {"sasl": kerberos(settings.kerberos_principal)}
    user = settings.username or USER
    client = connect(
        settings.uri,
        user=user,
        **credentials,
        # Over HTTP the address selects the protocol, unless the settings have another one.
        transport=TransportSettings(
            protocol=None if thrift.protocol == "binary" else thrift.protocol,
            framed=FRAMED[thrift.transport],
            connect_timeout=pool.connection_timeout_ms / 1000,
        ),
        timeout=thrift.timeout_ms / 1000,
        pool=PoolSettings(
            acquire_timeout=pool.connection_timeout_ms / 1000,
            max_size=pool.max_size,
            min_idle=min(pool.min_idle or 0, pool.max_size),
            idle_timeout=pool.idle_timeout_ms / 1000,
        ),
        cache=_cache(settings.cache),
        metrics=metrics,
    )
    try:
        client.__enter__()
        if thrift.transport != "auto":
            client.databases()  # A wrong transport is an error at once, and not at the first call.
    except BaseException as error:
        client.close()
        if isinstance(error, TransportError | RemoteProtocolError):
            hint = _transport_hint(thrift.transport) if not question(str(error)) else ""
            raise type(error)(f"catalog {settings.name!r}: {error}{hint}") from error
        raise
    return HiveProvider(settings.name, client, owner=user)


def _transport_hint(transport: str) -> str:
    """The end of an error of a connection that was closed: which key may be wrong."""
    if transport == "auto":
        return ""
    other = "not framed, as Hive's own is by default" if transport == "framed" else "framed"
    return f"; thrift.transport is {transport}: if the server is {other}, set thrift.transport to auto"


def _memory(settings: MemoryCatalog, metrics: Metrics | None) -> HiveProvider:
    closing = in_memory(settings)
    provider = HiveProvider(
        settings.name, connect(handler=closing.handler, cache=False, metrics=metrics), closing=closing
    )
    first, comment = settings.initial_database, settings.initial_database_comment
    try:
        provider.create_database(first, DatabaseDefinition(comment=comment), if_not_exists=True)
        if comment is not None:
            provider.alter_database(first, DatabaseChanges(comment=comment))
    except BaseException:
        provider.close()
        raise
    return provider


def _adapted(
    name: str, closing: Closing, cache: CacheKeys, metrics: Metrics | None, iceberg: bool = False
) -> HiveProvider:
    client = connect(handler=closing.handler, cache=_cache(cache), metrics=metrics)
    return HiveProvider(name, client, iceberg=iceberg, closing=closing)


def _cache(keys: CacheKeys) -> CacheSettings:
    return CacheSettings(
        keys.enabled, keys.max_capacity, keys.ttl_seconds, keys.tti_seconds, events_every=keys.events_every
    )
