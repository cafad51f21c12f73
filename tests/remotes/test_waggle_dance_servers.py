"""Waggle Dance's scenarios about its files, filter hook, limits and monitoring: 13, 14, 16 to 18, 29, 34 to 37.

What Waggle Dance stores in YAML or in Redis is in metastored's database, which all servers share.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import metastored
from metastored.client._sync.client import Client
from metastored.errors import ConnectError, MetaException, MetastoreError, NoSuchObjectException
from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.postgres import PostgresServer
from tests.support.waggle_dance import DEAD, Federation, federation

pytestmark = pytest.mark.slow

postgresql = pytest.mark.postgres
LIMIT = 20
WAIT = 45.0


@pytest.fixture(scope="module")
def remote() -> Iterator[Federation]:
    with federation() as found:
        yield found


@contextmanager
def server_on(url: str, **settings: Any) -> Iterator[Client]:
    with running_server(database_url=url, **settings) as server, metastored.connect(server.uri, cache=False) as client:
        yield client


def create(client: Client, text: str, uri: str) -> None:
    client.sql(text.replace("URIS", f"'hive.metastore.uris' = '{uri}'"))


@postgresql
def test_13_what_is_created_is_in_the_database_and_every_server_sees_it(
    postgres: PostgresServer, remote: Federation
) -> None:
    with postgres.database() as url, server_on(url) as one, server_on(url, workers=2) as two:
        create(
            one, "CREATE REMOTE DATABASE far CONNECTED TO remote_database WITH DBPROPERTIES (URIS)", remote.remote.uri
        )
        assert two.table("far.remote_table").dbName == "far"
        two.create_database("newly_created")
        assert "newly_created" in one.databases()
        two.sql("ALTER REMOTE DATABASE far SET DBPROPERTIES ('metastored.remote.access' = 'write')")
        assert (one.database("far").parameters or {})["metastored.remote.access"] == "write"


@postgresql
def test_14_with_a_prefix_a_database_that_is_created_there_is_seen_by_every_server(
    postgres: PostgresServer, remote: Federation
) -> None:
    with postgres.database() as url, server_on(url) as one, server_on(url) as two:
        text = "CREATE REMOTE CATALOG far PREFIX 'far_' WITH PROPERTIES (URIS, 'metastored.remote.access' = 'write')"
        create(one, text, remote.remote.uri)
        one.create_database("far_new")
        try:
            assert "new" in remote.there.databases()
            assert "far_new" in two.databases() and two.database("far_new").name == "far_new"
        finally:
            remote.there.drop_database("new")


def restarted(data: Path, work: Callable[[Client], None]) -> Client:
    with running_server(data=data) as server, metastored.connect(server.uri, cache=False) as client:
        work(client)
        return client


def test_16_a_definition_is_the_same_after_a_restart_whatever_happened_before(tmp_path: Path) -> None:
    printed: list[str | None] = []

    def made(client: Client) -> None:
        text = (
            "CREATE REMOTE CATALOG far PREFIX 'far_' WITH PROPERTIES (URIS, 'metastored.remote.databases' = 'a, b.*', "
            "'metastored.remote.alias.a' = 'c', 'metastored.remote.timeout' = '3')"
        )
        create(client, text, DEAD)
        client.create_database("mine")
        printed.append(str(client.sql("SHOW CREATE REMOTE CATALOG far").rows[0][0]))

    restarted(tmp_path, made)
    restarted(tmp_path, lambda client: printed.append(client.sql("SHOW CREATE REMOTE CATALOG far").rows[0][0]))
    assert printed[0] == printed[1] and "'metastored.remote.alias.a' = 'c'" in (printed[0] or "")


def test_17_a_remote_that_was_added_while_the_server_ran_is_there_after_a_restart(
    tmp_path: Path, remote: Federation
) -> None:
    restarted(
        tmp_path,
        lambda client: create(
            client, "CREATE REMOTE DATABASE remote_database WITH DBPROPERTIES (URIS)", remote.remote.uri
        ),
    )
    found: list[Any] = []
    restarted(tmp_path, lambda client: found.append(client.tables("remote_database")))
    assert found == [("remote_table",)]


def test_18_a_remote_that_was_dropped_or_refused_is_not_there_after_a_restart(tmp_path: Path) -> None:
    def work(client: Client) -> None:
        create(client, "CREATE REMOTE DATABASE gone WITH DBPROPERTIES (URIS)", DEAD)
        client.sql("DROP REMOTE DATABASE gone")
        with pytest.raises(MetastoreError):
            create(
                client, "CREATE REMOTE DATABASE typo WITH DBPROPERTIES (URIS, 'metastored.remote.acess' = 'x')", DEAD
            )

    restarted(tmp_path, work)
    found: list[Any] = []
    restarted(tmp_path, lambda client: found.append((client.sql("SHOW REMOTES").rows, client.databases())))
    assert found == [((), ("default",))]


HOOK = """
from metastored.structs import Table
from metastored.wire.structs import replace

