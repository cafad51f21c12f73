"""Converts databases, tables, views and partitions between Hive's structs and the classes of `status`. Pure.

A table that Spark wrote is read as Spark reads it (`model.spark`): schema, partition columns, buckets and location. The
partitioning of an Iceberg table is read from the table's parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from metastored.catalog.status import (
    Buckets,
    ColumnStatus,
    DatabaseDefinition,
    DatabaseStatus,
    PartitionDefinition,
    PartitionStatus,
    SortColumn,
    TableDefinition,
    TableKind,
    TableStatus,
    ViewDefinition,
    spark_schema,
)
from metastored.errors import InvalidInputException
from metastored.model import kinds, makers
from metastored.model.acid import PROPERTIES, TRANSACTIONAL, Acid, acid_of, is_transactional
from metastored.model.columns import columns_of, partitioned_by
from metastored.model.formats import VIEW, format_of
from metastored.model.makers import parameters_of, storage
from metastored.model.origins import METADATA_LOCATION, PARTITIONING, SPARK_PROVIDER
from metastored.model.partitions import PartitionValues, keys_of, name_of, values_of
from metastored.model.spark.columns import is_schema, schema_parameters
from metastored.model.spark.creating import default_table_path
from metastored.model.spark.properties import is_data_source_table
from metastored.model.spark.reading import spark_table
from metastored.model.spark.restoring import PATH
from metastored.model.spark.values import BucketSpec, CatalogTable
from metastored.model.values import legible, moment, shown, shown_location, shown_map
from metastored.wire.generated.common import FieldSchema, PrincipalType, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition

VIEWS: Final = {kinds.VIEW: TableKind.VIEW, kinds.MATERIALIZED_VIEW: TableKind.MATERIALIZED_VIEW}
_FIELDS: Final = frozenset({"comment", kinds.EXTERNAL_PARAMETER, "current-schema", "default-partition-spec"})
"""Parameters that are fields of a status, and therefore not among its properties."""
WRITE_ID: Final = "write_id"
"""The option that has the last write id of a transactional table."""
ACID_OPTIONS: Final = (TRANSACTIONAL, PROPERTIES)
"""Options of a table that Hive has among its parameters."""
_ICEBERG_FILES: Final = {"iceberg": None, "parquet": None, "orc": "orc", "avro": "avro"}


# --- databases ---------------------------------------------------------------------------------------------


def database_status(catalog: str, database: Database) -> DatabaseStatus:
    return DatabaseStatus(
        catalog=catalog,
        database=tuple((database.name or "").split(".")),
        comment=shown(database.description),
        location=shown_location(database.locationUri),
        owner=shown(database.ownerName),
        properties=shown_map(database.parameters),
    )


def hive_database(name: str, given: DatabaseDefinition, owner: str | None = None) -> Database:
    """The struct of a new database; `owner` owns it if the definition has no owner."""
    owned_by = given.owner or owner
    return Database(
        name=name,
        description=given.comment,
        locationUri=given.location,
        ownerName=owned_by,
        ownerType=PrincipalType.USER if owned_by is not None else None,
        parameters=dict(given.properties),
    )


# --- tables and views --------------------------------------------------------------------------------------


def table_status(catalog: str, table: Table, acid: Acid | None = None) -> TableStatus:
    """A table or view. `acid` is what the metastore has about its transactions, beyond the table itself."""
    parameters = table.parameters or {}
    sd = table.sd or StorageDescriptor()
    kind = VIEWS.get(table.tableType or "", TableKind.TABLE)
    spark = spark_table(table)
    columns, partition_by = marked_columns(table, spark)
    bucket_by, sort_by = _buckets(sd, spark)
    source = spark.storage if spark is not None and is_data_source_table(spark) else None
    serde = sd.serdeInfo and sd.serdeInfo.parameters
    acid = acid or acid_of(table)
    return TableStatus(
        catalog=catalog,
        database=tuple((table.dbName or "").split(".")),
        name=table.tableName or "",
        kind=kind,
        columns=columns,
        comment=shown(parameters.get("comment")),
        location=shown_location((source and source.location_uri) or sd.location),
        format=None if kind is not TableKind.TABLE else format_of(table),
        external=kinds.is_external_by_either(table),
        partition_by=partition_by,
        sort_by=sort_by,
        bucket_by=bucket_by,
        options={
            **shown_map(serde if source is None else source.properties),
            **{key: parameters[key] for key in ACID_OPTIONS if key in parameters and is_transactional(parameters)},
            **({WRITE_ID: str(acid.write_id)} if acid is not None and acid.write_id is not None else {}),
        },
        properties=shown_map(
            {key: value for key, value in parameters.items() if key not in _FIELDS and not is_schema(key)}
        ),
        definition=shown(table.viewOriginalText) or shown(table.viewExpandedText),
        owner=shown(table.owner),
        created=moment(table.createTime),
        last_access=moment(table.lastAccessTime),
        acid=acid,
        metadata_location=shown(parameters.get(METADATA_LOCATION)),
    )


def table_definition(table: Table) -> TableDefinition:
    """Returns the definition of a table like this one, for any catalog. Raises InvalidInputException for a view."""
    status = table_status("", table)
    if status.is_view:
        raise InvalidInputException(f"{status.name} is a view: create it with create_view and a ViewDefinition")
    return TableDefinition(
        columns=[
            ColumnStatus(each.name, each.data_type, each.comment, each.nullable, each.default, each.generated_always_as)
            for each in status.columns
        ],
        comment=status.comment,
        location=status.location,
        format=status.format or "parquet",
        external=status.external,
        partition_by=status.partition_by,
        sort_by=status.sort_by,
        bucket_by=status.bucket_by,
        options={key: value for key, value in status.options.items() if key not in ("serialization.format", WRITE_ID)},
        properties=status.properties,
        owner=status.owner,
    )


def _buckets(sd: StorageDescriptor, spark: CatalogTable | None) -> tuple[Buckets | None, tuple[SortColumn, ...]]:
    """The buckets and the sort columns: Spark's where it stores some, else Hive's."""
    if spark is not None and spark.bucket_spec is not None:
        spec = spark.bucket_spec
        return Buckets(spec.bucket_column_names, spec.num_buckets), tuple(map(SortColumn, spec.sort_column_names))
    columns, count = tuple(sd.bucketCols or ()), sd.numBuckets or 0
    sort_by = tuple(SortColumn(each.col or "", each.order != 0) for each in sd.sortCols or ())
    return Buckets(columns, count) if columns and count > 0 else None, sort_by


def marked_columns(table: Table, spark: CatalogTable | None) -> tuple[tuple[ColumnStatus, ...], tuple[str, ...]]:
    """Returns the columns, and the columns or transforms that the table is partitioned by."""
    partition_by, required = partitioned_by(table, spark), frozenset[str]()
    iceberg = _iceberg(table.parameters or {})
    if iceberg is not None:
        partition_by, required = iceberg
    bucket_by, sort_by = _buckets(table.sd or StorageDescriptor(), spark)
    buckets = {name.lower() for name in (bucket_by.columns if bucket_by is not None else ())}
    sorts = {each.name.lower() for each in sort_by}
    by = {name.lower() for name in partition_by}
    marked = tuple(
        ColumnStatus(
            each.name,
            each.type,
            each.comment,
            nullable=each.nullable and each.name not in required,
            default=each.default,
            generated_always_as=each.generated,
            is_partition=each.name.lower() in by,
            is_bucket=each.name.lower() in buckets,
            is_cluster=each.name.lower() in sorts,
        )
        for each in columns_of(table, spark)
    )
    return marked, partition_by


def _iceberg(parameters: Mapping[str, str]) -> tuple[tuple[str, ...], frozenset[str]] | None:
    """Returns the partitioning of an Iceberg table and its required columns; None if its parameters lack them."""
    schema, spec = parameters.get("current-schema"), parameters.get("default-partition-spec")
    if not schema or not spec:
        return None
    try:
        fields: list[dict[str, Any]] = json.loads(schema)["fields"]
        names = {each["id"]: each["name"] for each in fields}
        terms = [_term(each["transform"], names[each["source-id"]]) for each in json.loads(spec)["fields"]]
        return tuple(terms), frozenset(each["name"] for each in fields if each.get("required"))
    except (ValueError, KeyError, TypeError):
        return None


def _term(transform: str, column: str) -> str:
    """A transform as callers write it: `identity` of id is `id`, `bucket[16]` of id is `bucket(16, id)`."""
    if transform == "identity":
        return column
    name, bracket, argument = transform.rstrip("]").partition("[")
    return f"{name}({argument}, {column})" if bracket else f"{name}({column})"


def needs_path(given: TableDefinition) -> bool:
    """Whether a new table is read by Spark from the property `path`, but the metastore chooses its location."""
    return SPARK_PROVIDER in given.properties and given.location is None and not given.external


def hive_table(
    database: str,
    name: str,
    given: TableDefinition,
    iceberg: bool = False,
    owner: str | None = None,
    database_location: str | None = None,
) -> Table:
    """The struct of a new table; `owner` owns it if the definition has no owner.

    An Iceberg catalog gets the partitioning in a parameter. The location of the database is for tables that
    `needs_path` selects. Raises InvalidInputException.
    """
    if not given.columns:
        raise InvalidInputException(f"table {database}.{name} needs at least one column")
    makers.check_columns(f"{database}.{name}", tuple(map(field_of, given.columns)), ())
    if iceberg:
        return _iceberg_table(database, name, given)
    by_name = {column.name.lower(): column for column in given.columns}
    missing = [key for key in given.partition_by if key.lower() not in by_name]
    if missing:
        raise InvalidInputException(
            f"table {database}.{name} is to be partitioned by {', '.join(missing)}, which is not a column of it: "
            "Hive partitions by columns only"
        )
    keys = [by_name[key.lower()] for key in given.partition_by]
    columns = [column for column in given.columns if column not in keys]
    # The write id is that of the table whose options were read: a new table has none.
    options = {key: value for key, value in given.options.items() if key not in (*ACID_OPTIONS, WRITE_ID)}
    if SPARK_PROVIDER in given.properties and given.location is not None:
        options[PATH] = given.location
    elif needs_path(given) and database_location and not any(key.lower() == PATH for key in options):
        options[PATH] = default_table_path(database_location, name.lower())
    return makers.table(
        (database, name),
        list(map(field_of, columns)),
        partitioned_by=list(map(field_of, keys)),
        format=given.format,
        location=given.location,
        comment=given.comment,
        properties={**given.properties, **_acid_properties(given), **_schema(columns, keys, given)},
        external=given.location is not None if given.external is None else given.external,
        owner=given.owner or owner,
        bucketed_by=(given.bucket_by.columns, given.bucket_by.count) if given.bucket_by else None,
        sorted_by=[each.name if each.ascending else f"-{each.name}" for each in given.sort_by],
        options=options,
    )


def goes_beyond_hive(column: ColumnStatus) -> bool:
    """Whether a column has what Hive's columns cannot have: NOT NULL, a default or a generating expression."""
    return not column.nullable or column.default is not None or column.generated_always_as is not None


