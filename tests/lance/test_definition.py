"""How a Lance table is stored in the metastore, and which tables are recognised."""

from __future__ import annotations

import pyarrow
import pytest
from lance_namespace import InvalidInputError, InvalidTableStateError

from metastored.lance.definition import (
    ManagedBy,
    columns_of,
    is_lance,
    lance_table,
    managed_by,
    managed_by_of,
    version_of,
)
from metastored.model.names import TableName
from metastored.wire.structs import replace

NAME = TableName("", "shop", "points")


def test_a_table_is_external_by_its_type_and_by_its_parameter() -> None:
    table = lance_table(NAME, "file:/x", ManagedBy.STORAGE, {"model": "m1"})
    assert table.tableType == "EXTERNAL_TABLE"
    assert table.parameters == {
        "EXTERNAL": "TRUE",
        "table_type": "lance",
        "managed_by": "storage",
        "version": "0",
        "model": "m1",
    }


def test_the_parameters_of_the_definition_cannot_be_replaced_by_properties() -> None:
    properties = {"EXTERNAL": "FALSE", "table_type": "iceberg", "managed_by": "storage", "version": "9"}
    table = lance_table(NAME, "file:/x", ManagedBy.IMPL, properties)
    assert table.parameters == {"EXTERNAL": "TRUE", "table_type": "lance", "managed_by": "impl", "version": "0"}


@pytest.mark.parametrize("word", ["lance", "LANCE", "Lance", "lAnCe"])
def test_table_type_is_recognised_in_any_case_and_whatever_the_type_of_the_table(word: str) -> None:
    table = replace(lance_table(NAME, "file:/x", ManagedBy.STORAGE, {}), tableType="MANAGED_TABLE")
    assert is_lance(replace(table, parameters={"table_type": word}))
    assert not is_lance(replace(table, parameters={"table_type": "iceberg"}))
    assert not is_lance(replace(table, parameters=None))


def test_managed_by_is_read_in_any_case_and_storage_by_default() -> None:
    assert managed_by_of("IMPL", "it") is managed_by_of("impl", "it") is ManagedBy.IMPL
    assert managed_by_of(None, "it") is managed_by_of("Storage", "it") is ManagedBy.STORAGE
    with pytest.raises(InvalidInputError, match="it is 'me': it is storage or impl"):
        managed_by_of("me", "it")


@pytest.mark.parametrize("text", [None, "", "new", "-1", "1.5", "٣"])
def test_a_version_that_is_no_number_is_an_invalid_state(text: str | None) -> None:
    parameters = {"managed_by": "impl", **({} if text is None else {"version": text})}
    table = replace(lance_table(NAME, "file:/x", ManagedBy.IMPL, {}), parameters=parameters)
    with pytest.raises(InvalidTableStateError, match=r"version of shop\.points"):
        version_of(table)


def test_another_word_for_managed_by_is_an_invalid_state_of_a_table() -> None:
    table = replace(lance_table(NAME, "file:/x", ManagedBy.IMPL, {}), parameters={"managed_by": "me"})
    with pytest.raises(InvalidTableStateError, match="'me'"):
        managed_by(table)


def test_columns_are_those_of_hive_and_say_what_hive_cannot_express() -> None:
    schema = pyarrow.schema(
        [
            ("Id", pyarrow.uint32()),
            ("price", pyarrow.decimal128(10, 2)),
            ("at", pyarrow.timestamp("us", "UTC")),
            ("tags", pyarrow.map_(pyarrow.string(), pyarrow.list_(pyarrow.int32()))),
            ("vector", pyarrow.list_(pyarrow.float32(), 128)),
            ("clock", pyarrow.time64("us")),
        ]
    )
    assert [(column.name, column.type, column.comment) for column in columns_of(schema)] == [
        ("id", "bigint", None),
        ("price", "decimal(10,2)", None),
        ("at", "timestamp with local time zone", None),
        ("tags", "map<string,array<int>>", None),
        ("vector", "array<float>", "Arrow type fixed_size_list<item: float>[128]"),
        ("clock", "string", "Arrow type time64[us]"),
    ]


def test_of_columns_that_differ_only_in_case_the_first_is_in_the_metastore() -> None:
    schema = pyarrow.schema([("a", pyarrow.int32()), ("A", pyarrow.string())])
    assert [(column.name, column.type) for column in columns_of(schema)] == [("a", "int")]
