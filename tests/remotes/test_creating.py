"""Remotes are tested when they are created: a missing target is refused, and each error names the remote."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import (
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
    PermissionDenied,
    TableAlreadyExists,
    TableNotFound,
)
from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.ports import free_port

pytestmark = pytest.mark.slow

UNKNOWN = "thrift://no-such-host.invalid:9083"


@pytest.fixture
def here(server: RunningServer) -> Iterator[metastored.Client]:
    with metastored.connect(server.uri, cache=False) as client:
        client.create_database("shop")
        yield client


@pytest.fixture
def there(far: RunningServer) -> Iterator[metastored.Client]:
    with metastored.connect(far.uri, cache=False) as client:
        client.create_database("stock")
        client.create_table(metastored.table("stock.items", {"id": "int"}))
        yield client
        client.drop_database("stock", cascade=True)


def create_table(client: metastored.Client, name: str, target: str, uri: str, words: str = "") -> list[str | None]:
    """Creates a remote table in `shop`; returns the warnings."""
    statement = f"CREATE REMOTE TABLE {words} shop.{name} CONNECTED TO {target}"
    return warnings(client, f"{statement} WITH TBLPROPERTIES ('hive.metastore.uris' = '{uri}')")


def warnings(client: metastored.Client, statement: str) -> list[str | None]:
    return [row["warning"] for row in client.sql(statement).dicts()]


def gone() -> str:
    return f"thrift://127.0.0.1:{free_port()}"


def test_a_remote_table_of_nothing_is_refused_with_the_remote_name_and_address(
    here: metastored.Client, there: metastored.Client, far: RunningServer
) -> None:
    for target in ("stock.nosuch", "nosuch.items"):
        with pytest.raises(InvalidObjectException) as refused:
            create_table(here, "t", target, far.uri)
        assert str(refused.value) == (
            f"remote table 'shop.t' ('{target}' at {far.uri}) is not created: there is no table '{target}' at {far.uri}"
        )
    assert here.tables("shop") == ()
    assert create_table(here, "t", "stock.items", far.uri) == []
    assert [column.name for column in here.table("shop.t").sd.cols or ()] == ["id"]  # type: ignore[union-attr]


def test_a_remote_database_of_nothing_is_refused(
    here: metastored.Client, there: metastored.Client, far: RunningServer
) -> None:
    statement = f"CREATE REMOTE DATABASE away CONNECTED TO {{}} WITH DBPROPERTIES ('hive.metastore.uris' = '{far.uri}')"
    with pytest.raises(InvalidObjectException, match=rf"there is no database 'nosuch' at {far.uri}"):
        here.sql(statement.format("nosuch"))
    assert "away" not in here.databases()
    assert warnings(here, statement.format("stock")) == []
    assert here.tables("away") == ("items",)


def test_a_name_that_is_taken_is_said_before_the_target_is_looked_for(
    here: metastored.Client, there: metastored.Client, far: RunningServer
) -> None:
    create_table(here, "t", "stock.items", far.uri)
    assert create_table(here, "t", "stock.nosuch", far.uri, "IF NOT EXISTS") == []
    with pytest.raises(TableAlreadyExists):
        create_table(here, "t", "stock.nosuch", far.uri)


def test_a_remote_that_does_not_answer_is_a_warning(here: metastored.Client) -> None:
    uri = gone()
    (warning,) = create_table(here, "t", "stock.items", uri)
    assert (warning or "").startswith("created, and it does not answer now: ")
    assert f"'stock.items' at {uri}" in (warning or "")
    assert here.tables("shop") == ("t",)
    (warning,) = warnings(here, f"CREATE REMOTE DATABASE away WITH DBPROPERTIES ('hive.metastore.uris' = '{UNKNOWN}')")
    assert "no-such-host.invalid cannot be resolved" in (warning or "")


def test_a_table_that_another_writer_drops_at_the_remote_later_is_named_with_its_address(
    here: metastored.Client, there: metastored.Client, far: RunningServer
) -> None:
    there.create_table(metastored.table("stock.brief", {"id": "int"}))
    create_table(here, "t", "stock.brief", far.uri)
    there.drop_table("stock.brief")
    named = rf"\(remote table 'shop\.t' \('stock\.brief' at {far.uri}\)\)$"
    with pytest.raises(NoSuchObjectException, match=named):
        here.api.get_table("shop", "t")
    with pytest.raises(NoSuchObjectException, match=named):
        here.sql("DESCRIBE shop.t")
    with pytest.raises(TableNotFound):
        here.table("shop.t")
    here.sql("DROP REMOTE TABLE shop.t")


# --- catalogs


def catalog(uri: str, prefix: str = "PREFIX 'far_'") -> str:
    return f"CREATE REMOTE CATALOG far {prefix} WITH PROPERTIES ('hive.metastore.uris' = '{uri}')"


def test_a_catalog_with_a_prefix_at_a_host_that_does_not_exist_is_refused(here: metastored.Client) -> None:
    with pytest.raises(InvalidObjectException) as refused:
        here.sql(catalog(UNKNOWN))
    text = str(refused.value)
    assert text.startswith(f"remote catalog 'far' ({UNKNOWN}) is not created: the name no-such-host.invalid cannot be")
    assert "remotes_partial = on" in text
    assert here.databases() == ("default", "shop")
    # One of several addresses is enough.
    assert len(warnings(here, catalog(f"{UNKNOWN},{gone()}"))) == 1
    here.sql("DROP REMOTE CATALOG far")
    # Without a prefix no other list needs it.
    assert len(warnings(here, catalog(UNKNOWN, ""))) == 1
    assert here.databases() == ("default", "shop")


def test_a_listing_that_fails_names_the_statement_that_repairs_it(here: metastored.Client) -> None:
    uri = gone()
    (warning,) = warnings(here, catalog(uri))
    with pytest.raises(MetaException) as failed:
        here.databases()
    text = str(failed.value)
    assert text.startswith(f"remote catalog 'far' ({uri}): ")
    assert "; a server with remotes_partial = on leaves out remotes that do not answer" in text
    assert text in (warning or "")
    assert here.databases("sh*") == ("shop",)
    here.sql(repair(text))
    assert here.databases() == ("default", "shop")


def test_a_listing_across_databases_names_the_remote_database_that_fails(here: metastored.Client) -> None:
    here.sql(f"CREATE REMOTE DATABASE `2024` WITH DBPROPERTIES ('hive.metastore.uris' = '{gone()}')")
    assert here.databases() == ("2024", "default", "shop")
    with pytest.raises(MetaException, match=r"^remote database '2024' \('2024' at thrift://") as failed:
        here.api.get_table_meta("*", "*", None)
    here.sql(repair(str(failed.value)))
    assert here.api.get_table_meta("*", "*", None) == ()


def repair(text: str) -> str:
    """The statement in an error."""
    found = re.search(r"remove it \((DROP REMOTE .*?)\);", text)
    assert found is not None, text
    return found[1]


def test_a_server_that_leaves_out_remotes_creates_and_lists() -> None:
    with running_server(remotes_partial="on") as server, metastored.connect(server.uri, cache=False) as client:
        client.sql(catalog(UNKNOWN))
        assert client.databases() == ("default",)


def test_a_user_who_may_not_create_remotes_makes_the_server_connect_to_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap, running_server(authorization="sql", admin_users="ann") as own:
        trap.setblocking(False)
        uri = f"thrift://127.0.0.1:{trap.getsockname()[1]}"
        with metastored.connect(own.uri, user="bob") as bob, pytest.raises(PermissionDenied, match="CREATE_REMOTE"):
            bob.sql(f"CREATE REMOTE DATABASE far WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')")
        with pytest.raises(BlockingIOError):
            trap.accept()
