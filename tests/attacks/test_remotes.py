"""Attacks by the definitions of remotes: what must not leave the server, and what must not be read through it.

Eve may make remotes (CREATE_REMOTE) and has hosts of her own. Maja is an administrator. Ann has a table.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.errors import InvalidObjectException, MetaException, MetastoreError
from metastored.structs import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    Database,
    DataConnector,
    PrincipalType,
    StorageDescriptor,
    Table,
)
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.support.forks import running_server
from tests.support.grants import granted
from tests.support.listener import Listener, listening

pytestmark = pytest.mark.slow

FREE, BOUND = "free-of-hosts-9241", "bound-to-the-partner-7713"
OF_SERVER = "belongs to the server: only administrators"


class Place(NamedTuple):
    """A server, its secrets, and two hosts."""

    server: RunningServer
    free: str
    """A secret that no rule binds to hosts."""
    bound: str
    """A secret for the partner alone."""
    partner: Listener
    hers: Listener

    def sees(self) -> bytes:
        """What Eve's host got, and forgets it."""
        found, self.hers.received = self.hers.received, b""
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "free").write_text(FREE)
    (folder / "bound").write_text(BOUND)
    with listening() as partner, listening() as hers:
        settings: dict[str, Any] = {
            "authorization": "sql",
            "admin_users": "maja",
            "remotes_references": f"file:{folder}/free,file:{folder}/bound -> {partner.address}",
        }
        with running_server(**settings) as server:
            for word in ("CREATE", "CREATE_REMOTE"):
                granted(server, "eve", word)
            yield Place(server, f"file:{folder}/free", f"file:{folder}/bound", partner, hers)


def call(place: Place, user: str, method: str, *args: Any) -> Any:
    with metastored.connect(place.server.uri, user=user, cache=False) as client:
        return getattr(client.api, method)(*args)


def fresh(prefix: str = "d") -> str:
    return f"{prefix}_{uuid.uuid4().hex[:8]}"


def make(place: Place, user: str, parameters: dict[str, str]) -> str:
    """Makes a remote database, and reads from it, so that the server connects."""
    name = fresh()
    call(place, user, "create_database", Database(name, parameters=parameters))
    with suppress(MetastoreError):  # The hosts only listen.
        call(place, user, "get_all_tables", name)
    return name


def definitions(host: str, secret: str) -> dict[str, dict[str, str]]:
    """By kind of remote, a definition that sends a secret to a host."""
    iceberg = {"metastored.remote.via": "iceberg"}
    aws = {"aws.region": "us-east-1", "aws.access.key.id": "k", "aws.secret.access.key": secret}
    thrift = {"hive.metastore.uris": f"thrift://{host}", "metastored.remote.timeout": "5"}
    return {
        "a bearer token": {"hive.metastore.uris": f"http://{host}/m", "metastored.remote.token": secret},
        "a password over http": {
            "hive.metastore.uris": f"http://{host}/m",
            "metastored.remote.user": "u",
            "metastored.remote.password": secret,
        },
        "a password over thrift": {
            **thrift,
            "hive.metastore.sasl.enabled": "true",
            "metastored.remote.user": "u",
            "metastored.remote.password": secret,
        },
        "a read-only address": {
            "hive.metastore.uris": f"http://{host}/m",
            "hive.metastore.uris.read-only": f"http://{host}/r",
            "metastored.remote.token": secret,
        },
        "a token of glue": {
            "metastored.remote.via": "glue",
            "aws.glue.endpoint": f"http://{host}",
            **aws,
            "aws.session.token": secret,
        },
        "a token of iceberg": {**iceberg, "iceberg.catalog.uri": f"http://{host}", "iceberg.catalog.token": secret},
        "a credential of iceberg": {
            **iceberg,
            "iceberg.catalog.uri": f"http://{host}",
            "iceberg.catalog.oauth2-server-uri": f"http://{host}/o",
            "iceberg.catalog.credential": secret,
        },
        "a header of iceberg": {
            **iceberg,
            "iceberg.catalog.uri": f"http://{host}",
            "iceberg.catalog.header.Authorization": secret,
        },
        "a passphrase of ssh": {**thrift, "ssh.tunnel.route": f"u@{host}", "ssh.tunnel.passphrase": secret},
    }


KINDS = tuple(definitions("h:1", "s"))


