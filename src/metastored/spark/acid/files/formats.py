"""The files of insert-only tables as Spark's data sources read and write them. Nothing is read or written here."""

from __future__ import annotations

from metastored.errors import NotSupported
from metastored.model.spark.file_sources import data_source, source_options
from metastored.spark.acid.tables import AcidTable


def source_format(table: AcidTable) -> str:
    """The name of Spark's data source for the files of an insert-only table. Raises NotSupported."""
    source = data_source(table.struct)
    if source is None:
        raise NotSupported(f"{table.name} has files of {table.format}, which Spark cannot read without a table of Hive")
    return source


def format_options(table: AcidTable) -> dict[str, str]:
    """The options with which Spark reads and writes the files as Hive's serde does."""
    return source_options(table.struct)
