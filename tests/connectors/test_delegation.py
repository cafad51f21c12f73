"""Callers' names at a Kerberized metastore by delegation tokens, with a real KDC: Apache Hive 2.3.10, and metastored.

metastored issues tokens to their owners only, so there the caller has the name of metastored's own principal.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from metastored.errors import ConfigError
from metastored.model.remotes.endpoints import Endpoint
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.connectors.test_metastores import ask, at, connected, failure_of, run
from tests.support.apache import ApacheMetastore, apache_2_3
from tests.support.forks import running_server
from tests.support.kdc import Kdc

OPENED = ("--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",)
"""What Hadoop reads of Java's own Kerberos."""
KERBEROS = {"sasl_enabled": "true", "kerberos_principal": "hive/_HOST@REALM"}


class Kerberized(NamedTuple):
    """A Hive in which metastored may act for everybody, and other principals for nobody."""

    hive: ApacheMetastore
    kdc: Kdc

    @property
    def uri(self) -> str:
        return f"thrift://localhost:{self.hive.port}"

    @property
    def keys(self) -> dict[str, str]:
        return KERBEROS | {"kerberos_principal": f"hive/_HOST@{self.kdc.realm}"}

    def log_in(self, name: str, environment: pytest.MonkeyPatch) -> None:
        """From now on this process has the ticket of this principal."""
        environment.setenv("KRB5_CONFIG", str(self.kdc.config))
        environment.setenv("KRB5CCNAME", f"FILE:{self.kdc.kinit(self.kdc.principal(name))}")

    def caller(self, database: str) -> str:
        """Who created a database, by Hive's audit log."""
        logs = [self.hive.log, *self.hive.home.rglob("hive.log")]
        lines = {line for log in logs for line in log.read_text(errors="replace").splitlines()}
        found = {
            line.partition("ugi=")[2].split()[0]
            for line in lines
            if "ugi=" in line and "cmd=create_database" in line and f"name:{database}," in line
        }
        assert len(found) == 1, f"{database}: {found}"
        return found.pop()


def listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def kerberized(kdc: Kdc) -> Iterator[Kerberized]:
    service = kdc.principal("hive/localhost")
    settings = {
        "hive.metastore.sasl.enabled": "true",
        "hive.metastore.kerberos.principal": service,
        "hive.metastore.kerberos.keytab.file": str(kdc.keytab(service)),
    }
    core = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.proxyuser.metastored.hosts": "*",
        "hadoop.proxyuser.metastored.groups": "*",
        "hadoop.proxyuser.metastored.users": "*",
    }
    with apache_2_3(settings, listens, core=core, flags=[f"-Djava.security.krb5.conf={kdc.config}", *OPENED]) as hive:
        yield Kerberized(hive, kdc)


def database(name: str) -> Database:
    return Database(name=name, description="", parameters={})


@pytest.mark.apache
@pytest.mark.kerberos
@pytest.mark.slow
def test_hive_knows_each_caller_by_a_delegation_token(kerberized: Kerberized, monkeypatch: pytest.MonkeyPatch) -> None:
    kerberized.log_in("metastored", monkeypatch)

    async def test() -> None:
        endpoint = at(kerberized.uri, **kerberized.keys, remote_identity="delegation")
        async with connected(endpoint) as handler:
            for user in ("ann", "bob"):
                await ask(handler, "create_database", database(f"delegated_by_{user}"), user=user)
            await ask(handler, "create_database", database("delegated_by_nobody"))

    run(test())
    found = {user: kerberized.caller(f"delegated_by_{user}") for user in ("ann", "bob", "nobody")}
    assert found == {"ann": "ann", "bob": "bob", "nobody": f"metastored@{kerberized.kdc.realm}"}


@pytest.mark.apache
@pytest.mark.kerberos
@pytest.mark.slow
def test_a_principal_that_may_not_act_for_others_gets_hives_reason(
    kerberized: Kerberized, monkeypatch: pytest.MonkeyPatch
) -> None:
    kerberized.log_in("mallory", monkeypatch)

    async def test() -> None:
        endpoint = at(kerberized.uri, **kerberized.keys, remote_identity="delegation")
        async with connected(endpoint) as handler:
            text = await failure_of(handler, "get_all_databases", user="ann")
            assert "no delegation token for ann" in text and "hadoop.proxyuser" in text

    run(test())


@pytest.mark.apache
@pytest.mark.kerberos
@pytest.mark.slow
def test_a_fixed_principal_calls_for_everybody(kerberized: Kerberized, monkeypatch: pytest.MonkeyPatch) -> None:
    kerberized.log_in("metastored", monkeypatch)

    async def test() -> None:
        async with connected(at(kerberized.uri, **kerberized.keys)) as handler:
            await ask(handler, "create_database", database("fixed_for_ann"), user="ann")

    run(test())
    assert kerberized.caller("fixed_for_ann") == f"metastored@{kerberized.kdc.realm}"


