"""The rows of partitions, their shapes and bases, on both databases."""

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import NewPartition, PartitionRow, Sizes, Where
from tests.store.conftest import make_table


def _partition(name: str, *values: str, **changes: object) -> NewPartition:
    result = NewPartition(name, values or (name,), 1, 1, None, 0, f"body of {name}".encode())
    return result._replace(**changes)  # type: ignore[arg-type]


def _add(database: Database, table_id: int, *rows: NewPartition) -> None:
    database.run(lambda tx: partitions.insert_many(tx, table_id, rows))


def test_partitions_are_listed_in_the_order_of_their_names(database: Database, table_id: int) -> None:
    _add(database, table_id, *map(_partition, ("c", "a", "b", "B")))
    tx = database.reader()
    assert partitions.names(tx, table_id) == ["B", "a", "b", "c"]
    assert partitions.names(tx, table_id, 2) == ["B", "a"]
    assert partitions.names(tx, table_id, 0) == []
    assert list(partitions.each_name(tx, table_id, 3)) == ["B", "a", "b"]
    assert [row.name for row in partitions.each(tx, table_id)] == ["B", "a", "b", "c"]
    assert [row.name for row in partitions.each(tx, table_id, 1)] == ["B"]
    assert partitions.count(tx, table_id) == 4


def test_a_partition_keeps_all_its_columns(database: Database, table_id: int) -> None:
    _add(database, table_id, _partition("a", base=None, shape=None, suffix="file:/x", write_id=2**40))
    (row,) = partitions.each(database.reader(), table_id)
    assert row == PartitionRow(row.id, "a", None, None, "file:/x", 2**40, BODY_FORMAT, b"body of a")
    assert isinstance(row, PartitionRow)
    assert partitions.find(database.reader(), table_id, "a") == row
    assert partitions.find(database.reader(), table_id, "b") is None


def test_named_partitions_are_found_each_once(database: Database, table_id: int) -> None:
    _add(database, table_id, *map(_partition, "abc"))
    tx = database.reader()
    assert [row.name for row in partitions.find_many(tx, table_id, ["c", "a", "c", "x"])] == ["a", "c"]
    assert partitions.existing(tx, table_id, ["x", "b", "a"]) == ["a", "b"]
    assert partitions.find_many(tx, table_id, []) == []


def test_a_name_that_is_taken_adds_none_of_them(database: Database, table_id: int) -> None:
    _add(database, table_id, _partition("b"))
    with pytest.raises(ConstraintViolated), database.write() as tx:
        partitions.insert_many(tx, table_id, [_partition("a"), _partition("b")])
    assert partitions.names(database.reader(), table_id) == ["b"]


def test_an_update_leaves_name_and_values(database: Database, table_id: int) -> None:
    _add(database, table_id, _partition("k=v", "v"))
    (row,) = partitions.each(database.reader(), table_id)
    database.run(lambda tx: partitions.update(tx, row.id, shape=2, base=None, suffix="s", write_id=9, body=b"new"))
    result = list(partitions.each_matching(database.reader(), table_id, Where("v1 = :f0", {"f0": "v"})))
    assert result == [PartitionRow(row.id, "k=v", 2, None, "s", 9, BODY_FORMAT, b"new")]


def test_a_renamed_partition_stays_where_it_is(database: Database, table_id: int) -> None:
    _add(database, table_id, _partition("k=a", "a"), _partition("k=b", "b"), _partition("k=c", "c", suffix="s"))
    assert database.run(lambda tx: partitions.pin_suffixes(tx, table_id, ["k=a", "k=c"])) == 1
    row = partitions.find(database.reader(), table_id, "k=a")
    assert row is not None and row.suffix == "k=a"
    database.run(lambda tx: partitions.rename(tx, table_id, row.id, "k=z", ["z"], row.suffix))
    result = list(partitions.each_matching(database.reader(), table_id, Where("v1 = :f0", {"f0": "z"})))
    assert [(row.name, row.suffix) for row in result] == [("k=z", "k=a")]
    assert database.run(lambda tx: partitions.pin_suffixes(tx, table_id)) == 1
    assert [row.suffix for row in partitions.each(database.reader(), table_id)] == ["k=b", "s", "k=a"]


def test_partitions_are_deleted_by_name(database: Database, table_id: int) -> None:
    _add(database, table_id, *map(_partition, "abcd"))
    assert database.run(lambda tx: partitions.delete_many(tx, table_id, ["a", "c", "x"])) == 2
    assert partitions.names(database.reader(), table_id) == ["b", "d"]


