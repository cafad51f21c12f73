"""The ten wishes of Waggle Dance's users, one test each, by the number in the list of wishes."""

from __future__ import annotations

import base64
import json
import socket
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

import metastored
from metastored.errors import MetaException, NoSuchObjectException
from metastored.structs import (
    AddPrimaryKeyRequest,
    GetTableRequest,
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    PrimaryKeysRequest,
    PrincipalType,
    PrivilegeBag,
    PrivilegeGrantInfo,
    SQLPrimaryKey,
    UnlockRequest,
)
from metastored.wire.structs import replace
from tests.support.forks import running_server
from tests.support.waggle_dance import Federation, federation

pytestmark = pytest.mark.slow

TABLE = "remote_table"
MEMORY = 200 * 1024
"""KiB that a server may need in addition, while it passes on many partitions."""


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "testing")
        with federation() as found:
            yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    yield servers
    servers.clean()


def test_wish_1_a_change_needs_no_restart(both: Federation) -> None:
    for turn in range(3):
        both.catalog("waggle_remote", f"waggle{turn}_")
        assert both.here.tables(f"waggle{turn}_remote_database") == (TABLE,)
        both.sql("DROP REMOTE CATALOG waggle_remote")
        with pytest.raises(NoSuchObjectException):
            both.here.database(f"waggle{turn}_remote_database")


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and never replies."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"'hive.metastore.uris' = 'thrift://127.0.0.1:{listening.getsockname()[1]}'"


def test_wish_2_a_slow_metastore_fails_its_own_calls_by_name_and_delays_no_others(
    both: Federation, silent: str
) -> None:
    both.catalog("waggle_remote", "waggle_")
    both.catalog("hanging", "hanging_", silent, timeout="3")
    said: list[str] = []

    def wait() -> None:
        with metastored.connect(both.server.uri, cache=False) as client, pytest.raises(MetaException) as raised:
            client.api.get_table("hanging_db", "t")
        said.append(str(raised.value))

    waiting = [threading.Thread(target=wait) for _ in range(8)]
    for thread in waiting:
        thread.start()
    for _ in range(50):
        assert both.here.tables("waggle_remote_database") == (TABLE,)
        assert both.here.tables("local_database") == ("local_table",)
    assert said == [], "calls to others are answered while those wait"
    for thread in waiting:
        thread.join()
    assert len(said) == 8 and all("hanging" in text for text in said)


def peak_memory(pid: int) -> int:
    """The most memory that a process had so far, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_wish_3_many_partitions_are_passed_on_without_holding_them_as_objects(both: Federation) -> None:
    number = 5_000
    both.there.create_database("wide")
    columns = {f"column_{position}": "string" for position in range(200)}
    both.there.create_table(metastored.table("wide.t", columns, partitioned_by={"n": "int"}))
    both.there.add_partitions("wide.t", [(str(each),) for each in range(number)])
    both.catalog("waggle_remote", "waggle_")
    assert both.here.tables("waggle_wide") == ("t",)
    before = peak_memory(both.server.pid)
    found = both.here.api.get_partitions("waggle_wide", "t", -1)
    assert len(found) == number
    assert {part.dbName for part in found} == {"waggle_wide"}
    assert peak_memory(both.server.pid) - before < MEMORY


def test_wish_4_clients_share_connections_to_a_remote(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    before = len(connections(both))
    for _ in range(20):
        with metastored.connect(both.server.uri, cache=False) as client:
            assert client.tables("waggle_remote_database") == (TABLE,)
    assert len(connections(both)) <= before + 2


def connections(both: Federation) -> list[str]:
    """The open TCP connections of this machine to the remote's port."""
    port = f":{both.remote.port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return [words[1] for words in lines if words[2].endswith(port) and words[3] == "01"]


