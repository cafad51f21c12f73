"""The data classes of catalogs: plain, immutable data.

    …Status         an object of a catalog
    …Definition     an object to be created
    …Changes        changes of an object; fields that are left out stay as they are

Types are texts in Hive's notation; `ColumnStatus.arrow()` and `.spark()` convert them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from metastored.errors import ConversionError
from metastored.hive.types.arrow import arrow, from_arrow_field, to_arrow_field
from metastored.hive.types.type_strings import HiveType, TypeSyntaxError, read_type
from metastored.model.acid import Acid
from metastored.model.partitions import PartitionValues
from metastored.model.spark.columns import hive_type_of, spark_field
from metastored.model.spark.hive_types import to_spark_type
from metastored.model.spark.schemas import with_declared_types
from metastored.model.spark.type_strings import catalog_string, parse_ddl
from metastored.model.spark.types import StructType, schema_from_json

if TYPE_CHECKING:
    import pyarrow

Namespace = tuple[str, ...]
"""The name of a database, with several parts where a catalog nests databases, as Iceberg catalogs do."""


class TableKind(Enum):
    """The kind of a table or view."""

    TABLE = "table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    TEMPORARY_VIEW = "temporary view"
    GLOBAL_TEMPORARY_VIEW = "global temporary view"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatus:
    """A database."""

    catalog: str
    database: Namespace
    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The parts of `database`, separated by dots."""
        return ".".join(self.database)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDefinition:
    """A database to be created."""

    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseChanges:
    """Changes of a database."""

    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    set_properties: Mapping[str, str] = field(default_factory=dict)
    unset_properties: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ColumnStatus:
    """A column of a table, or of a table to be created."""

    name: str
    data_type: str
    comment: str | None = None
    nullable: bool = True
    default: str | None = None
    generated_always_as: str | None = None
    is_partition: bool = False
    is_bucket: bool = False
    is_cluster: bool = False

    @property
    def hive_type(self) -> HiveType:
        """The type, parsed. Raises ConversionError."""
        try:
            return read_type(self.data_type)
        except TypeSyntaxError as error:
            raise ConversionError(f"column {self.name!r} has no type of Hive: {error}") from error

    def arrow(self) -> pyarrow.Field:
        """The column as a field of Arrow."""
        return to_arrow_field(self.name, self.hive_type, self.comment).with_nullable(self.nullable)

    def spark(self) -> str:
        """The type in Spark's notation."""
        return catalog_string(to_spark_type(self.hive_type), quoted=True)


def columns_of_arrow(schema: pyarrow.Schema) -> tuple[ColumnStatus, ...]:
    """The columns of an Arrow schema."""
    return tuple(
        ColumnStatus(
            each.name,
            str(from_arrow_field(each)),
            ((each.metadata or {}).get(b"comment") or b"").decode() or None,
            nullable=each.nullable,
        )
        for each in schema
    )


def columns_of_spark(text: str) -> tuple[ColumnStatus, ...]:
    """The columns of a Spark schema: its JSON, or DDL such as `id BIGINT NOT NULL, name STRING COMMENT 'who'`."""
    schema = with_declared_types(schema_from_json(text)) if text.lstrip().startswith("{") else parse_ddl(text)
    return tuple(
        ColumnStatus(
            each.name, str(hive_type_of(each)), each.comment or None, each.nullable, each.default, each.generated
        )
        for each in schema
    )


