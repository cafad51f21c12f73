"""Arguments and results of statements: parameters, numbers of rows, timeouts and retries."""

from __future__ import annotations

import threading
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from metastored.errors import CommitUnknown, InvalidInputException, LockFailed, NotSupported, TransactionFailed
from metastored.spark import acid
from metastored.spark.acid import single
from metastored.spark.acid.files.counts import UNKNOWN, Changed, of_merge
from metastored.spark.acid.files.statistics import RowCounts
from metastored.wire.generated.transactions import TxnType
from tests.spark.acid.conftest import INSERT_ONLY, Shop, rows_of
from tests.spark.acid.sql.test_parameters import HOSTILE

pytestmark = [pytest.mark.spark, pytest.mark.slow]


# Parameters


def test_parameters_are_bound_in_queries_and_in_changes(shop: Shop) -> None:
    assert shop.sql("SELECT :a, id FROM orders WHERE name = :b", {"a": 1, "b": "b"}) == [(1, 2)]
    assert shop.sql("SELECT id FROM orders WHERE id IN (?, ?) AND n > ?", [1, 3, 10]) == [(3,)]
    assert shop.sql("SELECT who FROM customers WHERE id = :id", {"id": 3}) == [("bob",)]
    name = "it's"
    columns = [
        frame.columns
        for frame in (
            shop.frame("SELECT :a, id FROM orders", {"a": name}),
            shop.spark.sql("SELECT :a, id FROM customers", {"a": name}),
        )
    ]
    assert columns[0] == columns[1]
    shop.sql("CREATE TABLE found USING parquet AS SELECT * FROM orders WHERE id = ?", [2])
    assert shop.sql("SELECT id FROM found") == [(2,)]
    shop.sql("INSERT INTO orders VALUES (:id, :name, :n)", {"id": 4, "name": "d", "n": None})
    shop.sql("INSERT INTO orders (id, name) SELECT ?, who FROM customers WHERE id = ?", [5, 1])
    shop.sql("UPDATE orders SET n = :n, name = concat(name, :s) WHERE id = :id", {"n": -4, "s": "!", "id": 4})
    shop.sql("DELETE FROM orders WHERE id BETWEEN ? AND ?", (1, 2))
    shop.sql(
        "MERGE INTO orders o USING (SELECT :id AS id) s ON o.id = s.id AND o.id < :most "
        "WHEN MATCHED AND o.n = :n THEN UPDATE SET name = :name WHEN NOT MATCHED THEN INSERT (id) VALUES (:other)",
        {"id": 3, "most": 9, "n": 30, "name": "it's", "other": 0},
    )
    assert shop.orders == [(3, "it's", 30), (4, "d!", -4), (5, "ann", None)]


def test_hostile_texts_are_values_and_nothing_else(shop: Shop) -> None:
    values = {f"v{at}": value for at, value in enumerate(HOSTILE)}
    rows = ", ".join(f"({100 + at}, :{name})" for at, name in enumerate(values))
    shop.sql(f"INSERT INTO orders (id, name) VALUES {rows}", values)
    for at, value in enumerate(HOSTILE):
        assert shop.sql("SELECT id FROM orders WHERE name = ?", [value]) == [(100 + at,)]
    doubled = " ".join(f"WHEN :{name} THEN concat(:{name}, name)" for name in values)
    named = ", ".join(f":{name}" for name in values)
    shop.sql(f"UPDATE orders SET n = 1, name = CASE name {doubled} END WHERE name IN ({named})", values)
    expected = [(100 + at, value + value, 1) for at, value in enumerate(HOSTILE)]
    assert shop.sql("SELECT id, name, n FROM orders WHERE id >= ?", [100]) == expected
    shop.sql(f"DELETE FROM orders WHERE name IN ({named})", {name: value + value for name, value in values.items()})
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (3, "c", 30)]


