"""The statistics of a column over many partitions, as Hive estimates them. Pure functions.

Lowest, highest and longest values and sums are exact when every partition has statistics. Where some have none, Hive
extrapolates: sums are scaled up, and lowest and highest values are continued on a straight line along the order in
which the partitions were asked for. How many distinct values there are cannot be known from the partitions' numbers:
at least as many as in the fullest one, at most their sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from skep.hive import ndv
from skep.hive.decimals import decimal_parts, decimal_value
from skep.hive.ndv import Estimation
from skep.metastore.statistics_data import Column
from skep.store.column_statistics import Totals
from skep.wire.generated.common import (
    BinaryColumnStatsData,
    BooleanColumnStatsData,
    Date,
    DateColumnStatsData,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
    Timestamp,
    TimestampColumnStatsData,
)
from skep.wire.generated.common import Decimal as ThriftDecimal
from skep.wire.structs import replace

_LARGEST = 2**63 - 1


class _Summary(NamedTuple):
    """What the partitions of a column have together."""

    low: Any = None
    high: Any = None
    nulls: int = 0
    most_distincts: int = 0
    all_distincts: int = 0
    average_length: float = 0.0
    max_length: int = 0
    trues: int = 0
    falses: int = 0
    density: float | None = None


class Placed(NamedTuple):
    """One partition's statistics of a column, and where the partition stands among those asked for."""

    place: float
    column: Column


def of_totals(totals: Totals, how: Estimation) -> Column:
    """From what the database aggregated, for a column that needs no extrapolation and is not of decimals."""
    double = totals.kind == "double"
    summary = _Summary(
        low=totals.double_low if double else totals.low,
        high=totals.double_high if double else totals.high,
        nulls=totals.nulls or 0,
        most_distincts=totals.most_distincts or 0,
        all_distincts=totals.all_distincts or 0,
        average_length=totals.average_length or 0.0,
        max_length=totals.max_length or 0,
        trues=totals.trues or 0,
        falses=totals.falses or 0,
        density=totals.double_density if double else totals.density,
    )
    return _finished(Column(totals.column_name, totals.type, totals.kind, None), summary, how)


def of_partitions(placed: Sequence[Placed], wanted: int, how: Estimation) -> Column:
    """From the partitions themselves, of which there are `wanted`; extrapolated if some have no statistics.

    All are of one kind. They come in the order of their names, which decides where values are equal.
    """
    first = placed[0].column
    columns = [one.column for one in placed]
    sketch = _sketch(columns) if how.bit_vectors else None
    if 2 <= len(placed) < wanted:
        parts = placed if sketch is None else _neighbours(placed)
        # Hive's two implementations draw the line to different ends.
        last = wanted if how.bit_vectors else wanted - 1
        return _finished(first, _extrapolated(parts, len(placed), wanted, last), how)
    column = _finished(first, _together(columns), how)
    if sketch is None:
        return column
    return column._replace(
        data=replace(column.data, numDVs=sketch.estimate(), bitVectors=sketch.serialize()),
    )


# --- all partitions have statistics ----------------------------------------------------------------------------


def _low(column: Column) -> Any:
    return _plain(getattr(column.data, "lowValue", None))


def _high(column: Column) -> Any:
    return _plain(getattr(column.data, "highValue", None))


def _plain(value: Any) -> Any:
    """Dates and timestamps as whole numbers, decimals as Python's."""
    if isinstance(value, ThriftDecimal):
        return decimal_value(value)
    return value[0] if isinstance(value, tuple) else value


def _every(columns: Iterable[Column], field: str) -> list[Any]:
    return [getattr(column.data, field, None) or 0 for column in columns]


def _together(columns: Sequence[Column]) -> _Summary:
    distincts = _every(columns, "numDVs")
    return _Summary(
        low=min((value for value in map(_low, columns) if value is not None), default=None),
        high=max((value for value in map(_high, columns) if value is not None), default=None),
        nulls=sum(_every(columns, "numNulls")),
        most_distincts=max(distincts),
        all_distincts=sum(distincts),
        average_length=max(_every(columns, "avgColLen")),
        max_length=max(_every(columns, "maxColLen")),
        trues=sum(_every(columns, "numTrues")),
        falses=sum(_every(columns, "numFalses")),
        density=_density(columns),
    )


def _density(columns: Sequence[Column]) -> float | None:
    """The average distance between two values."""
    spreads = [
        float(_high(column) - _low(column)) / column.data.numDVs
        for column in columns
        if _low(column) is not None and _high(column) is not None and column.data.numDVs
    ]
    return sum(spreads) / len(spreads) if spreads else None


