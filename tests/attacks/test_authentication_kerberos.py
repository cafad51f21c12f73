"""Attacks on Kerberos at both ports: pieces of tickets, replays elsewhere, other services and other realms.

The rest is in tests/server/auth/test_kerberos.py (protections and their enforcement, changed and repeated messages,
tickets for other hosts and of other realms, expired tickets, replays at one server, `doAs` of users who are no proxies)
and in tests/server/http/test_kerberos.py (the same over HTTP).
"""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.server.auth.test_kerberos import guarded, peer
from tests.server.conftest import Realm
from tests.server.conftest import _realm as _realm
from tests.server.conftest import realm as realm
from tests.server.http.support import ALL, browser, http_server, who
from tests.server.http.test_kerberos import http_keytab as http_keytab
from tests.server.http.test_kerberos import negotiating
from tests.server.sasl import COMPLETE, OK, START, Refusal, SaslPeer
from tests.support.kdc import Kdc, running_kdc

pytestmark = [pytest.mark.kerberos, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(_realm: Realm, http_keytab: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """alice is an ordinary user, knox a proxy user."""
    settings: dict[str, Any] = {"kerberos_principal": _realm.service, "kerberos_keytab": http_keytab}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRB5_CONFIG", str(_realm.kdc.config))
        folder = tmp_path_factory.mktemp("kerberos")
        with http_server(folder, **settings, proxy_users="knox", audit="on") as running:
            yield running
            assert "Traceback" not in running.log


def thrift(server: RunningServer, realm: Realm, cache: Path | None = None, service: str | None = None) -> SaslPeer:
    return SaslPeer(server.port, cache or realm.cache, service or realm.service)


def cut(token: bytes) -> Iterator[bytes]:
    """A token in pieces, with something behind it, and with changed bits."""
    for length in (1, 2, 5, 10, 16, len(token) // 2, len(token) - 1):
        yield token[:length]
    for at in (0, 1, 5, 20, len(token) // 2, len(token) - 1):
        yield token[:at] + bytes((token[at] ^ 0x55,)) + token[at + 1 :]
    yield token + bytes(1000)
    yield token[::-1]
    yield b"NTLMSSP\0\1\0\0\0" + bytes(32)


def test_a_ticket_in_pieces_opens_neither_port(server: RunningServer, realm: Realm) -> None:
    pieces = []
    with thrift(server, realm) as client:
        pieces = list(cut(client.token()))
    for piece in pieces:
        with thrift(server, realm) as client:
            client.say(START, b"GSSAPI")
            client.say(OK, piece)
            with pytest.raises((Refusal, AssertionError)):
                client.hear(COMPLETE)
    with browser(server) as client_of_http:
        token = base64.b64decode(negotiating(realm)[1]["Authorization"].removeprefix("Negotiate "))
        for piece in cut(token):
            header = {"Authorization": "Negotiate " + base64.b64encode(piece).decode()}
            response = client_of_http.post(ALL, credentials=header)
            # Bytes behind a whole ticket are not part of it; then it is the ticket once, and no more.
            assert response.status == 401 or piece.startswith(token)
    with thrift(server, realm) as client:
        assert "default" in client.negotiate().call("get_all_databases")


def test_a_ticket_that_is_sent_in_two_messages_is_not_put_together(server: RunningServer, realm: Realm) -> None:
    with thrift(server, realm) as client:
        token = client.token()
        client.say(START, b"GSSAPI")
        client.say(OK, token[: len(token) // 2])
        with pytest.raises((Refusal, AssertionError, ConnectionError)):
            client.hear(OK)
            client.say(OK, token[len(token) // 2 :])
            client.hear(COMPLETE)


def test_a_client_that_skips_the_choice_of_protection_is_not_served(server: RunningServer, realm: Realm) -> None:
    """A ticket alone is half a login."""
    with thrift(server, realm) as client:
        client.begin(client.token())
        client.send_frame(client.message("create_database", Database(name="skipped")))
        client.socket.shutdown(socket.SHUT_WR)
        client.rest()
    for forged in (b"", b"\1\0\0\0", b"\1\0\0\0root"):
        with thrift(server, realm) as client:
            client.begin(client.token())
            client.say(COMPLETE, forged)
            with pytest.raises(Refusal):
                client.hear(COMPLETE)
    with thrift(server, realm) as client:
        assert "skipped" not in client.negotiate().call("get_all_databases")


def test_a_ticket_that_one_server_took_is_not_taken_by_another_of_the_machine(realm: Realm) -> None:
    with guarded(realm) as one, guarded(realm) as other, peer(one, realm) as client, peer(other, realm) as thief:
        token = client.token()
        client.negotiate(first=token)
        with pytest.raises(Refusal, match="replay"):
            thief.negotiate(first=token)


def test_a_ticket_for_one_port_does_not_open_the_other(server: RunningServer, realm: Realm) -> None:
    with thrift(server, realm, service=f"HTTP/localhost@{realm.kdc.realm}") as client, pytest.raises(Refusal):
        client.negotiate()
    with browser(server) as client_of_http:
        assert client_of_http.post(ALL, credentials=negotiating(realm, "hive/localhost")[1]).status == 401


def test_a_ticket_over_http_authenticates_one_request(server: RunningServer, realm: Realm) -> None:
    """The next one on the same connection needs its own."""
    with browser(server) as client:
        assert client.post(ALL, "/metastore", credentials=negotiating(realm)[1]).status == 200
        assert client.post(ALL, "/metastore", credentials={}).status == 401
        assert client.post(ALL, "/metastore", credentials={"x-actor-username": "alice"}).status == 401


@pytest.mark.parametrize(
    "name", ["alice\0", "bob\nroot", "bob\u2028", " ", "x" * 2000], ids=lambda name: repr(name)[:12]
)
def test_a_proxy_user_with_a_ticket_acts_for_nobody_whose_name_is_no_name(
    server: RunningServer, realm: Realm, name: str
) -> None:
    cache = realm.kdc.kinit(realm.kdc.principal("knox"))
    with thrift(server, realm, cache) as client, pytest.raises(Refusal, match=r"not a name of a user|at most 1024"):
        client.negotiate(user=name)


def test_only_a_proxy_user_acts_for_others_on_either_port(server: RunningServer, realm: Realm) -> None:
    made = '[1,"create_database",1,1,{{"1":{{"rec":{{"1":{{"str":"{}"}}}}}}}}]'.format
    knox = realm.kdc.kinit(realm.kdc.principal("knox"))
    with thrift(server, realm) as client:
        client.negotiate()
        client.call("set_ugi", "bob", ())
        client.call("create_database", Database(name="a"))
    with thrift(server, realm, knox) as client:
        client.negotiate(user="bob").call("create_database", Database(name="b"))
    with browser(server) as client_of_http:
        for database, cache in (("c", None), ("d", knox)):
            credentials = {**negotiating(realm, cache=cache)[1], "x-actor-username": "bob"}
            assert client_of_http.post(made(database), "/metastore", credentials=credentials).status == 200
    assert [who(server, each) for each in "abcd"] == ["alice", "bob", "alice", "bob"]


def trusted_by(home: Kdc, other: Kdc, folder: Path) -> Path:
    """Lets the users of `other` get tickets for services of `home`; a configuration that knows both."""
    both = f"krbtgt/{home.realm}@{other.realm}"
    for kdc in (home, other):
        kdc._admin(f"addprinc -pw shared {both}")
    section = other.config.read_text().partition("[realms]\n")[2]
    domains = (
        f"[domain_realm]\n  localhost = {home.realm}\n[capaths]\n  {other.realm} = {{\n    {home.realm} = .\n  }}\n"
    )
    file = folder / "krb5-both.conf"
    file.write_text(home.config.read_text() + section + domains)
    return file


def test_a_user_of_a_realm_that_the_kdc_trusts_is_not_the_user_of_the_same_name_here(
    realm: Realm, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """alice@OTHER.TEST has a right ticket for the service, and is not alice."""
    with running_kdc("OTHER.TEST") as other:
        cache = other.kinit(other.principal("alice"))
        monkeypatch.setenv("KRB5_CONFIG", str(trusted_by(realm.kdc, other, tmp_path)))
        with thrift(server, realm, cache) as client:
            with pytest.raises(
                Refusal, match=r"alice@OTHER\.TEST is of the realm OTHER\.TEST; this server takes users"
            ):
                client.negotiate()
        with browser(server) as client_of_http:
            response = client_of_http.post(ALL, credentials=negotiating(realm, cache=cache)[1])
            assert response.status == 401 and b"OTHER.TEST" in response.body
