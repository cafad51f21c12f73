"""POST /sql: statements over HTTP, with the caller's own identity and privileges."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.config import load
from metastored.errors import ConfigError
from metastored.service.core.partition_lists import SHORT
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.server.http.support import (
    DB,
    PASSWORD,
    TABLE,
    USER,
    Browser,
    Response,
    basic,
    browser,
    fill,
    http_server,
    user,
)
from tests.server.support import Peer
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.slow

SQL, JSON = "application/sql", "application/json"


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    if request.param == "sqlite":
        with http_server(tmp_path_factory.mktemp("sql"), audit="on") as running:
            fill(running)
            yield running
        return
    with shared_postgres().database() as url:
        user("add", USER, data=url, password=PASSWORD)
        with running_server(http_port=0, database_url=url, audit="on") as running:
            fill(running)
            yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Browser]:
    with browser(server) as found:
        yield found


def post(client: Browser, body: Any, path: str = "/sql", kind: str = SQL, **more: Any) -> Response:
    return client.post(json.dumps(body) if kind == JSON else body, path, kind=kind, **more)


def test_a_statement_is_answered_with_columns_rows_and_the_current_database(client: Browser) -> None:
    answer = post(client, f"SHOW TABLES IN {DB}")
    assert (answer.status, answer.headers["content-type"]) == (200, JSON)
    assert answer.json == {"columns": ["tab_name"], "rows": [[TABLE]], "database": "default"}


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        (f"/sql?database={DB}", SQL, "SHOW TABLES"),
        (f"/sql?database={DB}", JSON, {"statement": "SHOW TABLES"}),
        ("/sql", JSON, {"statement": "SHOW TABLES;", "database": DB}),
        ("/sql", SQL, f"USE {DB}; SHOW TABLES"),
    ],
)
def test_the_database_is_given_in_the_address_in_the_body_or_by_use(
    client: Browser, path: str, kind: str, body: Any
) -> None:
    assert post(client, body, path, kind).json == {"columns": ["tab_name"], "rows": [[TABLE]], "database": DB}


def test_a_text_that_is_no_statement_is_refused_with_its_position(client: Browser) -> None:
    answer = post(client, "SHOW TABLES;\nFROBNICATE 1")
    assert (answer.status, answer.headers["content-type"]) == (400, JSON)
    error = answer.json["error"]
    assert (error["type"], error["line"], error["column"]) == ("StatementError", 2, 1)
    assert "SHOW" in error["expected"]


@pytest.mark.parametrize(
    ("statement", "status", "type"),
    [
        ("DESCRIBE nothing", 404, "TableNotFound"),
        ("USE nowhere", 404, "DatabaseNotFound"),
        (f"DROP REMOTE DATABASE {DB}", 400, "InvalidOperationException"),
        ("CREATE CONNECTOR c TYPE 'mysql' URL 'u'; CREATE CONNECTOR c TYPE 'mysql' URL 'u'", 409, "Already"),
    ],
)
def test_an_error_of_the_metastore_has_a_status_and_the_number_of_its_statement(
    client: Browser, statement: str, status: int, type: str
) -> None:
    answer = post(client, f"SHOW DATABASES; {statement}")
    error = answer.json["error"]
    assert (answer.status, type in error["type"], error["message"] != "") == (status, True, True)
    assert error["statement"] == statement.count(";") + 2
    post(client, "DROP CONNECTOR IF EXISTS c")


@pytest.mark.parametrize(
    ("body", "kind", "status", "said"),
    [
        ("SHOW TABLES", "text/plain", 415, "application/sql"),
        ("SHOW TABLES", "", 415, "application/sql"),
        ("[]", JSON, 400, "object"),
        ('{"statement": 1}', JSON, 400, "texts"),
        ('{"statement": "USE d", "x": 1}', JSON, 400, "object"),
        ("{", JSON, 400, "JSON"),
        (b"\xff", SQL, 400, "UTF-8"),
        (b" " * (64 * 1024 + 1), SQL, 413, "bytes"),
    ],
)
def test_a_request_of_another_form_is_refused_in_one_line(
    server: RunningServer, body: Any, kind: str, status: int, said: str
) -> None:
    with browser(server) as client:
        answer = client.post(body, "/sql", kind=kind)
    assert answer.status == status
    assert said in answer.body.decode() and answer.body.count(b"\n") == 1


def test_only_post_and_only_the_parameter_database_are_served(client: Browser) -> None:
    answer = client.request("GET", "/sql", headers=basic())
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert post(client, "SHOW TABLES", "/sql?db=x").status == 400
    assert post(client, "SHOW TABLES", "/sql?database=").status == 400


def test_no_statement_has_no_result(client: Browser) -> None:
    assert post(client, "-- nothing").json == {"columns": [], "rows": [], "database": "default"}


def test_a_wrong_password_is_refused_and_calls_are_in_the_audit_log_under_the_user(
    client: Browser, server: RunningServer
) -> None:
    assert post(client, "SHOW TABLES", credentials=basic(USER, "wrong")).status == 401
    assert post(client, "DESCRIBE DATABASE default").status == 200
    lines = [line for line in server.log.splitlines() if "method=get_database " in line]
    assert lines and f"user={USER} " in lines[-1]


def test_names_that_the_metastore_streams_come_in_one_reply(server: RunningServer, client: Browser) -> None:
    with Peer(server.port) as peer:
        table = peer.call("get_table", DB, TABLE)
        peer.call("create_table", replace(table, tableName="wide", sd=replace(table.sd, location=None)))
        parts = tuple(
            Partition(values=(f"color-{number:05}",), dbName=DB, tableName="wide", sd=replace(table.sd, location=None))
            for number in range(SHORT + 1)
        )
        peer.call("add_partitions", parts)
    rows = post(client, f"SHOW PARTITIONS {DB}.wide").json["rows"]
    assert len(rows) == SHORT + 1 and rows[-1] == [f"hair_color=color-{SHORT:05}"]


def test_a_statement_needs_the_privileges_of_its_calls(tmp_path: Path) -> None:
    settings = {"authorization": "sql", "admin_users": "root"}
    with http_server(tmp_path, **settings) as server, browser(server) as client:
        with Peer(server.port) as peer:
            peer.call("set_ugi", "root", ())
            peer.call("create_database", Database(name="secret"))
        refused = post(client, "CREATE CONNECTOR c TYPE 'mysql' URL 'u'")
        assert (refused.status, refused.json["error"]["type"]) == (403, "PermissionDenied")
        assert USER in refused.json["error"]["message"]


def test_the_path_cannot_be_that_of_the_http_protocol(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="/sql"):
        load(None, flags={"http_path": "/sql"})


def test_a_server_does_not_load_the_grammar_before_the_first_statement() -> None:
    program = "import sys, metastored.server.http.app; print({'lark', 'metastored.client'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


def test_a_grant_is_made_in_the_name_of_the_caller(client: Browser) -> None:
    made = post(client, f"CREATE ROLE reader; GRANT SELECT ON {DB}.{TABLE} TO ROLE reader")
    assert made.json == {"columns": [], "rows": [], "database": "default"}
    shown = post(client, f"SHOW GRANT ON TABLE {DB}.{TABLE}").json
    (row,) = [dict(zip(shown["columns"], each, strict=True)) for each in shown["rows"]]
    assert (row["principal_name"], row["privilege"], row["grantor"]) == ("reader", "SELECT", USER)
    assert post(client, "DROP ROLE reader; DROP ROLE reader").json["error"]["type"] == "ObjectNotFound"
