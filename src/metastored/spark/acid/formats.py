"""The files of insert-only tables as Spark's data sources read and write them. Nothing is read or written here."""

from __future__ import annotations

from typing import Final

from metastored.errors import NotSupported
from metastored.spark.acid.tables import AcidTable

_SOURCES: Final = {"orc": "orc", "parquet": "parquet", "json": "json", "textfile": "csv", "csv": "csv"}


def source_format(table: AcidTable) -> str:
    """The name of Spark's data source for the files of an insert-only table. Raises NotSupported."""
    source = _SOURCES.get(table.format)
    if source is None:
        raise NotSupported(f"{table.name} has files of {table.format}, which Spark cannot read without a table of Hive")
    return source


def format_options(table: AcidTable) -> dict[str, str]:
    """The options with which Spark reads and writes the files as Hive's serde does."""
    serde = (table.struct.sd.serdeInfo if table.struct.sd is not None else None) or None
    given = dict((serde.parameters if serde is not None else None) or {})
    if table.format == "textfile":
        # Hive's text has no quotes; a NUL character as a quote means none to Spark.
        return {
            "sep": given.get("field.delim", "\x01"),
            "nullValue": given.get("serialization.null.format", "\\N"),
            "emptyValue": "",
            "quote": "\x00",
            "escape": given.get("escape.delim", "\x00"),
        }
    if table.format == "csv":
        return {
            "sep": given.get("separatorChar", ","),
            "quote": given.get("quoteChar", '"'),
            "escape": given.get("escapeChar", "\\"),
        }
    return {}
