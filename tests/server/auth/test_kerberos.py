"""Kerberos at the Thrift port: accepted and refused clients, protections, and error messages."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metastored.config import load
from metastored.errors import (
    ApplicationError,
    AuthenticationError,
    ConfigError,
    ConnectError,
    MissingExtra,
    install_command,
)
from metastored.server.auth.kerberos import server_principal, short_name
from metastored.server.auth.mechanisms import Mechanisms, authenticator
from metastored.server.auth.negotiation import Channel
from metastored.wire.generated.databases import Database as DatabaseStruct
from metastored.wire.methods import METHODS
from tests.server import sasl
from tests.server.conftest import Realm
from tests.server.sasl import Refusal, SaslPeer
from tests.server.support import Running, serving, users_of_events
from tests.support.forks import running_server
from tests.support.kdc import running_kdc

LONG = 5_000_000
"""Bytes of a reply that needs several frames in every protection."""


@contextmanager
def guarded(realm: Realm, **settings: Any) -> Iterator[Running]:
    """A server in this process that requires Kerberos."""
    kerberos = {"kerberos_principal": realm.service, "kerberos_keytab": str(realm.keytab), **settings}
    with serving(authenticator(load(environment={}, flags=kerberos)), **kerberos) as running:
        yield running


@pytest.fixture
def kerberized(realm: Realm) -> Iterator[Running]:
    with guarded(realm) as running:
        yield running


def peer(server: Running, realm: Realm, cache: Path | None = None, **options: Any) -> SaslPeer:
    return SaslPeer(server.port, cache or realm.cache, options.pop("service", realm.service), **options)


# Pure parts


def test_the_word_host_in_a_principal_is_this_machines_name_in_lower_case() -> None:
    assert server_principal("hive/_HOST@R.TEST", lambda: "Node1.Example.COM") == "hive/node1.example.com@R.TEST"
    assert server_principal("hive/Other@R.TEST", lambda: "node1") == "hive/Other@R.TEST"


@pytest.mark.parametrize("principal", ["hive", "hive@R.TEST", "hive/host", "hive/a/b@R.TEST", "hive/host@R@S", "/@"])
def test_a_principal_without_its_three_parts_is_refused_with_an_example(principal: str) -> None:
    with pytest.raises(ConfigError, match=r"hive/_HOST@EXAMPLE\.COM"):
        server_principal(principal)


@pytest.mark.parametrize("principal", ["alice@R.TEST", "alice/node1@R.TEST", "alice/node1/x@R.TEST"])
def test_the_user_is_the_first_part_of_the_principal(principal: str) -> None:
    assert short_name(principal, "R.TEST") == "alice"


@pytest.mark.parametrize(
    "principal", ["alice@S.TEST", "alice", "al\\/ice@R.TEST", "WELLKNOWN/ANONYMOUS@R.TEST", "@R.TEST"]
)
def test_a_principal_of_another_realm_or_without_a_name_is_refused(principal: str) -> None:
    with pytest.raises(AuthenticationError, match=r"R\.TEST"):
        short_name(principal, "R.TEST")


def test_an_unsupported_mechanism_is_refused_with_the_list_of_supported_ones() -> None:
    with pytest.raises(AuthenticationError, match=r"'PLAIN' is not offered here; offered are GSSAPI"):
        Mechanisms({"GSSAPI": lambda channel: pytest.fail("started")}).start("PLAIN", Channel("127.0.0.1", False))


def test_without_settings_no_authentication_is_required() -> None:
    assert authenticator(load(environment={})) is None


def test_protections_are_read_from_a_list_and_an_unknown_one_is_refused() -> None:
    assert load(environment={}, flags={"sasl_qop": "auth-conf, auth-int"}).sasl_qop == ("auth-int", "auth-conf")
    assert load(environment={}, flags={"sasl_qop": ["auth"]}).sasl_qop == ("auth",)
    with pytest.raises(ConfigError, match="sasl_qop is 'privacy'; some of auth, auth-int, auth-conf were expected"):
        load(environment={}, flags={"sasl_qop": "privacy"})


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    flags = {"kerberos_principal": "hive/localhost@R.TEST", "kerberos_keytab": str(tmp_path / "keytab")}
    with pytest.raises(MissingExtra, match=re.escape(install_command("kerberos"))):
        authenticator(load(environment={}, flags=flags))


# Accepted clients


@pytest.mark.kerberos
@pytest.mark.parametrize("qop", ["auth", "auth-int", "auth-conf"])
@pytest.mark.parametrize("protocol", ["binary", "compact"])
def test_calls_are_served_with_each_protection(kerberized: Running, realm: Realm, qop: str, protocol: str) -> None:
    with peer(kerberized, realm, protocol=protocol) as client:
        client.negotiate(qop)
        assert client.do("echo", "hello") == "hello"
        assert client.do("pool", "again") == "again"
        session = kerberized.handler.sessions[-1]
        assert (session.user, session.principal, session.authenticated) == ("alice", realm.alice, True)


@pytest.mark.kerberos
@pytest.mark.parametrize("qop", ["auth", "auth-int", "auth-conf"])
def test_a_long_reply_comes_in_frames_that_the_client_takes(kerberized: Running, realm: Realm, qop: str) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate(qop, longest=65536)
        assert len(client.do("stream", LONG)) == LONG
        assert len(client.frames) > 2
        if qop != "auth":
            assert max(client.frames) <= 65536
        assert client.do("echo", "x" * 300_000) == "x" * 300_000


@pytest.mark.kerberos
def test_an_error_in_the_place_of_a_stream_leaves_no_gap_in_the_protected_messages(
    kerberized: Running, realm: Realm
) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate("auth-conf")
        with pytest.raises(ApplicationError, match="Internal error processing get_config_value"):
            client.do("no stream", 10)
        assert client.do("echo", "in step") == "in step"


@pytest.mark.kerberos
def test_frames_need_not_end_where_messages_end(kerberized: Running, realm: Realm) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate("auth-int")
        both = b"".join(client.message("get_config_value", "echo", value) for value in ("one", "two"))
        for part in (both[:10], b"", both[10:-10], both[-10:]):
            client.send_frame(client.wrap(part))
        for seqid, value in enumerate(("one", "two"), 1):
            client.wire._method, client.wire._seqid = METHODS["get_config_value"], seqid
            assert client.reply().value(METHODS["get_config_value"]) == value


@pytest.mark.kerberos
def test_a_client_may_act_as_itself_but_not_as_another_user(kerberized: Running, realm: Realm) -> None:
    for name in ("alice", realm.alice):
        with peer(kerberized, realm) as client:
            assert client.negotiate(user=name).do("echo", "x") == "x"
    with peer(kerberized, realm) as client, pytest.raises(Refusal, match=f"{realm.alice} may not act as 'bob'"):
        client.negotiate(user="bob")


@pytest.mark.kerberos
def test_a_client_that_waits_for_a_challenge_gets_one(kerberized: Running, realm: Realm) -> None:
    with peer(kerberized, realm) as client:
        client.say(sasl.START, b"GSSAPI")
        client.say(sasl.OK, b"")
        assert client.hear(sasl.OK) == b""
        client.say(sasl.OK, client.token())
        assert client.context.step(client.hear(sasl.OK)) is None


@pytest.mark.kerberos
def test_users_of_two_connections_are_kept_apart(kerberized: Running, realm: Realm) -> None:
    bob = realm.kdc.principal("bob/laptop")
    with peer(kerberized, realm) as one, peer(kerberized, realm, realm.kdc.kinit(bob)) as other:
        one.negotiate("auth-conf")
        other.negotiate("auth-int")
        for client, user in ((one, "alice"), (other, "bob"), (one, "alice")):
            client.do("echo")
            assert kerberized.handler.sessions[-1].user == user


@pytest.mark.kerberos
def test_many_clients_at_once_are_served_each_under_its_own_protection(kerberized: Running, realm: Realm) -> None:
    def work(number: int) -> list[str]:
        with peer(kerberized, realm) as client:
            client.negotiate(list(sasl.LAYERS)[number % 3])
            return [client.do("pool", f"{number} {call}") for call in range(20)]

    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(work, range(24)))
    assert replies == [[f"{number} {call}" for call in range(20)] for number in range(24)]


# Protection


@pytest.mark.kerberos
def test_the_server_offers_and_enforces_the_configured_protection(realm: Realm) -> None:
    with guarded(realm, sasl_qop="auth-int,auth-conf") as server:
        with peer(server, realm) as client:
            client.begin(client.token())
            assert client.offered == sasl.INTEGRITY | sasl.CONFIDENTIALITY
            assert client.offered_size == 0xFFFFFF
            with pytest.raises(Refusal, match="chose the protection auth; offered were auth-int, auth-conf"):
                client.choose(b"\1\0\0\0")
    with guarded(realm, sasl_qop="auth") as server:
        with peer(server, realm) as client:
            client.begin(client.token())
            assert (client.offered, client.offered_size) == (sasl.AUTH, 0)


@pytest.mark.kerberos
@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (b"\4", "has 1 bytes, not 4 or more"),
        (b"\6\1\0\0", "chose the protection auth-int, auth-conf"),
        (b"\x40\1\0\0", "chose the protection 64"),
        (b"\4\0\0\7", "takes messages of 7 bytes only"),
    ],
)
def test_a_choice_that_cannot_be_kept_is_refused(kerberized: Running, realm: Realm, choice: bytes, reason: str) -> None:
    with peer(kerberized, realm) as client:
        client.begin(client.token())
        with pytest.raises(Refusal, match=reason):
            client.choose(choice)


@pytest.mark.kerberos
@pytest.mark.parametrize("qop", ["auth-int", "auth-conf"])
def test_a_message_that_was_changed_on_its_way_ends_the_connection(
    kerberized: Running, realm: Realm, qop: str, caplog: pytest.LogCaptureFixture
) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate(qop)
        frame = bytearray(client.wrap(client.message("getName")))
        frame[-1] ^= 1
        client.send_frame(bytes(frame))
        assert client.rest() == b""
    assert "a message that Kerberos does not accept" in caplog.text
    assert kerberized.handler.started == []


@pytest.mark.kerberos
def test_a_message_that_is_sent_twice_ends_the_connection(kerberized: Running, realm: Realm) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate("auth-conf")
        frame = client.wrap(client.message("getName"))
        client.send_frame(frame)
        client.reply()
        client.send_frame(frame)
        assert client.rest() == b""
    assert kerberized.handler.started == ["getName"]


@pytest.mark.kerberos
def test_a_message_in_the_clear_is_not_taken_where_encryption_was_agreed_on(
    kerberized: Running, realm: Realm, caplog: pytest.LogCaptureFixture
) -> None:
    with peer(kerberized, realm) as client:
        client.negotiate("auth-conf")
        client.send_frame(client.wrap(client.message("getName"), encrypt=False))
        assert client.rest() == b""
    assert "a message in the clear, though encryption (auth-conf) was agreed on" in caplog.text


# Refused clients


@pytest.mark.kerberos
def test_a_ticket_for_another_host_is_refused_with_the_right_principal(
    kerberized: Running, realm: Realm, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = realm.kdc.principal("hive/elsewhere")
    with peer(kerberized, realm, service=elsewhere) as client:
        with pytest.raises(Refusal, match=f"the ticket is not for {realm.service}") as refusal:
            client.negotiate()
        assert client.rest() == b""
    assert elsewhere in str(refusal.value)
    assert "hive.metastore.kerberos.principal" in str(refusal.value)
    assert f"refused: not authenticated: {refusal.value}" in caplog.text


@pytest.mark.kerberos
def test_a_ticket_of_another_realm_is_refused_with_both_realms(
    kerberized: Running, realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_kdc("OTHER.TEST") as other:
        service, mallory = other.principal("hive/localhost"), other.principal("mallory")
        cache = other.kinit(mallory)
        with peer(kerberized, realm, cache, service=service) as client:
            monkeypatch.setenv("KRB5_CONFIG", str(other.config))
            token = client.token()
            monkeypatch.setenv("KRB5_CONFIG", str(realm.kdc.config))
            with pytest.raises(Refusal, match=r"hive/localhost@OTHER\.TEST.*hive/localhost@METASTORED\.TEST"):
                client.negotiate(first=token)


@pytest.mark.kerberos
@pytest.mark.slow
def test_an_expired_ticket_and_a_wrong_clock_are_refused_with_advice(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that is sent late is to the server what a late ticket or a slow clock is."""
    monkeypatch.setenv("KRB5_CONFIG", str(realm.kdc.config_with(clockskew="1")))
    with guarded(realm) as server:
        short_lived = realm.kdc.kinit(realm.alice, lifetime="3s")
        with peer(server, realm, short_lived) as late, peer(server, realm) as slow:
            expiring, old = late.token(), slow.token()
            time.sleep(5.5)
            with pytest.raises(Refusal, match="Ticket expired; kinit again, or log in from a keytab"):
                late.negotiate(first=expiring)
            with pytest.raises(Refusal, match=r"Clock skew too great; the clocks of .* must agree"):
                slow.negotiate(first=old)


