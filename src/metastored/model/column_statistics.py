"""One column's statistics: as clients send them, as replies contain them, and two of them merged. Pure.

Timestamps have a kind of their own since Hive 4 and were whole numbers before; they are kept in the new form and
returned in the form that the client knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from metastored.errors import InvalidObjectException
from metastored.hive.statistics import ndv
from metastored.hive.types.decimals import decimal_parts, decimal_value
from metastored.wire.generated.common import (
    BinaryColumnStatsData,
    BooleanColumnStatsData,
    ColumnStatisticsData,
    ColumnStatisticsObj,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
    Timestamp,
    TimestampColumnStatsData,
)
from metastored.wire.structs import names, replace


class Kind(NamedTuple):
    """A member of the union: its field, the field's number, the struct."""

    field: str
    number: int
    struct: type[Any]


KINDS: Final = {
    "boolean": Kind("booleanStats", 1, BooleanColumnStatsData),
    "long": Kind("longStats", 2, LongColumnStatsData),
    "double": Kind("doubleStats", 3, DoubleColumnStatsData),
    "string": Kind("stringStats", 4, StringColumnStatsData),
    "binary": Kind("binaryStats", 5, BinaryColumnStatsData),
    "decimal": Kind("decimalStats", 6, DecimalColumnStatsData),
    "date": Kind("dateStats", 7, DateColumnStatsData),
    "timestamp": Kind("timestampStats", 8, TimestampColumnStatsData),
}


class Column(NamedTuple):
    """One column's statistics, decoded."""

    name: str
    type: str
    kind: str
    data: Any
    """The struct of its kind."""


def column_of(statistics: ColumnStatisticsObj) -> Column:
    """The statistics that a client sent, names in lower case and timestamps in the new form."""
    data = statistics.statsData
    if statistics.colName is None or statistics.colType is None or data is None:
        raise InvalidObjectException("statistics need a column name, a column type and data")
    name, type_ = statistics.colName.lower(), statistics.colType.lower()
    for kind, (field, _, _) in KINDS.items():
        value = getattr(data, field)
        if value is not None:
            if kind == "long" and type_.startswith("timestamp"):
                return Column(name, type_, "timestamp", _as_timestamp(value))
            return Column(name, type_, kind, _shortened(value) if kind == "decimal" else value)
    raise InvalidObjectException(f"the statistics of column {statistics.colName} have no data")


def _shortened(data: DecimalColumnStatsData) -> DecimalColumnStatsData:
    """Decimals with no more bytes than the numbers need, as Hive's database returns them."""
    low, high = (
        None if value is None else Decimal(*decimal_parts(decimal_value(value)))
        for value in (data.lowValue, data.highValue)
    )
    return replace(data, lowValue=low, highValue=high)


def shown(column: Column, *, timestamps: bool) -> ColumnStatisticsObj:
    """The struct for a reply; without `timestamps`, for clients that know them as whole numbers only."""
    kind, data = column.kind, column.data
    if kind == "timestamp" and not timestamps:
        kind, data = "long", _as_long(data)
    return ColumnStatisticsObj(column.name, column.type, ColumnStatisticsData(**{KINDS[kind].field: data}))


def _as_timestamp(data: LongColumnStatsData) -> TimestampColumnStatsData:
    low, high, nulls, distincts, bits, histogram = data
    first, last = (None if value is None else Timestamp(value) for value in (low, high))
    return TimestampColumnStatsData(first, last, nulls, distincts, bits, histogram)


def _as_long(data: TimestampColumnStatsData) -> LongColumnStatsData:
    low, high, nulls, distincts, bits, histogram = data
    return LongColumnStatsData(whole(low), whole(high), nulls, distincts, bits, histogram)


def whole(value: Any) -> Any:
    """A date or a timestamp as the number in its struct."""
    return value[0] if isinstance(value, tuple) else value


def plain_bound(value: Any) -> Any:
    """A lowest or highest value as a number: dates and timestamps as int, decimals as Decimal."""
    return decimal_value(value) if isinstance(value, Decimal) else whole(value)


_COUNTS = ("numNulls", "numDVs", "avgColLen", "maxColLen", "numTrues", "numFalses")


def numbers_of(data: Any) -> tuple[Any, ...]:
    """The bounds, counts and lengths of a column, in the order of the fields of `Gathered`; None for absent ones."""
    low, high = (plain_bound(getattr(data, name, None)) for name in ("lowValue", "highValue"))
    return (low, high, *(getattr(data, name, None) for name in _COUNTS))


def fields_of(data: Any) -> tuple[str, ...]:
    cls: Any = type(data)
    return names(cls)


# --- merging --------------------------------------------------------------------------------------------


def completed(new: Column, old: Column) -> Column:
    """The statistics after an update: fields that it does not set stay as they were."""
    if new.kind != old.kind:
        return new
    missing = {name: getattr(old.data, name) for name in fields_of(new.data) if getattr(new.data, name) is None}
    return new._replace(data=replace(new.data, **missing))


def merged(new: Column, old: Column) -> Column:
    """The statistics of the rows of both; where the kinds differ, the new ones."""
    if new.kind != old.kind:
        return new
    one, other = new.data, old.data
    together: dict[str, Any] = {"numNulls": _added(one.numNulls, other.numNulls)}
    if new.kind == "boolean":
        together |= {name: _added(getattr(one, name), getattr(other, name)) for name in ("numTrues", "numFalses")}
        return new._replace(data=replace(one, **together))
    if new.kind in ("string", "binary"):
        together |= {name: _most(getattr(one, name), getattr(other, name)) for name in ("maxColLen", "avgColLen")}
    else:
        key = decimal_value if new.kind == "decimal" else None
        together["lowValue"] = _chosen(min, key, one.lowValue, other.lowValue)
        together["highValue"] = _chosen(max, key, one.highValue, other.highValue)
        # Two histograms cannot be merged here, and either alone would cover only half of the rows.
        together["histogram"] = one.histogram or other.histogram if not (one.histogram and other.histogram) else None
    if new.kind != "binary":
        together |= _distincts(one, other)
    return new._replace(data=replace(one, **together))


def _distincts(one: Any, other: Any) -> dict[str, Any]:
    """The number of distinct values of both, through their bit vectors where that is possible."""
    highest = _most(one.numDVs, other.numDVs)
    mine, theirs = ndv.read(one.bitVectors), ndv.read(other.bitVectors)
    if mine is None and theirs is not None:
        return {"numDVs": _most(one.numDVs, theirs.estimate()), "bitVectors": other.bitVectors}
    if mine is None or theirs is None:
        return {"numDVs": highest}
    both = ndv.pair(mine, theirs)
    if both is None:
        return {"numDVs": highest}
    return {"numDVs": both.estimate(), "bitVectors": both.serialize()}


def _added(one: int | None, other: int | None) -> int:
    return (one or 0) + (other or 0)


def _most(one: Any, other: Any) -> Any:
    return _chosen(max, None, one, other)


def _chosen(choose: Callable[..., Any], key: Callable[[Any], Any] | None, one: Any, other: Any) -> Any:
    present = [value for value in (one, other) if value is not None]
    return choose(present, key=key) if present else None
