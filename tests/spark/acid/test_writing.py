"""Writes to transactional tables on Spark: statements, transactions, conflicts, and the files that they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import orc

import metastored
from metastored.errors import InvalidInputException, InvalidOperationException, NotSupported, TransactionFailed
from metastored.hive.orc import Range, read_tail
from metastored.hive.transactions import layout
from metastored.spark import acid
from metastored.spark.acid import writing
from metastored.spark.acid.files import staging
from metastored.wire.generated.notifications import NotificationEventRequest
from tests.spark.acid.conftest import FULL, Warehouse, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint", "name": "string", "amount": "double"}


def numbers(spark: Any, first: int, last: int, tasks: int = 2) -> Any:
    return spark.range(first, last + 1, 1, tasks).selectExpr("id", "concat('n', id) as name", "id * 1.5D as amount")


def ids(spark: Any, warehouse: Warehouse, name: str, where: str | None = None) -> list[int]:
    return sorted(row[0] for row in acid.read(spark, name, where, ["id"], client=warehouse.client).collect())


# Files


def test_an_insert_writes_files_as_hive_does(spark: Any, warehouse: Warehouse) -> None:
    """Without buckets, all rows are of bucket 0: Trino writes no other file of deletes. Each task has a statement."""
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 10), client=warehouse.client)
    deltas = ["delta_0000001_0000001_0000", "delta_0000001_0000001_0001"]
    assert warehouse.files(name, hidden=True) == [
        f"{delta}/{file}" for delta in deltas for file in ("_orc_acid_version", "bucket_00000")
    ]
    for statement, delta in enumerate(deltas):
        root = warehouse.path(name) / delta
        assert (root / "_orc_acid_version").read_bytes() == b"2"
        bucket = layout.encode_bucket(0, statement)
        rows = orc.read_table(root / "bucket_00000").to_pylist()
        assert list(rows[0]) == ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"]
        assert [tuple(row.values())[:5] for row in rows] == [(0, 1, bucket, at, 1) for at in range(5)]
        metadata = read_tail((root / "bucket_00000").read_bytes()).metadata
        assert metadata["hive.acid.key.index"] == f"1,{bucket},4;".encode()
        assert (metadata["hive.acid.stats"], metadata["hive.acid.version"]) == (b"5,0,0", b"2")


def test_an_overwrite_writes_one_file_with_the_rows_of_all_tasks(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert_overwrite(spark, name, numbers(spark, 1, 10, tasks=3), client=warehouse.client)
    assert warehouse.files(name) == ["base_0000001/bucket_00000"]
    path = warehouse.path(name) / "base_0000001" / "bucket_00000"
    rows = orc.read_table(path).to_pylist()
    keys = [(row["originalTransaction"], row["bucket"], row["rowId"]) for row in rows]
    assert keys == sorted(set(keys)) and [row["row"]["id"] for row in rows] == list(range(1, 11))
    tail = read_tail(path.read_bytes())
    assert (tail.rows, len(tail.stripes), tail.ranges[3]) == (10, 3, Range(keys[0][1], keys[-1][1]))
    last = [keys[at] for at in (2, 5, 9)]
    assert tail.metadata["hive.acid.key.index"].decode() == "".join(f"{a},{b},{c};" for a, b, c in last)
    assert tail.metadata["hive.acid.stats"] == b"10,0,0"
    acid.delete(spark, name, "id in (1, 6, 10)", client=warehouse.client)
    assert ids(spark, warehouse, name) == [2, 3, 4, 5, 7, 8, 9]


def test_statements_of_a_transaction_use_other_ids(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    with acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert(name, numbers(spark, 1, 6, tasks=3))
        transaction.update(name, {"name": "'new'"}, "id in (1, 6)")
        transaction.insert(name, numbers(spark, 7, 8))
        transaction.delete(name, "id in (6, 7)")
    assert ids(spark, warehouse, name) == [1, 2, 3, 4, 5, 8]
    found = acid.read(spark, name, columns=["ROW__ID"], client=warehouse.client).collect()
    assert len({tuple(row[0]) for row in found}) == 6


def test_a_transaction_without_statement_ids_says_so(
    spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = warehouse.create("t", COLUMNS)
    monkeypatch.setattr(staging, "IDS", 4)
    with acid.transaction(spark, warehouse.client) as transaction:
        for number in range(3):  # 2 of 4 tasks, then 1 of 2, then 1 of 1.
            transaction.insert(name, numbers(spark, number * 10 + 1, number * 10 + 4, tasks=4))
    assert len(ids(spark, warehouse, name)) == 12
    with (
        pytest.raises(NotSupported, match="used all 4 statement ids"),
        acid.transaction(spark, warehouse.client) as transaction,
    ):
        for _ in range(4):
            transaction.insert(name, numbers(spark, 1, 4, tasks=4))
    assert len(ids(spark, warehouse, name)) == 12


def test_a_delete_writes_the_ids_of_rows_sorted_in_the_files_of_their_buckets(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, buckets=("id", 2))
    for first in (1, 11):
        acid.insert(spark, name, numbers(spark, first, first + 9), client=warehouse.client)
    acid.delete(spark, name, "id % 3 = 0", client=warehouse.client)
    delta = warehouse.path(name) / "delete_delta_0000003_0000003_0000"
    assert (delta / "_orc_acid_version").read_bytes() == b"2"
    for number in (0, 1):
        path = delta / f"bucket_0000{number}"
        rows = orc.read_table(path).to_pylist()
        keys = [(row["originalTransaction"], row["bucket"], row["rowId"]) for row in rows]
        assert keys == sorted(keys) and {layout.decode_bucket(key[1])[0] for key in keys} == {number}
        assert {(row["operation"], row["currentTransaction"], row["row"]) for row in rows} == {(2, 3, None)}
        metadata = read_tail(path.read_bytes()).metadata
        assert metadata["hive.acid.key.index"] == ",".join(map(str, keys[-1])).encode() + b";"
        assert metadata["hive.acid.stats"] == f"0,0,{len(keys)}".encode()


def test_without_buckets_all_deletes_are_in_files_of_bucket_0(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    for first in (1, 11):
        acid.insert(spark, name, numbers(spark, first, first + 9), client=warehouse.client)
    acid.delete(spark, name, "id % 2 = 0", client=warehouse.client)
    paths = sorted(warehouse.path(name).glob("delete_delta_*/bucket_*"))
    assert {path.name for path in paths} == {"bucket_00000"}
    deleted = 0
    for path in paths:
        rows = orc.read_table(path, columns=["originalTransaction", "bucket", "rowId"]).to_pylist()
        keys = [tuple(row.values()) for row in rows]
        assert keys == sorted(keys) and {layout.decode_bucket(key[1])[0] for key in keys} == {0}
        deleted += len(keys)
    assert deleted == 10


def test_the_rows_of_values_have_the_statement_of_their_file(spark: Any, warehouse: Warehouse) -> None:
    """Spark evaluates a projection of VALUES on the driver: all rows would get the statement of the first task."""
    name = warehouse.create("t", COLUMNS)
    frame = spark.sql(
        "select * from values (1, 'a', 1D), (2, 'b', 2D), (3, 'c', 3D), (4, 'd', 4D) as v(id, name, amount)"
    )
    acid.insert(spark, name, frame, client=warehouse.client)
    paths = [warehouse.path(name) / path for path in warehouse.files(name)]
    assert len(paths) == 2
    for path in paths:
        rows = orc.read_table(path, columns=["bucket", "rowId"]).to_pylist()
        directory = layout.parse_directory(path.parent.name)
        assert directory is not None
        assert {layout.decode_bucket(row["bucket"]) for row in rows} == {(0, directory.statement)}
        assert [row["rowId"] for row in rows] == [0, 1]
    acid.delete(spark, name, "id in (1, 4)", client=warehouse.client)
    assert ids(spark, warehouse, name) == [2, 3]


def test_no_staged_file_is_left(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    left = warehouse.path(name) / "_tmp_acid_1" / "0"
    left.mkdir(parents=True)
    (left / "part-00000-x.orc").write_bytes(b"of a driver that was killed")
    acid.insert(spark, name, numbers(spark, 1, 10), client=warehouse.client)
    acid.update(spark, name, {"amount": "0"}, "id = 1", client=warehouse.client)
    with pytest.raises(Exception, match="no_such_column"):
        acid.update(spark, name, {"amount": "no_such_column"}, "id = 1", client=warehouse.client)
    assert not list(warehouse.path(name).glob("_tmp_acid_*"))


# Statements


def test_an_insert_matches_columns_by_name(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, spark.sql("select 'a' as NAME, 1 as id"), client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [(1, "a", None)]
    with pytest.raises(InvalidInputException, match="columns other"):
        acid.insert(spark, name, spark.sql("select 1 as id, 2 as other"), client=warehouse.client)


def test_update_and_delete_change_the_rows_of_their_condition(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 6), client=warehouse.client)
    acid.update(spark, name, {"AMOUNT": "amount + id", "name": "upper(name)"}, "id > 4", client=warehouse.client)
    acid.delete(spark, name, "id in (1, 5) or name is null", client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [
        (2, "n2", 3.0), (3, "n3", 4.5), (4, "n4", 6.0), (6, "N6", 15.0),
    ]  # fmt: skip
    acid.update(spark, name, {"id": "id + 100"}, client=warehouse.client)
    assert ids(spark, warehouse, name) == [102, 103, 104, 106]
    acid.delete(spark, name, client=warehouse.client)
    assert ids(spark, warehouse, name) == []


def test_a_condition_that_is_null_changes_nothing(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, spark.sql("select 1 as id, cast(null as string) as name"), client=warehouse.client)
    acid.delete(spark, name, "name <> 'a'", client=warehouse.client)
    assert ids(spark, warehouse, name) == [1]


def test_an_overwrite_replaces_the_table(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 6), client=warehouse.client)
    acid.insert_overwrite(spark, name, numbers(spark, 5, 8), client=warehouse.client)
    assert ids(spark, warehouse, name) == [5, 6, 7, 8]
    acid.insert_overwrite(spark, name, numbers(spark, 1, 0), client=warehouse.client)
    assert ids(spark, warehouse, name) == []
    acid.insert(spark, name, numbers(spark, 1, 2), client=warehouse.client)
    assert ids(spark, warehouse, name) == [1, 2]


def test_an_insert_overwrite_may_read_the_table_that_it_replaces(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 6), client=warehouse.client)
    with acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert_overwrite(name, transaction.read(name, where="id > 3"))
    assert ids(spark, warehouse, name) == [4, 5, 6]


def test_partitions_are_made_by_the_rows(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string", "h": "int"})
    frame = numbers(spark, 1, 12).selectExpr(
        "*", "if(id = 12, '', concat('a/', id % 2)) as ds", "cast(id % 3 as int) as h"
    )
    acid.insert(spark, name, frame, client=warehouse.client)
    assert warehouse.client.partition_names(name) == (
        "ds=__HIVE_DEFAULT_PARTITION__/h=0",
        *(f"ds=a%2F{number}/h={hour}" for number in (0, 1) for hour in (0, 1, 2)),
    )
    acid.insert(spark, name, frame.where("id < 3").drop("h"), partition={"h": 9}, client=warehouse.client)
    acid.insert_overwrite(
        spark, name, frame.where("id = 1").drop("ds", "h"), partition={"ds": "a/0", "h": 2}, client=warehouse.client
    )
    acid.insert_overwrite(
        spark, name, frame.where("false").drop("ds", "h"), partition={"ds": "a/1", "h": 1}, client=warehouse.client
    )
    assert ids(spark, warehouse, name, "h = 9") == [1, 2]
    assert ids(spark, warehouse, name, "ds = 'a/0' and h = 2") == [1]
    assert ids(spark, warehouse, name, "ds = 'a/1' and h = 1") == []
    assert ids(spark, warehouse, name, "ds is null") == [12]
    acid.update(spark, name, {"amount": "-1"}, "ds = 'a/1'", client=warehouse.client)
    acid.delete(spark, name, "h = 0 and ds is not null", client=warehouse.client)
    left = acid.read(spark, name, client=warehouse.client)
    assert left.where("ds = 'a/1' and amount <> -1").count() == left.where("h = 0 and id <> 12").count() == 0
    with pytest.raises(InvalidInputException, match="cannot be updated"):
        acid.update(spark, name, {"h": "1"}, client=warehouse.client)


def test_row_ids_ascend_in_each_file_of_a_partition(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string"})
    frame = numbers(spark, 1, 300, tasks=3).selectExpr("*", "concat('d', pmod(hash(id), 4)) as ds")
    acid.insert(spark, name, frame, client=warehouse.client)
    paths = [warehouse.path(name) / path for path in warehouse.files(name)]
    assert len(paths) == 12
    for path in paths:
        found = orc.read_table(path, columns=["rowId", "bucket"]).to_pydict()
        assert found["rowId"] == sorted(set(found["rowId"]))
        assert {layout.decode_bucket(each)[0] for each in found["bucket"]} == {layout.bucket_of_file(path.name)}
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == rows_of(frame)


# Buckets


def murmur3(data: bytes, seed: int = 104729) -> int:
    """Hive's Murmur3, with its signed bytes at the end; as an unsigned number."""

    def rotated(number: int, by: int) -> int:
        return (number << by | number >> (32 - by)) & 0xFFFFFFFF

    def mixed(number: int) -> int:
        return rotated(number * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    state, body = seed, len(data) // 4 * 4
    for at in range(0, body, 4):
        state = (rotated(state ^ mixed(int.from_bytes(data[at : at + 4], "little")), 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    tail = 0
    for at, byte in enumerate(data[body:]):
        tail ^= (byte - 256 if byte > 127 else byte) << 8 * at
    state ^= mixed(tail & 0xFFFFFFFF) if body < len(data) else 0
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    state = (state ^ state >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return state ^ state >> 16


def big(number: int, size: int) -> bytes:
    return number.to_bytes(size, "big", signed=True)


NUMBERS = (0, 1, -1, 7, 127, -128, 255, 256, 32767, -32768)
TEXTS = ("", "a", "ab", "abc", "abcd", "abcde", "ä", "naïve €", "x" * 100, "\x7f\x80ÿ")


@pytest.mark.parametrize(
    ("type", "values", "hashes"),
    [
        ("smallint", NUMBERS, [murmur3(big(each, 2)) for each in NUMBERS]),
        ("int", (*NUMBERS, 2**31 - 1, -(2**31)), [murmur3(big(each, 4)) for each in (*NUMBERS, 2**31 - 1, -(2**31))]),
        ("bigint", (*NUMBERS, 2**63 - 1, -5), [murmur3(big(each, 8)) for each in (*NUMBERS, 2**63 - 1, -5)]),
        ("string", TEXTS, [murmur3(each.encode()) for each in TEXTS]),
        ("boolean", (True, False), [1, 0]),
    ],
)
def test_rows_are_in_the_buckets_of_hives_hash(
    spark: Any, warehouse: Warehouse, type: str, values: tuple[Any, ...], hashes: list[int]
) -> None:
    name = warehouse.create("t", {"k": type}, buckets=("k", 5), properties={**FULL, "bucketing_version": "2"})
    frame = spark.createDataFrame([(each,) for each in (*values, None)], f"k {type}")
    acid.insert(spark, name, frame, client=warehouse.client)
    found = acid.read(spark, name, columns=["k", "ROW__ID.bucketid"], client=warehouse.client).collect()
    assert {row[0]: layout.decode_bucket(row[1])[0] for row in found} == {
        None: 0, **{value: (hashed & 0x7FFFFFFF) % 5 for value, hashed in zip(values, hashes, strict=True)},
    }  # fmt: skip
    acid.update(spark, name, {"k": "k"}, "k is not null", client=warehouse.client)
    again = acid.read(spark, name, columns=["k", "ROW__ID.bucketid"], client=warehouse.client).collect()
    assert sorted(map(str, again)) == sorted(map(str, found))


def test_the_first_version_of_buckets_is_javas_hash_code(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"n": "bigint", "s": "string"}, buckets=(("n", "s"), 7))
    frame = spark.createDataFrame([(2**40 + 3, "abc"), (-9, "ä")], "n bigint, s string")
    acid.insert(spark, name, frame, client=warehouse.client)
    found = acid.read(spark, name, columns=["n", "ROW__ID.bucketid"], client=warehouse.client).collect()

    def expected(number: int, text: str) -> int:
        low = (number ^ (number & (2**64 - 1)) >> 32) & 0xFFFFFFFF
        hashed = 0
        for byte in text.encode():
            hashed = (hashed * 31 + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
        return ((low * 31 + hashed) & 0x7FFFFFFF) % 7

    assert {row[0]: layout.decode_bucket(row[1])[0] for row in found} == {
        2**40 + 3: expected(2**40 + 3, "abc"), -9: expected(-9, "ä"),
    }  # fmt: skip


def test_buckets_of_other_types_are_refused(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"k": "double"}, buckets=("k", 5), properties={**FULL, "bucketing_version": "2"})
    with pytest.raises(NotSupported, match="bucketed by a column of double"):
        acid.insert(spark, name, spark.sql("select 1D as k"), client=warehouse.client)


# Merges


def test_a_merge_updates_deletes_and_inserts(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 6), client=warehouse.client)
    source = spark.createDataFrame(
        [(2, "two", 0.0), (3, "-", 0.0), (9, "nine", 9.0), (10, "-", 1.0)], "id int, name string, amount double"
    )
    acid.merge(
        spark, name, source, "target.id = source.id",
        matched=[acid.When("source.name = '-'", "delete"), {"name": "concat(target.name, source.name)"}],
        not_matched=acid.When("source.name <> '-'", "*"),
        not_matched_by_source=[acid.When("target.id = 6", "delete"), acid.When("target.id = 5", {"amount": "-1"})],
        client=warehouse.client,
    )  # fmt: skip
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [
        (1, "n1", 1.5), (2, "n2two", 3.0), (4, "n4", 6.0), (5, "n5", -1.0), (9, "nine", 9.0),
    ]  # fmt: skip


@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_merge_reads_its_target_once(
    spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, checkpointed: bool
) -> None:
    """Also of a source in which Spark does not recognize its cached rows, and beside deleted rows."""
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 10), client=warehouse.client)
    acid.delete(spark, name, "id = 3", client=warehouse.client)
    source = numbers(spark, 8, 12)
    leaves: list[str] = []

    def write(table: Any, frame: Any, *others: Any) -> None:
        found = frame._jdf.queryExecution().withCachedData().collectLeaves()
        leaves.extend(found.apply(at).nodeName() for at in range(found.size()))
        written(table, frame, *others)

    written = staging._write
    monkeypatch.setattr(staging, "_write", write)
    merged = source.localCheckpoint() if checkpointed else source
    on = "target.id = source.id"
    acid.merge(spark, name, merged, on, matched={"name": "'m'"}, not_matched="*", client=warehouse.client)
    assert leaves and set(leaves) == {"InMemoryRelation"}
    assert ids(spark, warehouse, name) == [1, 2, *range(4, 13)]
    assert ids(spark, warehouse, name, "name = 'm'") == [8, 9, 10]