def test_hostile_names_of_columns_are_names_and_nothing_else(shop: Shop) -> None:
    """Whoever makes a table chooses them, and somebody else's statements are made with them."""
    hostile = ['a"b', "x'; drop table orders; --", "1 = 1 or c", "a.b", "drop\ntable"]
    shop.warehouse.create("named", {"id": "int", **dict.fromkeys(hostile, "int")})
    quoted = ["`" + name.replace("`", "``") + "`" for name in hostile]
    shop.sql(f"INSERT INTO named (id, {', '.join(quoted)}) VALUES (1, 1, 2, 3, 4, 5), (2, 0, 0, 0, 0, 0)")
    for at, name in enumerate(quoted, 1):
        shop.sql(f"UPDATE named SET {name} = {name} + 10 WHERE {name} = {at}")
    assert shop.sql("SELECT * FROM named WHERE id = 1") == [(1, 11, 12, 13, 14, 15)]
    shop.sql(
        "MERGE INTO named t USING (SELECT 2 AS id, 7 AS v) s ON t.id = s.id "
        f"WHEN MATCHED THEN UPDATE SET t.{quoted[0]} = s.v"
    )
    shop.sql(f"DELETE FROM named WHERE {quoted[1]} = 12")
    assert shop.sql("SELECT * FROM named") == [(2, 7, 0, 0, 0, 0)]
    assert len(shop.orders) == 3


@pytest.mark.parametrize("columns", [{"a`b": "int"}, {"a": "struct<`b``c`:int>"}])
def test_a_column_that_spark_reads_as_null_is_refused(shop: Shop, columns: dict[str, str]) -> None:
    """Spark's ORC reader finds no column whose name has a backtick: an UPDATE would write nulls."""
    shop.warehouse.create("ticked", {"id": "int", **columns})
    for statement in ("SELECT * FROM ticked", "UPDATE ticked SET id = 2", "INSERT INTO ticked (id) VALUES (1)"):
        with pytest.raises(NotSupported, match="has a backtick in its name"):
            shop.sql(statement)


def test_hostile_values_of_keys_stay_below_the_table(shop: Shop) -> None:
    hostile = ["../../up", "..", "a/b", "a%2Fb", "x'; drop table orders; --", "k=1", "ü ", "*", "\n"]
    shop.warehouse.create("kept", {"id": "int"}, keys={"k": "string"})
    values = [each for at, value in enumerate(hostile) for each in (at, value)]
    shop.sql(f"INSERT INTO kept VALUES {', '.join(['(?, ?)'] * len(hostile))}", values)
    assert sorted(shop.sql("SELECT id, k FROM kept")) == list(enumerate(hostile))
    for at, value in enumerate(hostile[:3]):
        shop.sql("UPDATE kept SET id = id + 100 WHERE k = :k", {"k": value})
        assert shop.sql("SELECT id FROM kept WHERE k = :k", {"k": value}) == [(at + 100,)]
    root = shop.warehouse.path(f"{shop.database}.kept")
    assert len({path.parent.parent for path in root.rglob("bucket_*")}) == len(hostile)
    assert {path.parent.parent.parent for path in root.rglob("bucket_*")} == {root}
    assert not list(root.parent.glob("up*"))


def test_values_of_all_types_are_those_that_spark_has(shop: Shop) -> None:
    columns = {
        "a": "boolean", "b": "bigint", "c": "double", "d": "decimal(10,3)", "e": "date", "f": "timestamp",
        "g": "binary", "h": "array<int>", "i": "map<string,int>",
    }  # fmt: skip
    shop.warehouse.create("typed", columns)
    values = [
        True, 2**40, -1.5e-9, Decimal("-1.230"), date(1582, 10, 1), datetime(2026, 2, 3, 4, 5, 6, 789),
        bytearray(b"'\x00"), [1, -2], {"a'": 1},
    ]  # fmt: skip
    shop.sql(f"INSERT INTO typed VALUES ({', '.join('?' * len(values))})", values)
    shop.sql("UPDATE typed SET f = :f WHERE e = :e AND d = :d AND g = :g", dict(zip("abcdefghi", values, strict=True)))
    (row,) = shop.frame("SELECT * FROM typed").collect()
    (expected,) = shop.spark.sql(f"SELECT {', '.join('?' * (len(values) - 1))}", values[:-1]).collect()
    assert list(row) == [*expected, {"a'": 1}]


def test_a_parameter_without_a_value_is_named(shop: Shop) -> None:
    with pytest.raises(InvalidInputException, match="args has no value for :b"):
        shop.sql("DELETE FROM orders WHERE id = :a AND n = :b", {"a": 1})
    with pytest.raises(InvalidInputException, match="one that is not a Python value"):
        shop.sql("DELETE FROM orders WHERE id = ?", [object()])
    assert len(shop.orders) == 3


