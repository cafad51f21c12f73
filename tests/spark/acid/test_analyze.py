"""Statistics of transactional tables: of the rows of a snapshot, with write ids, and by partition."""

from __future__ import annotations

import json
from typing import Any

import pytest

import metastored
from metastored.spark import acid, statistics
from metastored.structs import TableStatsRequest
from metastored.testing import running_server
from tests.spark.acid.conftest import FULL, INSERT_ONLY, Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint", "name": "string"}


def numbers(spark: Any, first: int, last: int) -> Any:
    return spark.range(first, last + 1, 1, 2).selectExpr("id", "concat('n', id) as name")


def bounds(warehouse: Warehouse, table: str) -> tuple[Any, ...]:
    """The lowest and highest id, and the number of distinct ones."""
    data = warehouse.client.statistics(table, ["id"])["id"].statsData
    assert data is not None and data.longStats is not None
    return data.longStats.lowValue, data.longStats.highValue, data.longStats.numDVs


def parameters(warehouse: Warehouse, table: str) -> dict[str, str]:
    return dict(warehouse.client.fresh_table(table).parameters or {})


def test_only_visible_rows_are_counted(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 100), client=warehouse.client)
    acid.delete(spark, name, "id <= 10 or id = 100", client=warehouse.client)
    with pytest.raises(RuntimeError), acid.transaction(spark, client=warehouse.client) as aborted:
        aborted.insert(name, numbers(spark, 1000, 1100))
        raise RuntimeError
    done = statistics.analyze(spark, name, client=warehouse.client)
    assert (done.rows, done.columns) == (89, ("id", "name"))
    assert done.bytes > 0
    assert bounds(warehouse, name) == (11, 99, 89)
    found = parameters(warehouse, name)
    assert (found["numRows"], found["spark.sql.statistics.colStats.id.max"]) == ("89", "99")
    assert json.loads(found["COLUMN_STATS_ACCURATE"]) == {
        "BASIC_STATS": "true", "COLUMN_STATS": {"id": "true", "name": "true"},
    }  # fmt: skip


def test_statistics_are_valid_for_readers_of_the_snapshot(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 9), client=warehouse.client)
    statistics.analyze(spark, name, client=warehouse.client)
    with warehouse.client.read(name) as read:
        (snapshot,) = read.snapshots.values()
    request = TableStatsRequest(warehouse.database, "t", ("id",), validWriteIdList=str(snapshot), engine="hive")
    reply = warehouse.client.api.get_table_statistics_req(request)
    assert len(reply.tableStats or ()) == 1
    assert reply.isStatsCompliant in (True, None), "None: before Hive 4"


@pytest.mark.parametrize("properties", [None, INSERT_ONLY])
def test_only_changed_partitions_are_read(spark: Any, warehouse: Warehouse, properties: dict[str, str] | None) -> None:
    options: dict[str, Any] = {} if properties is None else {"properties": properties}
    name = warehouse.create("t", COLUMNS, keys={"ds": "string"}, **options)
    for ds in ("a", "b"):
        acid.insert(spark, name, numbers(spark, 1, 20), partition={"ds": ds}, client=warehouse.client)
    first = statistics.analyze(spark, name, client=warehouse.client)
    assert (first.rows, first.partitions) == (40, ("ds=a", "ds=b"))
    acid.insert(spark, name, numbers(spark, 21, 30), partition={"ds": "b"}, client=warehouse.client)
    second = statistics.analyze(spark, name, client=warehouse.client)
    assert (second.rows, second.partitions, second.skipped) == (30, ("ds=b",), ("ds=a",))
    found = parameters(warehouse, name)
    assert found["spark.sql.statistics.numRows"] == "50"
    assert found["spark.sql.statistics.colStats.id.distinctCount"] == "30"
    third = statistics.analyze(spark, name, client=warehouse.client)
    assert (third.partitions, third.skipped) == ((), ("ds=a", "ds=b"))


def test_hive_4_gets_timestamps_and_sketches_of_quantiles(spark: Any) -> None:
    columns = {"id": "bigint", "ts": "timestamp", "day": "date"}
    frame = spark.range(0, 20_000, 1, 3).selectExpr(
        "id", "timestamp_seconds(id) as ts", "date_add(date'1970-01-01', cast(id % 100 as int)) as day"
    )
    with running_server(compat="4.0") as server, metastored.connect(server.uri) as client:
        client.create_database("d")
        client.create_table(metastored.table("d.t", columns, format="orc", properties=FULL))
        acid.insert(spark, "d.t", frame, client=client)
        statistics.analyze(spark, "d.t", histograms=True, client=client)
        found = {name: each.statsData for name, each in client.statistics("d.t").items()}
        texts = dict(client.fresh_table("d.t").parameters or {})
    ids, stamps, days = found["id"], found["ts"], found["day"]
    assert ids is not None and ids.longStats is not None
    assert stamps is not None and stamps.timestampStats is not None
    assert days is not None and days.dateStats is not None
    highest = stamps.timestampStats.highValue
    assert highest is not None and highest.secondsSinceEpoch == 19_999
    jvm = spark._jvm.org.apache.datasketches
    for data, median in ((ids.longStats, 10_000), (stamps.timestampStats, 10_000), (days.dateStats, 50 * 86_400)):
        sketch = jvm.kll.KllFloatsSketch.heapify(jvm.memory.Memory.wrap(bytearray(data.histogram or b"")))
        assert (sketch.getN(), sketch.getK()) == (20_000, 200)
        assert sketch.getQuantile(0.5) == pytest.approx(median, rel=0.05)
    assert any(key.startswith("spark.sql.statistics.colStats.id.histogram") for key in texts)
