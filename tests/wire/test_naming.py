"""Names in arguments and results, read by walking the types."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.wire.generated import STRUCTS
from metastored.wire.generated.common import (
    CreationMetadata,
    PrincipalPrivilegeSet,
    PrivilegeGrantInfo,
    SourceTable,
    SQLForeignKey,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.constraints import AddForeignKeyRequest
from metastored.wire.generated.locks import LockComponent, LockRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.generated.transactions import AddDynamicPartitions, GetValidWriteIdsRequest
from metastored.wire.methods import METHODS
from metastored.wire.methods.naming import (
    Each,
    Leaf,
    NamePosition,
    Nested,
    Pairs,
    Step,
    argument_layout,
    argument_names,
    first_longer,
    names_in,
    old_struct_layout,
    result_layout,
    result_names,
    struct_layout,
)
from metastored.wire.types import LIST, MAP, STRING, STRUCT


def arguments(method: str, *roles: str) -> list[str]:
    return [str(place) for place in argument_names(METHODS[method]) if not roles or place.role in roles]


def results(method: str, *roles: str) -> list[str]:
    return [str(place) for place in result_names(METHODS[method]) if not roles or place.role in roles]


def found(method: str, *args: Any) -> list[tuple[str, Any]]:
    return list(names_in(METHODS[method], args))


@pytest.mark.parametrize(
    ("method", "places"),
    [
        ("get_database", ["name @db"]),
        ("get_databases", ["pattern @pattern"]),
        ("get_table", ["dbname @db", "tbl_name @table"]),
        ("get_table_meta", ["db_patterns @pattern", "tbl_patterns @pattern"]),
        ("drop_catalog", ["catName.name @cat"]),
        ("get_function", ["dbName @db", "funcName @function"]),
        ("get_partitions_by_names", ["db_name @db", "tbl_name @table", "names[each] @part_name"]),
        ("get_valid_write_ids", ["rqst.fullTableNames[each] @full_name"]),
        ("add_write_ids_to_min_history", ["txnId @txn_id", "writeIds[keys] @full_name"]),
        ("update_master_key", ["key @secret"]),
        ("get_all_databases", []),
        ("getStatus", []),
        (
            "exchange_partition",
            ["source_db @db", "source_table_name @table", "dest_db @db", "dest_table_name @table"],
        ),
        (
            "lock",
            [
                "rqst.component[each].dbname @db",
                "rqst.component[each].tablename @table",
                "rqst.component[each].partitionname @part_name",
                "rqst.component[each].catName @cat",
                "rqst.txnid @txn_id",
                "rqst.user @user",
            ],
        ),
    ],
)
def test_the_places_of_names_in_arguments(method: str, places: list[str]) -> None:
    assert arguments(method) == places


@pytest.mark.parametrize(
    ("method", "places"),
    [
        ("get_all_databases", ["success[each] @db"]),
        ("get_tables", ["success[each] @table"]),
        ("get_functions", ["success[each] @function"]),
        ("get_partition_names_ps_req", ["success.names[each] @part_name"]),
        ("get_catalogs", ["success.names[each] @cat"]),
        ("get_partitions_statistics_req", ["success.partStats[keys] @part_name"]),
        ("get_delegation_token", ["success @secret"]),
        ("get_valid_write_ids", ["success.tblValidWriteIds[each].fullTableName @full_name"]),
        ("get_table_meta", [
            "success[each].dbName @db",
            "success[each].tableName @table",
            "success[each].tableType @table_type",
            "success[each].catName @cat",
            "success[each].ownerName @user",
        ]),
        ("drop_table", []),
        ("get_fields", []),
    ],
)  # fmt: skip
def test_the_places_of_names_in_results(method: str, places: list[str]) -> None:
    assert results(method) == places


def test_a_table_is_named_in_every_struct_that_travels_with_it() -> None:
    assert results("get_table_req", "table", "full_name") == [
        "success.table.tableName @table",
        "success.table.creationMetadata.tblName @table",
        "success.table.creationMetadata.tablesUsed[each] @full_name",
        "success.table.colStats.statsDesc.tableName @table",
    ]


def test_a_place_has_the_ids_and_wire_types_of_its_fields() -> None:
    assert argument_names(METHODS["get_partitions_by_names_req"])[2] == NamePosition(
        (Step("field", 1, STRUCT, "req"), Step("field", 3, LIST, "names"), Step("each")), "part_name"
    )


def test_two_fields_under_one_id_are_distinguished_by_their_wire_type() -> None:
    table = struct_layout("Table")
    assert table[16, STRING] == Leaf("cat")
    assert table[16, STRUCT] == Nested("CreationMetadata")


def test_an_older_layout_has_other_roles_under_the_same_ids() -> None:
    now, old = struct_layout("AddDynamicPartitions"), old_struct_layout("AddDynamicPartitions")
    assert old is not None
    assert (now[3, STRING], now[4, STRING], now[5, LIST]) == (Leaf("db"), Leaf("table"), Each(Leaf("part_name")))
    assert (old[2, STRING], old[3, STRING], old[4, LIST]) == (Leaf("db"), Leaf("table"), Each(Leaf("part_name")))
    assert old_struct_layout("Table") is None


def test_decoded_names_are_the_same_in_either_layout() -> None:
    rqst = AddDynamicPartitions(txnid=7, dbname="sales", tablename="orders", partitionnames=("ds=1",))
    assert found("add_dynamic_partitions", rqst) == [
        ("txn_id", 7),
        ("db", "sales"),
        ("table", "orders"),
        ("part_name", "ds=1"),
    ]


def test_layouts_follow_a_struct_into_itself() -> None:
    assert struct_layout("CreationMetadata")[7, LIST] == Each(Nested("SourceTable"))
    assert struct_layout("SourceTable")[1, STRUCT] == Nested("Table")
    assert struct_layout("Table")[16, STRUCT] == Nested("CreationMetadata")


def test_paths_of_a_recursive_struct_end() -> None:
    assert not [place for place in results("get_table") if "sourceTables" in place]


def test_fields_without_names_are_not_in_a_layout() -> None:
    assert struct_layout("FieldSchema") == {}
    assert (9, MAP) not in struct_layout("Table")
    assert argument_layout(METHODS["getStatus"]) == {}
    assert result_layout(METHODS["drop_table"]) == {}


def test_a_map_has_names_in_its_keys_and_in_its_values() -> None:
    assert struct_layout("PrincipalPrivilegeSet")[1, MAP] == Pairs(Leaf("user"), Each(Nested("PrivilegeGrantInfo")))


def test_arguments_and_results_have_layouts_like_structs() -> None:
    assert argument_layout(METHODS["get_table"]) == {(1, STRING): Leaf("db"), (2, STRING): Leaf("table")}
    assert result_layout(METHODS["get_tables"]) == {(0, LIST): Each(Leaf("table"))}


def test_every_struct_has_a_layout_and_refers_only_to_structs() -> None:
    for name in STRUCTS:
        for inside in struct_layout(name).values():
            assert not isinstance(inside, Nested) or struct_layout(inside.struct)


def test_names_in_plain_arguments() -> None:
    assert found("get_table", "sales", "orders") == [("db", "sales"), ("table", "orders")]


def test_names_in_a_request() -> None:
    request = GetTableRequest(dbName="sales", tblName="orders", catName="hive")
    assert found("get_table_req", request) == [("db", "sales"), ("table", "orders"), ("cat", "hive")]


def test_absent_arguments_and_fields_have_no_names() -> None:
    assert found("get_table", "sales", None) == [("db", "sales")]
    assert found("get_table_req", None) == []
    assert found("get_table_req", GetTableRequest(dbName="sales")) == [("db", "sales")]


def test_names_in_a_table_and_its_nested_structs() -> None:
    table = Table(
        tableName="orders",
        dbName="sales",
        owner="ana",
        sd=StorageDescriptor(location="file:/w/orders"),
        privileges=PrincipalPrivilegeSet(userPrivileges={"bob": (PrivilegeGrantInfo(grantor="ana"),)}),
        catName="hive",
    )
    assert found("create_table", table) == [
        ("table", "orders"),
        ("db", "sales"),
        ("user", "ana"),
        ("location", "file:/w/orders"),
        ("user", "bob"),
        ("user", "ana"),
        ("cat", "hive"),
    ]


def test_names_in_a_list_of_partitions() -> None:
    parts = (
        Partition(values=("1",), dbName="sales", tableName="orders"),
        Partition(values=("2",), dbName="sales", tableName="orders"),
    )
    one = [("db", "sales"), ("table", "orders")]
    assert found("add_partitions", parts) == [("part_values", "1"), *one, ("part_values", "2"), *one]


@pytest.mark.parametrize(
    ("role", "part"),
    [
        ("part_values", Partition(values=("1", "x" * 9), dbName="sales")),
        ("db", Partition(dbName="x" * 9, tableName="orders")),
        ("location", Partition(sd=StorageDescriptor(location="x" * 9))),
    ],
)
def test_the_first_longer_name_is_found_wherever_it_is(role: str, part: Partition) -> None:
    method, short = METHODS["add_partitions"], Partition(values=("1",), dbName="a", tableName="b")
    assert first_longer(method, ((short, part),), {role: 8, "table": 5}) == (role, "x" * 9)
    assert first_longer(method, ((short, part),), {role: 9}) is None
    assert first_longer(method, (None,), {role: 1}) is None


def test_the_first_longer_name_is_found_in_lists_and_map_keys() -> None:
    request = GetValidWriteIdsRequest(fullTableNames=("a.t", "b.orders"))
    assert first_longer(METHODS["get_valid_write_ids"], (request,), {"full_name": 4}) == ("full_name", "b.orders")
    method = METHODS["add_write_ids_to_min_history"]
    assert first_longer(method, (7, {"a.t": 3, "b.orders": 3}), {"full_name": 4}) == ("full_name", "b.orders")


def test_names_in_lists_sets_and_map_keys() -> None:
    request = GetValidWriteIdsRequest(fullTableNames=("a.t", "b.u"))
    assert found("get_valid_write_ids", request) == [("full_name", "a.t"), ("full_name", "b.u")]
    assert found("add_write_ids_to_min_history", 7, {"a.t": 3}) == [("txn_id", 7), ("full_name", "a.t")]
    metadata = CreationMetadata("hive", "a", "mv", frozenset({"a.t"}))
    assert ("full_name", "a.t") in found("update_creation_metadata", "hive", "a", "mv", metadata)


def test_names_in_a_lock_of_several_tables() -> None:
    request = LockRequest(
        component=(LockComponent(dbname="a", tablename="t"), LockComponent(dbname="b", tablename="u")),
        user="ana",
        hostname="h",
    )
    assert found("lock", request) == [("db", "a"), ("table", "t"), ("db", "b"), ("table", "u"), ("user", "ana")]


def test_both_tables_of_a_foreign_key_are_named() -> None:
    key = SQLForeignKey(pktable_db="a", pktable_name="t", fktable_db="b", fktable_name="u")
    assert found("add_foreign_key", AddForeignKeyRequest((key,))) == [
        ("db", "a"),
        ("table", "t"),
        ("db", "b"),
        ("table", "u"),
    ]


def test_names_in_the_source_tables_of_a_materialized_view() -> None:
    source = SourceTable(table=Table(tableName="orders", dbName="sales"))
    view = Table(tableName="mv", dbName="sales", creationMetadata=CreationMetadata(sourceTables=(source,)))
    assert ("table", "orders") in found("create_table", view)