# Numbers of rows


def numbers(shop: Shop, statement: str) -> dict[str, Any]:
    (row,) = shop.frame(statement).collect()
    found: dict[str, Any] = row.asDict()
    return found


def test_a_change_returns_the_numbers_of_rows(shop: Shop) -> None:
    assert numbers(shop, "INSERT INTO orders VALUES (4, 'd', 40), (5, 'e', 50)") == {
        "num_affected_rows": 2, "num_inserted_rows": 2,
    }  # fmt: skip
    assert numbers(shop, "UPDATE orders SET n = 0 WHERE id > 1") == {"num_affected_rows": 4}
    assert numbers(shop, "DELETE FROM orders WHERE id > 4") == {"num_affected_rows": 1}
    assert numbers(shop, "DELETE FROM orders WHERE id > 4") == {"num_affected_rows": 0}
    assert numbers(shop, "INSERT OVERWRITE orders SELECT * FROM orders WHERE id = 1") == {
        "num_affected_rows": 1, "num_inserted_rows": 1,
    }  # fmt: skip
    assert shop.frame("ALTER TABLE orders COMPACT 'major'").columns == []


def test_a_merge_returns_the_numbers_of_each_kind(shop: Shop) -> None:
    shop.sql("INSERT INTO orders VALUES (4, 'd', 40), (5, 'e', 50), (6, 'f', 60)")
    shop.sql("INSERT INTO items VALUES (3, 300), (8, 800), (9, 900)")
    merge = "MERGE INTO orders o USING items i ON o.id = i.id"
    assert numbers(
        shop,
        f"{merge} WHEN MATCHED AND i.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET n = x "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (i.id) WHEN NOT MATCHED BY SOURCE AND o.id = 4 THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE AND o.id = 5 THEN UPDATE SET n = -1",
    ) == {"num_affected_rows": 7, "num_updated_rows": 3, "num_deleted_rows": 2, "num_inserted_rows": 2}
    new = "WHEN NOT MATCHED THEN INSERT (id) VALUES (-1)"
    assert numbers(shop, f"{merge} WHEN MATCHED THEN UPDATE SET n = 1 {new}") == {
        "num_affected_rows": 5, "num_updated_rows": 4, "num_deleted_rows": 0, "num_inserted_rows": 1,
    }  # fmt: skip
    assert numbers(shop, f"{merge} WHEN MATCHED AND x > 500 THEN DELETE WHEN MATCHED THEN UPDATE SET n = 2") == {
        "num_affected_rows": 4, "num_updated_rows": 2, "num_deleted_rows": 2, "num_inserted_rows": 0,
    }  # fmt: skip
    assert numbers(shop, f"{merge} WHEN NOT MATCHED THEN INSERT (id) VALUES (-2)")["num_inserted_rows"] == 3


def test_functions_return_the_numbers_of_rows(shop: Shop) -> None:
    name, frame = f"{shop.database}.orders", shop.spark.sql("SELECT 9 AS id")
    assert acid.insert(shop.spark, name, frame, client=shop.client) == Changed(inserted=1)
    assert acid.update(shop.spark, name, {"n": "1"}, "id < 3", client=shop.client) == Changed(updated=2)
    assert acid.delete(shop.spark, name, "id = 9", client=shop.client) == Changed(deleted=1)
    merged = acid.merge(shop.spark, name, frame, "target.id = source.id", not_matched={"id": "source.id"},
                        client=shop.client)  # fmt: skip
    assert merged == Changed(inserted=1) and merged.affected == 1


def test_rows_of_an_insert_only_table_are_not_counted(shop: Shop) -> None:
    shop.warehouse.create("log", {"id": "int"}, properties=INSERT_ONLY)
    assert numbers(shop, "INSERT INTO log VALUES (1)") == {"num_affected_rows": None, "num_inserted_rows": None}


def test_a_number_of_spark_that_does_not_fit_the_files_is_dropped() -> None:
    rows = [RowCounts(3, 2), RowCounts(0, 1)]
    assert of_merge(rows, True, True, True, 2) == Changed(1, 2, 1)
    assert of_merge(rows, True, True, True, 4) == UNKNOWN
    assert of_merge([*rows, None], True, True, True, 2) == UNKNOWN


