"""Bearer tokens at a metastore over HTTPS: who the caller is there, replaced tokens, and tokens that are refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metastored.connectors.context import Context
from metastored.model.remotes.endpoints import Endpoint
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.connectors.test_metastores import ask, at, connected, failure_of, run
from tests.server.http.support import who
from tests.server.support import certificate
from tests.server.tokens import Issuer
from tests.support.forks import running_server

pytestmark = pytest.mark.slow


class Secured(NamedTuple):
    """A server that takes web tokens of `issuer`; the user etl may act for others."""

    server: RunningServer
    issuer: Issuer
    certificate: Path
    folder: Path

    def endpoint(self, token: str, **keys: str) -> Endpoint:
        """The definition of a remote whose token is in a file, which has this text from now on."""
        self.file.write_text(token)
        uri = f"https://localhost:{self.server.http_port}/metastore"
        given = {"truststore_path": str(self.certificate), "remote_token": f"file:{self.file}", **keys}
        return at(uri, via="http", **given)

    @property
    def file(self) -> Path:
        return self.folder / "token"

    @property
    def context(self) -> Context:
        return Context(secrets=RemoteSecrets(references=[f"file:{self.folder}/*"]))


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tokens")
    cert, key = certificate(folder)
    issuer = Issuer()
    settings: dict[str, Any] = {
        "tls_certificate": cert,
        "tls_key": key,
        "jwt_keys": issuer.file(folder),
        "jwt_issuer": "hive",
        "jwt_audience": "metastored",
        "proxy_users": "etl",
        "audit": "on",
    }
    with running_server(http_port=0, **settings) as server:
        yield Secured(server, issuer, cert, folder)


def test_the_user_of_a_token_is_the_caller_there(secured: Secured) -> None:
    async def test() -> None:
        async with connected(secured.endpoint(secured.issuer.token(sub="maja")), secured.context) as handler:
            await ask(handler, "create_database", Database(name="by_token"), user="ann")

    run(test())
    assert who(secured.server, "by_token") == "maja"


def test_a_proxy_user_calls_with_its_token_for_the_caller(secured: Secured) -> None:
    async def test() -> None:
        endpoint = secured.endpoint(secured.issuer.token(sub="etl"), remote_identity="caller")
        async with connected(endpoint, secured.context) as handler:
            await ask(handler, "create_database", Database(name="token_for_ann"), user="ann")

    run(test())
    assert who(secured.server, "token_for_ann") == "ann"


def test_an_expired_token_is_refused_without_being_repeated_and_a_new_one_is_used(secured: Secured) -> None:
    async def test() -> None:
        expired = secured.issuer.token(exp=time.time() - 600)
        async with connected(secured.endpoint(expired), secured.context) as handler:
            text = await failure_of(handler, "get_all_databases")
            assert "401" in text and expired not in text
            secured.file.write_text(secured.issuer.token())
            assert "default" in await ask(handler, "get_all_databases")

    run(test())


def test_a_token_of_another_issuer_is_refused(secured: Secured) -> None:
    async def test() -> None:
        async with connected(secured.endpoint(Issuer().token()), secured.context) as handler:
            assert "401" in await failure_of(handler, "get_all_databases")

    run(test())