@pytest.mark.kerberos
def test_a_token_is_taken_once(kerberized: Running, realm: Realm) -> None:
    with peer(kerberized, realm) as client, peer(kerberized, realm) as thief:
        token = client.token()
        client.negotiate(first=token)
        with pytest.raises(Refusal, match="Request is a replay"):
            thief.negotiate(first=token)


@pytest.mark.kerberos
def test_a_key_that_the_keytab_does_not_have_is_reported(realm: Realm) -> None:
    service = realm.kdc.principal("hive/rekeyed")
    old = realm.kdc.keytab(service)
    realm.kdc.rekey(service)
    with guarded(realm, kerberos_principal=service, kerberos_keytab=str(old)) as server:
        with peer(server, realm, service=service) as client:
            with pytest.raises(Refusal, match=r"Cannot find key for .*; the server's keytab has another key"):
                client.negotiate()
        old.write_bytes(realm.kdc.keytab(service).read_bytes())
        with peer(server, realm, service=service) as client:
            assert client.negotiate().do("echo", "no restart") == "no restart"


@pytest.mark.kerberos
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([(sasl.START, b"DIGEST-MD5")], "'DIGEST-MD5' is not offered here; offered are GSSAPI"),
        ([(sasl.START, b"GSSAPI"), (sasl.OK, b"\0 no token")], "Invalid token was supplied"),
        ([(sasl.START, b"GSSAPI"), (sasl.START, b"GSSAPI")], "status 1 was not expected"),
        ([(sasl.START, b"GSSAPI"), (sasl.ERROR, b"I cannot")], "the client gave up: I cannot"),
    ],
    ids=["mechanism", "garbage", "second start", "gave up"],
)
def test_a_failed_negotiation_gets_a_reply_with_the_reason(
    kerberized: Running, realm: Realm, messages: list[tuple[int, bytes]], reason: str
) -> None:
    with peer(kerberized, realm) as client:
        for status, payload in messages:
            client.say(status, payload)
        with pytest.raises(Refusal, match=reason):
            client.hear(sasl.OK)
        assert client.rest() == b""


