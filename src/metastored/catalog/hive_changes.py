"""Changes of databases and tables, made in Hive's structs. Pure.

The columns of a table that Spark wrote are changed in Spark's schema too, and its location in the property by which
Spark finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from metastored.catalog.hive_objects import field_of, goes_beyond_hive, marked_columns
from metastored.catalog.status import DatabaseChanges, PartitionDefinition, TableChanges, replaced, spark_schema
from metastored.errors import InvalidInputException
from metastored.hive import locations
from metastored.hive.names import directory_name
from metastored.model import kinds, makers
from metastored.model.spark.columns import edited, is_schema, schema_parameters
from metastored.model.spark.properties import is_data_source_table
from metastored.model.spark.reading import has_only_spark_columns, spark_table
from metastored.model.spark.restoring import PATH
from metastored.model.spark.values import CatalogTable
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace


def changed_database(database: Database, changes: DatabaseChanges) -> Database:
    """Returns the changed database."""
    return replace(
        database,
        description=database.description if changes.comment is None else changes.comment,
        locationUri=changes.location or database.locationUri,
        ownerName=changes.owner or database.ownerName,
        parameters=replaced(database.parameters or {}, changes.set_properties, changes.unset_properties),
    )


def changed_partition(partition: Partition, definition: PartitionDefinition) -> Partition:
    """The partition with the location, if there is one, and the properties of a definition."""
    sd = partition.sd
    if definition.location is not None and sd is not None:
        sd = replace(sd, location=definition.location)
    return replace(partition, sd=sd, parameters=replaced(partition.parameters or {}, definition.properties, ()))


def changed_table(table: Table, changes: TableChanges) -> Table:
    """Returns the changed table. Raises InvalidInputException for changes of columns that it does not have."""
    name, sd = f"{table.dbName}.{table.tableName}", table.sd or StorageDescriptor()
    spark = spark_table(table)
    only_spark = spark is not None and has_only_spark_columns(table)
    before = spark.data_schema.names if spark and only_spark else tuple(each.name or "" for each in sd.cols or ())
    known = {each.lower() for each in before}
    changed = (*changes.drop_columns, *changes.rename_columns, *changes.column_types, *changes.column_comments)
    missing = sorted({each for each in changed if each.lower() not in known})
    if missing:
        raise InvalidInputException(
            f"{name} has no column {', '.join(missing)} that could be changed; it has {', '.join(before)}"
        )
    dropped = _lower(dict.fromkeys(changes.drop_columns, ""))
    renamed, types, comments = map(_lower, (changes.rename_columns, changes.column_types, changes.column_comments))
    columns = list(sd.cols or ())
    if not only_spark:
        columns = [
            FieldSchema(
                renamed.get(key, each.name or ""), types.get(key, each.type or ""), comments.get(key, each.comment)
            )
            for each in columns
            if (key := (each.name or "").lower()) not in dropped
        ]
        columns += map(field_of, changes.add_columns)
    makers.check_columns(name, tuple(columns), table.partitionKeys or ())
    parameters = replaced(table.parameters or {}, changes.set_properties, changes.unset_properties)
    parameters = _with_columns(table, parameters, changes, dropped, renamed, types, comments)
    if changes.comment is not None:
        parameters["comment"] = changes.comment
    return replace(
        table,
        tableName=changes.rename_to or table.tableName,
        owner=changes.owner or table.owner,
        sd=replace(_with_path(table, sd, spark, changes), cols=tuple(columns)),
        parameters=parameters,
    )


def _with_path(
    table: Table, sd: StorageDescriptor, spark: CatalogTable | None, changes: TableChanges
) -> StorageDescriptor:
    """The storage in its new location, which a data source of Spark's reads from the property `path`.

    The metastore moves the directory of a managed table when the table is renamed.
    """
    moved = replace(sd, location=changes.location or sd.location)
    if spark is None or not is_data_source_table(spark) or sd.serdeInfo is None:
        return moved
    path = changes.location
    if path is None and changes.rename_to is not None and table.tableType == kinds.MANAGED:
        path = _renamed_directory(sd.location, table.tableName or "", changes.rename_to.lower())
    if path is None:
        return moved
    options = {key: value for key, value in (sd.serdeInfo.parameters or {}).items() if key.lower() != PATH}
    return replace(moved, serdeInfo=replace(sd.serdeInfo, parameters={**options, PATH: path}))


def _renamed_directory(location: str | None, old: str, new: str) -> str | None:
    """The directory of a table with a new name; None if it does not have the name of the table."""
    if location is None:
        return None
    try:
        above = locations.parent(location)
        if above is None or locations.name(location) not in (old, directory_name(old)):
            return None
        return locations.join(above, directory_name(new))
    except locations.LocationError:
        return None


def _with_columns(
    table: Table,
    parameters: dict[str, str],
    changes: TableChanges,
    dropped: Mapping[str, str],
    renamed: Mapping[str, str],
    types: Mapping[str, str],
    comments: Mapping[str, str],
) -> dict[str, str]:
    """Parameters with the changes of columns in Spark's schema, if the table has one or needs one now."""
    if not any(map(is_schema, parameters)):
        if not any(map(goes_beyond_hive, changes.add_columns)):
            return parameters
        columns, keys = marked_columns(table, None)
        parameters |= schema_parameters(spark_schema(columns), keys)
    return edited(parameters, dropped, renamed, types, comments, spark_schema(changes.add_columns))


def _lower(given: Mapping[str, str]) -> dict[str, str]:
    return {key.lower(): value for key, value in given.items()}
