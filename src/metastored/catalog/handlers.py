"""The handlers of catalogs that are not servers: in memory, Iceberg and Glue.

Libraries are imported when a catalog is opened: a program that uses only Hive never loads Iceberg's library.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metastored.wire.message import Handler

if TYPE_CHECKING:
    from metastored.catalog.settings import GlueCatalog, IcebergCatalog, MemoryCatalog

THREADS = 4
"""The threads of an in-memory metastore."""


class Closing(NamedTuple):
    """A handler, and the function that closes it."""

    handler: Handler
    close: Callable[[], None]


def in_memory(settings: MemoryCatalog) -> Closing:
    """Returns metastored's own metastore, in a directory that is removed at the end. It changes no other directory."""
    from metastored.service.bootstrap import ensure_defaults
    from metastored.service.core.context import Service
    from metastored.service.local import Local
    from metastored.store.engine.migrate import ensure_schema
    from metastored.store.engine.opening import open_database
    from metastored.store.warehouse.directories import Warehouse
    from metastored.threads import Pool

    folder = Path(tempfile.mkdtemp(prefix="metastored-memory-"))
    try:
        database = open_database(None, folder, threads=THREADS)
        ensure_schema(database)
        service = Service(database, Warehouse(f"memory:/{settings.name}", "off"), started=time.time())
        ensure_defaults(service)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    pool = Pool(THREADS, f"metastored-memory-{settings.name}")

    def close() -> None:
        pool.close()
        database.close()
        shutil.rmtree(folder, ignore_errors=True)

    return Closing(Local(service, pool), close)


def of_iceberg(settings: IcebergCatalog) -> Closing:
    from metastored.connectors.adapted.handler import Adapted
    from metastored.connectors.iceberg.catalog import IcebergSource

    handler = Adapted(IcebergSource(settings.options, nested=settings.nested_namespaces))
    return Closing(handler, handler.close)


def of_glue(settings: GlueCatalog) -> Closing:
    from metastored.connectors.adapted.handler import Adapted
    from metastored.connectors.glue.catalog import GlueSource

    handler = Adapted(GlueSource(settings.options, catalog_id=settings.catalog_id))
    return Closing(handler, handler.close)
