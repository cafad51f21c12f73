"""Finds the Lance tables of a database. The server filters by the parameter `table_type` where it can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from metastored.client._sync.client import Client
from metastored.lance.definition import is_lance
from metastored.model.names import DatabaseName
from metastored.wire.generated.common import Table

BATCH: Final = 1000


def lance_tables(client: Client, database: DatabaseName) -> Iterator[Table]:
    """The Lance tables of a database, in batches."""
    names = client.api.get_all_tables(database.field)
    for at in range(0, len(names), BATCH):
        for table in client.tables_by_name(database, names[at : at + BATCH]):
            if is_lance(table):
                yield table


def lance_table_names(client: Client, database: DatabaseName) -> list[str]:
    """The names of the Lance tables of a database, sorted."""
    return sorted(table.tableName or "" for table in lance_tables(client, database))
