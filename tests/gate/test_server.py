"""The gate in a real server: settings turn it on, and what it decides reaches clients through the wire."""

from __future__ import annotations

import time

import pytest

from metastored.errors import MetaException
from metastored.wire.generated.common import PrincipalPrivilegeSet, PrivilegeGrantInfo
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.gate.conftest import EVERYTHING, USER, bag, on_table, table
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

PATIENCE = 30.0


def test_a_grant_opens_a_table_to_a_user_at_every_worker() -> None:
    with running_server(authorization="sql", admin_users="root", audit="on", workers=2) as server:

        def as_user(user: str) -> Client:
            client = Client(server.host, server.port)
            client.call("set_ugi", user, ())
            return client

        with as_user("root") as root, as_user("alice") as alice, as_user("bob") as bob:
            with pytest.raises(MetaException, match="user alice needs CREATE on the metastore to create a database"):
                alice.call("create_database", Database(name="d"))
            root.call("grant_privileges", bag(EVERYTHING, "CREATE", "alice"))
            alice.call("create_database", Database(name="d", ownerName="alice"))
            alice.call("create_table", table("t", "alice"))
            for _ in range(4):
                with as_user("bob") as another, pytest.raises(MetaException, match=r"needs SELECT on table d\.t"):
                    another.call("get_table", "d", "t")
            alice.call("grant_privileges", bag(on_table("d", "t"), "SELECT", "bob"))
            for _ in range(4):
                with as_user("bob") as another:
                    assert another.call("get_table", "d", "t").owner == "alice"
            with pytest.raises(MetaException, match=r"user bob needs ownership of table d\.t"):
                bob.call("drop_table", "d", "t", False)
            alice.call("drop_table", "d", "t", True)
        assert "method=get_table object=d.t outcome=denied" in server.log
        assert "user=alice" in server.log


def test_a_table_that_spark_creates_keeps_its_owners_privileges() -> None:
    with running_server() as server, Client(server.host, server.port) as client:
        client.call("create_database", Database(name="d"))
        info = PrivilegeGrantInfo(privilege="SELECT", grantor="o", grantorType=USER, grantOption=True)
        client.call("create_table", replace(table("t", "o"), privileges=PrincipalPrivilegeSet({"o": (info,)})))
        (found,) = client.call("list_privileges", "o", USER, on_table("d", "t"))
        assert found.grantInfo.grantOption is True


def test_a_client_above_the_rate_limit_gets_an_error() -> None:
    with running_server(limits_calls_per_minute=5) as server, Client(server.host, server.port) as client:
        refused = None
        end = time.monotonic() + PATIENCE
        # A new minute may start in between, which resets the count.
        while refused is None and time.monotonic() < end:
            try:
                client.call("get_all_databases")
            except MetaException as error:
                refused = str(error)
        assert refused == "[STATUS=429] Too many requests."
