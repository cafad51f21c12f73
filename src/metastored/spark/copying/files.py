"""Copies to Parquet and ORC tables: files or rows are staged, verified, moved to their directories and published.

    <table>/.copy-<token>/rows/…/part-….parquet      staged; nobody reads it
    <table>/ds=1/copy-<token>/part-….parquet         the directory of the partition, once the metastore names it
    <table>/copy-<token>/part-….parquet              that of a table without partitions

The token names the run of the copy (`runs.py`). A directory is never changed after it was published. A partition is
replaced by a call that gives it another directory, so readers see all of its old rows or all of its new rows.
Partitions are published in batches, each by one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.errors import AlreadyExistsException, NotSupported
from metastored.hive.locations import is_under, join, name
from metastored.hive.names import make_part_name
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.model.makers import partition as new_partition
from metastored.model.makers import table as new_table
from metastored.model.names import TableName
from metastored.model.spark.restoring import PATH
from metastored.spark.copying import byte_copies
from metastored.spark.copying.byte_copies import read_footers, stage_files
from metastored.spark.copying.conditions import of_part, of_tables
from metastored.spark.copying.marks import COPY_SOURCE, DIRECTORY, Mark, base_of
from metastored.spark.copying.planning import CopyPlan, Part
from metastored.spark.copying.reading import frame_of
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.rows import stage_rows
from metastored.spark.copying.runs import CopyRun, copy_run
from metastored.spark.copying.staging import Staged, size_of
from metastored.spark.copying.statistics import copy_partition_statistics, copy_table_statistics
from metastored.spark.files import Files, files_of
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCH: Final = 100
"""Partitions that are staged together and published by one call."""
ROWS: Final = "rows"
"""Spark warns about a directory with a dot as the root of what it reads, and not about one above it."""
_BASIC: Final = '{"BASIC_STATS":"true"}'


class _Copy:
    """A copy that is being made: the source and the target, and how files or rows are staged."""

    def __init__(self, spark: Any, client: Client, plan: CopyPlan, table: Table) -> None:
        self.spark, self.client, self.plan, self.table = spark, client, plan, table
        self.location = base_of(_location(table))
        self.files = files_of(spark, self.location)
        size = sum(size for part in plan.changed for _, size in part.files)
        self._rows_only = size > byte_copies.LIMIT or of_tables(plan.table, table) is not None

    @cached_property
    def frame(self) -> DataFrame:
        return frame_of(self.spark, self.client, self.plan.source)

    def stage(self, parts: Sequence[Part], staging: str) -> list[Staged]:
        """Copies the files of all parts byte for byte, or rewrites the rows of all."""
        if not self._rows_only and all(of_part(self.plan.table, part) is None for part in parts):
            batch = read_footers(self.spark, parts, self.plan.format)
            if batch is not None:
                return stage_files(self.spark, self.files, batch, staging)
        return stage_rows(self.spark, self.files, self.plan, self.frame, parts, staging)


def copy_files(spark: Any, client: Client, plan: CopyPlan) -> CopyResult:
    """Copies what the plan says to a table of files."""
    table = plan.existing or _create(spark, client, plan)
    copy = _Copy(spark, client, plan, table)
    with copy_run(client, plan.target, copy.files) as run:
        return _copy_partitions(copy, run) if plan.keys else _copy_table(copy, run)


def _copy_partitions(copy: _Copy, run: CopyRun) -> CopyResult:
    client, plan = copy.client, copy.plan
    run.clean(copy.location)
    made: list[Made] = []
    for at in range(0, len(plan.changed), BATCH):
        made += _copy_batch(copy, run, plan.changed[at : at + BATCH])
    for gone in plan.dropped:
        client.drop_partition(plan.target, gone, if_exists=True)
        if not copy.files.entries(join(copy.location, gone)):
            copy.files.remove(join(copy.location, gone))
    partitions = tuple(part.name for part in plan.changed)
    return CopyResult(
        plan.source,
        plan.target,
        sum(each.staged.rows for each in made),
        sum(each.size for each in made),
        partitions,
        plan.skipped,
        plan.dropped,
        unchanged=plan.existing is not None and not partitions and not plan.dropped,
        copied_files=sum(each.staged.copied_files for each in made),
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


def _copy_table(copy: _Copy, run: CopyRun) -> CopyResult:
    client, plan, files, location = copy.client, copy.plan, copy.files, copy.location
    run.clean(location, (name(_location(copy.table)),))
    if not plan.changed:
        return CopyResult(plan.source, plan.target, 0, 0, unchanged=True)
    hidden, final = join(location, run.staging), join(location, run.directory)
    old = ""
    try:
        (staged,) = copy.stage(plan.changed, join(hidden, ROWS))
        files.rename(staged.directory or join(hidden, ROWS), final)
    finally:
        files.remove(hidden)
    made = Made(staged, final, *size_of(files, final))
    copied = _parameters(plan.source, made)

    def changed(now: Table) -> Table:
        """The target as it is now, with the new directory: others may have altered it since the copy was planned."""
        nonlocal old
        old = _location(now)
        return replace(
            now, sd=_at(now.sd or StorageDescriptor(), final), parameters={**(now.parameters or {}), **copied}
        )

    run.renew()
    client.change_table(plan.target, changed, environment=KEEP_STATISTICS)
    run.renew()
    _remove_old(files, location, old, final)
    copy_table_statistics(client, plan.source, plan.target)
    return CopyResult(plan.source, plan.target, staged.rows, made.size, copied_files=staged.copied_files)


def _at(sd: StorageDescriptor, location: str) -> StorageDescriptor:
    """The storage of a table at another location, which Spark reads from the option `path` of its own tables."""
    serde = sd.serdeInfo
    if serde is not None and PATH in (serde.parameters or {}):
        serde = replace(serde, parameters={**(serde.parameters or {}), PATH: location})
    return replace(sd, location=location, serdeInfo=serde)


# --- partitions --------------------------------------------------------------------------------------------


class Made(NamedTuple):
    """What was staged, in its new directory."""

    staged: Staged
    directory: str
    file_count: int
    size: int

    @property
    def name(self) -> str:
        return self.staged.part.name


def _copy_batch(copy: _Copy, run: CopyRun, batch: Sequence[Part]) -> list[Made]:
    """Copies partitions and publishes them."""
    files, location = copy.files, copy.location
    hidden = join(location, run.staging)
    there = _directories(copy, batch)
    made = []
    try:
        for staged in copy.stage(batch, join(hidden, ROWS)):
            above = join(location, staged.part.name)
            final = join(above, run.directory)
            files.make(above)
            current = there.get(staged.part.name)
            run.clean(above, (name(current),) if current else ())
            if staged.directory is not None:
                files.rename(staged.directory, final)
            else:
                files.make(final)
            made.append(Made(staged, final, *size_of(files, final)))
    finally:
        files.remove(hidden)
    run.renew()
    _publish(copy, made)
    run.renew()
    copy_partition_statistics(copy.client, copy.plan.source, copy.plan.target, [part.name for part in batch])
    return made


def _publish(copy: _Copy, made: Sequence[Made]) -> None:
    """Adds new partitions by one call, and gives existing ones their new directories by another."""
    client, source, target, table = copy.client, copy.plan.source, copy.plan.target, copy.table
    parts = [each.staged.part for each in made]
    there = _directories(copy, parts)
    try:
        _add(copy, [each for each in made if each.name not in there])
    except AlreadyExistsException:
        # Another copy was faster. Those that it did not add are added now; a third copy is an error.
        there = _directories(copy, parts)
        _add(copy, [each for each in made if each.name not in there])
    replaced = {each.staged.part.values: each for each in made if each.name in there}
    old: dict[str, str] = {}

    def changed(now: Partition) -> Partition:
        each = replaced[tuple(now.values or ())]
        old[each.name] = _directory(now)
        parameters = {**(now.parameters or {}), **_parameters(source, each)}
        return replace(now, sd=replace(table.sd or StorageDescriptor(), location=each.directory), parameters=parameters)

    if replaced:
        client.change_partitions(target, [each.name for each in replaced.values()], changed)
    for each in made:
        _remove_old(copy.files, copy.location, old.get(each.name, ""), each.directory)


def _add(copy: _Copy, made: Sequence[Made]) -> None:
    new = [
        new_partition(
            copy.table,
            each.staged.part.values,
            location=each.directory,
            properties=_parameters(copy.plan.source, each),
        )
        for each in made
    ]
    if new:
        copy.client.add_partitions(copy.plan.target, new)


def _directories(copy: _Copy, parts: Sequence[Part]) -> dict[str, str]:
    """The directories of those of these partitions that the target has now, by name."""
    target, names = copy.plan.target, tuple(part.name for part in parts)
    partitions = copy.client.api.get_partitions_by_names(target.database_field, target.table, names)
    return {make_part_name(copy.plan.keys, each.values or ()): _directory(each) for each in partitions}


def _directory(partition: Partition) -> str:
    return (partition.sd.location if partition.sd is not None else None) or ""


def _parameters(source: TableName, made: Made) -> dict[str, str]:
    staged = made.staged
    return {
        COPY_SOURCE: Mark(str(source), staged.part.state, staged.rows, staged.checksum).text(),
        "numRows": str(staged.rows),
        "numFiles": str(made.file_count),
        "totalSize": str(made.size),
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
