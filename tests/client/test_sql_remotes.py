"""Remotes made, changed, listed and dropped by statements, on SQLite and on PostgreSQL, by both halves of the client.

No remote answers here: a definition never needs its remote.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import (
    AlreadyExistsException,
    InvalidInputException,
    InvalidObjectException,
    MetastoreError,
    NoSuchObjectException,
    PermissionDenied,
)
from metastored.statements.parsing import parse
from metastored.testing import RunningServer
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, DropCatalogRequest
from tests.statements.test_proposal import STATEMENTS
from tests.support.driven import connected
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.slow

DEAD = "thrift://127.0.0.1:1"
"""Nobody listens there."""
SCHEMES = "file,an-atomic-store"
"""The second one is in the proposal's example of Iceberg."""
URIS = f"'hive.metastore.uris' = '{DEAD}'"


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("key") / "key"
    file.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, key_file: Path) -> Iterator[RunningServer]:
    # Some remotes of the proposal use the server's own keys and credentials: an administrator makes them.
    settings: dict[str, Any] = {
        "remotes_key_file": key_file,
        "location_schemes": SCHEMES,
        "admin_users": "root",
    }
    if request.param == "sqlite":
        with running_server(**settings) as running:
            yield running
        return
    with shared_postgres().database() as url:
        with running_server(database_url=url, **settings) as running:
            yield running


@pytest.fixture
def client(server: RunningServer, half: str) -> Iterator[Any]:
    with connected(half, server.uri, user="root") as found:
        found.create_database("shop", if_not_exists=True)
        yield found
        for row in found.sql("SHOW REMOTES").dicts():
            found.sql(f"DROP REMOTE {row['kind']} {row['name']}")


def listed(client: Any) -> list[tuple[str, ...]]:
    return [row[:6] for row in client.sql("SHOW REMOTES").rows]


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_statement_of_the_proposal_makes_a_remote(client: Any, name: str) -> None:
    text, statement = STATEMENTS[name]
    client.create_database("local_db", if_not_exists=True)
    client.sql(text, database="shop")
    ((kind, local, remote, *_),) = listed(client)
    expected = ".".join(statement.name if len(statement.name) == 2 or kind == "database" else ("shop", *statement.name))
    assert (kind, local) == (statement.kind.value.lower(), expected)
    assert remote == ".".join(statement.connected_to or (expected,))


def test_a_remote_is_listed_with_its_address_and_dropped(client: Any) -> None:
    client.sql(
        f"CREATE REMOTE DATABASE d CONNECTED TO r WITH DBPROPERTIES ({URIS}, 'metastored.remote.access'='write')"
    )
    client.sql(f"CREATE REMOTE TABLE shop.t CONNECTED TO r.s WITH TBLPROPERTIES ({URIS})")
    client.sql(f"CREATE REMOTE CATALOG c PREFIX 'c_' WITH PROPERTIES ({URIS})")
    assert listed(client) == [
        ("catalog", "c", "c_*", "thrift", DEAD, "read"),
        ("database", "d", "r", "thrift", DEAD, "write"),
        ("table", "shop.t", "r.s", "thrift", DEAD, "read"),
    ]
    assert [row[1] for row in client.sql("SHOW REMOTES IN shop").rows] == ["shop.t"]
    assert [row[1] for row in client.sql("SHOW REMOTES LIKE 'D*'").rows] == ["d"]
    client.sql("DROP REMOTE TABLE T; DROP REMOTE DATABASE D; DROP REMOTE CATALOG C", database="SHOP")
    assert listed(client) == []
    assert "t" not in client.tables("shop") and "d" not in client.databases()


def test_a_name_that_is_taken_is_refused_unless_if_not_exists(client: Any) -> None:
    for text in (
        f"DATABASE {{}} d WITH DBPROPERTIES ({URIS})",
        f"TABLE {{}} shop.t WITH TBLPROPERTIES ({URIS})",
        f"CATALOG {{}} c WITH PROPERTIES ({URIS})",
    ):
        client.sql(f"CREATE REMOTE {text.format('')}")
        with pytest.raises(AlreadyExistsException):
            client.sql(f"CREATE REMOTE {text.format('')}")
        client.sql(f"CREATE REMOTE {text.format('IF NOT EXISTS')}")
    assert len(listed(client)) == 3