def test_a_merge_of_new_rows_alone_inserts_into_their_partitions(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "string"})
    acid.insert(spark, name, spark.sql("select 1 as id, 'a' as ds"), client=warehouse.client)
    source = spark.sql("select * from values (1, 'a'), (1, 'b'), (2, 'c') as v(id, ds)")
    on = "target.id = source.id and target.ds = source.ds"
    acid.merge(spark, name, source, on, not_matched={"id": "source.id", "ds": "source.ds"}, client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == [(1, "a"), (1, "b"), (2, "c")]
    acid.merge(spark, name, source, on, matched="delete", client=warehouse.client)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == []


def test_a_merge_that_would_change_a_row_twice_is_refused(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3), client=warehouse.client)
    source = spark.sql("select * from values (1, 'x'), (1, 'y') as v(id, name)")
    with pytest.raises(InvalidOperationException, match="more than one row of the source"):
        acid.merge(
            spark, name, source, "target.id = source.id", matched={"name": "source.name"}, client=warehouse.client
        )
    acid.merge(
        spark, name, source, "target.id = source.id",
        matched=acid.When("source.name = 'y'", {"name": "source.name"}), client=warehouse.client,
    )  # fmt: skip
    assert rows_of(acid.read(spark, name, where="id = 1", client=warehouse.client)) == [(1, "y", 1.5)]
    with pytest.raises(InvalidInputException, match="needs matched"):
        acid.merge(spark, name, source, "target.id = source.id", client=warehouse.client)


