"""Catalogs and metadata files that name classes to load, files to read and hosts to connect to: nothing comes of it.

Each key is one that pyiceberg reads. `Trap` is in the place of a class that does harm, such as subprocess.Popen.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog as TheirRestCatalog
from pyiceberg.catalog.sql import SqlCatalog

from metastored.connectors.context import Context
from metastored.connectors.iceberg.bounded import MAX_REPLY
from metastored.connectors.iceberg.guarded import CONFIGURED, DEFINED, OF_CATALOGS, VENDED, check_hosts
from metastored.connectors.registry import Connectors
from metastored.errors import ConfigError, ConnectError, InvalidObjectException, InvalidOperationException
from metastored.model.iceberg.limits import MAX_FILE
from metastored.model.remotes.hosts import AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.structs import replace
from tests.connectors.test_iceberg_remote import ask, at, connected, failure_of, run
from tests.support import traps
from tests.support.iceberg_rest import RestCatalog
from tests.support.scripted import Act, Peer, scripted
from tests.support.waiting import eventually

ROWS = pa.table({"id": [1, 2, 3]})
CLASSES: dict[str, Any] = {
    "py-io-impl": traps.NAME,
    "py-catalog-impl": traps.NAME,
    "s3.retry-strategy-impl": traps.NAME,
    "write.py-location-provider.impl": traps.NAME,
    "auth": {"type": "custom", "impl": traps.NAME, "custom": {}},
}
"""The properties by which pyiceberg loads classes."""
FILES_AND_HOSTS: dict[str, Any] = {
    "ssl": {"cabundle": "/etc/passwd", "client": {"cert": "/etc/passwd", "key": "/etc/shadow"}},
    "s3.signer": "S3V4RestSigner",
    "s3.signer.uri": "http://127.0.0.1:1",
    "s3.proxy-uri": "http://127.0.0.1:1",
    "s3.profile-name": "admin",
    "client.profile-name": "admin",
    "rest.sigv4-enabled": "true",
    "oauth2-server-uri": "http://127.0.0.1:1",
    "hdfs.host": "127.0.0.1",
    "hdfs.kerberos_ticket": "/tmp/krb5cc_0",
    "hf.endpoint": "http://127.0.0.1:1",
}
"""Those by which it reads files, or connects to hosts of their choice with the server's own credentials."""


@pytest.fixture(autouse=True)
def no_trap_is_sprung() -> Iterator[None]:
    traps.sprung.clear()
    yield
    assert traps.sprung == []


@pytest.fixture
def shop(iceberg_rest: RestCatalog) -> Iterator[RestCatalog]:
    """A REST catalog with the table `hostile.t`."""
    theirs = TheirRestCatalog("theirs", uri=iceberg_rest.uri)
    theirs.create_namespace("hostile")
    theirs.create_table("hostile.t", ROWS.schema)
    yield iceberg_rest
    theirs.drop_table("hostile.t")
    theirs.drop_namespace("hostile")


@pytest.mark.parametrize("key", [*CLASSES, *FILES_AND_HOSTS])
def test_what_a_rest_catalog_says_reaches_no_loader_no_file_and_no_host(shop: RestCatalog, key: str) -> None:
    """Its configuration, the reply about a table, and the table's metadata: all three have the key."""

    async def test() -> None:
        with shop.saying({key: (CLASSES | FILES_AND_HOSTS)[key]}):
            async with connected(at(uri=shop.uri)) as handler:
                table = await ask(handler, "get_table", "hostile", "t")
                assert [column.name for column in table.sd.cols] == ["id"]

    run(test())


def test_a_rest_catalog_cannot_send_the_server_to_a_host_that_is_not_allowed(shop: RestCatalog) -> None:
    only = Context(AllowedHosts.read((shop.uri.removeprefix("http://"),)), RemoteSecrets.read(None, ()))

    async def test() -> None:
        with shop.saying({"s3.endpoint": "169.254.169.254:80"}):
            async with connected(at(uri=shop.uri), only) as handler:
                error = await failure_of(handler, "get_table", "hostile", "t")
                assert "169.254.169.254" in str(error) and "remotes_hosts" in str(error)

    run(test())


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("key", [key for key, value in CLASSES.items() if isinstance(value, str)])
def test_a_metadata_file_loads_no_class(tmp_path: Path, key: str, packed: bool) -> None:
    with SqlCatalog("lake", uri=f"sqlite:///{tmp_path / 'c.db'}", warehouse=tmp_path.as_uri()) as catalog:
        catalog.create_namespace("d")
        written = Path(catalog.create_table("d.t", ROWS.schema).metadata_location.removeprefix("file://"))
    content = json.loads(written.read_text())
    content["properties"][key] = traps.NAME
    file = tmp_path / ("00001-aa.gz.metadata.json" if packed else "00001-aa.metadata.json")
    text = json.dumps(content).encode()
    file.write_bytes(gzip.compress(text) if packed else text)

    async def test() -> None:
        async with connected(at(path=file.as_uri())) as handler:
            assert (await ask(handler, "get_table", "d", "t")).parameters["table_type"] == "ICEBERG"

    run(test())


