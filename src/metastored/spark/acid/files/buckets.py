"""Hive's bucket of a row as an expression of Spark: the file of a bucketed table that a row belongs to.

Version 2 is Murmur3 with Hive's seed over the bytes of a value, big-endian; version 1 is Java's hash code. Spark's own
`hash` is Murmur3 with another seed. It passes the hash of one argument to the next as a seed, so a first argument whose
hash is Hive's seed gives Hive's hash. Text is different: Spark hashes the last bytes one by one. There the hash of the
complete groups of four bytes is taken back to before its last step, and the rest is added as Hive does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
)

from metastored.errors import NotSupported
from metastored.hive.quoting import backquoted
from metastored.model.spark.types import CharType
from metastored.spark.acid.lengths import declared_type
from metastored.spark.acid.tables import AcidTable

Column = Any
_MASK: Final = 0xFFFFFFFF
_C1, _C2 = 0xCC9E2D51, 0x1B873593
_F1, _F2 = 0x85EBCA6B, 0xC2B2AE35
_SPARK_SEED, _HIVE_SEED = 42, 104729


def bucket_column(table: AcidTable, column: Callable[[str], Column] | None = None) -> Column:
    """The bucket of a row of a bucketed table; `column` returns a column by its name.

    Raises NotSupported for types whose hash is not known here.
    """
    assert table.buckets is not None
    fields = {field.name.lower(): field for field in table.columns}
    total: Column = F.lit(0).cast("bigint")
    for name in table.buckets.columns:
        field = fields[name.lower()]
        value = F.col(backquoted(field.name)) if column is None else column(field.name)
        hashed = _hash(value, field, table)
        total = (total * F.lit(31) + F.coalesce(hashed, F.lit(0).cast("bigint"))).bitwiseAND(F.lit(_MASK))
    return (total.bitwiseAND(F.lit(0x7FFFFFFF)) % F.lit(table.buckets.count)).cast("int")


def _hash(value: Column, field: StructField, table: AcidTable) -> Column:
    """The hash of a value as an unsigned number; null for null."""
    assert table.buckets is not None
    type, declared = field.dataType, declared_type(field)
    if isinstance(declared, CharType):
        value = F.rtrim(value)  # Hive's char ignores the spaces at its end.
    if isinstance(type, (BooleanType, ByteType)):
        return _unsigned(value.cast("int"))
    if table.buckets.version == 1:
        # Hive hashes a string by code of its own, and the other texts by Hadoop's, which starts at 1.
        return _java_hash(value, type, table, first=0 if declared is None else 1)
    if isinstance(type, ShortType):
        return _murmur_of_bytes(F.unhex(F.lpad(F.hex(_low(value.cast("bigint"), 16)), 4, "0")))
    if isinstance(type, IntegerType):
        return _seeded(value, _reversed_int(value))
    if isinstance(type, DateType):
        days = F.unix_date(value)
        return _seeded(value, _reversed_int(days))
    if isinstance(type, LongType):
        return _seeded(value, _reversed_long(value))
    if isinstance(type, (StringType, BinaryType)):
        return _murmur_of_bytes(value.cast("binary"))
    raise _unknown(type, table)


def _unknown(type: DataType, table: AcidTable) -> NotSupported:
    return NotSupported(
        f"{table.name} is bucketed by a column of {type.simpleString()}: rows are added only to tables that are "
        "bucketed by integers, booleans, dates or texts"
    )


def _java_hash(value: Column, type: DataType, table: AcidTable, first: int) -> Column:
    if isinstance(type, (ShortType, IntegerType)):
        return _unsigned(value.cast("int"))
    if isinstance(type, DateType):
        return _unsigned(F.unix_date(value))
    if isinstance(type, LongType):
        return value.bitwiseXOR(F.shiftrightunsigned(value, 32)).bitwiseAND(F.lit(_MASK))
    if isinstance(type, StringType):
        data = value.cast("binary")
        # Bytes are signed numbers in Java.
        places = F.sequence(F.lit(1), F.octet_length(data))

        def step(total: Column, at: Column) -> Column:
            return (total * F.lit(31) + _signed_byte(data, at)).bitwiseAND(F.lit(_MASK))

        start = F.lit(first).cast("bigint")
        return F.when(F.octet_length(data) == 0, start).otherwise(F.aggregate(places, start, step))
    raise _unknown(type, table)


# --- Murmur3 -----------------------------------------------------------------------------------------------


def _seeded(value: Column, argument: Column) -> Column:
    """Murmur3 of a number with Hive's seed; null for null."""
    return F.when(value.isNotNull(), _unsigned(F.hash(F.lit(_FIRST), argument)))


