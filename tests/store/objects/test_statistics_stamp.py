"""The statistics stamp of a table: a new one after each change of the column statistics of its partitions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics, partitions, tables
from metastored.store.objects.column_statistics import NewStatistics
from metastored.store.objects.partitions import NewPartition
from tests.store.conftest import make_table

Write = Callable[[Transaction, int], object]


def _stamp(database: Database, table_id: int) -> int:
    row = tables.find_by_id(database.reader(), table_id)
    assert row is not None
    return row.statistics_stamp


def _statistics(owner: int, column: str) -> NewStatistics:
    numbers = (1, 9, None, None, 0, 5, None, None, None, None)
    return NewStatistics(owner, column, "hive", "bigint", "long", 7, *numbers, b"body", None, None)


def _add(tx: Transaction, table_id: int, *names: str) -> None:
    new = [NewPartition(name, [name], None, None, None, -1, b"") for name in names]
    partitions.insert_many(tx, table_id, new)


def _id(tx: Transaction, table_id: int, name: str) -> int:
    row = partitions.find(tx, table_id, name)
    assert row is not None
    return row.id


def _write(tx: Transaction, table_id: int) -> None:
    column_statistics.write_of_partitions(tx, table_id, [_statistics(_id(tx, table_id, "a"), "c")])


@pytest.fixture
def filled(database: Database, table_id: int) -> int:
    """The id of a table with partitions `a`, which has statistics, and `b`, which has none."""

    def fill(tx: Transaction) -> None:
        _add(tx, table_id, "a", "b")
        _write(tx, table_id)
        column_statistics.write_of_table(tx, [_statistics(table_id, "c")])

    database.run(fill)
    return table_id


CHANGES: dict[str, Write] = {
    "written": _write,
    "deleted": lambda tx, id: column_statistics.delete(tx, id, partitions=["a"]),
    "deleted, one column": lambda tx, id: column_statistics.delete(tx, id, partitions=["a", "b"], columns=["c"]),
    "deleted with their column": lambda tx, id: column_statistics.forget_columns(tx, id, ["c"], of_partitions=True),
    "deleted with their partition": lambda tx, id: partitions.delete_many(tx, id, ["a"]),
    "of a renamed partition": lambda tx, id: partitions.rename(tx, id, _id(tx, id, "a"), "z", ["z"], None),
}

OTHERS: dict[str, Write] = {
    "no row": lambda tx, id: column_statistics.write_of_partitions(tx, id, []),
    "nothing to delete": lambda tx, id: column_statistics.delete(tx, id, partitions=["a"], columns=["x"]),
    "no such column": lambda tx, id: column_statistics.forget_columns(tx, id, ["x"], of_partitions=True),
    "no such partition": lambda tx, id: partitions.delete_many(tx, id, ["x"]),
    "a new partition": lambda tx, id: _add(tx, id, "new"),
    "of the table": lambda tx, id: column_statistics.write_of_table(tx, [_statistics(id, "c")]),
    "of the table, deleted": lambda tx, id: column_statistics.delete(tx, id),
    "of the table, with a column": lambda tx, id: column_statistics.forget_columns(tx, id, ["c"], of_partitions=False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_statistics_of_partitions_sets_a_new_stamp(
    database: Database, filled: int, change: str
) -> None:
    other = database.run(lambda tx: make_table(tx, "other"))
    before = _stamp(database, filled)
    database.run(lambda tx: CHANGES[change](tx, filled))
    assert _stamp(database, filled) not in (0, before)
    assert _stamp(database, other) == 0


@pytest.mark.parametrize("write", OTHERS)
def test_other_writes_keep_the_stamp(database: Database, filled: int, write: str) -> None:
    before = _stamp(database, filled)
    database.run(lambda tx: OTHERS[write](tx, filled))
    assert _stamp(database, filled) == before


def test_an_altered_or_renamed_table_keeps_its_stamp(database: Database, filled: int) -> None:
    before = _stamp(database, filled)

    def alter(tx: Transaction) -> None:
        row = tables.find_by_id(tx, filled)
        assert row is not None
        tables.update(tx, filled, type="VIEW", owner=None, last_access=1, write_id=2, body=b"x", params={})
        tables.rename(tx, filled, row.db_id, "renamed")

    database.run(alter)
    assert _stamp(database, filled) == before


def test_a_rolled_back_change_keeps_the_stamp(database: Database, filled: int) -> None:
    before = _stamp(database, filled)

    def fail(tx: Transaction) -> None:
        _write(tx, filled)
        raise LookupError

    with pytest.raises(LookupError):
        database.run(fail)
    assert _stamp(database, filled) == before