def prefix_location(value, address):
    if address is None and isinstance(value, Table):
        if value.tableName == "hidden":
            return None
        return replace(value, sd=replace(value.sd, location="prefix:" + value.sd.location))
    return value
"""


def test_29_a_filter_from_an_entry_point_changes_what_is_local_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "location_hook.py").write_text(HOOK)
    metadata = tmp_path / "location_hook-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: location-hook\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[metastored.filters]\nlocations = location_hook:prefix_location\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    with federation(filter="locations") as both:
        both.here.create_table(metastored.table("local_database.hidden", {"id": "int"}))
        both.catalog("waggle_remote", "waggle_")
        local = both.here.table("local_database.local_table")
        assert local.sd is not None and (local.sd.location or "").startswith("prefix:file:")
        both_tables = both.here.tables_by_name("local_database", ("local_table", "hidden"))
        assert [each.tableName for each in both_tables] == ["local_table"]
        with pytest.raises(NoSuchObjectException):
            both.here.table("local_database.hidden")
        direct = both.there.table("remote_database.remote_table")
        assert both.here.table("waggle_remote_database.remote_table").sd == direct.sd


def test_29_a_filter_that_is_not_installed_is_refused_when_the_server_starts() -> None:
    with pytest.raises(ConnectError, match="no entry point 'nothing'"), running_server(filter="nothing"):
        pass


def passed(client: Client) -> bool:
    try:
        client.api.get_database("default")
    except MetaException as error:
        assert "too many" in str(error).lower()
        return False
    return True


def test_34_calls_above_the_limit_are_refused(tmp_path: Path) -> None:
    with running_server(limits_calls_per_minute=3) as server, metastored.connect(server.uri, cache=False) as client:
        answers = [passed(client) for _ in range(12)]
    assert answers[0] and not all(answers)


@postgresql
def test_35_calls_are_counted_in_the_database_over_all_servers(postgres: PostgresServer) -> None:
    limit = {"limits_calls_per_minute": LIMIT}
    with postgres.database() as url, server_on(url, **limit) as one, server_on(url, **limit) as two:
        deadline = time.monotonic() + WAIT
        while True:
            spent = sum(passed(one) for _ in range(LIMIT))
            own = 0
            while passed(two) and own < LIMIT:
                own += 1
                time.sleep(0.3)
            if own < LIMIT and spent:
                return  # It refused before its own calls reached the limit: it counted the other server's.
            assert time.monotonic() < deadline


@postgresql
def test_36_servers_go_on_by_their_own_counts_when_these_cannot_be_shared(postgres: PostgresServer) -> None:
    limit = {"limits_calls_per_minute": LIMIT}
    with postgres.database() as url, server_on(url, **limit) as one, server_on(url, **limit) as two:
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE rate_counters IN ACCESS EXCLUSIVE MODE")
            assert sum(passed(one) for _ in range(LIMIT - 5)) == LIMIT - 5
            time.sleep(2)
            assert sum(passed(two) for _ in range(LIMIT - 5)) == LIMIT - 5


def page(server: RunningServer, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}{path}") as found:
        text: str = found.read().decode()
    return text


def test_37_health_and_metrics_are_served_over_http() -> None:
    with running_server(http_port=0, http_tls="off") as server:
        assert "metastored_" in page(server, "/metrics")
        assert page(server, "/ready")