def test_show_create_prints_a_statement_that_makes_the_remote_again(client: Any) -> None:
    client.sql(f"CREATE REMOTE DATABASE d COMMENT 'it''s old' CONNECTED TO r WITH DBPROPERTIES ({URIS})")
    client.sql(f"CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ({URIS}, 'metastored.remote.timeout' = 2.5)")
    client.sql(f"CREATE REMOTE CATALOG c PREFIX '' WITH PROPERTIES ({URIS}, 'metastored.remote.alias.x' = 'y')")
    for name in ("DATABASE d", "TABLE shop.t", "CATALOG c"):
        ((text,),) = client.sql(f"SHOW CREATE REMOTE {name}").rows
        before = client.sql("SHOW REMOTES").rows
        client.sql(f"DROP REMOTE {name}")
        client.sql(text)
        assert client.sql("SHOW REMOTES").rows == before
        assert client.sql(f"SHOW CREATE REMOTE {name}").rows == ((text,),)
        assert parse(text)


def test_alter_changes_the_definition_and_keeps_the_rest(client: Any) -> None:
    client.sql(f"CREATE REMOTE DATABASE d CONNECTED TO r WITH DBPROPERTIES ({URIS}, 'metastored.remote.cache' = '5')")
    client.sql("ALTER REMOTE DATABASE d CONNECTED TO s SET DBPROPERTIES ('metastored.remote.access' = 'write')")
    client.sql("ALTER REMOTE DATABASE d UNSET DBPROPERTIES ('metastored.remote.cache')")
    assert listed(client) == [("database", "d", "s", "thrift", DEAD, "write")]
    ((text,),) = client.sql("SHOW CREATE REMOTE DATABASE d").rows
    assert "metastored.remote.cache" not in text
    client.sql(f"CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ({URIS})")
    client.sql("ALTER REMOTE TABLE shop.t SET TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:2')")
    assert listed(client)[1] == ("table", "shop.t", "shop.t", "thrift", "thrift://127.0.0.1:2", "read")
    client.sql(f"CREATE REMOTE CATALOG c PREFIX 'c_' WITH PROPERTIES ({URIS})")
    client.sql("ALTER REMOTE CATALOG c PREFIX 'x_' SET PROPERTIES ('metastored.remote.databases' = 'a, b')")
    assert listed(client)[0][:3] == ("catalog", "c", "x_*")


def test_an_alter_keeps_the_owner(client: Any, server: RunningServer) -> None:
    with metastored.connect(server.uri, user="alice") as alice:
        alice.sql(f"CREATE REMOTE DATABASE d WITH DBPROPERTIES ({URIS})")
    client.sql("ALTER REMOTE DATABASE d SET DBPROPERTIES ('metastored.remote.timeout' = 2)")
    assert client.api.get_properties(_list("database:hive.d")).properties["database:hive.d"]["owner"] == "alice"


def _list(prefix: str) -> Any:
    return metastored.structs.PropertyGetRequest("metastored.remotes", prefix)


def test_secrets_are_masked_everywhere_and_an_alter_keeps_them(client: Any) -> None:
    secret = "'metastored.remote.user' = 'u', 'metastored.remote.password' = 's3cret'"
    client.sql(f"CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ({URIS}, {secret})")
    client.sql("ALTER REMOTE TABLE shop.t SET TBLPROPERTIES ('metastored.remote.timeout' = '3')")
    shown = str([client.sql(text).rows for text in ("SHOW REMOTES", "SHOW CREATE REMOTE TABLE shop.t")])
    assert "******" in shown and "s3cret" not in shown
    with pytest.raises(MetastoreError, match="give the secret again"):
        client.sql("ALTER REMOTE TABLE shop.t SET TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:2')")


def test_an_unknown_key_is_refused_and_nothing_is_made(client: Any) -> None:
    with pytest.raises(InvalidObjectException, match=r"did you mean 'hive\.metastore\.uris'"):
        client.sql("CREATE REMOTE DATABASE d WITH DBPROPERTIES ('hive.metastore.uri' = 'thrift://h:1')")
    with pytest.raises(InvalidInputException, match="leave one of them out"):
        client.sql(f"CREATE REMOTE DATABASE d CONNECTED TO a WITH DBPROPERTIES ({URIS}, 'metastored.remote' = 'b')")
    assert listed(client) == [] and "d" not in client.databases()


