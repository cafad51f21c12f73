"""A table, a partition or a database in one line, without the generated structs. Pure.

    table("shop.orders", {"id": "bigint", "price": "decimal(10,2)"}, partitioned_by={"ds": "string"}, format="parquet")
    partition(orders, {"ds": "2024-01-01"})
    database("shop", comment="what we sell")

The result is the struct that the API takes (`metastored.structs`). Arguments that cannot be a table raise
InvalidInputException, which says what is wrong and what would work. Nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from metastored.errors import InvalidInputException
from metastored.hive.generation import Generation
from metastored.hive.names import is_valid_database_name, is_valid_table_name
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model.formats import FileFormat, classes_of
from metastored.model.kinds import EXTERNAL, EXTERNAL_PARAMETER, MANAGED
from metastored.model.names import Name, database_name, table_name
from metastored.model.partitions import PartitionValues, keys_of, values_of
from metastored.wire.generated.common import FieldSchema, Order, PrincipalType, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

Columns = Mapping[str, str | Sequence[str | None]] | Iterable[FieldSchema]
"""Columns as callers may write them: name to type, or name to (type, comment); or Hive's own structs."""

Buckets = tuple[str | Sequence[str], int]
"""The columns whose values choose the bucket, and the number of buckets: `("id", 16)`."""

_NEWEST: Final = Generation.HIVE_4_2


