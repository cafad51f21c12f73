"""Whether the files of a table can be copied byte for byte, or its rows have to be rewritten. Pure.

Files can be copied if every reader gets the same rows from them at the target as at the source: the format, the
columns and everything else that decides how a file is read must be equal. A target with buckets is refused by the
plan. Each function returns None for files that can be copied, else the reason why rows are rewritten.
Whatever is not known to be safe is a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from metastored.errors import ConversionError, SparkCatalogError
from metastored.hive.locations import LocationError, same_location
from metastored.hive.transactions.layout import is_hidden
from metastored.model.acid import is_transactional
from metastored.model.formats import classes_of, format_of
from metastored.model.spark.columns import HIVE_TYPE
from metastored.model.spark.properties import SCHEMA, read_large_property, schema_from_properties
from metastored.model.spark.restoring import PATH
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.types import CHAR_VARCHAR
from metastored.spark.copying.planning import FILE_FORMATS, Part
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table

_SAFE_OPTIONS: Final = frozenset({PATH, "serialization.format", "compression", "orc.compress", "parquet.compression"})
"""Parameters of a serde, and options of a Spark table, that do not change what is read."""
_READER_SETTINGS: Final = ("orc.", "parquet.")
_WRITER_SETTINGS: Final = (
    "orc.compress", "orc.stripe.", "orc.row.index.", "orc.create.index", "orc.bloom.filter.", "orc.block.",
    "parquet.compression", "parquet.block.", "parquet.page.", "parquet.dictionary.", "parquet.enable.dictionary",
)  # fmt: skip
"""Prefixes of the settings of a table that only change how files are written."""
_SAFE_METADATA: Final = frozenset({"comment", CHAR_VARCHAR, HIVE_TYPE})
"""Metadata of Spark's columns that do not change what is read. `EXISTS_DEFAULT` does: old files lack the column."""
_STORAGE_HANDLER: Final = "storage_handler"


def of_tables(source: Table, target: Table) -> str | None:
    """The reason why no file of a table can be copied to another table."""
    format = format_of(source)
    if format not in FILE_FORMATS or format != format_of(target):
        return "the formats differ, or are neither Parquet nor ORC"
    for table in (source, target):
        if reason := _of_table(table, format):
            return f"{table.dbName}.{table.tableName}: {reason}"
    if _columns(source.sd) != _columns(target.sd):
        return "the columns differ"
    return None


def of_part(table: Table, part: Part) -> str | None:
    """The reason why the files of a partition, or of a table without partitions, cannot be copied."""
    own, sd = part.sd, table.sd or StorageDescriptor()
    if _classes(own) != _classes(sd):
        return f"{part.name} has another format than its table"
    if _columns(own) != _columns(sd):
        return f"{part.name} has other columns than its table"
    if reason := _of_options(own):
        return f"{part.name}: {reason}"
    path = _options(own).get(PATH)
    if not table.partitionKeys and path is not None and not _is_same_location(path, part.location):
        return "Spark reads the table from another location than Hive"
    return _of_files(path for path, _ in part.files)


def data_files(part: Part) -> tuple[tuple[str, int], ...]:
    """The names and sizes of the files that have rows: Hive and Spark ignore names that begin with `_` or a dot."""
    return tuple((path, size) for path, size in part.files if not is_hidden(path))


def _of_table(table: Table, format: str) -> str | None:
    parameters = table.parameters or {}
    if is_transactional(parameters):
        return "it is an ACID table"
    if _STORAGE_HANDLER in parameters:
        return "it has a storage handler"
    sd = table.sd or StorageDescriptor()
    if _classes(sd) != (classes_of(format).input, classes_of(format).serde):
        return "only Spark reads it"
    settings = {**(sd.parameters or {}), **parameters}
    for key in settings:
        if key.startswith(_READER_SETTINGS) and not key.startswith(_WRITER_SETTINGS):
            return f"the parameter {key} can change what is read"
    return _of_options(sd) or _of_schema(table, sd)


def _of_options(sd: StorageDescriptor) -> str | None:
    for key in _options(sd):
        if key.lower() not in _SAFE_OPTIONS:
            return f"the option {key} can change what is read"
    return None


def _of_schema(table: Table, sd: StorageDescriptor) -> str | None:
    """Spark may have other types for the columns than Hive, and defaults for files without a column."""
    parameters = table.parameters or {}
    try:
        schema = schema_from_properties(parameters)
    except (ConversionError, SparkCatalogError):
        return "Spark's schema cannot be read"
    if schema is None:
        return None
    others = set(_metadata(json.loads(read_large_property(parameters, SCHEMA) or "{}"))) - _SAFE_METADATA
    if others:
        return f"columns have the metadata {min(others)}"
    keys = set(_shown(table.partitionKeys or ()))
    columns = [f"{each.name} {catalog_string(each.data_type)}".lower() for each in schema]
    if not keys <= set(columns) or [each for each in columns if each not in keys] != _columns(sd):
        return "Spark and Hive have different columns"
    return None


def _metadata(node: Any) -> Iterator[str]:
    """The names of all metadata in the JSON of a schema, at any depth."""
    if isinstance(node, list):
        for each in node:
            yield from _metadata(each)
    elif isinstance(node, Mapping):
        yield from node.get("metadata") or ()
        for key, each in node.items():
            if key != "metadata":
                yield from _metadata(each)


def _of_files(paths: Iterable[str]) -> str | None:
    for path in paths:
        if any(name.startswith("_") and "=" in name for name in path.split("/")):
            return f"{path} is hidden only for Hive"
        if is_hidden(path):
            continue
        if "/" in path:
            return f"{path} is in a subdirectory"
        if path.endswith("._COPYING_"):
            return f"{path} is hidden only for Spark"
    return None


def _options(sd: StorageDescriptor) -> Mapping[str, str]:
    return (sd.serdeInfo.parameters if sd.serdeInfo is not None else None) or {}


def _classes(sd: StorageDescriptor) -> tuple[str | None, str | None]:
    return sd.inputFormat, sd.serdeInfo.serializationLib if sd.serdeInfo is not None else None


def _columns(sd: StorageDescriptor | None) -> list[str]:
    return _shown((sd and sd.cols) or ())


def _shown(fields: Iterable[FieldSchema]) -> list[str]:
    return [f"{each.name} {each.type}".lower() for each in fields]


def _is_same_location(one: str, other: str) -> bool:
    try:
        return same_location(one, other)
    except LocationError:
        return False