@pytest.mark.kerberos
def test_the_message_of_a_client_without_a_ticket_is_logged(
    kerberized: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with kerberized.peer() as client:
        client.socket.sendall(b"\3\0\0\0\x13GSS initiate failed")  # what Java's clients send then, and first
        client.rest()
    assert "refused: not authenticated: the client gave up: GSS initiate failed" in caplog.text


@pytest.mark.kerberos
def test_a_token_that_claims_to_be_long_is_not_waited_for(
    kerberized: Running, realm: Realm, caplog: pytest.LogCaptureFixture
) -> None:
    with peer(kerberized, realm) as client:
        client.say(sasl.START, b"GSSAPI")
        client.socket.sendall(b"\2\x0f\xff\xff\xff")
        assert client.rest() == b""
    assert "a SASL message of 268435455 bytes; at most 262144 are accepted" in caplog.text


@pytest.mark.kerberos
@pytest.mark.parametrize("framed", [False, True], ids=["unframed", "framed"])
def test_a_client_without_sasl_gets_the_advice_to_authenticate(
    kerberized: Running, framed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with kerberized.peer(framed=framed) as plain:
        with pytest.raises(ApplicationError, match=r"requires authentication: .*hive\.metastore\.sasl\.enabled=true"):
            plain.call("getName")
        assert plain.rest() == b""
    assert "refused: no authentication" in caplog.text
    assert kerberized.handler.started == []


@pytest.mark.kerberos
def test_a_plain_client_cannot_make_the_server_keep_much(kerberized: Running, caplog: pytest.LogCaptureFixture) -> None:
    with kerberized.peer() as plain:
        message = plain.message("get_config_value", "echo", "x" * 2_000_000)
        with pytest.raises(ConnectionError):
            plain.socket.sendall(message[:-1])
            raise ConnectionError(plain.rest() or "the server hung up")
    assert "refused: a long message without authentication" in caplog.text


# The server as a process


@pytest.mark.kerberos
def test_events_have_the_authenticated_user_and_set_ugi_is_ignored(realm: Realm) -> None:
    with running_server(kerberos_principal=realm.service, kerberos_keytab=realm.keytab, log_level="debug") as server:
        with SaslPeer(server.port, realm.cache, realm.service) as client:
            client.negotiate("auth-conf")
            client.call("create_database", DatabaseStruct(name="before"))
            assert client.call("set_ugi", "root", ("wheel",)) == ("wheel", "root")
            client.call("create_database", DatabaseStruct(name="after"))
            assert client.call("get_all_databases") == ("after", "before", "default")
        assert users_of_events(server, "before") == users_of_events(server, "after") == {"alice"}
        assert f"authenticated as {realm.alice}" in server.log


@pytest.mark.kerberos
@pytest.mark.parametrize("workers", [1, 2])
def test_a_keytab_without_the_principal_is_reported_before_the_server_starts(realm: Realm, workers: int) -> None:
    wrong = f"hive/nowhere@{realm.kdc.realm}"
    with pytest.raises(ConnectError, match=f"No key table entry found for {wrong}.*klist -k"):
        with running_server(kerberos_principal=wrong, kerberos_keytab=realm.keytab, workers=workers):
            pytest.fail("it serves")


@pytest.mark.kerberos
def test_a_missing_keytab_is_reported(realm: Realm, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"kerberos_keytab .*absent: No such file"):
        authenticator(
            load(
                environment={},
                flags={"kerberos_principal": realm.service, "kerberos_keytab": str(tmp_path / "absent")},
            )
        )
