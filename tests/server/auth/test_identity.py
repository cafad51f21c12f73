"""Authentication: passwords, certificates, delegation tokens and proxy users, on both ports."""

from __future__ import annotations

import datetime
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from metastored.config import load
from metastored.errors import AuthenticationError, ConfigError
from metastored.hive.delegation import Token
from metastored.server.auth import passwords as passwords_module
from metastored.server.auth.attempts import (
    FAILURE_WINDOW,
    LONGEST_WAIT,
    MAX_FAILURES,
    MAX_FAILURES_OF_ADDRESS,
    PAUSE,
    Attempts,
    TooManyAttempts,
)
from metastored.server.auth.digest import Digest
from metastored.server.auth.negotiation import Channel
from metastored.server.auth.passwords import CACHED_FOR, Passwords, checked_name, hashed
from metastored.server.tls import common_name
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.security import users
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database as DatabaseStruct
from tests.server.http.support import (
    ALL,
    API,
    PASSWORD,
    USER,
    Browser,
    any_certificate,
    basic,
    browser,
    http_server,
    user,
    who,
)
from tests.server.sasl import COMPLETE, OK, START, Refusal, Sasl
from tests.server.support import Peer, certificate
from tests.server.tokens import digest
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.slow

OPEN = Channel("127.0.0.1", False)
CLOSED = Channel("127.0.0.1", True)


# Passwords


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = open_database(None, tmp_path / "data")
    ensure_schema(found)
    found.run(lambda tx: users.insert(tx, USER, hashed(PASSWORD), 0))
    yield found
    found.close()


def test_a_right_password_is_cached_for_a_minute_and_no_longer(database: Database) -> None:
    now = [0.0]
    passwords = Passwords(database, lambda: now[0])
    assert not passwords.is_cached(USER, PASSWORD)
    passwords.check(USER, PASSWORD)
    assert passwords.is_cached(USER, PASSWORD)
    assert not passwords.is_cached(USER, PASSWORD + "x")
    now[0] = CACHED_FOR + 1
    assert not passwords.is_cached(USER, PASSWORD)


@pytest.mark.parametrize("change", ["passwd", "remove"])
def test_a_changed_or_removed_password_is_evicted_at_once(database: Database, change: str) -> None:
    passwords = Passwords(database)
    passwords.check(USER, PASSWORD)
    if change == "passwd":
        database.run(lambda tx: users.update(tx, USER, hashed("wax"), 1))
        passwords.check(USER, "wax")
    else:
        database.run(lambda tx: users.delete(tx, USER))
    assert not passwords.is_cached(USER, PASSWORD)
    with pytest.raises(AuthenticationError, match="the user or the password is wrong"):
        passwords.check(USER, PASSWORD)


@pytest.mark.parametrize(("name", "password"), [(USER, "wrong"), ("nobody", PASSWORD), (USER, ""), (USER, "x" * 5000)])
def test_a_wrong_user_gets_the_same_error_as_a_wrong_password(database: Database, name: str, password: str) -> None:
    with pytest.raises(AuthenticationError, match=r"^the user or the password is wrong$"):
        Passwords(database).check(name, password)


def wrong() -> str:
    raise AuthenticationError("wrong")


def guess(attempts: Attempts, user: str, address: str, times: int = MAX_FAILURES) -> None:
    for _ in range(times):
        with pytest.raises(AuthenticationError):
            attempts.counted(user, address, wrong)


def test_a_user_who_failed_often_at_an_address_is_slowed_there_and_nowhere_else() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    guess(attempts, "maja", "10.0.0.1")
    assert [attempts.wait("maja", "10.0.0.1") for _ in range(3)] == [0.0, PAUSE, 2 * PAUSE]
    assert attempts.wait("maja", "10.0.0.2") == attempts.wait("willy", "10.0.0.1") == 0.0
    with pytest.raises(
        TooManyAttempts, match=r"^too many failed attempts of this user from 10\.0\.0\.1: try again in 61 s$"
    ):
        attempts.counted("maja", "10.0.0.1", wrong)
    now[0] = FAILURE_WINDOW
    assert [attempts.wait("maja", "10.0.0.1") for _ in range(3)] == [0.0] * 3


