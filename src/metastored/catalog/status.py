"""What a catalog tells of its objects, and what it is told when they are made or changed. Plain, immutable data.

    …Status         what is there
    …Definition     what is to be made
    …Changes        what is to be changed; what is left out stays as it is

Types are texts in Hive's words; `ColumnStatus.arrow()` and `.spark()` say them in others'.
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
from metastored.hive.types.spark import SparkColumn, from_spark_ddl, from_spark_json, to_spark
from metastored.hive.types.type_strings import HiveType, TypeSyntaxError, parse_type
from metastored.model.acid import Acid
from metastored.model.partitions import PartitionValues

if TYPE_CHECKING:
    import pyarrow

Namespace = tuple[str, ...]
"""A database's name; of several parts where a catalog nests them, as Iceberg's do."""


class TableKind(Enum):
    """What a name in a database stands for."""

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
        return ".".join(self.database)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDefinition:
    """A database to be made."""

    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseChanges:
    """What is to be another in a database."""

    comment: str | None = None
    location: str | None = None
    owner: str | None = None
    set_properties: Mapping[str, str] = field(default_factory=dict)
    unset_properties: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ColumnStatus:
    """A column, of a table or to be made."""

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
        """The type as a tree."""
        try:
            return parse_type(self.data_type)
        except TypeSyntaxError as error:
            raise ConversionError(f"column {self.name!r} has no type of Hive: {error}") from error

    def arrow(self) -> pyarrow.Field:
        """The column as Arrow's."""
        return to_arrow_field(self.name, self.hive_type, self.comment).with_nullable(self.nullable)

    def spark(self) -> str:
        """The type as Spark writes it."""
        return to_spark(self.hive_type)


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
    found = from_spark_json(text) if text.lstrip().startswith("{") else from_spark_ddl(text)
    return tuple(ColumnStatus(each.name, str(each.type), each.comment, nullable=each.nullable) for each in found)


def spark_columns(columns: Iterable[ColumnStatus]) -> list[SparkColumn]:
    """The same for Spark, as `metastored.hive.types.spark` writes them."""
    return [SparkColumn(each.name, each.hive_type, each.comment, each.nullable) for each in columns]


@dataclass(frozen=True, slots=True)
class SortColumn:
    """One of the columns that files are sorted by."""

    name: str
    ascending: bool = True


@dataclass(frozen=True, slots=True)
class Buckets:
    """How rows are spread over files."""

    columns: tuple[str, ...]
    count: int


class ConstraintKind(Enum):
    """Which promise a constraint makes."""

    PRIMARY_KEY = "primary key"
    FOREIGN_KEY = "foreign key"
    UNIQUE = "unique"
    NOT_NULL = "not null"
    DEFAULT = "default"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A promise about a table. Catalogs keep it; whether it holds is for those who write rows."""

    kind: ConstraintKind
    columns: tuple[str, ...] = ()
    name: str | None = None
    """The catalog finds one when it is not given."""
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
    """parquet, orc, iceberg and the like; None for views, and where nobody knows it."""
    external: bool = False
    """Whether its files stay when it is dropped."""
    partition_by: tuple[str, ...] = ()
    """Columns, or in Iceberg transforms of them such as `day(at)`."""
    sort_by: tuple[SortColumn, ...] = ()
    bucket_by: Buckets | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """How its files are read and written."""
    properties: Mapping[str, str] = field(default_factory=dict)
    definition: str | None = None
    """Of a view: its query."""
    owner: str | None = None
    created: datetime | None = None
    last_access: datetime | None = None
    acid: Acid | None = None
    """How it is transactional, if it is."""
    metadata_location: str | None = None
    """Where an Iceberg table's own metadata is."""

    @property
    def is_view(self) -> bool:
        return self.kind is not TableKind.TABLE

    @property
    def full_name(self) -> str:
        return ".".join((self.catalog, *self.database, self.name))

    def column(self, name: str) -> ColumnStatus:
        for each in self.columns:
            if each.name.lower() == name.lower():
                return each
        raise KeyError(f"{self.full_name} has no column {name!r}; it has {', '.join(c.name for c in self.columns)}")

    def arrow_schema(self) -> pyarrow.Schema:
        """All columns as an Arrow schema."""
        return arrow().schema([each.arrow() for each in self.columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table to be made."""

    columns: Sequence[ColumnStatus]
    comment: str | None = None
    location: str | None = None
    format: str = "parquet"
    external: bool | None = None
    """None: when a location is given."""
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
    """A view to be made."""

    definition: str
    columns: Sequence[ColumnStatus] = ()
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChanges:
    """What is to be another in a table or view."""

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
    """Whether partitions that are there get the new columns too."""


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
    """A partition to be made, or, in `alter_partition`, what is to be another in one."""

    values: PartitionValues
    location: str | None = None
    """None: the usual directory in the table's own; when altered, where it is."""
    properties: Mapping[str, str] = field(default_factory=dict)


Value = bool | int | float | str | date | datetime | Decimal
"""The least or the greatest of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """What is known of a column's values; None where nothing is."""

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
    """What is known of a table or a partition."""

    row_count: int | None = None
    total_size: int | None = None
    """Bytes of its files."""
    file_count: int | None = None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)


def replaced(properties: Mapping[str, Any], set_: Mapping[str, str], unset: Iterable[str]) -> dict[str, str]:
    """Properties with some set and others taken away."""
    gone = set(unset)
    return {key: value for key, value in {**properties, **set_}.items() if key not in gone}
