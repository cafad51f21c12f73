"""Reads of clients that have disconnected while they waited: they cost others nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from metastored.service.local import Local
from metastored.threads import Pool
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.metastore import Metastore

READ, WRITE = "get_all_databases", "drop_database"


class Served:
    """A local metastore with one thread, which a first call occupies until the others wait for it."""

    def __init__(self, metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pool = Pool(1)
        self._local = Local(metastore.service, self._pool)
        self._may_go_on = threading.Event()
        self.calls = 0
        monkeypatch.setattr(self._local, "_on_loop", set())
        monkeypatch.setattr(self._local, "_functions", dict.fromkeys((READ, WRITE), self._function))

    def _function(self, context: Any, *args: Any) -> Any:
        self.calls += 1
        assert self._may_go_on.wait(30)
        return () if not args else None

    def replies(self, method: str, count: int, leave: Callable[[Session], None]) -> list[Reply]:
        """The replies to these calls, whose clients leave while the first call is served."""

        async def run() -> list[Reply]:
            first = asyncio.create_task(self._handle(READ, Session()))
            sessions = [Session() for _ in range(count)]
            waiting = [asyncio.create_task(self._handle(method, session)) for session in sessions]
            await asyncio.sleep(0)
            for session in sessions:
                leave(session)
            self._may_go_on.set()
            await first
            return list(await asyncio.gather(*waiting))

        try:
            return asyncio.run(asyncio.wait_for(run(), 30))
        finally:
            self._may_go_on.set()
            self._pool.close()

    async def _handle(self, name: str, session: Session) -> Reply:
        method = METHODS[name]
        return await self._local.handle(Call(method, ("d", False, False) if name == WRITE else ()), session)


@pytest.fixture
def served(metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> Served:
    return Served(metastore, monkeypatch)


def disconnect(session: Session) -> None:
    session.ended = session.gone = True


def half_close(session: Session) -> None:
    session.ended = True


def test_a_read_is_not_begun_for_a_client_that_is_gone(served: Served) -> None:
    replies = served.replies(READ, 60, disconnect)
    assert served.calls == 1
    assert {str(reply.error) for reply in replies} == {"the client has disconnected"}


def test_a_client_that_only_closed_its_sending_side_gets_its_reply(served: Served) -> None:
    replies = served.replies(READ, 3, half_close)
    assert served.calls == 4
    assert [reply.value(METHODS[READ]) for reply in replies] == [()] * 3


def test_a_write_is_made_although_its_client_is_gone(served: Served) -> None:
    """The client has sent it, and may count on it."""
    served.replies(WRITE, 3, disconnect)
    assert served.calls == 4
