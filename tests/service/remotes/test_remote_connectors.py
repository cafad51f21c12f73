"""Hive 4's data connectors: where remotes are, said once for several."""

from __future__ import annotations

import os
from typing import Any

import pytest

from metastored.errors import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
)
from metastored.model.remotes.hosts import AllowedHosts
from metastored.model.remotes.keys import MASK
from metastored.store.engine.statements import Statement
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.generated.connectors import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    DataConnector,
    DropDataConnectorRequest,
    GetDataConnectorRequest,
)
from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DatabaseType
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.service.remotes.test_remote_databases import remotes_of
from tests.support.metastore import Metastore
from tests.support.objects import bare_table

REMOTE = DatabaseType.REMOTE


def connect(
    metastore: Metastore, name: str = "old", kind: str = "thrift", url: str = "thrift://old:9083", **given: str
) -> None:
    parameters = {key.replace("__", "."): value for key, value in given.items()}
    connector = DataConnector(name=name, type=kind, url=url, parameters=parameters)
    metastore.call("create_dataconnector_req", CreateDataConnectorRequest(connector))


def connector(metastore: Metastore, name: str = "old") -> Any:
    return metastore.call("get_dataconnector_req", GetDataConnectorRequest(name))


def test_a_database_that_uses_a_connector_is_remote(hive_4: Metastore) -> None:
    connect(hive_4)
    hive_4.call(
        "create_database_req",
        CreateDatabaseRequest(databaseName="d", type=REMOTE, dataConnectorName="OLD", remote_dbname="raw"),
    )
    (remote,) = remotes_of(hive_4)
    assert (remote.remote_database, remote.endpoint.via, remote.connector) == ("raw", "thrift", "old")
    assert remote.endpoint.get("hive.metastore.uris") == "thrift://old:9083"
    found = hive_4.call("get_database", "d")
    assert (found.connector_name, found.remote_dbname, found.type) == ("old", "raw", REMOTE)
    assert found.parameters == {
        "metastored.remote": "raw",
        "metastored.remote.access": "read",
        "metastored.remote.connector": "old",
    }


def test_hives_own_property_names_the_remote_database(hive_4: Metastore) -> None:
    connect(hive_4)
    given = Database(name="d", type=REMOTE, connector_name="old", parameters={"connector.remoteDbName": "raw"})
    hive_4.call("create_database", given)
    assert [remote.remote_database for remote in remotes_of(hive_4)] == ["raw"]


def test_tables_use_connectors_too(hive_4: Metastore) -> None:
    connect(hive_4)
    parameters = {"metastored.remote.connector": "old", "metastored.remote": "raw.t"}
    hive_4.call("create_table", bare_table("default", "t", parameters=parameters))
    assert [(remote.name, remote.remote_name) for remote in remotes_of(hive_4)] == [("default.t", "raw.t")]


def test_a_changed_connector_changes_every_remote_that_uses_it(hive_4: Metastore) -> None:
    connect(hive_4)
    for name in ("a", "b"):
        hive_4.call("create_database", Database(name=name, type=REMOTE, connector_name="old"))
    moved = replace(connector(hive_4), url="thrift://new:9083")
    hive_4.call("alter_dataconnector_req", AlterDataConnectorRequest("old", moved))
    assert {remote.endpoint.get("hive.metastore.uris") for remote in remotes_of(hive_4)} == {"thrift://new:9083"}


def test_a_connector_that_is_used_is_not_dropped(hive_4: Metastore) -> None:
    connect(hive_4)
    hive_4.call("create_database", Database(name="d", type=REMOTE, connector_name="old"))
    with pytest.raises(InvalidOperationException, match="connector old is used by the remotes d; drop them first"):
        hive_4.call("drop_dataconnector_req", DropDataConnectorRequest("old", False, False))
    hive_4.call("drop_database", "d", False, False)
    hive_4.call("drop_dataconnector_req", DropDataConnectorRequest("old", False, False))


def test_a_change_that_would_break_a_remote_is_refused(hive_4: Metastore) -> None:
    connect(hive_4)
    hive_4.call("create_database", Database(name="d", type=REMOTE, connector_name="old"))
    for url in ("", "nowhere:1"):
        with pytest.raises(MetaException):
            hive_4.call(
                "alter_dataconnector_req", AlterDataConnectorRequest("old", replace(connector(hive_4), url=url))
            )
    assert connector(hive_4).url == "thrift://old:9083"


