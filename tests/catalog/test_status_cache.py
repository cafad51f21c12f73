"""Statuses of tables that were converted before: the same as new ones, and gone when the table changes."""

from __future__ import annotations

from dataclasses import replace as changed_copy
from typing import Any

import pytest

import metastored
from metastored.catalog import TableChanges
from metastored.catalog.hive_objects import table_status
from metastored.catalog.status_cache import StatusCache
from metastored.wire.structs import replace
from tests.client.handlers import table_of
from tests.support.driven import HALVES, managed
from tests.support.forks import running_server


class Counted:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, table: Any) -> Any:
        self.count += 1
        return table_status("hive", table)


def test_an_object_is_converted_once_and_each_caller_gets_its_own_maps() -> None:
    cache, convert, table = StatusCache(10), Counted(), table_of("sales", "t", color="red")
    first = cache.status(table, convert)
    assert isinstance(first.properties, dict)
    first.properties["color"] = "blue"
    second = cache.status(table, convert)
    assert (convert.count, second) == (1, table_status("hive", table))


def test_another_object_of_the_same_name_is_converted_again() -> None:
    cache, convert, table = StatusCache(10), Counted(), table_of("sales", "t")
    cache.status(table, convert)
    newer = replace(table, owner="bob")
    assert cache.status(newer, convert) == changed_copy(table_status("hive", table), owner="bob")
    assert convert.count == 2


@pytest.mark.parametrize(("capacity", "conversions"), [(0, 4), (1, 4), (2, 2)])
def test_the_least_recently_used_status_is_evicted(capacity: int, conversions: int) -> None:
    cache, convert = StatusCache(capacity), Counted()
    tables = [table_of("sales", "a"), table_of("sales", "b")]
    for table in tables * 2:
        cache.status(table, convert)
    assert convert.count == conversions


@pytest.mark.parametrize("half", HALVES)
def test_a_catalog_lists_a_changed_table_as_it_is_now(half: str) -> None:
    with running_server() as server:
        settings = {"name": "hive", "type": "hive", "uri": server.uri}
        with managed(half, environment={}, list=[settings]) as catalogs:
            catalogs.create_table(
                "default.t", metastored.table("default.t", {"id": "int"}, properties={"color": "red"})
            )
            for color in ("red", "blue"):
                for _ in range(2):
                    (listed,) = catalogs.list_tables("default")
                    assert listed.properties["color"] == color
                    assert catalogs.get_table("default.t").properties["color"] == color
                catalogs.alter_table("default.t", TableChanges(set_properties={"color": "blue"}))
