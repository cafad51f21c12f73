"""Copies to Iceberg: Spark writes Parquet files, which are verified; then pyiceberg commits them. No jar is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import ConfigError, NotSupported
from metastored.hive.locations import join
from metastored.spark.copying.marks import mark_of
from metastored.spark.copying.parquet import paths_below, write_parquet
from metastored.spark.copying.planning import CopyPlan
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.runs import unleased_directory
from metastored.spark.copying.staging import mark_parameters
from metastored.spark.files import files_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def to_iceberg(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """Replaces the rows of an Iceberg table, which is created if it does not exist."""
    from pyspark.sql.pandas.types import to_arrow_schema

    catalog = iceberg_catalog(client)
    identifier = (plan.target.database, plan.target.table)
    if plan.existing is not None:
        table = catalog.load_table(identifier)
    else:
        table = new_iceberg_table(catalog, identifier, to_arrow_schema(frame.schema, timezone="UTC"), plan.keys)
    location = join(table.location(), "data", unleased_directory())
    files = files_of(spark, location)
    expected, size = write_parquet(spark, plan, frame, files, location, keys_in_files=True)
    try:
        paths = [join(location, path) for path, _ in paths_below(files, location)] if expected.rows else []
        replace_rows(table, paths, mark_parameters(plan, expected))
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
    # The user and, after a colon, the groups.
    properties = {"uri": client.uri} | ({"ugi": f"{client.user}:"} if client.user else {})
    return HiveCatalog("metastored", **properties)


def new_iceberg_table(catalog: Any, identifier: tuple[str, str], schema: Any, keys: Sequence[str]) -> Any:
    """An empty table with these columns (an Arrow schema), partitioned by the values of keys."""
    table = catalog.create_table(identifier, schema)
    if keys:
        with table.update_spec() as update:
            for key in keys:
                update.add_identity(key)
    return table


def replace_rows(table: Any, paths: Sequence[str], properties: Mapping[str, str]) -> None:
    """Replaces all rows of a table by those of Parquet files, and sets properties, in one commit."""
    with table.transaction() as transaction:
        if table.current_snapshot() is not None:
            transaction.delete("true")
        if paths:
            transaction.add_files(list(paths), check_duplicate_files=False)
        transaction.set_properties(dict(properties))


def _is_committed(client: Client, plan: CopyPlan) -> bool:
    """Whether the commit took effect although its call failed: then its files are in use."""
    mark = mark_of(client.fresh_table(plan.target).parameters)
    return mark is not None and mark.state == plan.state
