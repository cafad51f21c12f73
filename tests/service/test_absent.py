"""Null and empty names, lists and columns: refused as Hive refuses them, and nothing is changed."""

from __future__ import annotations

import pytest

from metastored.errors import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    UnknownDBException,
)
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import (
    Partition,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
)
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import DB, make_table
from tests.support.objects import bare_storage as storage
from tests.support.objects import sales_table as table


@pytest.fixture
def partitioned(metastore: Metastore) -> Metastore:
    make_table(metastore, keys=("k",))
    metastore.call("add_partition", part("1"))
    return metastore


def part(value: str) -> Partition:
    return Partition(values=(value,), dbName=DB, tableName="t", sd=storage(), parameters={})


def test_a_table_without_a_database_is_invalid_in_hive_3(metastore: Metastore) -> None:
    with pytest.raises(InvalidObjectException, match="Database name cannot be null"):
        metastore.call("create_table", replace(table(), dbName=None))


def test_a_table_without_a_database_is_a_meta_exception_in_hive_4(hive_4: Metastore) -> None:
    with pytest.raises(MetaException, match="Database name cannot be null"):
        hive_4.call("create_table", replace(table(), dbName=None))


def test_a_function_without_a_database_is_of_none_that_exists_in_hive_3(metastore: Metastore) -> None:
    with pytest.raises(NoSuchObjectException, match="Database name cannot be null"):
        metastore.call("create_function", Function(functionName="f", className="a.B"))


def test_a_table_is_not_altered_by_a_definition_without_a_database(metastore: Metastore) -> None:
    make_table(metastore)
    with pytest.raises(MetaException, match="Database name cannot be null"):
        metastore.call("alter_table", DB, "t", replace(table(parameters={"x": "y"}), dbName=None))
    assert "x" not in metastore.call("get_table", DB, "t").parameters


def test_a_table_is_not_moved_to_a_database_with_an_empty_name(metastore: Metastore) -> None:
    make_table(metastore)
    with pytest.raises(InvalidOperationException, match="does not exist"):
        metastore.call("alter_table", DB, "t", replace(table(parameters={"x": "y"}), dbName=""))
    assert "x" not in metastore.call("get_table", DB, "t").parameters


@pytest.mark.parametrize("name", [None, "", "@hive#", "@#sales"])
def test_tables_are_not_searched_by_a_filter_without_a_database(metastore: Metastore, name: str | None) -> None:
    with pytest.raises(UnknownDBException, match="DB name is null or empty"):
        metastore.call("get_table_names_by_filter", name, 'hive_filter_field_owner__ = "bob"', -1)


@pytest.mark.parametrize("values", [None, ()])
def test_a_partition_that_is_renamed_from_no_values_must_exist(
    partitioned: Metastore, values: tuple[str, ...] | None
) -> None:
    with pytest.raises(InvalidOperationException, match=r"alter is not possible: partition values=\[9\]"):
        partitioned.call("rename_partition", DB, "t", values, part("9"))
    assert partitioned.call("get_partition_names", DB, "t", -1) == ("k=1",)


def test_a_partition_that_is_renamed_from_no_values_is_altered_in_place(partitioned: Metastore) -> None:
    current = partitioned.call("get_partition", DB, "t", ("1",))
    partitioned.call("rename_partition", DB, "t", (), replace(current, parameters={"x": "y"}))
    assert partitioned.call("get_partition", DB, "t", ("1",)).parameters["x"] == "y"


def test_a_partition_keeps_its_columns_when_it_is_altered_without_any(partitioned: Metastore) -> None:
    current = partitioned.call("get_partition", DB, "t", ("1",))
    with pytest.raises(MetaException, match="the storage descriptor of partition k=1 has no columns"):
        partitioned.call("alter_partition", DB, "t", replace(current, sd=replace(current.sd, cols=None)))
    assert partitioned.call("get_partition", DB, "t", ("1",)).sd.cols == storage().cols


def test_partitions_are_not_found_by_a_null_list_of_names(partitioned: Metastore) -> None:
    with pytest.raises(MetaException, match="must not be null"):
        partitioned.call("get_partitions_by_names", DB, "t", None)
    assert partitioned.call("get_partitions_by_names", DB, "t", ()) == ()


def test_a_partition_of_a_spec_without_a_path_is_not_stored_in_the_root_of_the_spec(partitioned: Metastore) -> None:
    shared = PartitionSpecWithSharedSD(
        partitions=(PartitionWithoutSD(values=("2",), parameters={}),),
        sd=replace(storage(), location="file:/nowhere/sales/shared/"),
    )
    spec = PartitionSpec(dbName=DB, tableName="t", rootPath="file:/nowhere/sales/t", sharedSDPartitionSpec=shared)
    partitioned.call("add_partitions_pspec", (spec,))
    assert partitioned.call("get_partition", DB, "t", ("2",)).sd.location == "file:/nowhere/sales/shared/null"
