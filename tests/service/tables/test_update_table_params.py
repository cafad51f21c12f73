"""Several tables' parameters at once, on conditions: the call that Hive has since 4.2."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.errors import MetaException
from metastored.testing import RunningServer
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import TableParamsUpdate
from tests.support.client import Client
from tests.support.forks import running_server

SD = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "serde", {}))


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.host, server.port) as client:
        client.call("create_database", Database("d"))
        for name in ("one", "two"):
            client.call("create_table", Table(name, "d", sd=SD, parameters={"state": "old"}))
        yield client
        client.call("drop_database", "d", True, True)


def update(name: str, expected: str) -> TableParamsUpdate:
    return TableParamsUpdate("hive", "d", name, {"state": "new"}, "state", expected)


def state(client: Client, name: str) -> str:
    return str(client.call("get_table", "d", name).parameters["state"])


def test_all_are_set_when_all_are_as_expected(client: Client) -> None:
    client.call("update_table_params", (update("two", "old"), update("one", "old")))
    assert (state(client, "one"), state(client, "two")) == ("new", "new")


def test_none_is_set_when_one_is_not_as_expected(client: Client) -> None:
    with pytest.raises(MetaException, match=r"The table has been modified.*'state' is 'old'"):
        client.call("update_table_params", (update("one", "old"), update("two", "other")))
    assert (state(client, "one"), state(client, "two")) == ("old", "old")


def test_none_is_set_when_one_is_missing(client: Client) -> None:
    with pytest.raises(MetaException, match=r"hive\.d\.nope table not found"):
        client.call("update_table_params", (update("one", "old"), update("nope", "old")))
    assert state(client, "one") == "old"
