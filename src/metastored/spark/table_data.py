"""Where the files of a table are, and its partitions by name: for everything that reads the storage of plain tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metastored.client._sync.client import Client
from metastored.client._sync.metadata import BATCH
from metastored.errors import InvalidInputException
from metastored.model.kinds import is_any_view
from metastored.model.names import TableName
from metastored.model.spark.properties import PROVIDER
from metastored.wire.generated.common import Table
from metastored.wire.generated.partitions import Partition


def data_location(table: Table) -> str:
    """Where the files of a table are: for a table of Spark's data sources, the option `path`.

    Raises InvalidInputException for views and tables without files.
    """
    full = f"{table.dbName}.{table.tableName}"
    if is_any_view(table):
        raise InvalidInputException(f"{full} is a view: only tables have statistics and partitions")
    sd: Any = table.sd
    options = (sd.serdeInfo.parameters if sd is not None and sd.serdeInfo is not None else None) or {}
    path = next((value for key, value in options.items() if key.lower() == "path"), None)
    location = path if PROVIDER in (table.parameters or {}) and path else sd and sd.location
    if not location:
        raise InvalidInputException(f"{full} has no location")
    return str(location)


def partitions_named(client: Client, name: TableName, names: Sequence[str] | None) -> list[Partition]:
    """The partitions with these names that exist; None means all."""
    if names is None:
        return list(client.partitions(name))
    partitions: list[Partition] = []
    for at in range(0, len(names), BATCH):
        batch = tuple(names[at : at + BATCH])
        partitions += client.api.get_partitions_by_names(name.database_field, name.table, batch)
    return partitions
