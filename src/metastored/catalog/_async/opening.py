"""Opens a catalog as its settings say. Nothing is connected before it is used."""

from __future__ import annotations

from typing import Any

from metastored.catalog._async.hive import AsyncHiveProvider
from metastored.catalog.handlers import Closing, in_memory, of_glue, of_iceberg
from metastored.catalog.settings import CacheKeys, Catalog, GlueCatalog, HiveCatalog, IcebergCatalog, MemoryCatalog
from metastored.catalog.status import DatabaseChanges, DatabaseDefinition
from metastored.client._async.client import aconnect
from metastored.client.cache import CacheSettings
from metastored.client.metrics import Metrics
from metastored.errors import TransportError

FRAMED = {"auto": None, "buffered": False, "framed": True}


async def opened(settings: Catalog, metrics: Metrics | None = None) -> AsyncHiveProvider:
    """The catalog, ready for use."""
    match settings:
        case HiveCatalog():
            return await _hive(settings, metrics)
        case MemoryCatalog():
            return await _memory(settings, metrics)
        case IcebergCatalog():
            return _adapted(settings.name, of_iceberg(settings), settings.cache, metrics, iceberg=True)
        case GlueCatalog():
            return _adapted(settings.name, of_glue(settings), settings.cache, metrics)


async def _hive(settings: HiveCatalog, metrics: Metrics | None) -> AsyncHiveProvider:
    pool, thrift = settings.connection_pool, settings.thrift
    proof: dict[str, Any] = {"password": settings.password}
    if settings.kerberos_principal is not None:
        from metastored.client.sasl import kerberos

        proof = {"sasl": kerberos(settings.kerberos_principal)}
    client = aconnect(
        settings.uri,
        user=settings.username,
        **proof,
        # Over HTTP the protocol is chosen by the address, unless another one was asked for.
        protocol=None if thrift.protocol == "binary" else thrift.protocol,
        framed=FRAMED[thrift.transport],
        timeout=thrift.timeout_ms / 1000,
        connect_timeout=pool.connection_timeout_ms / 1000,
        max_size=pool.max_size,
        min_idle=min(pool.min_idle or 0, pool.max_size),
        idle_timeout=pool.idle_timeout_ms / 1000,
        cache=_cache(settings.cache),
        metrics=metrics,
    )
    try:
        await client.__aenter__()
    except BaseException as error:
        await client.close()
        if isinstance(error, TransportError):
            raise type(error)(f"catalog {settings.name!r} at {client.uri}: {error}") from error
        raise
    return AsyncHiveProvider(settings.name, client)


async def _memory(settings: MemoryCatalog, metrics: Metrics | None) -> AsyncHiveProvider:
    closing = in_memory(settings)
    provider = AsyncHiveProvider(
        settings.name, aconnect(handler=closing.handler, cache=False, metrics=metrics), closing=closing
    )
    first, comment = settings.initial_database, settings.initial_database_comment
    try:
        await provider.create_database(first, DatabaseDefinition(comment=comment), if_not_exists=True)
        if comment is not None:
            await provider.alter_database(first, DatabaseChanges(comment=comment))
    except BaseException:
        await provider.close()
        raise
    return provider


def _adapted(
    name: str, closing: Closing, cache: CacheKeys, metrics: Metrics | None, iceberg: bool = False
) -> AsyncHiveProvider:
    client = aconnect(handler=closing.handler, cache=_cache(cache), metrics=metrics)
    return AsyncHiveProvider(name, client, iceberg=iceberg, closing=closing)


def _cache(keys: CacheKeys) -> CacheSettings:
    return CacheSettings(keys.enabled, keys.max_capacity, keys.ttl_seconds, keys.tti_seconds)
