"""The minimum and maximum of a column in Spark's statistics: values to texts, and back. Pure.

Texts of version 2 are in UTC; those of version 1, of Spark 2.3 and before, in the time zone of the session.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Final

from metastored.errors import ConversionError, SparkCatalogError
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.types import AtomicType, CharType, DataType, DecimalType, StringType, VarcharType

Bound = bool | int | float | Decimal | date | datetime
_BITS: Final = {"byte": 8, "short": 16, "integer": 32, "long": 64}


def from_external_string(
    text: str, column: str, type: DataType, version: int = 2, time_zone: tzinfo = UTC
) -> Bound | None:
    """Spark's fromExternalString: the value; None for strings and binaries, whose bounds Spark ignores.

    Raises SparkCatalogError for types without bounds, and ConversionError for a text that is not a value of the type.
    """
    try:
        match type:
            case StringType() | CharType() | VarcharType() | AtomicType("binary"):
                return None
            case AtomicType("boolean"):
                return {"true": True, "false": False}[text.lower()]
            case AtomicType("byte" | "short" | "integer" | "long" as name):
                return _integer(text, _BITS[name])
            case AtomicType("float" | "double"):
                return float(text)
            case DecimalType():
                return Decimal(text)
            case AtomicType("date"):
                return date.fromisoformat(text)
            case AtomicType("timestamp"):
                return datetime.fromisoformat(text).replace(tzinfo=time_zone if version == 1 else UTC)
            case AtomicType("timestamp_ntz"):
                return datetime.fromisoformat(text)
    except (ValueError, KeyError, InvalidOperation) as error:
        raise ConversionError(
            f"{text!r} is not a value of the column {column!r}, a {catalog_string(type)}: its statistics are broken"
        ) from error
    raise SparkCatalogError(
        "_LEGACY_ERROR_TEMP_1089",
        f"Column statistics deserialization is not supported for column {column} of data type: {catalog_string(type)}.",
    )


def to_external_string(value: Bound, column: str, type: DataType) -> str:
    """Spark's toExternalString: the text of version 2.

    Raises SparkCatalogError for types without bounds, strings and binaries among them.
    """
    match type, value:
        case AtomicType("boolean"), bool():
            return str(value).lower()
        case AtomicType("byte" | "short" | "integer" | "long"), int():
            return str(value)
        case AtomicType("float" | "double"), int() | float():
            return repr(float(value))
        case DecimalType(), Decimal():
            return str(value)
        case AtomicType("timestamp" | "timestamp_ntz"), datetime():
            return _utc(value).isoformat(" ", "microseconds")
        case AtomicType("date"), date():
            return value.isoformat()
    raise SparkCatalogError(
        "_LEGACY_ERROR_TEMP_1090",
        f"Column statistics serialization is not supported for column {column} of data type: {catalog_string(type)}, "
        f"with the value {value!r}.",
    )


def _integer(text: str, bits: int) -> int:
    number = int(text)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{text} has more than {bits} bits")
    return number


def _utc(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