def table(
    name: Name,
    columns: Columns,
    *,
    partitioned_by: Columns | None = None,
    format: str = "parquet",
    location: str | None = None,
    comment: str | None = None,
    properties: Mapping[str, str] | None = None,
    external: bool = False,
    owner: str | None = None,
    bucketed_by: Buckets | None = None,
    sorted_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> Table:
    """A table to be created: `client.create_table(metastored.table("shop.orders", {"id": "bigint"}))`.

    `columns` and `partitioned_by` map names to Hive's types, or to (type, comment). `format` is parquet, orc, avro,
    textfile, csv, json, sequencefile or rcfile. `properties` are the table's parameters, `options` those of its serde.
    `bucketed_by=("id", 16)` has 16 buckets by id; `sorted_by` are columns in ascending order (`"-ts"` descending).
    Without `location` the server chooses one; `external` tables keep their data when they are dropped.
    """
    qualified = table_name(name)
    full = str(qualified)
    _check_name(full, "table", is_valid_table_name(qualified.table, _NEWEST))
    _check_name(full, "database", is_valid_database_name(qualified.database, _NEWEST))
    fields = fields_of(columns, full)
    keys = fields_of(partitioned_by or {}, full)
    check_columns(full, fields, keys)
    known = {(field.name or "").lower() for field in fields}
    bucketed, count = _buckets(full, bucketed_by, known)
    sd = replace(
        storage(fields, classes_of(format), options or {}),
        location=location,
        numBuckets=count,
        bucketCols=bucketed,
        sortCols=_sorted(full, sorted_by, known),
    )
    parameters = parameters_of(properties or {}, comment, full)
    if external:
        parameters[EXTERNAL_PARAMETER] = "TRUE"
    return Table(
        tableName=qualified.table,
        dbName=qualified.database,
        owner=owner,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=sd,
        partitionKeys=keys,
        parameters=parameters,
        tableType=EXTERNAL if external else MANAGED,
        catName=qualified.catalog_field,
    )


def partition(
    table: Table,
    values: PartitionValues,
    *,
    location: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> Partition:
    """A partition of a table, to be added: `metastored.partition(orders, {"ds": "2024-01-01"})`.

    `values` are a dict, a name (`"ds=2024-01-01/h=1"`) or a list in the order of the keys. Columns and format are the
    table's. Without `location` the server uses the directory `ds=2024-01-01/h=1` below the table's.
    """
    if not isinstance(table, Table):
        raise InvalidInputException(
            f"the table of a partition has to be a Table, not {table!r}: client.table(…) or metastored.table(…)"
        )
    full = f"{table.dbName}.{table.tableName}"
    if not table.partitionKeys:
        raise InvalidInputException(f"{full} has no partition keys: make it with partitioned_by={{…}}")
    return Partition(
        values=values_of(full, keys_of(table), values),
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=0,
        lastAccessTime=0,
        sd=replace(table.sd or StorageDescriptor(), location=location),
        parameters=parameters_of(properties or {}, None, full),
        catName=table.catName,
    )


def with_columns(table: Table, columns: Columns) -> Table:
    """The table with columns added after its own. Raises InvalidInputException where one exists already."""
    full = f"{table.dbName}.{table.tableName}"
    sd = table.sd or StorageDescriptor()
    added = fields_of(columns, full)
    if not added:
        raise InvalidInputException(f"no columns to add to {full} were given")
    cols = (*(sd.cols or ()), *added)
    check_columns(full, cols, table.partitionKeys or ())
    return replace(table, sd=replace(sd, cols=cols))


def database(
    name: str,
    *,
    location: str | None = None,
    comment: str | None = None,
    properties: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> Database:
    """A database to be created: `client.create_database(metastored.database("shop", comment="what we sell"))`."""
    qualified = database_name(name)
    _check_name(str(qualified), "database", is_valid_database_name(qualified.database, _NEWEST))
    return Database(
        name=qualified.database,
        description=comment,
        locationUri=location,
        parameters=parameters_of(properties or {}, None, str(qualified)),
        ownerName=owner,
        ownerType=PrincipalType.USER if owner is not None else None,
        catalogName=qualified.catalog_field,
    )


# --- the parts, for code with its own descriptions of tables ------------------------------------------------


def fields_of(columns: Columns, table: str) -> tuple[FieldSchema, ...]:
    """Columns as Hive's structs. Raises InvalidInputException for a type that Hive does not have."""
    entries: object = columns
    if isinstance(entries, Mapping):
        return tuple(_field(name, type, table) for name, type in entries.items())
    if isinstance(entries, Iterable) and not isinstance(entries, str):
        fields = tuple(entries)
        if all(isinstance(field, FieldSchema) for field in fields):
            return fields
    raise InvalidInputException(f'the columns of {table} are a dict, such as {{"id": "bigint"}}, not {columns!r}')


def _field(name: object, column: object, table: str) -> FieldSchema:
    if isinstance(column, tuple) and len(column) == 2:
        type, comment = column
    else:
        type, comment = column, None
    if not isinstance(name, str) or not name:
        raise InvalidInputException(f"a column of {table} has the name {name!r}: a name is a text that is not empty")
    if not isinstance(type, str):
        raise InvalidInputException(
            f'column {name} of {table} has the type {type!r}: write "bigint", or ("bigint", "a comment")'
        )
    return FieldSchema(name, _type(type, f"column {name} of {table}"), comment)


def _type(written: str, what: str) -> str:
    """A type as Hive writes it: without blanks around signs, and in small letters."""
    try:
        return str(read_type(written))
    except TypeSyntaxError as error:
        known = _ALIASES.get(written.strip().lower())
        hint = f"; Hive's word for it is {known}" if known else ""
        raise InvalidInputException(
            f"{what} has the type {written!r}, which Hive does not have: {error}{hint}"
        ) from None


_ALIASES: Final = {
    "bool": "boolean", "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "real": "float",
    "numeric": "decimal", "number": "decimal(38,0)", "str": "string", "text": "string", "bytes": "binary",
    "varchar": "varchar(255) or string", "char": "char(10) or string", "list": "array<…>", "dict": "map<…,…>",
    "timestamptz": "timestamp with local time zone", "timestamp_ntz": "timestamp",
}  # fmt: skip
"""The names of Hive's types in other systems."""


def storage(columns: tuple[FieldSchema, ...], classes: FileFormat, options: Mapping[str, str]) -> StorageDescriptor:
    """The storage descriptor of a table with these columns and this format, without a location."""
    return StorageDescriptor(
        cols=columns,
        inputFormat=classes.input,
        outputFormat=classes.output,
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(serializationLib=classes.serde, parameters={"serialization.format": "1", **options}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )


def parameters_of(properties: Mapping[str, str], comment: str | None, name: str) -> dict[str, str]:
    """The parameters of an object, with its comment. Raises InvalidInputException for values that are not text."""
    for key, value in properties.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidInputException(f"the property {key!r} of {name} is {value!r}: names and values are texts")
    return {**properties, **({"comment": comment} if comment else {})}


def _check_name(full: str, what: str, valid: bool) -> None:
    if not valid:
        raise InvalidInputException(
            f"{full!r} has a {what} name that no Hive takes: use letters, digits and _ (Hive 4 takes most ASCII signs)"
        )


def check_columns(full: str, fields: tuple[FieldSchema, ...], keys: tuple[FieldSchema, ...]) -> None:
    """Raises InvalidInputException for a table without columns, and for two columns of one name in any case."""
    if not fields:
        raise InvalidInputException(f'table {full} needs at least one column, such as {{"id": "bigint"}}')
    seen: set[str] = set()
    for field in (*fields, *keys):
        name = (field.name or "").lower()
        if name in seen:
            raise InvalidInputException(
                f"table {full} has the column {name} twice: case does not count, a partition key is a column too"
            )
        seen.add(name)


def _buckets(full: str, buckets: Buckets | None, known: set[str]) -> tuple[tuple[str, ...], int]:
    if buckets is None:
        return (), -1
    if not isinstance(buckets, tuple) or len(buckets) != 2 or not isinstance(buckets[1], int) or buckets[1] < 1:
        raise InvalidInputException(f'bucketed_by of {full} is {buckets!r}: write the columns and a number, ("id", 16)')
    columns = (buckets[0],) if isinstance(buckets[0], str) else tuple(buckets[0])
    _check_known(full, "bucketed", columns, known)
    return columns, buckets[1]


def _sorted(full: str, columns: Sequence[str], known: set[str]) -> tuple[Order, ...]:
    terms = (columns,) if isinstance(columns, str) else tuple(columns)
    _check_known(full, "sorted", tuple(term.lstrip("-") for term in terms), known)
    return tuple(Order(term.lstrip("-"), 0 if term.startswith("-") else 1) for term in terms)


def _check_known(full: str, how: str, columns: tuple[str, ...], known: set[str]) -> None:
    missing = [column for column in columns if column.lower() not in known]
    if missing:
        raise InvalidInputException(
            f"table {full} is to be {how} by {', '.join(missing)}, which is not a column of it; "
            f"its columns are {', '.join(sorted(known))}"
        )
