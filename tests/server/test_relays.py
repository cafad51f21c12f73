"""Replies that a remote sends while they are passed on: slow peers, peers that leave, and a remote that breaks off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from metastored.errors import ConnectionLost, Error
from metastored.server.relays import RelaySender
from metastored.server.state import ServerState
from metastored.threads import Pool
from metastored.wire.message import Relayed
from tests.support.waiting import PATIENCE

PIECE = 600 * 1024
COUNT = 6
REPLY = b"".join(bytes((number,)) * PIECE for number in range(COUNT))


class Pieces(Relayed):
    """A reply of some pieces, after which it ends, breaks off or hangs."""

    def __init__(self, error: Error | None = None, hangs: bool = False) -> None:
        super().__init__()
        self.taken = 0
        self.closed = False
        self._error = error
        self._hangs = hangs

    async def next(self) -> bytes | None:
        await asyncio.sleep(0)
        if self.taken < COUNT:
            self.taken += 1
            return bytes((self.taken - 1,)) * PIECE
        if self._error is not None:
            raise self._error
        if self._hangs:
            await asyncio.get_running_loop().create_future()
        return None

    def when_ended(self, callback: Callable[[Error | None], None]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True


class Reader:
    """A connection. If `slow`, it takes one piece and no more until the test says so."""

    def __init__(self, *, slow: bool = False) -> None:
        self.lost = False
        self.gone = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.received = b""
        self.slow = slow

    def write(self, data: bytes) -> None:
        self.received += data
        if self.slow:
            self.writable.clear()

    def leave(self) -> None:
        self.lost = True
        self.gone.set()
        self.writable.set()


def sender(
    pieces: Pieces, reader: Reader, pool: Pool, state: ServerState, directory: Path, *, wraps: bool = False
) -> RelaySender:
    return RelaySender(pieces, b"head", bytes, reader, pool, state, directory, max_age=0.05, wraps=wraps)


@pytest.mark.parametrize("wraps", [False, True])
def test_a_reply_is_sent_complete_and_closed(tmp_path: Path, wraps: bool) -> None:
    async def main() -> None:
        pool, reader, pieces = Pool(1), Reader(), Pieces()
        await sender(pieces, reader, pool, ServerState(), tmp_path, wraps=wraps).run()
        assert reader.received == b"head" + REPLY
        assert pieces.closed
        pool.close()

    asyncio.run(main())


def test_what_a_slow_peer_does_not_read_is_taken_into_a_file_so_that_the_remote_is_free(tmp_path: Path) -> None:
    async def main() -> None:
        pool, state, reader, pieces = Pool(1), ServerState(), Reader(slow=True), Pieces()
        task = asyncio.create_task(sender(pieces, reader, pool, state, tmp_path).run())
        while pieces.taken < COUNT:
            await asyncio.sleep(0.001)
        assert reader.received == b"head" + REPLY[:PIECE]
        assert state.spooled.held > 0
        while not task.done():
            reader.writable.set()
            await asyncio.sleep(0)
        await task
        assert reader.received == b"head" + REPLY
        assert state.spooled.held == 0
        pool.close()

    asyncio.run(main())
    assert list(tmp_path.iterdir()) == []


def test_without_space_for_a_file_a_slow_peer_gets_the_rest_at_its_own_pace(tmp_path: Path) -> None:
    async def main() -> None:
        pool, state, reader, pieces = Pool(1), ServerState(), Reader(slow=True), Pieces()
        state.spooled.most = 0
        state.spooled.change(1)
        task = asyncio.create_task(sender(pieces, reader, pool, state, tmp_path).run())
        async with asyncio.timeout(PATIENCE):
            while pieces.taken == 0:
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.2)  # It takes no other while nobody reads.
        assert pieces.taken == 1
        while not task.done():
            reader.writable.set()
            await asyncio.sleep(0)
        await task
        assert reader.received == b"head" + REPLY
        pool.close()

    asyncio.run(main())


def test_a_peer_that_leaves_while_the_remote_hangs_ends_it_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        pool, reader, pieces = Pool(1), Reader(), Pieces(hangs=True)
        task = asyncio.create_task(sender(pieces, reader, pool, ServerState(), tmp_path).run())
        while len(reader.received) < len(REPLY):
            await asyncio.sleep(0.001)
        reader.leave()
        await task
        assert pieces.closed
        pool.close()

    asyncio.run(main())


def test_a_remote_that_breaks_off_is_an_error_after_the_first_byte(tmp_path: Path) -> None:
    async def main() -> None:
        pool, reader, pieces = Pool(1), Reader(), Pieces(ConnectionLost("the connection was closed"))
        relaying = sender(pieces, reader, pool, ServerState(), tmp_path)
        with pytest.raises(ConnectionLost):
            await relaying.run()
        assert relaying.begun and pieces.closed
        pool.close()

    asyncio.run(main())
