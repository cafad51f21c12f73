# Made by tools/unasync.py from _async/partition_changes.py: DO NOT EDIT.
"""Executes the changes of partitions by statements: added, dropped, renamed, moved, exchanged, compacted.

Partitions that a condition names are looked up first; values are never read as a part of a condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from metastored.client.statements.new_tables import lower, with_storage
from metastored.client.statements.values import table_of
from metastored.errors import InvalidOperationException, ObjectNotFound
from metastored.hive.names import make_part_name, normalize
from metastored.model import makers
from metastored.model.acid import acid_of
from metastored.model.names import DatabaseName, TableName
from metastored.model.partitions import keys_of, values_of
from metastored.statements import definitions as s
from metastored.statements.basics import Pairs
from metastored.wire.generated.common import CompactionType, EnvironmentContext, StorageDescriptor, Table
from metastored.wire.generated.compaction import CompactionRequest
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._sync.operations import Operations

KINDS: Final = {"major": CompactionType.MAJOR, "minor": CompactionType.MINOR}


def alter_partitions(
    client: Operations,
    current: DatabaseName,
    name: TableName,
    action: s.AddPartitions | s.DropPartitions | s.AlterPartition | s.ExchangePartition,
) -> None:
    """Changes partitions of a table. Raises what the metastore raises."""
    table = client.fresh_table(name)
    full = str(name)
    if not table.partitionKeys:
        raise InvalidOperationException(f"{name} is not partitioned")
    match action:
        case s.AddPartitions(written, if_not_exists):
            made = [makers.partition(table, dict(values), location=location) for values, location in written]
            client.add_partitions(name, made, if_not_exists)
        case s.DropPartitions(filters, if_exists, purge):
            changed_names: dict[str, None] = {}
            for comparisons in filters:
                names = matching(client, name, table, comparisons)
                if not names and not if_exists:
                    raise ObjectNotFound("partition", f"{name} ({', '.join(' '.join(each) for each in comparisons)})")
                changed_names |= dict.fromkeys(names)
            if changed_names:
                _drop_partitions(client, name, tuple(changed_names), if_exists, purge)
        case s.AlterPartition(values, change):
            old = values_of(full, keys_of(table), dict(values))
            if isinstance(change, s.Compact):
                client.partition(name, old)  # Raises ObjectNotFound.
                request_compaction(client, name, table, change, make_part_name(keys_of(table), old))
            elif isinstance(change, tuple):
                new = values_of(full, keys_of(table), dict(change))
                partition = replace(client.partition(name, old), values=new)
                client.api.rename_partition(name.database_field, name.table, old, partition)
            else:
                client.partition(name, old)  # Raises ObjectNotFound.
                named = make_part_name(keys_of(table), old)
                client.change_partitions(name, (named,), lambda each: _changed_partition(each, change))

        case s.ExchangePartition(values, source):
            _exchange(client, name, table, values, table_of(source, current))


def _exchange(client: Operations, name: TableName, table: Table, values: Pairs, source: TableName) -> None:
    """Moves partitions of another table to this one, with their directories; the metastore compares the columns."""
    for each, struct in ((name, table), (source, client.fresh_table(source))):
        if acid_of(struct) is not None:
            raise InvalidOperationException(
                f"{each} is an ACID table: its files belong to its own transactions, and cannot be exchanged"
            )
    keys = lower(keys_of(table))
    unknown = [key for key, _ in values if normalize(key) not in keys]
    if unknown:
        raise InvalidOperationException(f"{name} has no partition key {unknown[0]}; its keys are {', '.join(keys)}")
    spec = {normalize(key): value for key, value in values}
    client.api.exchange_partitions(spec, source.database_field, source.table, name.database_field, name.table)
    client.forget(source.database, source.table)


def request_compaction(
    client: Operations, name: TableName, table: Table, action: s.Compact, partition: str | None = None
) -> None:
    """Puts a compaction into the queue, where a worker takes it. Raises InvalidOperationException if one is there."""
    if acid_of(table) is None:
        raise InvalidOperationException(f"{name} is not an ACID table: there is nothing to compact")
    if partition is None and table.partitionKeys:
        raise InvalidOperationException(
            f"{name} is partitioned, and partitions are compacted one by one: "
            f"ALTER TABLE {name} PARTITION (…) COMPACT …"
        )
    whole = str(name) if partition is None else f"{name} ({partition})"
    request = CompactionRequest(
        dbname=name.database,
        tablename=name.table,
        partitionname=partition,
        type=KINDS[action.kind],
        runas=None,
        properties=dict(action.properties) or None,
        poolName=action.pool,
    )
    reply = client.api.compact2(request)
    if not reply.accepted:
        raise InvalidOperationException(
            f"a compaction of {whole} waits or runs already: SHOW COMPACTIONS has it, with the number {reply.id}"
        )


def _changed_partition(partition: Partition, change: s.SetLocation | s.SetStorage) -> Partition:
    if isinstance(change, s.SetLocation):
        return replace(partition, sd=replace(partition.sd or StorageDescriptor(), location=change.location))
    return replace(partition, sd=with_storage(Table(sd=partition.sd), change.storage).sd)


def matching(
    client: Operations, name: TableName, table: Table, comparisons: Iterable[tuple[str, str, str]]
) -> tuple[str, ...]:
    """The names of the partitions for which all comparisons hold."""
    keys = lower(keys_of(table))
    parts = []
    for key, operator, value in comparisons:
        if normalize(key) not in keys:
            raise InvalidOperationException(
                f"{name} has no partition key {key}; its partition keys are {', '.join(keys) or 'none'}"
            )
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        parts.append(f"`{normalize(key)}` {operator} '{escaped}'")
    return client.partition_names(name, " and ".join(parts))


def _drop_partitions(client: Operations, name: TableName, names: tuple[str, ...], if_exists: bool, purge: bool) -> None:
    request = DropPartitionsRequest(
        name.database,
        name.table,
        RequestPartsSpec(names=names),
        deleteData=True,
        ifExists=if_exists,
        environmentContext=EnvironmentContext(properties={"ifPurge": "TRUE"}) if purge else None,
        needResult=False,
        catName=name.catalog_field,
    )
    client.api.drop_partitions_req(request)


def shown(name: TableName, partition: Pairs) -> str:
    """A partition as errors name it."""
    return f"{name} ({', '.join(f'{key}={value}' for key, value in partition)})"
