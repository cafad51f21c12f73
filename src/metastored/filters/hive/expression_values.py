"""Values of Hive's types in expressions on partition keys: read from text, converted, compared.

A value is None (Hive's NULL), or Python's own of that kind: str, int, float, Decimal, bool, date. A timestamp is a
text with nine digits of a fraction, so that texts compare as moments do. Conversions are those of Hive's partition
pruning, with its quirks; an unknown one raises `NoConversion` and is never guessed. No time zone is read
here except the process's own, as Hive does.
"""

import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Final

from metastored.filters.hive.kryo import SqlDate, SqlTimestamp, UnreadableExpression
from metastored.hive.generation import Generation


class NoConversion(UnreadableExpression):
    """Two types whose conversion in Hive is not known here."""


Convert = Callable[[Any], Any]

STRINGS: Final = frozenset({"string", "varchar", "char"})
MOMENTS: Final = frozenset({"date", "timestamp"})
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
NUMBERS: Final = (*_BITS, "decimal", "float", "double")
"""Two numbers of different types are compared in the type that comes later here."""


def category(type_text: str) -> str:
    """The type without its parameters."""
    return type_text.partition("(")[0].strip()


# --- values of partition keys ---------------------------------------------------------------------------------


def reader(type_text: str, generation: Generation) -> Convert:
    """The value of a key from the text in a partition's name; None if the text is not such a value."""
    match category(type_text):
        case "string":
            return lambda text: text
        case "varchar":
            longest = _parameters(type_text)[0]
            return lambda text: text[:longest]
        case "char":
            longest = _parameters(type_text)[0]
            return lambda text: text[:longest].rstrip(" ")
        case "boolean" if generation < Generation.HIVE_3_1:
            return lambda text: text != ""
        case "boolean":
            return lambda text: text.lower() not in _FALSE
        case "decimal":
            return _decimal_of(type_text)
        case "date" if generation >= Generation.HIVE_4_0:
            return _strict_date_of
        case kind if kind in _READERS:
            return _READERS[kind]
    raise NoConversion(f"the type {type_text} of a partition key is not understood")


_FALSE: Final = frozenset({"", "false", "no", "off", "0"})
_INTEGER = re.compile("[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?)")
_MOMENT = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]+))?)?")


def _parameters(type_text: str) -> list[int]:
    return [int(number) for number in re.findall("[0-9]+", type_text)] or [10, 0]


def _in_range(number: int, bits: int) -> int | None:
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def wrapped(number: int, bits: int) -> int:
    """The lowest bits of a number, as Java's casts keep them."""
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _integer_of(kind: str) -> Convert:
    """Small integers are read as an int of which the lowest bits count."""
    bits = _BITS[kind]

    def read(text: str) -> int | None:
        number = int(text) if _INTEGER.fullmatch(text) else None
        if number is None or _in_range(number, max(bits, 32)) is None:
            return None
        return wrapped(number, bits)

    return read


def _float_of(text: str) -> float | None:
    """The numbers that Java's parseDouble accepts, except hexadecimal ones."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    return float(text if text[-1] in "Ny" else text.rstrip("dDfF"))


def single(number: float) -> float:
    """The nearest number of 32 bits."""
    try:
        rounded: float = struct.unpack(">f", struct.pack(">f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded


def _single_of(text: str) -> float | None:
    number = _float_of(text)
    return None if number is None else single(number)


def _decimal_of(type_text: str) -> Convert:
    """Rounded to its scale; None if there are too many digits before the point, or it is not a number."""
    precision, scale = (*_parameters(type_text), 0)[:2]
    unit = Decimal(1).scaleb(-scale)

    def read(value: str | int | Decimal) -> Decimal | None:
        try:
            number = Decimal(value.strip() if isinstance(value, str) else value)
            if not number.is_finite() or number.adjusted() >= 38:
                return None
            number = number.quantize(unit, ROUND_HALF_UP)
        except InvalidOperation:
            return None
        return number if abs(number) < Decimal(10) ** (precision - scale) else None

    return read


def _date_of(text: str) -> date | None:
    """A day of up to 31 beyond the end of its month continues into the next, as in Java."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = map(int, match.group(1, 2, 3))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    try:
        return date(year, month, 1) + timedelta(days=day - 1)
    except (ValueError, OverflowError):
        return None


def _strict_date_of(text: str) -> date | None:
    """Since Hive 4 a day that its month does not have is not a date."""
    parsed = _date_of(text)
    match = _MOMENT.fullmatch(text.strip())
    return parsed if parsed is not None and match is not None and parsed.day == int(match[3]) else None


def _timestamp_of(text: str) -> str | None:
    day = _date_of(text)
    match = _MOMENT.fullmatch(text.strip())
    if day is None or match is None:
        return None
    hour, minute, second = (int(part or 0) for part in match.group(4, 5, 6))
    if hour > 23 or minute > 59 or second > 59:
        return None
    return f"{day.isoformat()} {hour:02}:{minute:02}:{second:02}.{(match[7] or '')[:9]:0<9}"


_READERS: dict[str, Convert] = {
    **{kind: _integer_of(kind) for kind in _BITS},
    "double": _float_of,
    "float": _single_of,
    "date": _date_of,
    "timestamp": _timestamp_of,
}


# --- constants ------------------------------------------------------------------------------------------------

