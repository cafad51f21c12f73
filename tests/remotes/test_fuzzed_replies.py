"""Replies that no honest metastore sends: a client, and the server that shows a remote, read them or refuse them.

Every outcome is a value or an error of metastored. The messages are made from the method table, and damaged as bytes.
"""

from __future__ import annotations

import random
import time

import pytest

from metastored.errors import Error
from metastored.remotes.renaming import Renaming
from metastored.remotes.routing import _as_seen_here
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.message import REPLY, Reply
from metastored.wire.methods import METHODS, Method
from tests.support.codecs import PROTOCOLS
from tests.support.fuzz import Fuzzer
from tests.support.remotes import remote_database, remote_table
from tests.support.soak import SEED, scaled

MESSAGES = scaled(100_000)
REMOTES = (
    remote_database("sales", "raw", "thrift://hms:9083"),
    remote_table("d.t", "default.t", "thrift://hms:9083"),
)
RENAMINGS = tuple(Renaming((remote,)) for remote in REMOTES)
ALL = tuple(method for method in METHODS.values() if not method.oneway)


class Replies:
    """Messages from one seed, and what became of them."""

    def __init__(self, seed: int) -> None:
        self.fuzzer = Fuzzer(seed)
        self.random = random.Random(seed)
        self.read = self.refused = self.unfinished = 0

    def run(self, messages: int) -> None:
        for _ in range(messages):
            self._one(self.random.choice(ALL), self.random.choice(tuple(PROTOCOLS)), self.random.random() < 0.5)

    def _one(self, method: Method, protocol: str, framed: bool) -> None:
        wire = ClientConnection(protocol, framed)
        wire.send(method, b"\0")
        message = self._message(method, protocol)
        if self.random.random() < 0.8:
            message = self.fuzzer.damaged(message)
        if framed:
            message = len(message).to_bytes(4, "big") + message
        try:
            for at in range(0, len(message), size := self.random.choice((7, 4096))):
                wire.receive_data(message[at : at + size])
                reply = wire.next_event()
                if not isinstance(reply, NeedData):
                    self._use(method, reply)
                    self.read += 1
                    return
            self.unfinished += 1
        except Error:
            self.refused += 1

    def _message(self, method: Method, protocol: str) -> bytes:
        type = method.returns
        value = None if type is None else self.fuzzer.value(type, 4)
        body = Reply.of(method, value).body
        assert isinstance(body, bytes)
        return PROTOCOLS[protocol].write(REPLY, method.name_bytes, 1, body, method)

    def _use(self, method: Method, reply: Reply) -> None:
        """As a client does, and as a server does that shows a remote."""
        body = reply.body
        assert isinstance(body, bytes)
        if reply.kind == REPLY:
            for remote, renaming in zip(REMOTES, RENAMINGS, strict=True):
                try:
                    seen = _as_seen_here(method, body, remote, renaming)
                    seen.value(method)
                except Error:
                    continue
        Reply(body, reply.kind).value(method)


@pytest.mark.slow
def test_damaged_replies_are_read_or_refused_and_nothing_else() -> None:
    replies = Replies(seed=7)
    replies.run(6000)
    assert min(replies.read, replies.refused, replies.unfinished) > 300


@pytest.mark.soak
def test_many_damaged_replies_are_read_or_refused_and_nothing_else() -> None:
    started = time.monotonic()
    replies = Replies(SEED)
    replies.run(MESSAGES)
    print(
        f"{replies.read} replies were read, {replies.refused} refused, {replies.unfinished} were cut off, "
        f"in {time.monotonic() - started:.0f} s (seed {SEED})"
    )
