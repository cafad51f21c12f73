"""Attacks on web tokens (JWT) and on the keys that verify them (JWKS by URL): nobody is somebody by a token he made.

The rest is in tests/server/auth/test_web_tokens.py: expired tokens, other issuers and audiences, `alg: none`, keys that
were replaced, key servers that are slow, silent or down, and files that hold no keys.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from metastored.errors import AuthenticationError
from metastored.server.auth.identity import Unverifiable
from metastored.server.auth.web_keys import MAX_KEYS, WebKeys
from metastored.server.auth.web_tokens import LEEWAY, JwtTokens
from metastored.threads import Pool
from tests.server.auth.test_web_tokens import SOON, KeyServer, eventually, run, serving_keys, user_of
from tests.server.http.support import ALL, browser, http_server, who
from tests.server.tokens import Issuer

pytestmark = pytest.mark.slow

SECONDS = 20
"""Between a time and the edge that is tested, so that a slow machine does not matter."""


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(issuer: Issuer, claims: bytes | dict[str, Any], header: dict[str, Any] | None = None) -> str:
    """A token whose parts are exactly these; no library had a look at them."""
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    head = json.dumps({"alg": "ES256", "kid": issuer.kid, **(header or {})}).encode()
    message = f"{encoded(head)}.{encoded(payload)}"
    return f"{message}.{encoded(jwt.get_algorithm_by_name('ES256').sign(message.encode(), issuer.key))}"


def claims(**more: Any) -> dict[str, Any]:
    return {"sub": "willy", "exp": int(time.time()) + 600, **more}


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def tokens(issuer: Issuer, tmp_path: Path) -> JwtTokens:
    return JwtTokens(WebKeys(issuer.file(tmp_path), not_sooner=SOON))


def refused(tokens: JwtTokens, token: str) -> str:
    with pytest.raises(AuthenticationError) as refusal:
        user_of(tokens, token)
    assert token not in str(refusal.value)
    return str(refusal.value)


# Signatures


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("form", ["PEM", "DER", "JWK", "x"])
def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(
    tokens: JwtTokens, issuer: Issuer, algorithm: str, form: str
) -> None:
    """Everybody has the public key."""
    public = issuer.key.public_key()
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    key = json.loads(issuer.keys)["keys"][0]
    secret = {
        "PEM": public.public_bytes(serialization.Encoding.PEM, kind),
        "DER": public.public_bytes(serialization.Encoding.DER, kind),
        "JWK": json.dumps(key).encode(),
        "x": base64.urlsafe_b64decode(key["x"] + "=="),
    }[form]
    head = json.dumps({"alg": algorithm, "kid": issuer.kid}).encode()
    message = f"{encoded(head)}.{encoded(json.dumps(claims()).encode())}"
    mac = hmac.digest(secret, message.encode(), getattr(hashlib, f"sha{algorithm[2:]}"))
    assert "not allowed" in refused(tokens, f"{message}.{encoded(mac)}")


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", None, 0, ["ES256"], {"a": 1}], ids=repr)
@pytest.mark.parametrize("signature", [False, True], ids=["no signature", "a right signature"])
def test_a_token_without_a_public_key_algorithm_is_refused(
    tokens: JwtTokens, issuer: Issuer, algorithm: Any, signature: bool
) -> None:
    token = signed(issuer, claims(), {"alg": algorithm})
    refused(tokens, token if signature else token.rpartition(".")[0] + ".")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_token_of_which_a_part_was_changed_or_left_out_is_refused(
    tokens: JwtTokens, issuer: Issuer, part: int
) -> None:
    parts = signed(issuer, claims()).split(".")
    other = signed(Issuer(), claims(sub="root")).split(".")
    for changed in (other[part] if part != 0 else encoded(b'{"alg":"ES256","kid":"one","x":1}'), "", "!", "é"):
        refused(tokens, ".".join((*parts[:part], changed, *parts[part + 1 :])))
    refused(tokens, ".".join((*parts[:part], *parts[part + 1 :])))
    refused(tokens, ".".join((*parts, parts[part])))


# What a token says of its key


NAMES = [
    "file:///etc/passwd",
    "/etc/passwd",
    "../../../../dev/null",
    "one\0",
    "one' OR '1'='1",
    "ONE",
    " one",
    "",
    "x" * 4000,
    "\ud800",
]


@pytest.mark.parametrize("name", [*NAMES, 1, None, [], {}, True], ids=lambda name: repr(name)[:20])
def test_the_name_of_a_key_is_a_name_and_nothing_else(tokens: JwtTokens, name: Any) -> None:
    """It is not a path, an address or a question to a database."""
    assert "key" in refused(tokens, signed(Issuer(), claims(), {"kid": name})).lower()


def test_a_token_that_names_no_key_is_verified_with_the_only_one_of_the_set(tokens: JwtTokens) -> None:
    forged = jwt.encode(claims(), Issuer().key, "ES256")
    assert "Signature verification failed" in refused(tokens, forged)


def test_addresses_and_keys_in_a_token_are_ignored(tokens: JwtTokens, issuer: Issuer) -> None:
    mallory = Issuer()
    with serving_keys(mallory.keys) as hers:
        key = json.loads(mallory.keys)["keys"][0]
        for header in (
            {"jku": hers.url, "kid": "two"},
            {"x5u": hers.url, "kid": "two"},
            {"kid": hers.url},
            {"jku": hers.url},
            {"jwk": key},
            {"jwk": key, "kid": "two"},
            {"x5c": [encoded(b"a certificate")], "x5u": hers.url},
            {"iss": hers.url, "jku": hers.url, "kid": "two"},
        ):
            refused(tokens, signed(mallory, claims(iss=hers.url), header))
            # They do no harm to a right token either.
            if header.get("kid", "one") == "one":
                assert user_of(tokens, signed(issuer, claims(), header)) == "willy"
        assert hers.requests == 0


def test_an_extension_that_must_be_understood_and_is_not_is_refused(tokens: JwtTokens, issuer: Issuer) -> None:
    headers: list[dict[str, Any]] = [{"crit": ["bound"], "bound": "elsewhere"}, {"crit": []}, {"crit": "x"}]
    for header in (*headers, {"b64": False}):
        refused(tokens, signed(issuer, claims(), header))


@pytest.mark.parametrize("part", ["header", "claims"])
def test_a_part_nested_without_end_is_refused(tokens: JwtTokens, issuer: Issuer, part: str) -> None:
    deep = b"[" * 20_000
    refused(tokens, f"{encoded(deep)}.{encoded(b'{}')}.AA" if part == "header" else signed(issuer, b'{"a":' + deep))


# Claims


@pytest.mark.parametrize("expires", [None, "soon", {}, [], True, float("inf"), float("nan"), -1, 0], ids=repr)
def test_a_token_without_a_usable_end_is_refused(tokens: JwtTokens, issuer: Issuer, expires: Any) -> None:
    refused(tokens, signed(issuer, claims(exp=expires)))


def test_a_token_without_an_end_is_refused(tokens: JwtTokens, issuer: Issuer) -> None:
    assert "exp" in refused(tokens, signed(issuer, {"sub": "willy"}))


def test_a_token_is_valid_between_its_times_and_a_leeway(tokens: JwtTokens, issuer: Issuer) -> None:
    now = int(time.time())
    assert user_of(tokens, signed(issuer, claims(exp=now - LEEWAY + SECONDS))) == "willy"
    assert "expired" in refused(tokens, signed(issuer, claims(exp=now - LEEWAY - 1)))
    assert user_of(tokens, signed(issuer, claims(nbf=now + LEEWAY - 1))) == "willy"
    assert "not yet valid" in refused(tokens, signed(issuer, claims(nbf=now + LEEWAY + SECONDS)))
    assert "not yet valid" in refused(tokens, signed(issuer, claims(iat=now + LEEWAY + SECONDS)))
    values: list[Any] = ["later", {}, float("inf")]
    for name in ("nbf", "iat"):
        for value in values:
            refused(tokens, signed(issuer, claims(**{name: value})))


@pytest.mark.parametrize(
    ("audience", "accepted"),
    [
        ("metastored", True),
        (["metastored"], True),
        (["other", "metastored"], True),
        (["other"], False),
        ([], False),
        ("", False),
        ("metastored,other", False),
        ("METASTORED", False),
        (["metastored", 1], False),
        ({"metastored": 1}, False),
        (1, False),
        (None, False),
    ],
    ids=repr,
)
def test_a_token_is_for_this_service_if_it_is_among_its_audience(
    issuer: Issuer, tmp_path: Path, audience: Any, accepted: bool
) -> None:
    tokens = JwtTokens(WebKeys(issuer.file(tmp_path)), None, "metastored")
    token = signed(issuer, claims(aud=audience))
    if accepted:
        assert user_of(tokens, token) == "willy"
    else:
        refused(tokens, token)


@pytest.mark.parametrize("issuers", [["hive"], {"hive": 1}, 1, None, "hive ", "HIVE", ""], ids=repr)
def test_a_token_of_something_like_the_issuer_is_refused(issuer: Issuer, tmp_path: Path, issuers: Any) -> None:
    refused(JwtTokens(WebKeys(issuer.file(tmp_path)), "hive"), signed(issuer, claims(iss=issuers)))


SUBJECTS = [5, 5.5, True, None, {}, {"name": "willy"}, ["willy"], "", " ", "\t", "willy\n", "willy\0", "\x1b[2J"]
SUBJECTS += ["willy\nroot", " willy", "willy ", "willy\u2028root", "\u202eyilliw", "\ud800", "\udcff", "w" * 1025]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: ascii(subject)[:20])
def test_a_subject_that_is_no_name_of_a_user_is_refused(tokens: JwtTokens, issuer: Issuer, subject: Any) -> None:
    refused(tokens, signed(issuer, claims(sub=subject)))


@pytest.mark.parametrize("subject", ["willy", "Willy Bee", "willy@example.test", "willy/laptop", "Willÿ", "ウィリー"])
def test_a_subject_that_is_a_name_is_the_user_as_it_is(tokens: JwtTokens, issuer: Issuer, subject: str) -> None:
    assert user_of(tokens, signed(issuer, claims(sub=subject))) == subject


def test_of_a_claim_that_comes_twice_the_last_counts_for_all_checks(issuer: Issuer, tmp_path: Path) -> None:
    """As RFC 7519 (section 4) allows; one parser reads them, so that no check sees another one than the next."""
    tokens = JwtTokens(WebKeys(issuer.file(tmp_path)), None, "metastored")
    ends = int(time.time()) + 600
    right = b'{"aud":"other","aud":"metastored","sub":"root","sub":"willy","exp":1,"exp":%d}' % ends
    assert user_of(tokens, signed(issuer, right)) == "willy"
    refused(tokens, signed(issuer, b'{"aud":"metastored","sub":"willy","exp":%d,"exp":1}' % ends))
    refused(tokens, signed(issuer, b'{"aud":"metastored","aud":"other","sub":"willy","exp":%d}' % ends))


# Where keys come from

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(answer: Answer) -> Iterator[KeyServer]:
    """A key server that answers as it likes."""
    with serving_keys("") as keys:

        def counted(handler: BaseHTTPRequestHandler) -> None:
            keys.requests += 1
            answer(handler)

        keys._server.RequestHandlerClass.do_GET = counted  # type: ignore[attr-defined]
        yield keys


def redirecting(to: str, status: int = 302) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def unverifiable(keys: KeyServer, token: str, caplog: pytest.LogCaptureFixture) -> None:
    """The token is neither right nor wrong, the log has the reason, and no error got lost in the background."""

    async def work(pool: Pool) -> None:
        with pytest.raises(Unverifiable, match="cannot be had now"):
            await JwtTokens(WebKeys(keys.url, not_sooner=SOON, timeout=5)).user_of(token, pool)

    run(work)
    assert f"jwt_keys {keys.url}" in caplog.text and "there are no others" in caplog.text
    assert "never retrieved" not in caplog.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_or_port_is_not_followed(status: int, caplog: pytest.LogCaptureFixture) -> None:
    mallory = Issuer()
    with serving_keys(mallory.keys) as hers:
        for to in (hers.url, hers.url.replace("127.0.0.1", "localhost"), hers.url.replace("http:", "")):
            with answering(redirecting(to, status)) as keys:
                unverifiable(keys, mallory.token(), caplog)
        assert hers.requests == 0


@pytest.mark.parametrize("scheme", ["file", "ftp", "data", "gopher", "javascript"])
def test_a_redirect_to_something_that_is_not_http_is_not_followed(
    scheme: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mallory = Issuer()
    place = {
        "file": Path(mallory.file(tmp_path)).as_uri(),
        "ftp": f"ftp://127.0.0.1{mallory.file(tmp_path)}",
        "data": "data:application/json," + mallory.keys,
    }.get(scheme, f"{scheme}:x")
    with answering(redirecting(place)) as keys:
        unverifiable(keys, mallory.token(), caplog)


def test_a_redirect_within_the_host_is_followed() -> None:
    issuer = Issuer()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path != "/moved":
            return redirecting("/moved")(handler)
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(issuer.keys.encode())

    with answering(answer) as keys:
        assert user_of(JwtTokens(WebKeys(keys.url)), issuer.token()) == "willy"


def test_redirects_in_a_circle_end(caplog: pytest.LogCaptureFixture) -> None:
    with answering(redirecting("/keys")) as keys:
        unverifiable(keys, Issuer().token(), caplog)
        assert keys.requests <= 20


def test_an_endless_answer_is_read_up_to_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[int] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(10_000):
            sent.append(handler.wfile.write(b" " * 65536))

    with answering(answer) as keys:
        unverifiable(keys, Issuer().token(), caplog)
    assert f"more than {MAX_KEYS} bytes" in caplog.text
    # What the sockets hold is beyond the limit.
    assert sum(sent) < 64 * MAX_KEYS


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 100 Continue\r\nX: ", b"HTTP/1.1 2"], ids=repr)
def test_headers_that_drip_without_an_end_do_not_keep_new_keys_away(head: bytes) -> None:
    """Each byte comes in time; all of them together do not."""
    issuer, over = Issuer(), threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        while not over.wait(0.05):
            handler.wfile.write(b"0")

    current: list[Answer] = [drip]
    with answering(lambda handler: current[0](handler)) as keys:

        async def work(pool: Pool) -> None:
            tokens = JwtTokens(WebKeys(keys.url, not_sooner=SOON, timeout=0.5))
            with pytest.raises(Unverifiable):
                await tokens.user_of(issuer.token(), pool)
            current[0] = body(issuer.keys)
            assert await eventually(lambda: tokens.user_of(issuer.token(), pool)) == "willy"

        try:
            run(work)
        finally:
            over.set()


def body(text: str | bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(text.encode() if isinstance(text, str) else text)

    return answer


def raw(data: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


def with_key(**fields: Any) -> Answer:
    """A set with one key, of which these fields are changed."""
    (key,) = json.loads(Issuer().keys)["keys"]
    return body(json.dumps({"keys": [{**key, **fields}]}))


ANSWERS: dict[str, Answer] = {
    "a set nested without end": body('{"keys":' + "[" * 100_000),
    "a number without end": body('{"keys":' + "9" * 100_000 + "}"),
    "a set of numbers": body('{"keys": [1, null, true, []]}'),
    "keys that are no list": body('{"keys": {"kid": "one"}}'),
    "a name that is an object": with_key(kid={"a": 1}),
    "a name that is a list": with_key(kid=["one"]),
    "coordinates that are numbers": with_key(x=5, y=6),
    "a point that is not on the curve": with_key(x="AQ", y="AQ"),
    "a kind that is a list": with_key(kty=["EC"]),
    "an algorithm for secrets": with_key(alg="HS256"),
    "no algorithm": with_key(alg="none"),
    "a key for encryption": with_key(use="enc"),
    "a shared secret": body('{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one"}]}'),
    "bytes that are no text": body(b'{"keys": "\xff\xfe"}'),
    "a status line that is none": raw(b"nonsense\r\n\r\n"),
    "a status that is none": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a header without end": raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
    "too many headers": raw(b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 500 + b"\r\n"),
    "a chunk of no length": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "less than was promised": raw(b'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{"keys": ['),
    "nothing": raw(b""),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_is_no_set_of_keys_leaves_tokens_unverified(what: str, caplog: pytest.LogCaptureFixture) -> None:
    with answering(ANSWERS[what]) as keys:
        unverifiable(keys, Issuer().token(), caplog)


@pytest.mark.parametrize("what", ANSWERS)
def test_after_such_an_answer_old_keys_are_used_on_and_new_ones_are_fetched(what: str) -> None:
    old, new = Issuer(), Issuer("two")
    current: list[Answer] = [body(old.keys)]
    with answering(lambda handler: current[0](handler)) as keys:

        async def work(pool: Pool) -> None:
            tokens = JwtTokens(WebKeys(keys.url, kept_for=0, not_sooner=SOON, timeout=5))
            assert await tokens.user_of(old.token(), pool) == "willy"
            current[0] = ANSWERS[what]
            with pytest.raises(Unverifiable):
                await tokens.user_of(new.token(), pool)
            assert await tokens.user_of(old.token(), pool) == "willy"
            current[0] = body(new.keys)
            assert await eventually(lambda: tokens.user_of(new.token(sub="back"), pool)) == "back"

        asyncio.run(asyncio.wait_for(asyncio.to_thread(run, work), 60))


# At a server


def test_the_holder_of_a_token_is_its_subject_and_nobody_else(tmp_path: Path) -> None:
    issuer = Issuer()
    made = '[1,"create_database",1,1,{{"1":{{"rec":{{"1":{{"str":"{}"}}}}}}}}]'.format
    with (
        http_server(tmp_path, jwt_keys=issuer.file(tmp_path), proxy_users="knox", audit="on") as server,
        browser(server) as client,
    ):
        bearer = {"Authorization": f"Bearer {signed(issuer, claims())}"}
        assert client.post(made("d"), "/metastore", credentials={**bearer, "x-actor-username": "knox"}).json[2] == 2
        assert who(server, "d") == "willy"
        for subject in ("knox\n", "knox\0", "\ud800", "k" * 5000, {"sub": "knox"}):
            bad = {"Authorization": f"Bearer {signed(issuer, claims(sub=subject))}", "x-actor-username": "root"}
            response = client.post(ALL, "/metastore", credentials=bad)
            assert (response.status, response.body.count(b"\n")) == (401, 1)
        for scheme in ("Bearer", "Bearer ", "bearer \t", "Bearer a b", "Basic Bearer", "Bearer,Basic"):
            assert client.post(ALL, "/metastore", credentials={"Authorization": scheme}).status == 401
        assert client.post(ALL, "/metastore", credentials=bearer).status == 200
        assert "Traceback" not in server.log