_VALUES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(STRINGS, (str,)),
    **dict.fromkeys(_BITS, (int,)),
    **dict.fromkeys(("float", "double"), (float,)),
    "decimal": (Decimal,),
    "boolean": (bool,),
    "date": (date, SqlDate),
    "timestamp": (str, SqlTimestamp),
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400_000


def constant(type_text: str, value: Any) -> Any:
    """The value of a literal: of Hive 2.3's dates the day or the text, of a char without trailing spaces."""
    kind = category(type_text)
    if value is not None and type(value) not in _VALUES.get(kind, ()):
        raise UnreadableExpression(f"a {type(value).__name__} is not a value of the type {type_text}")
    if isinstance(value, SqlDate):
        return _day_of(value.millis)
    if isinstance(value, SqlTimestamp):
        if not 0 <= value.nanos < 10**9:
            raise UnreadableExpression(f"a timestamp has {value.nanos} nanoseconds")
        return f"{_local(value.millis // 1000 * 1000):%Y-%m-%d %H:%M:%S}.{value.nanos:09}"
    if isinstance(value, str) and kind == "char":
        return value.rstrip(" ")
    return value


def _local(millis: int) -> datetime:
    try:
        return (_EPOCH + timedelta(milliseconds=millis)).astimezone()
    except (OverflowError, ValueError, OSError):
        raise UnreadableExpression(f"the moment {millis} is out of range") from None


def _day_of(millis: int) -> date:
    """The day that begins then in the time zone of this process, or else in the zone that is nearest to UTC.

    Twelve hours from UTC, and beyond, two zones begin different days at the same moment.
    """
    local = _local(millis)
    if local.time() == local.time().min:
        return local.date()
    since_midnight = millis % _DAY
    if 10 * _DAY <= 24 * since_midnight <= 12 * _DAY:
        raise UnreadableExpression(
            f"the date that begins at {millis} ms may be one of two: "
            "its time zone is far from UTC, and not that of this server"
        )
    return (_EPOCH + timedelta(milliseconds=millis + _DAY // 2)).date()


# --- comparing ------------------------------------------------------------------------------------------------


def common_type(one: str, other: str) -> str:
    """The type in which values of two types are compared."""
    kinds = {category(one), category(other)}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds <= STRINGS:
        return "string"
    if kinds == MOMENTS:
        return "timestamp"
    if kinds & STRINGS and kinds & MOMENTS:
        return (kinds & MOMENTS).pop()
    if kinds <= set(NUMBERS):
        return max(kinds, key=NUMBERS.index)
    if kinds <= {*STRINGS, *NUMBERS}:
        return "double"
    raise NoConversion(f"how Hive compares {one} with {other} is not known here")


def to_compare(source: str, target: str) -> Convert:
    """Converts a value of one type to the type it is compared in; both are categories."""
    if source == target or (source in STRINGS and target == "string") or (source in _BITS and target in _BITS):
        return lambda value: value
    if source in STRINGS and target in ("double", "date", "timestamp"):
        return _READERS[target]
    if source == "date" and target == "timestamp":
        return lambda value: f"{value.isoformat()} 00:00:00.000000000"
    if source in NUMBERS and target == "double":
        return float
    if source in NUMBERS and target == "float":
        return lambda value: single(float(value))
    if source in _BITS and target == "decimal":
        return Decimal
    raise NoConversion(f"how Hive converts {source} to {target} is not known here")


def order(kind: str) -> Convert:
    """The sort key of a value: NaN is above all numbers, and equal to itself."""
    if kind in ("float", "double"):
        return lambda value: (value != value, 0.0 if value != value else value)
    return lambda value: value


# --- casts ----------------------------------------------------------------------------------------------------

_CAST_INTEGER = re.compile(r"([+-]?[0-9]{1,40})(?:\.[0-9]*)?")
_CASTS: Final = {
    "UDFToByte": "tinyint",
    "UDFToShort": "smallint",
    "UDFToInteger": "int",
    "UDFToLong": "bigint",
}


def cast(function: str, source: str, target: str, generation: Generation) -> Convert:
    """The conversion that a function makes of a value of the category `source`; `target` is its complete type."""
    if function in _CASTS and source in STRINGS:
        return _cast_to_integer(_BITS[_CASTS[function]], generation)
    if function in _CASTS and source in _BITS:
        bits = _BITS[_CASTS[function]]
        return lambda value: wrapped(value, bits)
    if function == "UDFToDouble" and source in (*STRINGS, *NUMBERS):
        return to_compare(source, "double")
    if function in ("UDFToString", "GenericUDFToString") and source in (*STRINGS, *_BITS, "date"):
        return str
    if function == "GenericUDFToDate" and source in (*STRINGS, "date"):
        return to_compare(source, "date")
    if function == "GenericUDFToDecimal" and source in (*STRINGS, *_BITS, "decimal"):
        return _decimal_of(target)
    raise NoConversion(f"the function {function} on {source} is not understood")


def _cast_to_integer(bits: int, generation: Generation) -> Convert:
    """The fraction is cut off; from Hive 3 on spaces around the number are ignored."""

    def convert(text: str) -> int | None:
        match = _CAST_INTEGER.fullmatch(text.strip() if generation >= Generation.HIVE_3_1 else text)
        return None if match is None else _in_range(int(match[1]), bits)

    return convert
