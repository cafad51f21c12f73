"""A transactional table as Spark programs see it: its columns, keys, location, format and buckets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from metastored.client._sync.client import Client
from metastored.client._sync.metadata import BATCH
from metastored.errors import InvalidInputException, NotSupported
from metastored.model.acid import acid_of
from metastored.model.formats import format_of
from metastored.model.names import Name, TableName, table_name
from metastored.model.spark.converting import from_hive_column
from metastored.model.spark.schemas import with_declared_as_string
from metastored.model.spark.types import StructType as Schema
from metastored.model.spark.types import schema_to_json
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.generated.partitions import Partition

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

ROW_ID: Final = "ROW__ID"
"""The column with the id of a row, as Hive names it."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """How the rows of a table are distributed to its files."""

    count: int
    columns: tuple[str, ...]
    version: int
    """1 is Java's hash code, 2 is Murmur3: the table property bucketing_version."""


@dataclass(frozen=True, slots=True)
class AcidTable:
    """A transactional table."""

    name: TableName
    struct: Table
    insert_only: bool
    location: str
    format: str
    columns: StructType
    """The columns in the files, without the partition keys."""
    keys: StructType
    """The partition keys."""
    buckets: Buckets | None

    @property
    def key_names(self) -> tuple[str, ...]:
        return tuple(self.keys.fieldNames())

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of all columns, keys last."""
        return (*self.columns.fieldNames(), *self.key_names)

    @property
    def parameters(self) -> dict[str, str]:
        return dict(self.struct.parameters or {})


def acid_table(client: Client, name: Name) -> AcidTable:
    """A transactional table as it is now.

    Raises TableNotFound, InvalidInputException if it is not transactional, and NotSupported for a fully ACID table
    whose format is not ORC, or with a column that Spark reads wrong.
    """
    wanted = table_name(name)
    table = client.fresh_table(wanted)
    acid = acid_of(table)
    if acid is None:
        raise InvalidInputException(f"{wanted} is not transactional: read and write it with Spark itself")
    format = format_of(table)
    if format is None or (format != "orc" and not acid.insert_only):
        raise NotSupported(f"the files of {wanted} have the format {format}: fully ACID tables are read only as ORC")
    sd = table.sd
    location = sd.location if sd is not None else None
    if sd is None or not location:
        raise InvalidInputException(f"{wanted} has no location")
    wrong = [each.name for each in sd.cols or () if "`" in (each.name or "") or "``" in (each.type or "")]
    if wrong and format == "orc":
        raise NotSupported(
            f"the column {wrong[0]!r} of {wanted} has a backtick in its name: Spark reads null from such a column of "
            f"an ORC file; rename it with ALTER TABLE … CHANGE in Hive"
        )
    buckets = None
    if acid.bucket_count and sd.bucketCols:
        buckets = Buckets(acid.bucket_count, tuple(sd.bucketCols), acid.bucketing_version or 1)
    return AcidTable(
        name=wanted,
        struct=table,
        insert_only=acid.insert_only,
        location=location,
        format=format,
        columns=_schema(sd.cols or ()),
        keys=_schema(table.partitionKeys or ()),
        buckets=buckets,
    )


def partitions_by_name(client: Client, table: AcidTable, names: Sequence[str]) -> Iterator[Partition]:
    """Those of the named partitions that exist."""
    for at in range(0, len(names), BATCH):
        batch = tuple(names[at : at + BATCH])
        yield from client.api.get_partitions_by_names(table.name.database_field, table.name.table, batch)


def _schema(columns: tuple[FieldSchema, ...]) -> StructType:
    from pyspark.sql.types import StructType

    schema = with_declared_as_string(Schema(tuple(from_hive_column(each) for each in columns)))
    return StructType.fromJson(json.loads(schema_to_json(schema)))