# Timeouts and retries


def test_a_timeout_is_the_time_to_wait_for_locks(shop: Shop) -> None:
    name = f"{shop.database}.orders"
    frame = shop.spark.sql("SELECT 9 AS id")
    with shop.client.lock(name, type="exclusive"):
        for run in (
            lambda: shop.sql("SELECT * FROM orders", timeout=0.2),
            lambda: shop.sql("DELETE FROM orders", timeout=0.2, retries=3),
            lambda: shop.sql("ALTER TABLE orders RENAME TO x", timeout=0.2),
            lambda: acid.read(shop.spark, name, client=shop.client, timeout=0.2),
            lambda: acid.insert(shop.spark, name, frame, client=shop.client, timeout=0.2),
            lambda: acid.insert_overwrite(shop.spark, name, frame, client=shop.client, timeout=0.2),
            lambda: acid.update(shop.spark, name, {"n": "1"}, client=shop.client, timeout=0.2),
            lambda: acid.delete(shop.spark, name, client=shop.client, timeout=0.2),
            lambda: acid.truncate(shop.spark, name, client=shop.client, timeout=0.2),
            lambda: acid.merge(shop.spark, name, frame, "false", matched="delete", client=shop.client, timeout=0.2),
            lambda: acid.view(shop.spark, name, "v", client=shop.client, timeout=0.2),
        ):
            with pytest.raises(LockFailed, match=r"within 0\.2 s"):
                run()
    assert len(shop.orders) == 3


def conflict(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """The server aborts the first transactions at their commit. Returns the list of their numbers."""
    from metastored.client._sync.locks import Transaction

    commit, attempts = Transaction.commit, list[int]()

    def interrupted(transaction: Any, *args: Any) -> None:
        if transaction._type == TxnType.DEFAULT:
            attempts.append(transaction.id)
            if len(attempts) <= times:
                transaction.abort()
                raise TransactionFailed(f"transaction {transaction.id} was aborted: a write conflict")
        commit(transaction, *args)

    monkeypatch.setattr(Transaction, "commit", interrupted)
    monkeypatch.setattr(single, "FIRST_PAUSE", 0.01)
    return attempts


def test_a_conflict_is_repeated_in_a_new_transaction(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = conflict(monkeypatch, 2)
    assert numbers_with(shop, "UPDATE orders SET n = n + 1 WHERE id = 1", retries=2) == {"num_affected_rows": 1}
    assert len(set(attempts)) == 3
    assert shop.orders[0] == (1, "a", 11)


def numbers_with(shop: Shop, statement: str, **options: Any) -> dict[str, Any]:
    (row,) = shop.frame(statement, **options).collect()
    found: dict[str, Any] = row.asDict()
    return found


def test_the_last_conflict_is_raised(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = conflict(monkeypatch, 9)
    frame = shop.spark.sql("SELECT 9 AS id")
    with pytest.raises(TransactionFailed):
        shop.sql("DELETE FROM orders", retries=1)
    with pytest.raises(TransactionFailed):
        acid.insert(shop.spark, f"{shop.database}.orders", frame, client=shop.client)
    assert len(attempts) == 3
    monkeypatch.undo()
    assert len(shop.orders) == 3


def test_two_writers_that_repeat_lose_no_update(shop: Shop) -> None:
    failed: list[BaseException] = []

    def add() -> None:
        try:
            for _ in range(3):
                shop.frame("UPDATE orders SET n = n + 1 WHERE id = 1", retries=20)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == [] and shop.orders[0] == (1, "a", 16)


@pytest.mark.parametrize("error", [CommitUnknown("lost", 7), LockFailed("busy"), ValueError("other")])
def test_other_errors_are_never_repeated(error: Exception) -> None:
    calls: list[int] = []

    def run() -> None:
        calls.append(1)
        raise error

    with pytest.raises(type(error)):
        single.repeated(run, 5)
    assert calls == [1]
    with pytest.raises(InvalidInputException, match="retries is a number from 0 on"):
        single.repeated(run, -1)


def test_rows_of_a_query_are_not_changed_by_options(shop: Shop) -> None:
    assert rows_of(shop.frame("SELECT count(*) FROM orders", timeout=5, retries=5)) == [(3,)]
