"""Spark's objects of a catalog as frozen values, with Spark's field names in snake case. Pure.

Each class has the name and the fields of Spark's class. Times are in milliseconds; a creation time of 0 means that
the metastore sets it. Mappings are not copied: whoever passes one does not change it afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from metastored.errors import SparkCatalogError
from metastored.hive.quoting import backquoted
from metastored.model.spark import views
from metastored.model.spark.types import StructType

TablePartitionSpec = Mapping[str, str]
"""The values of a partition by the names of its columns."""


class CatalogTableType(Enum):
    EXTERNAL = "EXTERNAL"
    MANAGED = "MANAGED"
    VIEW = "VIEW"
    METRIC_VIEW = "METRIC_VIEW"

    @property
    def is_view(self) -> bool:
        return self in (CatalogTableType.VIEW, CatalogTableType.METRIC_VIEW)


@dataclass(frozen=True, slots=True)
class TableIdentifier:
    table: str
    database: str | None = None
    catalog: str | None = None

    @property
    def unquoted_string(self) -> str:
        return ".".join(each for each in (self.catalog, self.database, self.table) if each is not None)

    @property
    def quoted_string(self) -> str:
        names = (self.catalog, self.database, self.table)
        return ".".join(backquoted(each) for each in names if each is not None)


@dataclass(frozen=True, slots=True)
class FunctionIdentifier:
    func_name: str
    database: str | None = None
    catalog: str | None = None

    @property
    def unquoted_string(self) -> str:
        return ".".join(each for each in (self.catalog, self.database, self.func_name) if each is not None)


@dataclass(frozen=True, slots=True)
class FunctionResource:
    resource_type: str
    """`jar`, `file` or `archive`."""
    uri: str


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    identifier: FunctionIdentifier
    class_name: str
    resources: tuple[FunctionResource, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogDatabase:
    name: str
    description: str = ""
    location_uri: str = ""
    """An empty location is chosen by the catalog: `<warehouse>/<name>.db`."""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class CatalogStorage:
    """Spark's CatalogStorageFormat."""

    location_uri: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    serde: str | None = None
    compressed: bool = False
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    serde_name: str | None = None
    """The name of the serde in the metastore; Spark 4.1 and later."""


@dataclass(frozen=True, slots=True)
class BucketSpec:
    """How the rows of a table are divided into files. Raises SparkCatalogError for a number that Spark refuses."""

    num_buckets: int
    bucket_column_names: tuple[str, ...] = ()
    sort_column_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.num_buckets <= MAX_BUCKETS:
            raise SparkCatalogError(
                "INVALID_BUCKET_COUNT",
                f"the number of buckets must be between 1 and {MAX_BUCKETS}, not {self.num_buckets}",
            )


MAX_BUCKETS = 100_000
"""The default of Spark's `spark.sql.sources.bucketing.maxBuckets`."""


@dataclass(frozen=True, slots=True)
class HistogramBin:
    lo: float
    hi: float
    ndv: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """An equi-height histogram."""

    height: float
    bins: tuple[HistogramBin, ...]


@dataclass(frozen=True, slots=True)
class ColumnStat:
    """Spark's CatalogColumnStat: `min` and `max` are texts, whose form depends on the version and the column's type."""

    distinct_count: int | None = None
    min: str | None = None
    max: str | None = None
    null_count: int | None = None
    avg_len: int | None = None
    max_len: int | None = None
    histogram: Histogram | None = None
    version: int = 2


@dataclass(frozen=True, slots=True)
class CatalogStatistics:
    size_in_bytes: int
    row_count: int | None = None
    col_stats: Mapping[str, ColumnStat] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class CatalogTablePartition:
    spec: TablePartitionSpec = field(hash=False)
    storage: CatalogStorage = field(default_factory=CatalogStorage)
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    create_time: int = 0
    last_access_time: int = -1
    stats: CatalogStatistics | None = None

    @property
    def location(self) -> str:
        """The partition's location. Raises SparkCatalogError if it has none."""
        if self.storage.location_uri is None:
            values = ", ".join(f"{key}={value}" for key, value in self.spec.items())
            raise SparkCatalogError("_LEGACY_ERROR_TEMP_1118", f"Partition [{values}] did not specify locationUri")
        return self.storage.location_uri


@dataclass(frozen=True, slots=True)
class CatalogTable:
    identifier: TableIdentifier
    table_type: CatalogTableType
    storage: CatalogStorage
    schema: StructType
    """All columns, those of the partitions last."""
    provider: str | None = None
    """`hive` for a Hive serde table; None for a view."""
    partition_column_names: tuple[str, ...] = ()
    bucket_spec: BucketSpec | None = None
    owner: str = ""
    create_time: int = 0
    last_access_time: int = -1
    create_version: str = ""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    stats: CatalogStatistics | None = None
    view_text: str | None = None
    comment: str | None = None
    collation: str | None = None
    unsupported_features: tuple[str, ...] = ()
    tracks_partitions_in_catalog: bool = False
    schema_preserves_case: bool = True
    ignored_properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    view_original_text: str | None = None

    @property
    def partition_schema(self) -> StructType:
        """The partition columns. Raises SparkCatalogError if they are not the last columns of the schema."""
        count = len(self.partition_column_names)
        fields = self.schema.fields[len(self.schema) - count :] if count else ()
        if tuple(each.name for each in fields) != self.partition_column_names:
            raise SparkCatalogError(
                "INTERNAL_ERROR",
                f"the partition columns {list(self.partition_column_names)} of {self.qualified_name} "
                f"are not the last columns of its schema {list(self.schema.names)}",
            )
        return StructType(fields)

    @property
    def data_schema(self) -> StructType:
        """The other columns."""
        return StructType(self.schema.fields[: len(self.schema) - len(self.partition_column_names)])

    @property
    def database(self) -> str:
        """The name of the database. Raises SparkCatalogError if the identifier has none."""
        if self.identifier.database is None:
            raise SparkCatalogError(
                "_LEGACY_ERROR_TEMP_1119", f"table {self.identifier.quoted_string} did not specify database"
            )
        return self.identifier.database

    @property
    def location(self) -> str:
        """The table's location. Raises SparkCatalogError if it has none."""
        if self.storage.location_uri is None:
            raise SparkCatalogError(
                "_LEGACY_ERROR_TEMP_1120", f"table {self.identifier.quoted_string} did not specify locationUri"
            )
        return self.storage.location_uri

    @property
    def qualified_name(self) -> str:
        return self.identifier.unquoted_string

    @property
    def view_catalog_and_namespace(self) -> tuple[str, ...]:
        """Where the names of the view's query are looked up. Raises SparkCatalogError, as the next ones do."""
        return views.catalog_and_namespace(self.properties)

    @property
    def view_query_column_names(self) -> tuple[str, ...]:
        return views.query_column_names(self.properties)

    @property
    def view_sql_configs(self) -> dict[str, str]:
        return views.sql_configs(self.properties)

    @property
    def view_referred_temp_view_names(self) -> tuple[tuple[str, ...], ...]:
        return views.referred_temp_view_names(self.properties)

    @property
    def view_referred_temp_function_names(self) -> tuple[str, ...]:
        return views.referred_temp_function_names(self.properties)

    @property
    def view_referred_temp_variable_names(self) -> tuple[tuple[str, ...], ...]:
        return views.referred_temp_variable_names(self.properties)

    @property
    def view_schema_mode(self) -> str:
        return views.schema_mode(self.properties)

    def with_storage(self, **changes: object) -> CatalogTable:
        """The table with some fields of its storage changed."""
        return replace(self, storage=replace(self.storage, **changes))  # type: ignore[arg-type]
