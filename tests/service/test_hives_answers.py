"""Replies that Hive's own client tests expect, and what real servers of Hive 3.1.3 and 4.0.1 reply to odd requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.errors import (
    ApplicationError,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
    UnknownDBException,
)
from metastored.hive.generation import Generation
from metastored.store.warehouse.directories import Warehouse
from metastored.structs import (
    Catalog,
    CreateCatalogRequest,
    Database,
    DropCatalogRequest,
    FieldSchema,
    Function,
    FunctionType,
    GetPartitionsByNamesRequest,
    Partition,
    PartitionsRequest,
    PrincipalType,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

EMPTY = "@hive#!"
"""A catalog, and an empty name of a database."""


def table(name: str, location: str | None = None) -> Table:
    return Table(
        tableName=name,
        dbName="default",
        sd=StorageDescriptor(
            cols=(FieldSchema(name="a", type="int"),),
            location=location,
            serdeInfo=SerDeInfo(parameters={}),
            parameters={},
        ),
        partitionKeys=(FieldSchema(name="ds", type="string"),),
        parameters={},
        tableType="MANAGED_TABLE",
    )


# --- empty names ----------------------------------------------------------------------------------------------------


def test_tables_of_an_empty_database_name_are_refused(metastore: Metastore) -> None:
    with pytest.raises(UnknownDBException, match="DB name is null or empty"):
        metastore.call("get_table_names_by_filter", EMPTY, 'hive_filter_field_owner__ = "x"', -1)


@pytest.mark.parametrize(("database", "name", "which"), [(EMPTY, "t", "dbName"), ("default", "", "tblName")])
def test_hive_4_refuses_lists_of_partitions_by_an_empty_name(
    hive_4: Metastore, database: str, name: str, which: str
) -> None:
    for call, *arguments in (
        ("get_partitions", database, name, -1),
        ("get_partitions_with_auth", database, name, -1, None, None),
        ("get_partitions_by_names", database, name, ("ds=1",)),
        ("get_partitions_by_names_req", GetPartitionsByNamesRequest(db_name=database, tbl_name=name, names=("ds=1",))),
        ("get_partitions_req", PartitionsRequest(dbName=database, tblName=name)),
        ("get_partitions_ps", database, name, ("1",), -1),
        ("get_partition_names_ps", database, name, ("1",), -1),
        ("get_partitions_by_filter", database, name, "", -1),
    ):
        with pytest.raises(NoSuchObjectException, match=f"^{which} is not valid$"):
            hive_4.call(call, *arguments)
    with pytest.raises(MetaException, match=f"{which} is not valid"):
        hive_4.call("get_partition_names", database, name, -1)


@pytest.mark.parametrize(("database", "name"), [(EMPTY, "t"), ("default", "")])
def test_hive_3_names_the_table_that_an_empty_name_does_not_find(
    metastore: Metastore, database: str, name: str
) -> None:
    for call in ("get_partitions", "get_partition_names"):
        with pytest.raises((NoSuchObjectException, MetaException), match="table not found"):
            metastore.call(call, database, name, -1)


def test_with_a_limit_hive_4_counts_the_partitions_of_a_missing_table_first(start: Starter) -> None:
    assert start(Generation.HIVE_4_0).call("get_partitions", "default", "nosuch", -1) == ()
    with pytest.raises(NoSuchObjectException, match=r"does not exist : hive\.default\.nosuch"):
        start(Generation.HIVE_4_0, partition_limit=100).call("get_partitions", "default", "nosuch", -1)


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["mapred.reduce.tasks", "mapreduce.job.reduces"])
def test_hadoops_settings_of_jobs_have_their_defaults(metastore: Metastore, key: str) -> None:
    assert metastore.call("get_config_value", key, None) == "1"


# --- functions ------------------------------------------------------------------------------------------------------


def function(**fields: object) -> Function:
    complete = Function(
        functionName="f",
        dbName="default",
        className="org.example.F",
        ownerName="ann",
        ownerType=PrincipalType.USER,
        functionType=FunctionType.JAVA,
    )
    return replace(complete, **fields)


@pytest.mark.parametrize(("field", "named"), [("functionType", "type"), ("ownerType", "owner type")])
def test_a_function_needs_its_types(metastore: Metastore, field: str, named: str) -> None:
    with pytest.raises(MetaException, match=f"Function {named} cannot be null"):
        metastore.call("create_function", function(**{field: None}))


def test_a_function_is_not_moved_to_no_database(metastore: Metastore) -> None:
    metastore.call("create_function", function())
    with pytest.raises(MetaException, match="Database name cannot be null"):
        metastore.call("alter_function", "default", "f", function(dbName=None))
    with pytest.raises(ApplicationError, match=r"alter_function: database hive\.nosuch does not exist"):
        metastore.call("alter_function", "default", "f", function(dbName="nosuch"))
    assert metastore.call("get_function", "default", "f").dbName == "default"


# --- databases and catalogs -----------------------------------------------------------------------------------------


def test_the_default_database_has_the_time_of_the_first_start(hive_4: Metastore) -> None:
    assert hive_4.call("get_database", "default").createTime == int(hive_4.clock())


def test_the_first_database_of_a_catalog_is_dropped_while_others_are_in_its_directory(
    start: Starter, tmp_path: Path
) -> None:
    metastore = start(warehouse=Warehouse(f"file:{tmp_path}/warehouse", "all"))
    location = tmp_path / "other"
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="other", locationUri=f"file:{location}")))
    metastore.call("create_database", Database(name="kept", catalogName="other"))
    kept = location / "kept.db"
    assert kept.is_dir()
    metastore.call("drop_database", "@other#default", True, True)
    assert kept.is_dir()
    metastore.call("drop_database", "@other#kept", True, True)
    assert not kept.exists()
    metastore.call("drop_catalog", DropCatalogRequest(name="other"))


@pytest.mark.parametrize("generation", [Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_a_catalog_that_does_not_exist_is_not_dropped(start: Starter, generation: Generation) -> None:
    with pytest.raises(NoSuchObjectException, match="No catalog nosuch"):
        start(generation).call("drop_catalog", DropCatalogRequest(name="nosuch"))


# --- tables and partitions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["default", "@nosuch#default"])
def test_a_missing_table_is_not_truncated(metastore: Metastore, database: str) -> None:
    with pytest.raises(ApplicationError, match=r"truncate_table: \w+.default.nosuch table not found"):
        metastore.call("truncate_table", database, "nosuch", None)


@pytest.mark.parametrize("location", ["file:/", "/"])
def test_no_table_is_at_the_root_of_the_file_system(metastore: Metastore, location: str) -> None:
    with pytest.raises(InvalidObjectException, match="t location must not be root path"):
        metastore.call("create_table", table("t", location))


def partition(location: str | None = None) -> Partition:
    return Partition(values=("1",), dbName="default", tableName="t", sd=table("t", location).sd, parameters={})


def test_a_relative_location_of_an_altered_partition_is_below_its_table(metastore: Metastore) -> None:
    metastore.call("create_table", table("t"))
    metastore.call("add_partition", partition())
    metastore.call("alter_partition", "default", "t", partition("somewhere/else"))
    below = metastore.call("get_table", "default", "t").sd.location
    found = metastore.call("get_partition", "default", "t", ("1",))
    assert found.sd.location == f"{below}/somewhere/else"


@pytest.mark.parametrize("location", ["../other", "a/../../other", "..", "a/../.."])
def test_a_relative_location_does_not_leave_its_table(metastore: Metastore, location: str) -> None:
    metastore.call("create_table", table("t"))
    metastore.call("add_partition", partition())
    with pytest.raises(MetaException, match="leads out of"):
        metastore.call("alter_partition", "default", "t", partition(location))


def test_a_new_partition_has_no_relative_location(metastore: Metastore) -> None:
    metastore.call("create_table", table("t"))
    with pytest.raises(MetaException, match="Relative path in absolute URI"):
        metastore.call("add_partition", partition("somewhere"))
