"""Replies and events that are spliced from stored bytes: each decodes to the expected struct."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import metastored.service
from metastored.errors import StoreError
from metastored.service.core import rows
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.objects.partitions import PartitionRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    ColumnStatisticsData,
    ColumnStatisticsObj,
    FieldSchema,
    LongColumnStatsData,
    PrincipalPrivilegeSet,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.partitions import GetPartitionNamesPsResponse, Partition, PartitionsByExprResult
from metastored.wire.generated.statistics import PartitionsStatsResult
from metastored.wire.generated.transactions import GetOpenTxnsResponse
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

SERVICE = Path(metastored.service.__file__).parent
PARTITION = Partition(values=("1",), createTime=5, lastAccessTime=6, parameters={"k": "v"})
SD = StorageDescriptor(cols=(FieldSchema("id", "bigint"),), location="file:/w/t/k=1", numBuckets=3)


def result(method: str, data: bytes) -> Any:
    return binary.decode_result(METHODS[method], data)


def test_no_other_module_of_the_service_has_bytes_of_the_encoding() -> None:
    result = {
        str(file.relative_to(SERVICE))
        for file in SERVICE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes) and not node.value.decode().isprintable()
    }
    assert result == {"core/rows.py"}


def test_a_body_is_read_as_the_struct_it_was_made_of() -> None:
    assert rows.read_body(Partition, rows.body_of(PARTITION)) == PARTITION


def test_a_whole_table_is_its_body_with_the_fields_that_a_row_lacks() -> None:
    varying: dict[str, Any] = {"temporary": False, "writeId": 7, "requiredReadCapabilities": ("a",)}
    table = Table("t", "d", "o", 1, 2, 3, SD, (), {"k": "v"}, tableType="MANAGED_TABLE", catName="c", **varying)
    assert binary.decode(Table, rows.whole_table(table, rows.table_columns(table).body)) == table


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"createTime": 9, "dbName": "e", "catName": None}, True),
        ({"parameters": {"k": "other", "n": "1"}}, True),
        ({"parameters": {"k": "v", "n": "2"}}, False),
        ({"parameters": {"k": "v"}}, False),
        ({"sd": replace(SD, location="elsewhere")}, False),
        ({"owner": "somebody"}, False),
    ],
)
def test_tables_are_the_same_apart_from_names_and_some_parameters(other: dict[str, Any], same: bool) -> None:
    table = Table("t", "d", "o", 1, 2, 3, SD, (), {"k": "v", "n": "1"})
    assert rows.same_table(table, replace(table, **other), frozenset({"k", "absent"})) is same


def test_a_partitions_row_has_its_own_fields_without_names_and_storage() -> None:
    named = replace(PARTITION, dbName="d", tableName="t", catName="hive", sd=SD)
    assert rows.partition_own(rows.partition_body(named)) == PARTITION


@pytest.mark.parametrize("values", [None, (), ("1",), ("é", "x" * 300), tuple("abc")])
@pytest.mark.parametrize("parameters", [None, {}, {"k": "v", "é": "\udcff"}, {"k" * 300: ""}])
@pytest.mark.parametrize("times", [(None, None), (5, None), (0, -6)])
def test_a_partitions_body_is_that_of_the_codec(
    values: tuple[str, ...] | None, parameters: dict[str, str] | None, times: tuple[int | None, int | None]
) -> None:
    own = Partition(values=values, createTime=times[0], lastAccessTime=times[1], parameters=parameters)
    body = rows.partition_body(replace(own, dbName="d", tableName="p", sd=SD, writeId=3))
    assert body == rows.body_of(own)


def test_parameters_of_many_partitions_are_those_of_each() -> None:
    owns = [replace(PARTITION, values=(f"{at}",), parameters={"k": "v" * (at // 3)}) for at in range(9)]
    owns += [replace(owns[-1], createTime=7), Partition(values=("x",)), replace(PARTITION, values=("1",) * 300)]
    stored = [PartitionRow(1, "n", 1, 1, None, -1, BODY_FORMAT, rows.partition_body(own)) for own in owns]
    parameters_of = rows.ParametersOf()
    assert [parameters_of(row) for row in stored] == [own.parameters or {} for own in owns]


def test_a_shape_has_all_of_the_storage_but_its_location() -> None:
    assert rows.storage_of(rows.shape_of(SD)) == replace(SD, location=None)


@pytest.mark.parametrize(
    ("location", "has_storage", "sd"),
    [
        ("file:/w", True, StorageDescriptor(location="file:/w")),
        (None, True, StorageDescriptor()),
        ("", True, StorageDescriptor()),
        (None, False, None),
    ],
)
def test_an_event_keeps_a_partition_with_its_location_and_without_its_shape(
    location: str | None, has_storage: bool, sd: StorageDescriptor | None
) -> None:
    struct = rows.partition_in_event(rows.partition_body(PARTITION), location, has_storage=has_storage)
    assert binary.decode(Partition, struct) == replace(PARTITION, sd=sd)


def test_privileges_are_put_behind_a_partition() -> None:
    privileges = PrincipalPrivilegeSet(userPrivileges={}, groupPrivileges={}, rolePrivileges={})
    struct = rows.with_privileges(binary.encode(PARTITION), binary.encode(privileges))
    assert binary.decode(Partition, struct) == replace(PARTITION, privileges=privileges)


@pytest.mark.parametrize("flag", [True, False])
def test_a_list_has_a_flag_behind_it(flag: bool) -> None:
    reply = rows.flagged_list([binary.encode(PARTITION)] * 2, 2, flag)
    assert result("get_partitions_by_expr", reply) == PartitionsByExprResult((PARTITION, PARTITION), flag)


def test_a_list_of_texts_is_a_head_the_texts_and_an_end() -> None:
    head, tail = rows.text_list_head(2)
    assert result("get_partition_names", head + binary.pack_texts(["a", "b"]) + tail) == ("a", "b")


def test_a_list_of_texts_may_be_a_field_of_the_reply() -> None:
    head, tail = rows.text_list_head(2, wrapped=True)
    reply = head + binary.pack_texts(["a", "b"]) + tail
    assert result("get_partition_names_ps_req", reply) == GetPartitionNamesPsResponse(("a", "b"))


@pytest.mark.parametrize("valid", [None, True, False])
def test_statistics_of_partitions_are_listed_by_partition(valid: bool | None) -> None:
    data = LongColumnStatsData(lowValue=1, highValue=9, numNulls=0, numDVs=4)
    struct = rows.statistics_struct("id", "bigint", 2, rows.body_of(data))
    expected = ColumnStatisticsObj("id", "bigint", ColumnStatisticsData(longStats=data))
    assert binary.decode(ColumnStatisticsObj, struct) == expected
    reply = rows.statistics_by_partition({"k=1": [struct], "k=ü": [struct, struct]}, valid)
    actual = result("get_partitions_statistics_req", reply)
    assert actual == PartitionsStatsResult({"k=1": (expected,), "k=ü": (expected, expected)}, valid)


def test_open_transactions_are_listed_with_bits_for_the_aborted_ones() -> None:
    actual = result("get_open_txns", rows.open_transactions(9, [3, 5], 3, b"\x02"))
    assert actual == GetOpenTxnsResponse(txn_high_water_mark=9, open_txns=(3, 5), min_open_txn=3, abortedBits=b"\x02")


def test_a_row_of_a_later_format_is_refused() -> None:
    with pytest.raises(StoreError, match=r"table d\.t is stored in format 2, which this version of"):
        rows.check_format(2, "table d.t")
