"""The default for `compat`: what any Hive accepts is accepted, and a client gets the replies that its requests show."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidObjectException, InvalidOperationException, MetaException
from metastored.structs import (
    CompactionRequest,
    CompactionType,
    CreateTableRequest,
    Database,
    DropCatalogRequest,
    FieldSchema,
    GetProjectionsSpec,
    GetTableRequest,
    GetTablesRequest,
    Partition,
    PartitionsByExprRequest,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

HOSTILE = "my-db; DROP 'x' \"y\" %_ [a]"
"""A name that Hive 4 accepts, with the signs of SQL and of patterns."""


def table(name: str, database: str = "default", keys: tuple[FieldSchema, ...] = ()) -> Table:
    columns = (FieldSchema(name="a", type="int"),)
    return Table(
        tableName=name,
        dbName=database,
        sd=StorageDescriptor(cols=columns, serdeInfo=SerDeInfo(parameters={}), parameters={}),
        partitionKeys=keys,
        parameters={},
        tableType="MANAGED_TABLE",
    )


@pytest.mark.parametrize("name", ["my-db", HOSTILE])
def test_names_of_hive_4_are_accepted_from_every_client(any_hive: Metastore, name: str) -> None:
    any_hive.call("create_database", Database(name=name))
    any_hive.call("create_table", table(name, name))
    assert any_hive.call("get_all_tables", name) == (name.lower(),)
    any_hive.call("drop_table", name, name, True)
    any_hive.call("drop_database", name, True, False)
    assert name.lower() not in any_hive.call("get_all_databases")


def test_3_1_refuses_the_names_of_hive_4(metastore: Metastore) -> None:
    with pytest.raises(InvalidObjectException, match="my-db is not a valid database name"):
        metastore.call("create_database", Database(name="my-db"))


def test_tables_by_a_pattern_are_found_for_a_drop_with_cascade(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("one"))
    any_hive.call("create_table", table("two"))
    request = GetTablesRequest(dbName="default", tablesPattern="*")
    found = any_hive.call("get_table_objects_by_name_req", request).tables
    assert sorted(each.tableName for each in found) == ["one", "two"]
    assert all(each.id for each in found), "the request shows a client of Hive 4, whose replies have ids"


def test_3_1_ignores_the_pattern(metastore: Metastore) -> None:
    with pytest.raises(InvalidOperationException, match="cannot find null tables"):
        metastore.call("get_table_objects_by_name_req", GetTablesRequest(dbName="default", tablesPattern="*"))


def test_requested_fields_are_returned_alone(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("one"))
    spec = GetProjectionsSpec(fieldList=("tableName",))
    request = GetTablesRequest(dbName="default", tblNames=("one",), projectionSpec=spec)
    (found,) = any_hive.call("get_table_objects_by_name_req", request).tables
    assert (found.tableName, found.sd) == ("one", None)


@pytest.mark.parametrize("key", ["metastore.expression.proxy", "metastore.partition.order.expr"])
def test_a_repair_of_hive_4_sets_its_keys(any_hive: Metastore, key: str) -> None:
    any_hive.call("setMetaConf", key, "org.example.Proxy")
    assert any_hive.call("get_config_value", "metastore.expression.proxy", None) is not None


def test_a_repair_of_hive_4_finds_partitions_by_quoted_numbers(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("parted", keys=(FieldSchema(name="h", type="int"),)))
    for value in ("1", "2"):
        any_hive.call(
            "add_partition",
            Partition(values=(value,), dbName="default", tableName="parted", sd=table("parted").sd, parameters={}),
        )
    request = PartitionsByExprRequest(dbName="default", tblName="parted", expr=b"(h='1')")
    found = any_hive.call("get_partitions_by_expr", request).partitions
    assert [each.values for each in found] == [("1",)]


def test_a_filter_of_hive_4_is_read_where_that_of_3_1_is_not(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("parted", keys=(FieldSchema(name="c", type="char(3)"),)))
    assert any_hive.call("get_partitions_by_filter", "default", "parted", "c == 'ab'", -1) == ()


def test_a_filter_that_no_hive_reads_has_the_message_of_3_1(any_hive: Metastore, metastore: Metastore) -> None:
    messages = []
    metastore.call("create_table", table("parted", keys=(FieldSchema(name="c", type="string"),)))
    for server in (any_hive, metastore):
        with pytest.raises(MetaException) as caught:
            server.call("get_partitions_by_filter", "default", "parted", "c === )", -1)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_compactions_of_hive_4_are_accepted(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("t"))
    request = CompactionRequest(dbname="default", tablename="t", type=CompactionType.REBALANCE)
    assert any_hive.call("compact2", request).accepted


def test_a_type_may_change_as_in_either_hive(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("t"))
    found = any_hive.call("get_table", "default", "t")
    for type in ("string", "double"):  # Hive 4 refuses the second change, Hive 3 allows it.
        columns = (FieldSchema(name="a", type=type),)
        found = replace(found, sd=replace(found.sd, cols=columns))
        any_hive.call("alter_table", "default", "t", found)
    assert any_hive.call("get_table", "default", "t").sd.cols[0].type == "double"


def test_each_client_gets_the_table_of_its_own_hive(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("managed"))
    any_hive.call("create_table_req", CreateTableRequest(table=table("translated")))
    types = [any_hive.call("get_table", "default", name).tableType for name in ("managed", "translated")]
    assert types == ["MANAGED_TABLE", "EXTERNAL_TABLE"]


def test_access_is_returned_to_clients_that_name_their_capabilities(any_hive: Metastore) -> None:
    any_hive.call("create_table", table("t"))
    plain = any_hive.call("get_table_req", GetTableRequest(dbName="default", tblName="t")).table
    capable = GetTableRequest(dbName="default", tblName="t", processorCapabilities=("EXTREAD",))
    assert plain.accessType is None
    assert any_hive.call("get_table_req", capable).table.accessType is not None


def test_a_missing_catalog_is_an_error_for_clients_without_the_flag(any_hive: Metastore) -> None:
    with pytest.raises(Exception, match="No catalog nosuch"):
        any_hive.call("drop_catalog", DropCatalogRequest(name="nosuch"))
