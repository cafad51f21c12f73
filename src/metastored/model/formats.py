"""File formats by name, and the three classes by which Hive reads and writes them. Pure.

A table that Spark made as a data source names its format in a parameter; a table of Hive's by its classes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import InvalidInputException
from metastored.model.origins import TableFormat, origin
from metastored.wire.generated.common import Table

_ORC = "org.apache.hadoop.hive.ql.io.orc"
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
_AVRO = "org.apache.hadoop.hive.ql.io.avro"
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_SEQUENCE = "org.apache.hadoop.mapred.SequenceFileInputFormat"
_SEQUENCE_OUT = "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"
_SERDE = "org.apache.hadoop.hive.serde2"


class FileFormat(NamedTuple):
    """What Hive reads and writes a table with."""

    input: str
    output: str
    serde: str


FORMATS: Final = {
    "parquet": FileFormat(
        f"{_PARQUET}.MapredParquetInputFormat",
        f"{_PARQUET}.MapredParquetOutputFormat",
        f"{_PARQUET}.serde.ParquetHiveSerDe",
    ),
    "orc": FileFormat(f"{_ORC}.OrcInputFormat", f"{_ORC}.OrcOutputFormat", f"{_ORC}.OrcSerde"),
    "avro": FileFormat(
        f"{_AVRO}.AvroContainerInputFormat", f"{_AVRO}.AvroContainerOutputFormat", f"{_SERDE}.avro.AvroSerDe"
    ),
    "textfile": FileFormat(_TEXT, _TEXT_OUT, f"{_SERDE}.lazy.LazySimpleSerDe"),
    "csv": FileFormat(_TEXT, _TEXT_OUT, f"{_SERDE}.OpenCSVSerde"),
    "json": FileFormat(_TEXT, _TEXT_OUT, "org.apache.hive.hcatalog.data.JsonSerDe"),
    "sequencefile": FileFormat(_SEQUENCE, _SEQUENCE_OUT, f"{_SERDE}.lazy.LazySimpleSerDe"),
    "rcfile": FileFormat(
        "org.apache.hadoop.hive.ql.io.RCFileInputFormat",
        "org.apache.hadoop.hive.ql.io.RCFileOutputFormat",
        f"{_SERDE}.columnar.LazyBinaryColumnarSerDe",
    ),
}
OTHERS: Final = frozenset({"iceberg", "delta", "hudi", "lance"})
"""Formats with metadata of their own, which cannot be created by naming them here."""
VIEW: Final = FileFormat(_SEQUENCE, _SEQUENCE_OUT, f"{_SERDE}.lazy.LazySimpleSerDe")
"""The classes of a view, which has no files; Hive 2.3 requires some."""


def classes_of(format: str) -> FileFormat:
    """Hive's classes for a format."""
    known = FORMATS.get(format.lower())
    if known is None:
        if format.lower() in OTHERS:
            raise InvalidInputException(
                f"a table of {format} has metadata of its own: make it with a catalog or an engine for {format}; "
                "it can then be listed here"
            )
        raise InvalidInputException(f"unknown format {format!r}; known are {', '.join(FORMATS)}")
    return known


def format_of(table: Table) -> str | None:
    """The name of a table's format; None where its classes have none."""
    made_by = origin(table)
    if made_by.format is not TableFormat.HIVE:
        return str(made_by.format.value)
    if made_by.provider is not None and made_by.provider.lower() != "hive":
        return made_by.provider.lower()
    if table.sd is None or table.sd.serdeInfo is None:
        return None
    serde, reads = table.sd.serdeInfo.serializationLib, table.sd.inputFormat
    for name, classes in FORMATS.items():
        if (classes.input, classes.serde) == (reads, serde):
            return name
    # One reader, several serdes: text and JSON have many.
    same = [name for name, classes in FORMATS.items() if classes.serde == serde or classes.input == reads]
    return same[0] if len(same) == 1 else None
