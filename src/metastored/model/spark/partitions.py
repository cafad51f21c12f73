"""Partitions of Spark's catalog: specs, names and directories, and Hive's Partition both ways. Pure.

The metastore has the names of partition columns in lower case; Spark's users see them, and directories have them, as
the table declares them. A NULL is `__HIVE_DEFAULT_PARTITION__` in the metastore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat

from metastored.errors import SparkCatalogError
from metastored.hive.locations import join
from metastored.hive.names import DEFAULT_PARTITION, escape, partition_name_to_spec
from metastored.model.spark.bulk import made
from metastored.model.spark.converting import from_hive_storage, from_hive_storages, hive_statistics, to_seconds
from metastored.model.spark.properties import SPARK_SQL_PREFIX, STATISTICS_PREFIX
from metastored.model.spark.statistics import stats_from_properties, stats_to_properties
from metastored.model.spark.values import (
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    TablePartitionSpec,
)
from metastored.wire.generated.common import SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition, PartitionWithoutSD
from metastored.wire.structs import replace as with_fields

NullableSpec = Mapping[str, str | None]
"""A spec as users give it: None is NULL."""


def to_metastore_spec(spec: NullableSpec) -> dict[str, str]:
    """Spark's toMetaStorePartitionSpec: names in lower case, NULL as the default partition."""
    return {name.lower(): DEFAULT_PARTITION if value is None else value for name, value in spec.items()}


def restore_partition_spec(spec: TablePartitionSpec, columns: Sequence[str]) -> dict[str, str]:
    """Spark's restorePartitionSpec: the names of the partition columns as the table declares them."""
    return dict(zip(declared_names(tuple(spec), columns), spec.values(), strict=True))


