"""Reads of transactional tables on Spark: snapshots, deletes, columns, partitions, and files without row ids."""

from __future__ import annotations

import time
from typing import Any

import pytest

from metastored.errors import InvalidInputException, NotSupported
from metastored.hive.transactions import layout
from metastored.spark import acid
from metastored.spark.acid.rows import scan
from metastored.wire.generated.locks import ShowLocksRequest
from metastored.wire.generated.transactions import TxnState
from tests.spark.acid.conftest import FULL, INSERT_ONLY, PLAIN, Warehouse, rows_of, write_original

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint", "name": "string"}


def numbers(spark: Any, first: int, last: int, tasks: int = 2) -> Any:
    """Rows with the ids from first to last."""
    return spark.range(first, last + 1, 1, tasks).selectExpr("id", "concat('n', id) as name")


def test_an_empty_table_has_its_columns_and_no_rows(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "date"})
    frame = acid.read(spark, name, client=warehouse.client)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        ("id", "bigint"), ("name", "string"), ("ds", "date"),
    ]  # fmt: skip
    assert frame.collect() == []


def test_rows_are_counted_and_columns_are_selected(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 100), client=warehouse.client)
    frame = acid.read(spark, name, client=warehouse.client)
    assert frame.count() == 100
    assert frame.selectExpr("sum(id)").collect()[0][0] == 5050
    assert rows_of(frame.where("id > 98").select("name")) == [("n100",), ("n99",)]
    assert acid.read(spark, name, columns=["name"], client=warehouse.client).columns == ["name"]


