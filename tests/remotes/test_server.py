"""Remotes in a real server, made by ordinary calls: what any unchanged client can do."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.testing import RunningServer
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

Connect = Callable[[RunningServer], Client]


def table(database: str, name: str, **fields: Any) -> Table:
    sd = StorageDescriptor(
        cols=(FieldSchema("id", "bigint", None),),
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        serdeInfo=SerDeInfo("", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {}),
    )
    given = {"partitionKeys": (FieldSchema("ds", "string", None),), "parameters": {}, "tableType": "MANAGED_TABLE"}
    return Table(tableName=name, dbName=database, owner="ann", sd=sd, **(given | fields))


def uris(far: RunningServer, **more: str) -> dict[str, str]:
    return {"hive.metastore.uris": far.uri} | {f"metastored.remote{key}": value for key, value in more.items()}


def metrics(server: RunningServer) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/metrics") as page:
        found: str = page.read().decode()
    return found


@pytest.fixture
def there(far: RunningServer, connect: Connect) -> Iterator[Client]:
    """The remote metastore, with `raw.clicks` of two partitions in it."""
    client = connect(far)
    client.call("create_database", Database(name="raw"))
    client.call("create_table", table("raw", "clicks"))
    for day in ("1", "2"):
        client.call("append_partition", "raw", "clicks", (day,))
    yield client
    client.call("drop_database", "raw", True, True)


@pytest.fixture
def here(server: RunningServer, connect: Connect) -> Client:
    return connect(server)


def test_a_database_made_with_the_address_of_a_metastore_shows_that_ones_tables(
    here: Client, there: Client, far: RunningServer
) -> None:
    here.call("create_database", Database(name="Sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    assert here.call("get_all_databases") == ("default", "sales")
    assert here.call("get_all_tables", "sales") == ("clicks",)
    direct: Table = there.call("get_table", "raw", "clicks")
    seen: Table = here.call("get_table", "SALES", "Clicks")
    assert seen.parameters is not None and direct.parameters is not None
    assert seen.parameters.items() >= (direct.parameters | uris(far)).items()
    assert seen.parameters["metastored.remote"] == "raw.clicks"
    assert (seen.tableType, seen.parameters["EXTERNAL"], direct.tableType) == (
        "EXTERNAL_TABLE",
        "TRUE",
        "MANAGED_TABLE",
    )
    assert replace(seen, parameters=direct.parameters, tableType=direct.tableType) == replace(direct, dbName="sales")
    parts = here.call("get_partitions", "sales", "clicks", -1)
    assert [(part.dbName, part.tableName, part.values) for part in parts] == [
        ("sales", "clicks", ("1",)),
        ("sales", "clicks", ("2",)),
    ]
    database: Database = here.call("get_database", "sales")
    assert database.name == "sales" and database.parameters is not None
    assert database.parameters["metastored.remote"] == "raw"
    listed = here.call("get_table_meta", "*", "*", None)
    assert [(each.dbName, each.tableName) for each in listed] == [("sales", "clicks")]


def test_a_table_made_with_the_address_of_a_metastore_is_that_ones_table(
    here: Client, there: Client, far: RunningServer, server: RunningServer
) -> None:
    here.call("create_database", Database(name="shop"))
    link = table("shop", "seen", parameters=uris(far) | {"metastored.remote": "raw.clicks"}, partitionKeys=())
    here.call("create_table", link)
    assert not (Path(server.warehouse.removeprefix("file:")) / "shop.db" / "seen").exists()
    seen: Table = here.call("get_table", "shop", "seen")
    assert (seen.dbName, seen.tableName) == ("shop", "seen")
    assert seen.sd == there.call("get_table", "raw", "clicks").sd
    assert [part.tableName for part in here.call("get_partitions", "shop", "seen", -1)] == ["seen", "seen"]
    here.call("create_table", table("shop", "mine"))
    assert here.call("get_all_tables", "shop") == ("mine", "seen")
    both = here.call("get_table_objects_by_name", "shop", ("mine", "seen"))
    assert {each.tableName for each in both} == {"mine", "seen"}


@pytest.mark.parametrize("delete", [True, False])
def test_dropping_remotes_touches_nothing_there(here: Client, there: Client, far: RunningServer, delete: bool) -> None:
    here.call("create_database", Database(name="shop"))
    here.call("create_table", table("shop", "seen", parameters=uris(far) | {"metastored.remote": "raw.clicks"}))
    here.call("create_table", table("shop", "too", parameters=uris(far) | {"metastored.remote": "raw.clicks"}))
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    purge = EnvironmentContext(properties={"ifPurge": "TRUE"})
    here.call("drop_table_with_environment_context", "shop", "seen", delete, purge)
    with pytest.raises(NoSuchObjectException):
        here.call("get_table", "shop", "seen")
    here.call("drop_database", "sales", delete, True)
    here.call("drop_database", "shop", delete, True)
    assert here.call("get_all_databases") == ("default",)
    assert len(there.call("get_partitions", "raw", "clicks", -1)) == 2
    location = there.call("get_table", "raw", "clicks").sd.location
    assert Path(location.removeprefix("file:")).exists()


def test_a_write_is_refused_with_the_remote_and_the_rule_until_the_remote_may_be_written(
    here: Client, there: Client, far: RunningServer
) -> None:
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    with pytest.raises(MetaException, match=r"remote database 'sales' .*'raw' at thrift.*remote.access is 'read'"):
        here.call("truncate_table", "sales", "clicks", ())
    with pytest.raises(MetaException, match="read-only"):
        here.call("drop_table", "sales", "clicks", True)
    database: Database = here.call("get_database", "sales")
    assert database.parameters is not None
    changed = replace(database, parameters=database.parameters | {"metastored.remote.access": "write"})
    here.call("alter_database", "sales", changed)
    here.call("append_partition", "sales", "clicks", ("3",))
    assert there.call("get_partition_names", "raw", "clicks", -1) == ("ds=1", "ds=2", "ds=3")
    seen: Table = here.call("get_table", "sales", "clicks")
    assert seen.parameters is not None
    here.call("alter_table", "sales", "clicks", replace(seen, parameters=seen.parameters | {"colour": "blue"}))
    stored = there.call("get_table", "raw", "clicks")
    assert (stored.dbName, stored.parameters["colour"]) == ("raw", "blue")
    assert not any(key.startswith(("metastored", "hive.metastore")) for key in stored.parameters)
    here.call("drop_table", "sales", "clicks", True)
    with pytest.raises(NoSuchObjectException):
        there.call("get_table", "raw", "clicks")


def test_a_remote_table_is_renamed_and_changed_here_only(here: Client, there: Client, far: RunningServer) -> None:
    here.call("create_database", Database(name="shop"))
    here.call("create_table", table("shop", "seen", parameters=uris(far) | {"metastored.remote": "raw.clicks"}))
    seen: Table = here.call("get_table", "shop", "seen")
    here.call("alter_table", "shop", "seen", replace(seen, tableName="viewed"))
    assert here.call("get_all_tables", "shop") == ("viewed",)
    viewed: Table = here.call("get_table", "shop", "viewed")
    assert viewed.tableName == "viewed" and viewed.parameters is not None
    writable = viewed.parameters | {"metastored.remote.access": "write"}
    here.call("alter_table", "shop", "viewed", replace(viewed, parameters=writable))
    here.call("append_partition", "shop", "viewed", ("3",))
    assert len(there.call("get_partition_names", "raw", "clicks", -1)) == 3
    assert there.call("get_all_tables", "raw") == ("clicks",)


def test_names_of_remotes_are_taken_and_mistakes_are_told(here: Client, there: Client, far: RunningServer) -> None:
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    with pytest.raises(AlreadyExistsException):
        here.call("create_database", Database(name="sales"))
    with pytest.raises(InvalidObjectException, match="not a key of a remote"):
        here.call("create_database", Database(name="x", parameters=uris(far) | {"metastored.remote.acess": "write"}))
    here.call("create_database", Database(name="shop"))
    with pytest.raises((MetaException, InvalidOperationException), match="is local"):
        here.call("alter_database", "shop", Database(name="shop", parameters=uris(far)))


def test_all_servers_on_one_database_see_a_change_at_once(
    postgres: Any, there: Client, far: RunningServer, connect: Connect
) -> None:
    with (
        postgres.database() as url,
        running_server(database_url=url, compat="3.1") as one,
        running_server(database_url=url, compat="3.1", workers=2) as other,
    ):
        first, second = connect(one), connect(other)
        for turn in range(3):
            first.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
            assert second.call("get_table", "sales", "clicks").dbName == "sales", turn
            second.call("drop_database", "sales", True, True)
            with pytest.raises(NoSuchObjectException):
                first.call("get_table", "sales", "clicks")


def test_a_dead_remote_fails_its_own_calls_only_and_by_name(here: Client, far: RunningServer) -> None:
    gone = {"hive.metastore.uris": "thrift://127.0.0.1:1", "metastored.remote.timeout": "2"}
    here.call("create_database", Database(name="gone", parameters=gone))
    here.call("create_database", Database(name="near"))
    assert here.call("get_all_databases") == ("default", "gone", "near")
    for _ in range(8):
        with pytest.raises(MetaException, match=r"remote database 'gone' \('gone' at thrift://127.0.0.1:1\)"):
            here.call("get_table", "gone", "t")
        assert here.call("get_database", "near").name == "near"
    with pytest.raises(MetaException, match="'gone'"):
        here.call("get_table_meta", "*", "*", None)
    assert here.call("get_table_meta", "near", "*", None) == ()
    here.call("drop_database", "gone", True, True)
    assert here.call("get_table_meta", "*", "*", None) == ()


def test_with_remotes_partial_a_listing_leaves_out_what_does_not_answer(connect: Connect) -> None:
    with running_server(compat="3.1", remotes_partial="on") as server:
        here = connect(server)
        gone = {"hive.metastore.uris": "thrift://127.0.0.1:1", "metastored.remote.timeout": "2"}
        here.call("create_database", Database(name="gone", parameters=gone))
        here.call("create_table", table("default", "mine"))
        assert [each.tableName for each in here.call("get_table_meta", "*", "*", None)] == ["mine"]
        assert "remote database 'gone'" in server.log and "is left out of the reply to get_table_meta" in server.log
        with pytest.raises(MetaException, match="'gone'"):
            here.call("get_all_tables", "gone")


def test_calls_to_remotes_are_counted(here: Client, there: Client, far: RunningServer, server: RunningServer) -> None:
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    here.call("get_table", "sales", "clicks")
    assert f'metastored_remote_calls_total{{method="get_table",remote="{far.uri}"}} 1.0' in metrics(server)


def test_whether_a_remote_is_called_is_a_gauge(
    here: Client, there: Client, far: RunningServer, server: RunningServer
) -> None:
    gone = "thrift://127.0.0.1:1"
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    here.call("create_database", Database(name="gone", parameters={"hive.metastore.uris": gone}))

    def gauges() -> tuple[bool, ...]:
        here.call("get_table", "sales", "clicks")
        with pytest.raises(MetaException):
            here.call("get_table", "gone", "t")
        text = metrics(server)
        expected = {far.uri: 1, gone: 0}
        return tuple(f'metastored_remote_available{{remote="{uri}"}} {n}.0' in text for uri, n in expected.items())

    deadline = time.monotonic() + 30
    while not all(gauges()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_caller_is_known_at_the_remote(here: Client, there: Client, far: RunningServer) -> None:
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    here.call("set_ugi", "bob", ())
    here.call("get_table", "sales", "clicks")
    assert any("user=bob" in line and "method=get_table object=raw.clicks" in line for line in far.log.splitlines())


def test_partitions_of_every_form_come_under_local_names(here: Client, there: Client, far: RunningServer) -> None:
    here.call("create_database", Database(name="sales", parameters=uris(far) | {"metastored.remote": "raw"}))
    forms: dict[str, tuple[Any, ...]] = {
        "get_partition": (("1",),),
        "get_partition_by_name": ("ds=1",),
        "get_partitions_by_names": (("ds=1",),),
        "get_partitions_by_filter": ("ds = '1'", -1),
        "get_partitions_ps": (("1",), -1),
        "get_partitions_with_auth": (1, None, None),
    }
    for name, args in forms.items():
        found = here.call(name, "sales", "clicks", *args)
        direct = there.call(name, "raw", "clicks", *args)
        parts = (found,) if isinstance(found, Partition) else found
        assert [(part.dbName, part.values) for part in parts] == [("sales", ("1",))], name
        expected = (direct,) if isinstance(direct, Partition) else direct
        assert parts == tuple(replace(part, dbName="sales") for part in expected), name
    assert here.call("get_partition_names", "sales", "clicks", -1) == ("ds=1", "ds=2")
