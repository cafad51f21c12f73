"""A metastore with only nine methods, over HTTPS: the client does the rest, or names the missing method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metastored.client.versions import HiveVersion
from metastored.errors import (
    AuthenticationError,
    MetaException,
    MethodMissing,
    NotSupported,
    ObjectNotFound,
    TableNotFound,
)
from metastored.testing import RunningServer
from metastored.wire.generated.partitions import Partition
from tests.server.http.support import API, DB, PASSWORD, TABLE, USER, any_certificate, fill, http_server
from tests.support.driven import connected

pytestmark = pytest.mark.slow

NAME = f"{DB}.{TABLE}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with http_server(tmp_path_factory.mktemp("nine")) as running:
        fill(running)
        yield running


@pytest.fixture
def client(server: RunningServer, half: str) -> Iterator[Any]:
    uri = f"https://127.0.0.1:{server.http_port}{API}"
    with connected(half, uri, user=USER, password=PASSWORD, tls=any_certificate(), batch=1) as found:
        yield found


def test_databases_tables_and_partitions_are_read(client: Any) -> None:
    assert client.databases() == ("default", DB)
    assert client.databases("hms*") == (DB,)
    assert client.database(DB).name == DB
    assert client.tables(DB) == client.tables(DB, "test*") == (TABLE,)
    assert client.table(NAME).owner == "root"
    assert client.table_exists(NAME)
    assert not client.table_exists(f"{DB}.nothing")
    assert [table.tableName for table in client.table_objects(DB)] == [TABLE]
    assert client.partition_names(NAME) == ("hair_color=black", "hair_color=brown")
    assert [part.values for part in client.partitions(NAME)] == [("black",), ("brown",)]


def test_filters_are_applied_here(client: Any) -> None:
    assert [part.values for part in client.partitions(NAME, where="hair_color > 'black'")] == [("brown",)]
    assert client.partition_names(NAME, where="hair_color = 'black'") == ("hair_color=black",)
    assert client.partition(NAME, ["brown"]).values == ("brown",)
    assert client.partition(NAME, ["brown"]).parameters["numRows"] == "0"
    with pytest.raises(ObjectNotFound, match=rf"partition {DB}\.{TABLE} \(red\) not found"):
        client.partition(NAME, ["red"])
    with pytest.raises(MetaException, match="the filter \"age > '3'\""):
        list(client.partitions(NAME, where="age > '3'"))
    with pytest.raises(TableNotFound):
        client.partition(f"{DB}.nothing", ["red"])


@pytest.mark.parametrize(
    ("method", "ask"),
    [
        ("get_table_statistics_req", lambda client: client.statistics(NAME)),
        ("get_partitions_statistics_req", lambda client: client.partition_statistics(NAME, ["hair_color=black"])),
        ("create_database", lambda client: client.create_database("more")),
        ("drop_database", lambda client: client.drop_database(DB)),
        ("drop_table_with_environment_context", lambda client: client.drop_table(NAME)),
        ("alter_table_with_environment_context", lambda client: client.set_parameters(NAME, a="b")),
        ("add_partitions_req", lambda client: client.add_partitions(NAME, [Partition(values=("red",))])),
        ("drop_partition", lambda client: client.drop_partition(NAME, ["black"])),
        ("lock", lambda client: client.lock(NAME).__enter__()),
        ("get_valid_write_ids", lambda client: client.transaction().__enter__()),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_error_names_the_missing_method(
    server: RunningServer, client: Any, method: str, ask: Callable[[Any], Any]
) -> None:
    with pytest.raises(
        NotSupported, match=rf"the metastore at https://127.0.0.1:{server.http_port}{API}.* has no {method}"
    ):
        ask(client)


def test_its_version_is_taken_for_2_3_and_said_to_be_assumed(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert client.capabilities.version() == HiveVersion(2, 3)
    assert client.capabilities.version_is_assumed
    assert "is taken for Hive 2.3: getVersion says None, and it has neither" in caplog.text
    with pytest.raises(
        NotSupported, match=r"is Hive 2\.3 as far as is known and has no get_not_null_constraints.*since 3\.0"
    ):
        client.capabilities.has_constraints(check=True)
    why = r"has no get_catalogs \(this path serves get_all_databases, .*\); Hive has it since 3\.1"
    with pytest.raises(MethodMissing, match=why):
        client.api.get_catalogs()


def test_a_wrong_password_is_refused(server: RunningServer, half: str) -> None:
    uri = f"https://127.0.0.1:{server.http_port}{API}"
    with connected(half, uri, user=USER, password="wrong", tls=any_certificate()) as client:
        with pytest.raises(AuthenticationError, match="401"):
            client.databases()


def test_a_lease_needs_locks(client: Any) -> None:
    with pytest.raises(NotSupported, match="locks"):
        client.lease("daily").is_free()
