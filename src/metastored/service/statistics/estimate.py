"""The statistics of a column over many partitions, as Hive estimates them. Pure functions.

Lowest, highest and longest values and sums are exact when every partition has statistics. Where some have none, Hive
extrapolates: sums are scaled up, and lowest and highest values are continued on a straight line along the order in
which the partitions were requested. The number of distinct values cannot be computed from the partitions' numbers: it
is at least their maximum, at most their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from metastored.hive.statistics import ndv
from metastored.hive.statistics.ndv import Estimation
from metastored.hive.types.decimals import decimal_parts
from metastored.model.column_statistics import Column
from metastored.store.objects.column_statistics import Totals
from metastored.wire.generated.common import (
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
from metastored.wire.generated.common import Decimal as ThriftDecimal
from metastored.wire.structs import replace

_LARGEST = 2**63 - 1


class _Summary(NamedTuple):
    """The statistics of a column over all partitions."""

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


class Gathered(NamedTuple):
    """One column's statistics in several partitions, all of one kind, in the order of the partitions' names.

    Dates and timestamps are int here, decimals Decimal.
    """

    name: str
    type: str
    kind: str
    positions: Sequence[float]
    """The position of each partition among the requested ones."""
    low: Sequence[Any]
    high: Sequence[Any]
    nulls: Sequence[int | None]
    distincts: Sequence[int | None]
    average_length: Sequence[float | None]
    max_length: Sequence[int | None]
    trues: Sequence[int | None]
    falses: Sequence[int | None]
    bit_vectors: Sequence[bytes | None] = ()


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


def of_partitions(gathered: Gathered, partition_count: int, how: Estimation) -> Column:
    """From the statistics of each partition; extrapolated if fewer than `partition_count` have statistics."""
    column_type = Column(gathered.name, gathered.type, gathered.kind, None)
    sketch = _sketch(gathered) if how.bit_vectors else None
    number = len(gathered.positions)
    if 2 <= number < partition_count:
        parts = gathered if sketch is None else _neighbours(gathered)
        # Hive's two implementations extrapolate to different ends.
        last = partition_count if how.bit_vectors else partition_count - 1
        return _finished(column_type, _extrapolated(parts, number, partition_count, last), how)
    column = _finished(column_type, _together(gathered), how)
    if sketch is None:
        return column
    return column._replace(data=replace(column.data, numDVs=sketch.estimate(), bitVectors=sketch.serialize()))


# --- all partitions have statistics ----------------------------------------------------------------------------


def _given(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _sum(values: Sequence[int | None]) -> int:
    return sum(_given(values))


def _together(gathered: Gathered) -> _Summary:
    return _Summary(
        low=min(_given(gathered.low), default=None),
        high=max(_given(gathered.high), default=None),
        nulls=_sum(gathered.nulls),
        most_distincts=max(_given(gathered.distincts), default=0),
        all_distincts=_sum(gathered.distincts),
        average_length=max(_given(gathered.average_length), default=0.0),
        max_length=max(_given(gathered.max_length), default=0),
        trues=_sum(gathered.trues),
        falses=_sum(gathered.falses),
        density=_density(gathered),
    )


def _density(gathered: Gathered) -> float | None:
    """The average distance between two values."""
    spreads = [
        float(high - low) / distincts
        for low, high, distincts in zip(gathered.low, gathered.high, gathered.distincts, strict=True)
        if low is not None and high is not None and distincts
    ]
    return sum(spreads) / len(spreads) if spreads else None


def _sketch(gathered: Gathered) -> ndv.Sketch | None:
    return ndv.merged([ndv.read(data) for data in gathered.bit_vectors])


# --- some have none --------------------------------------------------------------------------------------------


def _extrapolated(gathered: Gathered, number: int, partition_count: int, last: int) -> _Summary:
    def line(values: Sequence[Any], *, up: bool = True) -> Any:
        return _continued(values, gathered.positions, last, up=up)

    def scaled(values: Sequence[int | None]) -> int:
        return _sum(values) // number * partition_count

    return _Summary(
        low=line(gathered.low, up=False),
        high=line(gathered.high),
        nulls=scaled(gathered.nulls),
        most_distincts=line(gathered.distincts) or 0,
        all_distincts=scaled(gathered.distincts),
        average_length=line(gathered.average_length) or 0.0,
        max_length=line(gathered.max_length) or 0,
        trues=scaled(gathered.trues),
        falses=scaled(gathered.falses),
        density=_density(gathered),
    )


def _continued(values: Sequence[Any], positions: Sequence[float], last: int, *, up: bool) -> Any:
    """The straight line through the lowest and the highest value, at the end where it is highest (or lowest).

    Of equal values the first counts as the lowest and the last as the highest.
    """
    if None in values:
        return None
    least, most = min(values), max(values)
    at_least = positions[values.index(least)]
    at_most = positions[len(values) - 1 - values[::-1].index(most)]
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
    distance = int((most - least) * steps // width)
    return min(least + distance, _LARGEST) if up else max(most - distance, -_LARGEST - 1)


def _only(gathered: Gathered, chosen: Sequence[int]) -> Gathered:
    """Some of the partitions."""
    lists: tuple[Any, ...] = gathered[3:]
    return Gathered._make((*gathered[:3], *([values[at] for at in chosen] for values in lists)))


def _neighbours(gathered: Gathered) -> Gathered:
    """Adjacent partitions merged into one, whose number of distinct values is computed from their bit vectors."""
    groups: list[list[int]] = []
    for at in sorted(range(len(gathered.positions)), key=gathered.positions.__getitem__):
        if groups and gathered.positions[groups[-1][-1]] + 1 == gathered.positions[at]:
            groups[-1].append(at)
        else:
            groups.append([at])
    parts = [_only(gathered, group) for group in groups]
    summaries = [_together(part) for part in parts]
    sketches = [_sketch(part) for part in parts]
    return gathered._replace(
        positions=[sum(part.positions) / len(part.positions) for part in parts],
        low=[one.low for one in summaries],
        high=[one.high for one in summaries],
        nulls=[one.nulls for one in summaries],
        distincts=[None if sketch is None else sketch.estimate() for sketch in sketches],
        average_length=[one.average_length for one in summaries],
        max_length=[one.max_length for one in summaries],
        trues=[one.trues for one in summaries],
        falses=[one.falses for one in summaries],
    )


# --- the result -----------------------------------------------------------------------------------------------


def _finished(column: Column, s: _Summary, how: Estimation) -> Column:
    data: Any
    if column.kind == "boolean":
        data = BooleanColumnStatsData(s.trues, s.falses, s.nulls)
    elif column.kind == "string":
        data = StringColumnStatsData(s.max_length, s.average_length, s.nulls, s.most_distincts)
    elif column.kind == "binary":
        data = BinaryColumnStatsData(s.max_length, s.average_length, s.nulls)
    else:
        distincts = _distincts(column.kind, s, how)
        low, high = _boxed(column.kind, s.low), _boxed(column.kind, s.high)
        data = _STRUCTS[column.kind](low, high, s.nulls, distincts)
    return column._replace(data=data)


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
        # There are at most as many distinct whole numbers as between the lowest and the highest.
        estimate = min(estimate, s.high - s.low + 1)
    return estimate
