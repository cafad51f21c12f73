"""The cache of encoded lists of names is never stale: random histories on two servers, other writers, single rules.

Every reply of a server with the cache must equal that of a server without one on the same database.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from metastored.errors import MetastoreError
from metastored.hive.generation import Generation
from metastored.model.names import DatabaseName
from metastored.service.core import name_lists
from metastored.service.core.context import Context
from metastored.service.core.versioned_cache import VersionedCache
from metastored.service.restore_partitions import restore_partitions
from metastored.store.engine.database import Database
from metastored.store.engine.statements import Statement
from metastored.store.objects import tables
from metastored.wire.generated.databases import Database as HiveDatabase
from metastored.wire.generated.partitions import (
    DropPartitionsRequest,
    GetPartitionNamesPsRequest,
    Partition,
    PartitionsByExprRequest,
    PartitionsRequest,
    RequestPartsSpec,
)
from metastored.wire.message import Session
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, add_partitions, bare_storage, bare_table, make_table
from tests.support.soak import SEED, scaled
from tests.support.statements import counted_statements

OTHER = "other"
DAYS = tuple("12345678")
TABLES = ("p", "q")
NAMES = ("a", "ab", "b", "b2", "c", "v1")
SELECTED = ((("",), -1), (("",), 2), (("2",), -1))
"""Values and limits of calls that select partitions by some values."""
TYPES = ("MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW")

_INSERT_TABLE = Statement(
    "INSERT INTO tables (db_id, name, type, owner, last_access, write_id, fmt, body) "
    "SELECT d.id, :name, t.type, 'x', 0, -1, 1, t.body FROM databases d, tables t WHERE d.name = :db AND t.name = 'p'"
)
_RENAME_TABLE = Statement("UPDATE tables SET name = :new WHERE name = :old")
_DELETE_TABLE = Statement("DELETE FROM tables WHERE name = :name")
_LOCK = Statement("SELECT id FROM tables WHERE name = :name FOR UPDATE")
_INSERT_PARTITION = Statement(
    "INSERT INTO partitions (table_id, name, v1, shape, base, suffix, write_id, fmt, body) "
    "SELECT table_id, :name, :value, shape, base, NULL, -1, 1, body FROM partitions WHERE table_id = :table "
    "ORDER BY id LIMIT 1"
)


@pytest.fixture(autouse=True)
def short_lists_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lists, "KEPT", 1)


def table_lists(metastore: Metastore) -> list[Any]:
    """The replies of all calls that list names of tables."""
    found: list[Any] = []
    for db in (DB, OTHER, "nowhere"):
        found.append(metastore.call("get_all_tables", db))
        found += [metastore.call("get_tables", db, pattern) for pattern in ("*", "", "A*|c", "*2", "p")]
        found += [metastore.call("get_tables_by_type", db, "*", type) for type in TYPES]
    return found


def partition_lists(metastore: Metastore, table: str) -> list[Any]:
    """The replies of all calls that list names of partitions; errors as texts."""
    named: dict[str, Any] = {"dbName": DB, "tblName": table}
    calls: list[tuple[Any, ...]] = [
        *(("get_partition_names", DB, table, most) for most in (-1, 1, 3)),
        *(("get_partition_names_ps", DB, table, values, most) for values, most in SELECTED),
    ]
    if metastore.generation >= Generation.HIVE_4_0:
        calls += [
            ("fetch_partition_names_req", PartitionsRequest(**named, maxParts=-1)),
            ("get_partition_names_req", PartitionsByExprRequest(**named, expr=b"", maxParts=-1)),
            ("get_partition_names_ps_req", GetPartitionNamesPsRequest(**named, partValues=("",), maxParts=-1)),
        ]
    return [_answer(metastore, *call) for call in calls]


def _answer(metastore: Metastore, *call: Any) -> Any:
    try:
        return metastore.call(*call)
    except MetastoreError as error:
        return repr(error)


# --- random histories -------------------------------------------------------------------------------------------------


class History:
    """Random writes by the clients of two servers, and by SQL. One that fails changes nothing, and is a step too."""

    def __init__(self, servers: list[Metastore], database: Database, seed: int) -> None:
        self._random = random.Random(seed)
        self._servers = servers
        self._database = database
        self._steps: list[Callable[[Metastore], object]] = [
            *(self.create, self.create, self.create, self.drop, self.rename, self.move, self.change_type),
            *(self.recreate_database, self.swap, self.insert_by_sql, self.rename_by_sql, self.delete_by_sql),
            *(self.add, self.add, self.add, self.drop_partition, self.drop_newest, self.drop_many),
            *(self.rename_partition, self.rename_partition, self.exchange, self.exchange, self.restore),
            *(self.add_by_sql, self.recreate),
        ]
        self.done = Counter[str]()

    def step(self) -> None:
        one = self._random.choice(self._steps)
        try:
            if one(self._random.choice(self._servers)) == 0:
                return
        except MetastoreError:
            return
        self.done[one.__name__] += 1

    @property
    def never_done(self) -> set[str]:
        return {step.__name__ for step in self._steps} - set(self.done)

    def _one(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)

    # --- tables ---

    def _existing(self, server: Metastore) -> tuple[str, str]:
        db = self._one((DB, OTHER))
        return db, self._one(tuple(sorted({*server.call("get_all_tables", db)} - {*TABLES})) or NAMES)

    def create(self, server: Metastore) -> None:
        type = self._one(TYPES)
        text: dict[str, Any] = (
            {"viewOriginalText": "select 1", "viewExpandedText": "select 1"} if type == TYPES[2] else {}
        )
        parameters = {"EXTERNAL": "TRUE"} if type == TYPES[1] else {}
        made = bare_table(self._one((DB, OTHER)), self._one(NAMES), tableType=type, parameters=parameters, **text)
        server.call("create_table", made)

    def drop(self, server: Metastore) -> None:
        server.call("drop_table", self._one((DB, OTHER)), self._one(NAMES), False)

    def rename(self, server: Metastore) -> None:
        db, old = self._existing(server)
        server.call("alter_table", db, old, replace(server.call("get_table", db, old), tableName=self._one(NAMES)))

    def move(self, server: Metastore) -> None:
        db, name = self._existing(server)
        target = OTHER if db == DB else DB
        server.call("alter_table", db, name, replace(server.call("get_table", db, name), dbName=target))

    def change_type(self, server: Metastore) -> None:
        db, name = self._existing(server)
        stored = server.call("get_table", db, name)
        external = "TRUE" if stored.tableType == TYPES[0] else "FALSE"
        changed = replace(stored, tableType=TYPES[stored.tableType == TYPES[0]], parameters={"EXTERNAL": external})
        server.call("alter_table", db, name, changed)

    def recreate_database(self, server: Metastore) -> None:
        server.call("drop_database", OTHER, False, True)
        server.call("create_database", HiveDatabase(name=OTHER, locationUri=f"file:/nowhere/{OTHER}"))

    def swap(self, server: Metastore) -> None:
        for old, new in (("p", "x"), ("q", "p"), ("x", "q")):
            server.call("alter_table", DB, old, replace(server.call("get_table", DB, old), tableName=new))

    def insert_by_sql(self, server: Metastore) -> int:
        """As a server of an earlier version, or any other program, writes."""
        db, name = self._one((DB, OTHER)), self._one(NAMES)
        if name in server.call("get_all_tables", db):
            return 0
        return self._database.run(lambda tx: tx.run(_INSERT_TABLE, db=db, name=name))

    def rename_by_sql(self, server: Metastore) -> int:
        old, new = self._one(NAMES), self._one(NAMES)
        if any(new in server.call("get_all_tables", db) for db in (DB, OTHER)):
            return 0
        return self._database.run(lambda tx: tx.run(_RENAME_TABLE, old=old, new=new))

    def delete_by_sql(self, server: Metastore) -> int:
        name = self._one(NAMES)
        return self._database.run(lambda tx: tx.run(_DELETE_TABLE, name=name))

    # --- partitions ---

    def _there(self, server: Metastore, table: str) -> tuple[str, ...]:
        found: tuple[str, ...] = server.call("get_partition_names", DB, table, -1)
        return found

    def add(self, server: Metastore) -> None:
        add_partitions(server, self._one(TABLES), *self._random.sample(DAYS, self._random.randint(1, 2)))

    def drop_partition(self, server: Metastore) -> None:
        server.call("drop_partition_by_name", DB, self._one(TABLES), f"ds={self._one(DAYS)}", False)

    def drop_newest(self, server: Metastore) -> None:
        """And add another one, which SQLite gives the same id."""
        table = self._one(TABLES)
        free = [day for day in DAYS if f"ds={day}" not in self._there(server, table)]
        first, second = self._random.sample(free, 2) if len(free) > 1 else ("1", "1")
        add_partitions(server, table, first)
        server.call("drop_partition_by_name", DB, table, f"ds={first}", False)
        add_partitions(server, table, second)

    def drop_many(self, server: Metastore) -> None:
        parts = RequestPartsSpec(names=tuple(f"ds={day}" for day in self._random.sample(DAYS, 3)))
        request = DropPartitionsRequest(dbName=DB, tblName=self._one(TABLES), parts=parts, ifExists=True)
        server.call("drop_partitions_req", request)

    def rename_partition(self, server: Metastore) -> None:
        table = self._one(TABLES)
        stored = server.call("get_partition", DB, table, (self._one(DAYS),))
        free = [day for day in DAYS if f"ds={day}" not in self._there(server, table)]
        server.call("rename_partition", DB, table, stored.values, replace(stored, values=(self._one((*free, "1")),)))

    def exchange(self, server: Metastore) -> None:
        table = self._one(TABLES)
        (other,) = {*TABLES} - {table}
        free = set(self._there(server, table)) - set(self._there(server, other))
        name = self._one((*sorted(free), "ds=1"))
        server.call("exchange_partition", {"ds": name.removeprefix("ds=")}, DB, table, DB, other)

    def restore(self, server: Metastore) -> None:
        days = self._random.sample(DAYS, 2)
        parts = [Partition(values=(day,), sd=bare_storage(location=f"file:/x/{day}"), parameters={}) for day in days]
        context = Context(server.service, Session("test", server.generation))
        restore_partitions(context, DatabaseName("hive", DB), self._one(TABLES), parts, {}, {})

    def add_by_sql(self, server: Metastore) -> int:
        """As a server of an earlier version adds a partition: it locks the table, and inserts a row."""
        table, day = self._one(TABLES), self._one(DAYS)
        found = self._there(server, table)
        if not found or f"ds={day}" in found:
            return 0

        def write(tx: Any) -> int:
            (number,) = tx.one(_LOCK, name=table)
            return int(tx.run(_INSERT_PARTITION, table=number, name=f"ds={day}", value=day))

        return self._database.run(write)

    def recreate(self, server: Metastore) -> None:
        table = self._one(TABLES)
        server.call("drop_table", DB, table, False)
        make_table(server, table, keys=("ds",))
        add_partitions(server, table, *self._random.sample(DAYS, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generation", "seed", "steps"),
    [
        pytest.param(Generation.HIVE_4_0, 4, 200, id="4.0"),
        pytest.param(Generation.HIVE_3_1, SEED, scaled(600), marks=pytest.mark.soak, id="3.1"),
    ],
)
def test_replies_equal_those_without_a_cache_whatever_others_write(
    start: Starter, database: Database, generation: Generation, seed: int, steps: int
) -> None:
    """A server for Hive 4 has the calls of Hive 3 too; `make soak` has one for Hive 3, with other writes each time."""
    cached = [start(generation), start(generation)]
    uncached = start(generation, names=VersionedCache[bytes](0, 0))
    for table in TABLES:
        make_table(cached[0], table, keys=("ds",))
        add_partitions(cached[0], table, *DAYS[:3])
    cached[0].call("create_database", HiveDatabase(name=OTHER, locationUri=f"file:/nowhere/{OTHER}"))
    history = History(cached, database, seed)
    for _ in range(steps):
        history.step()
        expected = [table_lists(uncached), *(partition_lists(uncached, table) for table in TABLES)]
        for server in cached:
            found = [table_lists(server), *(partition_lists(server, table) for table in TABLES)]
            assert found == expected, history.done
    assert not history.never_done


@pytest.mark.slow
def test_what_is_written_is_listed_by_other_servers_at_once_while_many_write(start: Starter) -> None:
    """Each writer has a server for its writes and another one for its lists."""
    pairs = [(start(), start()) for _ in range(3)]
    make_table(pairs[0][0], "p", keys=("ds",))

    def write(number: int) -> None:
        writes, reads = pairs[number]
        for turn in range(15):
            name, day = f"t{number}_{turn}", f"{number}_{turn}"
            make_table(writes, name)
            assert name in reads.call("get_all_tables", DB)
            add_partitions(writes, "p", day)
            assert f"ds={day}" in reads.call("get_partition_names", DB, "p", -1)
            if turn % 3 == 0:
                writes.call("drop_table", DB, name, False)
                assert name not in reads.call("get_all_tables", DB)
                writes.call("drop_partition_by_name", DB, "p", f"ds={day}", False)
                assert f"ds={day}" not in reads.call("get_partition_names", DB, "p", -1)

    with ThreadPoolExecutor(len(pairs)) as pool:
        list(pool.map(write, range(len(pairs))))
    uncached = start(names=VersionedCache[bytes](0, 0))
    for _, reads in pairs:
        assert table_lists(reads) == table_lists(uncached)
        assert partition_lists(reads, "p") == partition_lists(uncached, "p")


# --- hits and misses --------------------------------------------------------------------------------------------------


@pytest.fixture
def database(opener: Callable[[], Database]) -> Database:
    """The database by itself, for writes by SQL."""
    return opener()


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    for table in TABLES:
        make_table(metastore, table, keys=("ds",))
        add_partitions(metastore, table, *DAYS[:4])
    return metastore


def _statements(metastore: Metastore, *call: Any) -> int:
    with counted_statements() as ran:
        metastore.call(*call)
    return len(ran)


TABLE_CALLS = (("get_all_tables", DB), ("get_tables", DB, "p*"), ("get_tables_by_type", DB, "*", TYPES[0]))
PARTITION_CALLS = (("get_partition_names", DB, "p", -1), ("get_partition_names_ps", DB, "p", ("",), -1))


@pytest.mark.parametrize("call", TABLE_CALLS, ids=str)
def test_a_second_list_of_tables_only_reads_the_stamp(filled: Metastore, call: tuple[Any, ...]) -> None:
    assert _statements(filled, *call) == 2
    assert _statements(filled, *call) == 1


@pytest.mark.parametrize("call", PARTITION_CALLS, ids=str)
def test_a_second_list_of_partitions_only_reads_the_table_and_its_newest_partition(
    filled: Metastore, call: tuple[Any, ...]
) -> None:
    assert _statements(filled, *call) == 3
    assert _statements(filled, *call) == 2


def test_short_lists_are_not_kept(filled: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lists, "KEPT", 5)
    for _ in range(2):
        assert _statements(filled, *TABLE_CALLS[0]) == 2
        assert _statements(filled, *PARTITION_CALLS[0]) == 3


def test_very_long_lists_are_not_kept(filled: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lists, "NAMES_HELD", 1)
    before = _statements(filled, *TABLE_CALLS[0]), _statements(filled, *PARTITION_CALLS[0])
    assert (_statements(filled, *TABLE_CALLS[0]), _statements(filled, *PARTITION_CALLS[0])) == before
    assert filled.call(*PARTITION_CALLS[0]) == tuple(f"ds={day}" for day in DAYS[:4])


def test_a_limit_that_exceeds_the_names_has_the_entry_of_the_complete_list_only_if_it_is_very_large(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_lists, "NAMES_HELD", 10)
    filled.call("get_partition_names", DB, "p", -1)
    assert _statements(filled, "get_partition_names", DB, "p", 11) == 2
    assert _statements(filled, "get_partition_names", DB, "p", 10) == 3


def test_writes_that_leave_the_names_alone_keep_the_entries(filled: Metastore) -> None:
    calls = (TABLE_CALLS[0], PARTITION_CALLS[0])
    for call in calls:
        filled.call(*call)
    part = filled.call("get_partition_by_name", DB, "p", "ds=1")
    filled.call("alter_partition", DB, "p", replace(part, parameters={**part.parameters, "note": "new"}))
    stored = filled.call("get_table", DB, "p")
    filled.call("alter_table", DB, "p", replace(stored, parameters={**stored.parameters, "note": "new"}))
    add_partitions(filled, "q", "9")
    filled.call("create_database", HiveDatabase(name=OTHER, locationUri=f"file:/nowhere/{OTHER}"))
    filled.call("create_table", bare_table(OTHER, "t"))
    assert [_statements(filled, *call) for call in calls] == [1, 2]


def test_a_refused_write_keeps_the_entry(filled: Metastore) -> None:
    filled.call(*TABLE_CALLS[0])
    with pytest.raises(MetastoreError):
        make_table(filled, "p", keys=("ds",))
    assert _statements(filled, *TABLE_CALLS[0]) == 1


def test_names_that_were_read_while_they_changed_are_not_found_later(
    filled: Metastore, start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is read first, and another server writes before the names are read."""
    other, read = start(), tables.names

    def late(*args: Any, **named: Any) -> list[str]:
        monkeypatch.setattr(tables, "names", read)
        names: list[str] = read(*args, **named)
        make_table(other, "between")
        return names

    monkeypatch.setattr(tables, "names", late)
    assert filled.call("get_all_tables", DB) == ("p", "q")
    assert filled.call("get_all_tables", DB) == ("between", "p", "q")


def test_a_database_without_tables_lists_none_and_its_first_table_at_once(metastore: Metastore) -> None:
    metastore.call("create_database", HiveDatabase(name=DB, locationUri=f"file:/nowhere/{DB}"))
    assert metastore.call("get_all_tables", DB) == ()
    make_table(metastore)
    assert metastore.call("get_all_tables", DB) == ("t",)
