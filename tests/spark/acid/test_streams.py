"""Streams into transactional tables: each batch is inserted exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metastored.errors import InvalidInputException
from metastored.spark import acid
from tests.spark.acid.conftest import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Stopped(Exception):
    """The driver ends between the commit of a batch and its record in the checkpoint."""


def test_a_batch_that_spark_repeats_after_a_restart_is_inserted_once(
    spark: Any, warehouse: Warehouse, tmp_path: Path
) -> None:
    name = warehouse.create("t", {"id": "bigint"})
    source, checkpoint = tmp_path / "source", tmp_path / "checkpoint"

    def run(batches: list[int], stop_after: int | None = None) -> None:
        sink = acid.sink(name, client=warehouse.client)  # A new process would have a new one.

        def each(frame: Any, batch: int) -> None:
            sink(frame, batch)
            batches.append(batch)
            if batch == stop_after:
                raise Stopped

        stream = spark.readStream.schema("id bigint").parquet(str(source))
        query = (
            stream.writeStream.foreachBatch(each)
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination(120)
        except Exception as error:
            if stop_after is None or "Stopped" not in str(error):
                raise

    spark.range(0, 5).write.mode("append").parquet(str(source))
    first: list[int] = []
    run(first)
    spark.range(5, 10).write.mode("append").parquet(str(source))
    second: list[int] = []
    run(second, stop_after=1)
    third: list[int] = []
    run(third)
    assert (first, second, third) == ([0], [1], [1]), "the third run repeats the batch of the second"
    assert sorted(row[0] for row in acid.read(spark, name, client=warehouse.client).collect()) == list(range(10))


def test_a_batch_that_was_aborted_is_inserted_again(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint"})
    sink = acid.sink(name, query="orders", client=warehouse.client)
    with pytest.raises(InvalidInputException, match="columns other"):
        sink(spark.sql("select 1 as other"), 0)
    for _ in range(2):
        sink(spark.sql("select 1 as id"), 0)
    sink(spark.sql("select 2 as id"), 1)
    acid.sink(name, query="orders", client=warehouse.client)(spark.sql("select 2 as id"), 1)
    acid.sink(name, query="others", client=warehouse.client)(spark.sql("select 3 as id"), 1)
    assert sorted(row[0] for row in acid.read(spark, name, client=warehouse.client).collect()) == [1, 2, 3]


def test_without_an_id_of_the_query_a_sink_needs_a_name(spark: Any, warehouse: Warehouse) -> None:
    sink = acid.sink(warehouse.create("t", {"id": "bigint"}), client=warehouse.client)
    with pytest.raises(InvalidInputException, match="query="):
        sink(spark.sql("select 1 as id"), 0)