def test_a_condition_is_applied_to_rows_and_row_groups(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint", "name": "string", "day": "date", "amount": "decimal(9,2)"})
    frame = spark.range(0, 1000, 1, 2).selectExpr(
        "id", "concat('n', id) as name", "date_add(date'2024-01-01', cast(id as int)) as day", "id / 4 as amount"
    )
    acid.insert(spark, name, frame, client=warehouse.client)
    for where in (
        "id between 10 and 12", "id < 3", "id <= 3 and name = 'n2'", "id > 996", "998 < id", "id >= 990 or id is null",
        "id in (5, 7, 2000)", "day = date'2024-01-03'", "day >= '2026-09-20'", "amount = 2.5", "name > 'n998'",
        "not id > 5", "id = 5 and rand() >= 0",
    ):  # fmt: skip
        found = acid.read(spark, name, where=where, client=warehouse.client)
        assert rows_of(found) == rows_of(frame.where(where).withColumn("amount", frame.amount.cast("decimal(9,2)"))), (
            where
        )


def test_columns_named_as_hives_own_are_read_and_filtered(spark: Any, warehouse: Warehouse) -> None:
    """ORC evaluates a filter on `bucket` on the user's column of that name."""
    columns = {"operation": "int", "bucket": "bigint", "rowid": "string", "row": "struct<bucket:int,x:int>"}
    name = warehouse.create("t", columns)
    frame = spark.range(0, 100, 1, 2).selectExpr(
        "cast(-id as int) as operation", "-id as bucket", "null as rowid",
        "named_struct('bucket', cast(id as int), 'x', 1) as row",
    )  # fmt: skip
    acid.insert(spark, name, frame, client=warehouse.client)
    acid.delete(spark, name, "bucket = -7", client=warehouse.client)
    found = acid.read(spark, name, client=warehouse.client)
    assert found.count() == 99
    assert found.where("bucket = -8").select("row.bucket").collect()[0][0] == 8
    assert found.where("row.bucket = 8 and rowid is null").count() == 1
    assert acid.read(spark, name, where="bucket < -97", client=warehouse.client).count() == 2


def test_a_snapshot_does_not_see_later_commits(spark: Any, warehouse: Warehouse) -> None:
    one, two = warehouse.create("one", COLUMNS), warehouse.create("two", COLUMNS)
    acid.insert(spark, one, numbers(spark, 1, 3), client=warehouse.client)
    acid.insert(spark, two, numbers(spark, 1, 3), client=warehouse.client)
    with acid.snapshot(spark, warehouse.client) as snapshot:
        before = snapshot.read(one)
        acid.insert(spark, one, numbers(spark, 4, 4), client=warehouse.client)
        acid.delete(spark, two, "id = 1", client=warehouse.client)
        assert before.count() == snapshot.read(one).count() == 3
        assert snapshot.read(two, where="id = 1").count() == 1, "the second table is read at the moment of the first"
        assert snapshot.view(two, "seen") == "seen"
        assert spark.sql("select count(*) from seen").collect()[0][0] == 3
    assert not spark.catalog.tableExists("seen")
    assert acid.read(spark, one, client=warehouse.client).count() == 4


@pytest.mark.parametrize("kind", ["empty", "deletes", "condition on keys", "many partitions", "files without ids"])
def test_the_transaction_of_a_read_ends_with_its_data_frame(
    spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "many partitions":
        monkeypatch.setattr(scan, "MANY_PARTITIONS", 0)
    converted = kind == "files without ids"
    if converted:
        name = warehouse.create("t", COLUMNS, properties=PLAIN)
        write_original(numbers(spark, 1, 4, tasks=1), warehouse.path(name) / "000000_0")
        warehouse.client.set_parameters(name, FULL)
    else:
        name = warehouse.create("t", COLUMNS, keys={"ds": "string"})
    if kind not in ("empty", "files without ids"):
        frame = numbers(spark, 1, 4).selectExpr("*", "concat('d', id % 2) AS ds")
        acid.insert(spark, name, frame, client=warehouse.client)
    if kind in ("deletes", "files without ids"):
        acid.delete(spark, name, "id = 3", client=warehouse.client)
    where = "ds = 'd1'" if kind == "condition on keys" else None
    acid.read(spark, name, where=where, client=warehouse.client).collect()
    assert locks_end(warehouse), "an overwrite would wait for the read"


def locks_end(warehouse: Warehouse) -> bool:
    """Whether nobody holds a lock in the database; a transaction ends on a thread of its own."""
    for _ in range(50):
        if not warehouse.client.api.show_locks(ShowLocksRequest(dbname=warehouse.database)).locks:
            return True
        time.sleep(0.1)
    return False


def test_the_transaction_of_a_view_ends_when_it_is_dropped_or_created_again(spark: Any, warehouse: Warehouse) -> None:
    name, client = warehouse.create("t", {"id": "bigint"}), warehouse.client
    acid.insert(spark, name, spark.range(3), client=client)

    def opened() -> set[int]:
        return {each.id or 0 for each in client.api.get_open_txns_info().open_txns or () if each.state == TxnState.OPEN}

    before = opened()
    acid.view(spark, name, "Dropped", client=client)
    (first,) = opened() - before
    acid.view(spark, name, "dropped", client=client)
    (second,) = opened() - before
    assert first != second
    assert acid.drop_view(spark, "DROPPED") is True
    assert opened() <= before and not spark.catalog.tableExists("dropped")
    assert acid.drop_view(spark, "dropped") is False


def test_a_view_stays_at_its_snapshot(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3), client=warehouse.client)
    assert acid.view(spark, name, "shown", client=warehouse.client) == "shown"
    acid.delete(spark, name, client=warehouse.client)
    assert spark.sql("select sum(id) from shown").collect()[0][0] == 6
    assert acid.drop_view(spark, "shown")


def test_open_and_aborted_writes_are_not_seen(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3), client=warehouse.client)
    with pytest.raises(ZeroDivisionError), acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert(name, numbers(spark, 4, 6))
        assert transaction.read(name).count() == 6
        assert acid.read(spark, name, client=warehouse.client).count() == 3
        raise ZeroDivisionError
    assert acid.read(spark, name, client=warehouse.client).count() == 3
    assert any(path.startswith("delta_0000002") for path in warehouse.files(name)), "the cleaner removes it"


def test_only_files_that_deletes_can_touch_are_filtered(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 10, tasks=1), client=warehouse.client)
    acid.insert(spark, name, numbers(spark, 11, 20, tasks=1), client=warehouse.client)
    acid.delete(spark, name, "id = 3", client=warehouse.client)
    frame = acid.read(spark, name, client=warehouse.client)
    assert sorted(row[0] for row in frame.select("id").collect()) == [*range(1, 3), *range(4, 21)]
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count("LocalRelation") == 1 and plan.count("Union") == 1
    assert "LeftAnti" not in acid.read(spark, warehouse.create("u", COLUMNS), client=warehouse.client)._jdf.toString()


