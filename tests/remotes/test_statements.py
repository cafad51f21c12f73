"""Statements about remotes that answer: two real servers, the statements at one of them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.client._sync.client import Client
from metastored.errors import MetastoreError
from metastored.testing import RunningServer
from tests.support.forks import run_command, running_server
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.slow

PATIENCE = 120.0


class Both(NamedTuple):
    """A client of the server with remotes, that server, and the remote's."""

    here: Client
    server: RunningServer
    there: RunningServer

    def sql(self, text: str, **more: Any) -> Any:
        return self.here.sql(text.replace("URIS", f"'hive.metastore.uris' = '{self.there.uri}'"), **more)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command(*words, "--uri", self.server.uri, timeout=PATIENCE)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    with running_server() as there, metastored.connect(there.uri) as client:
        client.create_database("raw")
        orders = metastored.table("raw.orders", {"id": "bigint"}, partitioned_by={"ds": "string"})
        client.create_table(orders)
        client.add_partitions("raw.orders", [("1",), ("2",)])
        if request.param == "sqlite":
            with running_server() as server, metastored.connect(server.uri) as here:
                yield Both(here, server, there)
            return
        with shared_postgres().database() as url:
            with running_server(database_url=url) as server, metastored.connect(server.uri) as here:
                yield Both(here, server, there)


@pytest.fixture(autouse=True)
def _cleaned(both: Both) -> Iterator[None]:
    yield
    for row in both.sql("SHOW REMOTES").dicts():
        both.sql(f"DROP REMOTE {row['kind']} {row['name']}")


def test_a_remote_database_shows_the_tables_and_partitions_of_the_remote(both: Both) -> None:
    both.sql("CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES (URIS)")
    assert both.sql("SHOW TABLES IN old").rows == (("orders",),)
    assert both.sql("SHOW PARTITIONS orders", database="old").rows == (("ds=1",), ("ds=2",))
    assert both.sql("SHOW PARTITIONS old.orders PARTITION (ds = '2')").rows == (("ds=2",),)
    assert both.sql("USE old; SHOW TABLES").rows == (("orders",),)


def test_describe_is_that_of_the_remote_with_the_configuration_behind_it(both: Both) -> None:
    both.sql("CREATE REMOTE TABLE default.old_orders CONNECTED TO raw.orders WITH TBLPROPERTIES (URIS)")
    both.sql("CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES (URIS)")
    for name in ("old_orders", "old.orders"):
        rows = both.sql(f"DESCRIBE {name}").rows
        assert rows[:2] == (("id", "bigint", None), ("ds", "string", None))
        assert ("# Remote Information", "", "") in rows
        assert ("hive.metastore.uris", both.there.uri, "") in rows
    facts = {row[0]: row[1] for row in both.sql("DESCRIBE EXTENDED old_orders").rows}
    assert (facts["Database"], facts["Table"], facts["metastored.remote"]) == ("default", "old_orders", "raw.orders")
    facts = {row[0]: row[1] for row in both.sql("DESCRIBE DATABASE EXTENDED old").rows}
    assert (facts["Namespace Name"], facts["metastored.remote"]) == ("old", "raw")


def test_an_alter_points_a_remote_elsewhere_at_once_also_when_it_is_dead(both: Both) -> None:
    both.sql(
        "CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES ('hive.metastore.uris'='thrift://127.0.0.1:1')"
    )
    both.sql("CREATE REMOTE TABLE old_orders WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")
    with pytest.raises(MetastoreError, match="old"):
        both.sql("SHOW TABLES IN old")
    both.sql("ALTER REMOTE DATABASE old SET DBPROPERTIES (URIS)")
    both.sql("ALTER REMOTE TABLE old_orders CONNECTED TO raw.orders SET TBLPROPERTIES (URIS)")
    assert both.sql("SHOW TABLES IN old").rows == (("orders",),)
    assert both.sql("DESCRIBE old_orders").rows[0] == ("id", "bigint", None)


def test_a_drop_removes_the_definition_and_nothing_at_the_remote(both: Both) -> None:
    both.sql(
        "CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES (URIS, 'metastored.remote.access' = 'write')"
    )
    both.sql("CREATE REMOTE TABLE old_orders CONNECTED TO raw.orders WITH TBLPROPERTIES (URIS)")
    both.sql("DROP REMOTE DATABASE old; DROP REMOTE TABLE old_orders")
    assert both.sql("SHOW REMOTES").rows == ()
    with metastored.connect(both.there.uri) as client:
        assert client.tables("raw") == ("orders",)


def test_a_remote_catalog_is_used_by_its_name_or_by_its_prefix(both: Both) -> None:
    both.sql("CREATE REMOTE CATALOG far WITH PROPERTIES (URIS)")
    both.sql("CREATE REMOTE CATALOG near PREFIX 'n_' WITH PROPERTIES (URIS)")
    assert both.sql("SHOW TABLES IN far.raw").rows == (("orders",),)
    assert ("n_raw",) in both.sql("SHOW DATABASES").rows
    assert both.sql("DESCRIBE n_raw.orders").rows[0] == ("id", "bigint", None)


def test_remotes_test_reads_from_each_and_fails_when_one_does_not_answer(both: Both) -> None:
    both.sql("CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES (URIS)")
    both.sql("CREATE REMOTE TABLE old_orders CONNECTED TO raw.orders WITH TBLPROPERTIES (URIS)")
    both.sql("CREATE REMOTE CATALOG far WITH PROPERTIES (URIS)")
    both.sql("CREATE REMOTE CATALOG near PREFIX 'n_' WITH PROPERTIES (URIS)")
    done = both.run("remotes", "test")
    assert done.returncode == 0, done.stdout
    lines = [line.split(" in ")[0] for line in done.stdout.splitlines() if "warning: it is read-only" not in line]
    assert lines == [
        *("ok     catalog far: 2 databases", "ok     catalog near: 2 databases"),
        *("ok     database old: 1 table", "ok     table default.old_orders: 1 column"),
    ]
    both.sql("CREATE REMOTE DATABASE gone WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")
    done = both.run("remotes", "test", "gone", "old")
    assert done.returncode == 1
    assert "FAILED database gone: " in done.stdout and "ok     database old" in done.stdout