def spark_schema(columns: Iterable[ColumnStatus]) -> StructType:
    """The columns as a schema of Spark's. Raises ConversionError."""
    return StructType(
        tuple(
            spark_field(each.name, each.hive_type, each.comment, each.nullable, each.default, each.generated_always_as)
            for each in columns
        )
    )


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column that files are sorted by."""

    name: str
    ascending: bool = True


@dataclass(frozen=True, slots=True)
class Buckets:
    """The bucket columns and the number of buckets."""

    columns: tuple[str, ...]
    count: int


class ConstraintKind(Enum):
    """The kind of a constraint."""

    PRIMARY_KEY = "primary key"
    FOREIGN_KEY = "foreign key"
    UNIQUE = "unique"
    NOT_NULL = "not null"
    DEFAULT = "default"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A constraint of a table. Catalogs store it; the engine that writes rows enforces it, or does not."""

    kind: ConstraintKind
    columns: tuple[str, ...] = ()
    name: str | None = None
    """The catalog chooses one if it is None."""
    references: tuple[str, tuple[str, ...]] | None = None
    """Of a foreign key: the other table, `db.t`, and its columns."""
    expression: str | None = None
    """Of a default or a check."""
    enabled: bool = False
    validated: bool = False
    rely: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """A table or a view."""

    catalog: str
    database: Namespace
    name: str
    kind: TableKind = TableKind.TABLE
    columns: tuple[ColumnStatus, ...] = ()
    comment: str | None = None
    location: str | None = None
    format: str | None = None
    """parquet, orc, iceberg and others; None for views and unknown formats."""
    external: bool = False
    """Whether its files stay when the table is dropped."""
    partition_by: tuple[str, ...] = ()
    """Columns, or in Iceberg transforms of them such as `day(at)`."""
    sort_by: tuple[SortColumn, ...] = ()
    bucket_by: Buckets | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of its files; `transactional` for a transactional table."""
    properties: Mapping[str, str] = field(default_factory=dict)
    definition: str | None = None
    """The query of a view."""
    owner: str | None = None
    created: datetime | None = None
    last_access: datetime | None = None
    acid: Acid | None = None
    """The transactions of the table; None if it is not transactional."""
    metadata_location: str | None = None
    """The location of an Iceberg table's metadata."""

    @property
    def is_view(self) -> bool:
        """Whether it is a view of any kind."""
        return self.kind is not TableKind.TABLE

    @property
    def full_name(self) -> str:
        """`catalog.database.table`."""
        return ".".join((self.catalog, *self.database, self.name))

    def column(self, name: str) -> ColumnStatus:
        """A column by its name, in any case. Raises KeyError."""
        for each in self.columns:
            if each.name.lower() == name.lower():
                return each
        raise KeyError(f"{self.full_name} has no column {name!r}; it has {', '.join(c.name for c in self.columns)}")

    def arrow_schema(self) -> pyarrow.Schema:
        """All columns as an Arrow schema."""
        return arrow().schema([each.arrow() for each in self.columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table to be created."""

    columns: Sequence[ColumnStatus]
    comment: str | None = None
    location: str | None = None
    format: str = "parquet"
    external: bool | None = None
    """None means: if there is a location."""
    partition_by: Sequence[str] = ()
    """Columns among `columns`; in Iceberg also `day(at)`, `bucket(16, id)` and the like."""
    sort_by: Sequence[SortColumn] = ()
    bucket_by: Buckets | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    constraints: Sequence[Constraint] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDefinition:
    """A view to be created."""

    definition: str
    columns: Sequence[ColumnStatus] = ()
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChanges:
    """Changes of a table or view."""

    rename_to: str | None = None
    """Its name, within its database."""
    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    set_properties: Mapping[str, str] = field(default_factory=dict)
    unset_properties: Sequence[str] = ()
    add_columns: Sequence[ColumnStatus] = ()
    drop_columns: Sequence[str] = ()
    rename_columns: Mapping[str, str] = field(default_factory=dict)
    """New names by old ones."""
    column_types: Mapping[str, str] = field(default_factory=dict)
    column_comments: Mapping[str, str] = field(default_factory=dict)
    cascade: bool = False
    """Whether existing partitions get the new columns too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatus:
    """A partition. `values` are texts, as in its directory's name, by column."""

    values: Mapping[str, str]
    name: str
    """`ds=2024-01-01/hour=7`."""
    location: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    created: datetime | None = None
    last_access: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDefinition:
    """A partition to be created, or, for `alter_partition`, the changes of one."""

    values: PartitionValues
    location: str | None = None
    """None means the default directory below the table's; in `alter_partition`, no change."""
    properties: Mapping[str, str] = field(default_factory=dict)


Value = bool | int | float | str | date | datetime | Decimal
"""The minimum or maximum of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """Statistics of a column; None where they are not known."""

    null_count: int | None = None
    distinct_count: int | None = None
    min: Value | None = None
    max: Value | None = None
    average_length: float | None = None
    max_length: int | None = None
    true_count: int | None = None
    false_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """Statistics of a table or a partition."""

    row_count: int | None = None
    total_size: int | None = None
    """Bytes of its files."""
    file_count: int | None = None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)


def replaced(properties: Mapping[str, Any], set_: Mapping[str, str], unset: Iterable[str]) -> dict[str, str]:
    """Returns properties with some set and others removed."""
    gone = set(unset)
    return {key: value for key, value in {**properties, **set_}.items() if key not in gone}
