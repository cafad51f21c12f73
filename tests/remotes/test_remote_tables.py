"""A table of another metastore under a name in a local database."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from metastored.errors import ApplicationError, InvalidOperationException, MetaException
from metastored.model.remotes.values import Access, read_remote, remote_parameters
from metastored.wire.generated.common import Table
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.remotes.arguments import about
from tests.support.remotes import House, house, remote_table


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def writable(here: House) -> None:
    here.define([remote_table("shop.seen", "raw.clicks", here.living.uri, access=Access.WRITE)])


def test_it_is_read_under_its_local_name_with_its_configuration() -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            table: Table = await here.ask("get_table", "Shop", "Seen")
            direct = here.remote.get_table("raw", "clicks")
            assert (table.dbName, table.tableName, table.sd) == ("shop", "seen", direct.sd)
            assert table.parameters is not None
            assert table.parameters["metastored.remote"] == "raw.clicks"
            assert table.parameters["hive.metastore.uris"] == here.living.uri
            assert table.parameters["comment"] == "from raw"

    run(test())


def test_partitions_have_both_of_its_local_names() -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            parts = await here.ask("get_partitions", "shop", "seen", -1)
            assert {(part.dbName, part.tableName) for part in parts} == {("shop", "seen")}
            assert here.remote.calls == [("get_partitions", ("raw", "clicks", -1))]

    run(test())


def test_the_other_tables_of_its_database_stay_local() -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            assert (await here.ask("get_table", "shop", "mine")).tableName == "mine"
            assert await here.ask("get_all_tables", "shop") == ("mine", "seen")
            assert here.remote.calls == []

    run(test())


def test_tables_of_several_owners_are_read_by_one_call() -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            found = await here.ask("get_table_objects_by_name", "shop", ("seen", "mine"))
            assert {(table.dbName, table.tableName) for table in found} == {("shop", "seen"), ("shop", "mine")}
            assert here.remote.calls == [("get_table_objects_by_name", ("raw", ("clicks",)))]
            assert here.local.calls == [("get_table_objects_by_name", ("shop", ("mine",)))]

    run(test())


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("drop_table", ("shop", "seen", True)),
        ("drop_table_with_environment_context", ("shop", "seen", True, None)),
        ("create_table", (Table(tableName="seen", dbName="shop"),)),
        ("alter_table", ("shop", "seen", Table(tableName="other", dbName="shop"))),
        (
            "alter_table",
            ("shop", "seen", Table(tableName="seen", dbName="shop", parameters={"metastored.remote.access": "write"})),
        ),
    ],
)
@pytest.mark.parametrize("access", list(Access))
def test_its_definition_is_dropped_and_changed_here_and_nothing_is_sent(
    method: str, args: tuple[Any, ...], access: Access
) -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            here.define([remote_table("shop.seen", "raw.clicks", here.living.uri, access=access)])
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask(method, *args)
            assert (here.local.called, here.living.accepted) == ([method], 0)

    run(test())


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("truncate_table", ("shop", "seen", ()), MetaException),
        ("append_partition_by_name", ("shop", "seen", "ds=9"), MetaException),
        ("alter_table", ("shop", "seen", Table(tableName="seen", dbName="shop")), InvalidOperationException),
    ],
)
def test_a_change_of_the_table_itself_is_refused_unless_it_may_be_written(
    method: str, args: tuple[Any, ...], error: type[Exception]
) -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            with pytest.raises(error, match=r"remote table 'shop.seen' \('raw.clicks' at .* is read-only"):
                await here.ask(method, *args)
            assert (here.local.calls, here.remote.calls) == ([], [])
            writable(here)
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask(method, *args)
            assert here.remote.calls[0][0] == method
            assert here.remote.calls[0][1][:2] == ("raw", "clicks")

    run(test())


def test_an_alter_of_the_table_is_sent_with_remote_names_and_without_the_configuration() -> None:
    async def test() -> None:
        async with house("shop.seen") as here:
            writable(here)
            table: Table = await here.ask("get_table", "shop", "seen")
            assert table.parameters is not None
            changed = replace(table, parameters={**table.parameters, "colour": "blue"})
            with pytest.raises(ApplicationError):
                await here.ask("alter_table", "shop", "seen", changed)
            name, args = here.remote.calls[-1]
            direct = here.remote.get_table("raw", "clicks")
            assert (name, args) == (
                "alter_table",
                ("raw", "clicks", replace(direct, parameters={"comment": "from raw", "colour": "blue"})),
            )

    run(test())


def test_a_dead_remote_fails_only_its_own_table() -> None:
    async def test() -> None:
        async with house("shop.gone", "shop.seen") as here:
            with pytest.raises(MetaException, match=r"remote table 'shop.gone' .* took longer than 0.2 s"):
                await here.ask("get_table", "shop", "gone")
            assert (await here.ask("get_table", "shop", "seen")).tableName == "seen"
            assert (await here.ask("get_table", "shop", "mine")).tableName == "mine"

    run(test())


def test_a_dead_remote_is_an_error_of_a_call_for_several_tables_or_is_left_out() -> None:
    async def test() -> None:
        async with house("shop.gone", "shop.seen") as here:
            with pytest.raises(ApplicationError, match=r"remote table 'shop.gone'"):
                await here.ask("get_table_objects_by_name", "shop", ("gone", "mine", "seen"))
        async with house("shop.gone", "shop.seen", partial=True) as here:
            found = await here.ask("get_table_objects_by_name", "shop", ("gone", "mine", "seen"))
            assert {table.tableName for table in found} == {"mine", "seen"}
            with pytest.raises(ApplicationError, match=r"remote table 'shop.gone'"):
                await here.ask("get_table_objects_by_name", "shop", ("gone",))

    run(test())


def test_the_configuration_of_a_table_in_a_remote_database_is_changed_by_its_database_only() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], access=Access.WRITE)
            table: Table = await here.ask("get_table", "sales", "clicks")
            assert table.parameters is not None
            changed = replace(table, parameters={**table.parameters, "metastored.remote.access": "read"})
            with pytest.raises(InvalidOperationException, match="ALTER DATABASE sales SET DBPROPERTIES"):
                await here.ask("alter_table", "sales", "clicks", changed)
            linked = Table(tableName="x", dbName="sales", parameters={"hive.metastore.uris": "thrift://h:1"})
            with pytest.raises(MetaException, match="cannot be created in the remote database 'sales'"):
                await here.ask("create_table", linked)
            assert [name for name, _ in here.remote.calls] == ["get_table"]

    run(test())


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.verb in ("write", "ddl")])
def test_no_write_of_the_method_table_reaches_a_remote_that_is_read_only(name: str) -> None:
    async def test() -> None:
        async with house() as here:
            args = about(METHODS[name], "sales", "clicks")
            if args is None:
                return
            with pytest.raises(Exception) as raised:
                await here.ask(name, *args)
            assert here.remote.calls == []
            if METHODS[name].route == "names":
                assert "read-only" in str(raised.value) or here.local.called == [name]

    run(test())


def test_shown_parameters_can_be_read_as_a_definition_again() -> None:
    seen = remote_table("shop.seen", "raw.clicks", "thrift://hms:9083", access=Access.WRITE, cache_seconds=3.0)
    assert read_remote("hive", "shop", "seen", remote_parameters(seen, masked=False)) == seen
