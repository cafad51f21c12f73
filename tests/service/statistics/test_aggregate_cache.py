"""The cache of aggregated column statistics is never stale: random histories on two servers, and its single rules.

Every reply of a server with the cache must equal that of a server without one on the same database.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from metastored.errors import MetastoreError
from metastored.hive.generation import Generation
from metastored.model.names import DatabaseName
from metastored.service.core.context import Context
from metastored.service.core.versioned_cache import VersionedCache
from metastored.service.restore_partitions import restore_partitions
from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.generated.statistics import (
    DeleteColumnStatisticsRequest,
    PartitionsStatsRequest,
    SetPartitionsStatsRequest,
)
from metastored.wire.message import Session
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, add_partitions, bare_storage, make_table, numbers, statistics, texts
from tests.support.statements import counted_statements

DAYS = ("1", "2", "3", "4")
NAMES = tuple(f"ds={day}" for day in DAYS)
COLUMNS = ("a", "b", "c", "d")
TABLES = ("p", "q")


def _aggregated(
    metastore: Metastore,
    table: str,
    columns: tuple[str, ...] = ("b", "c"),
    parts: tuple[str, ...] = NAMES,
    **other: Any,
) -> Any:
    request = PartitionsStatsRequest(dbName=DB, tblName=table, colNames=columns, partNames=parts, **other)
    return metastore.call("get_aggr_stats_for", request)


def _put(metastore: Metastore, table: str, part: str, *objects: Any, **other: Any) -> None:
    metastore.call("update_partition_column_statistics", statistics(*objects, name=table, part=part, **other))


# --- random histories -------------------------------------------------------------------------------------------------


class History:
    """Random writes by the clients of two servers. A write that fails changes nothing, and is a step as well."""

    def __init__(self, servers: list[Metastore], seed: int) -> None:
        self._random = random.Random(seed)
        self._servers = servers
        self._steps: list[Callable[[Metastore, str], object]] = [
            *(self.update, self.update, self.set_many, self.set_many, self.delete, self.delete_many),
            *(self.add, self.add, self.drop, self.drop_many, self.rename, self.rename, self.alter_columns),
            *(self.exchange, self.exchange),
            *(self.alter_table, self.swap_names, self.recreate, self.truncate, self.restore, self.of_table),
        ]
        self.done = Counter[str]()

    def step(self) -> None:
        one = self._random.choice(self._steps)
        try:
            one(self._random.choice(self._servers), self._random.choice(TABLES))
        except MetastoreError:
            return
        self.done[one.__name__] += 1

    @property
    def never_done(self) -> set[str]:
        return {step.__name__ for step in self._steps} - set(self.done)

    def _part(self) -> str:
        return self._random.choice(NAMES)

    def _parts(self) -> tuple[str, ...]:
        return tuple(self._random.sample(NAMES, self._random.randint(1, 3)))

    def _objects(self) -> list[Any]:
        low, most = self._random.randint(0, 9), self._random.randint(10, 99)
        every = [numbers("a", low, most, low, most), texts("b", most, 2.5, low, most), numbers("c", low, most)]
        return self._random.sample(every, self._random.randint(1, 3))

    def _engine(self) -> str | None:
        return self._random.choice((None, None, "impala"))

    # --- statistics ---

    def update(self, server: Metastore, table: str) -> None:
        _put(server, table, self._part(), *self._objects(), engine=self._engine())

    def set_many(self, server: Metastore, table: str) -> None:
        found = server.call("get_partition_names", DB, table, -1)
        given = tuple(statistics(*self._objects(), name=table, part=part) for part in found)
        merge = self._random.random() < 0.3
        request = SetPartitionsStatsRequest(colStats=given, needMerge=merge, engine=self._engine())
        server.call("set_aggr_stats_for", request)

    def delete(self, server: Metastore, table: str) -> None:
        column = self._random.choice((None, "a", "b", "c"))
        server.call("delete_partition_column_statistics", DB, table, self._part(), column, self._engine())

    def delete_many(self, server: Metastore, table: str) -> None:
        parts = self._random.choice((None, self._parts()))
        columns = self._random.choice((None, ("a",), ("b", "c")))
        request = DeleteColumnStatisticsRequest(
            db_name=DB, tbl_name=table, part_names=parts, col_names=columns, engine=self._engine()
        )
        server.call("delete_column_statistics_req", request)

    def of_table(self, server: Metastore, table: str) -> None:
        server.call("update_table_column_statistics", statistics(*self._objects(), name=table))

    # --- partitions ---

    def add(self, server: Metastore, table: str) -> None:
        add_partitions(server, table, self._random.choice(DAYS))

    def drop(self, server: Metastore, table: str) -> None:
        server.call("drop_partition_by_name", DB, table, self._part(), False)

    def drop_many(self, server: Metastore, table: str) -> None:
        parts = RequestPartsSpec(names=self._parts())
        server.call("drop_partitions_req", DropPartitionsRequest(dbName=DB, tblName=table, parts=parts, ifExists=True))

    def rename(self, server: Metastore, table: str) -> None:
        """To a name that is free, if there is one."""
        stored = self._random.choice(server.call("get_partitions", DB, table, -1) or [Partition(values=("1",))])
        free = {*DAYS} - {name.removeprefix("ds=") for name in server.call("get_partition_names", DB, table, -1)}
        new = self._random.choice(sorted(free) or DAYS)
        server.call("rename_partition", DB, table, stored.values, replace(stored, values=(new,)))

    def exchange(self, server: Metastore, table: str) -> None:
        """A partition of one table replaces that of the other."""
        (other,) = {*TABLES} - {table}
        found = server.call("get_partition_names", DB, table, -1)
        name = self._random.choice(found or NAMES)
        if name in server.call("get_partition_names", DB, other, -1):
            server.call("drop_partition_by_name", DB, other, name, False)
        server.call("exchange_partition", {"ds": name.removeprefix("ds=")}, DB, table, DB, other)

    def alter_columns(self, server: Metastore, table: str) -> None:
        """Another type of a column of some partitions."""
        stored = server.call("get_partitions_by_names", DB, table, self._parts())
        fields = tuple(FieldSchema(name, self._random.choice(("int", "string"))) for name in ("a", "b", "c"))
        changed = tuple(replace(part, sd=replace(part.sd, cols=fields)) for part in stored)
        server.call("alter_partitions", DB, table, changed)

    def restore(self, server: Metastore, table: str) -> None:
        """As an import does: partitions and their statistics, below the API."""
        days = self._random.sample(DAYS, 2)
        parts = [Partition(values=(day,), sd=bare_storage(location=f"file:/x/{day}"), parameters={}) for day in days]
        given = {f"ds={day}": self._objects() for day in days}
        forgotten = {self._part(): ("a", "c")}
        context = Context(server.service, Session("test", server.generation))
        restore_partitions(context, DatabaseName("hive", DB), table, parts, given, forgotten)

    # --- tables ---

    def alter_table(self, server: Metastore, table: str) -> None:
        """Another name of a column of both tables, with CASCADE: the statistics of the old one are gone."""
        last = self._random.choice(("c", "d"))
        for name in TABLES:
            stored = server.call("get_table", DB, name)
            fields = (*stored.sd.cols[:2], FieldSchema(last, "bigint"))
            changed = replace(stored, sd=replace(stored.sd, cols=fields))
            server.call("alter_table_with_cascade", DB, name, changed, True)

    def swap_names(self, server: Metastore, table: str) -> None:
        for old, new in (("p", "x"), ("q", "p"), ("x", "q")):
            server.call("alter_table", DB, old, replace(server.call("get_table", DB, old), tableName=new))

    def recreate(self, server: Metastore, table: str) -> None:
        server.call("drop_table", DB, table, False)
        make_table(server, table, keys=("ds",))
        add_partitions(server, table, *self._random.sample(DAYS, 2))

    def truncate(self, server: Metastore, table: str) -> None:
        server.call("truncate_table", DB, table, (self._part(),))


REQUESTS: tuple[dict[str, Any], ...] = (
    {"columns": COLUMNS, "parts": NAMES},
    {"columns": ("b",), "parts": NAMES[:2]},
    {"columns": ("c", "a"), "parts": NAMES[::-1], "engine": "impala"},
)


@pytest.mark.slow
@pytest.mark.parametrize("generation", [Generation.HIVE_3_1, Generation.HIVE_4_0], ids=str)
def test_replies_equal_those_without_a_cache_whatever_two_servers_write(start: Starter, generation: Generation) -> None:
    cached = [start(generation), start(generation)]
    uncached = start(generation, aggregates=VersionedCache[Any](0, 0))
    for table in TABLES:
        make_table(cached[0], table, keys=("ds",))
        add_partitions(cached[0], table, *DAYS)
    history = History(cached, seed=int(generation))
    for _ in range(250):
        history.step()
        for table in TABLES:
            for request in REQUESTS:
                expected = _aggregated(uncached, table, **request)
                assert [_aggregated(server, table, **request) for server in cached] == [expected] * 2, history.done
    assert not history.never_done


# --- hits and misses --------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """A metastore with two tables whose partitions all have statistics."""
    for table in TABLES:
        make_table(metastore, table, keys=("ds",))
        add_partitions(metastore, table, *DAYS)
        for low, part in enumerate(NAMES):
            _put(metastore, table, part, texts("b", 9, 2.5), numbers("c", low, low + 50))
    return metastore


def _statements(metastore: Metastore, table: str) -> int:
    with counted_statements() as ran:
        _aggregated(metastore, table)
    return len(ran)


def test_a_second_request_only_reads_the_row_of_the_table(filled: Metastore) -> None:
    assert _statements(filled, "p") > 1
    assert _statements(filled, "p") == 1


def test_writes_that_leave_the_statistics_of_the_partitions_alone_keep_the_entry(filled: Metastore) -> None:
    expected = _aggregated(filled, "p")
    _put(filled, "q", NAMES[0], numbers("c", 0, 99))
    filled.call("drop_partition_by_name", DB, "q", NAMES[1], False)
    filled.call("drop_table", DB, "q", False)
    filled.call("update_table_column_statistics", statistics(numbers("c", 0, 99), name="p"))
    add_partitions(filled, "p", "5")
    part = filled.call("get_partition_by_name", DB, "p", NAMES[0])
    filled.call("alter_partition", DB, "p", replace(part, parameters={**part.parameters, "note": "new"}))
    assert _statements(filled, "p") == 1
    stored = filled.call("get_table", DB, "p")
    filled.call("alter_table", DB, "p", replace(stored, tableName="renamed"))
    assert _statements(filled, "renamed") == 1
    assert _aggregated(filled, "renamed") == expected


def test_the_write_of_another_server_is_seen_at_once(filled: Metastore, start: Starter) -> None:
    other = start()
    assert _aggregated(other, "p") == _aggregated(filled, "p")
    _put(filled, "p", NAMES[0], numbers("c", 0, 1000))
    result = _aggregated(other, "p")
    assert result == _aggregated(filled, "p")
    assert max(one.statsData.longStats.highValue for one in result.colStats if one.colName == "c") == 1000


def test_a_table_that_was_dropped_and_created_again_has_no_statistics(filled: Metastore) -> None:
    assert _aggregated(filled, "p").partsFound == len(NAMES)
    filled.call("drop_table", DB, "p", False)
    make_table(filled, "p", keys=("ds",))
    add_partitions(filled, "p", *DAYS)
    result = _aggregated(filled, "p")
    assert (result.colStats, result.partsFound) == ((), 0)


def test_a_refused_write_keeps_the_entry(filled: Metastore) -> None:
    _aggregated(filled, "p")
    with pytest.raises(MetastoreError):
        _put(filled, "p", "ds=nope", numbers("c", 0, 1000))
    assert _statements(filled, "p") == 1


def test_another_order_of_the_partitions_has_an_entry_of_its_own(filled: Metastore) -> None:
    filled.call("delete_partition_column_statistics", DB, "p", NAMES[-1], None, None)
    others = (NAMES[0], NAMES[2], NAMES[1], NAMES[3])
    one, other = _aggregated(filled, "p"), _aggregated(filled, "p", parts=others)
    assert one != other  # The missing values are extrapolated along the order of the request.
    assert (_aggregated(filled, "p"), _aggregated(filled, "p", parts=others)) == (one, other)


def test_whether_the_statistics_are_valid_for_a_snapshot_is_not_cached(metastore: Metastore) -> None:
    acid = {"transactional": "true", "transactional_properties": "insert_only"}
    make_table(metastore, "p", keys=("ds",), parameters=acid)
    accurate = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "DO_NOT_UPDATE_STATS": "true"}
    new = Partition(values=DAYS[:1], dbName=DB, tableName="p", sd=bare_storage(), parameters=accurate)
    metastore.call("add_partitions", (new,))

    def snapshot(mark: int) -> str:
        return f"{DB}.p:{mark}:{2**63 - 1}::"

    given = (statistics(numbers("c", 1, 9), name="p", part=NAMES[0]),)
    request = SetPartitionsStatsRequest(colStats=given, writeId=5, validWriteIdList=snapshot(5))
    metastore.call("set_aggr_stats_for", request)
    for mark, compliant in ((5, True), (4, False), (6, True)):
        result = _aggregated(metastore, "p", ("c",), NAMES[:1], validWriteIdList=snapshot(mark))
        assert (result.isStatsCompliant, len(result.colStats)) == (compliant, int(compliant))
