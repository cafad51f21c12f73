"""Web tokens (JWT): their users, refused tokens, and key servers that are slow, down, or change their keys."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from metastored.errors import AuthenticationError, ConfigError
from metastored.server.auth.attempts import MAX_FAILURES
from metastored.server.auth.identity import Unverifiable
from metastored.server.auth.web_keys import WebKeys
from metastored.server.auth.web_tokens import JwtTokens
from metastored.threads import Pool
from tests.server.http.support import ALL, browser, http_server, who
from tests.server.support import PATIENCE, Peer
from tests.server.tokens import Issuer

pytestmark = pytest.mark.slow

SOON = 0.01
"""Seconds between two fetches of keys, in tests with several fetches."""


class KeyServer:
    """A key server on a free port, with replaceable responses and a counter of requests."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.status = 200
        self.requests = 0
        self.responding = threading.Event()
        """When cleared, requests are accepted and get no response."""
        self.responding.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests += 1
                outer.responding.wait(PATIENCE)
                data = outer.body.encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

            def handle(self) -> None:
                with suppress(ConnectionError):  # The client may have disconnected.
                    super().handle()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), name="keys").start()

    def stop(self) -> None:
        self.responding.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving_keys(body: str) -> Iterator[KeyServer]:
    server = KeyServer(body)
    try:
        yield server
    finally:
        server.stop()


def run(work: Callable[[Pool], Any]) -> Any:
    """Runs a coroutine with a pool."""

    async def main() -> Any:
        pool = Pool(2)
        try:
            return await work(pool)
        finally:
            pool.close()

    return asyncio.run(main())


def user_of(tokens: JwtTokens, token: str) -> Any:
    return run(lambda pool: tokens.user_of(token, pool))


# The claims of a token


def test_a_web_token_identifies_its_user(tmp_path: Path) -> None:
    issuer = Issuer()
    assert user_of(JwtTokens(WebKeys(issuer.file(tmp_path)), "hive", "metastored"), issuer.token()) == "willy"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": 1}, "expired"),
        ({"exp": None}, "exp"),
        ({"iss": "other"}, "issuer"),
        ({"aud": "other"}, "[Aa]udience"),
        ({"sub": None}, "sub"),
        ({"sub": " "}, "empty subject"),
        ({"kid": "two"}, "not in the key set"),
    ],
)
def test_a_web_token_that_is_not_right_is_refused_with_a_reason(
    tmp_path: Path, claims: dict[str, Any], reason: str
) -> None:
    issuer = Issuer()
    with pytest.raises(AuthenticationError, match=reason):
        user_of(JwtTokens(WebKeys(issuer.file(tmp_path)), "hive", "metastored"), issuer.token(**claims))


def test_a_web_token_without_a_public_keys_signature_is_refused(tmp_path: Path) -> None:
    issuer, claims = Issuer(), {"sub": "willy", "exp": time.time() + 600}
    tokens = JwtTokens(WebKeys(issuer.file(tmp_path), not_sooner=SOON))
    for forged in (
        jwt.encode(claims, "", "none", {"kid": "one"}),
        jwt.encode(claims, "x" * 40, "HS256", {"kid": "one"}),
        jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), "ES256", {"kid": "one"}),
        "nonsense",
    ):
        with pytest.raises(AuthenticationError, match="not accepted") as refusal:
            user_of(tokens, forged)
        assert forged not in str(refusal.value)


def test_web_tokens_are_taken_at_metastore_only_and_close_the_other_doors(tmp_path: Path) -> None:
    issuer = Issuer()
    with (
        http_server(tmp_path, jwt_keys=issuer.file(tmp_path), proxy_users="willy", audit="on") as server,
        browser(server) as client,
    ):
        credentials = {"Authorization": f"Bearer {issuer.token()}"}
        assert client.post(ALL, "/metastore", credentials=credentials).status == 200
        refused = client.post(ALL, "/metastore", credentials={"x-actor-username": "maja"})
        assert refused.status == 401 and "Bearer" in refused.headers["www-authenticate"]
        assert client.post(ALL, credentials=credentials).status == 401
        assert client.post(ALL, "/metastore").status == 200  # With a password.
        # A proxy user acts for others; its own name stays the principal.
        body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"d"}}}}]'
        assert client.post(body, "/metastore", credentials={**credentials, "x-actor-username": "flip"}).json[2] == 2
        assert who(server, "d") == "flip"
        with Peer(server.port) as peer:
            peer.send("get_all_databases")
            assert b"requires authentication" in peer.rest()