@pytest.mark.parametrize(
    ("kind", "url", "given", "reason"),
    [
        ("thrift", "old", {}, "is not the address of a metastore"),
        ("thrift", "thrift://old:9083", {"hive__metastore__use__ssl": "true"}, "did you mean"),
        ("thrift", "thrift://old:9083", {"metastored__remote__access": "write"}, "belongs to a remote database or"),
        ("ssh", "thrift://old:9083", {}, "'ssh.tunnel.route' is missing"),
        ("thrift", "thrift://far.net:9083", {}, "is not among the hosts"),
        ("iceberg", "postgresql://u:pw@old/c", {}, "its URL has a password in it"),
    ],
)
def test_a_connector_that_cannot_work_is_refused(
    start: Starter, kind: str, url: str, given: dict[str, str], reason: str
) -> None:
    metastore = start(remote_hosts=AllowedHosts.read(["old"]))
    with pytest.raises(InvalidObjectException, match=reason):
        connect(metastore, kind=kind, url=url, **given)


def test_a_connector_of_hives_own_types_is_stored_as_it_is(hive_4: Metastore) -> None:
    given = {"hive__sql__dbcp__username": "u", "hive__sql__dbcp__password": "p"}
    connect(hive_4, "my", "mysql", "jdbc:mysql://h/d", **given)
    assert connector(hive_4, "my").parameters == {"hive.sql.dbcp.username": "u", "hive.sql.dbcp.password": "p"}
    hive_4.call("create_database", Database(name="d", type=REMOTE, connector_name="my", remote_dbname="r"))
    assert remotes_of(hive_4) == []
    with pytest.raises(InvalidObjectException, match="has the type mysql, which leads to no catalog"):
        hive_4.call("create_database", Database(name="e", parameters={"metastored.remote.connector": "my"}))


# --- secrets ------------------------------------------------------------------------------------------------------


@pytest.fixture
def sealing(start: Starter) -> Metastore:
    """A metastore with a key for secrets."""
    return start(remote_secrets=RemoteSecrets([os.urandom(32)]))


def test_the_secrets_of_a_connector_are_masked_and_stored_encrypted(sealing: Metastore) -> None:
    connect(sealing, metastored__remote__password="s3cret")
    assert connector(sealing).parameters == {"metastored.remote.password": MASK}
    sealing.call("create_database", Database(name="d", type=REMOTE, connector_name="old"))
    assert remotes_of(sealing)[0].endpoint.get("metastored.remote.password") == "s3cret"
    bodies = sealing.database.reader().all(_ALL_BODIES)
    assert not any(b"s3cret" in body for (body,) in bodies)


def test_a_masked_secret_stays_when_a_connector_is_altered(sealing: Metastore) -> None:
    connect(sealing, metastored__remote__password="s3cret")
    sealing.call("create_database", Database(name="d", type=REMOTE, connector_name="old"))
    same = replace(connector(sealing), description="the old one")
    sealing.call("alter_dataconnector_req", AlterDataConnectorRequest("old", same))
    assert remotes_of(sealing)[0].endpoint.get("metastored.remote.password") == "s3cret"


def test_a_masked_secret_is_not_sent_to_another_address(sealing: Metastore) -> None:
    connect(sealing, metastored__remote__password="s3cret")
    moved = replace(connector(sealing), url="thrift://evil:9083")
    with pytest.raises(MetaException, match="give the secret again"):
        sealing.call("alter_dataconnector_req", AlterDataConnectorRequest("old", moved))


def test_a_remote_cannot_use_a_connectors_secret_with_an_address_of_its_own(sealing: Metastore) -> None:
    connect(sealing, metastored__remote__password="s3cret")
    parameters = {"metastored.remote.connector": "old", "hive.metastore.uris": "thrift://evil:9083"}
    with pytest.raises(InvalidObjectException, match="is given beside connector old"):
        sealing.call("create_database", Database(name="d", parameters=parameters))


_ALL_BODIES = Statement(
    "SELECT body FROM documents UNION ALL SELECT body FROM remotes UNION ALL SELECT body FROM databases"
)


def test_the_connector_of_an_entry_point_gets_its_url(hive_4: Metastore) -> None:
    connect(hive_4, "n", "nessie", "https://nessie/api", metastored__remote__via="nessie", nessie__ref="main")
    hive_4.call("create_database", Database(name="d", type=REMOTE, connector_name="n"))
    (remote,) = remotes_of(hive_4)
    assert remote.endpoint.properties == (("nessie.ref", "main"), ("nessie.url", "https://nessie/api"))
