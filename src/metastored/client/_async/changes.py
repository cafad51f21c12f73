"""Changes of tables and partitions that keep what other clients change at the same time.

An object is read, changed and sent with the condition that nothing else of it differs from what was read. metastored
refuses it otherwise, and then it is read again. Other servers do not know the condition. This module never locks, and
it never reads an object from a cache.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from metastored.client._async.caller import AsyncCaller
from metastored.errors import MetaException
from metastored.model.conditions import changed_names, is_refused, only
from metastored.model.names import TableName
from metastored.wire.generated.common import EnvironmentContext, Table
from metastored.wire.generated.partitions import AlterPartitionsRequest, Partition
from metastored.wire.generated.tables import AlterTableRequest
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._async.metadata import AsyncMetadata

ATTEMPTS: Final = 20
"""How often a change is tried while others change the same object."""

Changed = TypeVar("Changed", Table, Partition)


async def change_table(
    client: AsyncMetadata,
    name: TableName,
    change: Callable[[Table], Table],
    environment: Mapping[str, str],
    write: tuple[int, str] | None,
) -> Table:
    """See `AsyncMetadata.change_table`."""
    api = client.api

    async def read() -> tuple[Table, ...]:
        return (await client.fresh_table(name),)

    async def send(changed: tuple[Table, ...], context: EnvironmentContext | None) -> None:
        (table,) = changed
        if write is None:
            await api.alter_table_with_environment_context(name.database_field, name.table, table, context)
        else:
            await api.alter_table_req(
                AlterTableRequest(name.catalog_field, name.database, name.table, table, context, *write)
            )

    (sent,) = await _changed(read, change, send, environment, write)
    return sent


async def change_partitions(
    api: AsyncCaller,
    table: TableName,
    names: tuple[str, ...],
    change: Callable[[Partition], Partition],
    environment: Mapping[str, str],
    write: tuple[int, str] | None,
) -> None:
    """Changes those of the partitions that exist, all or none."""

    async def read() -> tuple[Partition, ...]:
        return tuple(await api.get_partitions_by_names(table.database_field, table.table, names))

    async def send(changed: tuple[Partition, ...], context: EnvironmentContext | None) -> None:
        if write is None:
            await api.alter_partitions_with_environment_context(table.database_field, table.table, changed, context)
        else:
            await api.alter_partitions_req(
                AlterPartitionsRequest(table.catalog_field, table.database, table.table, changed, context, *write)
            )

    await _changed(read, change, send, environment, write)


async def _changed(
    read: Callable[[], Awaitable[tuple[Changed, ...]]],
    change: Callable[[Changed], Changed],
    send: Callable[[tuple[Changed, ...], EnvironmentContext | None], Awaitable[None]],
    environment: Mapping[str, str],
    write: tuple[int, str] | None,
) -> tuple[Changed, ...]:
    """Reads, changes and sends until nobody else has changed the objects in between. Returns what was sent."""
    refused: tuple[tuple[Changed, ...], MetaException] | None = None
    for _ in range(ATTEMPTS):
        rows = await read()
        if not rows:
            return ()
        changed = tuple(map(change, rows))
        if write is not None:  # Hive 4 compares that of the object, not that of the request.
            changed = tuple(replace(each, writeId=write[0]) for each in changed)
        settings = dict(environment)
        if refused is None or refused[0] != rows:
            settings |= only({key for pair in zip(rows, changed, strict=True) for key in changed_names(*pair)})
        # Else it was refused although nobody has changed it: the server stores it in another form.
        try:
            await send(changed, EnvironmentContext(properties=settings) if settings else None)
        except MetaException as error:
            if not is_refused(error):
                raise
            refused = rows, error
            continue
        return changed
    assert refused is not None
    raise refused[1]
