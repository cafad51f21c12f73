"""Long replies: pulled while the peer reads them, spooled to a file when it does not, always closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.errors import ApplicationError
from metastored.server.state import MAX_STREAMS, ServerState
from metastored.server.streams import StreamSender
from metastored.threads import Pool
from metastored.wire.message import Stream
from metastored.wire.methods import METHODS
from tests.server.handlers import CHUNK
from tests.server.support import Running, serving
from tests.support.waiting import eventually

MIB = 1 << 20
_METHOD = METHODS["get_config_value"]


@pytest.mark.parametrize("framed", [False, True], ids=["unframed", "framed"])
@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
def test_a_stream_arrives_complete(server: Running, protocol: str, framed: bool) -> None:
    with server.peer(protocol=protocol, framed=framed) as peer:
        assert peer.do("stream", 3 * MIB) == "x" * 3 * MIB
        assert peer.do("echo", "and on") == "and on"
    assert server.handler.closed == 1


def test_a_stream_to_a_slow_reader_is_made_no_faster_than_it_is_read(server: Running) -> None:
    with server.peer() as peer:
        peer.send("get_config_value", "stream", str(1024 * MIB))
        peer.socket.recv(1)
        eventually(lambda: server.handler.produced > 0)
        # Only the socket's buffers and one or two chunks are filled; then the stream waits until we read.
        made = -1
        while made != server.handler.produced:
            made = server.handler.produced
            threading.Event().wait(0.3)
        assert made < 64 * MIB


def test_a_lost_connection_closes_the_stream(server: Running) -> None:
    peer = server.peer()
    peer.send("get_config_value", "stream", str(1024 * MIB))
    peer.socket.recv(1000)
    peer.socket.close()
    eventually(lambda: server.handler.closed == 1)
    assert server.handler.produced < 1024 * MIB


def test_an_error_after_the_first_chunk_closes_the_connection(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        peer.send("get_config_value", "broken stream", str(4 * MIB))
        received = peer.rest()
        assert len(received) < 4 * MIB
    eventually(lambda: server.handler.closed == 1)
    assert "the database has gone" in caplog.text


@pytest.mark.parametrize("protocol", ["binary", "compact"])
def test_an_error_before_the_first_chunk_is_sent_as_the_reply(server: Running, protocol: str) -> None:
    with server.peer(protocol=protocol) as peer:
        with pytest.raises(ApplicationError, match="Internal error processing get_config_value"):
            peer.do("no stream", 4 * MIB)
        assert peer.do("echo", "still there") == "still there"
    assert server.handler.closed == 1


def test_a_stream_shorter_than_its_length_closes_the_connection(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer(framed=True) as peer:
        peer.send("get_config_value", "short stream", str(MIB))
        peer.rest()
    assert f"a stream of {MIB + 8} bytes gave {MIB + 7}" in caplog.text


def test_a_reply_that_fits_in_no_frame_is_refused_with_the_reason(server: Running) -> None:
    with server.peer(framed=True) as peer:
        with pytest.raises(ApplicationError, match="does not fit in a frame"):
            peer.do("stream", 2**31 - 2)
        assert peer.do("echo", "still there") == "still there"
    assert server.handler.closed == 1


def test_more_streams_than_may_be_open_wait_for_each_other() -> None:
    with serving() as server:
        peers = [server.peer() for _ in range(MAX_STREAMS + 4)]
        for peer in peers:
            peer.send("get_config_value", "stream", str(8 * MIB))
        for peer in peers:
            assert len(peer.reply().value(_METHOD)) == 8 * MIB
            peer.socket.close()
        # The last byte may be read a moment before its stream is closed.
        eventually(lambda: server.handler.closed == len(peers))


def test_many_streams_do_not_keep_other_calls_waiting(server: Running) -> None:
    peers = [server.peer() for _ in range(MAX_STREAMS)]
    for peer in peers:
        peer.send("get_config_value", "stream", str(64 * MIB))
        peer.socket.recv(1)
    with server.peer() as other:
        assert other.do("pool", "x") == "x"
    for peer in peers:
        peer.socket.close()
    eventually(lambda: server.handler.closed == MAX_STREAMS)


class SlowReader:
    """A connection that reads nothing until the test says so."""

    def __init__(self) -> None:
        self.lost = False
        self.gone = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.received = b""

    def write(self, data: bytes) -> None:
        self.received += data
        self.writable.clear()


def test_an_old_snapshot_is_drained_to_a_file_and_released(tmp_path: Path) -> None:
    closed: list[bool] = []

    def chunks() -> Iterator[bytes]:
        try:
            for number in range(8):
                yield bytes((number,)) * CHUNK
        finally:
            closed.append(True)

    async def main() -> bytes:
        pool, state, reader = Pool(2), ServerState(), SlowReader()
        stream = Stream(chunks(), 8 * CHUNK)
        sender = StreamSender(stream, b"head", lambda chunk: chunk, reader, pool, state, tmp_path, max_age=0.2)
        task = asyncio.create_task(sender.run())
        async with asyncio.timeout(20):
            while not closed:
                await asyncio.sleep(0.01)
            # The reader has read one chunk only; the snapshot and its slot are released anyway.
            assert len(reader.received) == len(b"head") + CHUNK
            while state.streams._value < MAX_STREAMS:
                await asyncio.sleep(0.01)
            while not task.done():
                reader.writable.set()
                await asyncio.sleep(0)
        await task
        pool.close()
        return reader.received

    received = asyncio.run(main())
    assert received == b"head" + b"".join(bytes((number,)) * CHUNK for number in range(8))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("at_hand", "wraps", "threads"), [(True, False, 0), (True, True, 3), (False, False, 3)])
def test_chunks_at_hand_are_sent_without_a_thread_unless_they_have_to_be_wrapped(
    at_hand: bool, wraps: bool, threads: int
) -> None:
    made_by: list[int] = []

    def encode(chunk: bytes) -> bytes:
        made_by.append(threading.get_ident())
        return chunk

    async def main() -> bytes:
        pool, reader = Pool(1), SlowReader()
        reader.writable.clear = lambda: None  # type: ignore[method-assign]
        stream = Stream(iter([b"one", b"two", b"three"]), 11, at_hand=at_hand)
        await StreamSender(stream, b"head ", encode, reader, pool, ServerState(), wraps=wraps).run()
        pool.close()
        return reader.received

    assert asyncio.run(main()) == b"head onetwothree"
    assert sum(thread != threading.get_ident() for thread in made_by) == threads


def test_when_all_snapshots_are_taken_those_of_stalled_readers_are_released() -> None:
    closed: list[int] = []

    def chunks(number: int) -> Iterator[bytes]:
        try:
            for _ in range(4):
                yield b"x" * 1000
        finally:
            closed.append(number)

    async def main() -> None:
        pool, state = Pool(2), ServerState()
        readers = [SlowReader() for _ in range(MAX_STREAMS + 1)]
        senders = [
            StreamSender(Stream(chunks(number), 4000), b"", lambda chunk: chunk, reader, pool, state, max_age=3600)
            for number, reader in enumerate(readers)
        ]
        tasks = [asyncio.create_task(sender.run()) for sender in senders]
        async with asyncio.timeout(20):
            while not readers[-1].received:
                await asyncio.sleep(0.01)
            assert closed
            for reader in readers:
                reader.lost = True
                reader.writable.set()
            await asyncio.gather(*tasks)
        pool.close()

    asyncio.run(main())
    assert sorted(closed) == list(range(MAX_STREAMS + 1))
