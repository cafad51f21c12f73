"""DROP DATABASE … CASCADE as Hive's clients send it: the tables of a remote database stay."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from metastored.errors import ApplicationError, MetaException, NoSuchObjectException
from metastored.model.remotes.values import Access
from metastored.wire.message import Session
from tests.support.remotes import House, house

DROP = "drop_table_with_environment_context"


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def drop_as_client(here: House, session: Session) -> None:
    """What HiveMetaStoreClient.dropDatabase(name, deleteData, ignoreUnknownDb, cascade=true) does."""
    await here.ask("get_database", "sales", session=session)
    for table in await here.ask("get_all_tables", "sales", session=session):
        await here.ask("get_table", "sales", table, session=session)
        with pytest.raises(NoSuchObjectException, match="the tables of a remote database stay"):
            await here.ask(DROP, "sales", table, True, None, session=session)
    with pytest.raises(ApplicationError, match="Invalid method name"):
        await here.ask("drop_database", "sales", True, True, session=session)


@pytest.mark.parametrize("access", list(Access))
def test_a_cascade_drops_the_definition_and_no_table(access: Access) -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], access=access)
            await drop_as_client(here, Session())
            assert here.local.called == ["drop_database"]
            assert here.remote.called == ["get_database", "get_all_tables", "get_table", "get_table"]

    run(test())


@pytest.mark.parametrize(
    "between",
    [
        [("get_database", "sales")],
        [("get_all_databases",)],
        [("get_table", "sales", "views")],
        [("get_table", "default", "orders")],
        [("drop_table", "sales", "views", True)],
    ],
)
def test_a_drop_after_any_other_call_is_one_of_this_table(between: list[tuple[Any, ...]]) -> None:
    async def test() -> None:
        async with house() as here:
            session = Session()
            await here.ask("get_all_tables", "sales", session=session)
            for name, *args in between:
                try:
                    await here.ask(name, *args, session=session)
                except MetaException as error:
                    assert "read-only" in str(error)
            with pytest.raises(MetaException, match="read-only"):
                await here.ask(DROP, "sales", "clicks", True, None, session=session)
            here.define([], access=Access.WRITE)
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask(DROP, "sales", "clicks", True, None, session=session)
            assert here.remote.called[-1] == DROP

    run(test())


def test_a_listing_on_another_connection_is_no_part_of_it() -> None:
    async def test() -> None:
        async with house() as here:
            await here.ask("get_all_tables", "sales")
            with pytest.raises(MetaException, match="read-only"):
                await here.ask(DROP, "sales", "clicks", True, None)

    run(test())