def test_a_right_password_opens_after_any_number_of_failures_and_ends_them() -> None:
    attempts = Attempts(lambda: 0.0)
    guess(attempts, "maja", "10.0.0.1", 3 * MAX_FAILURES)
    assert attempts.counted("maja", "10.0.0.1", lambda: "in") == "in"
    with pytest.raises(AuthenticationError, match=r"^wrong$"):
        attempts.counted("maja", "10.0.0.1", wrong)


def test_an_address_that_fails_with_many_users_is_slowed_for_all_of_them() -> None:
    attempts = Attempts(lambda: 0.0)
    for number in range(MAX_FAILURES_OF_ADDRESS):
        guess(attempts, f"user{number}", "10.0.0.1", 1)
    assert [attempts.wait("maja", "10.0.0.1") for _ in range(2)] == [0.0, PAUSE]
    assert attempts.counted("maja", "10.0.0.1", lambda: "in") == "in"
    with pytest.raises(TooManyAttempts):
        attempts.counted("willy", "10.0.0.1", wrong)


def test_one_user_with_a_wrong_password_does_not_slow_the_others_of_its_address() -> None:
    attempts = Attempts(lambda: 0.0)
    guess(attempts, "a job in a loop", "10.0.0.1", 5 * MAX_FAILURES_OF_ADDRESS)
    assert [attempts.wait("maja", "10.0.0.1") for _ in range(2)] == [0.0, 0.0]


def test_attempts_that_would_wait_too_long_are_refused_and_not_kept() -> None:
    attempts = Attempts(lambda: 0.0)
    guess(attempts, "maja", "10.0.0.1")
    for _ in range(int(LONGEST_WAIT / PAUSE) + 1):
        attempts.wait("maja", "10.0.0.1")
    with pytest.raises(TooManyAttempts):
        attempts.wait("maja", "10.0.0.1")


def test_a_password_that_was_right_before_is_known_after_it_expired_and_still_checked(database: Database) -> None:
    now = [0.0]
    passwords = Passwords(database, lambda: now[0])
    assert not passwords.was_right(USER, PASSWORD)
    passwords.check(USER, PASSWORD)
    now[0] = 10 * CACHED_FOR
    assert passwords.was_right(USER, PASSWORD) and not passwords.was_right(USER, "wax")
    database.run(lambda tx: users.update(tx, USER, hashed("wax"), 1))
    with pytest.raises(AuthenticationError):
        passwords.check(USER, PASSWORD)


