"""Statements executed at a real server, on SQLite and on PostgreSQL, by both halves of the client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import metastored
from metastored.errors import (
    AlreadyExistsException,
    DatabaseNotFound,
    InvalidOperationException,
    NoSuchObjectException,
    StatementError,
)
from metastored.testing import RunningServer
from tests.support.driven import connected
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    if request.param == "sqlite":
        with running_server() as running:
            yield running
        return
    with shared_postgres().database() as url, running_server(database_url=url) as running:
        yield running


@pytest.fixture
def client(server: RunningServer, half: str) -> Iterator[Any]:
    with metastored.connect(server.uri) as direct:
        direct.create_database("shop", if_not_exists=True)
        orders = metastored.table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string", "h": "int"})
        direct.create_table(orders, if_not_exists=True)
        direct.add_partitions("shop.orders", [("1", "0"), ("1", "1"), ("2", "0")], if_not_exists=True)
    with connected(half, server.uri) as found:
        yield found


def test_show_lists_databases_tables_and_partitions(client: Any) -> None:
    assert client.sql("SHOW DATABASES LIKE 'sh*'").rows == (("shop",),)
    assert client.sql("SHOW TABLES IN shop").rows == (("orders",),)
    assert client.sql("SHOW TABLES", database="shop").rows == (("orders",),)
    assert client.sql("SHOW TABLES").rows == ()
    assert client.sql("SHOW PARTITIONS shop.orders").rows == (("ds=1/h=0",), ("ds=1/h=1",), ("ds=2/h=0",))


def test_show_partitions_takes_values_of_any_of_the_keys(client: Any) -> None:
    assert client.sql("SHOW PARTITIONS orders PARTITION (ds = '1')", "shop").rows == (("ds=1/h=0",), ("ds=1/h=1",))
    assert client.sql("SHOW PARTITIONS orders PARTITION (H = 0)", "shop").rows == (("ds=1/h=0",), ("ds=2/h=0",))
    with pytest.raises(InvalidOperationException, match="no partition key x; its partition keys are ds, h"):
        client.sql("SHOW PARTITIONS orders PARTITION (x = 0)", "shop")


def test_use_changes_the_current_database_of_the_statements_behind_it(client: Any) -> None:
    assert client.sql("USE shop; SHOW TABLES").rows == (("orders",),)
    assert client.sql("USE shop").columns == ()
    with pytest.raises(DatabaseNotFound):
        client.sql("USE nowhere")


def test_describe_returns_columns_and_with_extended_the_rest(client: Any) -> None:
    rows = client.sql("DESCRIBE shop.orders").rows
    assert rows[0] == ("id", "bigint", None)
    assert [row[0] for row in rows[1:3]] == ["ds", "h"]
    facts = {row[0]: row[1] for row in client.sql("DESC EXTENDED orders", database="shop").rows}
    assert (facts["Database"], facts["Table"]) == ("shop", "orders")
    assert facts["Location"].endswith("/shop.db/orders")
    assert dict(client.sql("DESCRIBE DATABASE EXTENDED shop").rows)["Namespace Name"] == "shop"


def test_describe_sees_a_change_at_once(client: Any, server: RunningServer) -> None:
    client.sql("DESCRIBE EXTENDED shop.orders")
    with metastored.connect(server.uri) as other:
        other.set_parameters("shop.orders", answer="42")
    assert "answer=42" in str(client.sql("DESCRIBE EXTENDED shop.orders").rows)


def test_connectors_are_created_altered_described_and_dropped(client: Any) -> None:
    client.sql("DROP CONNECTOR IF EXISTS c; CREATE CONNECTOR c TYPE 'mysql' URL 'mysql://h/db' COMMENT 'x'")
    with pytest.raises(AlreadyExistsException):
        client.sql("CREATE CONNECTOR c TYPE 'mysql' URL 'u'")
    client.sql("CREATE CONNECTOR IF NOT EXISTS c TYPE 'mysql' URL 'u'")
    assert client.sql("SHOW CONNECTORS").rows == (("c",),)
    client.sql("ALTER CONNECTOR c SET URL 'mysql://other/db'; ALTER CONNECTOR c SET DCPROPERTIES ('a' = 'b')")
    client.sql("ALTER CONNECTOR c SET DCPROPERTIES ('c' = 'd'); ALTER CONNECTOR c SET OWNER ROLE admins")
    facts = dict(client.sql("DESCRIBE CONNECTOR EXTENDED c").rows)
    assert (facts["URL"], facts["Properties"], facts["Comment"]) == ("mysql://other/db", "[a=b, c=d]", "x")
    assert (facts["Owner"], facts["Owner Type"]) == ("admins", "ROLE")
    client.sql("DROP CONNECTOR c")
    with pytest.raises(NoSuchObjectException):
        client.sql("DROP CONNECTOR c")


def test_nothing_is_executed_when_a_later_statement_cannot_be_parsed(client: Any) -> None:
    with pytest.raises(StatementError) as caught:
        client.sql("CREATE CONNECTOR never TYPE 'mysql' URL 'u';\nDROP REMOTE VIEW v")
    assert (caught.value.line, caught.value.column) == (2, 13)
    assert client.sql("SHOW CONNECTORS").rows == ()


def test_a_local_object_is_no_remote(client: Any) -> None:
    for text in (
        "DROP REMOTE DATABASE shop",
        "SHOW CREATE REMOTE TABLE shop.orders",
        "ALTER REMOTE TABLE shop.orders VIA 'ssh'",
        "DROP REMOTE CATALOG hive",
    ):
        with pytest.raises(InvalidOperationException, match="of this metastore, not a remote"):
            client.sql(text)
    assert client.sql("SHOW TABLES IN shop").rows == (("orders",),)
    with pytest.raises(NoSuchObjectException):
        client.sql("DROP REMOTE DATABASE nowhere")
    client.sql("DROP REMOTE DATABASE IF EXISTS nowhere; DROP REMOTE TABLE IF EXISTS shop.nothing")


def test_importing_the_client_does_not_import_lark() -> None:
    program = "import sys, metastored; metastored.connect; metastored.aconnect; print('lark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
