"""Delegation tokens of the client, against the server's half of DIGEST-MD5."""

from __future__ import annotations

import pytest

from metastored.client.digest import DigestMd5, read_token
from metastored.errors import AuthenticationError, RemoteProtocolError
from metastored.hive.delegation import Token
from metastored.server.auth.digest import Digest, DigestNegotiation
from metastored.server.auth.negotiation import Channel

TOKEN = Token(b"identifier", b"secret")
OPEN = Channel("127.0.0.1", encrypted=False)


def negotiated(qop: str = "auth", password: bytes = TOKEN.password) -> tuple[DigestMd5, DigestNegotiation]:
    """Both halves after a login with TOKEN at a server that has this password for it."""
    client, server = DigestMd5(TOKEN), Digest(lambda identifier: ("ann", password), (qop,)).start(OPEN)
    challenge, _ = server.step(client.first())
    response, last = client.step(challenge)
    assert last
    final, done = server.step(response)
    assert done
    client.finish(final)
    return client, server


@pytest.mark.parametrize("qop", ["auth", "auth-int"])
def test_a_token_logs_in_and_messages_pass_both_ways(qop: str) -> None:
    client, server = negotiated(qop)
    assert server.user == "ann"
    for message in (b"one", b"two"):
        assert server.unwrap(client.wrap(message)) == message
        assert client.unwrap(server.wrap(message)) == message


def test_a_message_that_was_changed_or_repeated_is_refused() -> None:
    client, server = negotiated("auth-int")
    sealed = server.wrap(b"hello")
    with pytest.raises(RemoteProtocolError, match="changed, repeated or dropped"):
        client.unwrap(b"jello" + sealed[5:])


def test_a_server_that_does_not_know_the_token_is_not_trusted() -> None:
    client = DigestMd5(TOKEN)
    client.step(b'realm="default",nonce="n",qop="auth"')
    with pytest.raises(AuthenticationError, match="does not know the delegation token"):
        client.finish(b"rspauth=00")


@pytest.mark.parametrize(
    ("challenge", "said"),
    [
        (b'realm="default",nonce="n",qop="auth-conf"', "with auth-conf only; auth and auth-int are supported"),
        (b"hello", "it has no nonce"),
    ],
)
def test_a_challenge_that_cannot_be_met_is_refused(challenge: bytes, said: str) -> None:
    with pytest.raises(AuthenticationError, match=said):
        DigestMd5(TOKEN).step(challenge)


def test_a_token_is_read_from_the_text_of_get_delegation_token() -> None:
    assert read_token(TOKEN.encode()) == TOKEN
    with pytest.raises(AuthenticationError, match="not a delegation token") as raised:
        read_token("not-a-token!")
    assert "not-a-token" not in str(raised.value)


def test_whoever_gave_the_token_is_told_when_the_server_refuses_it() -> None:
    told: list[str] = []
    DigestMd5(TOKEN, lambda: told.append("refused")).refused()
    assert told == ["refused"]
