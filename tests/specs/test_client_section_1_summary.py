"""The client's document, section 1: the key decisions."""

from __future__ import annotations

import asyncio

import pytest

import metastored
from metastored.client.versions import FEATURES
from metastored.structs import Partition
from tests.server.http.support import DB, TABLE
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def test_1_a_hive_2_3_to_4_0_are_supported_by_detection_of_their_capabilities(
    server: Server, client: metastored.Client, db: str
) -> None:
    assert client.capabilities.version()[:2] == server.version
    detected = {name for name in FEATURES if client.capabilities.supports(name)}
    assert {"databases", "tables", "partitions", "lock_service"} <= detected
    client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}))
    assert client.tables(db) == ("t",)


def test_1_b_there_is_a_fully_asynchronous_client(own: Server, db: str) -> None:
    async def several() -> list[tuple[str, ...]]:
        async with metastored.aconnect(own.uri, cache=False) as client:
            await client.create_database(db)
            found = await asyncio.gather(*(client.databases(db) for _ in range(20)))
            await client.drop_database(db)
            return found

    assert asyncio.run(several()) == [(db,)] * 20


def test_1_c_servers_that_lack_a_feature_are_served_with_a_fallback(own: Server) -> None:
    with own.nine() as client:
        # None of these calls is among the nine methods: each is done by one that is.
        assert [table.tableName for table in client.table_objects(DB)] == [TABLE]
        assert [part.values for part in client.partitions((DB, TABLE), where="hair_color > 'black'")] == [("brown",)]
        assert isinstance(client.partition((DB, TABLE), ["black"]), Partition)
