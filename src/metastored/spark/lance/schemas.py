"""Spark's schemas and Arrow's, as Lance stores them and as Spark exchanges them. Imports pyarrow and pyspark late.

Lance has fixed-size lists (vectors), unsigned and half-precision numbers; Spark has none of them. They are read as the
next wider type of Spark. A vector is written where the caller names its length, where the column has Lance's metadata
`arrow.fixed-size-list.size`, and into a table whose column is a vector already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import ConversionError, MissingExtra

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

__all__ = ["VECTOR_SIZE", "arrow", "check_appendable", "conformed", "lance_schema", "spark_schema", "transfer_schema"]

VECTOR_SIZE: Final = "arrow.fixed-size-list.size"
"""The metadata of a column by which Lance's Spark connector marks a vector, with the number of its elements."""
UTC: Final = "UTC"


def arrow() -> Any:
    """The module pyarrow. Raises MissingExtra."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("Lance from Spark", "lance") from None
    return pyarrow


def lance_schema(schema: StructType, vectors: Mapping[str, int]) -> pa.Schema:
    """The schema of a new Lance table for rows of this Spark schema. Raises ConversionError."""
    from pyspark.sql.pandas.types import to_arrow_schema

    pa = arrow()
    sizes = {each.name: int(each.metadata[VECTOR_SIZE]) for each in schema if VECTOR_SIZE in each.metadata} | dict(
        vectors
    )
    unknown = sizes.keys() - set(schema.names)
    if unknown:
        raise ConversionError(f"there is no column {min(unknown)!r} for a vector; there are {', '.join(schema.names)}")
    fields = []
    for field in to_arrow_schema(schema, timezone=UTC):
        size = sizes.get(field.name)
        kind = _exchanged(field.type)
        fields.append(pa.field(field.name, kind if size is None else _vector(field.name, kind, size)))
    return pa.schema(fields)


def _vector(name: str, type: Any, size: int) -> Any:
    pa = arrow()
    if not pa.types.is_list(type) or not pa.types.is_floating(type.value_type):
        raise ConversionError(f"the column {name} is not an array of floats or doubles, so it is not a vector")
    if size < 1:
        raise ConversionError(f"the vector {name} has {size} elements; it must have at least one")
    return pa.list_(pa.field("item", type.value_type), size)


def check_appendable(new: pa.Schema, existing: pa.Schema) -> None:
    """Raises ConversionError if rows of the first schema are not rows of the second: names and types must agree.

    The order of the columns may differ. A list fits into a vector; the length of each is checked when it is written.
    """
    if set(new.names) != set(existing.names) or len(new.names) != len(existing.names):
        raise ConversionError(
            f"the table has the columns {', '.join(existing.names)}; the rows have {', '.join(new.names)}"
        )
    for field in existing:
        sent, stored = _exchanged(new.field(field.name).type), _exchanged(field.type)
        if sent != stored:
            raise ConversionError(f"the column {field.name} is {field.type} in the table and {sent} in the rows")


def spark_schema(schema: pa.Schema) -> StructType:
    """The Spark schema for rows of a Lance table. Raises ConversionError for a type that Spark does not have."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    pa = arrow()
    fields = [pa.field(each.name, _exchanged(each.type)) for each in schema]
    try:
        spark_form: StructType = from_arrow_schema(pa.schema(fields))
    except PySparkTypeError as error:
        raise ConversionError(f"Spark has no type for a column of this table: {error}") from None
    return spark_form


def transfer_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema in which Spark takes rows of this schema."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone=UTC)


def _exchanged(type: Any) -> Any:
    """The Arrow type in which Spark and Lance exchange values of a type of Lance's. As in Spark's own tables, every
    value may be null; keys of maps never are."""
    pa = arrow()
    types = pa.types
    wider = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
        pa.large_string(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.date64(): pa.date32(),
    }
    if type in wider:
        return wider[type]
    if types.is_timestamp(type):
        return pa.timestamp("us", UTC if type.tz is not None else None)
    if types.is_fixed_size_binary(type):
        return pa.binary()
    if types.is_map(type):
        return pa.map_(_exchanged(type.key_type), pa.field("value", _exchanged(type.item_type)))
    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        return pa.list_(pa.field("element", _exchanged(type.value_type)))
    if types.is_struct(type):
        return pa.struct([pa.field(each.name, _exchanged(each.type)) for each in type])
    return type


def conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with exactly this schema: columns by name, their types converted, decimals aligned in memory.

    Spark's Arrow streams align buffers at 8 bytes. Lance needs decimals at 16 bytes and ends the process otherwise, so
    columns with decimals are copied. Raises pyarrow.ArrowInvalid for a value that does not fit, such as a vector of
    another length.
    """
    pa = arrow()
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if column.type != field.type:
            column = column.cast(field.type)
        columns.append(_copied(column) if _has_decimals(field.type) else column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _has_decimals(type: Any) -> bool:
    if arrow().types.is_decimal(type):
        return True
    return any(_has_decimals(type.field(at).type) for at in range(type.num_fields))


def _copied(column: Any) -> Any:
    pa = arrow()
    return column.take(pa.array(range(len(column)), pa.int32()))
