"""Transactions, snapshots and versions, on both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from metastored.errors import StoreError
from metastored.store.engine import snapshot_connections
from metastored.store.engine.database import Database
from metastored.store.engine.opening import open_database
from metastored.store.engine.snapshot_connections import SNAPSHOT_LIMIT
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import ConstraintViolated, Transaction, WriteConflict
from metastored.store.objects import catalogs
from tests.store.conftest import Opener

_VALUE = Statement("SELECT value FROM meta WHERE key = :key")
_KEYS = Statement("SELECT key FROM meta ORDER BY key")
_PUT = Statement("INSERT INTO meta (key, value) VALUES (:key, :value)")
_SET = Statement("UPDATE meta SET value = :value WHERE key = :key")
_AMONG = Statement("SELECT key FROM meta WHERE key IN :keys ORDER BY key")
_LOCKED = Statement("SELECT value FROM meta WHERE key = :key FOR UPDATE")


def _put(database: Database, key: str, value: str = "") -> None:
    database.run(lambda tx: tx.run(_PUT, key=key, value=value))


def _keys(tx: Transaction) -> list[str]:
    return [key for (key,) in tx.all(_KEYS)]


def test_committed_rows_are_visible_to_every_reader(database: Database, opener: Opener) -> None:
    _put(database, "a", "ä")
    assert opener().reader().one(_VALUE, key="a") == ("ä",)


def test_an_exception_leaves_nothing_half_written(database: Database) -> None:
    with pytest.raises(KeyError), database.write() as tx:
        tx.run(_PUT, key="a", value="")
        raise KeyError("b")
    assert _keys(database.reader()) == []
    _put(database, "c")
    assert _keys(database.reader()) == ["c"]


def test_a_transaction_sees_its_own_writes_and_others_do_not_yet(database: Database, opener: Opener) -> None:
    other = opener()
    with database.write() as tx:
        tx.run(_PUT, key="a", value="")
        assert _keys(tx) == ["a"]
        assert _keys(other.reader()) == []
    assert _keys(other.reader()) == ["a"]


def test_several_reads_see_one_state(database: Database, opener: Opener) -> None:
    other = opener()
    with database.read() as tx:
        assert _keys(tx) == []
        _put(other, "a")
        assert _keys(tx) == []
    assert _keys(database.reader()) == ["a"]


def test_transactions_do_not_nest(database: Database) -> None:
    with database.write():
        with pytest.raises(StoreError, match="do not nest"), database.write():
            raise AssertionError("never reached")
        with pytest.raises(StoreError, match="do not nest"), database.read():
            raise AssertionError("never reached")


def test_a_refused_row_is_named_and_undoes_the_transaction(database: Database) -> None:
    _put(database, "a")
    with pytest.raises(ConstraintViolated, match="refused a row"), database.write() as tx:
        tx.run(_PUT, key="b", value="")
        tx.run(_PUT, key="a", value="")
    assert _keys(database.reader()) == ["a"]


def test_a_missing_row_is_none_and_a_rowcount_counts(database: Database) -> None:
    assert database.reader().one(_VALUE, key="a") is None
    assert database.run(lambda tx: tx.run(_SET, key="a", value="")) == 0
    _put(database, "a")
    assert database.run(lambda tx: tx.run(_SET, key="a", value="")) == 1


def test_many_rows_and_lists_of_any_length(database: Database) -> None:
    keys = [f"k{number:04}" for number in range(2000)]
    database.run(lambda tx: tx.many(_PUT, [{"key": key, "value": "'\"%:"} for key in keys]))
    tx = database.reader()
    assert [key for (key,) in tx.all(_AMONG, keys=tx.list([*keys[:1500], "nope"]))] == keys[:1500]
    assert tx.all(_AMONG, keys=tx.list([])) == []
    assert [key for (key,) in tx.each(_KEYS)] == keys


def test_names_sort_by_code_point(database: Database) -> None:
    for key in ("b", "B", "a", "_", "é", "\U0001f41d", "\uffee"):
        _put(database, key)
    assert _keys(database.reader()) == ["B", "_", "a", "b", "é", "\uffee", "\U0001f41d"]


def test_text_that_no_database_holds_is_a_store_error(database: Database) -> None:
    with pytest.raises(StoreError, match="could not do it"):
        database.reader().one(_VALUE, key="\ud800")
    _put(database, "a")


# --- snapshots ---


def test_a_snapshot_does_not_change_while_a_writer_continues(database: Database) -> None:
    keys = [f"k{number:05}" for number in range(5000)]
    database.run(lambda tx: tx.many(_PUT, [{"key": key, "value": ""} for key in keys]))
    with database.snapshot() as snapshot:
        result = []
        for number, (key,) in enumerate(snapshot.each(_KEYS)):
            result.append(key)
            if number % 500 == 0:
                _put(database, f"new{number}")
        assert result == keys
        assert len(_keys(snapshot)) == 5000
    assert len(_keys(database.reader())) == 5010


def test_a_snapshot_is_of_the_moment_when_it_was_opened(database: Database) -> None:
    snapshot = database.snapshot()
    _put(database, "a")
    assert _keys(snapshot) == []
    snapshot.close()
    snapshot.close()


def test_a_snapshot_may_be_read_by_one_thread_after_another(database: Database) -> None:
    keys = [f"k{number:05}" for number in range(3000)]
    database.run(lambda tx: tx.many(_PUT, [{"key": key, "value": ""} for key in keys]))
    result: list[str] = []
    with database.snapshot() as snapshot:
        rows = snapshot.each(_KEYS)

        def take() -> None:
            result.extend(key for (key,) in islice(rows, 1000))

        for _ in range(3):
            thread = threading.Thread(target=take)
            thread.start()
            thread.join()
    assert result == keys


def test_an_iterator_that_is_closed_early_ends_its_query(database: Database) -> None:
    database.run(lambda tx: tx.many(_PUT, [{"key": f"k{n}", "value": ""} for n in range(3000)]))
    with database.snapshot() as snapshot:
        rows = snapshot.each(_KEYS)
        next(rows)
        rows.close()  # type: ignore[attr-defined]
        assert len(_keys(snapshot)) == 3000


def test_a_garbage_collected_snapshot_frees_its_slot(database: Database) -> None:
    for _ in range(SNAPSHOT_LIMIT + 1):
        database.snapshot()
    with database.snapshot() as snapshot:
        assert _keys(snapshot) == []


def test_an_abandoned_iterator_blocks_no_other_statement(database: Database) -> None:
    database.run(lambda tx: tx.many(_PUT, [{"key": f"k{n}", "value": ""} for n in range(3000)]))
    snapshot = database.snapshot()
    left = snapshot.each(_KEYS)
    next(left)
    snapshot.close()
    _put(database, "new")
    with database.snapshot() as later:
        rows = later.each(_KEYS)
        next(rows)
        with pytest.raises(StoreError):
            list(left)
        assert len(list(rows)) == 3000
        assert len(_keys(later)) == 3001


def test_one_snapshot_too_many_is_refused_by_a_sentence(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_connections, "SNAPSHOT_WAIT", 0.05)
    opened = [database.snapshot() for _ in range(SNAPSHOT_LIMIT)]
    with pytest.raises(StoreError, match="8 long replies are being read already"):
        database.snapshot()
    opened.pop().close()
    opened.append(database.snapshot())
    for snapshot in opened:
        snapshot.close()


# --- versions, conflicts, lifecycle ---


def test_the_version_moves_with_every_write_of_anybody_and_only_then(database: Database, opener: Opener) -> None:
    other = opener()
    seen = database.version()
    assert database.version() == seen
    _keys(database.reader())
    with database.read() as tx:
        _keys(tx)
    assert database.version() == seen
    for number, writer in enumerate((database, other, database)):
        catalogs_before = database.version()
        writer.run(lambda tx, number=number: catalogs.insert(tx, f"c{number}", b""))  # type: ignore[misc]
        assert database.version() != catalogs_before
    assert database.version() == database.version() != seen


def test_run_retries_after_a_conflict(database: Database) -> None:
    calls = []

    def work(tx: Transaction) -> str:
        calls.append(1)
        if len(calls) < 3:
            raise WriteConflict("another one")
        return "done"

    if database.dialect == "sqlite":
        with pytest.raises(WriteConflict):
            database.run(work)
    else:
        assert database.run(work) == "done"
        assert len(calls) == 3


def test_of_two_transactions_that_insert_one_name_one_fails_by_its_own_error(database: Database) -> None:
    """Both find the name free; the one that comes second runs again and finds it taken."""
    barrier = threading.Barrier(2, timeout=30)
    outcome: list[str] = []

    def take() -> None:
        first = True

        def work(tx: Transaction) -> str:
            nonlocal first
            taken = tx.one(_VALUE, key="name") is not None
            if first and database.dialect == "postgresql":
                barrier.wait()
            first = False
            if taken:
                return "taken"
            tx.run(_PUT, key="name", value="")
            return "mine"

        outcome.append(database.run(work))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome) == ["mine", "taken"]


def test_threads_that_lock_the_rows_they_read_lose_no_update(database: Database) -> None:
    _put(database, "n", "0")

    def add(tx: Transaction) -> None:
        row = tx.one(_LOCKED, key="n")
        assert row is not None
        tx.run(_SET, key="n", value=str(int(row[0]) + 1))

    def work() -> None:
        for _ in range(25):
            database.run(add)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert database.reader().one(_VALUE, key="n") == ("200",)


def test_a_claim_has_one_holder_at_a_time(database: Database, opener: Opener) -> None:
    other, order = opener(), list[str]()
    inside = threading.Event()

    def later() -> None:
        inside.wait(30)
        with other.claim("x"):
            order.append("second")

    thread = threading.Thread(target=later)
    thread.start()
    with database.claim("x"):
        inside.set()
        thread.join(0.1)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_names_claimed_together_are_held_together_whatever_their_order(opener: Opener) -> None:
    names = [f"name {number}" for number in range(12)]
    inside, most = [0], [0]
    guard = threading.Lock()

    def claimed(order: list[str]) -> None:
        own = opener()
        for _ in range(5):
            with own.claim(*order, order[0]):
                with guard:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                with guard:
                    inside[0] -= 1

    # In any two of these orders some names are the other way round: claimed one by one, they would wait for each other.
    orders = [names, names[::-1], names[6:] + names[:6], [names[0]], [names[11]]]
    threads = [threading.Thread(target=claimed, args=(order,), daemon=True) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert most[0] <= 2  # The last two may be held at once.


def test_a_closed_database_raises_an_error(opener: Opener) -> None:
    database = opener()
    database.close()
    with pytest.raises(StoreError, match="closed"), database.write():
        raise AssertionError("never reached")


def test_more_threads_than_agreed_are_refused(place: tuple[str | None, Path | None]) -> None:
    database = open_database(*place, threads=0)
    database.reader()
    errors: list[Exception] = []

    def use() -> None:
        try:
            database.reader()
        except StoreError as exc:
            errors.append(exc)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    database.close()
    assert "more than 1 threads" in str(errors[0])


def test_the_connection_of_a_finished_thread_makes_room(place: tuple[str | None, Path | None]) -> None:
    database = open_database(*place, threads=1)
    database.reader()
    readers: list[str] = []
    for _ in range(5):
        thread = threading.Thread(target=lambda: readers.append(database.reader().dialect))
        thread.start()
        thread.join()
    database.close()
    assert readers == [database.dialect] * 5


@pytest.mark.parametrize(
    ("url", "sentence"),
    [("mysql://x/y", "begins with 'mysql'.*use postgresql://"), (None, "name a data folder"), ("x", "begins with 'x'")],
)
def test_a_database_that_metastored_does_not_know_is_refused(url: str | None, sentence: str) -> None:
    with pytest.raises(StoreError, match=sentence):
        open_database(url, None)


def test_threads_that_ask_for_the_version_at_once_all_get_it(database: Database) -> None:
    """On Python 3.12 and later a connection that threads share gives them each other's rows."""
    version = database.version()
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(lambda _: {database.version() for _ in range(2000)}, range(4)))
    assert versions == [{version}] * 4
