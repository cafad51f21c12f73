"""Connections: how many, for whom, for how long, and what is said about them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
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
from tests.support.driven import connected
from tests.support.scripted import Act, Peer, answer, hang_up, scripted, stall


def metastore() -> WritableMetastore:
    return WritableMetastore((table_of("sales", "orders"),))


def options(**given: Any) -> dict[str, Any]:
    return {"cache": False, "protocol": "binary", "framed": False, **given}


def held(opened: threading.Event) -> Act:
    """An answer that waits until it is let go."""

    def act(peer: Peer, data: bytes) -> None:
        opened.wait(30)
        answer(peer, data)

    return act


def until(condition: Callable[[], bool]) -> None:
    """Waits until this is so; pytest's time-out ends a wait that is in vain."""
    while not condition():
        time.sleep(0.001)


def test_calls_one_after_the_other_use_one_connection(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        for _ in range(5):
            client.databases()
        assert server.accepted == 1
        stats = client.pool_stats()
        assert (stats.size, stats.idle, stats.busy, stats.opened, stats.acquired) == (1, 1, 0, 1, 5)


def test_threads_share_the_connections_and_wait_for_their_turn() -> None:
    opened = threading.Event()
    with scripted(metastore(), otherwise=held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=3)) as client:
            found: list[tuple[str, ...]] = []
            threads = [threading.Thread(target=lambda: found.append(client.databases())) for _ in range(12)]
            for thread in threads:
                thread.start()
            until(lambda: len(server.requests) == 3)
            until(lambda: client.api.pool is not None and client.api.pool.stats().waiting == 9)
            opened.set()
            for thread in threads:
                thread.join()
            assert found == [("sales",)] * 12
            assert server.accepted == 3


def test_tasks_share_the_connections_and_wait_for_their_turn() -> None:
    async def test(uri: str) -> None:
        async with metastored.aconnect(uri, **options(max_size=3)) as client:
            assert await asyncio.gather(*(client.databases() for _ in range(64))) == [("sales",)] * 64
            stats = client.pool_stats()
            assert stats is not None
            assert (stats.opened, stats.busy, stats.waiting) == (3, 0, 0)

    with scripted(metastore()) as server:
        asyncio.run(test(server.uri))
        assert server.accepted == 3


def test_many_find_out_at_once_whether_a_server_wants_frames() -> None:
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
            until(lambda: pool.stats().waiting == 1)
            with pytest.raises(PoolExhausted, match="1 calls are under way and 1 wait already; raise max_size"):
                client.databases()
            assert pool.stats().refused == 1
            opened.set()
            for thread in threads:
                thread.join()


def test_a_call_that_waited_in_vain_leaves_its_place(half: str) -> None:
    opened = threading.Event()
    with scripted(metastore(), held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=1)) as client:
            first = threading.Thread(target=client.databases)
            first.start()
            until(lambda: len(server.requests) == 1)
            with pytest.raises(TimeoutExceeded, match=r"waiting while 1 other calls are under way took longer"):
                client.within(0.05).databases()
            opened.set()
            first.join()
            assert client.databases() == ("sales",)


def test_unused_connections_are_closed_except_those_that_should_stay(half: str) -> None:
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


def eventually(client: Any, condition: Callable[[], bool]) -> None:
    """Waits until this is so, while what runs beside an asynchronous client goes on."""
    while not condition():
        client.wait(0.005) if hasattr(client, "wait") else time.sleep(0.005)


def test_connections_that_should_be_ready_are_opened_again_beside_the_calls(half: str) -> None:
    kept = options(min_idle=2, look_every=0.005)
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        assert client.pool_stats().idle == 2
        assert client.databases() == ("sales",)
        server.hang_up()
        eventually(client, lambda: client.pool_stats().idle < 2 or client.pool_stats().replaced > 0)
        eventually(client, lambda: client.pool_stats().idle >= 2)
        called = len(server.requests)
        assert client.databases() == ("sales",)
        assert len(server.requests) == called + 1, "a call after a restart finds a connection that works"


def test_connections_that_should_be_ready_are_opened_also_without_a_with() -> None:
    with scripted(metastore()) as server:
        client = metastored.connect(server.uri, **options(min_idle=2, look_every=0.005))
        assert client.databases() == ("sales",)
        until(lambda: server.accepted == 2)
        client.close()
        client.close()


