"""Attacks on logins: SASL messages, `doAs`, delegation tokens and client certificates. Nobody becomes another user.

Kerberos is in test_authentication_kerberos.py, and web tokens are in test_authentication_jwt.py. The rest is in
tests/server/auth/test_identity.py (passwords, guesses, certificates of another CA, `doAs` on the Thrift port),
tests/server/auth/test_negotiation.py (order of SASL messages, stalled logins), tests/server/auth/test_token_store.py
(forged rows, tokens by tokens), tests/service/security/test_tokens.py (renewal, cancelling and expiry by the clock),
tests/server/test_identity_leaks.py (`set_ugi` and `x-actor-username` in any order) and tests/server/http/test_http.py
(malformed credentials).
"""

from __future__ import annotations

import base64
import datetime
import hmac
import re
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from metastored.errors import Error, RemoteProtocolError
from metastored.hive.delegation import Identifier, StoredToken, Token, to_text
from metastored.server.auth.digest import Digest, DigestNegotiation
from metastored.server.auth.negotiation import Channel
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.server.http.support import ALL, API, Browser, basic, browser, http_server, trusting, user, who
from tests.server.sasl import COMPLETE, OK, START, Refusal, Sasl
from tests.server.support import Peer, certificate
from tests.server.tokens import digest
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.slow

PASSWORDS = {"maja": "honey", "knox": "gate", "yarn": "queue", "hive": "comb"}
LATE = 2**41
"""Milliseconds: a time in the year 2039."""


class Two(NamedTuple):
    """Two servers on one database. knox is a proxy user, hive a service."""

    one: RunningServer
    other: RunningServer


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("servers")
    chain, key = certificate(folder)
    settings: dict[str, Any] = {"tls_certificate": chain, "tls_key": key, "password_login": "on", "audit": "on"}
    settings |= {"proxy_users": "knox", "service_users": "hive", "http_port": 0}
    with ExitStack() as stack:
        data: Path | str = folder / "data"
        if request.param == "postgresql":
            data = stack.enter_context(shared_postgres().database())
        settings |= {"data": data} if isinstance(data, Path) else {"database_url": data}
        for name, password in PASSWORDS.items():
            user("add", name, data=data, password=password)
        one, other = (stack.enter_context(running_server(**settings)) for _ in range(2))
        yield Two(one, other)
        assert "Traceback" not in one.log + other.log


@pytest.fixture
def server(servers: Two) -> RunningServer:
    return servers.one


def logged_in(server: RunningServer, name: str, actor: str = "") -> Sasl:
    peer = Sasl(server.port, tls=trusting())
    try:
        return peer.plain(name, PASSWORDS[name], actor)
    except Refusal:
        peer.socket.close()
        raise


def serves(server: RunningServer) -> bool:
    with logged_in(server, "maja") as peer:
        return "default" in peer.call("get_all_databases")


# SASL messages


@pytest.mark.parametrize(
    "mechanism",
    [b"ANONYMOUS", b"EXTERNAL", b"CRAM-MD5", b"SCRAM-SHA-256", b"plain", b"PLAIN ", b"PLAIN\0", b"", b"\xff" * 9],
    ids=repr,
)
def test_a_weaker_or_unknown_mechanism_is_not_begun(server: RunningServer, mechanism: bytes) -> None:
    with Sasl(server.port, tls=trusting()) as peer:
        peer.say(START, mechanism)
        with pytest.raises((Refusal, ConnectionError), match=r"is not offered here; offered are PLAIN|hung up|reset"):
            peer.say(COMPLETE, b"\0maja\0honey")
            peer.hear(COMPLETE)


LOGIN = b"".join(
    struct.pack(">BI", status, len(payload)) + payload
    for status, payload in ((START, b"PLAIN"), (COMPLETE, b"\0maja\0honey"))
)


def test_a_login_that_comes_byte_by_byte_is_one_login(server: RunningServer) -> None:
    with Sasl(server.port, tls=trusting()) as peer:
        for at in range(len(LOGIN)):
            peer.socket.sendall(LOGIN[at : at + 1])
        assert peer.hear(COMPLETE) == b""
        assert "default" in peer.call("get_all_databases")