# Where the keys come from


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"keys": []}', "keys.json"),
        ('{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one"}]}', "there is no public key in it"),
        ("nonsense", "keys.json"),
        ("[]", "not a JSON object with keys"),
        (" " * 1_100_000, "more than 1048576 bytes"),
        (None, "No such file"),
    ],
    ids=["none", "a secret", "nonsense", "a list", "too long", "no file"],
)
def test_a_file_that_holds_no_keys_is_named_at_the_start(tmp_path: Path, content: str | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "keys.json").write_text(content)
    with pytest.raises(ConfigError, match=reason) as refusal:
        WebKeys(str(tmp_path / "keys.json"))
    assert "jwt_keys" in str(refusal.value) and "c2VjcmV0" not in str(refusal.value)


def test_keys_are_fetched_from_a_url_once_for_many_tokens() -> None:
    issuer = Issuer()
    with serving_keys(issuer.keys) as keys:

        async def work(pool: Pool) -> list[str]:
            tokens = JwtTokens(WebKeys(keys.url))
            first = await asyncio.gather(*(tokens.user_of(issuer.token(sub=f"u{n}"), pool) for n in range(20)))
            return [*first, await tokens.user_of(issuer.token(), pool)]

        assert run(work) == [*(f"u{n}" for n in range(20)), "willy"]
        assert keys.requests == 1


@pytest.mark.parametrize("kid", ["one", "two"], ids=["the same name", "another name"])
def test_a_key_that_was_replaced_is_fetched_when_a_token_needs_it(kid: str) -> None:
    old, new = Issuer(), Issuer(kid)
    with serving_keys(old.keys) as keys:

        async def work(pool: Pool) -> None:
            tokens = JwtTokens(WebKeys(keys.url, not_sooner=SOON))
            assert await tokens.user_of(old.token(), pool) == "willy"
            keys.body = new.keys
            assert await tokens.user_of(new.token(sub="flip"), pool) == "flip"
            with pytest.raises(AuthenticationError):
                await tokens.user_of(old.token(), pool)

        run(work)


def test_old_keys_are_refreshed_in_the_background() -> None:
    issuer = Issuer()
    with serving_keys(issuer.keys) as keys:

        async def work(pool: Pool) -> None:
            web_keys = WebKeys(keys.url, kept_for=0, not_sooner=SOON)
            tokens = JwtTokens(web_keys)
            await tokens.user_of(issuer.token(), pool)
            keys.responding.clear()
            for _ in range(3):
                assert await tokens.user_of(issuer.token(), pool) == "willy"
            keys.responding.set()
            await web_keys.renewed()
            assert keys.requests >= 2

        run(work)


def test_many_tokens_with_unknown_keys_make_few_fetches() -> None:
    issuer = Issuer()
    with serving_keys(issuer.keys) as keys:

        async def work(pool: Pool) -> None:
            tokens = JwtTokens(WebKeys(keys.url, not_sooner=1))
            await tokens.user_of(issuer.token(), pool)
            guesses = (tokens.user_of(issuer.token(kid=f"made up {n}"), pool) for n in range(50))
            found = await asyncio.gather(*guesses, return_exceptions=True)
            assert all("not in the key set" in str(each) for each in found)
            assert keys.requests == 2

        run(work)


