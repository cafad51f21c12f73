"""A real Trino on a server with remotes: views that Trino stored at the remote, and writes to a read-only one.

The catalog `lake` is the server, and `old` the remote itself, where the tables and views are made.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from tests.support.forks import running_server
from tests.support.trino import Trino, TrinoError, running_trino

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def trino(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    with running_server() as old, running_server(remotes_trino_catalog="lake") as server:
        folder = tmp_path_factory.mktemp("trino")
        writes = {"hive.non-managed-table-writes-enabled": "false"}
        with running_trino(server.uri, folder, {"old": old.uri}, **writes) as running:
            running.execute("create schema old.src")
            running.execute("create table old.src.plain as select * from (values (1, 'a'), (2, 'b')) t(id, name)")
            running.execute("create view old.src.full_names as select name from old.src.plain where id = 1")
            running.execute("create view old.src.short_names as select name from plain", "old", "src")
            with metastored.connect(server.uri) as client:
                properties = f"WITH DBPROPERTIES ('hive.metastore.uris' = '{old.uri}')"
                client.sql(f"CREATE REMOTE DATABASE rem CONNECTED TO src {properties}")
            yield running


@pytest.mark.parametrize(("view", "expected"), [("full_names", [("a",)]), ("short_names", [("a",), ("b",)])])
def test_a_view_of_trino_is_read_through_a_remote(trino: Trino, view: str, expected: list[tuple[str]]) -> None:
    assert trino.execute(f"select * from lake.rem.{view} order by 1") == expected


@pytest.mark.parametrize(
    "statement",
    [
        "truncate table lake.rem.plain",
        "insert into lake.rem.plain values (3, 'c')",
        "delete from lake.rem.plain",
        "drop table lake.rem.plain",
        "create table lake.rem.fresh as select 1 as id",
        "alter table lake.rem.plain rename to lake.rem.other",
    ],
)
def test_a_write_to_a_read_only_remote_is_refused_and_changes_no_row(trino: Trino, statement: str) -> None:
    with pytest.raises(TrinoError):
        trino.execute(statement)
    assert trino.execute("select * from old.src.plain order by 1") == [(1, "a"), (2, "b")]
    assert trino.execute("select * from lake.rem.plain order by 1") == [(1, "a"), (2, "b")]
    assert sorted(trino.execute("show tables from old.src")) == [("full_names",), ("plain",), ("short_names",)]
