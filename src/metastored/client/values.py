"""What the values of a metastore mean: times, empty texts, locations, decimals, and whose table it is. Pure.

Other programs write what they like into a metastore. Here the usual ways are told apart; a value that has no meaning
is a ConversionError that says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from metastored.errors import ConversionError
from metastored.hive.locations import LocationError, canonical
from metastored.hive.types import Decimal, TypeSyntaxError, parse_type
from metastored.wire.generated.common import Table


def text(value: str | None) -> str | None:
    """A text; None also where a server writes an empty one, or blanks, for null."""
    return value if value is not None and value.strip() else None


def legible(value: str, encoding: str = "latin-1") -> str:
    """A text whose bytes were not UTF-8, read in another encoding.

    Such bytes come as lone surrogates, so that they go back to the server as they were; this is for showing them.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode(encoding)
    return value


def moment(seconds: int | str | None) -> datetime | None:
    """Seconds since 1970 as a time in UTC, whatever the zone of the server is; None for null, 0 and -1."""
    if seconds is None or seconds == "":
        return None
    try:
        number = int(seconds)
        return datetime.fromtimestamp(number, UTC) if number > 0 else None
    except (ValueError, OverflowError, OSError) as error:
        raise ConversionError(f"{seconds!r} is not a time in seconds since 1970") from error


def seconds(time: datetime) -> int:
    """A time as the metastore keeps it. A time without a zone is refused: nobody knows which one is meant."""
    if time.tzinfo is None:
        raise ConversionError(f"{time} has no time zone; write it with one, such as datetime.UTC")
    return int(time.timestamp())


def location(uri: str | None) -> str | None:
    """A location in one form, as Hadoop compares them: no double and no trailing slashes."""
    if text(uri) is None:
        return None
    try:
        return canonical(uri or "")
    except LocationError as error:
        raise ConversionError(f"{uri!r} is not a location: {error}") from error


def decimal(type: str) -> tuple[int, int]:
    """Precision and scale of `decimal(10,2)`, `decimal(10)` or `decimal`, also with blanks or in capitals."""
    try:
        parsed = parse_type("".join(type.lower().split()))
    except TypeSyntaxError as error:
        raise ConversionError(f"{type!r} is not a type: {error}") from error
    if not isinstance(parsed, Decimal):
        raise ConversionError(f"{type!r} is not a decimal")
    return parsed.precision, parsed.scale


class TableFormat(Enum):
    """Who keeps a table's real metadata."""

    HIVE = "hive"
    ICEBERG = "iceberg"
    DELTA = "delta"
    HUDI = "hudi"
    LANCE = "lance"


class Origin(NamedTuple):
    """What a table's parameters tell about who made it and how it is read."""

    format: TableFormat
    provider: str | None
    """Spark's data source, such as parquet, where Spark made the table."""
    writer: str | None
    """The program: spark, trino, presto, or None where nothing says."""
    writer_version: str | None
    metadata_location: str | None
    """Where the metadata of an Iceberg table is."""


def origin(table: Table) -> Origin:
    """Recognises tables of Spark, Trino, Presto, Iceberg, Delta and Hudi."""
    parameters: Mapping[str, str] = table.parameters or {}
    provider = text(parameters.get("spark.sql.sources.provider"))
    writer, version = None, None
    for name, key in _WRITERS:
        if key in parameters:
            writer, version = name, text(parameters[key])
            break
    return Origin(_format(table, parameters, provider), provider, writer, version, parameters.get("metadata_location"))


_WRITERS = (
    ("trino", "trino_version"),
    ("trino", "trino.version"),
    ("presto", "presto_version"),
    ("spark", "spark.sql.create.version"),
    ("spark", "spark.version"),
)


def _format(table: Table, parameters: Mapping[str, str], provider: str | None) -> TableFormat:
    kind = (parameters.get("table_type") or "").lower()
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
