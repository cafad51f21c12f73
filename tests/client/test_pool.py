"""The connection pool: number, users, lifetime and idle time of connections, and statistics."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import pytest

import metastored
from metastored.client.pooling import PoolSettings
from metastored.client.retry import Retry
from metastored.errors import (
    ApplicationError,
    ConfigError,
    ConnectError,
    MetaException,
    PoolExhausted,
    TimeoutExceeded,
    TransportError,
)
from metastored.wire.message import Reply
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected, grouped
from tests.support.scripted import Act, Peer, Scripted, answer, closing_at_once, hang_up, scripted, stall
from tests.support.waiting import eventually, pause, repeated_within


def metastore() -> WritableMetastore:
    return WritableMetastore((table_of("sales", "orders"),))


def options(**given: Any) -> dict[str, Any]:
    return grouped(**{"cache": False, "protocol": "binary", "framed": False, **given})


def held(opened: threading.Event) -> Act:
    """A reply that is sent when the event is set."""

    def act(peer: Peer, data: bytes) -> None:
        opened.wait(30)
        answer(peer, data)

    return act


def test_calls_one_after_the_other_use_one_connection(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        for _ in range(5):
            client.databases()
        assert server.accepted == 1
        stats = client.pool_stats()
        assert (stats.size, stats.idle, stats.busy, stats.opened, stats.acquired) == (1, 1, 0, 1, 5)


def test_threads_share_the_connections_and_wait_for_a_free_one() -> None:
    opened = threading.Event()
    with scripted(metastore(), otherwise=held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=3)) as client:
            found: list[tuple[str, ...]] = []
            threads = [threading.Thread(target=lambda: found.append(client.databases())) for _ in range(12)]
            for thread in threads:
                thread.start()
            eventually(lambda: len(server.requests) == 3)
            eventually(lambda: client.api.pool is not None and client.api.pool.stats().waiting == 9)
            opened.set()
            for thread in threads:
                thread.join()
            assert found == [("sales",)] * 12
            assert server.accepted == 3


def test_tasks_share_the_connections_and_wait_for_a_free_one() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, **options(max_size=3)) as client:
            assert await asyncio.gather(*(client.databases() for _ in range(64))) == [("sales",)] * 64
            stats = client.pool_stats()
            assert stats is not None
            assert (stats.opened, stats.busy, stats.waiting) == (3, 0, 0)

    with scripted(metastore()) as server:
        asyncio.run(test(server.uri))
        assert server.accepted == 3


def test_concurrent_calls_detect_the_framing_of_a_server() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, cache=False) as client:
            assert await asyncio.gather(*(client.databases() for _ in range(20))) == [("sales",)] * 20

    with scripted(metastore()) as server:
        asyncio.run(test(server.uri))


def test_when_too_many_wait_one_more_is_refused() -> None:
    opened = threading.Event()
    with scripted(metastore(), otherwise=held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=1, max_waiting=1)) as client:
            threads = [threading.Thread(target=client.databases) for _ in range(2)]
            for thread in threads:
                thread.start()
            pool = client.api.pool
            assert pool is not None
            eventually(lambda: pool.stats().waiting == 1)
            with pytest.raises(PoolExhausted, match="1 calls are in progress and 1 are waiting; raise max_size"):
                client.databases()
            assert pool.stats().refused == 1
            opened.set()
            for thread in threads:
                thread.join()


def test_a_call_that_stops_waiting_leaves_the_queue(half: str) -> None:
    opened = threading.Event()
    with scripted(metastore(), held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=1)) as client:
            first = threading.Thread(target=client.databases)
            first.start()
            eventually(lambda: len(server.requests) == 1)
            with pytest.raises(
                TimeoutExceeded, match=r"waiting for a connection while 1 calls use them all took longer"
            ):
                client.within(0.05).databases()
            opened.set()
            first.join()
            assert client.databases() == ("sales",)


def test_idle_connections_are_closed_except_min_idle(half: str) -> None:
    with scripted(metastore()) as server:
        with connected(half, server.uri, **options(idle_timeout=0.0)) as client:
            client.databases()
            time.sleep(0.01)
            client.databases()
            assert server.accepted == 2
        with connected(half, server.uri, **options(idle_timeout=0.0, min_idle=2)) as client:
            assert client.pool_stats().idle == 2
            time.sleep(0.01)
            client.databases()
            assert client.pool_stats().idle == 2
            assert server.accepted == 4


def burst(half: str, client: Any, server: Scripted, count: int) -> None:
    """Makes so many calls, each of which is replied to when all of them have arrived."""
    arrived = threading.Barrier(count)

    def together(peer: Peer, data: bytes) -> None:
        arrived.wait(30)
        answer(peer, data)

    server.then(*[together] * count)
    if half == "async":

        async def calls() -> None:
            await asyncio.gather(*(client._inner.databases() for _ in range(count)))

        client._runner.run(calls())
        return
    threads = [threading.Thread(target=client.databases) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_min_idle_connections_are_replaced_beside_the_calls(half: str) -> None:
    kept = options(min_idle=2, look_every=0.005)
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        assert client.pool_stats().idle == 2
        assert client.databases() == ("sales",)
        server.hang_up()
        eventually(lambda: client.pool_stats().idle < 2 or client.pool_stats().replaced > 0, client)
        eventually(lambda: client.pool_stats().idle >= 2, client)
        called = len(server.requests)
        assert client.databases() == ("sales",)
        assert len(server.requests) == called + 1, "a call after a restart finds a connection that works"


def test_min_idle_connections_are_opened_without_a_with_too() -> None:
    with scripted(metastore()) as server:
        client = metastored.connect(server.uri, **options(min_idle=2, look_every=0.005))
        assert client.databases() == ("sales",)
        # A third one, if the pool was filled up while the call had a connection.
        eventually(lambda: server.accepted >= 2)
        client.close()
        client.close()


def test_min_idle_connections_are_retried_until_the_server_is_back(half: str) -> None:
    kept = options(min_idle=1, look_every=0.005, retry=Retry(attempts=1))
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        port = server.port
        server.close()
        eventually(lambda: client.pool_stats().failed > 1, client)
        with scripted(metastore(), port=port) as again:
            eventually(lambda: client.pool_stats().idle == 1, client)
            # Before it is used: while it is, another one is made ready.
            eventually(lambda: again.accepted == 1)
            assert client.databases() == ("sales",)


def test_min_idle_does_not_exceed_max_size() -> None:
    opened = threading.Event()
    with scripted(metastore(), otherwise=held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=2, min_idle=2, look_every=0.005)) as client:
            threads = [threading.Thread(target=client.databases) for _ in range(2)]
            for thread in threads:
                thread.start()
            eventually(lambda: len(server.requests) == 2)
            time.sleep(0.05)
            assert server.accepted == 2
            opened.set()
            for thread in threads:
                thread.join()


def test_a_connection_that_is_opened_for_min_idle_counts_towards_max_size() -> None:
    opened = threading.Event()
    settings = options(user="ann", max_size=2, min_idle=1, look_every=0.005)
    with scripted(metastore(), otherwise=held(opened)) as server:
        client = metastored.connect(server.uri, **settings)
        threads = [threading.Thread(target=client.databases) for _ in range(2)]
        threads[0].start()
        eventually(lambda: len(server.requests) == 2)  # The call and the keeper of min_idle both send the user.
        threads[1].start()
        pool = client.api.pool
        assert pool is not None
        eventually(lambda: pool.stats().waiting == 1 or server.accepted == 3)
        assert server.accepted == 2
        opened.set()
        for thread in threads:
            thread.join()
        client.close()


def test_an_idle_connection_is_replaced_after_max_lifetime(half: str) -> None:
    kept = options(min_idle=1, look_every=0.005, max_lifetime=0.05)
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        eventually(lambda: server.accepted > 2, client)
        assert client.databases() == ("sales",)


def test_a_connection_is_replaced_after_max_lifetime(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(max_lifetime=0.0)) as client:
        client.databases()
        client.databases()
        assert server.accepted == 2
        assert client.pool_stats().replaced == 2


def test_a_connection_that_fails_its_health_check_is_replaced(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(check_after=0.0)) as client:
        client.databases()
        time.sleep(0.01)
        server.then(hang_up)
        assert client.databases() == ("sales",)
        assert client.pool_stats().replaced == 1
        time.sleep(0.01)
        assert client.databases() == ("sales",)
        assert server.called.count("getStatus") == 1


def test_idle_connections_are_closed_when_their_time_is_up_without_another_call(half: str) -> None:
    settings = options(max_size=5, min_idle=2, idle_timeout=0.1, look_every=0.02)
    with scripted(metastore()) as server, connected(half, server.uri, **settings) as client:
        burst(half, client, server, 5)
        assert client.pool_stats().idle > 2
        eventually(lambda: client.pool_stats().idle == 2, client)
        opened = client.pool_stats().opened
        eventually(lambda: server.opened == 2, client)
        pause(client, 0.3)
        assert (client.pool_stats().idle, server.opened, client.pool_stats().opened) == (2, 2, opened)


def test_all_idle_connections_are_closed_without_min_idle_and_the_next_call_opens_one(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(idle_timeout=0.1)) as client:
        burst(half, client, server, 4)
        eventually(lambda: client.pool_stats().idle == 0 and server.opened == 0, client)
        assert client.databases() == ("sales",)


@pytest.mark.slow
def test_the_idle_time_of_a_connection_starts_again_with_each_call(half: str) -> None:
    idle = 1.0
    for _ in range(20):
        with scripted(metastore()) as server, connected(half, server.uri, **options(idle_timeout=idle)) as client:
            client.databases()
            if repeated_within(idle, 6, client.databases, client):
                assert server.accepted == 1
                return
    pytest.fail("the machine was too busy to use the connection in time")


def test_the_thread_that_closes_idle_connections_ends_with_them() -> None:
    # In a process of its own: all clients of a process share the thread, also those that other tests left open.
    code = """
