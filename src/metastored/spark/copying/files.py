"""Copies to Parquet and ORC tables: rows are staged, verified, moved to their directories and published.

    <table>/.copy-<token>/rows/ds=1/part-….parquet   staged; nobody reads it
    <table>/ds=1/copy-<token>/part-….parquet         the directory of the partition, once the metastore names it
    <table>/copy-<token>/part-….parquet              that of a table without partitions

A directory is never changed after it was published. A partition is replaced by a call that gives it another directory,
so readers see all of its old rows or all of its new rows. Partitions are published in batches, each by one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client
from metastored.errors import NotSupported
from metastored.hive.locations import is_under, join, name
from metastored.hive.names import make_part_name, partition_values
from metastored.model.makers import partition as new_partition
from metastored.model.makers import table as new_table
from metastored.model.names import TableName
from metastored.spark.acid.files import Files, files_of
from metastored.spark.copying.checksums import NOTHING, Checksum
from metastored.spark.copying.marks import COPY_SOURCE, DIRECTORY, STAGING, Mark, base_of
from metastored.spark.copying.planning import CopyPlan, Part
from metastored.spark.copying.reading import frame_of, of_partitions, spelled
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.staging import (
    new_token,
    remove_abandoned,
    size_of,
    stage,
    staged_checksum,
    staged_checksums,
    total,
    verify,
)
from metastored.spark.copying.statistics import copy_partition_statistics, copy_table_statistics
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCH: Final = 100
"""Partitions that are copied by one job of Spark and published by one call."""
ROWS: Final = "rows"
"""Spark warns about a directory with a dot as the root of what it reads, and not about one above it."""
_BASIC: Final = '{"BASIC_STATS":"true"}'


def copy_files(spark: Any, client: Client, plan: CopyPlan) -> CopyResult:
    """Copies what the plan says to a table of files."""
    table = plan.existing or _create(spark, client, plan)
    location = base_of(_location(table))
    files = files_of(spark, location)
    if not plan.keys:
        return _copy_table(spark, client, plan, table, files, location)
    remove_abandoned(files, location)
    rows = size = 0
    frame = frame_of(spark, client, plan.source) if plan.changed else None
    for at in range(0, len(plan.changed), BATCH):
        assert frame is not None
        batch = plan.changed[at : at + BATCH]
        written = _copy_batch(spark, client, plan, table, files, location, frame, batch)
        rows, size = rows + written[0], size + written[1]
    for gone in plan.dropped:
        client.drop_partition(plan.target, gone, if_exists=True)
        if not files.entries(join(location, gone)):
            files.remove(join(location, gone))
    partitions = tuple(part.name for part in plan.changed)
    return CopyResult(
        plan.source,
        plan.target,
        rows,
        size,
        partitions,
        plan.skipped,
        plan.dropped,
        unchanged=plan.existing is not None and not partitions and not plan.dropped,
    )


def _create(spark: Any, client: Client, plan: CopyPlan) -> Table:
    """Creates the target. Spark knows the names of all columns, Hive knows types such as varchar(10)."""
    columns = {(each.name or "").lower(): each for each in (plan.table.sd and plan.table.sd.cols) or ()}
    made = {}
    for field in frame_of(spark, client, plan.source).schema.fields:
        known = columns.get(field.name.lower())
        if field.name.lower() not in plan.keys:
            type = (known and known.type) or field.dataType.simpleString()
            made[field.name.lower()] = (type, known.comment if known is not None else None)
    parameters = {key: value for key, value in (plan.table.parameters or {}).items() if key == "comment"}
    keys = plan.table.partitionKeys or ()
    client.create_table(new_table(plan.target, made, partitioned_by=keys, format=plan.format, properties=parameters))
    return client.fresh_table(plan.target)


def _location(table: Table) -> str:
    location = table.sd.location if table.sd is not None else None
    if not location:
        raise NotSupported(f"{table.dbName}.{table.tableName} has no location")
    return location


# --- a table without partitions ----------------------------------------------------------------------------


def _copy_table(spark: Any, client: Client, plan: CopyPlan, table: Table, files: Files, location: str) -> CopyResult:
    old = _location(table)
    remove_abandoned(files, location, frozenset({name(old)}))
    if not plan.changed:
        return CopyResult(plan.source, plan.target, 0, 0, unchanged=True)
    (part,) = plan.changed
    copy = new_token()
    hidden, final = join(location, STAGING + copy), join(location, DIRECTORY + copy)
    staging = join(hidden, ROWS)
    frame = frame_of(spark, client, plan.source)
    try:
        expected = stage(frame, plan.format, staging, ())
        verify(str(plan.source), expected, staged_checksum(spark, frame, plan.format, staging))
        files.rename(staging, final)
    finally:
        files.remove(hidden)
    count, size = size_of(files, final)
    parameters = {
        **(table.parameters or {}),
        **_parameters(plan.source, part, expected, count, size),
    }
    sd = replace(table.sd or StorageDescriptor(), location=final)
    client.alter(plan.target, replace(table, sd=sd, parameters=parameters), environment={"DO_NOT_UPDATE_STATS": "true"})
    _remove_old(files, location, old, final)
    copy_table_statistics(client, plan.source, plan.target)
    return CopyResult(plan.source, plan.target, expected.rows, size)


# --- partitions --------------------------------------------------------------------------------------------


def _copy_batch(
    spark: Any,
    client: Client,
    plan: CopyPlan,
    table: Table,
    files: Files,
    location: str,
    frame: DataFrame,
    batch: Sequence[Part],
) -> tuple[int, int]:
    """Copies partitions. Returns their rows and bytes."""
    copy = new_token()
    hidden = join(location, STAGING + copy)
    staging = join(hidden, ROWS)
    keys = _as_in(frame, plan.keys)
    chosen = of_partitions(frame, keys, [part.values for part in batch])
    names = _by_spelling(plan, chosen, keys, batch)
    old = _replaced(client, plan, batch)
    in_use = frozenset(name(_directory(each)) for each in old.values())
    try:
        expected = stage(chosen, plan.format, staging, keys)
        found = staged_checksums(spark, chosen, plan.format, staging, keys) if expected.rows else {}
        verify(str(plan.source), expected, total(list(found.values())))
        directories = _staged_directories(files, staging, keys, chosen) if expected.rows else {}
        made = []
        for values, part in names.items():
            final = join(location, part.name, DIRECTORY + copy)
            files.make(join(location, part.name))
            remove_abandoned(files, join(location, part.name), in_use)
            if values in directories:
                files.rename(directories[values], final)
            else:
                files.make(final)
            made.append((part, final, found.get(values, NOTHING), size_of(files, final)))
    finally:
        files.remove(hidden)
    _publish(client, plan, table, files, location, made, old)
    copy_partition_statistics(client, plan.source, plan.target, [part.name for part in batch])
    return expected.rows, sum(size for *_, (_, size) in made)


Made = tuple[Part, str, Checksum, tuple[int, int]]
"""A partition, its new directory, its checksum, and the number and the size of its files."""


def _publish(
    client: Client,
    plan: CopyPlan,
    table: Table,
    files: Files,
    location: str,
    made: Sequence[Made],
    old: dict[str, Partition],
) -> None:
    """Adds new partitions by one call, and gives existing ones their new directories by another."""
    new = [
        new_partition(table, part.values, location=where, properties=_parameters(plan.source, part, checksum, *figures))
        for part, where, checksum, figures in made
        if part.name not in old
    ]
    if new:
        client.add_partitions(plan.target, new)
    changed = []
    for part, where, checksum, figures in made:
        if (before := old.get(part.name)) is not None:
            parameters = {**(before.parameters or {}), **_parameters(plan.source, part, checksum, *figures)}
            sd = replace(table.sd or StorageDescriptor(), location=where)
            changed.append(replace(before, sd=sd, parameters=parameters))
    if changed:
        client.api.alter_partitions(plan.target.database_field, plan.target.table, tuple(changed))
    for part, where, *_ in made:
        if part.name in old:
            _remove_old(files, location, _directory(old[part.name]), where)


def _replaced(client: Client, plan: CopyPlan, batch: Sequence[Part]) -> dict[str, Partition]:
    """The partitions of the target that a batch replaces, by name."""
    names = tuple(part.name for part in batch if part.name in plan.replaced)
    if not names:
        return {}
    found = client.api.get_partitions_by_names(plan.target.database_field, plan.target.table, names)
    return {make_part_name(plan.keys, each.values or ()): each for each in found}


def _directory(partition: Partition) -> str:
    return (partition.sd.location if partition.sd is not None else None) or ""


def _parameters(source: TableName, part: Part, checksum: Checksum, count: int, size: int) -> dict[str, str]:
    mark = Mark(str(source), part.state, checksum.rows, checksum.text)
    return {
        COPY_SOURCE: mark.text(),
        "numRows": str(checksum.rows),
        "numFiles": str(count),
        "totalSize": str(size),
        "COLUMN_STATS_ACCURATE": _BASIC,
    }


def _remove_old(files: Files, location: str, old: str, new: str) -> None:
    """Removes the files that a new directory replaces: only those below the directory of the table."""
    if not old or old == new or not is_under(old, location):
        return
    if name(old).startswith(DIRECTORY):
        files.remove(old)
        return
    for entry in files.entries(old):
        # The directory of the table or partition itself: the new one is in it.
        if not entry.is_directory:
            files.remove(join(old, entry.name))


def _as_in(frame: DataFrame, keys: Sequence[str]) -> list[str]:
    """The keys as the DataFrame writes them."""
    spellings = {field.lower(): field for field in frame.columns}
    return [spellings[key] for key in keys]


def _by_spelling(
    plan: CopyPlan, frame: DataFrame, keys: Sequence[str], batch: Sequence[Part]
) -> dict[tuple[str, ...], Part]:
    found: dict[tuple[str, ...], Part] = {}
    for part in batch:
        values = spelled(frame.schema, keys, part.values)
        if values in found:
            raise NotSupported(
                f"the partitions {found[values].name} and {part.name} of {plan.source} are the same for Spark"
            )
        found[values] = part
    return found


def _staged_directories(
    files: Files, staging: str, keys: Sequence[str], frame: DataFrame
) -> dict[tuple[str, ...], str]:
    """The directories that Spark wrote, by the values in their names."""
    found: dict[tuple[str, ...], str] = {}

    def walk(path: str, depth: int) -> None:
        for entry in files.entries(join(staging, path) if path else staging):
            below = f"{path}/{entry.name}" if path else entry.name
            if not entry.is_directory:
                continue
            if depth + 1 < len(keys):
                walk(below, depth + 1)
            else:
                found[spelled(frame.schema, keys, partition_values(below, keys))] = join(staging, below)

    walk("", 0)
    return found
