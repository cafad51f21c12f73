"""Which program keeps a table's metadata, and which one made the table. Pure.

Iceberg, Delta, Hudi and Lance keep metadata of their own beside the metastore's; Spark, Trino and Presto leave their
version in a table's parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, NamedTuple, Protocol

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


class TableStatusLike(Protocol):
    """A table of the catalog: `catalog.TableStatus`."""

    @property
    def properties(self) -> Mapping[str, str]: ...

    @property
    def format(self) -> str | None: ...

    @property
    def metadata_location(self) -> str | None: ...


class Origin(NamedTuple):
    """What a table's parameters say about the programs that made it."""

    format: TableFormat
    provider: str | None
    """Spark's data source, such as parquet, where Spark made the table."""
    writer: str | None
    """The program that made it: spark, trino, presto; None where no parameter names it."""
    writer_version: str | None
    metadata_location: str | None
    """Where the metadata of an Iceberg table is."""
    formats: Mapping[TableFormat, str | None] = {}
    """All formats with metadata of their own, with the version of each where a parameter has it.

    A table can have several: Delta with UniForm is Iceberg too. `format` is the first of them.
    """
    writers: Mapping[str, str | None] = {}
    """All programs that left their version in the parameters. `writer` is the first of them."""


def origin(table: Table | TableStatusLike) -> Origin:
    """Recognises tables of Iceberg, Delta, Hudi and Lance, and tables that Spark, Trino or Presto made.

    Takes a struct of the client or a `TableStatus` of the catalog.
    """
    if isinstance(table, Table):
        parameters: Mapping[str, str] = table.parameters or {}
        input_format, location = (table.sd and table.sd.inputFormat) or "", parameters.get(METADATA_LOCATION)
        named = None
    else:
        parameters, input_format, location, named = table.properties, "", table.metadata_location, table.format
    provider = text(parameters.get(SPARK_PROVIDER))
    writers: dict[str, str | None] = {}
    for name, key in _WRITERS:
        if key in parameters:
            writers.setdefault(name, text(parameters[key]))
    formats = {
        format: next((text(parameters[key]) for key in _VERSIONS[format] if key in parameters), None)
        for format in _formats(parameters, provider, input_format, named)
    }
    writer = next(iter(writers), None)
    return Origin(
        next(iter(formats), TableFormat.HIVE),
        provider,
        writer,
        writers.get(writer) if writer is not None else None,
        location,
        formats,
        writers,
    )


_WRITERS = (
    ("trino", "trino_version"),
    ("trino", "trino.version"),
    ("presto", "presto_version"),
    ("spark", "spark.sql.create.version"),
    ("spark", "spark.version"),
)


_VERSIONS: Final[Mapping[TableFormat, tuple[str, ...]]] = {
    TableFormat.ICEBERG: ("format-version",),
    TableFormat.DELTA: ("delta.minReaderVersion",),
    TableFormat.HUDI: ("hoodie.table.version",),
    TableFormat.LANCE: ("lance.version", "version"),
}
"""The parameters that have the version of a format."""


def _formats(
    parameters: Mapping[str, str], provider: str | None, input_format: str, named: str | None
) -> Iterator[TableFormat]:
    """All formats that a table has, in the order in which they decide."""
    kind = (parameters.get(TABLE_TYPE) or "").lower()
    handler = (parameters.get("storage_handler") or "").lower()
    words = {kind, (provider or "").lower(), named}
    if "iceberg" in words or "iceberg" in handler:
        yield TableFormat.ICEBERG
    if "delta" in words or "delta" in handler or "delta.minReaderVersion" in parameters:
        yield TableFormat.DELTA
    hudi = "hoodie" in input_format.lower() or any(key.startswith("hoodie.") for key in parameters)
    if "hudi" in words or hudi:
        yield TableFormat.HUDI
    if "lance" in words:
        yield TableFormat.LANCE


def is_iceberg(table: Table) -> bool:
    """Whether the parameter `table_type` is ICEBERG, in any case: Hive's own rule (`MetaStoreUtils.isIcebergTable`).

    `origin` recognises more: tables that only a storage handler or Spark's provider marks, as other engines make them.
    The metastore acts by this rule, so that it does what Hive does.
    """
    return ((table.parameters or {}).get(TABLE_TYPE) or "").upper() == "ICEBERG"
