"""Other metastores as definitions describe them: addresses, TLS, SASL, HTTP, credentials, identity, allowed hosts."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from metastored.connectors.context import Context
from metastored.connectors.registry import Connectors
from metastored.errors import ApplicationError, ConfigError, MetaException
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.server.http.support import PASSWORD, USER, http_server, who
from tests.server.support import certificate
from tests.support.apache import ApacheMetastore, apache_3_1
from tests.support.forks import running_server
from tests.support.kdc import Kdc
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import ThriftServer, serving

SOON = 0.5
LATE = 60.0
URIS = "hive.metastore.uris"
READ_ONLY = "hive.metastore.uris.read-only"


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def at(uris: str, timeout: float = LATE, /, via: str = "thrift", **keys: str) -> Endpoint:
    """Keyword `use_SSL` is the key hive.metastore.use.SSL, and `remote_user` is metastored.remote.user."""
    found = {URIS: uris}
    for key, value in keys.items():
        name = key.replace("_", ".")
        found[f"metastored.{name}" if name.startswith("remote.") else f"hive.metastore.{name}"] = value
    return Endpoint(via, tuple(sorted(found.items())), timeout)


@asynccontextmanager
async def connected(endpoint: Endpoint, context: Context | None = None) -> AsyncIterator[Any]:
    handler: Any = Connectors(context).connect(endpoint)
    try:
        yield handler
    finally:
        await handler.close()


async def ask(handler: Any, name: str = "get_table", *args: Any, user: str | None = None) -> Any:
    method = METHODS[name]
    args = args or (("raw", "clicks") if name == "get_table" else ())
    return (await handler.handle(Call(method, args), Session(user=user))).value(method)


async def failure_of(handler: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(MetaException) as raised:
        await ask(handler, *args, **options)
    return str(raised.value)


def memory() -> MemoryMetastore:
    return MemoryMetastore({"raw": ("clicks",)})


def calls(server: ThriftServer) -> list[str]:
    """The calls of callers: of several addresses, each has to reply to `getStatus` before it is used."""
    assert isinstance(server.handler, MemoryMetastore)
    return [name for name in server.handler.called if name != "getStatus"]


# Several addresses


def test_the_next_address_is_used_when_the_first_is_not_there_and_from_then_on() -> None:
    async def test() -> None:
        async with serving(memory()) as gone, serving(memory()) as there:
            await gone.stop()
            try:
                async with connected(at(f"{gone.uri},{there.uri}")) as handler:
                    for user in ("ann", "bob"):
                        await ask(handler, user=user)
                    assert calls(there) == ["get_table"] * 2
            finally:
                await gone.start()

    run(test())


def test_an_address_that_accepts_and_never_answers_is_given_up_for_the_next() -> None:
    async def test() -> None:
        async with serving(None) as hanging, serving(memory()) as there:
            async with connected(at(f"{hanging.uri}, {there.uri}", SOON)) as handler:
                assert (await ask(handler)).tableName == "clicks"

    run(test())


def test_an_address_that_dies_between_two_calls_is_replaced_by_the_next() -> None:
    async def test() -> None:
        async with serving(memory()) as first, serving(memory()) as second:
            async with connected(at(f"{first.uri},{second.uri}")) as handler:
                await ask(handler)
                await first.stop()
                try:
                    assert (await ask(handler)).tableName == "clicks"
                finally:
                    await first.start()
                assert (calls(first), calls(second)) == (["get_table"], ["get_table"])

    run(test())


def test_when_no_address_answers_each_is_named_with_its_reason() -> None:
    async def test() -> None:
        async with serving(memory()) as first, serving(memory()) as second:
            pass
        async with connected(at(f"{first.uri},{second.uri}")) as handler:
            text = await failure_of(handler)
            assert f"{first.uri}: connection refused" in text
            assert f"{second.uri}: connection refused" in text

    run(test())


def test_reads_go_to_the_read_only_addresses_and_everything_else_to_the_others() -> None:
    async def test() -> None:
        async with serving(memory()) as main, serving(memory()) as replica:
            async with connected(at(main.uri, **{"uris_read-only": replica.uri})) as handler:
                await ask(handler)
                await ask(handler, "get_all_databases")
                method = METHODS["drop_table"]
                await handler.handle(Call(method, ("raw", "clicks", True)), Session())
                assert (calls(replica), calls(main)) == (["get_table", "get_all_databases"], ["drop_table"])

    run(test())


def test_reads_go_to_the_other_addresses_when_no_read_only_one_is_there() -> None:
    async def test() -> None:
        async with serving(memory()) as replica:
            pass
        async with serving(memory()) as main:
            async with connected(at(main.uri, **{"uris_read-only": replica.uri})) as handler:
                assert (await ask(handler)).tableName == "clicks"

    run(test())


# Allowed hosts


def test_an_address_is_checked_at_the_connection_after_its_name_was_resolved() -> None:
    async def test() -> None:
        async with serving(memory()) as there:
            uri = f"thrift://localhost:{there.port}"
            # The name is allowed, and leads to this machine itself.
            async with connected(at(uri), Context(AllowedHosts.read(["*host"]))) as handler:
                text = await failure_of(handler)
                assert f"localhost:{there.port} (127.0.0.1) is not among the hosts that remotes may use" in text
            assert there.accepted == 0
            async with connected(at(uri), Context(AllowedHosts.read(["127.0.0.0/8"]))) as handler:
                assert (await ask(handler)).tableName == "clicks"

    run(test())


def test_a_list_of_addresses_skips_those_that_are_not_allowed() -> None:
    async def test() -> None:
        async with serving(memory()) as one, serving(memory()) as other:
            context = Context(AllowedHosts.read([f"127.0.0.1:{other.port}"]))
            async with connected(at(f"{one.uri},{other.uri}"), context) as handler:
                await ask(handler)
            assert (one.accepted, other.accepted) == (0, 1)

    run(test())


def test_a_name_that_cannot_be_resolved_is_named() -> None:
    async def test() -> None:
        async with connected(at("thrift://no-such-host.invalid:9083")) as handler:
            assert "the name no-such-host.invalid cannot be resolved" in await failure_of(handler)

    run(test())


def test_a_name_service_that_hangs_delays_no_other_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    released, real = threading.Event(), socket.getaddrinfo

    def hanging(host: Any, *args: Any, **options: Any) -> Any:
        if host == "slow.example.com" and options.get("flags", 0) == 0:
            released.wait()
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", hanging)

    async def test() -> None:
        async with serving(memory()) as there, connected(at("thrift://slow.example.com:9083")) as slow:
            waiting = [asyncio.ensure_future(ask(slow, user=f"user{number}")) for number in range(64)]
            await asyncio.sleep(0.1)
            async with connected(at(f"thrift://localhost:{there.port}")) as handler:
                assert (await ask(handler)).tableName == "clicks"
            for each in waiting:
                each.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    try:
        run(test())
    finally:
        released.set()


# Identity


def test_the_caller_is_named_to_the_metastore_and_a_fixed_user_in_its_place_if_one_is_given() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server:
            async with connected(at(server.uri)) as handler:
                await ask(handler, user="ann")
            async with connected(at(server.uri, remote_user="etl")) as handler:
                await ask(handler, user="ann")
                await ask(handler, user="bob")
            async with connected(at(server.uri, remote_identity="fixed")) as handler:
                await ask(handler, user="ann")
            assert there.users == ["ann", "etl", "etl", None]
            assert server.accepted == 3

    run(test())


# TLS, SASL, protocols


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Path]]:
    """A server with TLS, password login on its Thrift port and HTTPS, with the user maja, who is a proxy user."""
    folder = tmp_path_factory.mktemp("secure")
    cert, key = certificate(folder)
    settings = {"tls_certificate": cert, "tls_key": key, "password_login": "on", "audit": "on", "proxy_users": USER}
    with http_server(folder, **settings) as server:
        yield server, cert


def secured(server: RunningServer, cert: Path, **keys: str) -> Endpoint:
    uri = f"thrift://localhost:{server.port}"
    found = {"use_SSL": "true", "truststore_path": str(cert), "sasl_enabled": "true", "remote_user": USER}
    return at(uri, **(found | {"remote_password": PASSWORD} | keys))


@pytest.mark.slow
def test_a_metastore_with_tls_and_passwords_is_called_as_the_user_of_the_password(
    secure: tuple[RunningServer, Path],
) -> None:
    server, cert = secure

    async def test() -> None:
        async with connected(secured(server, cert)) as handler:
            await ask(handler, "create_database", Database(name="by_password"), user="ann")
        async with connected(secured(server, cert, remote_identity="caller")) as handler:
            await ask(handler, "create_database", Database(name="for_ann"), user="ann")

    run(test())
    assert (who(server, "by_password"), who(server, "for_ann")) == (USER, "ann")


@pytest.mark.slow
def test_a_password_is_read_again_for_each_connection_and_is_never_in_an_error(
    secure: tuple[RunningServer, Path], tmp_path: Path
) -> None:
    server, cert = secure
    file = tmp_path / "password"
    file.write_text("top-secret-and-wrong\n")
    context = Context(secrets=RemoteSecrets(references=[f"file:{tmp_path}/*"]))

    async def test() -> None:
        async with connected(secured(server, cert, remote_password=f"file:{file}"), context) as handler:
            text = await failure_of(handler, "get_all_databases")
            assert "the server refuses PLAIN" in text and f"localhost:{server.port}" in text
            assert "top-secret" not in text
            file.write_text(PASSWORD)
            assert "default" in await ask(handler, "get_all_databases")
        missing = f"file:{tmp_path}/none"
        async with connected(secured(server, cert, remote_password=missing), context) as handler:
            assert f"{missing}, which cannot be read: No such file" in await failure_of(handler, "get_all_databases")
        async with connected(secured(server, cert, remote_password="env:HOME"), context) as handler:
            assert "remotes_references allows only" in await failure_of(handler, "get_all_databases")

    run(test())


@pytest.mark.slow
def test_a_certificate_that_nobody_trusts_is_refused(secure: tuple[RunningServer, Path], tmp_path: Path) -> None:
    server, _ = secure
    other, _ = certificate(tmp_path)
    broken = tmp_path / "truststore.jks"
    broken.write_bytes(b"\xfe\xed\xfe\xed")

    async def test() -> None:
        async with connected(secured(server, other)) as handler:
            assert "certificate" in (await failure_of(handler, "get_all_databases")).lower()
        async with connected(secured(server, broken)) as handler:
            text = await failure_of(handler, "get_all_databases")
            assert "it has no certificates in PEM; convert a Java key store" in text

    run(test())


@pytest.mark.slow
def test_another_metastored_is_called_over_https_with_a_password(secure: tuple[RunningServer, Path]) -> None:
    server, cert = secure
    uri = f"https://localhost:{server.http_port}/metastore"

    def over_http(**keys: str) -> Endpoint:
        return at(uri, via="http", truststore_path=str(cert), **keys)

    async def test() -> None:
        found = over_http(remote_user=USER, remote_password=PASSWORD)
        async with connected(found) as handler:
            await ask(handler, "create_database", Database(name="over_http"), user="ann")
            assert "over_http" in await ask(handler, "get_all_databases")
        found = over_http(remote_user=USER, remote_password=PASSWORD, remote_identity="caller")
        async with connected(found) as handler:
            await ask(handler, "create_database", Database(name="over_http_for_ann"), user="ann")
        async with connected(over_http(remote_user=USER, remote_password="wrong-secret")) as handler:
            text = await failure_of(handler, "get_all_databases")
            assert "401" in text and uri in text and "wrong-secret" not in text

    run(test())
    assert (who(server, "over_http"), who(server, "over_http_for_ann")) == (USER, "ann")


@pytest.mark.slow
def test_over_http_without_credentials_the_caller_is_named_in_a_header(tmp_path: Path) -> None:
    async def test(port: int | None) -> None:
        uri = f"http://127.0.0.1:{port}/metastore"
        async with connected(at(uri, via="http")) as handler:
            await ask(handler, "create_database", Database(name="by_ann"), user="ann")
            await ask(handler, "create_database", Database(name="by_bob"), user="bob")

    with running_server(http_port=0, http_tls="off", audit="on") as server:
        run(test(server.http_port))
        assert (who(server, "by_ann"), who(server, "by_bob")) == ("ann", "bob")


@pytest.mark.kerberos
@pytest.mark.slow
def test_a_metastore_with_kerberos_is_called_with_the_principal_that_the_definition_names(
    kdc: Kdc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(kdc.config))
    service, etl = kdc.principal("hive/localhost"), kdc.principal("etl")
    keytab = kdc.keytab(service)
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kdc.kinit(etl)}")
    kerberos = {"sasl_enabled": "true", "kerberos_principal": f"hive/_HOST@{kdc.realm}"}

    async def test(uri: str) -> None:
        async with connected(at(uri, **kerberos, remote_principal=etl)) as handler:
            await ask(handler, "create_database", Database(name="by_ticket"), user="ann")
        async with connected(at(uri, **kerberos, remote_identity="caller")) as handler:
            await ask(handler, "create_database", Database(name="for_ann"), user="ann")
        async with connected(at(uri, **kerberos, remote_principal=f"nobody@{kdc.realm}")) as handler:
            assert "Kerberos, for hive/localhost" in await failure_of(handler, "get_all_databases")

    with running_server(kerberos_principal=service, kerberos_keytab=keytab, audit="on", proxy_users="etl") as server:
        run(test(f"thrift://localhost:{server.port}"))
        assert (who(server, "by_ticket"), who(server, "for_ann")) == ("etl", "ann")


def speaks_compact_in_frames(host: str, port: int) -> bool:
    async def test() -> bool:
        compact = {"thrift_compact_protocol_enabled": "true", "thrift_framed_transport_enabled": "true"}
        async with connected(at(f"thrift://{host}:{port}", **compact)) as handler:
            return bool(await ask(handler, "getName"))

    try:
        return asyncio.run(test())
    except ApplicationError:
        return False  # It does not listen yet: getName declares no exception.


@pytest.mark.apache
@pytest.mark.slow
def test_a_real_metastore_is_called_in_compact_frames() -> None:
    settings = {f"metastore.thrift.{name}.enabled": "true" for name in ("compact.protocol", "framed.transport")}
    server: ApacheMetastore
    with apache_3_1(settings, speaks_compact_in_frames) as server:
        assert speaks_compact_in_frames(server.host, server.port)


# Keys that contradict each other


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"remote_password": "x", "remote_user": "ann"}, "the password would not be sent"),
        ({"remote_token": "x"}, "is for addresses with https://"),
        ({"sasl_enabled": "true"}, "give 'hive.metastore.kerberos.principal' for Kerberos"),
        ({"kerberos_principal": "hive/_HOST@R"}, "'hive.metastore.sasl.enabled' is not true"),
        ({"truststore_path": "/x"}, "'hive.metastore.use.SSL' is not true"),
        ({"remote_principal": "ann@R"}, "the principal of the metastore, is not"),
        ({"remote_identity": "everybody"}, "must be one of caller, fixed, delegation"),
        (
            {"sasl_enabled": "true", "kerberos_principal": "h/_HOST@R", "thrift_framed_transport_enabled": "true"},
            "SASL has frames of its own",
        ),
    ],
)
def test_keys_of_which_one_would_be_ignored_are_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Connectors().connect(at("thrift://there:9083", **keys))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"use_SSL": "true"}, "which has no such thing"),
        ({"kerberos_principal": "hive/_HOST@R"}, "not supported over HTTP"),
        ({"remote_password": "x"}, "'metastored.remote.user' is not"),
    ],
)
def test_keys_that_http_does_not_have_are_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Connectors().connect(at("https://there/api", via="http", **keys))


@pytest.mark.parametrize("uri", ["thrift://ann:honey@there:9083", "https://ann:honey@there/metastore"])
def test_a_password_in_an_address_is_refused_and_not_repeated(uri: str) -> None:
    via = "http" if uri.startswith("https") else "thrift"
    with pytest.raises(ConfigError, match=r"give 'metastored\.remote\.user'") as raised:
        Connectors().connect(at(uri, via=via))
    assert "honey" not in str(raised.value)
