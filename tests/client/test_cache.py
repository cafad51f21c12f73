"""What a client remembers, when it forgets, and how many calls that saves."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest

import metastored
from metastored.client.cache import Absent, CacheSettings, MetadataCache, tags_of, tags_of_event
from metastored.errors import ConfigError, ConnectionLost, TableNotFound
from metastored.wire.generated.common import Table
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected
from tests.support.scripted import hang_up, scripted


def metastore(count: int = 3, events: bool = False) -> WritableMetastore:
    return WritableMetastore(tuple(table_of("sales", f"t{at}", color="red") for at in range(count)), events)


QUIET = CacheSettings(events_every=0)


def test_what_was_asked_is_not_asked_again(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=QUIET) as client:
        for _ in range(10):
            assert client.table("sales.t0").tableName == "t0"
            assert client.databases() == ("sales",)
        assert there.called == ["get_table_req", "get_all_databases"]
        stats = client.cache_stats()
        assert (stats.hits, stats.misses, stats.entries) == (18, 2, 2)


def test_it_is_off_with_one_flag(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=False) as client:
        client.table("sales.t0")
        client.table("sales.t0")
        assert there.called == ["get_table_req"] * 2
        assert client.cache_stats() is None


def test_who_changes_what_it_got_changes_nothing_in_the_cache(half: str) -> None:
    with connected(half, handler=metastore(), cache=QUIET) as client:
        client.table("sales.t0").parameters["color"] = "blue"
        assert client.table("sales.t0").parameters["color"] == "red"


def test_that_something_is_missing_is_remembered_too(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=QUIET) as client:
        for _ in range(3):
            with pytest.raises(TableNotFound, match=r"sales\.nothing"):
                client.table("sales.nothing")
        assert there.called == ["get_table_req"]
        assert client.cache_stats().negative_hits == 2
        client.create_table(table_of("sales", "nothing"))
        assert client.table("sales.nothing").tableName == "nothing"


def test_own_writes_are_seen_at_once(half: str) -> None:
    with connected(half, handler=metastore(), cache=QUIET) as client:
        assert len(client.tables("sales")) == 3
        client.table("sales.t1")
        client.alter("sales.t0", replace(client.table("sales.t0"), tableName="renamed"))
        assert sorted(client.tables("sales")) == ["renamed", "t1", "t2"]
        with pytest.raises(TableNotFound):
            client.table("sales.t0")
        client.drop_table("sales.t1")
        with pytest.raises(TableNotFound):
            client.table("sales.t1")
        client.create_database("more")
        assert client.databases() == ("sales", "more")


def test_a_write_leaves_what_is_known_of_other_tables(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=QUIET) as client:
        client.table("sales.t0")
        client.table("sales.t1")
        client.databases()
        client.set_parameters("sales.t1", color="green")
        there.calls.clear()
        client.table("sales.t0")
        client.databases()
        assert there.called == []
        assert client.table("sales.t1").parameters["color"] == "green"


def test_a_write_whose_answer_was_lost_is_forgotten_as_well(half: str) -> None:
    there = metastore()
    with scripted(there) as server:
        with connected(half, server.uri, cache=QUIET, framed=False, retry=metastored_once()) as client:
            client.table("sales.t0")
            server.then(hang_up)
            with pytest.raises(ConnectionLost):
                client.drop_table("sales.t0")
            client.table("sales.t0")
            assert server.called.count("get_table_req") == 2


def metastored_once() -> Any:
    from metastored.client.retry import Retry

    return Retry(attempts=1)


def test_what_others_change_is_seen_by_the_events_of_the_server(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=1e-9)) as client:
        client.table("sales.t0")
        client.table("sales.t1")
        there.drop_table_with_environment_context("sales", "t0", True, None)
        with pytest.raises(TableNotFound):
            client.table("sales.t0")
        there.calls.clear()
        client.table("sales.t1")
        assert "get_table_req" not in there.called
        assert client.cache_stats().events == 1


def test_a_rename_by_others_is_seen_under_the_old_name_too(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=1e-9)) as client:
        client.table("sales.t0")
        there.alter_table_with_environment_context("sales", "t0", table_of("sales", "renamed"), None)
        with pytest.raises(TableNotFound):
            client.table("sales.t0")


def test_a_server_without_events_is_asked_for_them_once(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=CacheSettings(events_every=1e-9)) as client:
        for _ in range(5):
            client.table("sales.t0")
        assert there.called.count("get_current_notificationEventId") == 1


def test_many_tasks_that_ask_the_same_make_one_call() -> None:
    there = metastore()

    async def test() -> None:
        async with metastored.aconnect(handler=Slow(there), cache=QUIET) as client:
            tables = await asyncio.gather(*(client.table("sales.t0") for _ in range(50)))
            assert {table.tableName for table in tables} == {"t0"}
            stats = client.cache_stats()
            assert stats is not None
            assert stats.joined == 49

    asyncio.run(test())
    assert there.called == ["get_table_req"]


def test_many_threads_that_ask_the_same_make_one_call() -> None:
    there = metastore()
    with metastored.connect(handler=Slow(there), cache=QUIET) as client:
        threads = [threading.Thread(target=client.table, args=("sales.t0",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert there.called == ["get_table_req"]


def test_when_the_task_that_asks_is_cancelled_another_asks() -> None:
    there = metastore()

    async def test() -> None:
        async with metastored.aconnect(handler=Slow(there), cache=QUIET) as client:
            first = asyncio.ensure_future(client.table("sales.t0"))
            await asyncio.sleep(0.001)
            second = asyncio.ensure_future(client.table("sales.t0"))
            await asyncio.sleep(0.001)
            first.cancel()
            assert (await second).tableName == "t0"

    asyncio.run(test())


def test_an_error_goes_to_all_that_wait_for_the_same() -> None:
    async def test() -> None:
        async with metastored.aconnect(handler=Slow(metastore()), cache=QUIET) as client:
            found = await asyncio.gather(
                *(client.within(0.02).table("sales.t0") for _ in range(3)), return_exceptions=True
            )
            assert all("took longer than" in str(error) for error in found)

    asyncio.run(test())


class Slow:
    """A metastore whose answers take a moment."""

    def __init__(self, inner: WritableMetastore) -> None:
        self.inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        await asyncio.sleep(0.05)
        return await self.inner.handle(call, session)


def test_listing_ten_thousand_tables_takes_a_call_for_their_names_and_one_a_batch(half: str) -> None:
    there = metastore(10_000)
    with connected(half, handler=there, cache=False) as client:
        assert sum(1 for _ in client.table_objects("sales")) == 10_000
        assert client.api.calls <= math.ceil(10_000 / 1000) + 1


def test_with_the_cache_a_program_that_mostly_reads_makes_a_twentieth_of_the_calls(half: str) -> None:
    def work(client: Any) -> int:
        for at in range(1000):
            client.table(f"sales.t{at % 10}")
            client.tables("sales")
            if at % 250 == 0:
                client.set_parameters("sales.t3", round=str(at))
        return int(client.api.calls)

    with connected(half, handler=metastore(10), cache=False) as without:
        many = work(without)
    with connected(half, handler=metastore(10, events=True), cache=CacheSettings()) as remembering:
        few = work(remembering)
    assert few <= many * 0.05


def test_clients_with_other_deadlines_share_what_is_remembered_and_what_was_seen(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=1e-9)) as client:
        shorter = client.within(5.0)
        client.table("sales.t0")
        there.drop_table_with_environment_context("sales", "t0", True, None)
        with pytest.raises(TableNotFound):
            shorter.table("sales.t0")
        assert client.api.calls == shorter.api.calls
        client.cache.clear()
        assert client.cache.stats().entries == 0


def test_a_client_without_a_cache_has_none_to_ask(half: str) -> None:
    with metastored.connect(handler=metastore(), cache=False) as client:
        with pytest.raises(ConfigError, match="this client has no cache"):
            client.cache.stats()


def test_events_that_cannot_be_read_this_time_are_read_the_next(half: str) -> None:
    there = metastore(events=True)
    with scripted(there) as server:
        settings = CacheSettings(events_every=1e-9)
        with connected(half, server.uri, cache=settings, framed=False, retry=metastored_once()) as client:
            client.table("sales.t0")
            server.then(hang_up)
            assert client.table("sales.t0").tableName == "t0"
            there.drop_table_with_environment_context("sales", "t0", True, None)
            with pytest.raises(TableNotFound):
                client.table("sales.t0")


def test_after_very_many_events_everything_is_forgotten(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=1e-9)) as client:
        client.table("sales.t0")
        for _ in range(1001):
            there._tell("CREATE_TABLE", "other", "table")
        there.made["sales", "t0"] = table_of("sales", "t0", color="blue")
        assert client.table("sales.t0").parameters["color"] == "blue"


# The memory itself, with a clock that is told what time it is.


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def filled(**settings: Any) -> tuple[MetadataCache, Clock]:
    clock = Clock()
    return MetadataCache(CacheSettings(**settings), clock), clock


def put(cache: MetadataCache, name: str, value: Any = b"x", db: str = "db") -> tuple[str, bytes]:
    key = ("get_table", f"{db}.{name}".encode())
    cache.put(key, value, frozenset({(db, name)}), cache.moment())
    return key


def test_an_answer_is_forgotten_when_it_is_too_old() -> None:
    cache, clock = filled(ttl=10.0, tti=100.0)
    key = put(cache, "t")
    clock.now = 10.0
    assert cache.get(key) == b"x"
    clock.now = 10.1
    assert cache.get(key) is None
    assert cache.stats().expired == 1


def test_an_answer_is_forgotten_when_nobody_asks_for_it() -> None:
    cache, clock = filled(ttl=100.0, tti=5.0)
    used, unused = put(cache, "used"), put(cache, "unused")
    for clock.now in (4.0, 8.0):
        assert cache.get(used) == b"x"
    assert cache.get(unused) is None


def test_that_something_is_missing_is_remembered_for_a_shorter_time() -> None:
    cache, clock = filled(negative_ttl=1.0)
    key = put(cache, "t", Absent(TableNotFound("table", "db.t")))
    clock.now = 1.0
    assert isinstance(cache.get(key), Absent)
    clock.now = 1.1
    assert cache.get(key) is None


def test_the_least_recently_used_makes_room() -> None:
    cache, _ = filled(capacity=2)
    first, second = put(cache, "a"), put(cache, "b")
    cache.get(first)
    third = put(cache, "c")
    assert [cache.get(key) for key in (first, second, third)] == [b"x", None, b"x"]
    assert (cache.stats().evicted, cache.stats().entries) == (1, 2)


def test_what_was_fetched_while_something_changed_is_not_kept() -> None:
    cache, _ = filled()
    before = cache.moment()
    cache.changed({("other", "table")})
    cache.put(("get_table", b""), b"old", frozenset({("db", "t")}), before)
    assert cache.get(("get_table", b"")) is None


def test_a_change_of_a_database_forgets_its_tables_and_no_others() -> None:
    cache, _ = filled()
    mine, other = put(cache, "t", db="a"), put(cache, "t", db="b")
    cache.changed({("a", "")})
    assert (cache.get(mine), cache.get(other)) == (None, b"x")
    cache.clear()
    assert cache.stats().entries == 0


@pytest.mark.parametrize(
    ("method", "args", "expected"),
    [
        ("get_table", ("Sales", "Orders"), {("sales", "orders")}),
        ("get_table", ("@hive#sales", "orders"), {("sales", "orders")}),
        ("get_all_tables", ("sales",), {("sales", "")}),
        ("get_tables", ("sales", "*"), {("sales", "")}),
        ("get_table_meta", ("*", "*", None), {("*", "")}),
        ("get_databases", ("*",), {("", "")}),
        ("get_all_databases", (), {("", "")}),
        ("get_table", ("@broken", "orders"), {("", "")}),
        (
            "alter_table",
            ("sales", "old", Table(dbName="sales", tableName="new")),
            {("sales", "old"), ("sales", "new")},
        ),
    ],
)
def test_what_a_call_is_about(method: str, args: tuple[Any, ...], expected: set[tuple[str, str]]) -> None:
    assert tags_of(METHODS[method], args) == expected


def test_what_an_event_is_about() -> None:
    assert tags_of_event("DROP_TABLE", "Sales", "T", None) == {("sales", "t")}
    assert tags_of_event("CREATE_DATABASE", "sales", None, None) == {("sales", "")}
    assert tags_of_event("OPEN_TXN", None, None, None) == {("", "")}
    before = r'{"tableObjBeforeJson":"{\"1\":{\"str\":\"old\"},\"2\":{\"str\":\"sales\"}}"}'
    assert tags_of_event("ALTER_TABLE", "sales", "new", before) == {("sales", "new"), ("sales", "old")}
    assert tags_of_event("ALTER_TABLE", "sales", "new", "H4sIAAAA") == {("sales", "new"), ("sales", "")}


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="ttl of the cache is -1"):
        filled(ttl=-1)
