"""Statistics of transactional tables: of the rows of a snapshot, with write ids, and by partition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metastored.spark import acid, statistics
from metastored.spark.statistics import histograms
from metastored.spark.statistics.summaries import Kind
from metastored.structs import TableStatsRequest
from tests.spark.acid.conftest import INSERT_ONLY, Warehouse

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


def test_hives_histograms_are_read_by_datasketches(spark: Any) -> None:
    frame = spark.range(0, 20_000, 1, 3).selectExpr(
        "id % 2 as part", "id", "timestamp_seconds(id) as ts", "cast(null as int) as nothing",
        "date_add(date'1970-01-01', cast(id % 100 as int)) as day",
    )  # fmt: skip
    kinds = {"id": Kind.INTEGER, "ts": Kind.TIMESTAMP, "day": Kind.DATE, "nothing": Kind.INTEGER}
    types = {each.name: each.dataType.typeName() for each in frame.schema}
    numbers = {name: histograms.number_of(frame[name], kind, types[name]) for name, kind in kinds.items()}
    found = histograms.kll_sketches(frame, frame["part"], numbers, kinds)
    assert sorted(found) == [0, 1]
    jvm = spark._jvm.org.apache.datasketches
    for name, median in (("id", 10_000), ("ts", 10_000), ("day", 49 * 86_400)):
        sketch = jvm.kll.KllFloatsSketch.heapify(jvm.memory.Memory.wrap(bytearray(found[1][name])))
        assert (sketch.getN(), sketch.getK()) == (10_000, 200)
        assert sketch.getQuantile(0.5) == pytest.approx(median, rel=0.06)
