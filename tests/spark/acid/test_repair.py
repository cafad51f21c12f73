"""Repair of transactional tables: committed rows make a partition; open, aborted and foreign writes do not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import InvalidInputException
from metastored.spark import acid
from tests.spark.acid.conftest import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint"}


def with_partition(spark: Any, warehouse: Warehouse, table: str) -> str:
    """A table with ten rows in the partition ds=a."""
    name = warehouse.create(table, COLUMNS, keys={"ds": "string"})
    acid.insert(spark, name, spark.range(10), partition={"ds": "a"}, client=warehouse.client)
    return name


def count(spark: Any, warehouse: Warehouse, table: str) -> int:
    """The number of rows. The lock of the read is released at once: a repair needs an exclusive one."""
    with acid.snapshot(spark, warehouse.client) as snapshot:
        return int(snapshot.read(table).count())


def write_delta(warehouse: Warehouse, table: str, partition: str, write_id: int) -> Path:
    """A directory as a write of this id makes it, with a file that nobody reads."""
    directory = warehouse.path(table) / partition / f"delta_{write_id:07d}_{write_id:07d}_0000"
    directory.mkdir(parents=True)
    (directory / "bucket_00000").write_bytes(b"no ORC")
    return directory


def test_a_directory_with_committed_rows_becomes_a_partition(spark: Any, warehouse: Warehouse) -> None:
    name = with_partition(spark, warehouse, "t")
    warehouse.client.drop_partition(name, {"ds": "a"}, delete_data=False)
    assert count(spark, warehouse, name) == 0
    assert metastored.spark.repair(spark, name, client=warehouse.client).added == ("ds=a",)
    assert count(spark, warehouse, name) == 10


def test_open_and_aborted_writes_make_no_partition(spark: Any, warehouse: Warehouse) -> None:
    name = with_partition(spark, warehouse, "t")
    with warehouse.client.transaction() as aborted:
        write_delta(warehouse, name, "ds=aborted", aborted.write_id(name))
        aborted.abort()
    with warehouse.client.transaction() as open:
        write_delta(warehouse, name, "ds=open", open.write_id(name))
        assert metastored.spark.repair(spark, name, "sync", client=warehouse.client).added == ()
    added = metastored.spark.repair(spark, name, "sync", client=warehouse.client).added
    assert added == ("ds=open",), "its transaction is committed now"


def test_a_write_id_that_the_table_has_not_allocated_is_refused(spark: Any, warehouse: Warehouse) -> None:
    name = with_partition(spark, warehouse, "t")
    write_delta(warehouse, name, "ds=b", 77)
    with pytest.raises(InvalidInputException, match="has a write id above 1, the highest of"):
        metastored.spark.repair(spark, name, client=warehouse.client)


def test_a_copied_directory_gives_a_new_table_its_write_ids(spark: Any, warehouse: Warehouse) -> None:
    source = with_partition(spark, warehouse, "source")
    acid.insert(spark, source, spark.range(5), partition={"ds": "a"}, client=warehouse.client)
    copy = warehouse.create("copy", COLUMNS, keys={"ds": "string"})
    shutil.copytree(warehouse.path(source) / "ds=a", warehouse.path(copy) / "ds=a")
    assert metastored.spark.repair(spark, copy, client=warehouse.client).added == ("ds=a",)
    assert count(spark, warehouse, copy) == 15
    acid.insert(spark, copy, spark.range(2), partition={"ds": "a"}, client=warehouse.client)
    assert count(spark, warehouse, copy) == 17


def test_a_partition_without_its_directory_is_dropped(spark: Any, warehouse: Warehouse) -> None:
    name = with_partition(spark, warehouse, "t")
    shutil.rmtree(warehouse.path(name) / "ds=a")
    assert metastored.spark.repair(spark, name, "add", client=warehouse.client).dropped == ()
    assert metastored.spark.repair(spark, name, "drop", client=warehouse.client).dropped == ("ds=a",)
    assert warehouse.client.partition_names(name) == ()
