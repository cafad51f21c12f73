"""Statistics of tables and partitions after writes, and the events of writes."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.hive.statistics.basic import COLUMN_STATS_ACCURATE
from metastored.spark import acid
from metastored.spark.acid.files.statistics import RowCounts, Visible, after_write
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.structs import replace
from tests.spark.acid.conftest import INSERT_ONLY, Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.slow]

BASIC = '{"BASIC_STATS":"true"}'
SOME = Visible(files=2, size=100, only_own=False)


# The rules


def test_a_number_of_rows_that_was_accurate_stays_so() -> None:
    before = {"numRows": "5", COLUMN_STATS_ACCURATE: '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}', "x": "y"}
    assert after_write(before, True, SOME, RowCounts(3, 1)) == {
        "x": "y", "numRows": "7", "numFiles": "2", "totalSize": "100", COLUMN_STATS_ACCURATE: BASIC,
    }  # fmt: skip


def test_a_number_of_rows_that_was_not_accurate_is_not_marked_as_accurate() -> None:
    found = after_write({"numRows": "5", COLUMN_STATS_ACCURATE: BASIC}, False, SOME, RowCounts(3))
    assert found == {"numRows": "8", "numFiles": "2", "totalSize": "100"}


def test_a_number_that_is_not_known_is_removed() -> None:
    before = {"numRows": "-1", "rawDataSize": "-1"}
    assert after_write(before, False, SOME, RowCounts(3)) == {"numFiles": "2", "totalSize": "100"}
    assert after_write({"numRows": "5", COLUMN_STATS_ACCURATE: BASIC}, True, SOME, None) == {
        "numFiles": "2", "totalSize": "100",
    }  # fmt: skip


def test_the_rows_of_the_only_write_are_all_rows() -> None:
    found = after_write({}, False, Visible(1, 10, only_own=True), RowCounts(3))
    assert found == {"numRows": "3", "numFiles": "1", "totalSize": "10", COLUMN_STATS_ACCURATE: BASIC}


# Tables


def table_statistics(warehouse: Warehouse, name: str) -> tuple[str | None, str | None]:
    found = warehouse.client.fresh_table(name).parameters or {}
    data = list(warehouse.path(name).rglob("bucket_*"))
    assert int(found["numFiles"]) <= len(data)
    assert int(found["totalSize"]) <= sum(path.stat().st_size for path in data)
    return found.get("numRows"), found.get(COLUMN_STATS_ACCURATE)


def test_statistics_of_a_table_follow_its_writes(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    acid.insert(spark, name, spark.range(10), client=client)
    assert table_statistics(warehouse, name) == ("10", BASIC)
    acid.insert(spark, name, spark.range(10, 15), client=client)
    acid.delete(spark, name, "id < 3", client=client)
    acid.update(spark, name, {"id": "id + 100"}, "id = 4", client=client)
    assert table_statistics(warehouse, name) == ("12", BASIC)
    assert acid.read(spark, name, client=client).count() == 12
    acid.insert_overwrite(spark, name, spark.range(2), client=client)
    assert table_statistics(warehouse, name) == ("2", BASIC)


def test_statistics_of_columns_are_not_accurate_after_a_write(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    acid.insert(spark, name, spark.range(10), client=client)
    now = client.fresh_table(name)
    state = '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}'
    parameters = {**(now.parameters or {}), COLUMN_STATS_ACCURATE: state}
    client.alter(name, replace(now, parameters=parameters), environment={"DO_NOT_UPDATE_STATS": "true"})
    acid.insert(spark, name, spark.range(1), client=client)
    assert table_statistics(warehouse, name) == ("11", BASIC)


def test_statistics_of_an_aborted_write_are_not_used_by_the_next_one(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    acid.insert(spark, name, spark.range(10), client=client)
    with pytest.raises(ZeroDivisionError), acid.transaction(spark, client) as transaction:
        transaction.insert(name, spark.range(5))
        raise ZeroDivisionError
    acid.insert(spark, name, spark.range(2), client=client)
    assert table_statistics(warehouse, name)[1] is None
    acid.insert_overwrite(spark, name, spark.range(7), client=client)
    assert table_statistics(warehouse, name) == ("7", BASIC)


def test_of_two_concurrent_inserts_none_is_forgotten_silently(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    with acid.transaction(spark, client) as first:
        first.insert(name, spark.range(5))
        acid.insert(spark, name, spark.range(3), client=client)
    assert acid.read(spark, name, client=client).count() == 8
    assert table_statistics(warehouse, name)[1] is None


def test_partitions_have_statistics_of_their_own(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "bigint"})
    client = warehouse.client

    def rows() -> dict[str, tuple[str | None, str | None]]:
        return {
            each.values[0]: (each.parameters.get("numRows"), each.parameters.get(COLUMN_STATS_ACCURATE))
            for each in client.partitions(name)
            if each.values and each.parameters is not None
        }

    acid.insert(spark, name, spark.range(10).selectExpr("id", "id % 2 as ds"), client=client)
    assert rows() == {"0": ("5", BASIC), "1": ("5", BASIC)}
    acid.delete(spark, name, "id = 3", client=client)
    assert rows() == {"0": ("5", BASIC), "1": ("4", BASIC)}


def test_rows_of_insert_only_tables_are_not_counted(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("log", {"id": "bigint"}, properties=INSERT_ONLY, format="parquet")
    acid.insert(spark, name, spark.range(10).coalesce(1), client=warehouse.client)
    found = warehouse.client.fresh_table(name).parameters or {}
    assert found["numFiles"] == "1" and "numRows" not in found and COLUMN_STATS_ACCURATE not in found


# Events


def test_a_write_is_in_the_notification_log(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    last = client.api.get_current_notificationEventId().eventId or 0
    acid.insert(spark, name, spark.range(3), client=client)
    acid.delete(spark, name, "id = 1", client=client)
    found = client.api.get_next_notification(NotificationEventRequest(lastEvent=last)).events or ()
    kinds = [each.eventType for each in found]
    for kind in ("OPEN_TXN", "ALLOC_WRITE_ID_EVENT", "COMMIT_TXN"):
        assert kinds.count(kind) >= 2, kinds
