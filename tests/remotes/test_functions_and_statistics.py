"""Functions and column statistics of remotes: read at the remote, under local names; written where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import ApplicationError, InvalidOperationException, MetaException, NoSuchObjectException
from metastored.structs import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    Function,
    FunctionType,
    LongColumnStatsData,
    PartitionsStatsRequest,
    PrincipalType,
    TableStatsRequest,
)
from metastored.wire.structs import replace
from tests.support.waggle_dance import Federation, federation

pytestmark = pytest.mark.slow

DATABASE, TABLE = "remote_database", "remote_table"
UK, CHINA = "continent=Europe/country=UK", "continent=Asia/country=China"
REFUSED = (MetaException, InvalidOperationException, ApplicationError)


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    """Two servers; `sales` is the remote database, and shop.seen the remote table with statistics."""
    with federation() as found:
        found.there.create_table(metastored.table(f"{DATABASE}.plain", {"id": "bigint"}))
        found.there.api.update_table_column_statistics(statistics(DATABASE, "plain", None, 1, 9))
        for part, low, high in ((UK, 1, 5), (CHINA, 3, 20)):
            found.there.api.update_partition_column_statistics(statistics(DATABASE, TABLE, part, low, high))
        found.there.api.create_function(function(DATABASE, "twice"))
        yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    servers.sql(f"CREATE REMOTE DATABASE sales CONNECTED TO {DATABASE} WITH DBPROPERTIES (URIS)")
    servers.here.create_database("shop")
    for name, of in (("seen", "plain"), ("parts", TABLE)):
        servers.sql(f"CREATE REMOTE TABLE shop.{name} CONNECTED TO {DATABASE}.{of} WITH TBLPROPERTIES (URIS)")
    yield servers
    servers.clean()


def statistics(database: str, table: str, part: str | None, low: int, high: int) -> ColumnStatistics:
    numbers = LongColumnStatsData(lowValue=low, highValue=high, numNulls=1, numDVs=4)
    of_column = ColumnStatisticsObj("id", "bigint", ColumnStatisticsData(longStats=numbers))
    return ColumnStatistics(ColumnStatisticsDesc(part is None, database, table, part), (of_column,))


def bounds(found: ColumnStatisticsObj) -> tuple[int | None, int | None]:
    assert found.statsData is not None and found.statsData.longStats is not None
    return found.statsData.longStats.lowValue, found.statsData.longStats.highValue


def function(database: str, name: str) -> Function:
    return Function(name, database, "org.example.Twice", "ann", PrincipalType.USER, 0, FunctionType.JAVA, ())


def writable(both: Federation) -> None:
    both.sql("ALTER REMOTE DATABASE sales SET DBPROPERTIES ('metastored.remote.access' = 'write')")


# Statistics


@pytest.mark.parametrize(("database", "table"), [("sales", "plain"), ("shop", "seen")])
def test_statistics_of_a_table_are_those_of_the_remote_under_local_names(
    both: Federation, database: str, table: str
) -> None:
    found = both.here.api.get_table_column_statistics(database, table, "id")
    assert found.statsDesc is not None and found.statsObj is not None
    assert (found.statsDesc.dbName, found.statsDesc.tableName) == (database, table)
    assert bounds(found.statsObj[0]) == (1, 9)
    (by_request,) = both.here.api.get_table_statistics_req(TableStatsRequest(database, table, ("id",))).tableStats or ()
    assert bounds(by_request) == (1, 9)


@pytest.mark.parametrize(("database", "table"), [("sales", TABLE), ("shop", "parts")])
def test_statistics_of_partitions_are_those_of_the_remote_single_listed_and_aggregated(
    both: Federation, database: str, table: str
) -> None:
    single = both.here.api.get_partition_column_statistics(database, table, UK, "id")
    assert single.statsDesc is not None and single.statsObj is not None
    assert (single.statsDesc.dbName, single.statsDesc.tableName) == (database, table)
    assert bounds(single.statsObj[0]) == (1, 5)
    request = PartitionsStatsRequest(database, table, ("id",), (UK, CHINA))
    listed = both.here.api.get_partitions_statistics_req(request).partStats or {}
    assert {name: bounds(each[0]) for name, each in listed.items()} == {UK: (1, 5), CHINA: (3, 20)}
    aggregated = both.here.api.get_aggr_stats_for(request)
    assert aggregated.partsFound == 2
    assert [bounds(each) for each in aggregated.colStats or ()] == [(1, 20)]


def test_statistics_that_do_not_exist_are_the_error_that_the_remote_has_for_them(both: Federation) -> None:
    with pytest.raises((NoSuchObjectException, ApplicationError)) as direct:
        both.there.api.get_table_column_statistics(DATABASE, "plain", "none")
    with pytest.raises(type(direct.value)) as found:
        both.here.api.get_table_column_statistics("sales", "plain", "none")
    assert DATABASE not in str(found.value)


def test_statistics_are_written_only_where_the_remote_may_be_written(both: Federation) -> None:
    changed = statistics("sales", "plain", None, 2, 8)
    with pytest.raises(REFUSED, match="read-only"):
        both.here.api.update_table_column_statistics(changed)
    writable(both)
    assert both.here.api.update_table_column_statistics(changed)
    try:
        stored = both.there.api.get_table_column_statistics(DATABASE, "plain", "id")
        assert stored.statsObj is not None and bounds(stored.statsObj[0]) == (2, 8)
    finally:
        both.there.api.update_table_column_statistics(statistics(DATABASE, "plain", None, 1, 9))


# Functions


def test_functions_of_a_remote_database_are_listed_and_read_under_its_local_name(both: Federation) -> None:
    assert both.here.api.get_functions("sales", "*") == ("twice",)
    found = both.here.api.get_function("sales", "twice")
    assert found == replace(both.there.api.get_function(DATABASE, "twice"), dbName="sales")
    everywhere = both.here.api.get_all_functions().functions or ()
    assert [(each.dbName, each.functionName) for each in everywhere] == [("sales", "twice")]


def test_a_function_that_does_not_exist_is_missing_under_the_local_name(both: Federation) -> None:
    with pytest.raises(NoSuchObjectException, match="none"):
        both.here.api.get_function("sales", "none")


def test_functions_are_written_only_where_the_remote_may_be_written(both: Federation) -> None:
    for name, args in (("create_function", (function("sales", "f"),)), ("drop_function", ("sales", "twice"))):
        with pytest.raises(REFUSED, match="read-only"):
            both.here.api.call(name, *args)
    writable(both)
    both.here.api.create_function(function("sales", "f"))
    assert both.there.api.get_functions(DATABASE, "f") == ("f",)
    both.here.api.alter_function("sales", "f", replace(function("sales", "f"), className="org.example.Other"))
    assert both.there.api.get_function(DATABASE, "f").className == "org.example.Other"
    both.here.api.drop_function("sales", "f")
    assert both.there.api.get_functions(DATABASE, "*") == ("twice",)
