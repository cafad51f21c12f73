"""The less usual forms of calls have the same results as the usual forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    EnvironmentContext,
    FieldSchema,
    LongColumnStatsData,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.service import CmRecycleRequest, CmRecycleResponse
from metastored.wire.generated.statistics import SetPartitionsStatsRequest
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

STORAGE = StorageDescriptor(cols=(FieldSchema("a", "bigint"),), serdeInfo=SerDeInfo(None, "s", {}))
CONTEXT = EnvironmentContext({})


@pytest.fixture
def partitioned(metastore: Metastore) -> Metastore:
    """With a table db.t that has the partition k=1."""
    metastore.call("create_database", Database(name="db"))
    metastore.call("create_table", Table("t", "db", sd=STORAGE, partitionKeys=(FieldSchema("k", "string"),)))
    metastore.call("append_partition", "db", "t", ("1",))
    return metastore


def names(metastore: Metastore) -> tuple[str, ...]:
    result: tuple[str, ...] = metastore.call("get_partition_names", "db", "t", -1)
    return result


def test_partitions_are_appended_with_a_context(partitioned: Metastore) -> None:
    partitioned.call("append_partition_with_environment_context", "db", "t", ("2",), CONTEXT)
    partitioned.call("append_partition_by_name_with_environment_context", "db", "t", "k=3", CONTEXT)
    assert names(partitioned) == ("k=1", "k=2", "k=3")


def test_a_partition_is_dropped_by_its_name_with_a_context(partitioned: Metastore) -> None:
    assert partitioned.call("drop_partition_by_name_with_environment_context", "db", "t", "k=1", False, CONTEXT)
    assert names(partitioned) == ()


def test_statistics_of_a_partition_are_set_by_request(partitioned: Metastore) -> None:
    data = ColumnStatisticsData(longStats=LongColumnStatsData(numNulls=1, numDVs=5, lowValue=0, highValue=9))
    described = ColumnStatisticsDesc(isTblLevel=False, dbName="db", tableName="t", partName="k=1")
    statistics = ColumnStatistics(described, (ColumnStatisticsObj("a", "bigint", data),), engine="hive")
    reply = partitioned.call("update_partition_column_statistics_req", SetPartitionsStatsRequest((statistics,)))
    assert reply.result is True
    result = partitioned.call("get_partition_column_statistics", "db", "t", "k=1", "a")
    assert result.statsObj[0].statsData.longStats.numDVs == 5


def test_there_are_no_materialized_views_to_rewrite_with(metastore: Metastore) -> None:
    assert metastore.call("get_all_materialized_view_objects_for_rewriting") == ()


def test_nothing_is_recycled(start: Starter, tmp_path: Path) -> None:
    """Hive's change manager is off unless it is configured, and metastored has none."""
    kept = tmp_path / "kept"
    kept.mkdir()
    metastore = start(warehouse=Warehouse(tmp_path.as_uri()))
    assert metastore.call("cm_recycle", CmRecycleRequest(kept.as_uri(), False)) == CmRecycleResponse()
    assert list(tmp_path.glob("**/*kept*")) == [kept]
