"""Local and remote databases behind one handler: who is asked, under which names, and what fails how."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from metastored.errors import (
    ApplicationError,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.model.remotes.values import remote_parameters
from metastored.remotes.merging import MERGES
from metastored.wire.generated.common import Table
from metastored.wire.generated.constraints import ForeignKeysRequest
from metastored.wire.generated.databases import Database, GetDatabaseObjectsRequest
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.remotes import House, house


def shown(here: House, name: str, remote_name: str) -> dict[str, str]:
    """The configuration of a remote database as callers see it."""
    found = next(each for each in here.known.definitions if each.name == name)
    return remote_parameters(found, masked=True) | {"metastored.remote": remote_name}


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


# One owner


def test_a_local_table_is_read_from_the_local_metastore() -> None:
    async def test() -> None:
        async with house() as here:
            assert (await here.ask("get_table", "default", "orders")).dbName == "default"
            assert (await here.ask("get_table", "raw", "shadow")).tableName == "shadow"
            assert here.remote.calls == []

    run(test())


def test_a_remote_table_is_read_under_its_local_name() -> None:
    async def test() -> None:
        async with house() as here:
            table: Table = await here.ask("get_table", "sales", "clicks")
            direct = here.remote.get_table("raw", "clicks")
            configuration = shown(here, "sales", "raw.clicks")
            parameters = {**(direct.parameters or {}), **configuration, "EXTERNAL": "TRUE"}
            assert table == replace(direct, dbName="sales", parameters=parameters, tableType="EXTERNAL_TABLE")
            assert here.remote.calls == [("get_table", ("raw", "clicks"))]
            assert here.local.calls == []

    run(test())


@pytest.mark.parametrize("name", ["Sales", "@hive#sales", " SALES "])
def test_a_remote_database_is_found_however_its_name_is_written(name: str) -> None:
    async def test() -> None:
        async with house() as here:
            assert (await here.ask("get_table", name, "clicks")).dbName == "sales"
            assert here.remote.calls == [("get_table", ("raw", "clicks"))]

    run(test())


def test_a_database_of_another_catalog_is_local() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(NoSuchObjectException):
                await here.ask("get_table", "@spark#sales", "clicks")
            assert here.remote.calls == []

    run(test())


def test_partitions_databases_and_listings_of_a_remote_database_come_under_its_local_name() -> None:
    async def test() -> None:
        async with house() as here:
            partitions = await here.ask("get_partitions", "sales", "clicks", -1)
            assert partitions == tuple(
                replace(part, dbName="sales") for part in here.remote.get_partitions("raw", "clicks", -1)
            )
            direct = here.remote.get_database("raw")
            assert await here.ask("get_database", "sales") == replace(
                direct, name="sales", parameters=shown(here, "sales", "raw")
            )
            assert await here.ask("get_all_tables", "sales") == ("clicks", "views")

    run(test())


def test_two_local_names_of_one_remote_database_each_come_back() -> None:
    async def test() -> None:
        async with house("twin") as here:
            assert (await here.ask("get_table", "twin", "clicks")).dbName == "twin"
            assert (await here.ask("get_table", "sales", "clicks")).dbName == "sales"
            assert here.living.accepted == 1, "they share their endpoint's connections"

    run(test())


def test_the_remote_learns_who_asks() -> None:
    async def test() -> None:
        async with house() as here:
            await here.ask("get_table", "sales", "clicks", user="ann")
            assert here.remote.users == ["ann"]

    run(test())


def test_an_error_of_the_remote_begins_with_the_local_name_and_ends_with_the_remote_one() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(
                NoSuchObjectException, match=r"^sales\.nothing table not found \(.* 'sales' \('raw' at thrift://.*\)\)$"
            ):
                await here.ask("get_table", "sales", "nothing")

    run(test())


def test_a_method_that_the_remote_does_not_have_is_unknown() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(ApplicationError, match="Invalid method name: 'get_index_names'"):
                await here.ask("get_index_names", "sales", "clicks", 1)

    run(test())


def test_objects_of_several_metastores_in_one_call_are_refused() -> None:
    async def test() -> None:
        async with house() as here:
            request = ForeignKeysRequest("default", "orders", "sales", "clicks")
            with pytest.raises(MetaException, match="names objects of a local database, remote database 'sales'"):
                await here.ask("get_foreign_keys", request)

    run(test())


# Nothing is written to a remote


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("create_table", (Table(tableName="new", dbName="sales"),), MetaException),
        ("drop_table", ("sales", "clicks", True), MetaException),
        ("append_partition_by_name", ("sales", "clicks", "ds=9"), MetaException),
        ("truncate_table", ("sales", "clicks", ()), MetaException),
        ("alter_table", ("sales", "clicks", Table(tableName="c", dbName="sales")), InvalidOperationException),
        ("alter_table", ("default", "orders", Table(tableName="c", dbName="sales")), InvalidOperationException),
    ],
)
def test_a_change_of_a_remote_database_is_refused_and_nobody_is_asked(
    method: str, args: tuple[Any, ...], error: type[Exception]
) -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(
                error,
                match=r"'sales' \('raw' at thrift://.* is read-only.*remote.access is 'read'",
            ):
                await here.ask(method, *args)
            assert (here.local.calls, here.remote.calls) == ([], [])

    run(test())


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("drop_database", ("sales", True, True)),
        ("alter_database", ("sales", Database(name="sales"))),
        ("create_database", (Database(name="Sales"),)),
    ],
)
def test_the_definition_of_a_remote_database_is_changed_here_and_nothing_is_sent(
    method: str, args: tuple[Any, ...]
) -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask(method, *args)
            assert (here.local.called, here.living.accepted) == ([method], 0)

    run(test())


# Listings across databases


def test_remote_databases_are_listed_without_asking_their_metastores() -> None:
    async def test() -> None:
        async with house("lost") as here:
            assert await here.ask("get_all_databases") == ("default", "raw", "shop", "sales", "lost")
            assert await here.ask("get_databases", "*s*") == ("shop", "sales", "lost")
            assert (here.living.accepted, here.dead.accepted) == (0, 0)

    run(test())


def test_tables_of_local_and_remote_databases_are_listed_together() -> None:
    async def test() -> None:
        async with house("twin") as here:
            listed = await here.ask("get_table_meta", "*", "*", None)
            assert [(table.dbName, table.tableName) for table in listed] == [
                ("default", "orders"),
                ("raw", "shadow"),
                ("shop", "mine"),
                ("sales", "clicks"),
                ("sales", "views"),
                ("twin", "clicks"),
                ("twin", "views"),
            ]
            assert here.remote.calls == [("get_table_meta", ("raw", "*", None))]

    run(test())


def test_only_remotes_that_match_a_pattern_are_asked() -> None:
    async def test() -> None:
        async with house("lost") as here:
            listed = await here.ask("get_table_meta", "sal*", "c*", None)
            assert [(table.dbName, table.tableName) for table in listed] == [("sales", "clicks")]
            assert here.dead.accepted == 0

    run(test())


def test_functions_of_databases_that_are_not_defined_here_stay_hidden() -> None:
    async def test() -> None:
        async with house("theirs") as here:
            listed = await here.ask("get_all_functions")
            assert [function.dbName for function in listed.functions] == [
                *("default", "raw", "shop", "sales", "theirs"),
                *("sales", "theirs"),
            ]
            assert here.remote.called == ["get_all_functions"]

    run(test())


def test_a_remote_that_cannot_list_is_an_error_that_names_it() -> None:
    async def test() -> None:
        async with house("lost") as here:
            with pytest.raises(MetaException, match=r"remote database 'lost'.*took longer"):
                await here.ask("get_table_meta", "*", "*", None)
            assert here.local.called == ["get_table_meta"]

    run(test())


def test_a_local_error_is_the_answer_of_a_listing() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(ApplicationError, match="Invalid method name: 'get_databases_req'"):
                await here.ask("get_databases_req", GetDatabaseObjectsRequest(pattern="*"))
            assert here.remote.calls == []

    run(test())


def test_every_merge_of_a_listing_is_known() -> None:
    assert {method.merge for method in METHODS.values() if method.route in ("pattern", "all")} <= set(MERGES)


# A dead remote


def test_calls_to_others_are_answered_while_a_hundred_hang_on_a_dead_remote() -> None:
    async def test() -> None:
        async with house("patient") as here:
            hanging = [asyncio.ensure_future(here.ask("get_table", "patient", f"t{i}")) for i in range(100)]
            while here.dead.accepted == 0:
                await asyncio.sleep(0.001)
            for _ in range(20):
                assert (await here.ask("get_table", "default", "orders")).tableName == "orders"
                assert (await here.ask("get_table", "sales", "clicks")).tableName == "clicks"
            assert not any(call.done() for call in hanging)
            await here.dead.stop()
            assert all(isinstance(end, MetaException) for end in await asyncio.gather(*hanging, return_exceptions=True))

    run(test())


def test_all_of_a_hundred_calls_to_a_dead_remote_end_with_an_error_that_names_it() -> None:
    async def test() -> None:
        async with house("lost") as here:
            calls = [here.ask("get_table", "lost", f"t{i}") for i in range(100)]
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(error, MetaException)
                assert "remote database 'lost'" in str(error) and here.dead.uri in str(error)

    run(test())


def test_a_remote_that_was_restarted_answers_again() -> None:
    async def test() -> None:
        async with house() as here:
            assert (await here.ask("get_table", "sales", "clicks")).tableName == "clicks"
            await here.living.stop()
            with pytest.raises(MetaException, match=r"remote database 'sales'.*cannot be reached"):
                await here.ask("get_table", "sales", "clicks")
            await here.living.start()
            assert (await here.ask("get_table", "sales", "clicks")).tableName == "clicks"

    run(test())


def test_a_remote_that_closes_within_an_answer_is_an_error_that_names_it() -> None:
    async def test() -> None:
        async with house() as here:
            here.living.cut = 100
            with pytest.raises(MetaException, match=r"remote database 'sales'.*did not finish its answer"):
                await here.ask("get_table", "sales", "clicks")

    run(test())
