"""Copies to Delta: Spark writes Parquet files, which are verified; then deltalake commits them. No jar is needed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import ConfigError
from metastored.hive.locations import is_local, join, local_path
from metastored.hive.names import DEFAULT_PARTITION, unescape
from metastored.model.makers import table as new_table
from metastored.spark.copying.parquet import paths_below, write_parquet
from metastored.spark.copying.planning import CopyPlan
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.runs import unleased_directory
from metastored.spark.copying.staging import mark_parameters
from metastored.spark.files import files_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def to_delta(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """Replaces the rows of a Delta table, or creates it. Raises ConfigError without deltalake."""
    try:
        from deltalake import DeltaTable, Schema
        from deltalake.transaction import AddAction, create_table_with_add_actions
    except ImportError:
        raise ConfigError("copies to Delta need deltalake: pip install 'deltalake>=1'") from None
    from pyspark.sql.pandas.types import to_arrow_schema

    root = _delta_location(client, plan)
    directory = unleased_directory()
    files = files_of(spark, root)
    expected, size = write_parquet(spark, plan, frame, files, join(root, directory), keys_in_files=False)
    now = int(time.time() * 1000)
    counts = _rows_of_files(spark, join(root, directory)) if expected.rows else {}
    actions: list[Any] = [
        AddAction(f"{directory}/{path}", length, _values_in(path), now, True, json.dumps({"numRecords": counts[name]}))
        for path, length in paths_below(files, join(root, directory))
        if (name := path.rpartition("/")[2]) in counts
    ]
    schema = Schema.from_arrow(to_arrow_schema(frame.schema, timezone="UTC"))
    place = local_path(root) if is_local(root) else root
    if DeltaTable.is_deltatable(place):
        DeltaTable(place).create_write_transaction(actions, "overwrite", schema, list(plan.keys) or None)
    else:
        create_table_with_add_actions(place, schema, actions, "overwrite", list(plan.keys) or None)
    _record_delta(client, plan, root, mark_parameters(plan, expected))
    return CopyResult(plan.source, plan.target, expected.rows, size)


def _rows_of_files(spark: Any, location: str) -> dict[str, int]:
    """The number of rows of each Parquet file that has some, by the name of the file."""
    from pyspark.sql import functions as F

    rows = spark.read.parquet(location).groupBy(F.input_file_name().alias("file")).count().collect()
    return {row["file"].rpartition("/")[2]: row["count"] for row in rows}


def _delta_location(client: Client, plan: CopyPlan) -> str:
    if plan.existing is not None and plan.existing.sd is not None and plan.existing.sd.location:
        return plan.existing.sd.location
    database = client.database(str(plan.target.database_name))
    return join(database.locationUri or "", plan.target.table)


def _record_delta(client: Client, plan: CopyPlan, root: str, mark: Mapping[str, str]) -> None:
    """Spark and Trino find a Delta table by its provider; its columns are in its own log."""
    if plan.existing is not None:
        client.set_parameters(plan.target, mark)
        return
    columns = (plan.table.sd and plan.table.sd.cols) or ()
    properties = {"spark.sql.sources.provider": "delta", **mark}
    made = new_table(
        plan.target, (*columns, *(plan.table.partitionKeys or ())), location=root, properties=properties, external=True
    )
    client.create_table(made)


def _values_in(path: str) -> dict[str, str | None]:
    """The partition values of a file, from the names of its directories."""
    pairs = [part.partition("=") for part in path.split("/")[:-1] if "=" in part]
    return {key: None if value == DEFAULT_PARTITION else unescape(value) for key, _, value in pairs}
