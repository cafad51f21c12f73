"""Reads every object of a database once, as a server would, to verify a restored database. It writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.names import DatabaseName, database_name
from metastored.transfer.local import Opening, opened


class Readable(NamedTuple):
    """How many objects were read."""

    catalogs: int = 0
    databases: int = 0
    tables: int = 0
    partitions: int = 0


def read_everything(url: str | None, data: Path | None, progress: Callable[[int, int], None] | None = None) -> Readable:
    """Reads all catalogs, databases, tables and partitions through the service, without a socket.

    Raises what the service raises for an object that cannot be read, and StoreError for a database without objects.
    `progress` gets the tables that were read, and all tables.
    """
    with opened(url, data, "file:/nonexistent", Opening.REQUIRE) as (client, _):
        catalogs = tuple(client.api.get_catalogs().names or ())
        names = [
            database_name(name) if catalog == DEFAULT_CATALOG else DatabaseName(catalog, name)
            for catalog in catalogs
            for name in client.databases(DatabaseName(catalog, "*").field)
        ]
        listed = {name: client.tables(name.field if not name.catalog else str(name)) for name in names}
        total, tables, partitions = sum(map(len, listed.values())), 0, 0
        for name in names:
            client.api.get_database(name.field)
            for table in client.table_objects(str(name)):
                tables += 1
                if table.partitionKeys:
                    partitions += sum(1 for _ in client.partitions(name.table(table.tableName or "")))
                if progress is not None:
                    progress(tables, total)
    return Readable(len(catalogs), len(names), tables, partitions)
