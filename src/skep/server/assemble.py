"""Puts the parts of a server together: the database, the warehouse, the metastore. One function, called in a worker.

Everything is imported inside, so that the parent process and `skep --help` load none of it.
"""

from __future__ import annotations

from skep.config import Settings
from skep.errors import ConfigError
from skep.server.server import Application


def build(settings: Settings) -> Application:
    """The application that the settings describe. Opens the database: only after the process was forked."""
    if settings.kerberos_principal is not None:
        raise ConfigError("kerberos_principal: Kerberos is not part of this version yet")
    from skep.metastore import Local  # type: ignore[import-not-found]
    from skep.store.database import Database  # type: ignore[import-not-found]
    from skep.store.pool import Pool
    from skep.store.warehouse import Warehouse  # type: ignore[import-not-found]

    database = Database.open(settings.database_url, settings.data, threads=settings.threads)
    database.ensure_schema()
    warehouse = Warehouse(settings.warehouse_root, settings.directories)
    pool = Pool(settings.threads)
    spool = None if settings.database_url is not None else settings.data
    return Application(Local(database, warehouse, settings, pool), pool, close=database.close, spool=spool)
