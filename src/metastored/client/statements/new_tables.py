"""CREATE TABLE and CREATE VIEW as structs of the metastore's API. Pure.

A table without USING is as Hive creates it; one with USING is as Spark's catalog stores it (`model/spark/creating.py`),
with one difference: where only Spark can read a table, Spark gives the metastore a placeholder as its location, whose
directory it removes afterwards. Here the metastore gets the location itself, and Spark reads the
option `path`, which has it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from metastored.errors import ConversionError, InvalidInputException
from metastored.hive.locations import canonical
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model import kinds, makers
from metastored.model.acid import TRANSACTIONAL
from metastored.model.formats import OTHERS, VIEW, FileFormat, classes_of
from metastored.model.names import TableName
from metastored.model.spark.converting import LAZY_SIMPLE, check_hive_table, to_hive_table
from metastored.model.spark.creating import (
    data_source_table,
    default_table_path,
    hive_compatible_form,
    spark_specific_form,
)
from metastored.model.spark.properties import HIVE_PROVIDER, SPARK_SQL_PREFIX
from metastored.model.spark.schemas import reordered, with_declared_as_string
from metastored.model.spark.type_strings import parse_data_type
from metastored.model.spark.types import CURRENT_DEFAULT, EXISTS_DEFAULT, StructField, StructType
from metastored.model.spark.values import BucketSpec, CatalogStorage, CatalogTable, CatalogTableType, TableIdentifier
from metastored.model.spark.views import CATALOG_AND_NAMESPACE, QUERY_OUTPUT, SESSION_CATALOG
from metastored.statements.definitions import Column, CreateTable, CreateView, Storage
from metastored.statements.materialized import CreateMaterializedView
from metastored.wire.generated.common import CreationMetadata, FieldSchema, PrincipalType, Table
from metastored.wire.structs import replace

DEFAULT_FORMAT: Final = "textfile"
"""Hive's, where a statement names none."""
SPARK_VERSION: Final = "4.3.0"
"""The version of Spark by whose rules tables with USING are stored."""
HANDLER: Final = "storage_handler"
_FORMATS: Final = {"jsonfile": "json", "orcfile": "orc", "parquetfile": "parquet", "avrofile": "avro"}
_TYPES: Final = {"integer": "int", "dec": "decimal", "numeric": "decimal", "double precision": "double"}
"""Words of Hive's grammar for types, and how it stores them."""


def fields_of(columns: Iterable[Column], full: str) -> tuple[FieldSchema, ...]:
    """Columns as Hive stores them, in small letters. Raises InvalidInputException for a type that Hive lacks."""
    fields: list[FieldSchema] = []
    for each in columns:
        type = column_type(each.type or "")
        fields += makers.fields_of({normalize(each.name): (type, each.comment)}, full)
    return tuple(fields)


def column_type(written: str) -> str:
    """A type in the word that Hive stores."""
    word = re.match(r"[a-z ]*[a-z]", written)
    return written if word is None else _TYPES.get(word[0], word[0]) + written[word.end() :]


def hive_table(statement: CreateTable, name: TableName, owner: str | None) -> Table:
    """The table as Hive creates it. Raises InvalidInputException."""
    full = str(name)
    missing = [each.name for each in (*statement.columns, *statement.partitioned_by) if each.type is None]
    if missing:
        raise InvalidInputException(f"the partition column {missing[0]} of {full} needs a type: {missing[0]} STRING")
    storage = statement.storage or Storage()
    if statement.provider is not None:
        options = {key.lower(): value for key, value in statement.options}
        storage = Storage(format=options.get("fileformat"))
    buckets = statement.buckets
    made = makers.table(
        name,
        fields_of(statement.columns, full),
        partitioned_by=fields_of(statement.partitioned_by, full),
        format=_format(storage),
        location=statement.location,
        comment=statement.comment,
        properties=_properties(statement.properties),
        external=statement.external,
        owner=owner,
        bucketed_by=None if buckets is None else (lower(buckets.columns), buckets.number),
        sorted_by=() if buckets is None else lower(buckets.sorted_by),
    )
    made = with_storage(made, storage)
    parameters = dict(made.parameters or {})
    if statement.is_transactional:
        parameters[TRANSACTIONAL] = "true"
    if storage.handler is not None:
        parameters[HANDLER] = storage.handler
    return replace(made, parameters=parameters, ownerType=PrincipalType.USER if owner is not None else None)


