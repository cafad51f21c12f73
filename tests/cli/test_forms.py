"""The JSON of `user list`, `remotes`, `sql`, `import`, `export` and `relocate`, whose text has tests of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from tests.cli.running import refused, run
from tests.support.in_process import serving_metastore

DEAD = "thrift://127.0.0.1:1"
FEDERATION = f"""
primary-meta-store:
  name: local
  remote-meta-store-uris: {DEAD}
  latency: 5
"""


@pytest.fixture(scope="module")
def federated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A metastore with one remote that answers, itself, and one that does not."""
    with serving_metastore(tmp_path_factory.mktemp("federated")) as uri:
        with metastored.connect(uri, cache=False) as client:
            client.create_database("shop")
            client.create_table(metastored.table("shop.orders", {"id": "int"}))
            for name, address in (("alive", uri), ("dead", DEAD)):
                client.sql(
                    f"CREATE REMOTE DATABASE {name} CONNECTED TO shop "
                    f"WITH DBPROPERTIES ('hive.metastore.uris' = '{address}')"
                )
        yield uri


def test_users_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = str(tmp_path / "data")
    for name in ("maja", "tom"):
        monkeypatch.setattr("sys.stdin", io.StringIO("a password\n"))
        assert run("user", "add", name, "--password-stdin", "--data", data).code == 0
    assert run("user", "list", "--data", data).out == "maja\ntom\n"
    assert run("user", "list", "--data", data, "--output", "json").json == {"users": ["maja", "tom"]}
    assert run("user", "remove", "tom", "--data", data).code == 0
    refused(("user", "remove", "tom", "--data", data), "there is no user 'tom'")


def test_remotes_are_listed_and_tested(federated: str) -> None:
    rows = run("remotes", "list", "--uri", federated, "--output", "json").dicts
    assert [(row["name"], row["address"]) for row in rows] == [("alive", federated), ("dead", DEAD)]
    done = run("remotes", "test", "--uri", federated)
    assert done.code == 1
    assert done.out.startswith("ok     database alive: 1 table in ") and "\nFAILED database dead: " in done.out
    tested = [
        json.loads(line) for line in run("remotes", "test", "--uri", federated, "--output", "json").out.splitlines()
    ]
    assert [(each["name"], each["ok"]) for each in tested] == [("alive", True), ("dead", False)]
    assert "warning: it is read-only, but this process may write to file:/" in done.out
    assert [each["storage_writable"] for each in tested] == [True, None]
    assert run("remotes", "test", "alive", "--uri", federated).code == 0
    refused(("remotes", "test", "none", "--uri", federated), "there is no remote 'none'; there are: alive, dead")


def test_a_statement_without_a_result_says_that_it_worked(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri:
        create = f"CREATE REMOTE DATABASE old CONNECTED TO default WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')"
        done = run(
            "sql",
            "-e",
            f"{create}; USE default; GRANT CREATE_REMOTE TO USER ann; DROP REMOTE DATABASE old",
            "--uri",
            uri,
        )
        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == [
            "ok: CREATE REMOTE DATABASE old",
            "ok: USE default",
            "ok: GRANT CREATE_REMOTE",
            "ok: DROP REMOTE DATABASE old",
        ]
        assert run("sql", "-e", create, "--uri", uri, "--output", "json").out == ""
        gone = f"CREATE REMOTE DATABASE gone WITH DBPROPERTIES ('hive.metastore.uris' = '{DEAD}')"
        assert (
            f"created, and it does not answer now: remote database 'gone' ('gone' at {DEAD})"
            in run("sql", "-e", gone, "--uri", uri).out
        )


def test_an_error_of_a_grant_has_no_name_of_a_java_class(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri:
        done = run("sql", "-e", "GRANT CREATE_REMOTE TO ROLE nosuch", "--uri", uri)
        assert (done.code, done.err) == (2, "metastored: Role nosuch does not exist\n")


def test_statements_print_their_results(shop: str) -> None:
    assert run("sql", "-e", "SHOW TABLES IN shop", "--uri", shop, "--output", "json").dicts == [
        {"tab_name": "log"},
        {"tab_name": "orders"},
        {"tab_name": "spark"},
    ]
    assert run("sql", "-e", "USE shop", "--uri", shop, "--output", "json").out == ""
    refused(("sql", "-e", "SHOW NOTHING", "--uri", shop), "line 1, column 6")


def test_an_import_and_its_verification_are_counted(shop: str, tmp_path: Path) -> None:
    words = ("import", "metastore", shop, "--into", str(tmp_path / "data"), "--databases", "shop", "--output", "json")
    missing = run(*words, "--dry-run").json
    assert (missing["mode"], missing["source"], missing["add"]["table"]) == ("dry_run", shop, 3)
    added = run(*words).json
    assert (added["mode"], added["add"]["table"], added["add"]["partition"], added["refused"]) == ("copy", 3, 3, [])
    done = run(*words, "--verify")
    assert (done.code, done.json["add"], done.json["compared"]["table"]) == (0, {}, 3)
    refused((*words, "--verify", "--dry-run"), "--verify and --dry-run cannot be combined")


def test_an_export_is_counted(shop: str, tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri:
        words = (
            "export",
            "metastore",
            uri,
            "--from",
            shop,
            "--catalogs",
            "hive",
            "--databases",
            "shop",
            "--tables",
            "orders",
        )
        assert run(*words, "--output", "json").json["add"] == {"database": 1, "partition": 3, "table": 1}
    refused(("export", "metastore", "nowhere", "--from", shop), "'nowhere' is not the address of a metastore")


def test_the_statements_of_a_waggle_dance_are_printed_with_notes(tmp_path: Path) -> None:
    file = tmp_path / "federation.yml"
    file.write_text(FEDERATION)
    found = run("import", "waggle-dance", str(file), "--output", "json").json
    assert found["executed"] is False and found["statements"][0].startswith("CREATE REMOTE CATALOG local")
    assert "latency" in found["notes"][0]
    with serving_metastore(tmp_path) as uri:
        assert run("import", "waggle-dance", str(file), "--into", uri, "--output", "json").json["executed"] is True
        assert run("ls", "local.default", "--uri", uri).code == 2  # The remote does not answer.


def test_relocated_locations_are_an_object(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, cache=False) as client:
        client.create_database("shop")
    words = ("relocate", str(tmp_path / "warehouse"), "/new", "--data", str(tmp_path / "data"), "--output", "json")
    found = run(*words, "--dry-run").json
    assert found["dry_run"] is True and "shop" in {each["name"].rpartition(".")[2] for each in found["databases"]}
    assert run(*words).code == 0
    assert run(*words).code == 1, "nothing is stored there any more"
