"""Remote databases, as any client makes, changes and drops them: by CREATE DATABASE with the keys of remotes."""

from __future__ import annotations

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
from metastored.model.remotes.hosts import AllowedHosts
from metastored.model.remotes.values import Remote
from metastored.service.remotes.definitions import Remotes
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DatabaseType
from metastored.wire.generated.functions import Function
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import bare_table

URIS = {"hive.metastore.uris": "thrift://old:9083"}
RAW = URIS | {"metastored.remote": "raw"}


def remotes_of(metastore: Metastore) -> list[Remote]:
    return list(Remotes(metastore.database, metastore.service.remote_secrets).current())


def create(metastore: Metastore, name: str = "d", parameters: dict[str, str] = RAW, **other: Any) -> None:
    metastore.call("create_database", Database(name=name, parameters=parameters, **other))


def events(metastore: Metastore) -> list[tuple[str, str, str]]:
    found = metastore.call("get_next_notification", NotificationEventRequest(lastEvent=0)).events
    return [(event.eventType, event.dbName, event.message) for event in found]


def test_parameters_make_a_remote_database(metastore: Metastore) -> None:
    create(metastore, "D", ownerName="ann", ownerType=PrincipalType.USER, description="old")
    (remote,) = remotes_of(metastore)
    assert (remote.catalog, remote.database, remote.remote_database) == ("hive", "d", "raw")
    assert remote.endpoint.get("hive.metastore.uris") == "thrift://old:9083"
    assert "d" in metastore.call("get_all_databases")


def test_a_local_call_returns_the_definition_and_no_location(metastore: Metastore) -> None:
    create(metastore, description="old", ownerName="ann")
    found = metastore.call("get_database", "d")
    assert (found.description, found.ownerName, found.type, found.remote_dbname) == (
        *("old", "ann"),
        *(DatabaseType.REMOTE, "raw"),
    )
    assert found.locationUri is None
    assert found.parameters == RAW | {"metastored.remote.via": "thrift", "metastored.remote.access": "read"}


@pytest.mark.parametrize("kind", [DatabaseType.REMOTE, DatabaseType.NATIVE])
def test_the_request_of_hive_4_makes_one_too(hive_4: Metastore, kind: int) -> None:
    hive_4.call("create_database_req", CreateDatabaseRequest(databaseName="d", parameters=RAW, type=kind))
    assert [remote.database for remote in remotes_of(hive_4)] == ["d"]
    assert hive_4.call("get_database", "d").locationUri is None


def test_no_directory_is_made_and_none_is_removed(start: Starter, tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    metastore = start(warehouse=Warehouse(f"file:{root}", "all"))
    create(metastore, locationUri=f"file:{root}/d.db")
    assert not (root / "d.db").exists()
    (root / "d.db").mkdir(parents=True)
    metastore.call("drop_database", "d", True, True)
    assert (root / "d.db").exists()
    assert remotes_of(metastore) == []


def test_a_name_that_is_taken_is_refused_for_remotes_as_for_others(metastore: Metastore) -> None:
    metastore.call("create_database", Database(name="here"))
    with pytest.raises(AlreadyExistsException, match="Database here already exists"):
        create(metastore, "here")
    create(metastore)
    with pytest.raises(AlreadyExistsException, match="Database D already exists"):
        metastore.call("create_database", Database(name="D"))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (RAW | {"metastored.remote.acess": "write"}, "did you mean 'metastored.remote.access'"),
        ({"metastored.remote": "raw"}, "'hive.metastore.uris' is missing"),
        (RAW | {"metastored.remote.password": "pw"}, "give env:NAME or file:PATH, or set remotes_key_file"),
        (RAW | {"metastored.remote.password": "file:/etc/passwd"}, "remotes_references allows only"),
        (RAW | {"metastored.remote.connector": "c"}, "there is no connector c"),
        (RAW | {"metastored.remote.identity": "somebody"}, "must be one of caller, fixed, delegation"),
        (RAW | {"metastored.remote.identity": "delegation"}, "delegation tokens are requested with Kerberos"),
    ],
)
def test_a_definition_that_cannot_work_is_refused_and_leaves_nothing(
    metastore: Metastore, parameters: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidObjectException, match=reason):
        create(metastore, parameters=parameters)
    assert metastore.call("get_all_databases") == ("default",)


def test_only_allowed_hosts_are_accepted(start: Starter) -> None:
    metastore = start(remote_hosts=AllowedHosts.read(["*.example.com"]))
    with pytest.raises(InvalidObjectException, match="remote database d: old:9083 is not among the hosts"):
        create(metastore)
    create(metastore, parameters={"hive.metastore.uris": "thrift://hms.example.com:9083"})


def test_creation_change_and_drop_are_events(metastore: Metastore) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    metastore.call("alter_database", "d", replace(found, ownerName="bob"))
    metastore.call("drop_database", "d", False, False)
    assert [(kind, name) for kind, name, _ in events(metastore)] == [
        ("CREATE_DATABASE", "d"),
        ("ALTER_DATABASE", "d"),
        ("DROP_DATABASE", "d"),
    ]