def test_a_login_that_ends_at_any_byte_is_none(server: RunningServer) -> None:
    for at in range(len(LOGIN)):
        with Sasl(server.port) as peer:  # Without TLS, so that one side can be closed: PLAIN is refused in any case.
            peer.socket.sendall(LOGIN[:at])
            peer.socket.shutdown(socket.SHUT_WR)
            assert b"\5" not in peer.rest()[:1], "it was complete"
    assert serves(server)


@pytest.mark.parametrize("password", [b"wrong", b"", b"honey\0", b"\0honey", b"honey\0maja\0honey"], ids=repr)
def test_a_call_behind_a_failed_login_is_not_served(server: RunningServer, password: bytes) -> None:
    login = b"\0maja\0" + password
    with Sasl(server.port, tls=trusting()) as peer:
        call = peer.message("create_database", Database(name="behind"))
        framed = struct.pack(">I", len(call)) + call
        start = struct.pack(">BI", START, 5) + b"PLAIN"
        peer.socket.sendall(start + struct.pack(">BI", COMPLETE, len(login)) + login + framed)
        with pytest.raises(Refusal):
            peer.hear(COMPLETE)
        assert peer.rest() == b""
    with logged_in(server, "maja") as peer:
        assert "behind" not in peer.call("get_all_databases")


def test_a_second_login_on_a_connection_makes_no_other_user(server: RunningServer) -> None:
    """What follows a login is frames of calls; a login in one is not a call."""
    with logged_in(server, "maja") as peer:
        peer.send_frame(LOGIN.replace(b"maja\0honey", b"knox\0gate\0"))
        assert b"\5\0\0\0\0" not in peer.rest()
    assert serves(server)


# Acting for others


@pytest.mark.parametrize("name", ["flip\nroot", "\x1b[2J", "flip\u2028x", "flip\u202e", " flip", "x" * 1025], ids=repr)
def test_a_proxy_user_acts_for_nobody_whose_name_is_no_name(server: RunningServer, name: str) -> None:
    with pytest.raises(Refusal, match=r"which is not a name of a user|a name of a user has at most 1024"):
        logged_in(server, "knox", name)
    if name.startswith("flip"):
        with browser(server) as client:
            headers = {**basic("knox", "gate"), "x-actor-username": name.encode().decode("latin-1").replace("\n", "\t")}
            assert client.post(ALL, "/metastore", credentials=headers).status == 400


def test_a_user_who_is_no_proxy_acts_for_nobody_on_either_port(server: RunningServer) -> None:
    with pytest.raises(Refusal, match="maja may not act as 'knox'"):
        logged_in(server, "maja", "knox")
    with logged_in(server, "maja") as peer:
        peer.call("set_ugi", "knox", ("wheel",))
        peer.call("create_database", Database(name="by_ugi"))
    with browser(server) as client:
        for path, name in ((API, None), ("/metastore", "by_header")):
            body = ALL if name is None else f'[1,"create_database",1,1,{{"1":{{"rec":{{"1":{{"str":"{name}"}}}}}}}}]'
            credentials = {**basic("maja", "honey"), "x-actor-username": "knox"}
            assert client.post(body, path, credentials=credentials).status == 200
    assert (who(server, "by_ugi"), who(server, "by_header")) == ("maja", "maja")


@pytest.mark.parametrize("header", ["Authorization", "x-actor-username"])
@pytest.mark.parametrize("path", [API, "/metastore"])
def test_a_header_that_comes_twice_is_refused(server: RunningServer, path: str, header: str) -> None:
    """A gateway may have looked at the other one."""
    knox = basic("knox", "gate")["Authorization"]
    values = (knox, basic("maja", "honey")["Authorization"]) if header == "Authorization" else ("flip", "root")
    with browser(server) as client:
        connection = client.connection
        connection.putrequest("POST", path)
        for name, value in (("Content-Type", "application/vnd.apache.thrift.json"), ("Content-Length", str(len(ALL)))):
            connection.putheader(name, value)
        if header != "Authorization":
            connection.putheader("Authorization", knox)
        for value in values:
            connection.putheader(header, value)
        connection.endheaders(ALL)
        response = connection.getresponse()
        assert (response.status, b"twice" in response.read()) == (400, True)


