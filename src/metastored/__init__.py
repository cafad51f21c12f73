"""metastored: a Hive Metastore that you pip install.

metastored.connect("thrift://host:9083")            a client of any metastore
metastored.aconnect("thrift://host:9083")           the same for asyncio
metastored.CacheSettings, PoolSettings, Retry, TransportSettings: how a client works
metastored.table("shop.orders", {"id": "bigint"})   a table to be created; partition and database likewise
metastored.structs, metastored.errors               all structs of the API, all errors
metastored.to_dict(table)                           a struct as a plain dict
metastored.catalog                                  several catalogs behind one interface
metastored.spark                                    Spark's external catalog without Spark; PySpark sessions
metastored.lance                                    Lance tables of a metastore
metastored.pipeline                                 steps in a file that copy, change, analyze and compact tables
metastored.testing                                  a metastore for the tests of your project
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored import catalog, errors, spark, structs
    from metastored.client._async.client import AsyncClient, aconnect
    from metastored.client._sync.client import Client, connect
    from metastored.client.cache import CacheSettings
    from metastored.client.endpoints import TransportSettings
    from metastored.client.pooling import PoolSettings
    from metastored.client.retry import Retry
    from metastored.model.makers import database, partition, table
    from metastored.model.plain import from_dict, to_dict

__all__ = [
    "AsyncClient",
    "CacheSettings",
    "Client",
    "PoolSettings",
    "Retry",
    "TransportSettings",
    "aconnect",
    "catalog",
    "connect",
    "database",
    "errors",
    "from_dict",
    "partition",
    "spark",
    "structs",
    "table",
    "to_dict",
]
__version__ = "0.1.0.dev0"

_HOMES = {
    "AsyncClient": "metastored.client._async.client",
    "CacheSettings": "metastored.client.cache",
    "Client": "metastored.client._sync.client",
    "PoolSettings": "metastored.client.pooling",
    "Retry": "metastored.client.retry",
    "TransportSettings": "metastored.client.endpoints",
    "aconnect": "metastored.client._async.client",
    "connect": "metastored.client._sync.client",
    "database": "metastored.model.makers",
    "from_dict": "metastored.model.plain",
    "partition": "metastored.model.makers",
    "table": "metastored.model.makers",
    "to_dict": "metastored.model.plain",
}
_MODULES = frozenset({"catalog", "errors", "spark", "structs"})


def __getattr__(name: str) -> Any:
    # Everything is imported when it is used: a server does not need the client, nor a client the server.
    if name in _MODULES:
        return import_module(f"metastored.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'metastored' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
