"""Spark's data sources for the files of Hive's tables, and the options by which they read as Hive's serdes do. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from metastored.model.formats import format_of
from metastored.wire.generated.common import Table

_SOURCES: Final = {"orc": "orc", "parquet": "parquet", "json": "json", "textfile": "csv", "csv": "csv"}


def data_source(table: Table) -> str | None:
    """The name of the data source for a table's files; None where Spark has none."""
    return _SOURCES.get(format_of(table) or "")


def source_options(table: Table) -> dict[str, str]:
    """The options of the data source."""
    serde = table.sd.serdeInfo if table.sd is not None else None
    given: Mapping[str, str] = (serde.parameters if serde is not None else None) or {}
    match format_of(table):
        case "textfile":
            # Hive's text has no quotes; a NUL character as a quote means none to Spark.
            return {
                "sep": given.get("field.delim", "\x01"),
                "nullValue": given.get("serialization.null.format", "\\N"),
                "emptyValue": "",
                "quote": "\x00",
                "escape": given.get("escape.delim", "\x00"),
            }
        case "csv":
            return {
                "sep": given.get("separatorChar", ","),
                "quote": given.get("quoteChar", '"'),
                "escape": given.get("escapeChar", "\\"),
            }
    return {}
