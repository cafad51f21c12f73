"""Attacks at the connections of remotes: what a host, a catalog, a metadata file or an address must not bring about."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog as TheirRestCatalog
from pyiceberg.catalog.sql import SqlCatalog

from metastored.connectors.context import Context
from metastored.connectors.iceberg.guarded import file_io
from metastored.connectors.registry import Connectors
from metastored.errors import ConfigError, ConnectError, Error, InvalidObjectException
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import ALL_HOSTS, AllowedHosts, hosts_of
from metastored.model.remotes.values import read_endpoint
from metastored.store.security.remote_secrets import RemoteSecrets
from tests.attacks.test_remotes import KINDS, OWN, definitions
from tests.connectors.test_iceberg_remote import ask, at, connected, failure_of, run
from tests.support.iceberg_rest import RestCatalog
from tests.support.listener import Listener, listening

SECRET = "a-secret-of-the-server-5532"
COLUMNS = pa.schema([("id", pa.int64())])


@pytest.fixture
def hers() -> Iterator[Listener]:
    """Eve's host."""
    with listening() as found:
        yield found


def secrets(folder: Path, hosts: str) -> Context:
    (folder / "secret").write_text(SECRET)
    own = [f"server:{name} -> {hosts}" for name in ("ssh", "kerberos", "aws", "gcp", "azure")]
    return Context(secrets=RemoteSecrets(references=[f"file:{folder}/* -> {hosts}", *own]))


def endpoint(parameters: dict[str, str]) -> Endpoint:
    return read_endpoint(parameters, "d")


def failure(at: Endpoint, context: Context) -> str:
    """The error of a first call."""

    async def test() -> None:
        async with connected(at, context) as handler:
            found.append(str(await failure_of(handler, "get_all_databases")))

    found: list[str] = []
    run(test())
    return found[0]


# --- each connection checks the hosts again -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_definition_does_not_send_a_secret_to_a_host_that_is_no_longer_allowed(
    kind: str, tmp_path: Path, hers: Listener
) -> None:
    context = secrets(tmp_path, "*.partner.example")
    given = definitions(hers.address, f"file:{tmp_path}/secret")[kind]
    assert "allows it for other hosts than" in failure(endpoint(given), context)
    assert SECRET.encode() not in hers.received


@pytest.mark.parametrize("what", [what for what in OWN if what != "a profile of aws"])
def test_nor_does_it_log_in_with_the_servers_own_credentials(what: str, tmp_path: Path, hers: Listener) -> None:
    given = {key: value.format(host=hers.address) for key, value in OWN[what][1].items()}
    assert "allows it for other hosts than" in failure(endpoint(given), secrets(tmp_path, "*.partner.example"))
    assert hers.received == b""


# --- catalogs that send their clients elsewhere -------------------------------------------------------------------


@pytest.fixture
def shop(iceberg_rest: RestCatalog) -> Iterator[RestCatalog]:
    """A REST catalog with the table `sent.t`."""
    theirs = TheirRestCatalog("theirs", uri=iceberg_rest.uri)
    theirs.create_namespace("sent")
    theirs.create_table("sent.t", COLUMNS)
    yield iceberg_rest
    theirs.drop_table("sent.t")
    theirs.drop_namespace("sent")


def test_a_catalog_that_configures_another_address_does_not_move_the_token_there(
    shop: RestCatalog, hers: Listener
) -> None:
    async def test() -> None:
        with shop.saying({"uri": f"http://{hers.address}", "oauth2-server-uri": f"http://{hers.address}/o"}):
            async with connected(at(uri=shop.uri, token=SECRET)) as handler:
                assert (await ask(handler, "get_table", "sent", "t")).tableName == "t"

    run(test())
    assert hers.received == b""


@pytest.mark.parametrize("key", ["token", "credential", "header.X-Api-Key", "client.session-token"])
@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_does_not_move_a_credential(key: str, status: int, hers: Listener) -> None:
    reply = f"HTTP/1.1 {status} Moved\r\nLocation: http://{hers.address}/v1/config\r\nContent-Length: 0\r\n\r\n"
    with listening(reply.encode()) as catalog:
        keys = {"uri": f"http://{catalog.address}", "oauth2-server-uri": f"http://{catalog.address}/o", key: SECRET}
        if key.startswith("client."):
            keys |= {"rest.sigv4-enabled": "true", "client.region": "x", "rest.signing-region": "x"}
            keys |= {"client.access-key-id": "k", "client.secret-access-key": "k"}
        assert f"sends its clients to {hers.address}" in failure(at(60.0, **keys), Context())
    assert hers.received == b""


