"""The number of rows and a checksum of a DataFrame that does not depend on their order.

The checksum is the sum of xxhash64 over all columns of each row, modulo 2^64. It is added up in two halves: the sum of
64-bit numbers would overflow, and decimals are slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_LOW: Final = 0xFFFFFFFF
_MODULUS: Final = 1 << 64


class Checksum(NamedTuple):
    """Of a table, or of a part of it."""

    rows: int
    value: int

    def __add__(self, other: object) -> Checksum:
        assert isinstance(other, Checksum)
        return Checksum(self.rows + other.rows, (self.value + other.value) % _MODULUS)

    @property
    def text(self) -> str:
        return f"{self.value:016x}"


NOTHING: Final = Checksum(0, 0)


def aggregates(schema: StructType) -> list[Column]:
    """The columns from which `checksum_of` makes a checksum."""
    from pyspark.sql import functions as F

    row = F.xxhash64(*(_hashable(field.name, field.dataType) for field in schema.fields))
    return [
        F.count(F.lit(1)).alias("rows"),
        F.sum(row.bitwiseAND(F.lit(_LOW))).alias("low"),
        F.sum(F.shiftrightunsigned(row, 32)).alias("high"),
    ]


def checksum_of(values: Any) -> Checksum:
    """The checksum of a row, or a mapping, with the aggregates."""
    rows, low, high = int(values["rows"] or 0), int(values["low"] or 0), int(values["high"] or 0)
    return Checksum(rows, ((high << 32) + low) % _MODULUS)


def checksum(frame: DataFrame) -> Checksum:
    """The checksum of a DataFrame, by one pass over it."""
    return checksum_of(frame.agg(*aggregates(frame.schema)).collect()[0])


def _hashable(name: str, type: Any) -> Column:
    """Spark does not hash maps; their entries are in one order before and after a copy."""
    from pyspark.sql import functions as F

    column = F.col(f"`{name.replace('`', '``')}`")
    return F.to_json(F.struct(column)) if _has_map(type) else column


def _has_map(type: Any) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    if isinstance(type, ArrayType):
        return _has_map(type.elementType)
    if isinstance(type, StructType):
        return any(_has_map(field.dataType) for field in type.fields)
    return isinstance(type, (MapType, VariantType))