def _murmur_of_bytes(data: Column) -> Column:
    length = F.octet_length(data)
    body_length = length.bitwiseAND(F.lit(~3))
    rest = length - body_length
    body = F.substring(data, F.lit(1), body_length)
    # Back to the state after the groups of four bytes: Spark has mixed in the length, and then the final step.
    state = _in_steps(_unsigned(F.hash(F.lit(_FIRST), body)), _UNMIXED).bitwiseXOR(body_length.cast("bigint"))
    tail: Column = F.lit(0).cast("bigint")
    for at in range(3):
        byte = F.shiftleft(_signed_byte(data, body_length + F.lit(at + 1)), 8 * at)
        tail = tail.bitwiseXOR(F.when(rest > at, byte).otherwise(F.lit(0).cast("bigint")))
    tail = _in_steps(tail.bitwiseAND(F.lit(_MASK)), _TAIL)
    return F.when(data.isNotNull(), _in_steps(state.bitwiseXOR(tail).bitwiseXOR(length.cast("bigint")), _MIXED))


def _in_steps(value: Column, steps: Sequence[Callable[[Column], Column]]) -> Column:
    """Applies functions one after the other. Each of them uses its argument several times.

    Without the variable of a lambda, the expression would double with each use.
    """
    for step in steps:
        value = F.element_at(F.transform(F.array(value), step), 1)
    return value


def _xor_shifted(*by: int) -> Callable[[Column], Column]:
    def step(number: Column) -> Column:
        result = number
        for each in by:
            result = result.bitwiseXOR(F.shiftright(number, each))
        return result

    return step


def _multiplied(factor: int) -> Callable[[Column], Column]:
    return lambda number: _times(number, factor)


_MIXED: Final = (_xor_shifted(16), _multiplied(_F1), _xor_shifted(13), _multiplied(_F2), _xor_shifted(16))
"""The final step of Murmur3."""
_UNMIXED: Final = (
    _xor_shifted(16), _multiplied(pow(_F2, -1, 2**32)), _xor_shifted(13, 26), _multiplied(pow(_F1, -1, 2**32)),
    _xor_shifted(16),
)  # fmt: skip
"""The opposite of the final step."""
_TAIL: Final = (_multiplied(_C1), lambda number: _rotated(number, 15), _multiplied(_C2))
"""How the last bytes are mixed."""


def _times(number: Column, factor: int) -> Column:
    """The low 32 bits of a product: in two halves, so that no product has more than 63 bits."""
    low = number.bitwiseAND(F.lit(0xFFFF)) * F.lit(factor)
    high = (F.shiftright(number, 16) * F.lit(factor)).bitwiseAND(F.lit(0xFFFF))
    return (low + F.shiftleft(high, 16)).bitwiseAND(F.lit(_MASK))


def _rotated(number: Column, by: int) -> Column:
    return F.shiftleft(number, by).bitwiseOR(F.shiftright(number, 32 - by)).bitwiseAND(F.lit(_MASK))


def _unsigned(number: Column) -> Column:
    return number.cast("bigint").bitwiseAND(F.lit(_MASK))


def _low(number: Column, bits: int) -> Column:
    return number.bitwiseAND(F.lit((1 << bits) - 1))


def _signed_byte(data: Column, at: Column) -> Column:
    """The byte at a position, from 1, as a signed number."""
    byte = F.conv(F.hex(F.substring(data, at, F.lit(1))), 16, 10).cast("bigint")
    return F.when(byte > 127, byte - 256).otherwise(byte)


def _reversed_int(number: Column) -> Column:
    value = number.cast("int")
    return (
        F.shiftleft(value, 24)
        .bitwiseOR(F.shiftleft(value.bitwiseAND(F.lit(0xFF00)), 8))
        .bitwiseOR(F.shiftright(value, 8).bitwiseAND(F.lit(0xFF00)))
        .bitwiseOR(F.shiftrightunsigned(value, 24))
    )


def _reversed_long(number: Column) -> Column:
    reversed: Column = F.lit(0).cast("bigint")
    for at in range(8):
        byte = F.shiftrightunsigned(number, 8 * at).bitwiseAND(F.lit(0xFF))
        reversed = reversed.bitwiseOR(F.shiftleft(byte, 56 - 8 * at))
    return reversed


def _first_argument() -> int:
    """The integer whose hash, by Spark with its seed, is Hive's seed: each step of Murmur3 can be taken back."""

    def inverse(factor: int) -> int:
        return pow(factor, -1, 2**32)

    def rotated(number: int, by: int) -> int:
        return (number << by | number >> (32 - by)) & _MASK

    number = _HIVE_SEED
    number ^= number >> 16
    number = number * inverse(_F2) & _MASK
    number ^= number >> 13 ^ number >> 26
    number = number * inverse(_F1) & _MASK
    number ^= number >> 16
    number ^= 4
    number = (number - 0xE6546B64) * inverse(5) & _MASK
    number = rotated(number, 32 - 13) ^ _SPARK_SEED
    number = number * inverse(_C2) & _MASK
    number = rotated(number, 32 - 15) * inverse(_C1) & _MASK
    return number - 2**32 if number >= 2**31 else number


_FIRST: Final = _first_argument()