def test_partitions_are_pruned_by_the_condition(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string", "h": "int"})
    frame = numbers(spark, 0, 29).selectExpr("*", "concat('a=', id % 3, ' %') as ds", "cast(id % 2 as int) as h")
    acid.insert(spark, name, frame, client=warehouse.client)
    whole = acid.read(spark, name, client=warehouse.client)
    assert rows_of(whole) == rows_of(frame)
    found = acid.read(spark, name, where="ds = 'a=1 %' and h + 0 = 1 and id > 10", client=warehouse.client)
    assert rows_of(found) == rows_of(frame.where("ds = 'a=1 %' and h = 1 and id > 10"))
    assert len(found.inputFiles()) == 2, "two tasks have written this partition"
    assert acid.read(spark, name, where="h = 7", client=warehouse.client).inputFiles() == []


def test_many_partitions_are_read_like_few(spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string", "day": "date"})
    frame = numbers(spark, 0, 29).selectExpr(
        "*", "if(id % 3 = 0, null, concat('ä+ %/', id % 3)) as ds", "date'2024-02-29' as day"
    )
    acid.insert(spark, name, frame, client=warehouse.client)
    acid.delete(spark, name, "id in (3, 4, 5)", client=warehouse.client)
    few = rows_of(acid.read(spark, name, client=warehouse.client))
    monkeypatch.setattr(scan, "MANY_PARTITIONS", 1)
    assert (
        rows_of(acid.read(spark, name, client=warehouse.client)) == few == rows_of(frame.where("id not in (3, 4, 5)"))
    )


def test_files_from_before_the_conversion_have_ids(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, properties=PLAIN)
    path = warehouse.path(name)
    for number, (first, last) in {"000000_0": (1, 5), "000000_0_copy_1": (6, 9), "000001_0": (10, 12)}.items():
        write_original(numbers(spark, first, last, tasks=1), path / number)
    warehouse.client.set_parameters(name, FULL)
    found = acid.read(spark, name, columns=["id", "ROW__ID"], client=warehouse.client)
    ids = {row["id"]: tuple(row["ROW__ID"]) for row in found.collect()}
    zero, one = layout.encode_bucket(0, 0), layout.encode_bucket(1, 0)
    assert ids == {
        **{number: (0, zero, number - 1) for number in range(1, 10)},
        **{number: (0, one, number - 10) for number in range(10, 13)},
    }
    acid.delete(spark, name, "id in (5, 6, 11)", client=warehouse.client)
    acid.insert(spark, name, numbers(spark, 20, 21), client=warehouse.client)
    left = [1, 2, 3, 4, 7, 8, 9, 10, 12, 20, 21]
    assert [row[0] for row in rows_of(acid.read(spark, name, client=warehouse.client))] == left


@pytest.mark.parametrize("format", ["orc", "parquet", "json", "textfile"])
def test_an_insert_only_table_has_any_format(spark: Any, warehouse: Warehouse, format: str) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string"}, properties=INSERT_ONLY, format=format)
    frame = numbers(spark, 1, 10).selectExpr("id", "if(id = 3, null, name) as name", "concat('d', id % 2) as ds")
    acid.insert(spark, name, frame, client=warehouse.client)
    acid.insert_overwrite(spark, name, frame.where("id > 8 and ds = 'd1'"), client=warehouse.client)
    expected = rows_of(frame.where("ds = 'd0' or id > 8"))
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == expected
    with pytest.raises(InvalidInputException, match="insert-only"):
        acid.delete(spark, name, client=warehouse.client)
    with pytest.raises(InvalidInputException, match="no ids"):
        acid.read(spark, name, columns=["ROW__ID"], client=warehouse.client)


def test_a_file_that_a_stream_is_writing_is_refused(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3, tasks=1), client=warehouse.client)
    (data,) = warehouse.path(name).glob("delta_*/bucket_*")
    side = data.with_name(f"{data.name}_flush_length")
    side.write_bytes(data.stat().st_size.to_bytes(8, "big"))
    assert acid.read(spark, name, client=warehouse.client).count() == 3
    side.write_bytes((10).to_bytes(8, "big"))
    with pytest.raises(NotSupported, match="first 10 bytes"):
        acid.read(spark, name, client=warehouse.client)


def test_a_table_that_is_not_transactional_is_refused(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, properties=PLAIN)
    with pytest.raises(InvalidInputException, match="not transactional"):
        acid.read(spark, name, client=warehouse.client)