def test_every_server_sees_a_change_at_once(start: Starter) -> None:
    one, other = start(), start()
    seen = Remotes(other.database, other.service.remote_secrets)
    assert list(seen.current()) == []
    create(one)
    assert [remote.name for remote in seen.current()] == ["d"]
    first = seen.current()
    assert seen.current() is first
    one.call("create_database", Database(name="local"))
    assert seen.current() is first, "another write does not make the definitions be read again"
    one.call("drop_database", "d", False, False)
    assert list(seen.current()) == []


# --- ALTER --------------------------------------------------------------------------------------------------------


def test_keys_cannot_be_added_to_a_local_database(metastore: Metastore) -> None:
    metastore.call("create_database", Database(name="here", parameters={"a": "1"}))
    found = metastore.call("get_database", "here")
    for added in (RAW, {"metastored.remote.access": "write"}, {"iceberg.table.path": "/x"}):
        with pytest.raises(MetaException, match="database here is local"):
            metastore.call("alter_database", "here", replace(found, parameters={**found.parameters, **added}))
    assert metastore.call("get_database", "here") == found and remotes_of(metastore) == []


def test_an_alter_changes_the_definition(metastore: Metastore) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    changed = {**found.parameters, "metastored.remote.access": "write", "metastored.remote.cache": "60"}
    metastore.call("alter_database", "d", replace(found, parameters=changed))
    (remote,) = remotes_of(metastore)
    assert (remote.access.value, remote.cache_seconds, remote.remote_database) == ("write", 60.0, "raw")
    assert metastore.call("get_database", "d").parameters == changed


def test_parameters_and_location_of_the_remote_that_come_back_with_an_alter_are_not_stored(
    metastore: Metastore,
) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    seen = replace(found, locationUri="hdfs://old/raw", parameters={**found.parameters, "team": "web"}, ownerName="bob")
    metastore.call("alter_database", "d", seen)
    now = metastore.call("get_database", "d")
    assert (now.locationUri, now.ownerName, now.parameters) == (None, "bob", found.parameters)


def test_a_remote_database_does_not_become_local(metastore: Metastore) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    with pytest.raises(MetaException, match="remote database d is remote, and stays so"):
        metastore.call("alter_database", "d", replace(found, parameters={}))


def test_a_mistyped_change_is_refused(metastore: Metastore) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    for key, value, reason in (
        ("metastored.remote.access", "all", "must be read or write"),
        ("hive.metastore.uris", "nowhere", "is not the address"),
    ):
        with pytest.raises(MetaException, match=reason):
            metastore.call("alter_database", "d", replace(found, parameters={**found.parameters, key: value}))


def test_an_unknown_key_of_metastoreds_own_is_refused_by_an_alter(metastore: Metastore) -> None:
    create(metastore)
    found = metastore.call("get_database", "d")
    with pytest.raises(MetaException, match=r"did you mean 'metastored\.remote\.timeout'"):
        metastore.call(
            "alter_database", "d", replace(found, parameters={**found.parameters, "metastored.remote.timout": "5"})
        )


# --- what is in it ------------------------------------------------------------------------------------------------


def test_nothing_local_is_made_in_a_remote_database(metastore: Metastore) -> None:
    create(metastore)
    for parameters in ({}, URIS):
        with pytest.raises(InvalidObjectException, match="database d is remote"):
            metastore.call("create_table", bare_table("d", "t", parameters=parameters))
    with pytest.raises(InvalidObjectException, match="database d is remote"):
        metastore.call(
            "create_function", Function(functionName="f", dbName="d", className="C", ownerType=1, functionType=1)
        )
    metastore.call("drop_database", "d", True, False)


def test_a_dropped_remote_is_gone(metastore: Metastore) -> None:
    create(metastore)
    metastore.call("drop_database", "D", True, True)
    with pytest.raises(NoSuchObjectException):
        metastore.call("get_database", "d")
    create(metastore, parameters=URIS)
    assert [remote.remote_database for remote in remotes_of(metastore)] == ["d"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"iceberg.catalog.uri": "https://there", "iceberg.catalog.credential": "id:secret"},
        {"aws.glue.endpoint": "https://glue", "aws.secret.access.key": "secret"},
        {"ssh.tunnel.passphrase": "secret"},
    ],
)
def test_a_local_object_has_no_key_of_a_connector(metastore: Metastore, parameters: dict[str, str]) -> None:
    """It would be stored in plain text, and shown to everybody who reads the object."""
    with pytest.raises(InvalidObjectException, match=r"database d is local, and .* is a key of remotes via"):
        metastore.call("create_database", Database(name="d", parameters=parameters))
    metastore.call("create_database", Database(name="plain"))
    with pytest.raises(MetaException, match="database plain is local"):
        metastore.call("alter_database", "plain", Database(name="plain", parameters=parameters))
    with pytest.raises(InvalidObjectException, match=r"table plain\.t is local"):
        metastore.call("create_table", replace(bare_table("plain", "t"), parameters=parameters))
    metastore.call("create_table", bare_table("plain", "t"))
    table = metastore.call("get_table", "plain", "t")
    with pytest.raises(InvalidOperationException, match=r"table plain\.t is local"):
        metastore.call("alter_table", "plain", "t", replace(table, parameters={**table.parameters, **parameters}))
    metastore.call("drop_database", "plain", True, True)
