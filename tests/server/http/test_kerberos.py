"""Kerberos over HTTP (SPNEGO): accepted clients, and the errors of refused clients."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer
from tests.server.conftest import Realm
from tests.server.http.support import ALL, API, Browser, browser, http_server, who
from tests.support.kdc import running_kdc

pytestmark = pytest.mark.kerberos


@pytest.fixture(scope="session")
def http_keytab(_realm: Realm) -> Path:
    return _realm.kdc.keytab(_realm.service, _realm.kdc.principal("HTTP/localhost"))


@pytest.fixture
def server(realm: Realm, http_keytab: Path, tmp_path: Path) -> Iterator[RunningServer]:
    with http_server(tmp_path, kerberos_principal=realm.service, kerberos_keytab=http_keytab, audit="on") as running:
        yield running


def negotiating(
    realm: Realm, service: str = "HTTP/localhost", cache: Path | None = None, at: str | None = None
) -> tuple[Any, dict[str, str]]:
    """A client's context and its first token, as a header. `at`: the service's realm, when it is another."""
    import gssapi

    context = gssapi.SecurityContext(
        name=gssapi.Name(f"{service}@{at or realm.kdc.realm}", gssapi.NameType.kerberos_principal),
        creds=gssapi.Credentials(usage="initiate", store={"ccache": f"FILE:{cache or realm.cache}"}),
        mech=gssapi.OID.from_int_seq("1.3.6.1.5.5.2"),
        flags=gssapi.RequirementFlag.mutual_authentication,
        usage="initiate",
    )
    return context, {"Authorization": "Negotiate " + base64.b64encode(context.step()).decode()}


@pytest.mark.parametrize("path", [API, "/metastore"])
def test_a_ticket_authenticates_the_client_and_the_server(server: RunningServer, realm: Realm, path: str) -> None:
    with browser(server) as client:
        context, credentials = negotiating(realm)
        response = client.post(ALL, path, credentials=credentials)
        assert response.status == 200
        context.step(base64.b64decode(response.headers["www-authenticate"].removeprefix("Negotiate ")))
        assert context.complete


def test_the_user_is_the_ticket_holder(server: RunningServer, realm: Realm) -> None:
    with browser(server) as client:
        body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"d"}}}}]'
        credentials = {**negotiating(realm)[1], "x-actor-username": "mallory"}
        assert client.post(body, "/metastore", credentials=credentials).json[2] == 2
    assert who(server, "d") == "alice"


def refused(client: Browser, credentials: dict[str, str]) -> str:
    response = client.post(ALL, credentials=credentials)
    assert response.status == 401
    assert response.headers["www-authenticate"].startswith("Negotiate, Basic ")
    return response.body.decode()


def test_a_ticket_that_is_no_good_is_refused_with_a_reason(server: RunningServer, realm: Realm) -> None:
    with browser(server) as client:
        _, again = negotiating(realm)
        assert client.post(ALL, credentials=again).status == 200
        assert "replay" in refused(client, again)
        assert "Kerberos" in refused(client, {"Authorization": "Negotiate bm9uc2Vuc2U="})
        assert "not base64" in refused(client, {"Authorization": "Negotiate ???"})
        assert "HTTP/localhost" in refused(client, negotiating(realm, "hive/localhost")[1])
        assert "no Authorization" in refused(client, {})
        assert client.post(ALL).status == 200  # A password still does.


def test_a_ticket_for_another_host_is_refused_with_the_right_principal(server: RunningServer, realm: Realm) -> None:
    realm.kdc.principal("HTTP/elsewhere")
    with browser(server) as client:
        reason = refused(client, negotiating(realm, "HTTP/elsewhere")[1])
        assert f"the ticket is not for HTTP/localhost@{realm.kdc.realm}" in reason
        assert reason.count("\n") == 1


def test_a_ticket_of_another_realm_is_refused_with_both_realms(
    server: RunningServer, realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_kdc("OTHER.TEST") as other, browser(server) as client:
        other.principal("HTTP/localhost")
        cache = other.kinit(other.principal("mallory"))
        monkeypatch.setenv("KRB5_CONFIG", str(other.config))
        _, credentials = negotiating(realm, cache=cache, at="OTHER.TEST")
        reason = refused(client, credentials)
        assert "HTTP/localhost@OTHER.TEST" in reason and f"HTTP/localhost@{realm.kdc.realm}" in reason


@pytest.mark.slow
def test_an_expired_ticket_and_a_wrong_clock_are_refused_with_advice(
    realm: Realm, http_keytab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that is sent late is to the server what a late ticket or a slow clock is."""
    monkeypatch.setenv("KRB5_CONFIG", str(realm.kdc.config_with(clockskew="1")))
    with (
        http_server(tmp_path, kerberos_principal=realm.service, kerberos_keytab=http_keytab) as server,
        browser(server) as client,
    ):
        short_lived = realm.kdc.kinit(realm.alice, lifetime="3s")
        expiring, old = negotiating(realm, cache=short_lived)[1], negotiating(realm)[1]
        time.sleep(5.5)
        assert "Ticket expired; kinit again, or log in from a keytab" in refused(client, expiring)
        assert "Clock skew too great; the clocks of" in refused(client, old)


def test_a_keytab_without_the_principal_of_http_leaves_the_rest_working(realm: Realm, tmp_path: Path) -> None:
    with http_server(tmp_path, kerberos_principal=realm.service, kerberos_keytab=realm.keytab) as server:
        assert "Kerberos is not offered over HTTP" in server.log
        with browser(server) as client:
            assert client.post(ALL).status == 200
            assert client.post(ALL, "/metastore", credentials={}).status == 401