def declared_names(names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names of partition columns in any case as the table declares them."""
    declared = {each.lower(): each for each in columns}
    return tuple(declared.get(each.lower(), each) for each in names)


def restore_partition_metadata(partition: CatalogTablePartition, table: CatalogTable) -> CatalogTablePartition:
    """Spark's restorePartitionMetadata: the declared names, and Spark's statistics, which are hidden parameters.

    Raises SparkCatalogError if there are statistics but no size.
    """
    spec = restore_partition_spec(partition.spec, table.partition_column_names)
    return with_restored_stats(replace(partition, spec=spec), table)


def with_restored_stats(partition: CatalogTablePartition, table: CatalogTable) -> CatalogTablePartition:
    """The partition with Spark's statistics, if its parameters have some. Raises SparkCatalogError."""
    stats = stats_from_properties(partition.parameters, table.identifier.table)
    if stats is None:
        return partition
    visible = {key: value for key, value in partition.parameters.items() if not key.startswith(SPARK_SQL_PREFIX)}
    return replace(partition, stats=stats, parameters=visible)


def with_stats_properties(partition: CatalogTablePartition) -> CatalogTablePartition:
    """The partition with its statistics as parameters, as the metastore stores them."""
    if partition.stats is None:
        return partition
    return replace(partition, parameters={**partition.parameters, **stats_to_properties(partition.stats)})


# --- names and directories ---------------------------------------------------------------------------------


def partition_path_string(column: str, value: str | None) -> str:
    """Spark's getPartitionPathString: one directory of a partition."""
    return f"{escape(column)}={escape(value or DEFAULT_PARTITION)}"


def generate_partition_path(spec: NullableSpec, columns: Sequence[str], table_location: str) -> str:
    """Spark's generatePartitionPath: where a partition without a location is. Raises SparkCatalogError."""
    values = {name.lower(): value for name, value in spec.items()}
    missing = [each for each in columns if each.lower() not in values]
    if missing:
        raise incomplete_spec(spec, columns)
    path = table_location
    for column in columns:
        path = join(path, partition_path_string(column, values[column.lower()]))
    return path


def restored_name(name: str, columns: Sequence[str]) -> str:
    """A partition's name of the metastore with the declared names of the columns, escaped."""
    spec = restore_partition_spec(partition_name_to_spec(name), columns)
    return "/".join(partition_path_string(column, value) for column, value in spec.items())


def check_values(spec: TablePartitionSpec) -> None:
    """Raises SparkCatalogError for an empty value, as Spark's client does."""
    if not all(spec.values()):
        raise SparkCatalogError("INTERNAL_ERROR", f"partition spec '{_shown(spec)}' is invalid: a value is empty")


def partial_values(spec: TablePartitionSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """The values of a partial spec in the order of the columns; what is missing is empty: any value.

    Raises SparkCatalogError for a column that is not a partition column, and for an empty value.
    """
    check_values(spec)
    names = [each.lower() for each in columns]
    unknown = [each for each in spec if each not in names]
    if unknown:
        raise SparkCatalogError(
            "PARTITIONS_NOT_FOUND",
            f"{', '.join(unknown)} of the partition spec {_shown(spec)} is none of the partition columns "
            f"[{', '.join(columns)}]",
        )
    return tuple(spec.get(each, "") for each in names)


def full_values(spec: TablePartitionSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """The values of a complete spec in the order of the columns. Raises SparkCatalogError."""
    values = partial_values(spec, columns)
    if not all(values):
        raise incomplete_spec(spec, columns)
    return values


def incomplete_spec(spec: NullableSpec, columns: Sequence[str]) -> SparkCatalogError:
    return SparkCatalogError(
        "_LEGACY_ERROR_TEMP_3065",
        f"partition spec {_shown(spec)} doesn't contain all ({len(columns)}) partition columns",
    )


def is_partial_spec(spec: TablePartitionSpec, of: TablePartitionSpec) -> bool:
    """Spark's isPartialPartitionSpec: whether `of` has all values of `spec`."""
    return all(of.get(name) == value for name, value in spec.items())


def _shown(spec: NullableSpec) -> str:
    return "{" + ", ".join(f"{name}={value}" for name, value in spec.items()) + "}"


# --- Hive's Partition --------------------------------------------------------------------------------------


def new_hive_partition(partition: CatalogTablePartition, table: Table) -> Partition:
    """A partition to be created: the storage of the table, in the partition's location. The spec is the metastore's."""
    return Partition(
        values=_values(partition, table),
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=to_seconds(partition.create_time),
        lastAccessTime=to_seconds(partition.last_access_time),
        sd=with_fields(table.sd or StorageDescriptor(), location=partition.storage.location_uri),
        parameters=dict(partition.parameters),
    )


def to_hive_partition(partition: CatalogTablePartition, table: Table) -> Partition:
    """A partition that replaces one: Spark's toHivePartition. The columns are the table's."""
    storage, of_table = partition.storage, table.sd or StorageDescriptor()
    return Partition(
        values=_values(partition, table),
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=to_seconds(partition.create_time),
        lastAccessTime=to_seconds(partition.last_access_time),
        sd=StorageDescriptor(
            cols=of_table.cols,
            location=storage.location_uri,
            inputFormat=storage.input_format,
            outputFormat=storage.output_format,
            compressed=False,
            numBuckets=0,
            serdeInfo=SerDeInfo(
                name=storage.serde_name, serializationLib=storage.serde, parameters=dict(storage.properties)
            ),
            bucketCols=of_table.bucketCols,
            sortCols=of_table.sortCols,
            parameters={},
            storedAsSubDirectories=False,
        ),
        parameters={key: value for key, value in partition.parameters.items() if key != "transient_lastDdlTime"},
    )


def from_hive_partition(partition: Partition, columns: Sequence[str]) -> CatalogTablePartition:
    """Spark's fromHivePartition: as it is stored. `columns` are the names of the partition keys."""
    parameters = partition.parameters or {}
    return CatalogTablePartition(
        spec=dict(zip(columns, partition.values or (), strict=True)),
        storage=from_hive_storage(partition.sd),
        parameters=parameters,
        create_time=(partition.createTime or 0) * 1000,
        last_access_time=(partition.lastAccessTime or 0) * 1000,
        stats=hive_statistics(parameters),
    )


def restored_partitions(
    partitions: Sequence[Partition], columns: Sequence[str], table: CatalogTable
) -> list[CatalogTablePartition]:
    """Many partitions as Spark's users see them; `columns` are the declared names of the partition keys.

    The same as `with_restored_stats(from_hive_partition(…))` of each, in less time. Raises SparkCatalogError.
    """
    descriptors = [each.sd for each in partitions if each.sd is not None]
    if len(descriptors) < len(partitions):
        return [with_restored_stats(from_hive_partition(each, columns), table) for each in partitions]
    return restored_with(partitions, from_hive_storages(descriptors), columns, table)


def restored_with(
    partitions: Sequence[Partition] | Sequence[PartitionWithoutSD],
    storages: Sequence[CatalogStorage],
    columns: Sequence[str],
    table: CatalogTable,
) -> list[CatalogTablePartition]:
    """As `restored_partitions`, with these storages."""
    parameters = [each.parameters or {} for each in partitions]
    values = [each.values or () for each in partitions]
    names = set[str]().union(*parameters)
    restored = made(
        CatalogTablePartition,
        len(partitions),
        _specs(values, columns),
        storages,
        parameters,
        [(each.createTime or 0) * 1000 for each in partitions],
        [(each.lastAccessTime or 0) * 1000 for each in partitions],
        _hive_statistics(parameters, names),
    )
    if any(name.startswith(STATISTICS_PREFIX) for name in names):
        restored = [with_restored_stats(each, table) for each in restored]
    return restored


def _specs(values: Sequence[Sequence[str]], columns: Sequence[str]) -> list[dict[str, str]]:
    """The specs of partitions. Raises ValueError if one has more or fewer values than there are columns."""
    if len(columns) == 1:
        return [{columns[0]: one} for (one,) in values]
    if len(columns) == 2:
        first, second = columns
        return [{first: one, second: other} for one, other in values]
    return [dict(zip(columns, each, strict=True)) for each in values]


def _hive_statistics(parameters: Sequence[Mapping[str, str]], names: set[str]) -> Iterator[CatalogStatistics | None]:
    """`hive_statistics` of each, computed once for partitions with the same numbers. `names` are all that occur."""
    present = [name for name in ("totalSize", "rawDataSize", "numRows") if name in names]
    if not present:
        return repeat(None, len(parameters))
    numbers = list(zip(*([each.get(name) for each in parameters] for name in present), strict=True))
    known = {
        each: hive_statistics({name: number for name, number in zip(present, each, strict=True) if number is not None})
        for each in dict.fromkeys(numbers)
    }
    return map(known.__getitem__, numbers)


def keys_of(table: Table) -> tuple[str, ...]:
    """The names of the partition keys in the metastore."""
    return tuple(each.name or "" for each in table.partitionKeys or ())


def _values(partition: CatalogTablePartition, table: Table) -> tuple[str, ...]:
    return full_values(partition.spec, keys_of(table))