def _acid_properties(given: TableDefinition) -> dict[str, str]:
    """The options that make a table transactional, which Hive has among a table's parameters."""
    properties: dict[str, str] = {}
    for key in ACID_OPTIONS:
        value: Any = given.options.get(key)
        if value is not None:
            properties[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return properties


def _schema(columns: Sequence[ColumnStatus], keys: Sequence[ColumnStatus], given: TableDefinition) -> dict[str, str]:
    """Spark's schema, for columns with what Hive's cannot have, and for tables that only Spark reads."""
    everything = [*columns, *keys]
    if not any(map(goes_beyond_hive, everything)) and SPARK_PROVIDER not in given.properties:
        return {}
    buckets = None
    if given.bucket_by is not None:
        sorts = tuple(each.name for each in given.sort_by)
        buckets = BucketSpec(given.bucket_by.count, given.bucket_by.columns, sorts)
    return schema_parameters(spark_schema(everything), [key.name for key in keys], buckets)


def _iceberg_table(database: str, name: str, given: TableDefinition) -> Table:
    if given.sort_by or given.bucket_by or given.constraints:
        raise InvalidInputException(
            f"table {database}.{name}: Iceberg has no sorting, buckets or constraints of Hive's; "
            "write bucket(16, column) in partition_by"
        )
    if given.format.lower() not in _ICEBERG_FILES:
        raise InvalidInputException(f"Iceberg has no files of format {given.format!r}: parquet, orc and avro are known")
    beyond = [each.name for each in given.columns if each.default or each.generated_always_as]
    if beyond:
        raise InvalidInputException(
            f"table {database}.{name}: {', '.join(beyond)} has a default or is generated, which Iceberg catalogs "
            "do not store; leave it out"
        )
    if any(key in given.options for key in ACID_OPTIONS):
        raise InvalidInputException(
            f"table {database}.{name}: every Iceberg table has transactions of its own; leave out transactional"
        )
    parameters = parameters_of(given.properties, given.comment, f"{database}.{name}")
    if any(not each.nullable for each in given.columns):
        parameters |= schema_parameters(spark_schema(given.columns), ())
    files = _ICEBERG_FILES[given.format.lower()]
    if files is not None:
        parameters.setdefault("write.format.default", files)
    if given.partition_by:
        parameters[PARTITIONING] = json.dumps(list(given.partition_by))
    sd = StorageDescriptor(cols=tuple(map(field_of, given.columns)), location=given.location)
    return Table(tableName=name, dbName=database, owner=given.owner, sd=sd, parameters=parameters, partitionKeys=())


def hive_view(database: str, name: str, given: ViewDefinition, owner: str | None = None) -> Table:
    """The struct of a new view; `owner` owns it if the definition has no owner."""
    return Table(
        tableName=name,
        dbName=database,
        owner=given.owner or owner,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=storage(tuple(map(field_of, given.columns)), VIEW, {}),
        partitionKeys=(),
        parameters=parameters_of(given.properties, given.comment, f"{database}.{name}"),
        viewOriginalText=given.definition,
        viewExpandedText=given.definition,
        tableType=kinds.VIEW,
    )


def field_of(column: ColumnStatus) -> FieldSchema:
    """The column as Hive has it."""
    return FieldSchema(column.name, column.data_type, column.comment)


# --- partitions --------------------------------------------------------------------------------------------


def partition_status(table: Table, partition: Partition) -> PartitionStatus:
    values = tuple(partition.values or ())
    return PartitionStatus(
        values=dict(zip(_keys(table), map(legible, values), strict=False)),
        name=legible(name_of(table, values)),
        location=shown_location(partition.sd.location if partition.sd else None),
        properties=shown_map(partition.parameters),
        created=moment(partition.createTime),
        last_access=moment(partition.lastAccessTime),
    )


def partition_values(table: Table, given: PartitionValues) -> tuple[str, ...]:
    """Returns the values of a partition in the order of the table's keys. Raises InvalidInputException."""
    return values_of(f"{table.dbName}.{table.tableName}", keys_of(table), given)


def hive_partition(table: Table, given: PartitionDefinition) -> Partition:
    return makers.partition(table, given.values, location=given.location, properties=given.properties)


def _keys(table: Table) -> tuple[str, ...]:
    return tuple(key.lower() for key in keys_of(table))
