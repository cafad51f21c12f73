"""Who may read what is remote: privileges are granted here, on the remote database or table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.errors import MetaException
from metastored.structs import (
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrincipalType,
    PrivilegeBag,
    PrivilegeGrantInfo,
)
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.remotes.test_server import Connect, table, uris
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow


@pytest.fixture
def guarded() -> Iterator[RunningServer]:
    with running_server(compat="3.1", authorization="sql", admin_users="root") as server:
        yield server


def as_user(connect: Connect, server: RunningServer, name: str) -> Client:
    client = connect(server)
    client.call("set_ugi", name, ())
    return client


def test_tables_of_a_remote_database_are_read_by_who_may_read_the_database(
    guarded: RunningServer, far: RunningServer, connect: Connect
) -> None:
    there = connect(far)
    there.call("create_database", Database(name="private"))
    there.call("create_table", table("private", "clicks"))
    root, bob = as_user(connect, guarded, "root"), as_user(connect, guarded, "bob")
    with pytest.raises(MetaException, match="bob needs CREATE_REMOTE"):
        bob.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "private"}))
    root.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "private"}))
    with pytest.raises(MetaException, match=r"bob needs SELECT on table sales\.clicks"):
        bob.call("get_table", "sales", "clicks")
    assert bob.call("get_table_meta", "*", "*", None) == ()
    grant = HiveObjectPrivilege(
        hiveObject=HiveObjectRef(objectType=HiveObjectType.DATABASE, dbName="sales"),
        principalName="bob",
        principalType=PrincipalType.USER,
        grantInfo=PrivilegeGrantInfo(privilege="SELECT", grantor="root", grantorType=PrincipalType.USER),
    )
    root.call("grant_privileges", PrivilegeBag(privileges=(grant,)))
    assert bob.call("get_table", "sales", "clicks").dbName == "sales"
    assert [each.tableName for each in bob.call("get_table_meta", "*", "*", None)] == ["clicks"]
    with pytest.raises(MetaException, match="bob needs"):
        bob.call("drop_table", "sales", "clicks", True)
