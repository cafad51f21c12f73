"""The metadata cache: what is cached, when it is invalidated, and how many calls it saves."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from typing import Any

import pytest

import metastored
from metastored.client.cache import Absent, CacheSettings, MetadataCache, tags_of, tags_of_event
from metastored.errors import ApplicationError, ConfigError, ConnectionLost, RateLimited, TableNotFound
from metastored.wire.generated.common import Table
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected
from tests.support.scripted import answer, hang_up, scripted
from tests.support.waiting import eventually, pause, unchanged


def metastore(count: int = 3, events: bool = False) -> WritableMetastore:
    return WritableMetastore(tuple(table_of("sales", f"t{at}", color="red") for at in range(count)), events)


QUIET = CacheSettings(events_every=0)


def test_a_cached_read_makes_no_call(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=QUIET) as client:
        for _ in range(10):
            assert client.table("sales.t0").tableName == "t0"
            assert client.databases() == ("sales",)
        assert there.called == ["get_table_req", "get_all_databases"]
        stats = client.cache_stats()
        assert (stats.hits, stats.misses, stats.entries) == (18, 2, 2)


def test_the_cache_can_be_turned_off(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=False) as client:
        client.table("sales.t0")
        client.table("sales.t0")
        assert there.called == ["get_table_req"] * 2
        assert client.cache_stats() is None


def test_a_changed_result_does_not_change_the_cache(half: str) -> None:
    with connected(half, handler=metastore(), cache=QUIET) as client:
        client.table("sales.t0").parameters["color"] = "blue"
        assert client.table("sales.t0").parameters["color"] == "red"


def test_a_missing_object_is_cached_too(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=QUIET) as client:
        for _ in range(3):
            with pytest.raises(TableNotFound, match=r"sales\.nothing"):
                client.table("sales.nothing")
        assert there.called == ["get_table_req"]
        assert client.cache_stats().negative_hits == 2
        client.create_table(table_of("sales", "nothing"))
        assert client.table("sales.nothing").tableName == "nothing"


def test_own_writes_invalidate_the_cache_at_once(half: str) -> None:
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


def test_a_write_does_not_invalidate_other_tables(half: str) -> None:
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


def test_a_write_whose_reply_was_lost_invalidates_the_cache_too(half: str) -> None:
    there = metastore()
    with scripted(there) as server:
        with connected(
            half, server.uri, cache=QUIET, transport=metastored.TransportSettings(framed=False), retry=one_attempt()
        ) as client:
            client.table("sales.t0")
            server.then(hang_up)
            with pytest.raises(ConnectionLost):
                client.drop_table("sales.t0")
            client.table("sales.t0")
            assert server.called.count("get_table_req") == 2


def one_attempt() -> Any:
    from metastored.client.retry import Retry

    return Retry(attempts=1)


# Notification events


OFTEN = CacheSettings(events_every=0.01)


def is_missing(client: Any, name: str) -> bool:
    try:
        client.table(name)
    except TableNotFound:
        return True
    return False


def polls(there: WritableMetastore) -> int:
    return there.called.count("get_current_notificationEventId")


def test_changes_by_others_are_found_by_notification_events(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        client.table("sales.t1")
        there.drop_table_with_environment_context("sales", "t0", True, None)
        eventually(lambda: is_missing(client, "sales.t0"), client)
        there.calls.clear()
        client.table("sales.t1")
        assert "get_table_req" not in there.called
        assert client.cache_stats().events == 1


def test_a_rename_by_others_invalidates_the_old_name_too(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        there.alter_table_with_environment_context("sales", "t0", table_of("sales", "renamed"), None)
        eventually(lambda: is_missing(client, "sales.t0"), client)


def test_a_server_without_events_is_polled_once(half: str) -> None:
    there = metastore()
    with connected(half, handler=there, cache=OFTEN) as client:
        for _ in range(5):
            client.table("sales.t0")
            client.forget("sales")
            pause(client, 0.02)
        assert polls(there) == 1


@pytest.mark.parametrize(
    "error", [ApplicationError(ApplicationError.INTERNAL_ERROR, "Internal error"), RateLimited("too many calls")]
)
def test_a_poll_that_fails_for_a_time_is_repeated(half: str, error: Exception) -> None:
    class Failing:
        """A metastore whose first three polls fail."""

        def __init__(self, inner: WritableMetastore) -> None:
            self.inner = inner
            self.failures = 0

        async def handle(self, call: Call, session: Session) -> Reply:
            if call.method.name == "get_current_notificationEventId" and self.failures < 3:
                self.failures += 1
                return Reply.raised(call.method, error)
            return await self.inner.handle(call, session)

    there = metastore(events=True)
    with connected(half, handler=Failing(there), cache=OFTEN) as client:
        client.table("sales.t0")
        eventually(lambda: polls(there) > 0, client)
        client.table("sales.t0")
        there.drop_table_with_environment_context("sales", "t0", True, None)
        eventually(lambda: is_missing(client, "sales.t0"), client)


def test_one_poll_serves_all_cached_objects(half: str) -> None:
    there = metastore(100, events=True)
    settings = CacheSettings(events_every=0.2)
    started = time.monotonic()
    with connected(half, handler=there, cache=settings) as client:
        for _ in range(5):
            for at in range(100):
                client.table(f"sales.t{at}")
            client.tables("sales")
            client.databases()
            pause(client, 0.1)
        called = there.called
        elapsed = time.monotonic() - started
        polled = called.count("get_current_notificationEventId")
        assert polled <= elapsed / settings.events_every + 1
        assert len(called) - polled == 102, "each object is fetched once"


@pytest.mark.slow
def test_tables_that_are_read_seldom_cost_no_call_each(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=0.2)) as client:
        for _ in range(4):
            client.table("sales.t0")
            client.table("sales.t1")
            pause(client, 0.25)
        assert there.called.count("get_table_req") == 2, "each table once"
        assert len(there.called) - polls(there) == 2


class Stuck:
    """A metastore whose event calls do not return, after the first one."""

    def __init__(self, inner: WritableMetastore) -> None:
        self.inner = inner
        self.stuck = 0
        self.released = False

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name == "get_current_notificationEventId" and "get_table_req" in self.inner.called:
            self.stuck += 1
            while not self.released:
                await asyncio.sleep(0.01)
        return await self.inner.handle(call, session)


@pytest.mark.slow
def test_a_cached_read_never_waits_for_a_poll(half: str) -> None:
    there = Stuck(metastore(events=True))
    with connected(half, handler=there, cache=OFTEN, timeout=20.0) as client:
        client.table("sales.t0")
        eventually(lambda: there.stuck == 1, client)
        for _ in range(100):
            assert client.table("sales.t0").tableName == "t0"
        assert there.inner.called.count("get_table_req") == 1
        assert there.stuck == 1, "one poll at a time"
        there.released = True


def test_without_events_every_there_are_no_polls(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=QUIET) as client:
        client.table("sales.t0")
        pause(client, 0.05)
        assert there.called == ["get_table_req"]


def test_polls_end_when_the_cache_is_not_used_and_start_again_with_it(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=CacheSettings(events_every=0.02, tti=0.1)) as client:
        # It is polled as long as the cache is used, however busy the machine is.
        eventually(lambda: client.table("sales.t0").tableName == "t0" and polls(there) > 2, client)
        eventually(lambda: client.cache_stats().entries == 0, client)
        unchanged(lambda: polls(there), client)
        there.made["sales", "t0"] = table_of("sales", "t0", color="blue")
        assert client.table("sales.t0").parameters["color"] == "blue"
        there.drop_table_with_environment_context("sales", "t0", True, None)
        eventually(lambda: is_missing(client, "sales.t0"), client)


def test_polls_end_when_the_client_is_closed() -> None:
    there = metastore(events=True)
    with metastored.connect(handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        while polls(there) < 3:
            time.sleep(0.001)
    ended = polls(there)
    time.sleep(0.1)
    assert polls(there) == ended
    assert not [thread for thread in threading.enumerate() if thread.name == "metastored-background"]


def test_a_change_while_the_first_reply_is_fetched_is_not_missed(half: str) -> None:
    class Changing(WritableMetastore):
        """Changes the table just after it was read for the first time."""

        def get_table_req(self, request: Any) -> Any:
            reply = super().get_table_req(request)
            if not any("color" in (table.parameters or {}) for table in self.made.values()):
                changed = table_of("sales", "t0", color="blue")
                self.alter_table_with_environment_context("sales", "t0", changed, None)
            return reply

    there = Changing((table_of("sales", "t0"),), events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        eventually(lambda: client.table("sales.t0").parameters.get("color") == "blue", client)


def test_concurrent_tasks_with_the_same_arguments_make_one_call() -> None:
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


def test_concurrent_threads_with_the_same_arguments_make_one_call() -> None:
    there = metastore()
    with metastored.connect(handler=Slow(there), cache=QUIET) as client:
        threads = [threading.Thread(target=client.table, args=("sales.t0",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert there.called == ["get_table_req"]


def test_when_the_task_that_calls_is_cancelled_another_one_calls() -> None:
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


def test_all_callers_of_a_combined_call_get_its_error() -> None:
    async def test() -> None:
        async with metastored.aconnect(handler=Slow(metastore()), cache=QUIET) as client:
            found = await asyncio.gather(
                *(client.within(0.02).table("sales.t0") for _ in range(3)), return_exceptions=True
            )
            assert all("took longer than" in str(error) for error in found)

    asyncio.run(test())


class Slow:
    """A metastore with slow replies."""

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


def test_clients_with_other_deadlines_share_the_cache_and_its_polls(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        shorter = client.within(5.0)
        client.table("sales.t0")
        there.drop_table_with_environment_context("sales", "t0", True, None)
        eventually(lambda: is_missing(shorter, "sales.t0"), client)
        assert client.api.calls == shorter.api.calls
        client.cache.clear()
        assert client.cache.stats().entries == 0


def test_the_cache_of_a_client_without_one_is_an_error(half: str) -> None:
    with metastored.connect(handler=metastore(), cache=False) as client:
        with pytest.raises(ConfigError, match="this client has no cache"):
            client.cache.stats()


def test_events_that_could_not_be_read_are_read_by_the_next_poll(half: str) -> None:
    there = metastore(events=True)

    def polls_are_lost(peer: Any, data: bytes) -> None:
        (hang_up if b"get_current_notificationEventId" in data else answer)(peer, data)

    with scripted(there) as server:
        with connected(
            half, server.uri, cache=OFTEN, transport=metastored.TransportSettings(framed=False), retry=one_attempt()
        ) as client:
            client.table("sales.t0")
            server.then(*[polls_are_lost] * 3)
            assert client.table("sales.t0").tableName == "t0"
            there.drop_table_with_environment_context("sales", "t0", True, None)
            eventually(lambda: is_missing(client, "sales.t0"), client)


def test_after_very_many_events_the_cache_is_cleared(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        there.made["sales", "t0"] = table_of("sales", "t0", color="blue")
        for _ in range(1001):
            there._tell("CREATE_TABLE", "other", "table")
        eventually(lambda: client.table("sales.t0").parameters["color"] == "blue", client)


def test_when_the_event_log_starts_again_the_cache_is_cleared(half: str) -> None:
    there = metastore(events=True)
    with connected(half, handler=there, cache=OFTEN) as client:
        client.table("sales.t0")
        there.made["sales", "t0"] = table_of("sales", "t0", color="blue")
        there.log.clear()
        eventually(lambda: client.table("sales.t0").parameters["color"] == "blue", client)


# The cache itself, with a clock of the test


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


def test_an_entry_expires_after_its_ttl() -> None:
    cache, clock = filled(ttl=10.0, tti=100.0)
    key = put(cache, "t")
    clock.now = 10.0
    assert cache.get(key) == b"x"
    clock.now = 10.1
    assert cache.get(key) is None
    assert cache.stats().expired == 1


def test_an_unused_entry_expires_after_its_tti() -> None:
    cache, clock = filled(ttl=100.0, tti=5.0)
    used, unused = put(cache, "used"), put(cache, "unused")
    for clock.now in (4.0, 8.0):
        assert cache.get(used) == b"x"
    assert cache.get(unused) is None


def test_a_missing_object_is_cached_for_a_shorter_time() -> None:
    cache, clock = filled(negative_ttl=1.0)
    key = put(cache, "t", Absent(TableNotFound("table", "db.t")))
    clock.now = 1.0
    assert isinstance(cache.get(key), Absent)
    clock.now = 1.1
    assert cache.get(key) is None


def test_the_least_recently_used_entry_is_evicted() -> None:
    cache, _ = filled(table_capacity=2)
    first, second = put(cache, "a"), put(cache, "b")
    cache.get(first)
    third = put(cache, "c")
    assert [cache.get(key) for key in (first, second, third)] == [b"x", None, b"x"]
    assert (cache.stats().evicted, cache.stats().entries) == (1, 2)


def test_databases_and_tables_have_capacities_of_their_own() -> None:
    assert (CacheSettings().capacity, CacheSettings().tables) == (10_000, 100_000)
    cache, _ = filled(capacity=2)
    databases = [("get_database", bytes([at])) for at in range(3)]
    for at, key in enumerate(databases):
        cache.put(key, b"x", frozenset({(f"db{at}", "")}), cache.moment())
    tables = [put(cache, f"t{at}") for at in range(25)]
    assert [cache.get(key) for key in databases] == [None, b"x", b"x"]
    assert [key for key in tables if cache.get(key) is not None] == tables[5:]
    assert (cache.stats().databases, cache.stats().tables) == (2, 20)


def test_a_reply_with_many_tables_counts_as_many() -> None:
    cache, _ = filled(table_capacity=100)
    single = put(cache, "single")
    for batch in range(3):
        tags = frozenset({("db", f"t{batch}_{at}") for at in range(40)})
        cache.put(("get_table_objects_by_name_req", bytes([batch])), b"x", tags, cache.moment())
    assert cache.get(single) is None
    assert cache.stats().tables == 80
    too_many = frozenset({("db", f"u{at}") for at in range(101)})
    cache.put(("get_table_objects_by_name_req", b"too many"), b"x", too_many, cache.moment())
    assert cache.get(("get_table_objects_by_name_req", b"too many")) is None
    assert cache.stats().tables == 80


def test_a_reply_that_was_fetched_during_a_change_is_not_cached() -> None:
    cache, _ = filled()
    before = cache.moment()
    cache.changed({("other", "table")})
    cache.put(("get_table", b""), b"old", frozenset({("db", "t")}), before)
    assert cache.get(("get_table", b"")) is None


def test_a_change_of_a_database_invalidates_its_tables_and_no_others() -> None:
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
def test_the_tags_of_a_call(method: str, args: tuple[Any, ...], expected: set[tuple[str, str]]) -> None:
    assert tags_of(METHODS[method], args) == expected


def test_the_tags_of_an_event() -> None:
    assert tags_of_event("DROP_TABLE", "Sales", "T", None) == {("sales", "t")}
    assert tags_of_event("CREATE_DATABASE", "sales", None, None) == {("sales", "")}
    assert tags_of_event("OPEN_TXN", None, None, None) == {("", "")}
    before = r'{"tableObjBeforeJson":"{\"1\":{\"str\":\"old\"},\"2\":{\"str\":\"sales\"}}"}'
    assert tags_of_event("ALTER_TABLE", "sales", "new", before) == {("sales", "new"), ("sales", "old")}
    assert tags_of_event("ALTER_TABLE", "sales", "new", "H4sIAAAA") == {("sales", "new"), ("sales", "")}


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="ttl of the cache is -1"):
        filled(ttl=-1)
