"""The commands that read a metastore, on real metastores of Apache: they are not only for metastored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from tests.cli.running import refused, run
from tests.support.apache import ApacheMetastore

pytestmark = [pytest.mark.apache, pytest.mark.slow]

NAME = "cli_on_apache"


@pytest.fixture(scope="module", params=["hive_2_3", "hive_3_1"])
def uri(request: pytest.FixtureRequest) -> Iterator[str]:
    hive: ApacheMetastore = request.getfixturevalue(request.param)
    with metastored.connect(hive.uri, user="ann", cache=False) as client:
        client.create_database(NAME)
        client.create_table(metastored.table(f"{NAME}.orders", {"id": "int"}, partitioned_by={"ds": "string"}))
        client.add_partitions(f"{NAME}.orders", ["ds=1", "ds=2"])
        yield hive.uri
        client.drop_database(NAME, cascade=True)


def test_databases_and_tables_are_listed(uri: str) -> None:
    assert {"catalog": "hive", "database": NAME} in run("ls", "--uri", uri, "--output", "json").dicts
    assert {"catalog": "hive", "database": NAME} in run("ls", "hive", "--uri", uri, "--output", "json").dicts
    (row,) = run("ls", NAME, "--uri", uri, "--output", "json").dicts
    assert (row["table"], row["type"]) == ("orders", "MANAGED_TABLE")
    refused(("ls", "no_such_database", "--uri", uri), "no_such_database")


def test_objects_are_shown(uri: str) -> None:
    assert run("show", NAME, "--uri", uri, "--output", "json").json["database"]["name"] == NAME
    found = run("show", f"{NAME}.orders", "--uri", uri, "--output", "json").json
    assert found["hive"]["format"] == "parquet"
    assert run("show", f"{NAME}.orders/ds=2", "--uri", uri, "--output", "json").json["partition"]["values"] == ["2"]
    refused(("show", f"{NAME}.none", "--uri", uri), "none")


def test_partitions_and_statistics_are_read(uri: str) -> None:
    words = ("partitions", f"{NAME}.orders", "--uri", uri, "--output", "json")
    assert [row["partition"] for row in run(*words).dicts] == ["ds=1", "ds=2"]
    assert [row["partition"] for row in run(*words, "--where", "ds > '1'").dicts] == ["ds=2"]
    assert run("stats", f"{NAME}.orders", "--uri", uri, "--output", "json").json["columns"] == []


def test_locks_transactions_and_compactions_are_read(uri: str) -> None:
    with metastored.connect(uri, user="ann", cache=False) as client, client.lock(f"{NAME}.orders", type="shared_read"):
        (row,) = run("locks", NAME, "--uri", uri, "--output", "json").dicts
        assert (row["object"], row["user"]) == (f"{NAME}.orders", "ann")
    assert run("transactions", "--uri", uri).code == 0
    assert run("compact", "list", "--uri", uri).code == 0


def test_a_quick_measure_leaves_nothing_behind(uri: str) -> None:
    rows = run(
        "bench", "--seconds", "0.05", "--clients", "1", "--partitions", "5", "--uri", uri, "--output", "json"
    ).dicts
    assert len(rows) == 7
    assert not [row for row in run("ls", "--uri", uri, "--output", "json").dicts if "bench" in row["database"]]