# Delegation tokens


def issued(server: RunningServer, owner: str = "maja", renewer: str = "yarn") -> str:
    with logged_in(server, owner) as peer:
        text: str = peer.call("get_delegation_token", owner, renewer)
        return text


def by_token(server: RunningServer, token: Token, change: Any = None) -> Sasl:
    """Logs in with a token; `change` may change the response."""
    peer = Sasl(server.port)
    try:
        peer.say(START, b"DIGEST-MD5")
        peer.say(OK, b"")
        response = digest(peer.hear(OK), token, "auth")
        peer.say(OK, change(response) if change else response)
        peer.hear(COMPLETE)
    except BaseException:
        peer.socket.close()
        raise
    return peer


FORGED: dict[str, Any] = {
    "its number": lambda i: i._replace(number=i.number + 1),
    "its owner": lambda i: i._replace(owner="hive"),
    "its renewer": lambda i: i._replace(renewer="maja"),
    "its real user": lambda i: i._replace(real_user="knox"),
    "its end": lambda i: i._replace(max_date=LATE),
    "its key": lambda i: i._replace(key_id=i.key_id + 1),
    "a number below zero": lambda i: i._replace(number=-i.number),
    "the largest numbers": lambda i: i._replace(number=2**63 - 1, key_id=2**63 - 1, max_date=2**63 - 1),
    "an owner with a line break": lambda i: i._replace(owner="maja\n2039-01-01 00:00:00,000 INFO [1] user=root"),
    "an owner that is not a text": lambda i: i._replace(owner="\udcff\udc80"),
    "a long owner": lambda i: i._replace(owner="m" * 150_000),
}


@pytest.mark.parametrize("what", FORGED)
def test_an_identifier_that_was_changed_does_not_log_in(server: RunningServer, what: str) -> None:
    token = Token.decode(issued(server))
    forged = FORGED[what](Identifier.decode(token.identifier)).encode()
    with pytest.raises(Refusal, match=r"does not exist|at most 16384 are accepted"):
        by_token(server, token._replace(identifier=forged))
    assert "\n2039-01-01" not in server.log


def test_an_identifier_cut_short_or_made_longer_does_not_log_in(server: RunningServer) -> None:
    token = Token.decode(issued(server))
    for length in range(1, len(token.identifier)):
        with pytest.raises(Refusal):
            by_token(server, token._replace(identifier=token.identifier[:length]))
    with pytest.raises(Refusal, match="does not exist"):
        by_token(server, token._replace(identifier=token.identifier + b"\0"))


