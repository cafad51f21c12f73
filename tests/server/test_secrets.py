"""Secrets of every kind are used, rightly and wrongly, and then searched for in all output of a server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import Error
from metastored.hive.delegation import Token
from metastored.store.engine.opening import open_database
from metastored.store.security import tokens, users
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.server.http.support import ALL, Response, browser, http_server, trusting, user
from tests.server.sasl import COMPLETE, OK, START, Refusal, Sasl
from tests.server.support import PATIENCE, Peer, certificate
from tests.server.tokens import Issuer, digest
from tests.support.forks import run_command

# Starts a server for each kind of credentials.
pytestmark = pytest.mark.slow

PASSWORD = "pa55-of-maja-7b1f"
GUESS = "gue55-0f-mallory"
METRICS = "metr1cs-token-9c4e"
URL_PASSWORD = "ur1-password-5d02"


class Heard:
    """All output of a server: replies, logs, metrics."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, *said: object) -> None:
        for each in said:
            self.parts.append(each.decode("latin-1") if isinstance(each, bytes) else str(each))

    def response(self, response: Response) -> Response:
        self.add(response.headers, response.body)
        return response

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


def in_forms(secret: str | bytes) -> set[str]:
    """A secret in plain text and in the usual encodings."""
    data = secret.encode() if isinstance(secret, str) else secret
    forms = {base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode().rstrip("="), data.hex()}
    with suppress(UnicodeDecodeError):
        forms.add(data.decode())
    return forms


def metastored(*words: str, said: str = "") -> str:
    """All that the command printed."""
    done = run_command(*words, input=said, timeout=PATIENCE * 3)
    return done.stdout + done.stderr


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """All settings with secrets are on, and so are all logs."""
    chain, key = certificate(tmp_path)
    (tmp_path / "token").write_text(METRICS)
    issuer.file(tmp_path)
    settings = {
        "tls_certificate": chain,
        "tls_key": key,
        "password_login": "on",
        "jwt_keys": tmp_path / "keys.json",
        "metrics_token": tmp_path / "token",
        "proxy_users": "knox",
        "audit": "on",
        "log_level": "debug",
        "slow_call": 0,
    }
    with http_server(tmp_path, **settings) as running:
        yield running


issuer = Issuer()


def log_in(server: RunningServer, token: Token, heard: Heard, password: bytes | None = None) -> None:
    """With a delegation token."""
    with Sasl(server.port, tls=trusting()) as peer:
        peer.say(START, b"DIGEST-MD5")
        peer.say(OK, b"")
        peer.say(OK, digest(peer.hear(OK), token, "auth", password))
        try:
            heard.add(peer.hear(COMPLETE))
            heard.add(peer.call("get_all_databases"))
        except Refusal as refusal:
            heard.add(refusal)