import sys, threading, time
import metastored

def timer_threads():
    return [thread for thread in threading.enumerate() if thread.name == "metastored-timers"]

def eventually(condition):
    while not condition():
        time.sleep(0.001)

def connect(idle_timeout):
    transport = metastored.TransportSettings(protocol="binary", framed=False)
    pool = metastored.PoolSettings(idle_timeout=idle_timeout)
    return metastored.connect(sys.argv[1], transport=transport, pool=pool)

with connect(0.05) as client:
    client.databases()
    eventually(lambda: client.api.pool.stats().idle == 0)
    eventually(lambda: not timer_threads())
clients = [connect(60.0) for _ in range(3)]
for client in clients:
    client.databases()
assert len(timer_threads()) == 1, "all clients of a process share one thread"
assert all(thread.daemon for thread in timer_threads())
for client in clients:
    client.close()
eventually(lambda: not timer_threads())
"""
    with scripted(metastore()) as server:
        subprocess.run([sys.executable, "-c", code, server.uri], check=True, timeout=60)


def test_no_task_is_left_when_an_asynchronous_client_is_closed() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, **options(cache=True, min_idle=1, idle_timeout=60.0)) as client:
            assert await asyncio.gather(*(client.databases() for _ in range(3))) == [("sales",)] * 3
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with scripted(metastore()) as server:
        asyncio.run(test(server.uri))


@pytest.mark.parametrize("closes", [True, False], ids=["closed", "not closed"])
def test_a_client_does_not_keep_the_process_alive(closes: bool) -> None:
    code = (
        "import sys, metastored, warnings; warnings.simplefilter('ignore')\n"
        "pool = metastored.PoolSettings(min_idle=2, idle_timeout=600.0)\n"
        "client = metastored.connect(sys.argv[1], pool=pool)\n"
        "assert client.databases() == ('sales',)\n" + ("client.close()\n" if closes else "")
    )
    with scripted(WritableMetastore((table_of("sales", "orders"),), events=True)) as server:
        subprocess.run([sys.executable, "-c", code, server.uri], check=True, timeout=60)


def test_a_client_that_is_no_longer_used_is_not_kept_in_memory() -> None:
    with scripted(WritableMetastore((table_of("sales", "orders"),), events=True)) as server:
        client = metastored.connect(
            server.uri,
            pool=metastored.PoolSettings(idle_timeout=600.0),
            transport=metastored.TransportSettings(framed=False),
        )
        client.table("sales.orders")
        assert client.api.pool is not None
        pool = weakref.ref(client.api.pool)
        client.api.pool.drop_idle()
        del client
        gc.collect()
        assert pool() is None


def test_the_wait_for_a_connection_is_limited() -> None:
    opened = threading.Event()
    with scripted(metastore(), held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=1, acquire_timeout=0.1, timeout=60.0)) as client:
            first = threading.Thread(target=client.databases)
            first.start()
            eventually(lambda: len(server.requests) == 1)
            with pytest.raises(TimeoutExceeded, match=r"get_all_databases at .*: waiting for a connection .* 0\.1 s$"):
                client.databases()
            opened.set()
            first.join()
            assert client.databases() == ("sales",)


def test_the_wait_of_a_task_for_a_connection_is_limited() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, **options(max_size=1, acquire_timeout=0.1, timeout=60.0)) as client:
            first = asyncio.ensure_future(client.databases())
            while not server.requests:
                await asyncio.sleep(0.001)
            with pytest.raises(TimeoutExceeded, match=r"waiting for a connection .* 0\.1 s$"):
                await client.databases()
            opened.set()
            assert await first == ("sales",)

    opened = threading.Event()
    with scripted(metastore(), held(opened)) as server:
        asyncio.run(test(server.uri))


def test_a_call_that_has_its_connection_is_not_limited_by_the_wait_for_one(half: str) -> None:
    def slow(peer: Peer, data: bytes) -> None:
        time.sleep(0.3)
        answer(peer, data)

    with scripted(metastore(), otherwise=slow) as server:
        with connected(half, server.uri, **options(acquire_timeout=0.1)) as client:
            assert client.databases() == ("sales",)


def test_a_server_that_closes_each_connection_at_once_is_not_flooded(half: str) -> None:
    with closing_at_once() as server:
        every, started = 0.05, time.monotonic()
        with connected(half, server.uri, **options(min_idle=5, look_every=every)) as client:
            pause(client, 0.5)
            accepted = server.accepted
            checks = (time.monotonic() - started) / every
            assert accepted <= 5 * (checks + 2)


def test_a_health_check_without_a_reply_costs_no_more_than_a_new_connection(half: str) -> None:
    settings = options(check_after=0.0, connect_timeout=0.5, timeout=60.0)
    with scripted(metastore()) as server, connected(half, server.uri, **settings) as client:
        client.databases()
        time.sleep(0.01)
        server.then(stall)
        assert client.databases() == ("sales",)
        assert server.accepted == 2


def test_the_user_is_sent_once_for_each_connection(half: str) -> None:
    there = metastore()
    with scripted(there) as server, connected(half, server.uri, **options(user="ann", groups=("staff",))) as client:
        client.databases()
        client.databases()
    assert there.users == ["ann", "ann"]
    assert server.called.count("set_ugi") == 1


def test_a_server_that_refuses_the_user_is_an_error(half: str) -> None:
    class Strict(WritableMetastore):
        async def handle(self, call: Any, session: Any) -> Any:
            if call.method.name == "set_ugi":
                return Reply.raised(call.method, MetaException("who are you?"))
            return await super().handle(call, session)

    with scripted(Strict()) as server, connected(half, server.uri, **options(user="bob")) as client:
        with pytest.raises(ConnectError, match="does not accept the user 'bob': who are you"):
            client.databases()


def test_a_server_without_set_ugi_can_be_used(half: str) -> None:
    class Open(WritableMetastore):
        async def handle(self, call: Any, session: Any) -> Any:
            if call.method.name == "set_ugi":
                error = ApplicationError(ApplicationError.UNKNOWN_METHOD, "Invalid method name: 'set_ugi'")
                return Reply.raised(call.method, error)
            return await super().handle(call, session)

    with scripted(Open()) as server, connected(half, server.uri, **options(user="bob")) as client:
        assert client.databases() == client.databases() == ("sales",)
        assert server.accepted == 1


def test_a_call_that_waits_when_the_client_is_closed_fails() -> None:
    with scripted(metastore(), otherwise=stall) as server:
        client = metastored.connect(server.uri, **options(max_size=1))
        failed: list[str] = []

        def ask() -> None:
            try:
                client.databases()
            except TransportError as error:
                failed.append(str(error))

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        pool = client.api.pool
        assert pool is not None
        eventually(lambda: len(server.requests) == 1 and pool.stats().waiting == 1)
        client.close()
        for thread in threads:
            thread.join()
        assert any("this client is closed" in text for text in failed)


def test_a_call_of_a_closed_client_is_an_error(half: str) -> None:
    with scripted(metastore()) as server:
        with connected(half, server.uri, **options()) as client:
            client.databases()
            client.close()
            with pytest.raises(ConnectError, match="this client is closed"):
                client.databases()


def test_closing_ends_the_calls_in_progress() -> None:
    with scripted(metastore(), otherwise=stall) as server:
        client = metastored.connect(server.uri, **options())
        failed: list[Exception] = []

        def ask() -> None:
            try:
                client.databases()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        eventually(lambda: len(server.requests) == 1)
        client.close()
        thread.join()
        assert isinstance(failed[0], ConnectError) or "closed" in str(failed[0])


def test_a_cancelled_task_frees_its_connection_for_the_next_call() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, **options(max_size=1)) as client:
            first = asyncio.ensure_future(client.databases())
            while not server.requests:
                await asyncio.sleep(0.001)
            second = asyncio.ensure_future(client.databases())
            await asyncio.sleep(0)
            first.cancel()
            assert await second == ("sales",)

    with scripted(metastore(), stall) as server:
        asyncio.run(test(server.uri))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_size": 0}, "at least one connection"),
        ({"min_idle": 11}, "between 0 and max_size, 10"),
        ({"idle_timeout": -1}, "idle_timeout is -1"),
        ({"max_waiting": -1}, "max_waiting is -1"),
        ({"look_every": 0}, "look_every is 0"),
        ({"acquire_timeout": 0}, "acquire_timeout is 0"),
    ],
)
def test_impossible_settings_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        PoolSettings(**given).checked()


@pytest.mark.parametrize("given", [{"batch": 0}, {"timeout": 0}, {"token": "t"}, grouped(headers={"A": "b"}), {}])
def test_impossible_options_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        metastored.connect("thrift://host:9083" if given else None, **given)
    with pytest.raises(ConfigError, match="leaves no time"):
        metastored.connect("thrift://host:9083").within(0)
