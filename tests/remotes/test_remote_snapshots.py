"""Snapshots of transactional tables of a remote: write ids and transactions are those of the remote itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import metastored
from metastored.testing import RunningServer
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

ACID = {"transactional": "true"}


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[RunningServer, RunningServer]]:
    """Two servers: the first has `raw` of the second as `far`."""
    with ExitStack() as stack:
        near, far = (stack.enter_context(running_server()) for _ in range(2))
        with metastored.connect(far.uri) as client:
            client.create_database("raw")
            client.create_table(metastored.table("raw.t", {"id": "int"}, format="orc", properties=ACID))
        with metastored.connect(near.uri) as client:
            client.sql(
                f"CREATE REMOTE DATABASE far CONNECTED TO raw WITH DBPROPERTIES ('hive.metastore.uris' = '{far.uri}')"
            )
            client.create_table(metastored.table("default.own", {"id": "int"}, format="orc", properties=ACID))
        yield near, far


def test_a_reader_of_a_remote_table_gets_the_transactions_of_the_remote(
    servers: tuple[RunningServer, RunningServer],
) -> None:
    near, far = servers
    with metastored.connect(near.uri, cache=False) as here, metastored.connect(far.uri, cache=False) as there:
        for _ in range(5):
            with there.transaction():
                pass
        with there.transaction() as opened, here.read("far.t", "default.own") as read:
            seen = read.snapshots["far.t"].transactions
            assert seen is not None and seen.high_watermark > 5
            assert not seen.is_valid(opened.id) and seen.is_valid(opened.id - 1)
            assert read.visible.high_watermark < seen.high_watermark
            assert read.snapshots["default.own"].transactions is None


def test_the_transactions_of_a_remote_stay_the_same_in_a_read(servers: tuple[RunningServer, RunningServer]) -> None:
    near, far = servers
    with metastored.connect(near.uri, cache=False) as here, metastored.connect(far.uri, cache=False) as there:
        with here.read("default.own") as read:
            read.add("far.t")
            first = read.snapshots["far.t"].transactions
            with there.transaction():
                pass
            again = read.transaction.snapshot("far.t", keep=True)
            assert again["far.t"].transactions == first
