"""Which program keeps a table's metadata, and which one made the table. Pure.

Iceberg, Delta, Hudi and Lance keep metadata of their own beside the metastore's; Spark, Trino and Presto leave their
version in a table's parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from metastored.model.values import text
from metastored.wire.generated.common import Table

TABLE_TYPE: Final = "table_type"
"""The parameter by which Iceberg, Delta and Lance mark their tables."""
METADATA_LOCATION: Final = "metadata_location"
PARTITIONING: Final = "partitioning"
"""The parameter that says how a new Iceberg table is partitioned: a JSON list of columns and transforms."""
SPARK_PROVIDER: Final = "spark.sql.sources.provider"


class TableFormat(Enum):
    """Which program keeps a table's own metadata."""

    HIVE = "hive"
    ICEBERG = "iceberg"
    DELTA = "delta"
    HUDI = "hudi"
    LANCE = "lance"


class Origin(NamedTuple):
    """What a table's parameters say about the program that made it."""

    format: TableFormat
    provider: str | None
    """Spark's data source, such as parquet, where Spark made the table."""
    writer: str | None
    """The program that made it: spark, trino, presto; None where no parameter says so."""
    writer_version: str | None
    metadata_location: str | None
    """Where the metadata of an Iceberg table is."""


def origin(table: Table) -> Origin:
    """Recognises tables of Iceberg, Delta, Hudi and Lance, and tables that Spark, Trino or Presto made."""
    parameters: Mapping[str, str] = table.parameters or {}
    provider = text(parameters.get(SPARK_PROVIDER))
    writer, version = None, None
    for name, key in _WRITERS:
        if key in parameters:
            writer, version = name, text(parameters[key])
            break
    return Origin(_format(table, parameters, provider), provider, writer, version, parameters.get(METADATA_LOCATION))


_WRITERS = (
    ("trino", "trino_version"),
    ("trino", "trino.version"),
    ("presto", "presto_version"),
    ("spark", "spark.sql.create.version"),
    ("spark", "spark.version"),
)


def _format(table: Table, parameters: Mapping[str, str], provider: str | None) -> TableFormat:
    kind = (parameters.get(TABLE_TYPE) or "").lower()
    handler = (parameters.get("storage_handler") or "").lower()
    input_format = ((table.sd and table.sd.inputFormat) or "").lower()
    source = (provider or "").lower()
    if kind == "iceberg" or source == "iceberg" or "iceberg" in handler:
        return TableFormat.ICEBERG
    if source == "delta" or kind == "delta" or "delta" in handler or "delta.minReaderVersion" in parameters:
        return TableFormat.DELTA
    if source == "hudi" or "hoodie" in input_format or any(key.startswith("hoodie.") for key in parameters):
        return TableFormat.HUDI
    if kind == "lance" or source == "lance":
        return TableFormat.LANCE
    return TableFormat.HIVE


def is_iceberg(table: Table) -> bool:
    """Whether the parameter `table_type` says so, in any case: Hive's own rule (`MetaStoreUtils.isIcebergTable`).

    `origin` recognises more: tables that only a storage handler or Spark's provider marks, as other engines make them.
    The metastore acts by this rule, so that it does what Hive does.
    """
    return ((table.parameters or {}).get(TABLE_TYPE) or "").upper() == "ICEBERG"