# --- secrets are bound to hosts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_sends_no_secret_of_the_server_to_her_host(place: Place, kind: str) -> None:
    with pytest.raises(InvalidObjectException, match=OF_SERVER):
        make(place, "eve", definitions(place.hers.address, place.free)[kind])
    assert FREE.encode() not in place.sees()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a passphrase of ssh"])
def test_a_secret_that_is_bound_to_a_host_goes_to_that_host_alone(place: Place, kind: str) -> None:
    with pytest.raises(InvalidObjectException, match="allows it for other hosts than"):
        make(place, "eve", definitions(place.hers.address, place.bound)[kind])
    make(place, "eve", definitions(place.partner.address, place.bound)[kind])
    assert BOUND.encode() not in place.sees()


def test_not_even_an_administrator_sends_a_bound_secret_elsewhere(place: Place) -> None:
    with pytest.raises(InvalidObjectException, match="allows it for other hosts than"):
        make(place, "maja", definitions(place.hers.address, place.bound)["a bearer token"])


def test_the_partner_gets_the_secret_that_is_bound_to_him_from_any_maker_of_remotes(place: Place) -> None:
    make(place, "eve", definitions(place.partner.address, place.bound)["a bearer token"])
    assert BOUND.encode() in place.partner.received


def test_an_administrator_uses_a_secret_without_hosts(place: Place) -> None:
    make(place, "maja", definitions(place.partner.address, place.free)["a bearer token"])
    assert FREE.encode() in place.partner.received


@pytest.mark.parametrize(
    "key",
    ["hive.metastore.uris", "hive.metastore.uris.read-only", "iceberg.catalog.uri", "iceberg.catalog.s3.endpoint"],
)
def test_her_host_beside_the_partners_is_no_way_either(place: Place, key: str) -> None:
    good, evil = place.partner.address, place.hers.address
    if key.startswith("iceberg"):
        given = definitions(good, place.bound)["a credential of iceberg"] | {
            "iceberg.catalog.s3.access-key-id": "k",
            key: f"http://{evil}",
        }
    else:
        given = definitions(good, place.bound)["a read-only address"] | {key: f"http://{good}/m,http://{evil}/m"}
    with pytest.raises(InvalidObjectException, match="allows it for other hosts than"):
        make(place, "eve", given)
    assert BOUND.encode() not in place.sees()


def test_storage_of_a_cloud_is_a_host_too(place: Place) -> None:
    given = definitions(place.partner.address, place.bound)["a token of iceberg"]
    with pytest.raises(InvalidObjectException, match=r"other hosts than evil\.blob\.core\.windows\.net"):
        make(place, "eve", given | {"iceberg.catalog.adls.account-name": "evil"})


def test_an_owner_does_not_move_an_administrators_remote_to_her_host(place: Place) -> None:
    name = fresh()
    given = definitions(place.partner.address, place.free)["a bearer token"]
    call(place, "maja", "create_database", Database(name, parameters=given, ownerName="eve"))
    shown = {**given, "metastored.remote": name, "metastored.remote.via": "http", "metastored.remote.access": "read"}
    found = Database(name, parameters=shown, ownerName="eve")
    call(place, "eve", "alter_database", name, replace(found, description="hers"))
    for uris in (f"http://{place.hers.address}/m", f"http://{place.partner.address}/m,http://{place.hers.address}/m"):
        moved = {**shown, "hive.metastore.uris": uris}
        with pytest.raises(MetaException, match=OF_SERVER):
            call(place, "eve", "alter_database", name, replace(found, parameters=moved))
    with pytest.raises(MetastoreError):
        call(place, "eve", "get_all_tables", name)
    assert FREE.encode() not in place.sees()


def test_a_remote_table_is_no_way_either(place: Place) -> None:
    home = fresh()
    call(place, "eve", "create_database", Database(home))
    given = definitions(place.hers.address, place.free)["a bearer token"]
    with pytest.raises(InvalidObjectException, match=OF_SERVER):
        call(place, "eve", "create_table", Table("t", home, sd=StorageDescriptor(cols=()), parameters=given))
    assert FREE.encode() not in place.sees()