def test_wish_5_clients_of_hive_3_and_4_name_catalogs_in_their_own_ways(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    database = "waggle_remote_database"
    for name in (database, f"@hive#{database}"):
        assert both.here.api.get_table(name, TABLE).dbName == database
    for catalog in (None, "hive"):
        request = GetTableRequest(dbName=database, tblName=TABLE, catName=catalog)
        found = both.here.api.get_table_req(request).table
        assert found is not None and found.dbName == database
    # Metastores of several versions: test_waggle_dance_versions.py.


def test_wish_6_an_identity_does_not_leak_between_clients(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    failed: list[str] = []

    def work(user: str) -> None:
        with metastored.connect(both.server.uri, user=user, cache=False) as client:
            for number in range(10):
                with pytest.raises(NoSuchObjectException):
                    client.api.get_table("waggle_remote_database", f"of_{user}_{number}")

    threads = [threading.Thread(target=work, args=(user,)) for user in ("ann", "bob", "eve")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in both.remote.log.splitlines():
        for user in ("ann", "bob", "eve"):
            if f"of_{user}_" in line and "method=get_table" in line and f"user={user}" not in line:
                failed.append(line)
    assert not failed
    assert "user=eve" in both.remote.log


def test_wish_7_tables_of_a_federated_metastore_are_granted_to_users_one_by_one(both: Federation) -> None:
    uris = f"('hive.metastore.uris' = '{both.remote.uri}')"
    with (
        running_server(authorization="sql", admin_users="root") as server,
        metastored.connect(server.uri, user="root", cache=False) as root,
        metastored.connect(server.uri, user="bob", cache=False) as bob,
    ):
        root.create_database("shop")
        for name in ("seen", "secret"):
            root.sql(f"CREATE REMOTE TABLE shop.{name} CONNECTED TO remote_database.{TABLE} WITH TBLPROPERTIES {uris}")
        with pytest.raises(MetaException, match=r"bob needs SELECT on table shop\.seen"):
            bob.table("shop.seen")
        root.api.grant_privileges(select_on("shop", "seen", "bob"))
        assert bob.table("shop.seen").tableName == "seen"
        assert len(bob.api.get_partition_names("shop", "seen", -1)) == 2
        with pytest.raises(MetaException, match=r"bob needs SELECT on table shop\.secret"):
            bob.table("shop.secret")
        with pytest.raises(MetaException, match="bob needs"):
            bob.drop_table("shop.seen")
        # A table inside of a remote database has the privileges of the database, and a grant says so.
        root.sql(f"CREATE REMOTE DATABASE sales CONNECTED TO remote_database WITH DBPROPERTIES {uris}")
        with pytest.raises(MetaException, match="grant them on the database sales"):
            root.api.grant_privileges(select_on("sales", TABLE, "bob"))


def select_on(database: str, table: str, user: str) -> PrivilegeBag:
    grant = HiveObjectPrivilege(
        hiveObject=HiveObjectRef(objectType=HiveObjectType.TABLE, dbName=database, objectName=table),
        principalName=user,
        principalType=PrincipalType.USER,
        grantInfo=PrivilegeGrantInfo(privilege="SELECT", grantor="root", grantorType=PrincipalType.USER),
    )
    return PrivilegeBag(privileges=(grant,))


def test_wish_8_default_of_two_metastores_and_names_of_tables_can_be_chosen(both: Federation) -> None:
    both.sql("CREATE REMOTE DATABASE their_default CONNECTED TO default WITH DBPROPERTIES (URIS)")
    both.sql(
        f"CREATE REMOTE TABLE local_database.theirs CONNECTED TO remote_database.{TABLE} WITH TBLPROPERTIES (URIS)"
    )
    both.catalog("waggle_remote", "")
    assert both.here.databases().count("default") == 1
    assert both.here.tables("their_default") == ()
    assert both.here.table("local_database.theirs").tableName == "theirs"


def test_wish_9_views_of_hive_and_trino_name_the_local_database(both: Federation) -> None:
    both.there.create_database("views")
    both.there.create_table(metastored.table("views.clicks", {"id": "int"}))
    of_trino = {"originalSql": 'SELECT id FROM "views"."clicks"', "catalog": "hive", "schema": "views", "columns": []}
    encoded = f"/* Presto View: {base64.b64encode(json.dumps(of_trino).encode()).decode()} */"
    plain = metastored.table("views.v", {"id": "int"})
    for name, original, expanded in (
        ("hive_view", "SELECT id FROM views.clicks", "SELECT `clicks`.`id` FROM `views`.`clicks`"),
        ("trino_view", encoded, "/* Presto View */"),
    ):
        view = replace(plain, tableName=name, tableType="VIRTUAL_VIEW", viewOriginalText=original)
        both.there.create_table(replace(view, viewExpandedText=expanded))
    both.catalog("waggle_remote", "waggle_")
    seen = both.here.table("waggle_views.hive_view")
    assert seen.viewOriginalText == "SELECT id FROM waggle_views.clicks"
    assert seen.viewExpandedText == "SELECT `clicks`.`id` FROM `waggle_views`.`clicks`"
    text = both.here.table("waggle_views.trino_view").viewOriginalText or ""
    definition = json.loads(base64.b64decode(text.removeprefix("/* Presto View: ").removesuffix(" */")))
    assert (definition["originalSql"], definition["schema"]) == (
        'SELECT id FROM "waggle_views"."clicks"',
        "waggle_views",
    )


def test_wish_10_tables_partitions_keys_and_locks_are_written_at_a_metastore_and_tables_at_glue(
    both: Federation, glue: str
) -> None:
    both.there.create_database("written")
    both.catalog("waggle_remote", "waggle_", access="write")
    keyed = metastored.table("waggle_written.t", {"id": "bigint"}, partitioned_by={"ds": "string"})
    both.here.create_table(keyed)
    both.here.add_partitions("waggle_written.t", [("1",)])
    key = SQLPrimaryKey("waggle_written", "t", "id", 1, "pk", False, False, False)
    both.here.api.add_primary_key(AddPrimaryKeyRequest((key,)))
    (found,) = both.there.api.get_primary_keys(PrimaryKeysRequest(db_name="written", tbl_name="t")).primaryKeys or ()
    assert (found.table_db, found.column_name) == ("written", "id")
    assert both.there.api.get_partition_names("written", "t", -1) == ("ds=1",)
    component = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "waggle_written", "t")
    taken = both.here.api.lock(LockRequest(component=(component,), user="ann", hostname="h"))
    assert taken.state == LockState.ACQUIRED
    conflicting = LockComponent(LockType.SHARED_READ, LockLevel.TABLE, "written", "t")
    waits = both.there.api.lock(LockRequest(component=(conflicting,), user="bob", hostname="h"))
    assert waits.state == LockState.WAITING, "the lock is held at the remote"
    both.there.api.unlock(UnlockRequest(waits.lockid))
    both.here.api.unlock(UnlockRequest(taken.lockid))

    name = f"wish_{uuid.uuid4().hex[:8]}"
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
    far: Any = boto3.client("glue", endpoint_url=glue, **keys)
    far.create_database(DatabaseInput={"Name": name, "LocationUri": f"s3://bucket/{name}"})
    both.sql(
        f"CREATE REMOTE DATABASE in_glue CONNECTED TO {name} VIA 'glue' WITH DBPROPERTIES ('aws.glue.endpoint' = "
        f"'{glue}', 'aws.region' = 'us-east-1', 'metastored.remote.access' = 'write')"
    )
    both.here.create_table(metastored.table("in_glue.t", {"id": "bigint"}, location=f"s3://bucket/{name}/t"))
    assert [each["Name"] for each in far.get_tables(DatabaseName=name)["TableList"]] == ["t"]
    both.here.drop_table("in_glue.t")
    assert far.get_tables(DatabaseName=name)["TableList"] == []
    far.close()