def test_what_should_be_ready_is_tried_until_the_server_is_back(half: str) -> None:
    kept = options(min_idle=1, look_every=0.005, retry=Retry(attempts=1))
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        port = server.port
        server.close()
        eventually(client, lambda: client.pool_stats().failed > 1)
        with scripted(metastore(), port=port) as again:
            eventually(client, lambda: client.pool_stats().idle == 1)
            # Before it is used: while it is, another one is made ready.
            until(lambda: again.accepted == 1)
            assert client.databases() == ("sales",)


def test_connections_in_use_leave_no_room_for_more_that_are_ready() -> None:
    opened = threading.Event()
    with scripted(metastore(), otherwise=held(opened)) as server:
        with metastored.connect(server.uri, **options(max_size=2, min_idle=2, look_every=0.005)) as client:
            threads = [threading.Thread(target=client.databases) for _ in range(2)]
            for thread in threads:
                thread.start()
            until(lambda: len(server.requests) == 2)
            time.sleep(0.05)
            assert server.accepted == 2
            opened.set()
            for thread in threads:
                thread.join()


def test_what_is_ready_is_replaced_when_it_is_old(half: str) -> None:
    kept = options(min_idle=1, look_every=0.005, max_lifetime=0.05)
    with scripted(metastore()) as server, connected(half, server.uri, **kept) as client:
        eventually(client, lambda: server.accepted > 2)
        assert client.databases() == ("sales",)


def test_a_connection_is_replaced_when_it_is_old(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(max_lifetime=0.0)) as client:
        client.databases()
        client.databases()
        assert server.accepted == 2
        assert client.pool_stats().replaced == 2


def test_a_connection_that_gives_no_sign_of_life_is_replaced(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(check_after=0.0)) as client:
        client.databases()
        time.sleep(0.01)
        server.then(hang_up)
        assert client.databases() == ("sales",)
        assert client.pool_stats().replaced == 1
        time.sleep(0.01)
        assert client.databases() == ("sales",)
        assert server.called.count("getStatus") == 1


def test_the_server_learns_the_user_once_a_connection(half: str) -> None:
    there = metastore()
    with scripted(there) as server, connected(half, server.uri, **options(user="ann", groups=("staff",))) as client:
        client.databases()
        client.databases()
    assert there.users == ["ann", "ann"]
    assert server.called.count("set_ugi") == 1


def test_a_server_that_refuses_the_user_is_said(half: str) -> None:
    class Strict(WritableMetastore):
        async def handle(self, call: Any, session: Any) -> Any:
            if call.method.name == "set_ugi":
                return Reply.raised(call.method, MetaException("who are you?"))
            return await super().handle(call, session)

    with scripted(Strict()) as server, connected(half, server.uri, **options(user="bob")) as client:
        with pytest.raises(ConnectError, match="does not accept the user 'bob': who are you"):
            client.databases()


def test_a_server_that_does_not_ask_who_calls_is_served_all_the_same(half: str) -> None:
    class Open(WritableMetastore):
        async def handle(self, call: Any, session: Any) -> Any:
            if call.method.name == "set_ugi":
                error = ApplicationError(ApplicationError.UNKNOWN_METHOD, "Invalid method name: 'set_ugi'")
                return Reply.raised(call.method, error)
            return await super().handle(call, session)

    with scripted(Open()) as server, connected(half, server.uri, **options(user="bob")) as client:
        assert client.databases() == client.databases() == ("sales",)
        assert server.accepted == 1


def test_a_call_that_waits_when_the_client_is_closed_is_told_so() -> None:
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
        until(lambda: len(server.requests) == 1 and pool.stats().waiting == 1)
        client.close()
        for thread in threads:
            thread.join()
        assert any("this client is closed" in text for text in failed)


def test_a_closed_client_says_so(half: str) -> None:
    with scripted(metastore()) as server:
        with connected(half, server.uri, **options()) as client:
            client.databases()
            client.close()
            with pytest.raises(ConnectError, match="this client is closed"):
                client.databases()


def test_closing_ends_the_calls_that_are_under_way() -> None:
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
        until(lambda: len(server.requests) == 1)
        client.close()
        thread.join()
        assert isinstance(failed[0], ConnectError) or "closed" in str(failed[0])


def test_a_task_that_is_cancelled_gives_its_turn_to_the_next() -> None:
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
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        PoolSettings(**given).checked()


@pytest.mark.parametrize("given", [{"batch": 0}, {"timeout": 0}, {"token": "t"}, {"headers": {"A": "b"}}, {}])
def test_options_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        metastored.connect("thrift://host:9083" if given else None, **given)
    with pytest.raises(ConfigError, match="leaves no time"):
        metastored.connect("thrift://host:9083").within(0)
