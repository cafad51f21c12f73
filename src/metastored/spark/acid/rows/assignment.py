"""Values that are assigned to columns, by the rules of `spark.sql.storeAssignmentPolicy`, as Spark's INSERT has them.

Under ANSI, the default, Spark itself decides: `DataFrame.to` allows the same casts as an INSERT, and they raise an
error for a value that does not fit, whatever `spark.sql.ansi.enabled` is. STRICT allows only casts that lose nothing.
LEGACY casts everything that can be cast. A type that is not allowed raises AnalysisException with the error of Spark's
INSERT. No rows are read here.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NumericType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from metastored.hive.quoting import backquoted
from metastored.model.names import TableName
from metastored.spark.session_metastore import is_local

POLICY: Final = "spark.sql.storeAssignmentPolicy"
ANSI, STRICT, LEGACY = "ANSI", "STRICT", "LEGACY"
_REFUSED: Final = "INVALID_COLUMN_OR_FIELD_DATA_TYPE"
"""The error of `DataFrame.to` for a cast that is not allowed."""
_NUMBERS: Final = (ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType)
"""The types of numbers, each of which holds the values of those before it."""
_DIGITS: Final[dict[type[DataType], int]] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 20}
"""The digits of decimals that hold all values of a type."""


def assigned(frame: DataFrame, schema: StructType, table: TableName) -> DataFrame:
    """The DataFrame with the columns of `schema`, which it has by their names, cast to their types.

    Fields of structs are matched by their names where both sides have the same names, and else by their position.
    Raises AnalysisException if the policy of the session does not allow a cast.
    """
    columns = frame.schema
    if _has_columns(columns, schema):
        return frame
    policy = (frame.sparkSession.conf.get(POLICY, ANSI) or ANSI).upper()
    given = {field.name.lower(): field.dataType for field in columns}
    types = {field.name: given[field.name.lower()] for field in schema}
    if policy == STRICT:
        for field in schema:
            wrong = _loss(types[field.name], field.dataType, field.name)
            if wrong is not None:
                raise _refused(table, *wrong)
    named = [_named(_column(each.name), types[each.name], each) for each in schema]
    if policy != ANSI:
        ordered = StructType([StructField(each.name, _ordered(types[each.name], each.dataType)) for each in schema])
        frame = frame.select(*named).to(ordered)
        values = [_column(each.name) for each in schema]
        casts = [
            value.cast(each.dataType) if policy == STRICT else _legacy(frame.sparkSession, value, each.dataType)
            for value, each in zip(values, schema, strict=True)
        ]
        return frame.select(*(cast.alias(each.name) for cast, each in zip(casts, schema, strict=True)))
    bare = StructType([StructField(each.name, each.dataType) for each in schema])
    try:
        made = frame.select(*named).to(bare)
        if not is_local(frame.sparkSession):
            _ = made.select("*").schema  # With Spark Connect the plan is analyzed only now.
    except AnalysisException as error:
        if error.getCondition() != _REFUSED:
            raise
        given_as = error.getMessageParameters() or {}
        name, type, expected = (given_as.get(key, "") for key in ("name", "type", "expectedType"))
        raise _refused(table, name, type, expected) from error
    return made


def _has_columns(given: StructType, wanted: StructType) -> bool:
    """Whether they are the columns of the schema, with nothing to cast. Only whether they can be null may differ."""
    return len(given) == len(wanted) and all(
        mine.name == other.name and not mine.metadata and mine.dataType.simpleString() == other.dataType.simpleString()
        for mine, other in zip(given, wanted, strict=True)
    )


def _legacy(spark: Any, value: Any, type: DataType) -> Any:
    """A cast that is null or wraps around where a value does not fit, whatever `spark.sql.ansi.enabled` is."""
    if not hasattr(value, "_jc"):
        from pyspark.sql.connect.column import Column
        from pyspark.sql.connect.expressions import CastExpression

        cast = CastExpression(value._expr, type, "legacy")
        return Column(cast)
    from pyspark.sql.classic.column import Column as ClassicColumn

    mode = spark._jvm.java.lang.Class.forName("org.apache.spark.sql.internal.Cast$Legacy$").getField("MODULE$")
    node = value._jc.node()
    made = spark._jvm.org.apache.spark.sql.internal.Cast(
        node,
        spark._jsparkSession.parseDataType(type.json()),
        spark._jvm.scala.Option.apply(mode.get(None)),
        node.origin(),
    )
    return ClassicColumn(spark._jvm.org.apache.spark.sql.Column(made))


def _column(name: str) -> Any:
    return F.col(backquoted(name))


def _named(value: Any, type: DataType, field: StructField) -> Any:
    """The value with the names that the type of the column has in its structs."""
    wanted = _with_names(type, field.dataType)
    return (value if wanted == type else value.cast(wanted)).alias(field.name)


def _with_names(type: DataType, target: DataType) -> DataType:
    """A type with the names of another one in its structs, by position, if it has other names."""
    match type, target:
        case ArrayType(), ArrayType():
            return ArrayType(_with_names(type.elementType, target.elementType), type.containsNull)
        case MapType(), MapType():
            keys, values = _with_names(type.keyType, target.keyType), _with_names(type.valueType, target.valueType)
            return MapType(keys, values, type.valueContainsNull)
        case StructType(), StructType() if len(type) == len(target):
            ours, theirs = [_lower(each.names) for each in (type, target)]
            same = sorted(ours) == sorted(theirs)
            targets = [target[theirs.index(name)] for name in ours] if same else list(target)
            return StructType(
                [
                    StructField(wanted.name, _with_names(each.dataType, wanted.dataType), each.nullable)
                    for each, wanted in zip(type, targets, strict=True)
                ]
            )
    return type


def _ordered(type: DataType, target: DataType) -> DataType:
    """A type with the fields of structs named and ordered as in another one; it has them by name or by position."""
    match type, target:
        case ArrayType(), ArrayType():
            return ArrayType(_ordered(type.elementType, target.elementType))
        case MapType(), MapType():
            return MapType(_ordered(type.keyType, target.keyType), _ordered(type.valueType, target.valueType))
        case StructType(), StructType() if len(type) == len(target):
            named = {each.name.lower(): each.dataType for each in _fields(_with_names(type, target))}
            return StructType(
                [StructField(each.name, _ordered(named[each.name.lower()], each.dataType)) for each in target]
            )
    return type


def _fields(type: DataType) -> list[StructField]:
    assert isinstance(type, StructType)
    return type.fields


def positional(frame: DataFrame, schema: StructType) -> DataFrame:
    """The DataFrame with fields of structs named as in the schema, by their position, as INSERT without names has it.

    It has the columns of the schema by their names.
    """
    columns = []
    for field in frame.schema:
        target = next((each for each in schema if each.name.lower() == field.name.lower()), None)
        wanted = field.dataType if target is None else _by_position(field.dataType, target.dataType)
        value = _column(field.name)
        columns.append((value if wanted == field.dataType else value.cast(wanted)).alias(field.name))
    return frame.select(*columns)


def _by_position(type: DataType, target: DataType) -> DataType:
    match type, target:
        case ArrayType(), ArrayType():
            return ArrayType(_by_position(type.elementType, target.elementType), type.containsNull)
        case MapType(), MapType():
            keys, values = _by_position(type.keyType, target.keyType), _by_position(type.valueType, target.valueType)
            return MapType(keys, values, type.valueContainsNull)
        case StructType(), StructType() if len(type) == len(target):
            return StructType(
                [
                    StructField(wanted.name, _by_position(each.dataType, wanted.dataType), each.nullable)
                    for each, wanted in zip(type, target, strict=True)
                ]
            )
    return type


def _lower(names: list[str]) -> list[str]:
    return [name.lower() for name in names]


# --- STRICT ------------------------------------------------------------------------------------------------


def _loss(type: DataType, target: DataType, path: str) -> tuple[str, str, str] | None:
    """The first cast that could lose something: the column, its type and the expected one."""
    match type, target:
        case ArrayType(), ArrayType():
            return _loss(type.elementType, target.elementType, f"{path}.element")
        case MapType(), MapType():
            return _loss(type.keyType, target.keyType, f"{path}.key") or _loss(
                type.valueType, target.valueType, f"{path}.value"
            )
        case StructType(), StructType() if len(type) == len(target):
            inner = zip(type, target, strict=True)
            losses = (_loss(each.dataType, wanted.dataType, f"{path}.{wanted.name}") for each, wanted in inner)
            return next(filter(None, losses), None)
    if loses_nothing(type, target):
        return None
    quoted = ".".join(f"`{part}`" for part in path.split("."))
    return quoted, *(f'"{each.simpleString().upper()}"' for each in (type, target))  # type: ignore[return-value]


def loses_nothing(type: DataType, target: DataType) -> bool:
    """Whether a cast of a simple type keeps all values: Spark's rule for STRICT, `Cast.canUpCast`."""
    match type, target:
        case _ if type == target:
            return True
        case AtomicType(), StringType():
            return True
        case DecimalType(), DecimalType():
            return target.precision - target.scale >= type.precision - type.scale and target.scale >= type.scale
        case DecimalType(), FloatType() | DoubleType():
            return type.precision <= (7 if isinstance(target, FloatType) else 15)
        case DecimalType(), NumericType():
            return type.scale == 0 and type.precision < _DIGITS.get(target.__class__, 0)
        case NumericType(), DecimalType():
            digits = _DIGITS.get(type.__class__)
            return digits is not None and target.precision - target.scale >= digits
        case NumericType(), NumericType():
            return _NUMBERS.index(type.__class__) <= _NUMBERS.index(target.__class__)
        case DateType() | TimestampNTZType(), TimestampType():
            return True
        case DateType() | TimestampType(), TimestampNTZType():
            return True
        case (TimestampType(), LongType()) | (LongType(), TimestampType()):
            return True
    return False


def _refused(table: TableName, column: str, type: str, expected: str) -> AnalysisException:
    """The error of an INSERT of Spark."""
    name = ".".join(f"`{part}`" for part in (table.database, table.table))
    condition = "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST"
    return AnalysisException(
        f"[{condition}] Cannot write incompatible data for the table {name}: Cannot safely cast {column} {type} to "
        f"{expected}. SQLSTATE: KD000",
        condition,
        {"tableName": name, "colName": column, "srcType": type, "targetType": expected},
    )
