"""The HTTP port under other settings: another path, all methods, other versions, no users."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer
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
from tests.server.support import certificate, rest_of
from tests.support.forks import running_server
from tests.support.postgres import running_postgres
from tests.support.waiting import eventually

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
    """The fields of a method's result."""
    with browser(server) as client:
        body = json.dumps([1, method, 1, 9, {str(at): field for at, field in enumerate(fields, 1)}])
        response = client.post(body, path)
        assert response.status == 200, response.body
        assert response.json[:2] + response.json[3:4] == [1, method, 9]
        return response.json[4]


def test_the_path_is_the_one_that_was_given(server: RunningServer) -> None:
    with browser(server) as client:
        assert client.post(ALL, PATH).status == 200
        gone = client.post(ALL, API)
        assert gone.status == 404 and PATH.encode() in gone.body


def test_with_the_setting_all_methods_are_served_also_newer_ones(server: RunningServer) -> None:
    made = {"rec": {"1": {"str": "made"}}}
    assert call(server, "create_database", made) == {}
    assert call(server, "drop_database", {"str": "made"}, {"tf": 1}, {"tf": 0}) == {}
    assert call(server, "get_catalogs")["0"]["rec"]["1"]["lst"][2:] == ["hive"]


def test_structs_have_the_fields_of_2_3_0_whatever_compat_is(server: RunningServer) -> None:
    database = call(server, "get_database", {"str": DB})["0"]["rec"]
    table = call(server, "get_table", {"str": DB}, {"str": TABLE})["0"]["rec"]
    partitions = call(server, "get_partitions", {"str": DB}, {"str": TABLE}, {"i16": -1})["0"]["lst"]
    assert {int(each) for each in database} <= set(range(1, 8))
    assert {int(each) for each in table} <= set(range(1, 16))
    for partition in partitions[2:]:
        assert {int(each) for each in partition} <= set(range(1, 9))
    assert {int(each) for each in table["7"]["rec"]} <= set(range(1, 13))


def test_without_users_no_login_succeeds() -> None:
    with running_server(http_port=0) as server, browser(server) as client:
        for credentials in ({}, basic(), {"x-actor-username": "maja"}):
            refused = client.post(ALL, credentials=credentials)
            assert refused.status == 401
            assert refused.headers["www-authenticate"].startswith("Basic ")
        # User names are trusted at /metastore, as on the Thrift port, since no authentication is required.
        assert client.post(ALL, "/metastore", credentials={}).status == 200


@pytest.mark.postgres
def test_while_the_database_is_down_logins_fail_with_the_reason(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    with running_postgres() as postgres, postgres.database() as url:
        user("add", USER, data=url, password=PASSWORD)
        settings: dict[str, Any] = {"database_url": url, "tls_certificate": chain, "tls_key": key}
        with running_server(http_port=0, password_login="on", **settings) as server, browser(server) as client:
            assert client.post(ALL).status == 200
            postgres.stop()
            with (
                Sasl(server.port, tls=trusting()) as peer,
                pytest.raises(Refusal, match="authentication is not available now"),
            ):
                peer.plain(USER, PASSWORD)
            refused = client.post(ALL)
            assert refused.status == 503
            assert refused.body == b"authentication is not available now: try again later\n"
            assert (client.request("GET", "/health").status, client.request("GET", "/ready").status) == (200, 503)
            postgres.start()
            eventually(lambda: client.request("GET", "/ready").status == 200)
            assert client.post(ALL).status == 200


def test_a_connection_is_closed_on_request_and_kept_otherwise(server: RunningServer) -> None:
    assert server.http_port is not None
    request = head(len(ALL), PATH) + ALL
    with connect(server.http_port, trusting()) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert status(connection) == 200
        connection.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        assert status(connection) == 200
        assert rest_of(connection) == b""