@pytest.mark.apache
@pytest.mark.kerberos
@pytest.mark.slow
def test_hive_refuses_a_proxy_user_without_a_token(kerberized: Kerberized, monkeypatch: pytest.MonkeyPatch) -> None:
    kerberized.log_in("metastored", monkeypatch)

    async def test() -> None:
        async with connected(at(kerberized.uri, **kerberized.keys, remote_identity="caller")) as handler:
            assert "GSSAPI" in await failure_of(handler, "get_all_databases", user="ann")

    run(test())


# Tokens of metastored, without Java


@pytest.fixture(scope="module")
def issuing(kdc: Kdc) -> Iterator[RunningServer]:
    service = kdc.principal("hive/localhost")
    settings: dict[str, Any] = {
        "kerberos_principal": service,
        "kerberos_keytab": kdc.keytab(service),
        "admin_users": "etl",
    }
    with running_server(audit="on", **settings) as server:
        yield server


@pytest.fixture
def endpoint(issuing: RunningServer, kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The server, with the ticket of etl in this process."""
    monkeypatch.setenv("KRB5_CONFIG", str(kdc.config))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kdc.kinit(kdc.principal('etl'))}")
    keys = {"sasl_enabled": "true", "kerberos_principal": f"hive/_HOST@{kdc.realm}", "remote_identity": "delegation"}
    return at(f"thrift://localhost:{issuing.port}", **keys)


def issued(server: RunningServer) -> int:
    """The tokens that were issued so far."""
    return sum("method=get_delegation_token" in line for line in server.log.splitlines())


@pytest.mark.kerberos
@pytest.mark.slow
def test_a_caller_logs_in_with_a_token_that_is_requested_once(issuing: RunningServer, endpoint: Endpoint) -> None:
    async def test() -> None:
        async with connected(endpoint) as handler:
            before = issued(issuing)
            await asyncio.gather(*(ask(handler, "get_all_databases", user="etl") for _ in range(8)))
            assert issued(issuing) == before + 1
            # Who logged in with a token gets no further one: the connection is that of the token.
            text = await failure_of(handler, "get_delegation_token", "etl", "etl", user="etl")
            assert "was authenticated by a delegation token" in text

    run(test())


@pytest.mark.kerberos
@pytest.mark.slow
def test_a_token_that_was_cancelled_is_replaced_within_the_call(issuing: RunningServer, endpoint: Endpoint) -> None:
    async def test() -> None:
        async with connected(endpoint) as handler:
            assert "default" in await ask(handler, "get_all_databases", user="etl")
            async with connected(replace_identity(endpoint, "fixed")) as own:
                for identifier in await ask(own, "get_all_token_identifiers"):
                    assert await ask(own, "remove_token", identifier)
            handler._pool.drop_idle()
            before = issued(issuing)
            assert "default" in await ask(handler, "get_all_databases", user="etl")
            assert issued(issuing) == before + 1

    run(test())


def replace_identity(endpoint: Endpoint, identity: str) -> Endpoint:
    keys = dict(endpoint.properties) | {"metastored.remote.identity": identity}
    return Endpoint(endpoint.via, tuple(sorted(keys.items())), endpoint.timeout)


@pytest.mark.kerberos
@pytest.mark.slow
def test_a_caller_for_whom_no_token_is_issued_gets_the_reason(endpoint: Endpoint) -> None:
    async def test() -> None:
        async with connected(endpoint) as handler:
            text = await failure_of(handler, "get_all_databases", user="ann")
            assert "no delegation token for ann" in text and "is not allowed to impersonate ann" in text

    run(test())


# Definitions


@pytest.mark.parametrize(
    ("uri", "keys", "said"),
    [
        ("thrift://a:1", {}, "delegation tokens are requested with Kerberos"),
        (
            "thrift://a:1",
            {"sasl_enabled": "true", "remote_user": "u", "remote_password": "p"},
            "delegation tokens are requested with Kerberos",
        ),
        ("https://a:1/metastore", {}, "delegation tokens are not supported over HTTP"),
        ("thrift://a:1", {"remote_identity": "other"}, "must be one of caller, fixed, delegation"),
    ],
)
def test_definitions_that_cannot_be_delegated_are_refused(uri: str, keys: dict[str, str], said: str) -> None:
    from metastored.connectors.registry import Connectors

    via = "http" if uri.startswith("http") else "thrift"
    with pytest.raises(ConfigError, match=said):
        Connectors().connect(at(uri, via=via, **({"remote_identity": "delegation"} | keys)))
