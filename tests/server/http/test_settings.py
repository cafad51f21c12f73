"""The HTTP port under other settings: another path, all methods, other versions, nobody who could log in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer, running_server
from tests.server.http.support import (
    ALL,
    API,
    DB,
    PASSWORD,
    TABLE,
    USER,
    basic,
    browser,
    connect,
    fill,
    head,
    http_server,
    status,
    trusting,
    user,
)
from tests.server.sasl import Refusal, Sasl
from tests.server.support import certificate, eventually, rest_of
from tests.support.postgres import running_postgres

pytestmark = pytest.mark.slow

PATH = "/elsewhere/api/hms"


@pytest.fixture(scope="module", params=["2.3", "4.2"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """All methods at a path of its own, for clients of this version."""
    settings = {"compat": request.param, "http_path": PATH, "http_methods": "all"}
    with http_server(tmp_path_factory.mktemp("http"), **settings) as running:
        fill(running)
        yield running


def call(server: RunningServer, method: str, *fields: dict[str, Any], path: str = PATH) -> Any:
    """What a method gave: the fields of its result."""
    with browser(server) as client:
        body = json.dumps([1, method, 1, 9, {str(at): field for at, field in enumerate(fields, 1)}])
        answer = client.post(body, path)
        assert answer.status == 200, answer.body
        assert answer.json[:2] + answer.json[3:4] == [1, method, 9]
        return answer.json[4]


def test_the_path_is_the_one_that_was_given(server: RunningServer) -> None:
    with browser(server) as client:
        assert client.post(ALL, PATH).status == 200
        gone = client.post(ALL, API)
        assert gone.status == 404 and PATH.encode() in gone.body


def test_all_methods_are_served_when_told_so_also_those_that_came_later(server: RunningServer) -> None:
    made = {"rec": {"1": {"str": "made"}}}
    assert call(server, "create_database", made) == {}
    assert call(server, "drop_database", {"str": "made"}, {"tf": 1}, {"tf": 0}) == {}
    assert call(server, "get_catalogs")["0"]["rec"]["1"]["lst"][2:] == ["hive"]


def test_structs_have_the_fields_of_2_3_0_whatever_version_clients_are_answered_as(server: RunningServer) -> None:
    database = call(server, "get_database", {"str": DB})["0"]["rec"]
    table = call(server, "get_table", {"str": DB}, {"str": TABLE})["0"]["rec"]
    partitions = call(server, "get_partitions", {"str": DB}, {"str": TABLE}, {"i16": -1})["0"]["lst"]
    assert {int(each) for each in database} <= set(range(1, 8))
    assert {int(each) for each in table} <= set(range(1, 16))
    for partition in partitions[2:]:
        assert {int(each) for each in partition} <= set(range(1, 9))
    assert {int(each) for each in table["7"]["rec"]} <= set(range(1, 13))


def test_as_long_as_there_are_no_users_nobody_gets_in() -> None:
    with running_server(http_port=0) as server, browser(server) as client:
        for proof in ({}, basic(), {"x-actor-username": "maja"}):
            refused = client.post(ALL, proof=proof)
            assert refused.status == 401
            assert refused.headers["www-authenticate"].startswith("Basic ")
        # Callers are believed at /metastore, as on the Thrift port: nothing here asks for proof.
        assert client.post(ALL, "/metastore", proof={}).status == 200


@pytest.mark.postgres
def test_while_the_database_is_gone_nobody_is_let_in_and_everybody_is_told(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    with running_postgres() as postgres, postgres.database() as url:
        user("add", USER, data=url, password=PASSWORD)
        settings: dict[str, Any] = {"database_url": url, "tls_certificate": chain, "tls_key": key}
        with running_server(http_port=0, password_login="on", **settings) as server, browser(server) as client:
            assert client.post(ALL).status == 200
            postgres.stop()
            with Sasl(server.port, tls=trusting()) as peer, pytest.raises(Refusal, match="cannot be found out now"):
                peer.plain(USER, PASSWORD)
            refused = client.post(ALL)
            assert refused.status == 503
            assert refused.body == b"who is asking cannot be found out now: try again later\n"
            assert (client.ask("GET", "/health").status, client.ask("GET", "/ready").status) == (200, 503)
            postgres.start()
            eventually(lambda: client.ask("GET", "/ready").status == 200)
            assert client.post(ALL).status == 200


def test_a_connection_is_closed_when_the_caller_asks_for_it_and_kept_when_not(server: RunningServer) -> None:
    assert server.http_port is not None
    request = head(len(ALL), PATH) + ALL
    with connect(server.http_port, trusting()) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert status(connection) == 200
        connection.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        assert status(connection) == 200
        assert rest_of(connection) == b""