# Transactions


def test_statements_of_a_transaction_see_each_other_and_are_committed_together(
    spark: Any, warehouse: Warehouse
) -> None:
    one, two = warehouse.create("one", COLUMNS), warehouse.create("two", COLUMNS)
    acid.insert(spark, one, numbers(spark, 1, 3), client=warehouse.client)
    with acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert(one, numbers(spark, 4, 6))
        transaction.delete(one, "id in (1, 4)")
        transaction.update(one, {"id": "id * 10"}, "id in (2, 5)")
        transaction.delete(one, "id = 50")
        transaction.insert(two, transaction.read(one, where="id > 3"))
        assert ids(spark, warehouse, one) == [1, 2, 3] and ids(spark, warehouse, two) == []
    assert ids(spark, warehouse, one) == [3, 6, 20] and ids(spark, warehouse, two) == [6, 20]


def test_a_failed_statement_ends_its_transaction_even_if_the_error_is_caught(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    with pytest.raises(TransactionFailed, match="one of its statements failed"):
        with acid.transaction(spark, warehouse.client) as transaction:
            transaction.insert(name, numbers(spark, 1, 3))
            with pytest.raises(InvalidInputException):
                transaction.update(name, {"no": "1"})
            with pytest.raises(TransactionFailed, match="has ended"):
                transaction.insert(name, numbers(spark, 4, 6))
    assert ids(spark, warehouse, name) == []


def test_a_table_that_a_transaction_has_overwritten_takes_no_other_statement(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3), client=warehouse.client)
    with acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert(name, numbers(spark, 4, 6))
        transaction.insert_overwrite(name, transaction.read(name, where="id > 2"))
    assert ids(spark, warehouse, name) == [3, 4, 5, 6]
    with pytest.raises(NotSupported, match="was overwritten"), acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert_overwrite(name, numbers(spark, 1, 3))
        transaction.insert(name, numbers(spark, 4, 6))
    assert ids(spark, warehouse, name) == [3, 4, 5, 6]


