"""Column statistics of Glue as Hive's: of tables, of partitions, and over partitions as the service aggregates them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from metastored.connectors.registry import Connectors
from metastored.errors import NoSuchObjectException
from metastored.model.remotes.endpoints import Endpoint
from metastored.wire.generated.common import (
    BooleanColumnStatsData,
    ColumnStatisticsData,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
)
from metastored.wire.generated.statistics import PartitionsStatsRequest, TableStatsRequest
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.aws import Aws, aws

ANALYZED = 1704067200
"""2024-01-01, as Glue writes it."""
COUNTED = {"NumberOfNulls": 1, "NumberOfDistinctValues": 2}


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def ask(handler: Any, name: str, *args: Any) -> Any:
    method = METHODS[name]
    return (await handler.handle(Call(method, args), Session())).value(method)


def column(name: str, kind: str, type: str, **data: Any) -> dict[str, Any]:
    data = {"Type": kind, f"{kind.capitalize()}ColumnStatisticsData": data}
    return {"ColumnName": name, "ColumnType": type, "AnalyzedTime": ANALYZED, "StatisticsData": data}


COLUMNS = [
    column("i", "LONG", "bigint", MinimumValue=1, MaximumValue=9, **COUNTED),
    column("s", "STRING", "string", MaximumLength=5, AverageLength=2.5, **COUNTED),
    column("b", "BOOLEAN", "boolean", NumberOfTrues=1, NumberOfFalses=2, NumberOfNulls=3),
    column("d", "DATE", "date", MinimumValue=ANALYZED, MaximumValue=ANALYZED, **COUNTED),
    column("n", "DECIMAL", "decimal(5,2)", MinimumValue={"UnscaledValue": "AQ==", "Scale": 2},
           MaximumValue={"UnscaledValue": "Ag==", "Scale": 2}, **COUNTED),
]  # fmt: skip


class Catalog:
    """The table `db.t`, partitioned by ds. `partitions` has the statistics of some of its partitions."""

    def __init__(self) -> None:
        self.partitions: dict[str, list[dict[str, Any]]] = {}
        self.refused = False

    def __call__(self, operation: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if operation == "GetTable":
            keys = [{"Name": "ds", "Type": "string"}]
            return 200, {"Table": {"Name": "t", "DatabaseName": "db", "PartitionKeys": keys, "StorageDescriptor": {}}}
        if self.refused:
            return 400, {"__type": "AccessDeniedException", "message": "no"}
        if operation == "GetColumnStatisticsForTable":
            found = COLUMNS
        else:
            assert operation == "GetColumnStatisticsForPartition"
            (value,) = arguments["PartitionValues"]
            if value == "gone":
                return 400, {"__type": "EntityNotFoundException", "message": "no such partition"}
            found = self.partitions.get(value, [])
        wanted = [each for each in found if each["ColumnName"] in arguments["ColumnNames"]]
        return 200, {"ColumnStatisticsList": wanted, "Errors": []}


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


@asynccontextmanager
async def connected(there: Aws) -> AsyncIterator[Any]:
    keys = {"aws.access.key.id": "k", "aws.secret.access.key": "s", "aws.region": "us-east-1"}
    properties = keys | {"aws.glue.endpoint": there.url}
    handler: Any = Connectors().connect(Endpoint("glue", tuple(sorted(properties.items()))))
    try:
        yield handler
    finally:
        await handler.close()


def test_statistics_of_a_table_are_those_of_glue(catalog: Catalog) -> None:
    names = tuple(each["ColumnName"] for each in COLUMNS)

    async def test(there: Aws) -> None:
        async with connected(there) as handler:
            found = (await ask(handler, "get_table_statistics_req", TableStatsRequest("db", "t", names))).tableStats
        assert [(c.colName, c.colType) for c in found] == [(c["ColumnName"], c["ColumnType"]) for c in COLUMNS]
        assert [each.statsData for each in found] == [
            ColumnStatisticsData(longStats=LongColumnStatsData(1, 9, 1, 2)),
            ColumnStatisticsData(stringStats=StringColumnStatsData(5, 2.5, 1, 2)),
            ColumnStatisticsData(booleanStats=BooleanColumnStatsData(1, 2, 3)),
            ColumnStatisticsData(dateStats=DateColumnStatsData(Date(19723), Date(19723), 1, 2)),
            ColumnStatisticsData(decimalStats=DecimalColumnStatsData(Decimal(b"\x01", 2), Decimal(b"\x02", 2), 1, 2)),
        ]

    with aws(catalog) as there:
        run(test(there))


def test_whoever_may_not_read_statistics_can_still_query(catalog: Catalog) -> None:
    catalog.refused = True
    request = PartitionsStatsRequest("db", "t", ("i",), tuple(f"ds={number}" for number in range(200)))

    async def test(there: Aws) -> None:
        async with connected(there) as handler:
            assert (
                await ask(handler, "get_table_statistics_req", TableStatsRequest("db", "t", ("i",)))
            ).tableStats == ()
            with pytest.raises(NoSuchObjectException, match="columnName=i do not exist"):
                await ask(handler, "get_table_column_statistics", "db", "t", "i")
            before = len(there.calls)
            assert (await ask(handler, "get_partitions_statistics_req", request)).partStats == {}
            assert len(there.calls) < before + 100, "Glue is not called for every partition"

    with aws(catalog) as there:
        run(test(there))


def longs(low: int, high: int, nulls: int, distincts: int) -> list[dict[str, Any]]:
    numbers = {"NumberOfNulls": nulls, "NumberOfDistinctValues": distincts}
    return [column("i", "LONG", "bigint", MinimumValue=low, MaximumValue=high, **numbers)]


def test_statistics_of_partitions_are_aggregated_as_the_service_does(catalog: Catalog) -> None:
    catalog.partitions = {"1": longs(1, 9, 1, 4), "2": longs(5, 20, 2, 6)}
    request = PartitionsStatsRequest("db", "t", ("i",), ("ds=1", "ds=2"))

    async def test(there: Aws) -> None:
        async with connected(there) as handler:
            found = await ask(handler, "get_aggr_stats_for", request)
            assert found.partsFound == 2
            (one,) = found.colStats
            assert (one.colName, one.colType) == ("i", "bigint")
            assert one.statsData == ColumnStatisticsData(longStats=LongColumnStatsData(1, 20, 3, 6))
            parts = (await ask(handler, "get_partitions_statistics_req", request)).partStats
            assert {name: each[0].statsData.longStats.highValue for name, each in parts.items()} == {
                "ds=1": 9,
                "ds=2": 20,
            }
            single = await ask(handler, "get_partition_column_statistics", "db", "t", "ds=2", "i")
            assert single.statsObj[0].statsData.longStats.lowValue == 5

    with aws(catalog) as there:
        run(test(there))


def test_statistics_are_extrapolated_over_partitions_that_have_none(catalog: Catalog) -> None:
    catalog.partitions = {"1": longs(0, 10, 1, 4), "2": longs(10, 20, 1, 4)}
    request = PartitionsStatsRequest("db", "t", ("i",), ("ds=1", "ds=2", "ds=3", "ds=gone"))

    async def test(there: Aws) -> None:
        async with connected(there) as handler:
            found = await ask(handler, "get_aggr_stats_for", request)
            assert found.partsFound == 2
            data = found.colStats[0].statsData.longStats
            assert (data.lowValue, data.highValue, data.numNulls) == (0, 40, 4)

    with aws(catalog) as there:
        run(test(there))


def test_of_a_column_whose_type_changed_the_type_that_most_partitions_have_counts(catalog: Catalog) -> None:
    text = [column("i", "STRING", "string", MaximumLength=5, AverageLength=2.5, **COUNTED)]
    catalog.partitions = {"1": text, "2": longs(1, 2, 0, 2), "3": longs(3, 4, 0, 2)}
    request = PartitionsStatsRequest("db", "t", ("i", "never"), ("ds=1", "ds=2", "ds=3"))

    async def test(there: Aws) -> None:
        async with connected(there) as handler:
            found = await ask(handler, "get_aggr_stats_for", request)
            assert found.partsFound == 0, "no partition has statistics of all columns"
            assert [(each.colName, each.colType) for each in found.colStats] == [("i", "bigint")]

    with aws(catalog) as there:
        run(test(there))
