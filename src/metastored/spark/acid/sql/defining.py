"""Executes statements on an ACID table as a whole: TRUNCATE, COMPACT, RENAME, DROP PARTITION.

TRUNCATE is a transaction: readers at older snapshots still see the rows. The others change the table in the metastore
under an exclusive lock, as in Hive: no transaction reads or writes the table meanwhile, and none can undo them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.names import DEFAULT_PARTITION, make_part_name, partition_values
from metastored.hive.transactions.compaction import CompactionKind
from metastored.spark.acid.compaction.queue import request, worker_id
from metastored.spark.acid.sql.plain import plain_sql
from metastored.spark.acid.sql.values import (
    Compact,
    Definitions,
    DropPartitions,
    Partition,
    RenamePartition,
    RenameTable,
    Truncate,
)
from metastored.spark.acid.tables import AcidTable, acid_table
from metastored.spark.acid.writing import Transaction
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def define(spark: SparkSession, client: Client, definitions: Definitions, timeout: float) -> None:
    """Executes the statement. Raises LockFailed if the table is in use for longer than `timeout` seconds."""
    table = acid_table(client, definitions.table)
    match definitions:
        case Compact():
            # One that waits or runs already is enough.
            name = _name(table, _values(spark, table, definitions.partition)) if definitions.partition else None
            request(client, table.name, name, CompactionKind[definitions.kind.upper()], worker_id())
        case Truncate():
            names = list(_matching(spark, client, table, definitions.partition)) if definitions.partition else None
            if names is not None and not names:
                raise _no_partition(table, definitions.partition)
            with Transaction(spark, client, timeout) as transaction:
                transaction.truncate(table.name, names)
        case DropPartitions():
            with client.lock(table.name, type="exclusive", timeout=timeout):
                _drop(spark, client, table, definitions)
        case RenamePartition():
            with client.lock(table.name, type="exclusive", timeout=timeout):
                old, new = (_full(spark, table, each) for each in (definitions.partition, definitions.to))
                moved = replace(client.partition(table.name, old), values=new)
                client.api.rename_partition(table.name.database_field, table.name.table, old, moved)
        case RenameTable():
            with client.lock(table.name, type="exclusive", timeout=timeout):
                client.rename_table(
                    table.name, ".".join(definitions.to) if len(definitions.to) > 1 else definitions.to[0]
                )


def _drop(spark: SparkSession, client: Client, table: AcidTable, statement: DropPartitions) -> None:
    """All partitions are found before the first one is dropped."""
    names: dict[str, None] = {}
    for spec in statement.partitions:
        matching = list(_matching(spark, client, table, spec))
        if not matching and not statement.if_exists:
            raise _no_partition(table, spec)
        names |= dict.fromkeys(matching)
    for name in names:
        client.drop_partition(table.name, partition_values(name, table.key_names), if_exists=True)


def _matching(spark: SparkSession, client: Client, table: AcidTable, spec: Partition) -> Iterator[str]:
    """The names of the partitions that have the values of a clause, which may have only some of the keys."""
    wanted = _values(spark, table, spec)
    for name in client.partition_names(table.name):
        values = dict(zip(map(str.lower, table.key_names), partition_values(name, table.key_names), strict=True))
        if all(values[key] == value for key, value in wanted.items()):
            yield name


def _full(spark: SparkSession, table: AcidTable, spec: Partition) -> tuple[str, ...]:
    values = _values(spark, table, spec)
    if len(values) != len(table.key_names):
        raise InvalidInputException(f"a partition of {table.name} has values of {', '.join(table.key_names)}")
    return tuple(values[name.lower()] for name in table.key_names)


def _name(table: AcidTable, values: dict[str, str]) -> str:
    if len(values) != len(table.key_names):
        raise InvalidInputException(f"a partition of {table.name} has values of {', '.join(table.key_names)}")
    return make_part_name(table.key_names, [values[name.lower()] for name in table.key_names])


def _values(spark: SparkSession, table: AcidTable, spec: Partition) -> dict[str, str]:
    """The values of a PARTITION clause, as texts of the types of the keys: `h = 07` is `7` for a number."""
    types = {field.name.lower(): field.dataType.simpleString() for field in table.keys}
    unknown = [name for name, _ in spec if name not in types]
    if unknown:
        raise InvalidInputException(f"{table.name} has no partition keys {', '.join(unknown)}")
    columns = ", ".join(f"CAST(CAST(({text}\n) AS {types[name]}) AS STRING)" for name, text in spec)
    row = plain_sql(spark, f"SELECT {columns}").first()
    assert row is not None
    return {
        name: DEFAULT_PARTITION if value is None or value == "" else value
        for (name, _), value in zip(spec, row, strict=True)
    }


def _no_partition(table: AcidTable, spec: Partition) -> InvalidInputException:
    listed = ", ".join(f"{name} = {text}" for name, text in spec)
    return InvalidInputException(f"{table.name} has no partition ({listed})")