@pytest.mark.parametrize("own", ["s3.secret-access-key", "s3.session-token", "client.session-token"])
def test_credentials_of_the_definition_are_not_sent_to_storage_that_the_catalog_names(
    shop: RestCatalog, own: str, hers: Listener
) -> None:
    async def test() -> None:
        with shop.saying({"s3.endpoint": f"http://{hers.address}"}):
            keys = {"uri": shop.uri, "s3.access-key-id": "k", "s3.region": "x", own: SECRET}
            async with connected(at(60.0, **keys)) as handler:
                assert "was not given for that host" in str(await failure_of(handler, "get_table", "sent", "t"))

    run(test())
    assert hers.received == b""


@pytest.mark.parametrize("kind", ["path", "sql"])
def test_nor_to_storage_that_a_metadata_file_names(kind: str, tmp_path: Path, hers: Listener) -> None:
    uri = f"sqlite:///{tmp_path / 'c.db'}"
    with SqlCatalog("default", uri=uri, warehouse=tmp_path.as_uri()) as catalog:
        catalog.create_namespace("d")
        file = Path(catalog.create_table("d.t", COLUMNS).metadata_location.removeprefix("file://"))
    content = json.loads(file.read_text())
    content["properties"]["s3.endpoint"] = f"http://{hers.address}"
    file.write_text(json.dumps(content))

    async def test() -> None:
        where = {"path": file.as_uri()} if kind == "path" else {"uri": uri}
        async with connected(at(60.0, **where, **{"s3.secret-access-key": SECRET, "s3.region": "x"})) as handler:
            assert "was not given for that host" in str(await failure_of(handler, "get_table", "d", "t"))

    run(test())
    assert hers.received == b""


VENDED = {"s3.endpoint": "http://127.0.0.1:9", "s3.access-key-id": "v", "s3.secret-access-key": "v"}


def test_storage_that_the_catalog_names_gets_the_credentials_that_the_catalog_vends() -> None:
    own = {"s3.access-key-id": "k", "s3.secret-access-key": SECRET, "client.session-token": SECRET, "s3.region": "x"}
    assert dict(file_io(own, VENDED, ALL_HOSTS, "the catalog").properties) == VENDED | {"s3.region": "x"}


def test_storage_without_vended_credentials_gets_none_of_the_servers_environment() -> None:
    found = file_io({}, {"s3.endpoint": "http://127.0.0.1:9"}, ALL_HOSTS, "the catalog").properties
    assert found["s3.anonymous"] == "true"
    for key in ("gcs.service.host", "adls.account-host", "adls.account-name"):
        with pytest.raises(ConfigError, match="the server sends none there"):
            file_io({}, {key: "127.0.0.1"}, ALL_HOSTS, "the catalog")


def test_a_host_that_the_definition_names_itself_stays_usable_when_the_catalog_repeats_it() -> None:
    own = {"s3.endpoint": "http://127.0.0.1:9", "s3.access-key-id": "k", "s3.secret-access-key": SECRET}
    assert dict(file_io(own, {"s3.endpoint": own["s3.endpoint"]}, ALL_HOSTS, "the catalog").properties) == own


@pytest.mark.parametrize("key", ["adls.blob-storage-authority", "adls.dfs-storage-authority"])
def test_every_key_that_names_a_host_is_checked_against_the_allowed_hosts(key: str) -> None:
    given = endpoint({"iceberg.catalog.uri": "https://a.example.com", f"iceberg.catalog.{key}": "127.0.0.1:9"})
    with pytest.raises(InvalidObjectException, match="remotes_hosts allows"):
        AllowedHosts.read(["*.example.com"]).check(given)
    with pytest.raises(ConnectError, match="remotes_hosts"):
        file_io({key: "127.0.0.1:9"}, {}, AllowedHosts.read(["*.example.com"]), "the catalog")


# --- SQL catalogs -------------------------------------------------------------------------------------------------


