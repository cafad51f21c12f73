"""metastored's own condition of an alter: it changes the named parameters, and the rest is as the caller read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.testing import RunningServer
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

SD = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "serde", {}))
UNCOUNTED = {"DO_NOT_UPDATE_STATS": "true"}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.host, server.port) as client:
        client.call("create_database", Database("d"))
        client.call("create_table", Table("t", "d", owner="o", sd=SD, parameters={"version": "1", "note": "old"}))
        yield client
        client.call("drop_database", "d", True, True)


def read(client: Client) -> Table:
    table: Table = client.call("get_table", "d", "t")
    return table


def with_parameters(table: Table, **parameters: str) -> Table:
    return replace(table, parameters={**(table.parameters or {}), **parameters})


def alter(client: Client, table: Table, **conditions: str) -> None:
    named = {name.replace("__", "."): value for name, value in conditions.items()}
    context = EnvironmentContext({**UNCOUNTED, **named})
    client.call("alter_table_with_environment_context", "d", "t", table, context)


def commit(client: Client, table: Table, expected: str = "1") -> None:
    alter(
        client,
        with_parameters(table, version="2"),
        expected_parameter_key="version",
        expected_parameter_value=expected,
        metastored__changes_only="version,manifest",
    )


def test_a_table_that_nobody_has_changed_is_altered(client: Client) -> None:
    table = read(client)
    commit(client, table)
    assert read(client) == with_parameters(table, version="2")


def test_a_parameter_of_the_list_may_be_new_or_changed_by_others(client: Client) -> None:
    table = read(client)
    alter(client, with_parameters(table, manifest="theirs"))
    commit(client, with_parameters(table, manifest="mine"))
    assert (read(client).parameters or {})["manifest"] == "mine"


@pytest.mark.parametrize(
    "change",
    [
        lambda table: with_parameters(table, note="new"),
        lambda table: with_parameters(table, other="new"),
        lambda table: replace(table, owner="somebody"),
        lambda table: replace(table, sd=replace(table.sd, cols=(*table.sd.cols, FieldSchema("b", "string")))),
        lambda table: replace(table, sd=replace(table.sd, location=f"{table.sd.location}_moved")),
    ],
    ids=["a parameter", "a new parameter", "the owner", "a column", "the location"],
)
def test_another_change_since_then_is_not_set_back(client: Client, change: Any) -> None:
    table = read(client)
    alter(client, change(table))
    changed = read(client)
    with pytest.raises(MetaException, match=r"The table has been modified\. It differs .* manifest, version$"):
        commit(client, table)
    assert read(client) == changed


def test_without_the_condition_an_alter_replaces_the_table(client: Client) -> None:
    table = read(client)
    alter(client, with_parameters(table, note="new"))
    alter(client, table)
    assert (read(client).parameters or {})["note"] == "old"


def test_the_refusal_of_a_value_says_that_this_condition_is_honoured_too(client: Client) -> None:
    with pytest.raises(
        MetaException, match=r"'version' is '1'\. The expected was value was '9'.*metastored\.changes_only"
    ):
        commit(client, read(client), expected="9")
    assert (read(client).parameters or {})["version"] == "1"
