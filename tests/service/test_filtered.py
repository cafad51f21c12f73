"""Calls with a filter on tables or databases that do not exist. `tests/hive` tests the filters themselves."""

from __future__ import annotations

import pytest

from metastored.errors import NoSuchObjectException, UnknownDBException
from metastored.hive.generation import Generation
from metastored.service.core import partition_lists
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import GetPartitionsByFilterRequest
from tests.service.conftest import Starter
from tests.support.objects import DB, add_partitions, bare_table, make_table

OWNED = 'hive_filter_field_owner__ = "ann"'


@pytest.mark.parametrize(
    ("generation", "words"),
    [
        (Generation.HIVE_2_3, f"{DB}.nope table not found"),
        (Generation.HIVE_3_1, f"hive.{DB}.nope table not found"),
        (Generation.HIVE_4_0, f"Specified catalog.database.table does not exist : hive.{DB}.nope"),
    ],
)
def test_a_missing_table_has_the_error_of_each_generation(start: Starter, generation: Generation, words: str) -> None:
    metastore = start(generation)
    make_table(metastore)
    with pytest.raises(NoSuchObjectException) as caught:
        metastore.call("get_partitions_by_filter", DB, "nope", 'ds = "1"', -1)
    assert caught.value.message == words


def test_the_request_form_has_the_same_error_for_a_missing_table(start: Starter) -> None:
    metastore = start(Generation.HIVE_4_0)
    make_table(metastore)
    with pytest.raises(NoSuchObjectException) as caught:
        metastore.call("get_partitions_by_filter_req", GetPartitionsByFilterRequest(dbName=DB, tblName="nope"))
    assert caught.value.message == f"Specified catalog.database.table does not exist : hive.{DB}.nope"


def test_a_missing_database_has_no_tables_before_hive_4_2(start: Starter) -> None:
    for generation in (Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0):
        assert start(generation).call("get_table_names_by_filter", "nodb", OWNED, -1) == ()


def test_a_missing_database_is_unknown_in_hive_4_2(start: Starter) -> None:
    with pytest.raises(UnknownDBException) as caught:
        start(Generation.HIVE_4_2).call("get_table_names_by_filter", "nodb", OWNED, -1)
    assert caught.value.message == "Could not find database hive.nodb"


def test_a_filter_on_one_parameter_finds_the_tables_of_its_database_by_their_values(start: Starter) -> None:
    metastore = start(Generation.HIVE_3_1)
    for db in ("one", "two"):
        metastore.call("create_database", Database(name=db))
        for name, word in (("c", "lance"), ("a", "lance"), ("b", "LANCE"), ("d", "iceberg"), ("e", None)):
            parameters = {"EXTERNAL": "TRUE", **({} if word is None else {"table_type": word})}
            metastore.call("create_table", bare_table(db, f"{db}_{name}", parameters=parameters))
    key = "hive_filter_field_params__table_type"

    def names(filter: str, limit: int = -1) -> object:
        return metastore.call("get_table_names_by_filter", "one", filter, limit)

    assert names(f'{key} = "lance"') == ("one_a", "one_c")
    assert names(f'{key} = "lance"', 1) == ("one_a",)
    assert names(f'{key} = "lance"', 0) == ()
    assert names(f'{key} like "....." and {key} != "lance"') == ("one_b",)
    assert names(f'{key} != "lance"') == ("one_b", "one_d")
    assert names(f'{key} = "delta"') == ()
    assert names('hive_filter_field_params__nope = "x"') == ()


@pytest.mark.parametrize("held", [0, 600_000, 8 << 20])
def test_a_long_list_is_the_same_whether_its_rows_stay_in_memory_or_are_streamed(
    start: Starter, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", held)
    metastore = start(Generation.HIVE_3_1)
    make_table(metastore, keys=("ds",))
    values = [f"{at:04}" for at in range(1_100)]
    add_partitions(metastore, "t", *values)
    for first in ("0000", "0050", "0599", "0600", "1099", "2"):
        found = metastore.call("get_partitions_by_filter", DB, "t", f'ds >= "{first}"', -1)
        assert [each.values[0] for each in found] == [each for each in values if each >= first]
    limited = metastore.call("get_partitions_by_filter", DB, "t", 'ds >= "0050"', 700)
    assert [each.values[0] for each in limited] == values[50:750]
