"""The store of tokens and keys on a real server without authorization: for admins and services alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.errors import Error
from metastored.hive.delegation import Identifier, StoredToken, Token, to_text
from metastored.testing import RunningServer
from tests.server.http.support import http_server, trusting, user
from tests.server.sasl import COMPLETE, OK, START, Refusal, Sasl
from tests.server.support import Peer, certificate
from tests.server.tokens import digest
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

PASSWORD = "a password for all of them"
DENIED = "Permission denied"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Three users who log in with passwords: one of admin_users, one of service_users, and mallory."""
    chain, key = certificate(tmp_path)
    settings = {"tls_certificate": chain, "tls_key": key, "password_login": "on"}
    with http_server(tmp_path, **settings, admin_users="ada", service_users="hive") as running:
        for name in ("ada", "hive", "mallory"):
            user("add", name, data=tmp_path / "data", password=PASSWORD)
        yield running


def logged_in(server: RunningServer, name: str) -> Sasl:
    return Sasl(server.port, tls=trusting()).plain(name, PASSWORD)


def by_token(server: RunningServer, token: Token) -> Sasl:
    peer = Sasl(server.port, tls=trusting())
    try:
        peer.say(START, b"DIGEST-MD5")
        peer.say(OK, b"")
        peer.say(OK, digest(peer.hear(OK), token, "auth"))
        peer.hear(COMPLETE)
    except Refusal:
        peer.socket.close()
        raise
    return peer


def forged() -> tuple[Token, tuple[str, str]]:
    """A token of ada's that mallory made, and what add_token would have to keep for it to be taken."""
    late = 2**41
    identifier = Identifier("ada", "ada", "ada", 0, late, 4711, 1).encode()
    token = Token(identifier, b"mallory's password")
    return token, (to_text(identifier), StoredToken(token.password, late).encode())


def test_a_forged_token_does_not_authenticate(server: RunningServer) -> None:
    token, kept = forged()
    with logged_in(server, "mallory") as peer, pytest.raises(Error, match=f"{DENIED}: add_token is for"):
        peer.call("add_token", *kept)
    with pytest.raises(Refusal, match="does not exist"):
        by_token(server, token)


def test_admins_and_services_keep_tokens_here_and_others_read_none(server: RunningServer) -> None:
    for name in ("ada", "hive"):
        with logged_in(server, name) as peer:
            peer.call("add_token", f"of {name}", "secret")
            assert peer.call("get_token", f"of {name}") == "secret"
    with logged_in(server, "mallory") as peer:
        for method, *args in (("get_token", "of ada"), ("get_master_keys",), ("get_all_token_identifiers",)):
            with pytest.raises(Error, match=DENIED):
                peer.call(method, *args)


def test_a_job_that_logs_in_with_a_token_gets_no_further_one(server: RunningServer) -> None:
    with logged_in(server, "ada") as peer:
        token = Token.decode(peer.call("get_delegation_token", "ada", "ada"))
    with by_token(server, token) as peer:
        assert peer.call("get_all_databases") == ("default",)
        with pytest.raises(Error, match="was authenticated by a delegation token"):
            peer.call("get_delegation_token", "ada", "ada")
        with pytest.raises(Error, match="was authenticated by a delegation token"):
            peer.call("get_master_keys")


def test_without_authentication_the_token_store_is_refused(tmp_path: Path) -> None:
    """A claimed user name is not enough."""
    with running_server(data=tmp_path, admin_users="ada") as server, Peer(server.port) as peer:
        peer.call("set_ugi", "ada", ())
        for method, *args in (("add_token", "i", "t"), ("get_master_keys",)):
            with pytest.raises(Error, match="this connection is not authenticated"):
                peer.call(method, *args)
