"""The directories of a table and of its partitions."""

from __future__ import annotations

from collections.abc import Iterator

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.names import make_part_name
from metastored.model.names import TableName
from metastored.wire.generated.common import StorageDescriptor, Table


def location_of(client: Client, table: TableName, partition: str | None) -> str:
    """The location of a table or a partition. Raises ObjectNotFound if it does not exist."""
    if partition is None:
        return _location(client.fresh_table(table).sd, str(table))
    return _location(client.partition(table, partition).sd, f"{table} {partition}")


def places(client: Client, name: TableName, table: Table) -> Iterator[tuple[str | None, str]]:
    """All partitions of a table, by name, with their locations; the table itself if it has none."""
    keys = tuple(key.name or "" for key in table.partitionKeys or ())
    if not keys:
        yield None, _location(table.sd, str(name))
        return
    for each in client.partitions(name):
        partition = make_part_name(keys, each.values or ())
        yield partition, _location(each.sd, f"{name} {partition}")


def _location(sd: StorageDescriptor | None, what: str) -> str:
    if sd is None or not sd.location:
        raise InvalidInputException(f"{what} has no location")
    return sd.location