def test_no_secret_is_ever_logged_or_sent(server: RunningServer, tmp_path: Path) -> None:
    heard, data = Heard(), tmp_path / "data"
    heard.add(user("add", "willy", data=data, password=PASSWORD))
    heard.add(user("passwd", "willy", data=data, password=PASSWORD), user("list", data=data))
    heard.add(metastored("user", "add", "willy", "--password-stdin", "--data", str(data), said=PASSWORD))
    heard.add(metastored("user", "passwd", "nobody", "--password-stdin", "--data", str(data), said=PASSWORD))
    bearers = [issuer.token(), issuer.token(exp=1), issuer.token(kid="unknown"), Issuer().token()]

    # HTTP, rightly and wrongly.
    with browser(server) as client:

        def post(kind: str, credentials: str, body: str | bytes = ALL, path: str = "/metastore") -> Response:
            return heard.response(client.post(body, path, credentials={"Authorization": f"{kind} {credentials}"}))

        right = base64.b64encode(f"willy:{PASSWORD}".encode()).decode()
        assert post("Basic", right).status == 200
        for wrong in (f"willy:{GUESS}", f"nobody:{GUESS}", GUESS):
            assert post("Basic", base64.b64encode(wrong.encode()).decode()).status == 401
        assert [post("Bearer", each).status for each in bearers] == [200, 401, 401, 401]
        post(GUESS, GUESS)
        post("Basic", GUESS)
        post("Basic", right, "nonsense")
        heard.response(client.request("GET", f"/{GUESS[:4]}", headers={"Authorization": f"Basic {right}"}))
        for given in (f"Bearer {METRICS}", f"Bearer {GUESS}", f"Basic {right}"):
            heard.response(client.request("GET", "/metrics", headers={"Authorization": given}))

    # Thrift, and tokens in all the ways the API has for them.
    with Sasl(server.port, tls=trusting()) as peer:
        peer.plain("willy", PASSWORD)
        text = peer.call("get_delegation_token", "willy", "willy")
        token = Token.decode(text)
        wrong_token = Token(token.identifier, GUESS.encode()).encode()

        def call(name: str, *args: Any) -> None:
            try:
                heard.add(peer.call(name, *args))
            except Error as error:
                heard.add(repr(error))

        call("create_database", Database(name="d"))
        for name in ("renew_delegation_token", "cancel_delegation_token"):
            call(name, wrong_token)
            call(name, GUESS)
        call("renew_delegation_token", text)
        call("add_token", "an identifier", GUESS)
        call("update_master_key", 4711, GUESS)
        call("add_master_key", GUESS)
        for key in ("javax.jdo.option.ConnectionPassword", "hive.metastore.keystore.password", "metrics_token"):
            call("get_config_value", key, "nothing")
        call("get_database", "d")
        call("get_table", "d", "t")
        log_in(server, token, heard)
        log_in(server, token, heard, GUESS.encode())
        call("cancel_delegation_token", text)
        log_in(server, token, heard)
    for name, password in (("willy", GUESS), ("nobody", GUESS)):
        with Sasl(server.port, tls=trusting()) as peer, pytest.raises(Refusal) as refusal:
            peer.plain(name, password)
        heard.add(refusal.value)
    with Sasl(server.port) as peer, pytest.raises(Refusal) as refusal:
        peer.plain("willy", PASSWORD)
    heard.add(refusal.value)
    with Peer(server.port) as plain:
        plain.send("get_all_databases")
        heard.add(plain.rest())

    heard.add(server.log, server.ready_file.read_text())
    said = heard.text
    assert "method=get_delegation_token" in said and "not authenticated" in said and "metastored_calls_total" in said
    hidden: list[str | bytes] = [PASSWORD, GUESS, METRICS, text, token.password, wrong_token, *bearers, *_kept(data)]
    hidden += [line for line in (tmp_path / "server.key").read_text().splitlines() if len(line) > 40]
    assert [form for secret in hidden for form in in_forms(secret) if form in said] == []


def _kept(data: Path) -> Iterator[str]:
    """The secrets in the database: hashes and keys must not be printed either."""
    database = open_database(None, data)
    try:
        yield from (row.password for row in users.every(database.reader()))
        yield from (key for _, key in tokens.keys(database.reader()) if key != GUESS)
    finally:
        database.close()


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://metastored:{URL_PASSWORD}@127.0.0.1:1/metastored",
        f"postgresql://127.0.0.1:1/metastored?user=metastored&password={URL_PASSWORD}",
        f"postgresql://metastored:{URL_PASSWORD}@127.0.0.1:port/metastored",
        f"mysql://metastored:{URL_PASSWORD}@127.0.0.1/metastored",
    ],
)
def test_the_password_in_a_wrong_database_url_is_not_printed(url: str) -> None:
    for words in (("serve", "--port", "0"), ("user", "list")):
        said = metastored(*words, "--database-url", url)
        assert said.strip() and URL_PASSWORD not in said, said.replace(URL_PASSWORD, "THE PASSWORD")