def lower(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns as Hive stores them."""
    return tuple(normalize(name) for name in names)


def _properties(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    check_properties(key for key, _ in pairs)
    return dict(pairs)


def check_properties(keys: Iterable[str]) -> None:
    """Raises InvalidInputException for properties by which Spark stores its own view of a table."""
    reserved = [key for key in keys if key.startswith(SPARK_SQL_PREFIX)]
    if reserved:
        raise InvalidInputException(
            f"the property {reserved[0]!r} cannot be set: those that begin with {SPARK_SQL_PREFIX!r} are Spark's own"
        )


def _format(storage: Storage) -> str:
    word = (storage.format or DEFAULT_FORMAT).lower()
    return _FORMATS.get(word, word)


def with_storage(table: Table, storage: Storage) -> Table:
    """A table with the classes and the serde's properties that STORED AS, ROW FORMAT or SET SERDE name."""
    sd = table.sd
    assert sd is not None and sd.serdeInfo is not None
    library, input, output = sd.serdeInfo.serializationLib, sd.inputFormat, sd.outputFormat
    if storage.format is not None:
        classes: FileFormat = classes_of(_format(storage))
        library, input, output = classes.serde, classes.input, classes.output
    if storage.input is not None:
        library, input, output = LAZY_SIMPLE, storage.input, storage.output
    if storage.handler is not None:
        if storage.serde is None:
            raise InvalidInputException(
                "STORED BY needs the serde, which Hive reads from the code of the handler: add ROW FORMAT SERDE '…'"
            )
        input = output = None
    serde = replace(
        sd.serdeInfo,
        serializationLib=storage.serde or library,
        parameters={**(sd.serdeInfo.parameters or {}), **dict(storage.properties)},
    )
    return replace(table, sd=replace(sd, inputFormat=input, outputFormat=output, serdeInfo=serde))


# --- Spark ----------------------------------------------------------------------------------------------------


def is_for_spark(statement: CreateTable) -> bool:
    """Whether a table is stored as Spark's data source table."""
    return statement.provider is not None and statement.provider.lower() != HIVE_PROVIDER


def spark_tables(statement: CreateTable, name: TableName, owner: str | None, directory: str) -> list[Table]:
    """The forms in which Spark's catalog stores a table: the second is for a server that refuses the first.

    `directory` is the location of the database. Raises InvalidInputException.
    """
    provider = (statement.provider or "").lower()
    if provider in OTHERS:
        raise InvalidInputException(
            f"a table of {provider} has metadata of its own: create it by Spark with a catalog for {provider}"
        )
    if statement.constraints:
        raise InvalidInputException(
            "a table with USING has no constraints but NOT NULL and DEFAULT: leave the others out, or leave USING out"
        )
    table = _catalog_table(statement, name, owner)
    location = table.storage.location_uri
    if location is None:
        table = table.with_storage(location_uri=default_table_path(directory, normalize(name.table)))
    stored = data_source_table(table)
    specific = spark_specific_form(stored)
    if table.table_type is CatalogTableType.EXTERNAL:
        specific = specific.with_storage(location_uri=location)
    compatible = hive_compatible_form(stored)
    forms = [specific] if compatible is None else [compatible, specific]
    tables = [replace(to_hive_table(form, owner), catName=name.catalog_field) for form in forms]
    for each in tables:
        check_hive_table(each)
    return tables


def _catalog_table(statement: CreateTable, name: TableName, owner: str | None) -> CatalogTable:
    full = str(name)
    options = dict(statement.options)
    path = next((options.pop(key) for key in tuple(options) if key.lower() == "path"), None)
    if path is not None and statement.location is not None:
        raise InvalidInputException(f"{full} has both LOCATION and the option path: leave one of them out")
    location = statement.location or path
    if statement.external and location is None:
        raise InvalidInputException(f"an external table with USING needs LOCATION: {full} has none")
    typed = [each for each in statement.partitioned_by if each.type is not None]
    if typed and len(typed) != len(statement.partitioned_by):
        raise InvalidInputException(f"either all partition columns of {full} have types, or none of them")
    fields = [_spark_field(each, full) for each in (*statement.columns, *typed)]
    if not fields:
        raise InvalidInputException(f"table {full} needs at least one column, such as (id BIGINT)")
    schema = StructType(tuple(fields))
    by_name = {each.name.lower(): each.name for each in fields}
    unknown = [each.name for each in statement.partitioned_by if each.name.lower() not in by_name]
    if unknown:
        raise InvalidInputException(f"{full} is to be partitioned by {unknown[0]}, which is not a column of it")
    keys = tuple(by_name[each.name.lower()] for each in statement.partitioned_by)
    buckets = None
    if statement.buckets is not None:
        if any(each.startswith("-") for each in statement.buckets.sorted_by):
            raise InvalidInputException(f"buckets of a table with USING are sorted upwards: leave DESC out of {full}")
        buckets = BucketSpec(statement.buckets.number, statement.buckets.columns, statement.buckets.sorted_by)
    table = CatalogTable(
        identifier=TableIdentifier(name.table, name.database),
        table_type=CatalogTableType.MANAGED if location is None else CatalogTableType.EXTERNAL,
        storage=CatalogStorage(location_uri=None if location is None else canonical(location), properties=options),
        schema=reordered(with_declared_as_string(schema), keys),
        provider=statement.provider,
        partition_column_names=keys,
        bucket_spec=buckets,
        owner=owner or "",
        create_version=SPARK_VERSION,
        properties=_properties(statement.properties),
        comment=statement.comment,
        tracks_partitions_in_catalog=bool(keys),
    )
    makers.check_columns(full, tuple(FieldSchema(each.name) for each in fields), ())
    return table


def _spark_field(column: Column, full: str) -> StructField:
    try:
        data_type = parse_data_type(column.type or "")
    except ConversionError as error:
        raise InvalidInputException(f"column {column.name} of {full}: {error}") from None
    metadata: dict[str, Any] = {"comment": column.comment} if column.comment is not None else {}
    if column.default is not None:
        metadata |= {CURRENT_DEFAULT: column.default, EXISTS_DEFAULT: column.default}
    return StructField(column.name, data_type, not column.not_null, metadata)


# --- views ----------------------------------------------------------------------------------------------------


def view_table(
    statement: CreateView,
    name: TableName,
    columns: tuple[FieldSchema, ...],
    selected: Iterable[str],
    current: str,
    owner: str | None,
) -> Table:
    """A view. `selected` are the names of the columns in its query, which are looked up in the database `current`."""
    full = str(name)
    makers.check_columns(full, columns, ())
    made = makers.table(name, columns, comment=statement.comment, properties=_properties(statement.properties))
    sd = made.sd
    assert sd is not None and sd.serdeInfo is not None
    serde = replace(sd.serdeInfo, serializationLib=VIEW.serde)
    return replace(
        made,
        owner=owner,
        ownerType=PrincipalType.USER if owner is not None else None,
        sd=replace(sd, inputFormat=VIEW.input, outputFormat=VIEW.output, serdeInfo=serde),
        parameters={**(made.parameters or {}), **_view_parameters(tuple(selected), current)},
        viewOriginalText=statement.query,
        viewExpandedText=statement.query,
        tableType=kinds.VIEW,
    )


def _view_parameters(columns: tuple[str, ...], current: str) -> Mapping[str, str]:
    """Where Spark looks up the names of the query, and the columns that the query has."""
    parameters = {
        f"{CATALOG_AND_NAMESPACE}numParts": "2",
        f"{CATALOG_AND_NAMESPACE}part.0": SESSION_CATALOG,
        f"{CATALOG_AND_NAMESPACE}part.1": current,
        f"{QUERY_OUTPUT}numCols": str(len(columns)),
    }
    return parameters | {f"{QUERY_OUTPUT}col.{at}": each for at, each in enumerate(columns)}


def materialized_table(
    statement: CreateMaterializedView,
    name: TableName,
    columns: tuple[FieldSchema, ...],
    used: Iterable[TableName],
    owner: str | None,
) -> Table:
    """A materialized view without rows, in ORC unless it says otherwise, as Hive does; `used` are its tables."""
    table = CreateTable(
        name,
        tuple(Column(each.name or "", each.type, each.comment) for each in columns),
        comment=statement.comment,
        storage=statement.storage or Storage(format="orc"),
        location=statement.location,
        properties=statement.properties,
    )
    metadata = CreationMetadata(
        catName=name.catalog or DEFAULT_CATALOG,
        dbName=normalize(name.database),
        tblName=normalize(name.table),
        tablesUsed=frozenset(f"{normalize(each.database)}.{normalize(each.table)}" for each in used),
    )
    return replace(
        hive_table(table, name, owner),
        viewOriginalText=statement.query,
        viewExpandedText=statement.query,
        rewriteEnabled=False,
        tableType=kinds.MATERIALIZED_VIEW,
        creationMetadata=metadata,
    )
