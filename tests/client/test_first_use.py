"""The first steps of a user: tables in one line, partitions by dict or name, and helpful errors."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import pytest

import metastored
from metastored.client.retry import Retry
from metastored.errors import (
    ConnectError,
    DatabaseAlreadyExists,
    InvalidInputException,
    InvalidOperationException,
    MetaException,
    ObjectNotFound,
    PermissionDenied,
    RateLimited,
    ReadOnlyServer,
    TableNotFound,
)
from metastored.testing import RunningServer
from tests.support.driven import connected
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

ORDERS = metastored.table(
    "shop.orders", {"id": "bigint", "price": "decimal(10,2)"}, partitioned_by={"ds": "string", "h": "int"}
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def client(server: RunningServer, half: str) -> Iterator[Any]:
    with connected(half, server.uri) as client:
        client.drop_database("shop", if_exists=True, cascade=True)
        client.create_database(metastored.database("shop", comment="what we sell"))
        client.create_table(ORDERS)
        yield client


def test_the_repr_of_a_client_has_its_address(server: RunningServer) -> None:
    with metastored.connect(server.uri, user="ann") as client:
        assert repr(client) == f"<Client of {server.uri}, user='ann'>"
    assert repr(metastored.aconnect("thrift://host:9083")) == "<AsyncClient of thrift://host:9083>"


def test_tables_and_databases_that_were_written_in_one_line_are_created(client: Any) -> None:
    assert client.database("shop").description == "what we sell"
    stored = client.table("shop.orders")
    assert [column.name for column in stored.sd.cols] == ["id", "price"]
    assert stored.sd.location.endswith("/shop.db/orders")
    with pytest.raises(DatabaseAlreadyExists):
        client.create_database("shop")


@pytest.mark.parametrize("format", ["parquet", "orc", "avro", "textfile", "csv", "json", "sequencefile", "rcfile"])
def test_a_table_of_each_format_can_be_created(client: Any, format: str) -> None:
    client.create_table(metastored.table(f"shop.{format}", {"c": "int"}, format=format))
    assert client.table_exists(f"shop.{format}")


def test_partitions_are_added_found_and_dropped_by_list_dict_or_name(client: Any) -> None:
    given = [
        ("2024-01-01", "1"),
        {"ds": "2024-01-02", "h": 2},
        "h=3/ds=2024-01-03",
        metastored.partition(ORDERS, {"ds": "2024-01-04", "h": 4}),
    ]
    assert client.add_partitions("shop.orders", given) == 4
    names = [f"ds=2024-01-0{day}/h={day}" for day in range(1, 5)]
    assert sorted(client.partition_names("shop.orders")) == names
    found = client.partition("shop.orders", {"h": 2, "ds": "2024-01-02"})
    assert found.sd.location.endswith("/shop.db/orders/ds=2024-01-02/h=2")
    assert found.sd.cols == client.table("shop.orders").sd.cols
    assert client.partition("shop.orders", names[2]).values == ("2024-01-03", "3")
    client.drop_partition("shop.orders", names[0])
    client.drop_partition("shop.orders", {"ds": "2024-01-02", "h": 2})
    client.drop_partition("shop.orders", ("2024-01-03", "3"))
    assert client.partition_names("shop.orders") == (names[3],)
    with pytest.raises(ObjectNotFound):
        client.partition("shop.orders", names[0])


def test_values_that_do_not_fit_the_keys_are_refused_before_anything_is_sent(client: Any) -> None:
    with pytest.raises(InvalidInputException, match=r"shop\.orders is partitioned by \(ds, h\), and values of \(ds\)"):
        client.partition("shop.orders", {"ds": "1"})
    with pytest.raises(InvalidInputException, match="'2024-01-01' does not name a partition of"):
        client.drop_partition("shop.orders", "2024-01-01")
    with pytest.raises(InvalidInputException, match="write a list of texts"):
        client.partition("shop.orders", 7)


def test_a_table_is_renamed_also_to_another_database(client: Any) -> None:
    client.rename_table("shop.orders", "sales")
    assert client.table("shop.sales").sd.location.endswith("/shop.db/sales")
    assert not client.table_exists("shop.orders")
    client.drop_database("archive", if_exists=True, cascade=True)
    client.create_database("archive")
    client.rename_table("shop.sales", "archive.old")
    assert client.tables("archive") == ("old",)
    client.create_table(ORDERS)
    with pytest.raises(InvalidOperationException):
        client.rename_table("shop.orders", "archive.old")
    with pytest.raises(TableNotFound):
        client.rename_table("shop.none", "other")
    with pytest.raises(InvalidInputException, match="a table stays in its catalog"):
        client.rename_table("shop.orders", "other.shop.orders")


def test_columns_are_added_and_with_cascade_to_partitions_too(client: Any) -> None:
    client.add_partitions("shop.orders", ["ds=1/h=1"])
    client.add_columns("shop.orders", {"note": ("string", "free text")})
    assert [column.name for column in client.table("shop.orders").sd.cols] == ["id", "price", "note"]
    assert len(client.partition("shop.orders", "ds=1/h=1").sd.cols) == 2
    client.add_columns("shop.orders", {"at": "timestamp"}, cascade=True)
    assert len(client.partition("shop.orders", "ds=1/h=1").sd.cols) == 4
    with pytest.raises(InvalidInputException, match="has the column id twice"):
        client.add_columns("shop.orders", {"ID": "int"})
    with pytest.raises(InvalidInputException, match="no columns to add"):
        client.add_columns("shop.orders", {})


def test_a_table_has_an_arrow_schema(client: Any) -> None:
    pytest.importorskip("pyarrow")
    assert client.arrow_schema("shop.orders").names == ["id", "price", "ds", "h"]


def test_a_stored_table_becomes_a_dict_and_a_table_again(client: Any) -> None:
    stored = client.table("shop.orders")
    plain = metastored.to_dict(stored)
    assert plain["sd"]["cols"][0] == {"name": "id", "type": "bigint"}
    assert metastored.from_dict(metastored.structs.Table, plain) == stored


# Errors


def test_the_error_for_a_wrong_type_names_the_argument(client: Any) -> None:
    with pytest.raises(InvalidInputException, match=r"create_table: tbl has to be a Table, not the str 'shop\.x'"):
        client.create_table("shop.x")
    with pytest.raises(InvalidInputException, match="new_tbl has to be a Table, not the dict"):
        client.alter("shop.orders", {"owner": "ann"})
    with pytest.raises(InvalidInputException, match="part_vals has to be a list of texts, not the str 'ds=1'"):
        client.api.get_partition("shop", "orders", "ds=1")
    with pytest.raises(InvalidInputException, match=r"tbl\.sd\.cols\[0\]\.type has to be a text, not the int 7"):
        wrong = metastored.structs.FieldSchema("c", 7)  # type: ignore[arg-type]
        client.create_table(metastored.table("shop.x", [wrong]))
    with pytest.raises(InvalidInputException, match="max_parts is 40000, and has to be between"):
        client.api.get_partitions("shop", "orders", 40_000)


def test_a_filter_that_is_wrong_is_explained(client: Any) -> None:
    client.add_partitions("shop.orders", ["ds=1/h=1"])
    with pytest.raises(MetaException, match=r"over the partitions of shop\.orders is refused: at character 5"):
        list(client.partitions("shop.orders", where="ds= = 1"))
    with pytest.raises(MetaException, match=r"x is not a partitioning key .* the partition keys are ds \(string\)"):
        client.partition_names("shop.orders", where="x = 1")


def test_a_refused_connection_is_one_short_traceback(half: str) -> None:
    with connected(half, "thrift://127.0.0.1:1", retry=Retry(attempts=1)) as client:
        with pytest.raises(ConnectError) as raised:
            client.databases()
    text = "".join(traceback.format_exception(raised.value))
    assert text.count("Traceback") == 1
    assert "pool.py" not in text and "_backend" not in text
    assert text.splitlines()[-1] == (
        "metastored.errors.ConnectError: cannot connect to thrift://127.0.0.1:1: connection refused. "
        "Is the server running, and is this its address?"
    )
    assert isinstance(raised.value.__context__, ConnectError), "what happened below can still be looked at"


def test_connections_that_cannot_be_opened_at_the_start_are_one_short_traceback(half: str) -> None:
    with (
        pytest.raises(ConnectError) as raised,
        connected(half, "thrift://127.0.0.1:1", pool=metastored.PoolSettings(min_idle=1)),
    ):
        pass
    text = "".join(traceback.format_exception(raised.value))
    assert text.count("Traceback") == 1
    assert "pool.py" not in text and "_backend" not in text
    assert "cannot connect to thrift://127.0.0.1:1: connection refused. Is" in text.splitlines()[-1]


def test_a_missing_table_shows_nothing_of_the_client_s_insides(client: Any) -> None:
    for _ in range(3):
        with pytest.raises(TableNotFound) as raised:
            client.table("shop.none")
        text = "".join(traceback.format_exception(raised.value))
        assert text.count("Traceback") == 1
        assert "_exchange" not in text


def test_a_refused_call_raises_permission_denied(half: str) -> None:
    with running_server(authorization="sql", admin_users="root") as server:
        with connected(half, server.uri, user="root") as root:
            root.create_database("shop")
            root.create_table(ORDERS)
        with connected(half, server.uri, user="bob") as bob:
            with pytest.raises(PermissionDenied, match=r"user bob needs SELECT on table shop\.orders"):
                bob.table("shop.orders")
            with pytest.raises(PermissionDenied):
                bob.drop_table("shop.orders", if_exists=True)


def test_a_write_to_a_read_only_server_raises_read_only_server(half: str) -> None:
    with running_server(read_only="on") as server, connected(half, server.uri) as client:
        assert client.databases() == ("default",)
        with pytest.raises(ReadOnlyServer, match="create_database would change it"):
            client.create_database("shop")


def test_too_many_calls_raise_rate_limited(half: str) -> None:
    with running_server(limits_calls_per_minute=5) as server, connected(half, server.uri, cache=False) as client:
        with pytest.raises(RateLimited, match="Too many requests"):
            for _ in range(20):
                client.databases()
