"""Which filter is sent to a server, and that no more partitions are read than it selects."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.catalog.handlers import Closing, in_memory
from metastored.catalog.settings import MemoryCatalog
from metastored.wire.message import Call, Reply, Session
from tests.support.driven import connected

KEYS = {"s": "string", "i": "int", "m": "decimal(10,2)"}


class Recording:
    """A metastore in memory that records the filters and the calls it gets."""

    def __init__(self, inner: Closing) -> None:
        self.inner = inner.handler
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    async def handle(self, call: Call, session: Session) -> Reply:
        self.calls.append((call.method.name, call.args))
        return await self.inner.handle(call, session)

    def filters(self) -> list[str]:
        found = [args[2] for name, args in self.calls if name == "get_partitions_by_filter"]
        self.calls.clear()
        return found


@pytest.mark.parametrize(
    ("where", "sent", "listed"),
    [
        ("s = 'a' and m > 1.5", ["s = 'a'"], False),
        ("s in ('a', 'b') and not m < 2.5", ["(s = 'a' or s = 'b')"], False),
        ("i > 1 and upper(s) = 'A'", ["i > 1"], False),
        ("i = '1' and m = '2.5'", ["i = 1"], False),
        ("s = 'a' and m = 2", ["s = 'a'"], False),
        ("m = 2.5", [], True),
        ("upper(s) = 'A'", [], True),
    ],
)
def test_the_part_that_the_server_can_evaluate_is_sent(half: str, where: str, sent: list[str], listed: bool) -> None:
    closing = in_memory(MemoryCatalog(name="m"))
    recording = Recording(closing)
    try:
        with connected(half, handler=recording, cache=False) as client:
            client.create_table(metastored.table("default.p", {"a": "int"}, partitioned_by=KEYS))
            client.add_partitions("default.p", [("a", "1", "2.50"), ("a", "2", "1.00"), ("b", "1", "3.00")])
            recording.calls.clear()
            found = list(client.partitions("default.p", where))
            names = [name for name, _ in recording.calls]
            assert recording.filters() == sent
            assert ("get_partition_names" in names) is listed
            assert len(found) == len(client.partition_names("default.p", where))
    finally:
        closing.close()
