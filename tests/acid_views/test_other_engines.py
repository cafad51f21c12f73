"""Engines that read ACID tables themselves get them as tables from a server that shows views to all who cannot.

Trino and Hive say what they are capable of, or use newer requests. All use the same port as Spark does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import metastored
from metastored.testing import RunningServer
from tests.support.apache import MissingPeer
from tests.support.forks import running_server
from tests.support.hive_driver import run_hive
from tests.support.trino import Trino, running_trino

pytestmark = [pytest.mark.peers, pytest.mark.slow]

TRANSACTIONS = {
    "hive.support.concurrency": "true",
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Settings with which Hive writes ACID tables."""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(acid_views="on") as running:
        with metastored.connect(running.uri) as client:
            client.create_database("shop")
        yield running


def kinds_of(server: RunningServer, name: str) -> tuple[str | None, str | None]:
    """The type of a table as Spark sees it, and as a client sees it that reads ACID."""
    with metastored.connect(server.uri, cache=False) as spark, metastored.connect(server.uri) as client:
        return spark.api.get_table("shop", name).tableType, client.table(f"shop.{name}").tableType


@contextmanager
def looking(server: RunningServer, *names: str) -> Iterator[list[str | None]]:
    """A client that looks tables up as Spark does, again and again; what it saw of them."""
    ended, seen = threading.Event(), list[str | None]()

    def look() -> None:
        with metastored.connect(server.uri, cache=False) as spark:
            while not ended.is_set():
                seen.extend(spark.api.get_table("shop", name).tableType for name in names)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


# Trino


@pytest.fixture(scope="module")
def trino(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    try:
        with running_trino(server.uri, tmp_path_factory.mktemp("trino")) as running:
            yield running
    except MissingPeer as reason:
        pytest.skip(str(reason))


@pytest.mark.soak
@pytest.mark.parametrize("keys", [(), ("part",)], ids=["plain", "partitioned"])
def test_trino_writes_and_reads_acid_tables_beside_a_client_that_sees_views(
    server: RunningServer, trino: Trino, keys: tuple[str, ...]
) -> None:
    name = "by_key" if keys else "whole"
    shown = f"partitioned_by = array['{keys[0]}'], " if keys else ""
    trino.execute(
        f"create table lake.shop.{name} (id bigint, value varchar, part varchar) "
        f"with ({shown}format = 'ORC', transactional = true)"
    )
    with looking(server, name) as seen:
        trino.execute(f"insert into lake.shop.{name} values (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'y')")
        trino.execute(f"update lake.shop.{name} set value = 'z' where id = 2")
        trino.execute(f"delete from lake.shop.{name} where id = 3")
        trino.execute(
            f"merge into lake.shop.{name} t using (values (1, 'm', 'x'), (4, 'n', 'x')) s (id, value, part) "
            "on t.id = s.id when matched then update set value = s.value "
            "when not matched then insert (id, value, part) values (s.id, s.value, s.part)"
        )
        rows = trino.execute(f"select * from lake.shop.{name}")
    assert sorted(rows) == [(1, "m", "x"), (2, "z", "y"), (4, "n", "x")]
    assert set(seen) == {"VIRTUAL_VIEW"}
    listed = trino.execute(
        "select table_name, table_type from lake.information_schema.tables where table_schema = 'shop'"
    )
    assert dict(listed)[name] == "BASE TABLE"
    assert kinds_of(server, name) == ("VIRTUAL_VIEW", "MANAGED_TABLE")


# Hive


def test_hive_defines_and_changes_acid_tables_beside_a_client_that_sees_views(
    server: RunningServer, tmp_path: Path
) -> None:
    with metastored.connect(server.uri) as client:
        for name in ("old", "seen"):
            properties = {"transactional": "true"}
            client.create_table(metastored.table(f"shop.{name}", {"id": "int"}, format="orc", properties=properties))
    statements = [
        "CREATE TABLE shop.orders (id INT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')",
        "ALTER TABLE shop.orders ADD COLUMNS (price BIGINT)",
        "ALTER TABLE shop.orders SET TBLPROPERTIES ('k' = 'v')",
        "DESCRIBE FORMATTED shop.orders",
        "SHOW VIEWS IN shop",
        "ALTER TABLE shop.old RENAME TO shop.new",
    ]
    try:
        with looking(server, "seen") as seen:
            created, added, altered, described, views, renamed = run_hive(
                server.uri, server.warehouse, tmp_path, statements, TRANSACTIONS
            )
    except MissingPeer as reason:
        pytest.skip(str(reason))
    assert created == added == altered == renamed == []
    assert any("MANAGED_TABLE" in line for line in described)
    assert views == []
    assert set(seen) == {"VIRTUAL_VIEW"}
    assert kinds_of(server, "orders") == kinds_of(server, "new") == ("VIRTUAL_VIEW", "MANAGED_TABLE")
    with metastored.connect(server.uri) as client:
        table = client.table("shop.orders")
    assert (table.parameters or {})["k"] == "v"
    assert table.sd is not None and [each.name for each in table.sd.cols or ()] == ["id", "name", "price"]
