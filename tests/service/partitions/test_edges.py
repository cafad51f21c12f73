"""Incomplete partitions, and the limit of partitions per call; compared with Hive by probes."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import MetaException, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    DropPartitionsExpr,
    DropPartitionsRequest,
    Partition,
    PartitionListComposingSpec,
    PartitionsByExprRequest,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
    RequestPartsSpec,
)
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, make_table
from tests.support.objects import bare_storage as storage
from tests.support.objects import sales_table as table

HOME = f"file:/nowhere/{DB}/t"
COUNTED = {
    **{"numFiles": "2", "totalSize": "9", "numRows": "3", "rawDataSize": "33"},
    "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}',
}


def part(*values: str, **other: Any) -> Partition:
    plain = Partition(values=values, dbName=DB, tableName="t", sd=storage(), parameters={})
    return replace(plain, **other)


def names(metastore: Metastore) -> list[str]:
    return list(metastore.call("get_partition_names", DB, "t", -1))


# --- truncating -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("generation", [Generation.HIVE_3_1, Generation.HIVE_4_0, Generation.HIVE_4_2])
def test_a_truncated_table_has_no_rows_any_more(start: Starter, generation: Generation) -> None:
    metastore = start(generation)
    external = {"EXTERNAL": "TRUE", "external.table.purge": "TRUE"}
    make_table(metastore, tableType="EXTERNAL_TABLE", parameters={**external, **COUNTED})
    metastore.call("truncate_table", DB, "t", None)
    after = metastore.call("get_table", DB, "t").parameters
    assert [after[key] for key in ("numRows", "rawDataSize", "numFiles", "totalSize")] == ["0"] * 4
    assert after["COLUMN_STATS_ACCURATE"] == '{"BASIC_STATS":"true"}'


@pytest.mark.parametrize("generation", [Generation.HIVE_3_1, Generation.HIVE_4_0, Generation.HIVE_4_2])
def test_a_truncated_partition_has_statistics_of_zero(start: Starter, generation: Generation) -> None:
    metastore = start(generation)
    make_table(metastore, keys=("ds",), tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    metastore.call("add_partition", part("1", parameters=COUNTED))
    metastore.call("truncate_table", DB, "t", ("ds=1",))
    after = metastore.call("get_partition", DB, "t", ("1",)).parameters
    assert [after[key] for key in ("numRows", "rawDataSize", "numFiles", "totalSize")] == ["0"] * 4


# --- half written -----------------------------------------------------------------------------------------------


def test_a_view_has_partitions_without_storage(metastore: Metastore) -> None:
    metastore.call("create_database", Database(name=DB, locationUri=f"file:/nowhere/{DB}"))
    view = table(keys=("ds",), tableType="VIRTUAL_VIEW", viewOriginalText="select 1", viewExpandedText="select 1")
    metastore.call("create_table", view)
    assert metastore.call("add_partitions", (part("1", sd=None), part("2", sd=None))) == 2
    metastore.call("alter_partition", DB, "t", part("1", sd=None, parameters={"k": "v"}))
    result = metastore.call("get_partition", DB, "t", ("1",))
    assert result.sd is None
    assert result.parameters["k"] == "v"
    metastore.call("rename_partition", DB, "t", ("2",), part("3", sd=None))
    assert names(metastore) == ["ds=1", "ds=3"]
    metastore.call("drop_partition", DB, "t", ("1",), True)
    assert names(metastore) == ["ds=3"]


def test_a_table_has_none_without_storage(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",))
    with pytest.raises(MetaException, match="partition ds=1 has no storage descriptor"):
        metastore.call("add_partition", part("1", sd=None))


def test_a_slash_behind_a_location_is_not_kept(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",))
    sd = replace(storage(), location=f"{HOME}/ds=1/")
    metastore.call("add_partition", part("1", sd=sd))
    assert metastore.call("get_partition", DB, "t", ("1",)).sd.location == f"{HOME}/ds=1"
    metastore.call("alter_partitions", DB, "t", (part("1", sd=sd),))
    assert metastore.call("get_partition", DB, "t", ("1",)).sd.location == f"{HOME}/ds=1"


@pytest.mark.parametrize(
    "named", [{"tableName": "other"}, {"dbName": "default"}, {"tableName": None}, {"catName": "other"}]
)
def test_a_rename_to_another_table_is_refused(metastore: Metastore, named: dict[str, Any]) -> None:
    make_table(metastore, keys=("ds",))
    metastore.call("add_partition", part("1"))
    with pytest.raises(MetaException, match="did not commit"):
        metastore.call("rename_partition", DB, "t", ("1",), part("2", **named))
    assert names(metastore) == ["ds=1"]


@pytest.mark.parametrize(("field", "problem"), [((None, "int"), "has no name"), (("x", None), "x, has no type")])
def test_columns_without_name_or_type_are_refused(metastore: Metastore, field: Any, problem: str) -> None:
    make_table(metastore, keys=("ds",))
    metastore.call("add_partition", part("1"))
    sd = replace(storage(), cols=(FieldSchema("a", "int"), FieldSchema(*field)), location=f"{HOME}/ds=1")
    for method, args in {
        "add_partition": (part("2", sd=sd),),
        "alter_partition": (DB, "t", part("1", sd=sd)),
        "rename_partition": (DB, "t", ("1",), part("2", sd=sd)),
        "create_table": (replace(table("u"), sd=sd),),
        "alter_table": (DB, "t", replace(metastore.call("get_table", DB, "t"), sd=replace(sd, location=HOME))),
    }.items():
        with pytest.raises(MetaException, match=f"column 2.*{problem}"):
            metastore.call(method, *args)
    assert names(metastore) == ["ds=1"]


@pytest.mark.parametrize("method", ["get_partition_by_name", "append_partition_by_name", "drop_partition_by_name"])
def test_an_empty_name_of_a_partition_is_invalid(metastore: Metastore, method: str) -> None:
    make_table(metastore, keys=("ds",))
    with pytest.raises(MetaException, match="Partition name is invalid"):
        metastore.call(method, DB, "t", "")


def test_blank_names_in_a_list_find_nothing(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",))
    metastore.call("add_partition", part("1"))
    (result,) = metastore.call("get_partitions_by_names", DB, "t", ("", " ", "ds=1"))
    assert result.values == ("1",)
    blank = DropPartitionsRequest(DB, "t", RequestPartsSpec(names=("", " ")), ifExists=False)
    with pytest.raises(NoSuchObjectException, match="Some partitions to drop are missing"):
        metastore.call("drop_partitions_req", blank)


def test_a_spec_of_both_kinds_is_its_list(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",))
    shared = PartitionSpecWithSharedSD((PartitionWithoutSD(("s",), relativePath="/ds=s"),), storage())
    listed = PartitionListComposingSpec((part("l"),))
    both = PartitionSpec(DB, "t", HOME, sharedSDPartitionSpec=shared, partitionList=listed)
    assert metastore.call("add_partitions_pspec", (both,)) == 1
    assert names(metastore) == ["ds=l"]
    with pytest.raises(MetaException, match="needs a list of partitions"):
        metastore.call("add_partitions_pspec", (PartitionSpec(DB, "t", HOME),))
    without = PartitionSpec(DB, "t", HOME, sharedSDPartitionSpec=replace(shared, sd=None))
    with pytest.raises(MetaException, match="shared storage descriptor must be set"):
        metastore.call("add_partitions_pspec", (without,))


# --- repaired ---------------------------------------------------------------------------------------------------


def test_msck_of_hive_4_drops_partitions_of_a_number(hive_4: Metastore) -> None:
    make_table(hive_4, tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    hive_4.call("drop_table", DB, "t", False)
    keys = (FieldSchema("h", "int"), FieldSchema("ds", "string"))
    external = table(tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    hive_4.call("create_table", replace(external, partitionKeys=keys))
    hive_4.call("add_partitions", (part("1", "a"), part("2", "b/c"), part("3", "b/c")))
    text = b"(h='2' AND ds='b%2Fc')"
    result = hive_4.call("get_partitions_by_expr", PartitionsByExprRequest(DB, "t", text, maxParts=-1))
    assert [each.values for each in result.partitions] == [("2", "b/c")]
    request = DropPartitionsRequest(DB, "t", RequestPartsSpec(exprs=(DropPartitionsExpr(text),)), False)
    hive_4.call("drop_partitions_req", request)
    assert names(hive_4) == ["h=1/ds=a", "h=3/ds=b%2Fc"]


def test_no_other_text_compares_a_number_with_text(hive_4: Metastore) -> None:
    make_table(hive_4, tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    external = table("u", tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    hive_4.call("create_table", replace(external, partitionKeys=(FieldSchema("h", "int"),)))
    with pytest.raises(MetaException, match="supported only on partition keys of type string"):
        hive_4.call("get_partitions_by_expr", PartitionsByExprRequest(DB, "u", b"h > '2'", maxParts=-1))


# --- limited ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=[Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0])
def limited(request: pytest.FixtureRequest, start: Starter) -> Metastore:
    """A table of three partitions with a limit of two per call."""
    metastore = start(request.param, partition_limit=2)
    make_table(metastore, keys=("ds",), tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    metastore.call("add_partitions", (part("1"), part("2"), part("3")))
    return metastore


def test_more_partitions_than_the_limit_are_refused(limited: Metastore) -> None:
    for method, args in {
        "get_partitions": (DB, "t", -1),
        "get_partitions_with_auth": (DB, "t", -1, "u", ("g",)),
        "get_partitions_by_filter": (DB, "t", 'ds > "0"', -1),
    }.items():
        with pytest.raises(MetaException, match=r"scanned \(=3\) on table 't' exceeds limit \(=2\).*limit.partition"):
            limited.call(method, *args)


def test_as_many_partitions_as_the_limit_are_returned(limited: Metastore) -> None:
    assert len(limited.call("get_partitions", DB, "t", 2)) == 2
    assert len(limited.call("get_partitions_by_filter", DB, "t", 'ds > "1"', -1)) == 2
    assert len(limited.call("get_partitions_by_names", DB, "t", ("ds=1", "ds=2"))) == 2


def test_names_are_not_limited(limited: Metastore) -> None:
    assert len(names(limited)) == 3


def test_only_since_hive_4_names_and_values_find_no_more_than_the_limit(limited: Metastore) -> None:
    request = ("ds=1", "ds=2", "ds=3")
    if limited.generation >= Generation.HIVE_4_0:
        with pytest.raises(MetaException, match="exceeds limit"):
            limited.call("get_partitions_by_names", DB, "t", request)
        with pytest.raises(MetaException, match="exceeds limit"):
            limited.call("get_partitions_ps", DB, "t", ("",), -1)
    else:
        assert len(limited.call("get_partitions_by_names", DB, "t", request)) == 3
        assert len(limited.call("get_partitions_ps", DB, "t", ("",), -1)) == 3
