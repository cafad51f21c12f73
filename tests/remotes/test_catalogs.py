"""All databases of another metastore at once: by a prefix, or as a catalog of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace as replaced
from typing import Any

import pytest

from metastored.errors import ApplicationError, InvalidOperationException, MetaException, NoSuchObjectException
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.values import Access, Names
from metastored.wire.generated.common import Table
from tests.support.remotes import House, endpoint, house


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def old(here: House, **fields: Any) -> RemoteCatalog:
    return RemoteCatalog("old", endpoint(here.living.uri), **({"prefix": "old_"} | fields))


def test_its_databases_are_listed_and_read_under_the_prefix() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here)])
            assert await here.ask("get_all_databases") == (
                *("default", "old_default", "old_hidden", "old_raw"),
                *("raw", "sales", "shop"),
            )
            assert await here.ask("get_databases", "old_h*|d*") == ("default", "old_hidden")
            assert await here.ask("get_all_tables", "old_raw") == ("clicks", "views")
            assert (await here.ask("get_table", "OLD_raw", "clicks")).dbName == "old_raw"
            listed = await here.ask("get_table_meta", "old_r*", "*", None)
            assert [(each.dbName, each.tableName) for each in listed] == [("old_raw", "clicks"), ("old_raw", "views")]

    run(test())


def test_a_database_that_is_created_there_later_is_seen_at_once() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here)])
            with pytest.raises(NoSuchObjectException, match=r"^old_new"):
                await here.ask("get_table", "old_new", "t")
            here.remote.databases["new"] = ("t",)
            assert (await here.ask("get_table", "old_new", "t")).dbName == "old_new"
            assert "old_new" in await here.ask("get_all_databases")

    run(test())


def test_a_local_database_is_never_hidden() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here, prefix="")])
            assert (await here.ask("get_table", "raw", "shadow")).tableName == "shadow"
            assert (await here.ask("get_table", "hidden", "secret")).tableName == "secret"
            assert await here.ask("get_all_databases") == ("default", "hidden", "raw", "sales", "shop")

    run(test())


def test_only_allowed_databases_and_tables_are_shown_in_any_case_and_by_any_name() -> None:
    async def test() -> None:
        async with house() as here:
            shown = old(
                here,
                databases=Names(("raw|default",)),
                tables_of=(("raw", Names(("click.*",))),),
                aliases=(("default", "plain"),),
            )
            here.define([], [shown])
            found = await here.ask("get_databases", "old_*")
            assert found == ("old_default", "old_plain", "old_raw"), "an alias is a further name"
            assert await here.ask("get_all_tables", "OLD_RAW") == ("clicks",)
            listed = await here.ask("get_table_meta", "old_*", "*", None)
            assert {(each.dbName, each.tableName) for each in listed} == {
                ("old_default", "theirs"),
                ("old_plain", "theirs"),
                ("old_raw", "clicks"),
            }
            assert (await here.ask("get_table", "old_plain", "theirs")).dbName == "old_plain"
            for name, table in (("old_raw", "VIEWS"), ("Old_Raw", "views"), ("old_hidden", "secret")):
                with pytest.raises(NoSuchObjectException):
                    await here.ask("get_table", name, table)

    run(test())


def test_a_catalog_without_a_prefix_has_its_databases_in_a_catalog_of_its_own() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here, prefix=None)])
            assert (await here.ask("get_table", "@old#raw", "clicks")).dbName == "raw"
            assert await here.ask("get_databases", "@old#*") == ("default", "hidden", "raw")
            assert "hidden" not in await here.ask("get_all_databases")

    run(test())


def test_writes_are_allowed_by_the_databases_and_the_roles_that_the_catalog_names() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here, access=Access.WRITE, writable=Names(("raw",)), writers=("etl",))])
            new = Table(tableName="new", dbName="old_default")
            with pytest.raises(MetaException, match=r"read-only.*by the remote catalog 'old'"):
                await here.ask("create_table", new)
            with pytest.raises(MetaException, match="may be written by the roles etl only"):
                await here.ask("create_table", Table(tableName="new", dbName="old_raw"))
            assert here.remote.calls == []
            here.roles = ("public", "etl")
            with pytest.raises(ApplicationError, match="Invalid method name"):
                await here.ask("create_table", Table(tableName="new", dbName="old_raw"))
            assert here.remote.calls == [("create_table", (Table(tableName="new", dbName="raw"),))]

    run(test())


def test_a_catalog_that_does_not_answer_is_an_error_that_names_it_or_is_left_out() -> None:
    async def test() -> None:
        async with house() as here:
            dead = replaced(old(here), endpoint=endpoint(here.dead.uri, 0.2))
            here.define([], [dead])
            with pytest.raises(MetaException, match="took longer"):
                await here.ask("get_all_databases")
            assert (await here.ask("get_table", "sales", "clicks")).dbName == "sales"
        async with house(partial=True) as here:
            here.define([], [replaced(old(here), endpoint=endpoint(here.dead.uri, 0.2))])
            assert await here.ask("get_all_databases") == ("default", "raw", "shop", "sales")

    run(test())


def test_a_table_cannot_be_moved_between_metastores() -> None:
    async def test() -> None:
        async with house() as here:
            here.define([], [old(here, access=Access.WRITE)], access=Access.WRITE)
            moved = Table(tableName="orders", dbName="old_raw")
            with pytest.raises(InvalidOperationException, match="no metastore has them all"):
                await here.ask("alter_table", "default", "orders", moved)

    run(test())
