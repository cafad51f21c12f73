"""The client's document, sections 7.3 and 7.4: connections and the cache."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import metastored
from metastored.client.cache import CacheSettings, CacheStats
from metastored.client.pooling import PoolStats
from metastored.errors import Error
from tests.client.handlers import WritableMetastore, table_of
from tests.server.http.support import any_certificate
from tests.specs.conftest import Server
from tests.support.scripted import Act, Peer, answer, scripted, stall
from tests.support.waiting import eventually, repeated_within

pytestmark = pytest.mark.slow

SOON = 20.0


def pool(client: metastored.Client) -> PoolStats:
    found = client.pool_stats()
    assert found is not None
    return found


def cache(client: metastored.Client) -> CacheStats:
    found = client.cache_stats()
    assert found is not None
    return found


def until(stalling: threading.Event) -> Act:
    """A good server until the event is set, then one that is silent."""

    def act(peer: Peer, data: bytes) -> None:
        (stall if stalling.is_set() else answer)(peer, data)

    return act


# 7.3


def test_7_3_a_no_more_than_max_size_connections_are_open(own: Server) -> None:
    with own.client(pool=metastored.PoolSettings(max_size=3), cache=False) as client:
        with ThreadPoolExecutor(12) as threads:
            assert set(threads.map(lambda _: len(client.databases("default")), range(60))) == {1}
        assert pool(client).opened <= 3


def test_7_3_b_min_idle_connections_are_kept_over_tls_too(own: Server) -> None:
    with own.client(pool=metastored.PoolSettings(min_idle=3, look_every=0.05)) as client:
        eventually(lambda: pool(client).idle == 3)
    uri = f"https://127.0.0.1:{own.https}/metastore"
    with metastored.connect(
        uri, tls=any_certificate(), pool=metastored.PoolSettings(min_idle=5, look_every=0.05), cache=False
    ) as client:
        eventually(lambda: pool(client).idle == 5)
        for _ in range(10):
            assert "default" in client.databases()
            time.sleep(0.05)
        # TLS 1.3 sends tickets after the handshake: they are no sign of a dead connection.
        assert pool(client).opened <= 6 and pool(client).replaced == 0, "one for the call, five that are idle"


def test_7_3_c_connection_timeout_limits_the_wait_for_a_connection() -> None:
    slow = threading.Event()
    with scripted(WritableMetastore((table_of("sales", "orders"),)), otherwise=until(slow)) as server:
        own = Server("scripted", server.uri)
        keys = {"max_size": 1, "min_idle": 0, "connection_timeout_ms": 500}
        with own.catalogs(connection_pool=keys, cache={"enabled": False}) as catalogs, ThreadPoolExecutor(1) as threads:
            catalogs.get_database("sales")
            slow.set()
            before = len(server.requests)
            first = threads.submit(catalogs.get_database, "sales")
            eventually(lambda: len(server.requests) > before)
            with pytest.raises(Error, match="connection"):
                catalogs.get_database("sales")
            assert not first.done(), "the call that holds the connection still has its time"
            slow.clear()
            server.hang_up()
            assert first.result(SOON).name == "sales"


def test_7_3_d_idle_connections_above_min_idle_are_closed_after_idle_timeout_without_a_call(own: Server) -> None:
    with own.client(
        pool=metastored.PoolSettings(max_size=6, min_idle=1, idle_timeout=0.3, look_every=0.05), cache=False
    ) as client:
        barrier = threading.Barrier(6)

        def call(_: int) -> None:
            barrier.wait(SOON)
            client.databases("default")

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(call, range(6)))
        before = pool(client).acquired
        eventually(lambda: pool(client).size <= 1)
        assert pool(client).acquired == before


def test_7_3_e_an_idle_connection_is_checked_before_it_is_used() -> None:
    with scripted(WritableMetastore((table_of("sales", "orders"),))) as server:
        with metastored.connect(
            server.uri,
            pool=metastored.PoolSettings(check_after=0.0),
            cache=False,
            transport=metastored.TransportSettings(protocol="binary", framed=False),
        ) as client:
            client.databases()
            asked = len(server.requests)
            client.databases()
            assert len(server.requests) == asked + 2, "the check, and the call"


def test_7_3_f_a_broken_connection_is_replaced() -> None:
    with scripted(WritableMetastore((table_of("sales", "orders"),))) as server:
        with metastored.connect(
            server.uri, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        ) as client:
            for _ in range(3):
                assert client.databases() == ("sales",)
                server.hang_up()
            assert client.databases() == ("sales",)
            assert pool(client).opened == 4


# 7.4


def test_7_4_a_an_answer_is_forgotten_after_its_time_to_live(own: Server) -> None:
    with own.client(cache=CacheSettings(ttl=0.2, events_every=0)) as client:
        client.database("default")
        time.sleep(0.25)
        client.database("default")
        assert cache(client).expired == 1 and cache(client).misses == 2


def test_7_4_b_an_answer_is_forgotten_after_its_time_to_idle(own: Server) -> None:
    idle = 0.4
    for _ in range(20):
        with own.client(cache=CacheSettings(tti=idle, events_every=0)) as client:
            client.database("default")
            if not repeated_within(idle, 6, lambda: client.database("default")):
                continue
            assert cache(client).misses == 1, "it was used all the time"
            time.sleep(idle)
            client.database("default")
            assert cache(client).misses == 2
            return
    pytest.fail("the machine was too busy to use the cache in time")


def test_7_4_c_there_are_no_more_entries_than_the_capacity_ten_times_as_many_tables_as_databases() -> None:
    names = tuple(f"t{number}" for number in range(40))
    handler = WritableMetastore(tuple(table_of(f"d{number}", name) for number in range(4) for name in names))
    settings = CacheSettings(capacity=6, events_every=0)
    with metastored.connect(handler=handler, cache=settings) as client:
        for number in range(4):
            for name in names:
                client.table(f"d{number}.{name}")
        tables = cache(client).entries
        assert 0 < tables <= 60
        for number in range(20):
            client.databases(f"d{number}")
        assert 0 < cache(client).entries - tables <= 6, "databases do not displace tables"
        assert cache(client).evicted > 0


def test_7_4_d_a_change_of_a_database_invalidates_its_tables(own: Server, db: str) -> None:
    with own.client(cache=CacheSettings(events_every=0)) as client:
        client.create_database(db)
        client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}))
        client.database(db), client.table(f"{db}.t")
        client.drop_database(db, cascade=True)
        for missing in (lambda: client.database(db), lambda: client.table(f"{db}.t")):
            with pytest.raises(Error, match=db):
                missing()


def test_7_4_e_a_change_of_a_table_invalidates_that_table_alone(own: Server, db: str) -> None:
    with own.client(cache=CacheSettings(events_every=0)) as client:
        client.create_database(db)
        for name in ("one", "two"):
            client.create_table(metastored.table(f"{db}.{name}", {"id": "bigint"}))
            client.table(f"{db}.{name}")
        client.set_parameters(f"{db}.one", a="b")
        before = cache(client)
        assert (client.table(f"{db}.two").parameters or {}).get("a") is None
        assert cache(client).misses == before.misses
        assert (client.table(f"{db}.one").parameters or {})["a"] == "b"
        assert cache(client).misses == before.misses + 1
        client.drop_database(db, cascade=True)


def test_7_4_f_a_cache_that_is_not_enabled_caches_nothing(own: Server) -> None:
    with own.catalogs(cache={"enabled": False}) as catalogs:
        client = catalogs.provider().client  # type: ignore[attr-defined]
        catalogs.get_database("default")
        before = client.api.calls
        catalogs.get_database("default")
        assert client.api.calls == before + 1 and client.cache_stats() is None


def test_7_4_g_a_cached_read_never_waits_for_the_server_however_long_ago_the_last_call_was() -> None:
    dead = threading.Event()
    with scripted(WritableMetastore((table_of("sales", "orders"),)), otherwise=until(dead)) as server:
        settings = CacheSettings(events_every=0.1)
        with metastored.connect(
            server.uri,
            cache=settings,
            timeout=SOON,
            transport=metastored.TransportSettings(protocol="binary", framed=False),
        ) as client:
            client.table("sales.orders"), client.database("sales")
            dead.set()
            for _ in range(3):
                time.sleep(0.4)
                before = cache(client).hits
                within = client.within(30.0)
                assert within.table("sales.orders").tableName == "orders"
                assert within.database("sales").name == "sales"
                assert cache(client).hits == before + 2