def _sketch(columns: Sequence[Column]) -> ndv.Sketch | None:
    return ndv.merged([ndv.read(getattr(column.data, "bitVectors", None)) for column in columns])


# --- some have none --------------------------------------------------------------------------------------------


def _extrapolated(placed: Sequence[Placed], found: int, wanted: int, last: int) -> _Summary:
    columns = [one.column for one in placed]
    places = [one.place for one in placed]

    def line(values: list[Any], *, up: bool) -> Any:
        return _continued(list(zip(values, places, strict=True)), last, up=up)

    def scaled(field: str) -> int:
        total: int = sum(_every(columns, field))
        return total // found * wanted

    return _Summary(
        low=line([_low(column) for column in columns], up=False),
        high=line([_high(column) for column in columns], up=True),
        nulls=scaled("numNulls"),
        most_distincts=line(_every(columns, "numDVs"), up=True),
        all_distincts=scaled("numDVs"),
        average_length=line(_every(columns, "avgColLen"), up=True),
        max_length=line(_every(columns, "maxColLen"), up=True),
        trues=scaled("numTrues"),
        falses=scaled("numFalses"),
        density=_density(columns),
    )


def _continued(values: list[tuple[Any, float]], last: int, *, up: bool) -> Any:
    """The straight line through the lowest and the highest value, at the end where it is highest (or lowest)."""
    if any(value is None for value, _ in values):
        return None
    ordered = sorted(values, key=lambda pair: pair[0])
    (least, at_least), (most, at_most) = ordered[0], ordered[-1]
    if at_least == at_most:
        return least
    rising = at_least < at_most
    steps = {
        (True, True): last - at_least,
        (False, True): at_least,
        (True, False): at_most,
        (False, False): last - at_most,
    }[rising, up]
    width = abs(at_most - at_least)
    if isinstance(least, Decimal):
        rise = (float(most) - float(least)) * steps / width
        return Decimal(repr(float(least) + rise if up else float(most) - rise))
    if isinstance(least, float) or isinstance(most, float):
        rise = (most - least) * steps / width
        return least + rise if up else most - rise
    whole = int((most - least) * steps // width)
    return min(least + whole, _LARGEST) if up else max(most - whole, -_LARGEST - 1)


def _neighbours(placed: Sequence[Placed]) -> list[Placed]:
    """Partitions that stand next to each other as one, whose number of distinct values their bit vectors give."""
    groups: list[list[Placed]] = []
    for one in sorted(placed):
        if groups and groups[-1][-1].place + 1 == one.place:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [Placed(sum(one.place for one in group) / len(group), _as_one(group)) for group in groups]


def _as_one(group: Sequence[Placed]) -> Column:
    columns = [one.column for one in group]
    column = _finished(columns[0], _together(columns), Estimation())
    sketch = _sketch(columns)
    assert sketch is not None  # All partitions' bit vectors could be merged.
    return column._replace(data=replace(column.data, numDVs=sketch.estimate()))


# --- the answer ------------------------------------------------------------------------------------------------


def _finished(of: Column, s: _Summary, how: Estimation) -> Column:
    data: Any
    if of.kind == "boolean":
        data = BooleanColumnStatsData(s.trues, s.falses, s.nulls)
    elif of.kind == "string":
        data = StringColumnStatsData(s.max_length, s.average_length, s.nulls, s.most_distincts)
    elif of.kind == "binary":
        data = BinaryColumnStatsData(s.max_length, s.average_length, s.nulls)
    else:
        distincts = _distincts(of.kind, s, how)
        low, high = _boxed(of.kind, s.low), _boxed(of.kind, s.high)
        data = _STRUCTS[of.kind](low, high, s.nulls, distincts)
    return of._replace(data=data)


_STRUCTS: dict[str, Any] = {
    "long": LongColumnStatsData,
    "double": DoubleColumnStatsData,
    "decimal": DecimalColumnStatsData,
    "date": DateColumnStatsData,
    "timestamp": TimestampColumnStatsData,
}


def _boxed(kind: str, value: Any) -> Any:
    if value is None or kind in ("long", "double"):
        return value
    if kind == "decimal":
        return ThriftDecimal(*decimal_parts(value))
    return Date(value) if kind == "date" else Timestamp(value)


def _distincts(kind: str, s: _Summary, how: Estimation) -> int:
    least, most = s.most_distincts, s.all_distincts
    known = s.low is not None and s.high is not None
    if how.density and known and s.density:
        estimate = max(least, min(int(float(s.high - s.low) / s.density), most))
    else:
        estimate = int(least + (most - least) * how.tuner)
    if known and kind in ("long", "date", "timestamp"):
        # There are no more whole numbers than those between the lowest and the highest.
        estimate = min(estimate, s.high - s.low + 1)
    return estimate
