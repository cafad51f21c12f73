"""Messages between the server and a process that opens Lance tables: nothing that is sent is trusted."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

import pytest

from metastored.lance.rest.channel import Channel


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs:
        channel = Channel(ours)
        yield channel, theirs
        channel.close()


def test_a_message_arrives_with_its_fields_and_bytes(ends: tuple[Channel, socket.socket]) -> None:
    channel, theirs = ends
    Channel(theirs).send(b"\0rows", kind="done", status=200)
    message = channel.receive()
    assert (message.kind, message.fields["status"], message.data) == ("done", 200, b"\0rows")


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("<IQ", 2**32 - 1, 0),
        struct.pack("<IQ", 2, 2**63),
        struct.pack("<IQ", 2, 0) + b"[]",
        struct.pack("<IQ", 4, 0) + b"\x80\4K.",
    ],
    ids=["endless fields", "endless bytes", "no object", "a pickle"],
)
def test_what_is_no_message_is_refused_before_it_is_read(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    channel, theirs = ends
    theirs.sendall(sent)
    with pytest.raises(ValueError):
        channel.receive()


def test_a_message_that_is_cut_off_is_the_end(ends: tuple[Channel, socket.socket]) -> None:
    channel, theirs = ends
    theirs.sendall(struct.pack("<IQ", 2, 10) + b"{}12345")
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        channel.receive()


def test_nobody_is_waited_for_longer_than_is_said(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    with pytest.raises(TimeoutError):
        channel.receive(time.monotonic() + 0.01)
    with pytest.raises(TimeoutError):
        channel.send(bytes(64 * 1024 * 1024), time.monotonic() + 0.01, kind="request")