def test_a_deleted_table_takes_everything_with_it(database: Database, table_id: int) -> None:
    other = database.run(lambda tx: make_table(tx, "other"))
    for id in (table_id, other):
        _add(database, id, *map(_partition, "ab"))
        database.run(lambda tx, id=id: partitions.add_shape(tx, id, b"s"))  # type: ignore[misc]
        database.run(lambda tx, id=id: partitions.add_base(tx, id, "b"))  # type: ignore[misc]
    database.run(lambda tx: tables.delete(tx, table_id))
    tx = database.reader()
    assert partitions.count(tx, table_id) == 0
    assert (partitions.shapes(tx, table_id), partitions.bases(tx, table_id)) == ({}, {})
    assert partitions.count(tx, other) == 2
    assert (partitions.shapes(tx, other), partitions.bases(tx, other)) == ({1: b"s"}, {1: "b"})


def test_equal_shapes_and_bases_are_stored_once_for_each_table(database: Database, table_id: int) -> None:
    other = database.run(lambda tx: make_table(tx, "other"))

    def work(tx: Transaction) -> list[int]:
        return [
            partitions.add_shape(tx, table_id, b"\0one"),
            partitions.add_shape(tx, table_id, b"two"),
            partitions.add_shape(tx, table_id, b"\0one"),
            partitions.add_shape(tx, other, b"two"),
            partitions.add_base(tx, table_id, "file:/a/"),
            partitions.add_base(tx, table_id, "file:/b/"),
            partitions.add_base(tx, table_id, "file:/a/"),
        ]

    assert database.run(work) == [1, 2, 1, 1, 1, 2, 1]
    database.run(lambda tx: partitions.set_shape(tx, table_id, 1, b"new"))
    database.run(lambda tx: partitions.set_base(tx, table_id, 2, "file:/c/"))
    assert partitions.shapes(database.reader(), table_id) == {1: b"new", 2: b"two"}
    assert partitions.shapes(database.reader(), other) == {1: b"two"}
    assert partitions.bases(database.reader(), table_id) == {1: "file:/a/", 2: "file:/c/"}


def test_values_beyond_the_columns_are_stored_in_the_name_only(database: Database, table_id: int) -> None:
    _add(database, table_id, _partition("ten", *map(str, range(10))), _partition("one", "7"))
    where = Where("v1 = :f0 AND v8 = :f1", {"f0": "0", "f1": "7"})
    assert partitions.names_matching(database.reader(), table_id, where) == ["ten"]


def test_matching_partitions_are_counted_and_sorted(database: Database, table_id: int) -> None:
    _add(database, table_id, *(_partition(f"{n}", "x" if n % 2 else "y") for n in range(10)))
    where, tx = Where("v1 = :f0", {"f0": "x"}), database.reader()
    assert [row.name for row in partitions.each_matching(tx, table_id, where)] == ["1", "3", "5", "7", "9"]
    assert [row.name for row in partitions.each_matching(tx, table_id, where, 2)] == ["1", "3"]
    assert partitions.names_matching(tx, table_id, where, 1) == ["1"]
    assert partitions.count_matching(tx, table_id, where) == 5


def test_sizes_are_in_bytes_by_shape_and_base(database: Database, table_id: int) -> None:
    _add(
        database,
        table_id,
        _partition("é", "a", body=b"12"),
        _partition("b", "a", body=b"\0\xff3", suffix="éé", write_id=4),
        _partition("c", "x", body=b"", base=2),
        _partition("d", "x", body=b"4", base=None, suffix="file:/d"),
        _partition("e", "x", body=b"5", base=None),
    )
    tx = database.reader()

    def sizes(where: Where | None = None, limit: int = -1) -> set[Sizes]:
        return set(partitions.sizes(tx, table_id, where, limit))

    first = Sizes(1, 1, 2, 5, 6, True, 1)
    whole = Sizes(1, None, 1, 1, 7, True, 0)
    nowhere = Sizes(1, None, 1, 1, 0, False, 0)
    assert sizes() == {first, Sizes(1, 2, 1, 0, 1, True, 0), whole, nowhere}
    assert sizes(Where("v1 = :f0", {"f0": "a"})) == {first}
    assert sizes(limit=1) == {Sizes(1, 1, 1, 3, 4, True, 1)}
    assert sizes(Where("v1 = :f0", {"f0": "x"}), 2) == {Sizes(1, 2, 1, 0, 1, True, 0), whole}
    assert sizes(limit=0) == set()
    assert partitions.name_size(tx, table_id) == (5, 6)
    assert partitions.name_size(tx, table_id, 2) == (2, 2)
    assert partitions.name_size(tx, table_id + 1) == (0, 0)


def test_locations_elsewhere_are_distinguished_from_those_below_the_root(database: Database, table_id: int) -> None:
    def work(tx: Transaction) -> None:
        partitions.add_base(tx, table_id, "file:/t/")
        partitions.add_base(tx, table_id, "file:/tt/")

    database.run(work)
    _add(
        database,
        table_id,
        _partition("a"),
        _partition("b", base=2),
        _partition("c", base=None, suffix="file:/c"),
        _partition("d", base=None),
    )
    tx = database.reader()
    assert partitions.own_locations(tx, table_id) == ["file:/t/a", "file:/tt/b", "file:/c"]
    assert partitions.own_locations(tx, table_id, "file:/t") == ["file:/tt/b", "file:/c"]