def test_a_data_connector_is_no_way_either(place: Place) -> None:
    name = fresh("c")
    keys = {"metastored.remote.token": place.free}
    hers = DataConnector(name, "http", f"http://{place.hers.address}/m", parameters=keys)
    with pytest.raises(InvalidObjectException, match=OF_SERVER):
        call(place, "eve", "create_dataconnector_req", CreateDataConnectorRequest(hers))
    his = replace(hers, url=f"http://{place.partner.address}/m", ownerName="eve", ownerType=PrincipalType.USER)
    call(place, "maja", "create_dataconnector_req", CreateDataConnectorRequest(his))
    moved = replace(his, url=hers.url)
    with pytest.raises(MetaException, match=OF_SERVER):
        call(place, "eve", "alter_dataconnector_req", AlterDataConnectorRequest(name, moved))


def test_without_authorization_secrets_are_for_administrators_too(tmp_path: Path) -> None:
    (tmp_path / "free").write_text(FREE)
    with running_server(remotes_references=f"file:{tmp_path}/*", admin_users="maja") as server, listening() as hers:
        there = Place(server, f"file:{tmp_path}/free", "", hers, hers)
        with pytest.raises(InvalidObjectException, match=OF_SERVER):
            make(there, "eve", definitions(hers.address, there.free)["a bearer token"])
        assert FREE.encode() not in hers.received
        make(there, "maja", definitions(hers.address, there.free)["a bearer token"])
        assert FREE.encode() in hers.received


# --- the server's own credentials and files -----------------------------------------------------------------------

OWN = {
    "the keys of its user": ("ssh", {"ssh.tunnel.route": "u@{host}", "hive.metastore.uris": "thrift://in:9083"}),
    "its ticket of kerberos": (
        "kerberos",
        {
            "hive.metastore.uris": "thrift://{host}",
            "hive.metastore.sasl.enabled": "true",
            "hive.metastore.kerberos.principal": "hive/_HOST@REALM",
        },
    ),
    "its credentials of aws": ("aws", {"metastored.remote.via": "glue", "aws.glue.endpoint": "http://{host}"}),
    "a profile of aws": (
        "aws",
        {"metastored.remote.via": "glue", "aws.region": "us-east-1", "aws.glue.profile": "admin"},
    ),
    "its signature of requests": (
        "aws",
        {
            "metastored.remote.via": "iceberg",
            "iceberg.catalog.uri": "http://{host}",
            "iceberg.catalog.rest.sigv4-enabled": "true",
        },
    ),
    "its credentials for s3": (
        "aws",
        {
            "metastored.remote.via": "iceberg",
            "iceberg.catalog.uri": "http://{host}",
            "iceberg.catalog.s3.endpoint": "{host}",
        },
    ),
    "its credentials of google": (
        "gcp",
        {
            "metastored.remote.via": "iceberg",
            "iceberg.catalog.uri": "http://{host}",
            "iceberg.catalog.gcs.service.host": "http://{host}",
        },
    ),
    "its credentials of azure": (
        "azure",
        {
            "metastored.remote.via": "iceberg",
            "iceberg.catalog.uri": "http://{host}",
            "iceberg.catalog.adls.blob-storage-authority": "{host}",
        },
    ),
}


@pytest.mark.parametrize("what", OWN)
def test_a_user_does_not_let_the_server_log_in_to_her_host_as_itself(place: Place, what: str) -> None:
    name, given = OWN[what]
    filled = {key: value.format(host=place.hers.address) for key, value in given.items()}
    with pytest.raises(InvalidObjectException, match=f"is server:{name}, which {OF_SERVER}"):
        make(place, "eve", filled)
    assert place.sees() == b""


FILES = ("hive.metastore.truststore.path", "ssh.tunnel.private.keys", "ssh.tunnel.known.hosts")


@pytest.mark.parametrize("key", FILES)
def test_a_key_that_names_a_file_does_not_tell_whether_the_file_exists(place: Place, key: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("no certificate")
    (tmp_path / "closed").write_text("")
    (tmp_path / "closed").chmod(0)
    given = {"hive.metastore.uris": f"thrift://{place.hers.address}", "hive.metastore.use.SSL": "true"}
    if key.startswith("ssh"):
        given = {"hive.metastore.uris": "thrift://in:9083", "ssh.tunnel.route": f"u@{place.hers.address}"}
        given |= {"ssh.tunnel.private.keys": str(tmp_path / "key")}
    said = set()
    for name in ("there", "missing", "closed"):
        with pytest.raises(InvalidObjectException, match=OF_SERVER) as refused:
            make(place, "eve", given | {key: str(tmp_path / name)})
        said.add(str(refused.value).replace(str(tmp_path / name), "").partition("is file:")[2])
    assert len(said) == 1
