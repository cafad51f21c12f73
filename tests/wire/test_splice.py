"""Names replaced in bytes: the same as reading, renaming and writing, without the reading and the writing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metastored.errors import LocalProtocolError, NoSuchObjectException, RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.edit.splice import (
    Renames,
    carries_exception,
    splice_arguments,
    splice_message,
    splice_result,
)
from metastored.wire.generated import STRUCTS
from metastored.wire.generated.common import (
    CreationMetadata,
    FieldSchema,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.limits import MAX_DEPTH
from metastored.wire.methods import METHODS, Method
from metastored.wire.methods.naming import argument_names, result_names
from metastored.wire.structs import fields, names, new, replace
from metastored.wire.types import Type
from tests.support.examples import examples
from tests.support.values import values

PREFIX = "there_"
ROLES = ("cat", "db", "table", "full_name", "function", "part_name", "location", "user", "pattern", "view_text")
THERE: Renames = {role: lambda name: PREFIX + name for role in ROLES}
BACK: Renames = {role: lambda name: name.removeprefix(PREFIX) for role in ROLES}

WITH_ARGUMENT_NAMES = [m for m in METHODS.values() if {p.role for p in argument_names(m)} & set(ROLES)]
WITH_RESULT_NAMES = [m for m in METHODS.values() if {p.role for p in result_names(m)} & set(ROLES)]
FEW = settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def renamed(type: Type, role: str | None, value: Any) -> Any:
    """The slow way: a decoded value with every name replaced, by walking the types of the API files."""
    if value is None:
        return None
    if type.name == "list":
        return tuple(renamed(type.args[0], role, item) for item in value)
    if type.name == "set":
        return frozenset(renamed(type.args[0], role, item) for item in value)
    if type.name == "map":
        key, inner = type.args
        return {renamed(key, role, left): renamed(inner, None, right) for left, right in value.items()}
    if type.name in STRUCTS:
        cls = STRUCTS[type.name]
        # Where one name has two types, the last one is what is written.
        lines = {line.name: line for line in fields(cls)}
        return new(cls, [renamed(lines[n].type, lines[n].role, v) for n, v in zip(names(cls), value, strict=True)])
    return PREFIX + value if role in ROLES and isinstance(value, str) else value


@pytest.mark.parametrize("method", WITH_ARGUMENT_NAMES, ids=lambda method: str(method.name))
def test_arguments_are_spliced_as_if_they_were_read_renamed_and_written(method: Method) -> None:
    @FEW
    @given(st.tuples(*(st.none() | values(argument.type) for argument in method.args)))
    def check(args: tuple[Any, ...]) -> None:
        # Written, read and written again: defaults of absent fields are then among the bytes.
        body = binary.encode_args(method, binary.decode_args(method, binary.encode_args(method, args)))
        spliced = splice_arguments(method, body, THERE)
        expected = tuple(
            renamed(argument.type, argument.role, value)
            for argument, value in zip(method.args, binary.decode_args(method, body), strict=True)
        )
        assert binary.decode_args(method, spliced) == expected
        assert splice_arguments(method, spliced, BACK) == body

    check()


@pytest.mark.parametrize("method", WITH_RESULT_NAMES, ids=lambda method: str(method.name))
def test_results_are_spliced_as_if_they_were_read_renamed_and_written(method: Method) -> None:
    assert method.returns is not None
    returns = method.returns

    @FEW
    @given(values(returns))
    def check(value: Any) -> None:
        body = binary.encode_result(method, value)
        spliced = splice_result(method, body, THERE)
        expected = renamed(returns, method.returns_role, binary.decode_result(method, body))
        assert binary.decode_result(method, spliced) == expected
        assert splice_result(method, spliced, BACK) == body

    check()


# Partitions and tables as they really come

COLUMNS = tuple(FieldSchema(f"c{i}", "string", "a column") for i in range(5))
OTHER_COLUMNS = (*COLUMNS, FieldSchema("late", "bigint", None))


def descriptor(location: str | None, columns: tuple[FieldSchema, ...] = COLUMNS) -> StorageDescriptor:
    return StorageDescriptor(
        cols=columns,
        location=location,
        inputFormat="in",
        outputFormat="out",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(name="", serializationLib="serde", parameters={"serialization.format": "1"}),
        parameters={},
    )


def partition(sd: StorageDescriptor, at: int = 0) -> Partition:
    return Partition(values=(f"{at}",), dbName="raw", tableName="t", sd=sd, parameters={"numRows": f"{at}"})


def to_sales(name: str) -> str:
    return "sales" if name == "raw" else name


def test_every_partition_of_a_list_is_renamed_whether_or_not_it_repeats_the_one_before() -> None:
    method = METHODS["get_partitions"]
    sds = [
        descriptor("/t/0"),
        descriptor("/t/1"),
        descriptor("/t/2", OTHER_COLUMNS),
        descriptor(None, OTHER_COLUMNS),
        descriptor(""),
        descriptor("/t/5"),
        StorageDescriptor(),
        descriptor("/t/7"),
    ]
    parts = tuple(partition(sd, at) for at, sd in enumerate(sds))
    spliced = splice_result(method, binary.encode_result(method, parts), {"db": to_sales})
    assert binary.decode_result(method, spliced) == tuple(replace(part, dbName="sales") for part in parts)


def test_locations_are_renamed_in_descriptors_that_repeat() -> None:
    method = METHODS["get_partitions"]
    parts = tuple(partition(descriptor(f"/t/{at}"), at) for at in range(3))
    spliced = splice_result(method, binary.encode_result(method, parts), {"location": lambda uri: f"s3:/{uri}"})
    assert [part.sd.location for part in binary.decode_result(method, spliced)] == ["s3://t/0", "s3://t/1", "s3://t/2"]


def test_a_name_far_behind_the_head_of_a_table_is_found() -> None:
    method = METHODS["get_table"]
    table = Table(
        tableName="mv",
        dbName="raw",
        sd=descriptor("/mv"),
        creationMetadata=CreationMetadata(dbName="raw", tblName="mv", tablesUsed=frozenset({"raw.t"})),
    )
    renames: Renames = {"db": to_sales, "full_name": lambda name: name.replace("raw.", "sales.")}
    spliced = binary.decode_result(method, splice_result(method, binary.encode_result(method, table), renames))
    assert (spliced.dbName, spliced.creationMetadata.dbName) == ("sales", "sales")
    assert spliced.creationMetadata.tablesUsed == frozenset({"sales.t"})
    assert spliced.sd == table.sd


def test_fields_in_any_order_are_renamed() -> None:
    method = METHODS["get_table"]
    # tableName (1) behind dbName (2), as no writer of ours does it.
    table = b"\x0b\x00\x02\x00\x00\x00\x03raw\x0b\x00\x01\x00\x00\x00\x03raw\x00"
    spliced = splice_result(method, b"\x0c\x00\x00" + table + b"\x00", {"db": to_sales, "table": str.upper})
    result = binary.decode_result(method, spliced)
    assert (result.dbName, result.tableName) == ("sales", "RAW")


def test_an_argument_that_occurs_twice_is_renamed_twice() -> None:
    method = METHODS["get_database"]
    once = b"\x0b\x00\x01\x00\x00\x00\x03raw"
    assert splice_arguments(method, once + once + b"\x00", {"db": to_sales}).count(b"sales") == 2


def test_an_older_layout_is_renamed_where_its_names_were() -> None:
    method = METHODS["add_dynamic_partitions"]
    # Hive 2.3: txnid, dbname, tablename; since 3.1 the second field is a write id.
    old = (
        b"\x0c\x00\x01\x0a\x00\x01"
        + bytes(8)
        + b"\x0b\x00\x02\x00\x00\x00\x03raw\x0b\x00\x03\x00\x00\x00\x03raw\x00\x00"
    )
    spliced = splice_arguments(method, old, {"db": to_sales})
    request = binary.decode_args(method, spliced)[0]
    assert (request.dbname, request.tablename) == ("sales", "raw")


def test_bytes_without_a_change_are_the_same_object() -> None:
    method = METHODS["get_table"]
    body = binary.encode_args(method, ("raw", "t"))
    assert splice_arguments(method, body, {"db": str.lower}) is body
    assert splice_arguments(method, body, {"cat": str.upper}) is body
    assert splice_arguments(METHODS["getName"], b"\x00", {"db": str.upper}) == b"\x00"


def test_names_that_are_no_utf_8_survive() -> None:
    method = METHODS["get_database"]
    body = b"\x0b\x00\x01\x00\x00\x00\x02\xff\xfe\x00"
    assert (
        splice_arguments(method, body, {"db": lambda name: "x" + name}) == b"\x0b\x00\x01\x00\x00\x00\x03x\xff\xfe\x00"
    )


def test_only_names_can_be_replaced() -> None:
    with pytest.raises(LocalProtocolError, match="txn_id is a number"):
        splice_arguments(METHODS["get_table"], b"\x00", {"txn_id": str.upper})


def test_the_text_of_an_exception_is_replaced_in_its_slot() -> None:
    method = METHODS["get_table"]
    body = binary.encode_exception_result(method.throws["NoSuchObjectException"], NoSuchObjectException("raw.t gone"))
    assert carries_exception(body)
    with pytest.raises(NoSuchObjectException, match=r"^sales\.t gone$"):
        binary.decode_result(method, splice_message(body, lambda text: text.replace("raw", "sales")))


def test_a_result_and_a_void_result_are_no_exceptions() -> None:
    assert not carries_exception(binary.encode_result(METHODS["get_table"], Table(tableName="t")))
    assert not carries_exception(b"\x00")


# Bytes that are wrong


@pytest.mark.parametrize("name", ["get_partitions", "get_table", "get_all_functions"])
def test_a_list_that_is_cut_anywhere_is_refused_or_left_alone(name: str) -> None:
    """A cut behind the last name of a single object is not looked at: its reader has seen the end of the message."""
    method = METHODS[name]
    value: Any = {
        "get_partitions": (partition(descriptor("/t/0")), partition(descriptor("/t/1"))),
        "get_table": Table(tableName="t", dbName="raw"),
        "get_all_functions": new(STRUCTS["GetAllFunctionsResponse"], [()]),
    }[name]
    body = binary.encode_result(method, value)
    for end in range(len(body)):
        try:
            spliced = splice_result(method, body[:end], {"db": to_sales})
        except RemoteProtocolError:
            continue
        assert name == "get_table" and b"sales" in spliced


def test_arguments_that_are_cut_anywhere_are_refused() -> None:
    method = METHODS["add_partitions"]
    body = binary.encode_args(method, ((partition(descriptor("/t/0")), partition(descriptor("/t/1"))),))
    for end in range(len(body)):
        with pytest.raises(RemoteProtocolError):
            splice_arguments(method, body[:end], {"db": to_sales})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"\x0f\x00\x01\x0b\x00\x00\x00\x01\x00\x00\x00\x01x\x00", id="strings where partitions belong"),
        pytest.param(b"\x0f\x00\x01\x0c\x7f\xff\xff\xff\x00", id="more elements than bytes"),
        pytest.param(b"\x0f\x00\x01\x0c\x00\x00\x00\x01\x0b\x00\x02\xff\xff\xff\xff\x00\x00", id="a huge string"),
        pytest.param(b"\x63\x00\x09\x00", id="an unknown type"),
        pytest.param(b"\x0c\x00\x09" * (MAX_DEPTH + 2) + b"\x00" * (MAX_DEPTH + 3), id="too deep"),
    ],
)
def test_malformed_arguments_are_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        splice_arguments(METHODS["add_partitions"], body, {"db": to_sales})


def test_a_struct_that_contains_itself_too_often_is_refused() -> None:
    # Table → creationMetadata (16) → sourceTables (7) → SourceTable.table (1) → …
    opened = b"\x0c\x00\x10\x0f\x00\x07\x0c\x00\x00\x00\x01\x0c\x00\x01"
    body = b"\x0c\x00\x01" + opened * MAX_DEPTH + b"\x00" * (3 * MAX_DEPTH + 2)
    with pytest.raises(RemoteProtocolError, match="inside each other"):
        splice_arguments(METHODS["create_table"], body, {"db": to_sales})
