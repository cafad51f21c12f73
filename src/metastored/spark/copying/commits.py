"""Copies to tables that have commits of their own: ACID tables, Lance, Iceberg and Delta. One commit replaces all rows.

For Iceberg and Delta, Spark writes Parquet files, which are verified; then pyiceberg or deltalake commits them. The
jars of these formats are not needed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import ConfigError, NotSupported
from metastored.hive.locations import join
from metastored.spark.acid.files import Files, files_of
from metastored.spark.copying.checksums import Checksum, checksum, checksum_of
from metastored.spark.copying.marks import COPY_SOURCE, DIRECTORY, Mark, mark_of
from metastored.spark.copying.planning import CopyPlan
from metastored.spark.copying.reading import frame_of
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.staging import (
    new_token,
    observed,
    size_of,
    stage,
    staged_checksum,
    timestamps_in_microseconds,
    verify,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY = "_copy_partition_"
"""The prefix of copies of partition keys: Spark removes a column by which it partitions from the files."""


def copy_whole(spark: Any, client: Client, plan: CopyPlan) -> CopyResult:
    """Replaces the target by the rows of the source, if the source has changed."""
    if not plan.changed:
        return CopyResult(plan.source, plan.target, 0, 0, unchanged=True)
    frame = frame_of(spark, client, plan.source)
    if plan.transactional:
        return _to_acid(spark, client, plan, frame)
    if plan.format == "lance":
        return _to_lance(spark, client, plan, frame)
    return (
        _to_iceberg(spark, client, plan, frame) if plan.format == "iceberg" else _to_delta(spark, client, plan, frame)
    )


def _mark(plan: CopyPlan, found: Checksum) -> dict[str, str]:
    return {COPY_SOURCE: Mark(str(plan.source), plan.state, found.rows, found.text).text()}


# --- ACID tables -------------------------------------------------------------------------------------------


def _to_acid(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """One transaction deletes all rows and inserts those of the source. It is committed if it reads the same rows."""
    from metastored.spark import acid

    watched, observation = observed(frame)
    with acid.transaction(spark, client) as transaction:
        transaction.delete(plan.target)
        transaction.insert(plan.target, watched)
        expected = checksum_of(observation.get)
        written = transaction.read(plan.target).select(*(f"`{name}`" for name in frame.columns))
        verify(str(plan.source), expected, checksum(written))
    client.set_parameters(plan.target, **_mark(plan, expected))
    return CopyResult(plan.source, plan.target, expected.rows, 0)


# --- Lance -------------------------------------------------------------------------------------------------


def _to_lance(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """One version. A version that is not equal to its source stays without a mark, and the error says so."""
    from metastored.spark.lance import read, write

    watched, observation = observed(frame)
    write(watched, plan.target, mode="overwrite")
    expected = checksum_of(observation.get)
    written = read(spark, plan.target)
    columns = [written[field.name].cast(field.dataType).alias(field.name) for field in frame.schema.fields]
    verify(str(plan.source), expected, checksum(written.select(*columns)))
    client.set_parameters(plan.target, **_mark(plan, expected))
    location = client.fresh_table(plan.target).sd.location  # type: ignore[union-attr]
    size = size_of(files_of(spark, location or ""), join(location or "", "data"))[1] if location else 0
    return CopyResult(plan.source, plan.target, expected.rows, size)


# --- Iceberg -----------------------------------------------------------------------------------------------


def _to_iceberg(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    catalog = iceberg_catalog(client)
    identifier = (plan.target.database, plan.target.table)
    table = (
        catalog.load_table(identifier) if plan.existing is not None else _new_iceberg(catalog, identifier, frame, plan)
    )
    location = join(table.location(), "data", DIRECTORY + new_token())
    files = files_of(spark, location)
    try:
        expected, size = _write_parquet(spark, plan, frame, files, location, keys_in_files=True)
        mark = _mark(plan, expected)
        with table.transaction() as transaction:
            if table.current_snapshot() is not None:
                transaction.delete("true")
            if expected.rows:
                transaction.add_files(list(_paths(files, location)), mark, check_duplicate_files=False)
            transaction.set_properties(mark)
    except BaseException:
        if not _is_committed(client, plan):
            files.remove(location)
        raise
    return CopyResult(plan.source, plan.target, expected.rows, size)


def iceberg_catalog(client: Client) -> Any:
    """pyiceberg's catalog over the metastore of a client. Raises ConfigError without pyiceberg's Hive catalog."""
    try:
        from pyiceberg.catalog.hive import HiveCatalog
    except ImportError:
        raise ConfigError("copies to Iceberg need pyiceberg: pip install 'pyiceberg[hive,pyarrow]'") from None
    if not client.uri.startswith("thrift://"):
        raise NotSupported(f"pyiceberg connects to thrift:// only, and the metastore is {client.uri}")
    properties = {"uri": client.uri} | ({"ugi": client.user} if client.user else {})
    return HiveCatalog("metastored", **properties)


def _new_iceberg(catalog: Any, identifier: tuple[str, str], frame: DataFrame, plan: CopyPlan) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema

    table = catalog.create_table(identifier, to_arrow_schema(frame.schema))
    if plan.keys:
        with table.update_spec() as update:
            for key in plan.keys:
                update.add_identity(key)
    return table


def _is_committed(client: Client, plan: CopyPlan) -> bool:
    """Whether the commit took effect although its call failed: then its files are in use."""
    parameters = client.fresh_table(plan.target).parameters or {}
    mark = mark_of(parameters)
    return mark is not None and mark.state == plan.state


# --- Delta -------------------------------------------------------------------------------------------------


def _to_delta(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    try:
        from deltalake import DeltaTable, Schema
        from deltalake.transaction import AddAction, create_table_with_add_actions
    except ImportError:
        raise ConfigError("copies to Delta need deltalake: pip install deltalake") from None
    from pyspark.sql.pandas.types import to_arrow_schema

    root = _delta_location(client, plan)
    directory = DIRECTORY + new_token()
    files = files_of(spark, root)
    expected, size = _write_parquet(spark, plan, frame, files, join(root, directory), keys_in_files=False)
    now = int(time.time() * 1000)
    actions = [
        AddAction(path, length, _values_in(path), now, True, "{}")
        for path, length in ((f"{directory}/{path}", length) for path, length in _below(files, join(root, directory)))
    ]
    schema = Schema.from_arrow(to_arrow_schema(frame.schema))
    if DeltaTable.is_deltatable(root):
        DeltaTable(root).create_write_transaction(actions, "overwrite", schema, list(plan.keys) or None)
    else:
        create_table_with_add_actions(root, schema, actions, "overwrite", list(plan.keys) or None)
    _record_delta(client, plan, root, _mark(plan, expected))
    return CopyResult(plan.source, plan.target, expected.rows, size)


def _delta_location(client: Client, plan: CopyPlan) -> str:
    if plan.existing is not None and plan.existing.sd is not None and plan.existing.sd.location:
        return plan.existing.sd.location
    database = client.database(str(plan.target.database_name))
    return join(database.locationUri or "", plan.target.table)


def _record_delta(client: Client, plan: CopyPlan, root: str, mark: Mapping[str, str]) -> None:
    """Spark and Trino find a Delta table by its provider; its columns are in its own log."""
    if plan.existing is not None:
        client.set_parameters(plan.target, **mark)
        return
    from metastored.model.makers import table as new_table

    columns = (plan.table.sd and plan.table.sd.cols) or ()
    properties = {"spark.sql.sources.provider": "delta", **mark}
    made = new_table(
        plan.target, (*columns, *(plan.table.partitionKeys or ())), location=root, properties=properties, external=True
    )
    client.create_table(made)


def _values_in(path: str) -> dict[str, str | None]:
    """The partition values of a file, from the names of its directories."""
    from metastored.hive.names import DEFAULT_PARTITION, unescape

    pairs = [part.partition("=") for part in path.split("/")[:-1] if "=" in part]
    return {key: None if value == DEFAULT_PARTITION else unescape(value) for key, _, value in pairs}


# --- what Iceberg and Delta share --------------------------------------------------------------------------


def _write_parquet(
    spark: Any, plan: CopyPlan, frame: DataFrame, files: Files, location: str, keys_in_files: bool
) -> tuple[Checksum, int]:
    """Writes verified Parquet files. Returns their checksum and size."""
    from pyspark.sql import functions as F

    keys: list[str] = list(plan.keys)
    written = frame
    if keys_in_files and keys:
        for key in keys:
            written = written.withColumn(_KEY + key, F.col(f"`{key}`"))
        keys = [_KEY + key for key in keys]
    try:
        with timestamps_in_microseconds(spark):
            expected = stage(written, "parquet", location, keys)
        if expected.rows:
            verify(str(plan.source), expected, staged_checksum(spark, written, "parquet", location))
    except BaseException:
        files.remove(location)
        raise
    return expected, size_of(files, location)[1]


def _below(files: Files, location: str, path: str = "") -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for entry in files.entries(join(location, path) if path else location):
        below = f"{path}/{entry.name}" if path else entry.name
        if entry.is_directory:
            found += _below(files, location, below)
        elif not entry.name.startswith((".", "_")):
            found.append((below, entry.size))
    return found


def _paths(files: Files, location: str) -> list[str]:
    return [join(location, path) for path, _ in _below(files, location)]
