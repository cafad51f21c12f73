"""`metastored grants`: who may do what on an object, by which grant and through which roles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from tests.cli.running import refused, run
from tests.support.in_process import serving_metastore


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that enforces grants: alice owns shop.orders, bob reads it by a role of a role."""
    with serving_metastore(tmp_path_factory.mktemp("grants"), authorization="sql", admin_users="root") as uri:
        with metastored.connect(uri, user="root") as root:
            root.create_database(metastored.database("shop", owner="alice"))
            root.create_table(metastored.table("shop.orders", {"id": "bigint"}, owner="alice"))
            root.sql("CREATE ROLE reader; CREATE ROLE junior; GRANT reader TO ROLE junior; GRANT junior TO USER bob")
            root.sql("GRANT CREATE ON SERVER TO USER carol; GRANT SELECT ON DATABASE shop TO ROLE reader")
            root.sql("GRANT INSERT ON shop.orders TO USER carol WITH GRANT OPTION")
        yield uri


def listed(uri: str, *words: str) -> set[tuple[object, ...]]:
    rows = run("grants", *words, "--uri", uri, "--output", "json").json["rows"]
    return {tuple(row) for row in rows}


def test_a_table_is_listed_with_its_owner_its_grants_and_the_members_of_roles(uri: str) -> None:
    database = "grant on database shop"
    assert listed(uri, "shop.orders", "--user", "root") == {
        ("alice", "USER", "everything", True, "owner of table shop.orders", "", ""),
        ("carol", "USER", "INSERT", True, "grant on table shop.orders", "", "root"),
        ("reader", "ROLE", "SELECT", False, database, "", "root"),
        ("junior", "ROLE", "SELECT", False, database, "reader", "root"),
        ("bob", "USER", "SELECT", False, database, "junior, reader", "root"),
        ("carol", "USER", "CREATE", False, "grant on the server", "", "root"),
        ("admin", "ROLE", "everything", True, "role admin", "", ""),
        ("root", "USER", "everything", False, "role admin", "admin", ""),
    }


def test_one_principal_can_be_chosen_and_the_server_is_the_object_without_a_name(uri: str) -> None:
    assert {row[2] for row in listed(uri, "shop.orders", "--principal", "carol", "--user", "root")} == {
        "INSERT",
        "CREATE",
    }
    assert {row[0] for row in listed(uri, "--user", "root")} == {"carol", "admin", "root"}
    assert {row[4] for row in listed(uri, "shop", "--user", "root")} == {
        *("owner of database shop", "grant on database shop", "grant on the server", "role admin")
    }


def test_what_the_caller_may_not_read_is_a_line_on_standard_error(uri: str) -> None:
    done = run("grants", "shop.orders", "--uri", uri, "--user", "alice")
    assert done.code == 0
    assert "INSERT" in done.out and "CREATE" not in done.out
    assert "grants on the server are not listed: Permission denied: user alice needs the admin role" in done.err
    assert done.err.count("the members of roles are not listed") == 1


def test_an_object_that_does_not_exist_is_an_error(uri: str) -> None:
    refused(("grants", "shop.nosuch", "--uri", uri, "--user", "root"), "shop.nosuch")
    refused(("grants", "nosuch", "--uri", uri, "--user", "root"), "nosuch")
    refused(("grants", "a.b.c.d", "--uri", uri), "does not name a table")