def test_a_table_of_a_sql_catalog_loads_no_class_when_it_is_read_or_altered(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'c.db'}"
    with SqlCatalog("default", uri=uri, warehouse=tmp_path.as_uri()) as catalog:
        catalog.create_namespace("d")
        written = Path(catalog.create_table("d.t", ROWS.schema).metadata_location.removeprefix("file://"))
    content = json.loads(written.read_text())
    content["properties"] |= {"write.py-location-provider.impl": traps.NAME, "py-io-impl": traps.NAME}
    written.write_text(json.dumps(content))

    async def test() -> None:
        async with connected(at(uri=uri)) as handler:
            table = await ask(handler, "get_table", "d", "t")
            changed = replace(table, parameters={**table.parameters, "comment": "new"})
            with pytest.raises(InvalidOperationException, match="names a class to load"):
                await ask(handler, "alter_table", "d", "t", changed)
            fresh = replace(table, tableName="fresh", parameters={"write.py-location-provider.impl": traps.NAME})
            with pytest.raises(InvalidObjectException, match="names a class to load"):
                await ask(handler, "create_table", fresh)

    run(test())


UNDEFINED = {*CLASSES, *FILES_AND_HOSTS, "auth.impl", "ssl.cabundle", "AUTH", "Py-Io-Impl"} - OF_CATALOGS


@pytest.mark.parametrize("key", sorted(UNDEFINED))
def test_a_definition_names_no_class_and_no_file(key: str) -> None:
    with pytest.raises(ConfigError, match="not a property that a remote's definition may set"):
        Connectors().connect(at(60.0, uri="https://there", **{key: "x"}))


@pytest.mark.parametrize("value", ["127.0.0.1:9", "http://127.0.0.1:9", "//127.0.0.1:9", "127.0.0.1", " 127.0.0.1:9 "])
def test_an_endpoint_is_checked_with_and_without_a_scheme(value: str) -> None:
    with pytest.raises(ConnectError, match="remotes_hosts"):
        check_hosts({"s3.endpoint": value}, AllowedHosts.read(("*.example.com",)))


@pytest.mark.parametrize("value", ["", "http://", "h:port"])
def test_an_endpoint_that_is_no_address_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="not an address"):
        check_hosts({"s3.endpoint": value}, AllowedHosts.read(("*",)))


def test_no_key_that_may_pass_names_a_class_or_a_file() -> None:
    for key in (*VENDED, *CONFIGURED, *DEFINED, *OF_CATALOGS):
        assert not any(word in key for word in ("impl", "auth.", "ssl", "profile", "signer", "proxy", "ticket", "path"))


# --- more than fits ------------------------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def endless(peer: Peer, data: bytes) -> None:
    peer.socket.sendall(HEAD + b'\r\n{"defaults": {"a": "')
    while True:
        peer.socket.sendall(b"x" * 1_000_000)


def dripping(peer: Peer, data: bytes) -> None:
    peer.socket.sendall(HEAD + b'\r\n{"defaults": {"a": "')
    while True:
        peer.socket.sendall(b"x")
        time.sleep(0.05)


def exploding(peer: Peer, data: bytes) -> None:
    body = gzip.compress(bytes(512 * 1024 * 1024), 1)
    peer.socket.sendall(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


@pytest.mark.parametrize("act", [endless, exploding])
@pytest.mark.slow
def test_a_reply_of_a_rest_catalog_is_read_in_bounded_memory(act: Act) -> None:
    with scripted(otherwise=act) as peer:

        async def test() -> None:
            async with connected(at(uri=peer.uri.replace("thrift", "http"))) as handler:
                assert f"has more than {MAX_REPLY} bytes" in str(await failure_of(handler, "get_all_databases"))

        run(test())


def test_a_reply_of_a_rest_catalog_that_drips_holds_no_thread() -> None:
    with scripted(otherwise=dripping) as peer:

        async def test() -> None:
            async with connected(at(1.0, uri=peer.uri.replace("thrift", "http"))) as handler:
                assert "longer than 1 s" in str(await failure_of(handler, "get_all_databases"))

        run(test())
        eventually(lambda: peer.opened == 0)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_a_metadata_file_that_is_too_large_is_not_read(tmp_path: Path, packed: bool) -> None:
    file = tmp_path / ("00001-aa.gz.metadata.json" if packed else "00001-aa.metadata.json")
    if packed:
        file.write_bytes(gzip.compress(bytes(MAX_FILE + 1), 1))
    else:
        with open(file, "wb") as opened:
            opened.truncate(MAX_FILE + 1)

    async def test() -> None:
        async with connected(at(path=file.as_uri())) as handler:
            error = await failure_of(handler, "get_table", "d", "t")
            assert f"it has more than {MAX_FILE} bytes" in str(error)

    run(test())
