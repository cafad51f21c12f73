"""Column statistics: set, got, merged, deleted, and aggregated over partitions of which some have none.

A real Hive caches aggregated replies for minutes, whatever the order of the partitions: every request for other
statistics or another order uses a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from metastored.wire.generated.common import (
    BinaryColumnStatsData,
    BooleanColumnStatsData,
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.statistics import PartitionsStatsRequest, SetPartitionsStatsRequest, TableStatsRequest
from tests.differential.probes.objects import field, with_columns, with_fields
from tests.differential.script import EditTable, Probe, ask
from tests.support.objects import partition, table

DB = "cst"
TYPES = "l bigint, d double, s string, f boolean, b binary, m decimal(5;0), y date"
EVERY = ("l", "d", "s", "f", "b", "m", "y")
PARTS = 8


def obj(column: str, type_: str, **data: Any) -> ColumnStatisticsObj:
    return ColumnStatisticsObj(column, type_, ColumnStatisticsData(**data))


def numbers(column: str, low: int | None, high: int | None, nulls: int = 0, distincts: int = 3) -> ColumnStatisticsObj:
    return obj(column, "bigint", longStats=LongColumnStatsData(low, high, nulls, distincts))


def whole(value: int) -> Decimal:
    return Decimal(value.to_bytes(2), 0)


def row(at: int) -> tuple[ColumnStatisticsObj, ...]:
    """Statistics of every kind, different in each partition."""
    return (
        obj("l", "bigint", longStats=LongColumnStatsData(3 * at - 7, 11 * at + 5, at, 4 + 3 * at)),
        obj("d", "double", doubleStats=DoubleColumnStatsData(0.5 * at, 2.25 * at + 1, 2 * at, 5 + at)),
        obj("s", "string", stringStats=StringColumnStatsData(10 + at, 2.5 + at, 1 + at, 7 + 2 * at)),
        obj("f", "boolean", booleanStats=BooleanColumnStatsData(10 + at, 20 + at, at)),
        obj("b", "binary", binaryStats=BinaryColumnStatsData(100 - at, 8.5 + at, at)),
        obj("m", "decimal(5,0)", decimalStats=DecimalColumnStatsData(whole(5 + at), whole(40 + 7 * at), at, 6 + at)),
        obj("y", "date", dateStats=DateColumnStatsData(Date(1000 + at), Date(1100 + 9 * at), at, 30 + at)),
    )


def stats(*objects: ColumnStatisticsObj, of: str = "t", part: str | None = None) -> ColumnStatistics:
    desc = ColumnStatisticsDesc(isTblLevel=part is None, dbName=DB, tableName=of, partName=part)
    return ColumnStatistics(statsDesc=desc, statsObj=objects)


def got(*columns: str, of: str = "t") -> TableStatsRequest:
    return TableStatsRequest(dbName=DB, tblName=of, colNames=columns)


def names(places: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"ds=p{place}" for place in places)


def over(of: str, places: Sequence[int], columns: Sequence[str] = EVERY) -> PartitionsStatsRequest:
    return PartitionsStatsRequest(dbName=DB, tblName=of, colNames=tuple(columns), partNames=names(places))


def by_column(result: Any) -> Any:
    """Columns in the order of their names: a database gives them in any."""
    return result.partsFound, tuple(sorted(result.colStats, key=lambda one: one.colName))


def by_partition(result: Any) -> Any:
    return {name: tuple(sorted(objects)) for name, objects in result.partStats.items()}


def partitioned(of: str, filled: Sequence[int]) -> Iterator[Probe]:
    """A table with partitions, some of which have statistics."""
    yield ask(of, "create_table", table(DB, of, TYPES, "ds string"))
    yield ask(of, "add_partitions", tuple(partition(DB, of, (f"p{at}",)) for at in range(PARTS)))
    for at in filled:
        one = stats(*row(at), of=of, part=f"ds=p{at}")
        yield ask(f"{of} {at}", "update_partition_column_statistics", one)


def extrapolated(of: str, label: str, request: Sequence[int]) -> Iterator[Probe]:
    yield from partitioned(of, (1, 3, 4, 6))
    yield ask(label, "get_aggr_stats_for", over(of, request), show=by_column)


def merging(of: str) -> Iterator[Probe]:
    first = (numbers("l", 5, 9, 1, 6), obj("s", "string", stringStats=StringColumnStatsData(3, 2.0, 1, 4)))
    second = (numbers("l", 1, 7, 2, 8), obj("s", "string", stringStats=StringColumnStatsData(5, 1.0, 2, 3)))
    yield ask(of, "create_table", table(DB, of, "l bigint, s string"))
    yield ask("the first of a table", "set_aggr_stats_for", SetPartitionsStatsRequest((stats(*first, of=of),)))
    merge = SetPartitionsStatsRequest((stats(*second, of=of),), needMerge=True)
    yield ask("merged", "set_aggr_stats_for", merge, versions=("2.3",))
    yield ask("merged", "get_table_statistics_req", got("l", "s", of=of), versions=("2.3",))
    yield ask("two for a table", "set_aggr_stats_for", SetPartitionsStatsRequest((stats(*first), stats(*second))))
    yield ask("none", "set_aggr_stats_for", SetPartitionsStatsRequest(()))


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("plain", "create_table", table(DB, "t", "a int, l bigint, s string")),
    ask("before", "get_table_statistics_req", got("l")),
    ask("plain", "update_table_column_statistics", stats(numbers("L", 1, 9))),
    ask("plain", "get_table_column_statistics", DB, "t", "l"),
    ask("in upper case", "get_table_column_statistics", DB.upper(), "T", "L"),
    ask("with statistics", "get_table", DB, "t", show=field("parameters")),
    ask("without a low", "update_table_column_statistics", stats(numbers("l", None, 20, 5, 7))),
    ask("without a low", "get_table_statistics_req", got("l", "nope")),
    ask("two columns", "update_table_column_statistics", stats(numbers("l", 1, 2), row(1)[2])),
    ask("two columns", "get_table", DB, "t", show=field("parameters")),
    ask("no column", "update_table_column_statistics", stats()),
    ask("missing column", "update_table_column_statistics", stats(numbers("nope", 1, 9))),
    ask("missing table", "update_table_column_statistics", stats(numbers("l", 1, 9), of="nope")),
    ask("missing table", "get_table_column_statistics", DB, "nope", "l"),
    ask("missing table", "get_table_statistics_req", got("l", of="nope")),
    ask("missing table", "get_partition_column_statistics", DB, "nope", "ds=1", "l"),
    ask("missing table", "get_partitions_statistics_req", over("nope", (1,))),
    ask("missing table", "get_aggr_stats_for", over("nope", (1,))),
    ask("of a table", "delete_table_column_statistics", DB, "t", "S"),
    ask("again", "delete_table_column_statistics", DB, "t", "s"),
    ask("missing table", "delete_table_column_statistics", DB, "nope", "s"),
    ask("after", "get_table_statistics_req", got("l", "s")),
    ask("after a delete", "get_table", DB, "t", show=field("parameters")),
    EditTable("renamed", DB, "t", with_fields(tableName="u")),
    ask("renamed", "get_table_statistics_req", got("l", of="u")),
    EditTable("without the column", DB, "u", with_columns("a int, k bigint, s string")),
    ask("without the column", "get_table_statistics_req", got("l", of="u")),
    ask("all of a table", "delete_table_column_statistics", DB, "u", None),
    *partitioned("p", range(PARTS)),
    ask("with statistics", "get_partition", DB, "p", ("p1",), show=field("parameters")),
    ask("one", "get_partition_column_statistics", DB, "p", "DS=p1", "l"),
    ask("another kind", "get_partition_column_statistics", DB, "p", "ds=p2", "m"),
    ask("some", "get_partitions_statistics_req", over("p", (1, 3), ("l", "s")), show=by_partition),
    ask("everything", "get_aggr_stats_for", over("p", range(PARTS)), show=by_column),
    *partitioned("p2", range(PARTS)),
    ask("some partitions", "get_aggr_stats_for", over("p2", (2, 4, 5)), show=by_column),
    *partitioned("p3", (5, 6)),
    ask("one partition", "get_aggr_stats_for", over("p3", (6,)), show=by_column),
    ask("no columns", "get_aggr_stats_for", over("p", (6,), ())),
    ask("no partitions", "get_aggr_stats_for", over("p", ())),
    ask("missing columns", "get_aggr_stats_for", over("p", (0,), ("nope",)), show=by_column),
    ask("a missing partition", "update_partition_column_statistics", stats(*row(1), of="p", part="ds=zz")),
    ask("no partition name", "update_partition_column_statistics", stats(*row(1), of="p", part="zz=1")),
    ask("of no table", "update_partition_column_statistics", stats(*row(1), of="nope", part="ds=p1")),
    ask("one column", "delete_partition_column_statistics", DB, "p", "DS=p7", "l"),
    ask("one column, again", "delete_partition_column_statistics", DB, "p", "ds=p7", "l"),
    ask("missing partition", "delete_partition_column_statistics", DB, "p", "ds=zz", "l"),
    ask("of no table", "delete_partition_column_statistics", DB, "nope", "ds=p7", "l"),
    ask("all columns", "delete_partition_column_statistics", DB, "p", "ds=p7", None),
    ask("deleted", "get_partition_column_statistics", DB, "p", "ds=p7", "s"),
    *extrapolated("q1", "half missing", range(PARTS)),
    *extrapolated("q2", "the right missing", (1, 3, 5, 7)),
    *extrapolated("q3", "all but one missing", (0, 3, 5)),
    *extrapolated("q4", "all missing", (0, 2, 5)),
    *extrapolated("q5", "backwards", range(PARTS - 1, -1, -1)),
    *extrapolated("q6", "shuffled", (4, 0, 6, 2)),
    *extrapolated("q7", "unknown ones among them", (9, 1, 8, 3, 6)),
    *partitioned("v", ()),
    ask("one column of p0", "update_partition_column_statistics", stats(row(0)[0], of="v", part="ds=p0")),
    ask("two columns of p1", "update_partition_column_statistics", stats(*row(1)[:2], of="v", part="ds=p1")),
    ask("two columns of p2", "update_partition_column_statistics", stats(*row(5)[:2], of="v", part="ds=p2")),
    ask("columns differ", "get_aggr_stats_for", over("v", (0, 1, 2), ("l", "d")), show=by_column),
    *merging("w"),
    ask("with all", "drop_database", DB, True, True),
]