def test_a_definition_does_not_let_the_server_create_tables_in_a_catalog(tmp_path: Path) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    given = {"iceberg.catalog.uri": f"sqlite:///{file}", "iceberg.catalog.init_catalog_tables": "true"}
    with pytest.raises(InvalidObjectException, match="not a property that a remote's definition may set"):
        endpoint(given)
    with pytest.raises(ConfigError, match="not a property that a remote's definition may set"):
        Connectors().connect(Endpoint("iceberg", tuple(sorted(given.items()))))
    failure(at(uri=f"sqlite:///{file}"), Context())
    with closing(sqlite3.connect(file)) as found:
        assert found.execute("SELECT name FROM sqlite_master").fetchall() == []


ADDRESSES = {
    "another host in its options": "postgresql+psycopg://u@good.example.com/c?host={host}",
    "an address in its options": "postgresql+psycopg://u@good.example.com/c?hostaddr={host}",
    "a file of passwords": "postgresql+psycopg://u@good.example.com/c?passfile=/etc/passwd",
    "a service": "postgresql+psycopg://u@good.example.com/c?service=own",
    "a key": "postgresql+psycopg://u@good.example.com/c?sslkey=/etc/key",
    "a host behind its path": "postgresql+psycopg://good.example.com:5432/x@{host}/c",
    "two hosts": "postgresql+psycopg://u@good.example.com,{host}/c",
    "the server's own socket": "postgresql+psycopg:///c",
    "options of sqlite": "sqlite:////d/c.db?uri=true",
}


@pytest.mark.parametrize("what", ADDRESSES)
def test_the_address_of_a_database_has_one_host_and_no_files(what: str, hers: Listener) -> None:
    uri = ADDRESSES[what].format(host=hers.address)
    with pytest.raises(InvalidObjectException, match=r"iceberg\.catalog\.uri"):
        endpoint({"iceberg.catalog.uri": uri})
    # One that was stored by an earlier version is refused at its connection.
    assert "iceberg.catalog.uri" in failure(at(uri=uri), Context(AllowedHosts.read(["good.example.com"])))
    assert hers.received == b""


@contextmanager
def demanding_a_password() -> Iterator[tuple[int, list[bytes]]]:
    """A port that speaks as much of PostgreSQL's protocol as to ask for a password in clear text."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                while True:
                    opened, _ = server.accept()
                    with opened:
                        opened.settimeout(5)
                        received.append(opened.recv(4096))
                        opened.sendall(b"R\0\0\0\x08\0\0\0\x03")
                        received.append(opened.recv(4096))
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], received
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def test_the_servers_own_password_of_postgresql_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:*:{SECRET}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with demanding_a_password() as (port, received):
        failure(at(uri=f"postgresql+psycopg://u@127.0.0.1:{port}/c?sslmode=disable"), Context())
    assert received and SECRET.encode() not in b"".join(received)


# --- hosts that two parsers read differently ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", ["good.example.com@127.0.0.1:9", "good.example.com\\@127.0.0.1", "127.0.0.1\t:9", "a b"]
)
def test_an_address_that_two_parsers_could_read_differently_is_refused(value: str) -> None:
    with pytest.raises(InvalidObjectException, match="not an address"):
        endpoint({"iceberg.catalog.uri": "https://a", "iceberg.catalog.s3.endpoint": value})


def test_the_hosts_of_a_definition_are_those_of_every_key_that_names_one() -> None:
    given = {
        "iceberg.catalog.uri": "https://catalog.example.com",
        "iceberg.catalog.oauth2-server-uri": "https://login.example.com/t",
        "iceberg.catalog.s3.endpoint": "s3.example.com:9000",
        "iceberg.catalog.gcs.service.host": "http://gcs.example.com",
        "iceberg.catalog.adls.account-name": "acc",
        "iceberg.catalog.adls.blob-storage-authority": ".blob.example.com",
    }
    assert sorted(hosts_of(endpoint(given))) == [
        ("acc.blob.example.com", 443),
        ("catalog.example.com", 443),
        ("gcs.example.com", 80),
        ("login.example.com", 443),
        ("s3.example.com", 9000),
    ]


def test_no_error_of_a_refused_reference_has_the_secret(tmp_path: Path, hers: Listener) -> None:
    context = secrets(tmp_path, "*.partner.example")
    given: Any = endpoint(definitions(hers.address, f"file:{tmp_path}/secret")["a bearer token"])
    with pytest.raises(Error) as refused:
        context.resolved(given)
    assert SECRET not in str(refused.value)