@pytest.mark.parametrize("name", ["", "a:b", "a b", "a\nb", "a@b", "x" * 300])
def test_a_name_that_http_or_sasl_could_not_carry_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is not a name for a user"):
        checked_name(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("identity")


def test_users_are_added_changed_and_removed_while_servers_run(tmp_path: Path) -> None:
    with http_server(tmp_path, workers=2) as server, browser(server) as client:
        data = tmp_path / "data"
        assert client.post(ALL).status == 200
        user("passwd", USER, data=data, password="wax")
        assert client.post(ALL).status == 401
        assert client.post(ALL, credentials=basic(USER, "wax")).status == 200
        user("add", "willy", data=data, password="pollen")
        assert user("list", data=data) == "maja\nwilly\n"
        assert client.post(ALL, credentials=basic("willy", "pollen")).status == 200
        user("remove", "willy", data=data)
        assert client.post(ALL, credentials=basic("willy", "pollen")).status == 401
        assert "wax" not in server.log and "pollen" not in server.log


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """A database that two servers share: its directory, or its URL."""
    if request.param == "sqlite":
        yield tmp_path / "data"
        return
    with shared_postgres().database() as url:
        yield url


@pytest.mark.parametrize("change", ["passwd", "remove"])
def test_a_cached_password_is_invalidated_on_all_servers_of_the_database(
    shared: Path | str, change: str, tmp_path: Path
) -> None:
    data = shared
    chain, key = certificate(tmp_path)
    user("add", USER, data=data, password=PASSWORD)
    settings: dict[str, Any] = {"http_port": 0, "tls_certificate": chain, "tls_key": key}
    settings |= {"data": data} if isinstance(data, Path) else {"database_url": data}
    with running_server(**settings) as one, running_server(**settings) as other:
        with browser(one) as first, browser(other) as second:
            for client in (first, second, first, second):
                assert client.post(ALL).status == 200
            user(change, USER, data=data, password="wax" if change == "passwd" else None)
            for client in (first, second):
                assert client.post(ALL).status == 401
            if change == "passwd":
                for client in (first, second):
                    assert client.post(ALL, credentials=basic(USER, "wax")).status == 200


def test_a_wrong_user_is_verified_as_often_as_a_wrong_password(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    hasher = passwords_module._HASHER

    class Counting:
        def verify(self, stored: str, password: str) -> bool:
            verified.append(stored)
            return hasher.verify(stored, password)

    passwords = Passwords(database)
    monkeypatch.setattr(passwords_module, "_HASHER", Counting())
    for name, password in ((USER, "wrong"), ("nobody", "wrong")):
        with pytest.raises(AuthenticationError):
            passwords.check(name, password)
    passwords.check(USER, PASSWORD)
    passwords.check(USER, PASSWORD)
    assert len(verified) == 3, "one verification each, and none for a cached password"
    # An unknown user takes as much time as a known one.
    assert {each.rpartition("$")[0].rpartition("$")[0] for each in verified} == {"$argon2id$v=19$m=19456,t=2,p=1"}


def test_a_flood_of_guesses_is_slowed_while_calls_and_other_users_go_on(tmp_path: Path) -> None:
    with http_server(tmp_path) as server, Peer(server.port) as peer, browser(server) as other:
        assert server.http_port is not None
        port = server.http_port

        def guess_once(number: int) -> int:
            with Browser(port) as client:
                return client.post(ALL, credentials=basic("flip", f"guess {number}")).status

        with ThreadPoolExecutor(24) as threads:
            statuses = threads.map(guess_once, range(40))
            for _ in range(20):
                assert peer.call("get_all_databases") == ("default",)
                assert other.post(ALL).status == 200
            counted = Counter(statuses)
        # Attempts that were under way when the tenth failed were not slowed any more.
        assert counted.keys() == {401, 429} and counted[401] == MAX_FAILURES


def test_who_guesses_gets_429_and_who_has_the_right_password_gets_in(tmp_path: Path) -> None:
    with http_server(tmp_path) as server, browser(server) as client:
        user("add", "willy", data=tmp_path / "data", password="pollen")
        statuses = [client.post(ALL, credentials=basic(USER, f"guess {n}")).status for n in range(MAX_FAILURES + 1)]
        assert statuses == [401] * MAX_FAILURES + [429]
        refused = client.post(ALL, credentials=basic(USER, "another guess"))
        assert refused.status == 429 and int(refused.headers["retry-after"]) > 0
        assert refused.body.startswith(b"too many failed attempts of this user from 127.0.0.1: try again in ")
        assert client.post(ALL, credentials=basic("willy", "pollen")).status == 200
        assert client.post(ALL).status == 200
        assert client.post(ALL, credentials=basic(USER, "once more")).status == 401, "the right one ended the count"


def test_clients_behind_a_trusted_proxy_are_counted_by_their_own_addresses(tmp_path: Path) -> None:
    with http_server(tmp_path, trusted_proxies="127.0.0.1", audit="on") as server, browser(server) as client:

        def status(password: str, forwarded: str) -> int:
            return client.post(ALL, credentials=basic(USER, password), X_Forwarded_For=forwarded).status

        assert [status("guess", "192.0.2.1") for _ in range(MAX_FAILURES + 1)] == [401] * MAX_FAILURES + [429]
        assert status("guess", "192.0.2.1, 192.0.2.2") == 401, "another client, whatever it says of those before it"
        assert status(PASSWORD, "192.0.2.1") == 200
        assert "peer=192.0.2.1:0" in server.log


def test_nobody_else_is_believed_what_they_forward(tmp_path: Path) -> None:
    with http_server(tmp_path, trusted_proxies="192.0.2.0/24", audit="on") as server, browser(server) as client:
        statuses = [
            client.post(ALL, credentials=basic(USER, "guess"), X_Forwarded_For=f"198.51.100.{n}").status
            for n in range(MAX_FAILURES + 1)
        ]
        assert statuses == [401] * MAX_FAILURES + [429]
        assert client.post(ALL, X_Forwarded_For="198.51.100.1").status == 200
        assert "198.51.100" not in server.log


# Certificates


def issue(folder: Path, name: str, ca: tuple[Any, Any] | None = None) -> tuple[Path, tuple[Any, Any]]:
    """A certificate for this name, signed by `ca` or by itself: its file (with the key), and both."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    issuer, signer = (subject, key) if ca is None else (ca[0].subject, ca[1])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca is None, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / f"{name}.pem"
    file.write_bytes(made.public_bytes(pem) + private)
    return file, (made, key)


def showing(file: Path) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(file)
    return context


def test_a_client_certificate_authenticates_on_both_ports(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    ca_file, ca = issue(tmp_path, "ca")
    alice, _ = issue(tmp_path, "alice", ca)
    stranger, _ = issue(tmp_path, "stranger")
    with http_server(tmp_path, tls_certificate=chain, tls_key=key, tls_client_ca=ca_file, audit="on") as server:
        with Peer(server.port, tls=showing(alice)) as peer:
            body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"d"}}}}]'
            with browser(server, showing(alice)) as client:
                assert client.post(body, "/metastore", credentials={}).json[2] == 2
                # The certificate is not enough where Basic or Kerberos is required.
                assert client.post(ALL, credentials={}).status == 401
                assert client.post(ALL).status == 200
            peer.call("set_ugi", "mallory", ())
            peer.call("create_database", DatabaseStruct(name="e"))
        assert (who(server, "d"), who(server, "e")) == ("alice", "alice")
        with Peer(server.port) as plain:
            plain.send("get_all_databases")
            assert b"requires authentication" in plain.rest()
        for context in (showing(stranger), ssl._create_unverified_context()):
            with pytest.raises(OSError), Peer(server.port, tls=context) as refused:
                refused.call("get_all_databases")
        with pytest.raises(OSError), browser(server, showing(stranger)) as nobody:
            nobody.post(ALL, "/metastore")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_missing_client_certificate_is_a_401_with_a_sentence_on_every_path(
    version: ssl.TLSVersion, tmp_path: Path
) -> None:
    ca_file, _ = issue(tmp_path, "ca")
    context = any_certificate()
    context.minimum_version = context.maximum_version = version
    with http_server(tmp_path, tls_client_ca=ca_file) as server, browser(server, context) as client:
        for path in (API, "/metastore"):
            refused = client.post(ALL, path)
            assert refused.status == 401, "the right password does not replace a certificate"
            assert refused.body.startswith(b"this server requires a client certificate (tls_client_ca)")
            assert refused.headers["www-authenticate"].startswith("Basic")
        for path in ("/health", "/ready", "/metrics", "/nothing"):
            assert client.request("GET", path).status == 401


def test_of_two_common_names_none_is_taken() -> None:
    subject = ((("commonName", "a"),), (("commonName", "b"),))
    assert common_name({"subject": subject}) is None
    assert common_name({"subject": subject[:1]}) == "a"
    assert common_name(None) is None


# SASL: passwords over TLS, delegation tokens


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[RunningServer]:
    chain, key = certificate(folder)
    with http_server(folder, tls_certificate=chain, tls_key=key, password_login="on", proxy_users="knox") as server:
        user("add", "knox", data=folder / "data", password="gate")
        yield server


def insecure() -> ssl.SSLContext:
    return ssl._create_unverified_context()


def test_a_password_over_tls_opens_the_thrift_port(guarded: RunningServer) -> None:
    with Sasl(guarded.port, tls=insecure()) as peer:
        peer.plain(USER, PASSWORD)
        assert peer.call("get_all_databases")[0] == "default"


def test_a_password_without_tls_is_refused(guarded: RunningServer) -> None:
    with Sasl(guarded.port) as peer, pytest.raises(Refusal, match="over TLS only"):
        peer.plain(USER, PASSWORD)


def test_a_wrong_password_is_refused(guarded: RunningServer) -> None:
    with Sasl(guarded.port, tls=insecure()) as peer, pytest.raises(Refusal, match="the user or the password is wrong"):
        peer.plain(USER, "wrong")


def test_a_right_password_opens_the_thrift_port_after_many_wrong_ones(guarded: RunningServer, folder: Path) -> None:
    user("add", "kassandra", data=folder / "data", password="wax")
    for number in range(MAX_FAILURES + 2):
        reason = "the user or the password is wrong" if number < MAX_FAILURES else "too many failed attempts"
        with Sasl(guarded.port, tls=insecure()) as peer, pytest.raises(Refusal, match=reason):
            peer.plain("kassandra", "wrong")
    with Sasl(guarded.port, tls=insecure()) as peer:
        peer.plain("kassandra", "wax")
        assert peer.call("get_all_databases")[0] == "default"


def test_only_proxy_users_act_for_others(guarded: RunningServer) -> None:
    with Sasl(guarded.port, tls=insecure()) as peer, pytest.raises(Refusal, match="maja may not act as 'flip'"):
        peer.plain(USER, PASSWORD, actor="flip")
    with Sasl(guarded.port, tls=insecure()) as peer:
        peer.plain("knox", "gate", actor="flip")
        token = Token.decode(peer.call("get_delegation_token", "flip", "yarn"))
        assert b"flip" in token.identifier


def token_of(server: RunningServer) -> str:
    with Sasl(server.port, tls=insecure()) as peer:
        text: str = peer.plain(USER, PASSWORD).call("get_delegation_token", USER, USER)
        return text


def test_a_delegation_token_opens_the_thrift_port_until_it_is_cancelled(guarded: RunningServer) -> None:
    text = token_of(guarded)
    token = Token.decode(text)

    def log_in(password: bytes | None = None) -> Sasl:
        peer = Sasl(guarded.port)
        peer.say(START, b"DIGEST-MD5")
        peer.say(OK, b"")
        peer.say(OK, digest(peer.hear(OK), token, "auth", password))
        try:
            assert peer.hear(COMPLETE).startswith(b"rspauth=")
        except Refusal:
            peer.socket.close()
            raise
        return peer

    with log_in() as peer:
        assert peer.call("get_all_databases")[0] == "default"
        assert peer.call("renew_delegation_token", text) > time.time() * 1000
        with pytest.raises(Refusal, match="password is wrong"):
            log_in(b"guessed")
        peer.call("cancel_delegation_token", text)
    with pytest.raises(Refusal, match="does not exist"):
        log_in()


def test_a_protected_message_that_was_changed_does_not_pass() -> None:
    token = Token(b"id", b"secret")
    server = Digest(lambda identifier: ("maja", token.password)).start(OPEN)
    challenge, done = server.step(b"")
    assert not done
    _, done = server.step(digest(challenge, token, "auth-int"))
    assert done and server.user == "maja"
    sealed = server.wrap(b"hello")
    assert sealed[:5] == b"hello" and len(sealed) == 5 + 16
    with pytest.raises(Exception, match="changed, repeated or dropped"):
        server.unwrap(b"hello" + bytes(16))


def test_tokens_are_refused_unencrypted_where_encryption_is_required() -> None:
    mechanism = Digest(lambda identifier: ("maja", b""), ("auth-conf",))
    with pytest.raises(AuthenticationError, match="connect with TLS"):
        mechanism.start(OPEN)
    mechanism.start(CLOSED)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"jwt_issuer": "x"}, "without jwt_keys"),
        ({"tls_client_ca": "x"}, "without tls_certificate"),
        ({"kerberos_http_principal": "x"}, "without kerberos_principal"),
        ({"http_path": "/metastore"}, "another meaning"),
        ({"http_path": "metastore"}, "a path was expected"),
        ({"metrics_addresses": "home"}, "metrics_addresses"),
    ],
)
def test_settings_that_make_no_sense_together_are_refused(flags: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(environment={}, flags=flags)