def test_of_two_transactions_that_change_the_same_rows_the_first_wins(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3), client=warehouse.client)
    first = acid.transaction(spark, warehouse.client, timeout=0.2)
    one = first.__enter__()
    one.insert(warehouse.create("other", COLUMNS), numbers(spark, 1, 1))  # Its snapshot is taken here.
    acid.update(spark, name, {"amount": "1"}, "id = 1", client=warehouse.client)
    one.update(name, {"amount": "2"}, "id = 1")
    with pytest.raises(TransactionFailed):
        first.__exit__(None, None, None)
    assert rows_of(acid.read(spark, name, where="id = 1", client=warehouse.client)) == [(1, "n1", 1.0)]


def test_a_commit_has_the_files_in_its_notification(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", COLUMNS, keys={"ds": "string"})
    last = warehouse.client.api.get_current_notificationEventId().eventId
    acid.insert(spark, name, numbers(spark, 1, 3, tasks=1).selectExpr("*", "'a' as ds"), client=warehouse.client)
    found = warehouse.client.api.get_next_notification(NotificationEventRequest(lastEvent=last)).events or ()
    types = [event.eventType for event in found]
    assert types.index("ADD_PARTITION") < types.index("COMMIT_TXN")


def test_a_partition_that_is_added_elsewhere_during_an_insert_is_noticed(
    spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "bigint"})
    looked_up = writing._Statement._existing

    def and_then_added(statement: Any, wanted: Any) -> Any:
        found = looked_up(statement, wanted)
        if not found:
            place = metastored.partition(warehouse.client.table(name), ("1",), location=f"file:{tmp_path}/elsewhere")
            warehouse.client.add_partitions(name, [place], if_not_exists=True)
        return found

    rows = spark.range(3).selectExpr("id", "1 as ds")
    with monkeypatch.context() as patch, pytest.raises(TransactionFailed, match=r"ds=1 of .* was added meanwhile"):
        patch.setattr(writing._Statement, "_existing", and_then_added)
        acid.insert(spark, name, rows, client=warehouse.client)
    assert acid.read(spark, name, client=warehouse.client).count() == 0
    acid.insert(spark, name, rows, client=warehouse.client)
    assert acid.read(spark, name, client=warehouse.client).count() == 3