async def eventually(work: Callable[[], Awaitable[str]]) -> str:
    """The response after a server has recovered; retries, since a busy machine may be slow."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await work()
            except Unverifiable:
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("trouble", ["gone", "broken", "nonsense", "silent"])
def test_a_failing_key_server_leaves_cached_keys_valid_and_others_unverifiable(
    trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    issuer, other = Issuer(), Issuer("two")
    with serving_keys(issuer.keys) as keys:

        async def work(pool: Pool) -> None:
            tokens = JwtTokens(WebKeys(keys.url, kept_for=0, not_sooner=SOON, timeout=0.5))
            assert await tokens.user_of(issuer.token(), pool) == "willy"
            match trouble:
                case "gone":
                    keys.stop()
                case "broken":
                    keys.status = 500
                case "nonsense":
                    keys.body = "<html>"
                case "silent":
                    keys.responding.clear()
            with pytest.raises(Unverifiable, match="cannot be had now"):
                await tokens.user_of(other.token(), pool)
            for _ in range(3):
                assert await tokens.user_of(issuer.token(), pool) == "willy"
            if trouble != "silent":  # The silent server may still respond later.
                # A client waits no longer than the timeout; the fetch itself may take longer.
                async with asyncio.timeout(PATIENCE):
                    while "the keys of before are used on" not in caplog.text:
                        await asyncio.sleep(0.01)
            if trouble != "gone":
                keys.status, keys.body = 200, other.keys
                keys.responding.set()
                assert await eventually(lambda: tokens.user_of(other.token(sub="back"), pool)) == "back"

        run(work)
    if trouble != "silent":
        assert f"jwt_keys {keys.url}" in caplog.text


def test_a_key_server_that_drips_is_not_waited_for_longer_than_the_time_out() -> None:
    """Each piece comes in time; all of them together do not."""
    with serving_keys(Issuer().keys) as keys:
        stop = threading.Event()

        def drip(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            while not stop.wait(0.05):
                handler.wfile.write(b" ")

        keys._server.RequestHandlerClass.do_GET = drip  # type: ignore[attr-defined]
        try:

            async def work(pool: Pool) -> None:
                web_keys = WebKeys(keys.url, timeout=0.3, not_sooner=SOON)
                await web_keys.renewed()
                for _ in range(1000):
                    if web_keys.in_doubt and web_keys._fetching is None:
                        return
                    await asyncio.sleep(0.01)
                pytest.fail("it still waits")

            run(work)
        finally:
            stop.set()


def test_while_the_key_server_hangs_other_clients_are_served(tmp_path: Path) -> None:
    issuer = Issuer()
    with serving_keys(issuer.keys) as keys:
        keys.responding.clear()
        with http_server(tmp_path, jwt_keys=keys.url, threads=1) as server:
            waiting = [browser(server) for _ in range(MAX_FAILURES + 2)]
            headers = {"Content-Type": "application/x-thrift", "Authorization": f"Bearer {issuer.token()}"}
            try:
                for client in waiting:
                    client.connection.request("POST", "/metastore", ALL, headers)
                with browser(server) as other:
                    assert other.post(ALL).status == 200
                    assert other.post(ALL, "/metastore").status == 200
                keys.responding.set()
                for client in waiting:
                    response = client.connection.getresponse()
                    assert response.status == 200, response.read()
            finally:
                for client in waiting:
                    client.connection.close()


def test_without_keys_a_client_gets_503_and_no_failed_attempt_is_counted(tmp_path: Path) -> None:
    issuer = Issuer()
    with serving_keys("") as keys:
        keys.status = 500
        with http_server(tmp_path, jwt_keys=keys.url) as server, browser(server) as client:
            credentials = {"Authorization": f"Bearer {issuer.token()}"}
            response = client.post(ALL, "/metastore", credentials=credentials)
            assert (response.status, response.headers["retry-after"]) == (503, "10")
            assert response.body == b"the keys of web tokens cannot be had now (jwt_keys): try again later\n"
            keys.status, keys.body = 200, issuer.keys
            assert client.post(ALL, "/metastore", credentials=credentials).status == 200
            assert issuer.token() not in server.log
