"""Files that Hive's own writers wrote, of 3.1.3 and 4.0.1, are read as Hive's own readers read them.

The write ids are those of transactions of the metastore: committed, aborted and open ones. Hive gets the same lists.
Deletes of one writer are in the order of the ids, which Hive's readers rely on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from metastored.hive.transactions.layout import encode_bucket
from metastored.spark import acid
from tests.spark.acid.conftest import FULL, PLAIN, Warehouse
from tests.support.hive_acid import READERS, HiveFiles, comparable, deleted, inserted, updated

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ALL_TYPES = {
    "id": "int",
    "a_boolean": "boolean",
    "a_tinyint": "tinyint",
    "a_smallint": "smallint",
    "a_bigint": "bigint",
    "a_float": "float",
    "a_double": "double",
    "a_decimal": "decimal(20,4)",
    "a_string": "string",
    "a_char": "char(5)",
    "a_varchar": "varchar(5)",
    "a_binary": "binary",
    "a_date": "date",
    "a_timestamp": "timestamp",
    "a_list": "array<int>",
    "a_map": "map<string,bigint>",
    "a_struct": "struct<x:int,y:array<string>>",
}
VALUES = [
    (
        1, True, 127, -32768, 2**63 - 1, 1.5, 0.1, Decimal("1234567890123456.7890"), "naïve €", "ab", "abcde",
        b"\x00\xff", date(2024, 2, 29), datetime(2024, 2, 29, 12, 30, 15, 123456), [1, None, 3], {"a": 1, "b": None},
        (1, ["x", None]),
    ),
    (
        2, False, -128, 32767, -(2**63), -0.25, 1e300, Decimal("-0.0001"), "", "", "", b"", date(1969, 12, 31),
        datetime(1969, 12, 31, 23, 59, 58), [], {}, (None, []),
    ),
    (3, *[None] * 16),
    (
        4, True, 0, 0, 0, float("inf"), float("nan"), Decimal(0), "\x7f\x01", "abcdefgh", "äöüßéà", b"abc",
        date(2038, 1, 19), datetime(2000, 1, 1), [-1], {"": 0}, (4, None),
    ),
]  # fmt: skip


class Aborted(Exception):
    """Ends a transaction."""


class WriteIds:
    """Write ids of a table, in the order in which they are requested. Open ones end with the test."""

    def __init__(self, warehouse: Warehouse, name: str, stack: ExitStack) -> None:
        self._client = warehouse.client
        self._name = name
        self._stack = stack

    def committed(self) -> int:
        with self._client.write(self._name) as write:
            return write.write_id

    def aborted(self) -> int:
        write = self._client.write(self._name)
        with pytest.raises(Aborted), write:
            raise Aborted
        return write.write_id

    def open(self) -> int:
        return self._stack.enter_context(self._client.write(self._name)).write_id


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def assert_read_as_by_hive(
    spark: Any,
    warehouse: Warehouse,
    files: HiveFiles,
    name: str,
    expected: list[Any],
    readers: Sequence[str] = READERS,
) -> None:
    """Runs the commands; then the readers of Hive and metastored return the same rows, and the same ids of rows.

    `expected` are the values of the first column.
    """
    with warehouse.client.read(name) as seen:
        write_ids, transactions = str(seen.snapshots[name.lower()]), str(seen.visible)
        for reader in readers:
            files.read(warehouse.path(name), write_ids, reader=reader, transactions=transactions)
        rows, *batches = files.run()
    columns = [*files.columns, "ROW__ID"]
    found = acid.read(spark, name, columns=columns, client=warehouse.client).collect()
    mine = sorted((comparable(tuple(row)) for row in found), key=repr)
    assert mine == rows.rows
    for found_in_batches in batches:
        assert sorted((row[:-1] for row in mine), key=repr) == found_in_batches.rows
    assert sorted(row[0] for row in mine) == expected


def id_of(write_id: int, row: int, bucket: int = 0, statement: int = 0) -> tuple[int, int, int]:
    return write_id, encode_bucket(bucket, statement), row


def test_values_of_all_types_are_read(spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack) -> None:
    name = warehouse.create("t", ALL_TYPES)
    ids, files, root = WriteIds(warehouse, name, stack), HiveFiles(hive_version, ALL_TYPES), warehouse.path(name)
    files.write(root, [inserted(*row) for row in VALUES], ids.committed())
    assert_read_as_by_hive(spark, warehouse, files, name, [1, 2, 3, 4])


def test_deltas_deletes_and_updates_are_read(
    spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack
) -> None:
    columns = {"id": "int", "name": "string"}
    name = warehouse.create("t", columns)
    ids, files, root = WriteIds(warehouse, name, stack), HiveFiles(hive_version, columns), warehouse.path(name)
    one = ids.committed()
    for bucket in (0, 1):
        for statement in (0, 1):
            first = 100 * bucket + 10 * statement
            new = [inserted(number, f"n{number}") for number in range(first, first + 5)]
            files.write(root, new, one, bucket=bucket, statement=statement)
    two = ids.committed()
    files.write(root, [deleted(id_of(one, 0)), updated(id_of(one, 3), 3, "new")], two)
    files.write(root, [updated(id_of(one, 0, 1), 100, None), deleted(id_of(one, 4, 1, 1))], two, bucket=1)
    three = ids.aborted()
    files.write(root, [deleted(id_of(one, 1)), inserted(900, "aborted")], three)
    four = ids.committed()
    files.write(root, [deleted(id_of(one, 0, 0, 1)), updated(id_of(two, 0), 3, "newer")], four)
    five = ids.open()
    files.write(root, [deleted(id_of(one, 2)), inserted(901, "open")], five)
    left = [1, 2, 3, 4, 11, 12, 13, 14, *range(100, 105), *range(110, 114)]
    assert_read_as_by_hive(spark, warehouse, files, name, left)


def test_a_base_hides_what_is_older(spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack) -> None:
    columns = {"id": "int"}
    name = warehouse.create("t", columns)
    ids, files, root = WriteIds(warehouse, name, stack), HiveFiles(hive_version, columns), warehouse.path(name)
    files.write(root, [inserted(1), inserted(2)], ids.committed())
    base = ids.committed()
    for bucket in (0, 1):
        files.write(root, [inserted(10 * bucket + 3), inserted(10 * bucket + 4)], base, bucket=bucket, base=True)
    files.write(root, [deleted(id_of(base, 1)), inserted(5)], ids.committed())
    files.write(root, [inserted(900)], ids.aborted(), base=True)
    assert_read_as_by_hive(spark, warehouse, files, name, [3, 5, 13, 14])


def test_a_batch_of_a_stream_is_read_without_its_aborted_and_open_writes(
    spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack
) -> None:
    columns = {"id": "int"}
    name = warehouse.create("t", columns)
    ids, files, root = WriteIds(warehouse, name, stack), HiveFiles(hive_version, columns), warehouse.path(name)
    batch = [ids.committed(), ids.aborted(), ids.committed(), ids.open()]
    events = [inserted(10 * write_id + number, write_id=write_id) for write_id in batch for number in (0, 1)]
    files.write(root, events, batch[0], high=batch[-1])
    files.write(root, [deleted(id_of(batch[2], 1))], ids.committed())
    assert_read_as_by_hive(spark, warehouse, files, name, [10, 11, 30])


def test_the_rows_of_a_converted_table_have_the_ids_that_hive_gives_them(
    spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack
) -> None:
    columns = {"id": "int", "name": "string"}
    name = warehouse.create("t", columns, properties=PLAIN)
    files, root = HiveFiles(hive_version, columns), warehouse.path(name)
    for file, (first, last) in {"000000_0": (1, 5), "000000_0_copy_1": (6, 9), "000001_0": (10, 12)}.items():
        files.write_original(root / file, [(number, f"n{number}") for number in range(first, last + 1)])
    warehouse.client.set_parameters(name, FULL)
    ids = WriteIds(warehouse, name, stack)
    files.write(root, [deleted(id_of(0, 4)), deleted(id_of(0, 5))], ids.committed())
    files.write(root, [updated(id_of(0, 1, 1), 11, "new"), inserted(20, "x")], ids.committed(), bucket=1)
    # The vectorized reader of Hive 4 numbers such rows only with the plan of a query, which there is none of here.
    readers = READERS if hive_version == "3.1.3" else ("row",)
    assert_read_as_by_hive(spark, warehouse, files, name, [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 20], readers)


@pytest.mark.parametrize("hive_version", ["4.0.1"], indirect=True)
def test_attempts_and_visibility_in_names_are_understood(
    spark: Any, warehouse: Warehouse, hive_version: str, stack: ExitStack
) -> None:
    """Hive 4 writes the number of an attempt into the names of files, and that of a compaction into directories."""
    columns = {"id": "int"}
    name = warehouse.create("t", columns)
    ids, files, root = WriteIds(warehouse, name, stack), HiveFiles(hive_version, columns), warehouse.path(name)
    one, two = ids.committed(), ids.committed()
    files.write(root, [inserted(1), inserted(2)], one, attempt=0)
    files.write(root, [inserted(3), deleted(id_of(one, 0))], two, attempt=1)
    client = warehouse.client
    with client.transaction() as compaction:
        files.write(root, [inserted(2)], two, base=True, visibility=compaction.id)
        assert_read_as_by_hive(spark, warehouse, files, name, [2, 3])
    # The writer numbers rows from 0, and gives them the write id of the base: other ids than a compaction has.
    assert_read_as_by_hive(spark, warehouse, files, name, [2])
