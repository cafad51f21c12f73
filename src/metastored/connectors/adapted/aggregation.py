"""Column statistics of several partitions of an adapted source in one answer, estimated as the service does. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from metastored.hive.statistics.ndv import HIVES_ESTIMATION
from metastored.model.column_statistics import Column, column_of, numbers_of, shown
from metastored.service.statistics.estimate import Gathered, of_partitions
from metastored.wire.generated.common import ColumnStatisticsObj
from metastored.wire.generated.statistics import AggrStats


def aggregated(
    names: Sequence[str], columns: Iterable[str], by_partition: Mapping[str, Sequence[ColumnStatisticsObj]]
) -> AggrStats:
    """The statistics of the requested columns over the requested partitions, of which `by_partition` has some.

    Where a column's type changed, those of the type that most partitions have count. `partsFound` is the number of
    partitions with statistics of every column, as in Hive.
    """
    requested = tuple(dict.fromkeys(column.lower() for column in columns))
    positions = {name: at for at, name in enumerate(dict.fromkeys(names))}
    read = {
        name: {column.name: column for column in map(column_of, by_partition[name])}
        for name in sorted(positions)
        if name in by_partition
    }
    statistics = []
    for column in requested:
        parts = [(positions[name], of_part[column]) for name, of_part in read.items() if column in of_part]
        if parts:
            statistics.append(of_partitions(_gathered(parts), len(positions), HIVES_ESTIMATION))
    complete = sum(all(column in of_part for column in requested) for of_part in read.values())
    return AggrStats(tuple(shown(column, timestamps=False) for column in statistics), complete if requested else 0)


def _gathered(parts: Sequence[tuple[int, Column]]) -> Gathered:
    """One column's statistics by partition, of the type that most partitions have."""
    ((type, kind), _) = Counter((column.type, column.kind) for _, column in parts).most_common(1)[0]
    alike = [(at, column) for at, column in parts if (column.type, column.kind) == (type, kind)]
    numbers = zip(*(numbers_of(column.data) for _, column in alike), strict=True)
    return Gathered(alike[0][1].name, type, kind, [at for at, _ in alike], *numbers)