def test_a_remote_that_does_not_exist_cannot_be_shown_altered_or_dropped(client: Any) -> None:
    for text in ("SHOW CREATE REMOTE DATABASE x", "ALTER REMOTE TABLE shop.x VIA 'ssh'", "DROP REMOTE CATALOG x"):
        with pytest.raises(NoSuchObjectException):
            client.sql(text)


def test_a_database_uses_a_connector_of_hive_4(client: Any) -> None:
    client.sql(f"CREATE CONNECTOR old TYPE 'thrift' URL '{DEAD}'")
    client.sql("CREATE REMOTE DATABASE d USING old WITH DBPROPERTIES ('connector.remoteDbName' = 'r')")
    assert [row[:3] for row in listed(client)] == [("database", "d", "r")]
    ((text,),) = client.sql("SHOW CREATE REMOTE DATABASE d").rows
    assert "USING old" in text and DEAD not in text
    client.sql("DROP REMOTE DATABASE d; DROP CONNECTOR old")


def test_a_remote_in_a_catalog_of_its_own_has_its_full_name(client: Any) -> None:
    location = f"{client.database('default').locationUri}/spark"
    client.api.create_catalog(CreateCatalogRequest(Catalog("spark", None, location)))
    client.sql(f"CREATE REMOTE DATABASE spark.d WITH DBPROPERTIES ({URIS})")
    assert [row[:3] for row in listed(client)] == [("database", "spark.d", "d")]
    client.sql("DROP REMOTE DATABASE spark.d")
    client.api.drop_catalog(DropCatalogRequest("spark"))


@pytest.fixture(scope="module")
def authorized() -> Iterator[RunningServer]:
    with running_server(authorization="sql", admin_users="root") as server:
        yield server


def test_a_grant_of_create_remote_is_what_makes_remotes(authorized: RunningServer) -> None:
    root, alice = (metastored.connect(authorized.uri, user=name) for name in ("root", "alice"))
    with root, alice:
        create = f"CREATE REMOTE DATABASE d WITH DBPROPERTIES ({URIS})"
        with pytest.raises(PermissionDenied):
            alice.sql(create)
        root.sql("GRANT CREATE_REMOTE TO USER alice")
        alice.sql(create)
        alice.sql("ALTER REMOTE DATABASE d SET DBPROPERTIES ('metastored.remote.timeout' = 2)")
        assert [row[1] for row in alice.sql("SHOW REMOTES").rows] == ["d"]
        alice.sql("DROP REMOTE DATABASE d")
        root.sql("REVOKE CREATE_REMOTE FROM USER alice")
        with pytest.raises(PermissionDenied):
            alice.sql(create)


def test_a_grant_on_a_database_is_for_remote_tables_in_it(authorized: RunningServer) -> None:
    root, alice = (metastored.connect(authorized.uri, user=name) for name in ("root", "alice"))
    with root, alice:
        root.create_database("shop", if_not_exists=True)
        root.sql("GRANT CREATE_REMOTE ON DATABASE shop TO USER alice")
        alice.sql(f"CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ({URIS})")
        with pytest.raises(PermissionDenied):
            alice.sql(f"CREATE REMOTE TABLE default.t WITH TBLPROPERTIES ({URIS})")
        root.sql("REVOKE CREATE_REMOTE ON DATABASE shop FROM USER alice; DROP REMOTE TABLE shop.t")


def test_everybody_sees_remote_databases_and_those_remote_tables_that_they_may_read(authorized: RunningServer) -> None:
    root, bob = (metastored.connect(authorized.uri, user=name) for name in ("root", "bob"))
    with root, bob:
        root.create_database("shop", if_not_exists=True)
        root.sql(f"CREATE REMOTE DATABASE d WITH DBPROPERTIES ({URIS})")
        root.sql(f"CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ({URIS})")
        assert [row[1] for row in root.sql("SHOW REMOTES").rows] == ["d", "shop.t"]
        assert [row[1] for row in bob.sql("SHOW REMOTES").rows] == ["d"]
        with pytest.raises(PermissionDenied):
            bob.sql("SHOW CREATE REMOTE TABLE shop.t")
        with pytest.raises(PermissionDenied):
            bob.sql("DROP REMOTE DATABASE d")
        with pytest.raises(PermissionDenied):
            bob.api.get_properties(metastored.structs.PropertyGetRequest("hms"))
        root.sql("DROP REMOTE DATABASE d; DROP REMOTE TABLE shop.t")