CHANGED: dict[str, tuple[bytes, bytes]] = {
    "no nonce of the server": (rb'nonce="[^"]*",nc', b'nonce="bWluZQ==",nc'),
    "a later count": (b"nc=00000001", b"nc=00000002"),
    "another realm": (b'realm="default"', b'realm="other"'),
    "encryption that is not offered": (b"qop=auth$", b"qop=auth-conf"),
    "another user to act as": (b"^", b'authzid="a25veA==",'),
    "no client nonce": (rb'cnonce="cc",', b""),
    "no name": (rb'username="[^"]*",', b""),
    "a name twice": (b"^", b'username="a25veA==",'),
    "a response to another question": (rb"response=[0-9a-f]+", b"response=" + b"0" * 32),
    "an empty response": (rb"response=[0-9a-f]+", b'response=""'),
    "an open quote": (b"$", b',x="'),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_response_that_was_changed_does_not_log_in(server: RunningServer, what: str) -> None:
    pattern, replacement = CHANGED[what]
    token = Token.decode(issued(server))

    def change(response: bytes) -> bytes:
        changed = re.sub(pattern, replacement, response, count=1)
        assert changed != response
        return changed

    with pytest.raises(Refusal):
        by_token(server, token, change)
    by_token(server, token).socket.close()


def test_a_response_of_another_connection_does_not_log_in(servers: Two) -> None:
    """Neither at the same server nor at the other one."""
    token = Token.decode(issued(servers.one))
    heard: list[bytes] = []

    def overhear(response: bytes) -> bytes:
        heard.append(response)
        return response

    by_token(servers.one, token, overhear).socket.close()
    for server in servers:
        with pytest.raises(Refusal, match="the response is not to this server's challenge"):
            by_token(server, token, lambda response: heard[0])


def test_only_the_renewer_renews_a_token_at_any_server(servers: Two) -> None:
    text = issued(servers.one, "maja", "yarn")
    for server in servers:
        for name in ("maja", "hive", "knox"):
            with logged_in(server, name) as peer, pytest.raises(Error, match="with non-matching renewer yarn"):
                peer.call("renew_delegation_token", text)
        with by_token(server, Token.decode(text)) as job, pytest.raises(Error, match="non-matching renewer"):
            job.call("renew_delegation_token", text)
        with logged_in(server, "yarn") as peer:
            assert peer.call("renew_delegation_token", text) > 0


def test_knowing_an_identifier_is_not_enough_to_cancel_or_renew_its_token(servers: Two) -> None:
    """Identifiers are in logs and listings; passwords are not."""
    token = Token.decode(issued(servers.one))
    for password in (b"", token.password[:-1], token.password + b"\0", bytes(20)):
        guessed = token._replace(password=password).encode()
        with logged_in(servers.other, "yarn") as peer:
            for method in ("renew_delegation_token", "cancel_delegation_token"):
                with pytest.raises(Error, match="with wrong password"):
                    peer.call(method, guessed)
    by_token(servers.other, token).socket.close()


def test_a_token_cancelled_at_one_server_is_refused_by_the_other(servers: Two) -> None:
    text = issued(servers.one)
    by_token(servers.other, Token.decode(text)).socket.close()
    with logged_in(servers.one, "maja") as peer:
        peer.call("cancel_delegation_token", text)
    with pytest.raises(Refusal, match="does not exist"):
        by_token(servers.other, Token.decode(text))
    with logged_in(servers.other, "yarn") as peer, pytest.raises(Error, match="token does not exist"):
        peer.call("renew_delegation_token", text)


@pytest.mark.parametrize(
    ("max_date", "renew_date"),
    [(1, LATE), (LATE, 1), (-1, LATE), (LATE, -(2**63))],
    ids=["max", "renew", "-1", "-2^63"],
)
def test_a_token_past_its_end_or_its_renewal_does_not_log_in(servers: Two, max_date: int, renew_date: int) -> None:
    """Whatever the other of the two dates is; a service stored it, as a HiveServer2 does."""
    token = Token(Identifier("maja", "yarn", "maja", 0, max_date, 4711, 1).encode(), b"a password")
    with logged_in(servers.one, "hive") as peer:
        peer.call("add_token", to_text(token.identifier), StoredToken(token.password, renew_date).encode())
        try:
            for server in servers:
                with pytest.raises(Refusal, match="token has expired"):
                    by_token(server, token)
        finally:
            peer.call("remove_token", to_text(token.identifier))


def test_a_token_past_its_end_is_not_renewed(server: RunningServer) -> None:
    token = Token(Identifier("maja", "yarn", "maja", 0, 1, 4712, 1).encode(), b"a password")
    with logged_in(server, "hive") as peer:
        peer.call("add_token", to_text(token.identifier), StoredToken(token.password, LATE).encode())
        with logged_in(server, "yarn") as renewer, pytest.raises(Error, match="tried to renew an expired token"):
            renewer.call("renew_delegation_token", token.encode())
        peer.call("remove_token", to_text(token.identifier))


@pytest.mark.parametrize("stored", ["", "!", "AAAA", to_text(b"\x7f" + b"x" * 20)])
def test_a_stored_token_that_is_no_token_logs_nobody_in(server: RunningServer, stored: str) -> None:
    identifier = Identifier("maja", "yarn", "maja", 0, LATE, 4713, 1).encode()
    with logged_in(server, "hive") as peer:
        peer.call("add_token", to_text(identifier), stored)
        with pytest.raises(Refusal, match="does not exist"):
            by_token(server, Token(identifier, b""))
        peer.call("remove_token", to_text(identifier))


def test_the_token_of_a_proxy_user_acts_for_nobody_else(server: RunningServer) -> None:
    """A job that holds it is the proxy user, without the right to be others."""
    token = Token.decode(issued(server, "knox", "yarn"))
    with by_token(server, token) as job:
        job.call("set_ugi", "maja", ())
        job.call("create_database", Database(name="by_token"))
        with pytest.raises(Error, match="was authenticated by a delegation token"):
            job.call("get_delegation_token", "maja", "yarn")
    assert who(server, "by_token") == "knox"


@pytest.mark.parametrize("owner", ["hive", "", "@", "/maja", "maja\0", "MAJA", "knox/maja@R"], ids=repr)
def test_a_token_is_issued_for_oneself_only(server: RunningServer, owner: str) -> None:
    with logged_in(server, "maja") as peer, pytest.raises(Error, match=r"is not allowed to impersonate|NUL|maja"):
        peer.call("get_delegation_token", owner, "yarn")


def test_a_protected_message_that_is_repeated_dropped_or_swapped_does_not_pass() -> None:
    token = Token(b"id", b"secret")

    def established() -> DigestNegotiation:
        server = Digest(lambda identifier: ("maja", token.password)).start(Channel("127.0.0.1", False))
        challenge, _ = server.step(b"")
        server.step(digest(challenge, token, "auth-int"))
        return server

    def sealed(server: DigestNegotiation, number: int, message: bytes) -> bytes:
        count = struct.pack(">I", number)
        return message + hmac.digest(server._keys[1], count + message, "md5")[:10] + b"\0\1" + count

    server = established()
    assert server.unwrap(sealed(server, 0, b"one")) == b"one"
    for bad in ([(0, b"one")], [(2, b"three")], [(2**32 - 1, b"last")]):
        server = established()
        server.unwrap(sealed(server, 0, b"one"))
        with pytest.raises(RemoteProtocolError, match="changed, repeated or dropped"):
            server.unwrap(sealed(server, *bad[0]))
    server = established()
    other = established()
    with pytest.raises(RemoteProtocolError, match="changed, repeated or dropped"):
        server.unwrap(sealed(other, 0, b"of another connection"))
    for short in (b"", b"\0" * 15, b"\0" * 16):
        with pytest.raises(RemoteProtocolError):
            established().unwrap(short)


# Client certificates

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
Signed = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def signed(
    *names: str,
    ca: Signed | None = None,
    days: tuple[int, int] = (-1, 1),
    usage: x509.ObjectIdentifier | None = None,
    sans: tuple[x509.GeneralName, ...] = (),
    is_ca: bool = False,
) -> Signed:
    """A certificate with these common names, signed by `ca` or by itself, valid in these days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name) for name in names])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if ca is None else ca[0].subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + days[0] * DAY)
        .not_valid_after(NOW + days[1] * DAY)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if sans:
        builder = builder.add_extension(x509.SubjectAlternativeName(sans), critical=False)
    return builder.sign(key if ca is None else ca[1], hashes.SHA256()), key


def with_issuer(name: str, issuer: Signed) -> tuple[Signed, Signed]:
    return signed(name, ca=issuer), issuer


def showing(folder: Path, shown: Signed, *chain: Signed) -> ssl.SSLContext:
    """A client that shows this certificate, with the others of its chain."""
    pem = serialization.Encoding.PEM
    private = shown[1].private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "client.pem"
    file.write_bytes(b"".join(each.public_bytes(pem) for each, _ in (shown, *chain)) + private)
    context = trusting()
    context.load_cert_chain(file)
    return context


class Guarded(NamedTuple):
    """A server that requires certificates of a CA."""

    server: RunningServer
    ca: Signed


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    chain, key = certificate(folder)
    ca = signed("ca", is_ca=True)
    (folder / "ca.pem").write_bytes(ca[0].public_bytes(serialization.Encoding.PEM))
    tls = {"tls_certificate": chain, "tls_key": key, "tls_client_ca": folder / "ca.pem"}
    with http_server(folder, **tls, audit="on") as running:
        yield Guarded(running, ca)
        assert "Traceback" not in running.log


def opens(server: RunningServer, context: ssl.SSLContext) -> tuple[bool, bool]:
    """Whether a client with this certificate is served on the Thrift port, and on the HTTP port."""
    assert server.http_port is not None
    thrift = http = False
    try:
        with Peer(server.port, tls=context) as peer:
            thrift = "default" in peer.call("get_all_databases")
    except (OSError, Error):
        pass
    try:
        with Browser(server.http_port, context) as client:
            http = client.post(ALL, "/metastore", credentials={}).status == 200
    except OSError:
        pass
    return thrift, http


def test_a_certificate_for_clients_opens_both_ports(guarded: Guarded, tmp_path: Path) -> None:
    for usage in (None, ExtendedKeyUsageOID.CLIENT_AUTH):
        right = signed("alice", ca=guarded.ca, usage=usage)
        assert opens(guarded.server, showing(tmp_path, right)) == (True, True)


REFUSED: dict[str, Any] = {
    "expired": lambda ca: (signed("alice", ca=ca, days=(-3, -1)),),
    "not yet valid": lambda ca: (signed("alice", ca=ca, days=(1, 3)),),
    "of another CA": lambda ca: (signed("alice", ca=signed("other", is_ca=True)),),
    "of another CA with the same name": lambda ca: (signed("alice", ca=signed("ca", is_ca=True)),),
    "of another CA that it brings along": lambda ca: with_issuer("alice", signed("ca", is_ca=True)),
    "self-signed with a known name": lambda ca: (signed("alice"),),
    "self-signed with the name of the CA": lambda ca: (signed("ca", is_ca=True),),
    "for servers only": lambda ca: (signed("alice", ca=ca, usage=ExtendedKeyUsageOID.SERVER_AUTH),),
    "for signing code only": lambda ca: (signed("alice", ca=ca, usage=ExtendedKeyUsageOID.CODE_SIGNING),),
    "signed by a user": lambda ca: with_issuer("alice", signed("bob", ca=ca)),
    "with a NUL in its name": lambda ca: (signed("alice\0.example", ca=ca),),
    "with a line break in its name": lambda ca: (signed("alice\nroot", ca=ca),),
    "with a space after its name": lambda ca: (signed("alice ", ca=ca),),
    "with two names": lambda ca: (signed("alice", "root", ca=ca),),
    "with the same name twice": lambda ca: (signed("alice", "alice", ca=ca),),
    "with another kind of name only": lambda ca: (signed(ca=ca, sans=(x509.DNSName("alice"),)),),
    "with an address of mail only": lambda ca: (signed(ca=ca, sans=(x509.RFC822Name("alice@example.test"),)),),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_certificate_that_is_not_right_opens_neither_port(guarded: Guarded, tmp_path: Path, what: str) -> None:
    assert opens(guarded.server, showing(tmp_path, *REFUSED[what](guarded.ca))) == (False, False)


def test_other_names_of_a_certificate_are_nobodys_user(guarded: Guarded, tmp_path: Path) -> None:
    """The common name is the user, whatever else the certificate says."""
    shown = signed("alice", ca=guarded.ca, sans=(x509.DNSName("root"), x509.RFC822Name("root@example.test")))
    with Peer(guarded.server.port, tls=showing(tmp_path, shown)) as peer:
        peer.call("set_ugi", "root", ())
        peer.call("create_database", Database(name="by_certificate"))
    with browser(guarded.server, showing(tmp_path, shown)) as client:
        body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"by_browser"}}}}]'
        assert client.post(body, "/metastore", credentials={"x-actor-username": "root"}).status == 200
    assert (who(guarded.server, "by_certificate"), who(guarded.server, "by_browser")) == ("alice", "alice")


def test_a_wrong_password_is_not_made_good_by_a_certificate(guarded: Guarded, tmp_path: Path) -> None:
    with browser(guarded.server, showing(tmp_path, signed("alice", ca=guarded.ca))) as client:
        for credentials in (basic("alice", "guess"), {"Authorization": "Bearer " + base64.b64encode(b"x").decode()}):
            assert client.post(ALL, "/metastore", credentials=credentials).status == 401


def test_a_session_that_was_begun_without_a_certificate_is_not_continued_with_rights(guarded: Guarded) -> None:
    """TLS sessions are resumed: the one of a client without a certificate stays without one."""
    assert guarded.server.http_port is not None
    context = trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    for _ in range(2):
        with Browser(guarded.server.http_port, context) as client:
            assert client.post(ALL, "/metastore", credentials={}).status == 401
