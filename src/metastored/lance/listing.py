"""Finds the Lance tables of a database, by their parameter `table_type`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from metastored.client._sync.client import Client
from metastored.client.table_types import TableType
from metastored.lance.definition import LANCE, is_lance
from metastored.model.names import DatabaseName
from metastored.wire.generated.common import Table

LANCE_TYPE: Final = TableType(LANCE, is_lance)


def lance_tables(client: Client, database: DatabaseName) -> Iterator[Table]:
    """The Lance tables of a database, in batches."""
    return LANCE_TYPE.tables(client, database)


def lance_table_names(client: Client, database: DatabaseName) -> list[str]:
    """The names of the Lance tables of a database, sorted."""
    return LANCE_TYPE.names(client, database)
