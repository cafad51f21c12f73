"""Structs with older layouts of Hive are read, and passed on unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.wire.codec import binary
from metastored.wire.generated.common import CreationMetadata, Table
from metastored.wire.generated.databases import CreateDatabaseRequest, DatabaseType
from metastored.wire.generated.notifications import FireEventRequest, FireEventRequestData, InsertEventRequestData
from metastored.wire.generated.transactions import AddDynamicPartitions, GetOpenTxnsResponse
from metastored.wire.methods import METHODS
from metastored.wire.types import REPLY
from tests.support.apache_thrift import ApacheClasses
from tests.support.codecs import PROTOCOLS, decode, encode

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)


def written_by(version: str, value: Any, protocol: str) -> Any:
    """The value as Apache's library writes it for a Hive of this version, read by metastored."""
    return decode(type(value), ApacheClasses(version).encode(value, protocol), protocol)


@pytest.mark.parametrize("version", ["2.3", "3.1"])
def test_dynamic_partitions_are_read_with_and_without_a_write_id(version: str, protocol: str) -> None:
    value = AddDynamicPartitions(
        txnid=1,
        writeid=None if version == "2.3" else 9,
        dbname="d",
        tablename="t",
        partitionnames=("p=1",),
        operationType=3,
    )
    assert written_by(version, value, protocol) == value


def test_dynamic_partitions_without_an_operation_have_the_default_of_their_layout(protocol: str) -> None:
    value = AddDynamicPartitions(txnid=1, dbname="d", tablename="t", partitionnames=())
    assert written_by("2.3", value, protocol).operationType == 5


@pytest.mark.parametrize("version", ["2.3", "3.1", "4.0.0"])
def test_the_files_of_an_insert_event_are_found(version: str, protocol: str) -> None:
    insert = InsertEventRequestData(
        replace=None if version == "2.3" else True, filesAdded=("f1", "f2"), filesAddedChecksum=("c1", "c2")
    )
    value = FireEventRequest(successful=True, data=FireEventRequestData(insertData=insert), dbName="d")
    assert written_by(version, value, protocol).data == value.data


def test_a_table_of_2_3_has_its_catalog_in_field_16(protocol: str) -> None:
    value = Table(tableName="t", catName="spark")
    assert written_by("2.3", value, protocol).catName == "spark"
    assert written_by("2.3", value, protocol).creationMetadata is None


def test_a_table_of_3_1_has_its_materialized_view_in_field_16(protocol: str) -> None:
    value = Table(tableName="t", creationMetadata=CreationMetadata("hive", "d", "v"), catName="hive")
    assert written_by("3.1", value, protocol) == value
    assert ApacheClasses("3.1").decode("Table", encode(value, protocol), protocol) == value


@pytest.mark.parametrize(
    ("version", "transactions"), [("2.3", frozenset({3, 4})), ("3.1", (3, 4))], ids=["a set", "a list"]
)
def test_open_transactions_are_passed_on_as_they_came(version: str, transactions: Any, protocol: str) -> None:
    value = GetOpenTxnsResponse(txn_high_water_mark=5, open_txns=transactions)
    found = written_by(version, value, protocol)
    assert found == value
    assert ApacheClasses(version).decode("GetOpenTxnsResponse", encode(found, protocol), protocol) == value


def test_open_transactions_of_2_3_keep_their_form_in_a_reply(protocol: str) -> None:
    method = METHODS["get_open_txns"]
    body = binary.encode_result(method, GetOpenTxnsResponse(txn_high_water_mark=5, open_txns=frozenset({3})))
    wire = PROTOCOLS[protocol]
    assert wire.read_reply(method, wire.write(REPLY, method.name_bytes, 1, body, method), 0).body == body


@pytest.mark.parametrize(("version", "kind"), [("4.0.0", "REMOTE"), ("4.0.1", DatabaseType.REMOTE)])
def test_the_type_of_a_database_is_a_word_or_a_number(version: str, kind: Any, protocol: str) -> None:
    value = CreateDatabaseRequest(databaseName="d", type=kind)
    found = written_by(version, value, protocol)
    assert found.type == kind
    assert ApacheClasses(version).decode("CreateDatabaseRequest", encode(found, protocol), protocol).type == kind


def test_the_exceptions_that_only_2_3_declares_are_raised(protocol: str) -> None:
    from metastored.errors import UnknownDBException

    method = METHODS["get_table_objects_by_name"]
    body = binary.encode_exception_result(3, UnknownDBException("Could not find database nodb"))
    wire = PROTOCOLS[protocol]
    reply = wire.read_reply(method, wire.write(REPLY, method.name_bytes, 1, body, method), 0)
    assert reply.body == body
    with pytest.raises(UnknownDBException, match="nodb"):
        binary.decode_result(method, reply.body)
