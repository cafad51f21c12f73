"""Local and remote databases behind one handler: who is asked, under which names, and what fails how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from metastored.connectors.thrift import ThriftMetastore
from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.remotes.definitions import Definitions, RemoteDatabase
from metastored.remotes.merging import MERGES
from metastored.remotes.routing import Routed
from metastored.wire.generated.common import Table
from metastored.wire.generated.constraints import ForeignKeysRequest
from metastored.wire.generated.databases import Database, GetDatabaseObjectsRequest
from metastored.wire.generated.locks import LockComponent, LockRequest
from metastored.wire.generated.transactions import GetValidWriteIdsRequest
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import ThriftServer, serving

SOON = 1.0
LATE = 60.0


class House:
    """A local metastore with `default`, and a remote one whose `raw` is known here as `sales`."""

    def __init__(self, living: ThriftServer, dead: ThriftServer, extra: tuple[RemoteDatabase, ...]) -> None:
        self.local = MemoryMetastore({"default": ("orders",), "raw": ("shadow",)})
        self.living = living
        self.dead = dead
        remotes = (RemoteDatabase("sales", "raw", living.uri), *extra)
        self.connectors: list[ThriftMetastore] = []
        self.handler = Routed(self.local, Definitions(remotes, self.local.databases), self._connect)

    def _connect(self, remote: RemoteDatabase) -> ThriftMetastore:
        deadline = SOON if remote.uri == self.dead.uri else LATE
        self.connectors.append(ThriftMetastore(remote.uri, deadline=deadline))
        return self.connectors[-1]

    @property
    def remote(self) -> MemoryMetastore:
        assert isinstance(self.living.handler, MemoryMetastore)
        return self.living.handler

    async def ask(self, name: str, *args: Any, user: str | None = None) -> Any:
        method = METHODS[name]
        return (await self.handler.handle(Call(method, args), Session(user=user))).value(method)


@asynccontextmanager
async def house(*names: str) -> AsyncIterator[House]:
    """`names` are those of further remote databases: of `other` in the living metastore, or of the dead one."""
    async with AsyncExitStack() as stack:
        living = await stack.enter_async_context(
            serving(MemoryMetastore({"raw": ("clicks", "views"), "default": ("theirs",), "hidden": ("secret",)}))
        )
        dead = await stack.enter_async_context(serving(None))
        known = {
            "lost": RemoteDatabase("lost", "raw", dead.uri),
            "twin": RemoteDatabase("twin", "raw", living.uri),
            "theirs": RemoteDatabase("theirs", "default", living.uri),
        }
        found = House(living, dead, tuple(known[name] for name in names))
        try:
            yield found
        finally:
            for connector in found.connectors:
                await connector.close()


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
            assert table == replace(here.remote.get_table("raw", "clicks"), dbName="sales")
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
            assert await here.ask("get_database", "sales") == replace(here.remote.get_database("raw"), name="sales")
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


def test_an_error_of_the_remote_begins_with_the_local_name() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(NoSuchObjectException, match=r"^sales\.nothing table not found$"):
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
            with pytest.raises(MetaException, match="names a local database, remote database 'sales'"):
                await here.ask("get_foreign_keys", request)

    run(test())


def test_write_ids_of_a_remote_table_are_refused() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(MetaException, match="read them there"):
                await here.ask("get_valid_write_ids", GetValidWriteIdsRequest(fullTableNames=("sales.clicks",)))

    run(test())


def test_locks_are_kept_by_the_local_metastore() -> None:
    async def test() -> None:
        async with house() as here:
            component = LockComponent(type=1, level=2, dbname="sales", tablename="clicks")
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask("lock", LockRequest(component=(component,)))
            assert (here.local.called, here.remote.called) == (["lock"], [])

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
        ("drop_database", ("sales", True, True), InvalidOperationException),
        ("alter_database", ("sales", Database(name="sales")), MetaException),
    ],
)
def test_a_change_of_a_remote_database_is_refused_and_nobody_is_asked(
    method: str, args: tuple[Any, ...], error: type[Exception]
) -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(error, match=r"remote database 'sales' \('raw' at thrift://.* is read-only"):
                await here.ask(method, *args)
            assert (here.local.calls, here.remote.calls) == ([], [])

    run(test())


def test_a_local_database_cannot_take_the_name_of_a_remote_one() -> None:
    async def test() -> None:
        async with house() as here:
            with pytest.raises(AlreadyExistsException, match="'sales' already exists"):
                await here.ask("create_database", Database(name="Sales"))

    run(test())


# Listings across databases


def test_remote_databases_are_listed_without_asking_their_metastores() -> None:
    async def test() -> None:
        async with house("lost") as here:
            assert await here.ask("get_all_databases") == ("default", "lost", "raw", "sales")
            assert await here.ask("get_databases", "*s*") == ("lost", "sales")
            assert await here.ask("get_databases", "@hive#d*|sales") == ("sales",)
            assert (here.living.accepted, here.dead.accepted) == (0, 0)

    run(test())


def test_tables_of_local_and_remote_databases_are_listed_together() -> None:
    async def test() -> None:
        async with house("twin") as here:
            listed = await here.ask("get_table_meta", "*", "*", None)
            assert [(table.dbName, table.tableName) for table in listed] == [
                ("default", "orders"),
                ("raw", "shadow"),
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
            assert [function.dbName for function in listed.functions] == ["default", "raw", "sales", "theirs"]
            assert here.remote.called == ["get_all_functions"]

    run(test())


def test_a_remote_that_cannot_list_is_an_error_that_names_it() -> None:
    async def test() -> None:
        async with house("lost") as here:
            with pytest.raises(MetaException, match=r"remote database 'lost'.*took longer"):
                await here.ask("get_table_meta", "*", "*", None)

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
        async with house("lost") as here:
            hanging = [asyncio.ensure_future(here.ask("get_table", "lost", f"t{i}")) for i in range(100)]
            while here.dead.accepted == 0:
                await asyncio.sleep(0.001)
            for _ in range(20):
                assert (await here.ask("get_table", "default", "orders")).tableName == "orders"
                assert (await here.ask("get_table", "sales", "clicks")).tableName == "clicks"
            assert not any(call.done() for call in hanging)
            for error in await asyncio.gather(*hanging, return_exceptions=True):
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


def test_without_remote_databases_every_call_is_local() -> None:
    async def test() -> None:
        local = MemoryMetastore({"default": ("orders",)})
        handler = Routed(local, Definitions(), ThriftMetastore)  # type: ignore[arg-type]
        method = METHODS["get_all_databases"]
        assert (await handler.handle(Call(method, ()), Session())).value(method) == ("default",)

    run(test())
