"""Partitions by serialized expressions: got and dropped through the wire, on both databases, and as Hive does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from metastored.errors import MetaException, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    DropPartitionsExpr,
    DropPartitionsRequest,
    Partition,
    PartitionsByExprRequest,
    RequestPartsSpec,
)
from tests.service.conftest import Starter
from tests.support.apache import ApacheMetastore
from tests.support.client import Client
from tests.support.expressions import OF_2_3, OF_3_1, OF_4_1, Expressions
from tests.support.metastore import Metastore

DB = "by_expr"
USUAL = OF_2_3.partitions[:10]
"""Those whose values are all of their keys' types; the others SQL, in Hive as here, passes over."""


def make(peer: Metastore | Client, **parameters: str) -> None:
    if DB not in peer.call("get_all_databases"):
        peer.call("create_database", Database(name=DB))
    sd = StorageDescriptor(cols=(FieldSchema("other", "string"),), serdeInfo=SerDeInfo(parameters={}))
    keys = tuple(FieldSchema(*key) for key in OF_2_3.keys)
    peer.call(
        "create_table",
        Table(tableName="t", dbName=DB, sd=sd, partitionKeys=keys, parameters={}, tableType="MANAGED_TABLE"),
    )
    for values in USUAL:
        peer.call(
            "add_partition", Partition(values=values, dbName=DB, tableName="t", sd=sd, parameters=dict(parameters))
        )


def expr_request(data: bytes, **other: Any) -> PartitionsByExprRequest:
    settings = {"dbName": DB, "tblName": "t", "maxParts": -1, **other}
    return PartitionsByExprRequest(expr=data, **settings)


def numbers(result: tuple[Partition, ...]) -> list[int]:
    return sorted(USUAL.index(part.values or ()) for part in result)


def selected(
    peer: Metastore | Client, name: str, of: Expressions = OF_2_3, **other: Any
) -> tuple[bool | None, list[int]]:
    """Whether some are unknown, and the numbers of the partitions."""
    reply = peer.call("get_partitions_by_expr", expr_request(of.all[name].data, **other))
    return reply.hasUnknownPartitions, numbers(reply.partitions)


def drop(peer: Metastore | Client, *exprs: bytes | tuple[bytes, int], **other: Any) -> Any:
    given = tuple(DropPartitionsExpr(*(each if isinstance(each, tuple) else (each,))) for each in exprs)
    settings = {"dbName": DB, "tblName": "t", "deleteData": False, **other}
    return peer.call("drop_partitions_req", DropPartitionsRequest(parts=RequestPartsSpec(exprs=given), **settings))


def left(peer: Metastore | Client) -> list[int]:
    return numbers(peer.call("get_partitions", DB, "t", -1))


def data(name: str, of: Expressions = OF_2_3) -> bytes:
    return of.all[name].data


# --- found ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("string =", [1, 5]),
        ("string !=", [0, 2, 3, 4, 6, 7, 8, 9]),
        ("int >", [2, 3, 7, 9]),
        ("in dates", [0, 2, 9]),
        ("decimal =", [0, 1, 6]),
        ("is null text", [4, 6]),
        ("not in", [1, 2, 3, 6, 7, 8, 9]),
        ("nested", [1, 2, 6, 7, 8, 9]),
        ("structs in", [1]),
        ("date with text", [1, 2, 6]),
    ],
)
def test_partitions_are_found(metastore: Metastore, name: str, expected: list[int]) -> None:
    make(metastore)
    assert selected(metastore, name) == (False, expected)
    assert selected(metastore, f"used {name}", OF_3_1) == (False, expected)
    assert selected(metastore, f"used {name}", OF_4_1) == (False, expected)


def test_complete_partitions_come_in_the_order_of_their_names(metastore: Metastore) -> None:
    make(metastore)
    reply = metastore.call("get_partitions_by_expr", expr_request(data("int >")))
    listed = metastore.call("get_partitions", DB, "t", -1)
    assert list(reply.partitions) == [part for part in listed if part in reply.partitions]
    assert len(reply.partitions) == 4


def test_a_comparison_with_null_leaves_the_others_unknown(metastore: Metastore) -> None:
    make(metastore)
    assert selected(metastore, "null") == (True, [0, 1, 2, 3, 7, 8, 9])


@pytest.mark.parametrize("name", ["upper", "like", "not a key"])
def test_an_unsupported_expression_selects_all_partitions_and_is_flagged(metastore: Metastore, name: str) -> None:
    make(metastore)
    assert selected(metastore, name) == (True, list(range(10)))


def test_the_number_of_partitions_can_be_limited(metastore: Metastore) -> None:
    make(metastore)
    assert len(selected(metastore, "int >", maxParts=2)[1]) == 2
    assert len(selected(metastore, "is not null", maxParts=3)[1]) == 3
    assert len(selected(metastore, "int >", maxParts=0)[1]) == 4


def test_the_default_partition_may_be_named(metastore: Metastore) -> None:
    make(metastore)
    assert selected(metastore, "is null text", defaultPartitionName="a") == (False, [0])
    assert selected(metastore, "is null text", defaultPartitionName="") == (False, [4, 6])
    assert selected(metastore, "is null text", defaultPartitionName=DEFAULT_PARTITION) == (False, [4, 6])


@pytest.mark.parametrize("generation", Generation)
def test_a_filter_as_text_is_understood_by_every_generation(start: Starter, generation: Generation) -> None:
    metastored = start(generation)
    make(metastored)
    reply = metastored.call("get_partitions_by_expr", expr_request(b"(ds='b' AND h=2) OR (ds='a')"))
    assert (reply.hasUnknownPartitions, numbers(reply.partitions)) == (False, [0, 1])
    with pytest.raises(MetaException, match="Specified key <nope> is not a partitioning key for the table"):
        metastored.call("get_partitions_by_expr", expr_request(b"(nope='b')"))


def test_garbage_is_refused_in_hives_words(metastore: Metastore) -> None:
    make(metastore)
    with pytest.raises(MetaException) as refused:
        metastore.call("get_partitions_by_expr", expr_request(b"\x01\x02"))
    assert str(refused.value) == (
        "Buffer underflow.\nSerialization trace:\nchidren (org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc)"
    )
    with pytest.raises(MetaException, match="Index 95 out of bounds for length 0"):
        metastore.call("get_partitions_by_expr", expr_request(b"abc"))


def test_an_expression_that_may_be_hive_4s_own_kryo_selects_all(start: Starter) -> None:
    make(start())
    reply = start(Generation.HIVE_4_0).call("get_partitions_by_expr", expr_request(b"\x01\x02"))
    assert (reply.hasUnknownPartitions, len(reply.partitions)) == (True, 10)
    with pytest.raises(MetaException, match="Error parsing the expression"):
        start(Generation.HIVE_4_0).call("get_partitions_by_expr", expr_request(b"abc"))


def test_a_missing_table_is_named(metastore: Metastore) -> None:
    make(metastore)
    with pytest.raises(NoSuchObjectException, match="nope table not found"):
        metastore.call("get_partitions_by_expr", expr_request(data("int ="), tblName="nope"))


def test_specs_and_names_are_found_alike(hive_4: Metastore) -> None:
    make(hive_4)
    specs = hive_4.call("get_partitions_spec_by_expr", expr_request(data("int >")))
    assert specs.hasUnknownPartitions is False
    assert numbers(specs.partitionsSpec[0].partitionList.partitions) == [2, 3, 7, 9]
    assert hive_4.call("get_partitions_spec_by_expr", expr_request(data("upper"))).hasUnknownPartitions is True
    names = hive_4.call("get_partition_names_req", expr_request(data("int >")))
    assert len(names) == 4
    assert list(names) == sorted(names)
    assert len(hive_4.call("get_partition_names_req", expr_request(b""))) == 10
    assert len(hive_4.call("get_partition_names_req", expr_request(b"", maxParts=3))) == 3
    with pytest.raises(MetaException, match="leave `order` out"):
        hive_4.call("get_partition_names_req", expr_request(b"", order="0:-"))


# --- dropped ----------------------------------------------------------------------------------------------------


def test_partitions_are_dropped(metastore: Metastore) -> None:
    make(metastore)
    dropped = drop(metastore, data("string ="), data("text of one"))
    assert [USUAL.index(part.values) for part in dropped.partitions] == [1, 5, 8]
    assert left(metastore) == [0, 2, 3, 4, 6, 7, 9]


def test_the_result_can_be_omitted(metastore: Metastore) -> None:
    make(metastore)
    assert drop(metastore, data("string ="), needResult=False).partitions is None
    assert left(metastore) == [0, 2, 3, 4, 6, 7, 8, 9]


def test_a_partition_of_two_expressions_is_dropped_once_and_returned_twice(metastore: Metastore) -> None:
    make(metastore)
    dropped = drop(metastore, data("int ="), data("int >="))
    assert numbers(dropped.partitions) == [1, 1, 2, 3, 6, 6, 7, 9]
    assert left(metastore) == [0, 4, 5, 8]


def test_missing_partitions_are_an_error_unless_they_may_be(metastore: Metastore) -> None:
    make(metastore)
    with pytest.raises(NoSuchObjectException, match="Some partitions to drop are missing"):
        drop(metastore, data("empty text"), ifExists=False)
    with pytest.raises(NoSuchObjectException, match="Some partitions to drop are missing"):
        drop(metastore, data("text of one"), data("empty text"), ifExists=False)
    assert left(metastore) == list(range(10))
    assert drop(metastore, data("empty text"), ifExists=True).partitions == ()
    assert numbers(drop(metastore, data("string ="), data("empty text"), ifExists=False).partitions) == [1, 5]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("upper", "GenericUDFUpper is not understood"),
        ("like", "UDFLike"),
        ("not a key", "cannot be decided from its values"),
        ("null", "cannot be decided from its values"),
    ],
)
def test_nothing_is_dropped_on_a_guess(metastore: Metastore, name: str, reason: str) -> None:
    make(metastore)
    with pytest.raises(MetaException, match=f"^Unexpected unknown partitions to drop: .*{reason}"):
        drop(metastore, data("int ="), data(name), ifExists=True)
    with pytest.raises(MetaException, match="Buffer underflow"):
        drop(metastore, data("int ="), b"\x01\x02", ifExists=True)
    assert left(metastore) == list(range(10))


def test_a_drop_of_nothing_is_refused_only_without_any_spec(metastore: Metastore) -> None:
    make(metastore)
    assert drop(metastore).partitions == ()
    with pytest.raises(MetaException, match="needs names or expressions"):
        metastore.call("drop_partitions_req", DropPartitionsRequest(dbName=DB, tblName="t", parts=RequestPartsSpec()))


def test_part_of_an_archive_is_not_dropped(metastore: Metastore) -> None:
    make(metastore, is_archived="true", archiving_level="1")
    with pytest.raises(MetaException, match="Cannot drop a subset of partitions  in an archive, partition ds=b/h=2"):
        drop(metastore, (data("string ="), 2))
    assert left(metastore) == list(range(10))
    assert numbers(drop(metastore, (data("string ="), 1)).partitions) == [1, 5]
    assert numbers(drop(metastore, (data("text of one"), 2), ignoreProtection=True).partitions) == [8]
    assert numbers(drop(metastore, data("int =")).partitions) == [6]


def test_partitions_that_are_not_archived_have_no_level(metastore: Metastore) -> None:
    make(metastore)
    assert numbers(drop(metastore, (data("string ="), 9)).partitions) == [1, 5]


# --- as Hive does it --------------------------------------------------------------------------------------------

NEEDS_MORE_JARS = {
    *("int with text", "string with int", "int with double", "not in", "and of three", "not", "not and"),
    *("to double", "to int", "to bigint", "to string", "to date", "to decimal", "boolean constant", "boolean column"),
    *("like", "upper", "and not a key", "or not a key", "decimal with int", "string with double"),
    *("string with bigint", "varchar with text", "char with text", "timestamp with text", "date with timestamp"),
    *("keys with each other", "long varchar", "long varchar =", "long char =", "float with double"),
    *("double with decimal", "text with decimal"),
}
"""Expressions on which pyspark's Hive breaks off the connection, for want of classes that Spark leaves out."""

ANSWERED_OTHERWISE = {"not a key", "negative decimal", "structs in"}
"""Hive has an error for each: no such field, a parser that fails on a number, a Kryo that reads another's list."""


@contextmanager
def fresh(hive: ApacheMetastore) -> Iterator[Client]:
    """A client of a Hive that has no objects of these tests before and after the test."""
    with Client(hive.host, hive.port) as client:
        try:
            yield client
        finally:
            client.call("drop_database", DB, True, True)


NOT_UNDERSTOOD_HERE = "used between texts"


Selected = dict[str, tuple[bool | None, list[int]]]


class Found(NamedTuple):
    """What Hive 2.3 answered."""

    selected: Selected
    refused: dict[bytes, str]
    """Its words for bytes that are no expression."""


def _all_selected(peer: Client, of: Expressions, left_out: set[str]) -> Selected:
    """What a Hive selects. It is asked once for both databases."""
    make(peer)
    names = [name for name in of.all if name.removeprefix("used ") not in left_out and name != NOT_UNDERSTOOD_HERE]
    return {name: _selected(peer, name, of) for name in names}


@pytest.fixture(scope="module")
def found_by_hive_2_3(hive_2_3: ApacheMetastore) -> Found:
    with fresh(hive_2_3) as hive:
        found = _all_selected(hive, OF_2_3, NEEDS_MORE_JARS | ANSWERED_OTHERWISE)
        refused = {garbage: _error(hive, garbage) for garbage in (b"", b"\x01\x02", b"\x00", b"abc")}
        for name in ANSWERED_OTHERWISE:
            with pytest.raises(MetaException):
                selected(hive, name)
    return Found(found, refused)


@pytest.mark.apache
def test_hive_2_3_finds_the_same_partitions(found_by_hive_2_3: Found, start: Starter) -> None:
    metastored = start(Generation.HIVE_2_3)
    make(metastored)
    for name, found in found_by_hive_2_3.selected.items():
        assert _selected(metastored, name, OF_2_3) == found, name
    for garbage, words in found_by_hive_2_3.refused.items():
        assert _error(metastored, garbage) == words
    assert len(found_by_hive_2_3.selected) > 100


ANSWERED_OTHERWISE_BY_4 = {
    *("not a key", "and not a key", "or not a key"),  # an error: no such field
    "char",  # compared as a text, with the spaces of its type
    "bigint with int",  # compared as texts, so that 02 is not 2
}


@pytest.fixture(scope="module")
def selected_by_hive_4_1(hive_4_1_0: ApacheMetastore) -> Selected:
    not_understood_here = {"upper", "like"}
    with fresh(hive_4_1_0) as hive:
        return _all_selected(hive, OF_4_1, ANSWERED_OTHERWISE_BY_4 | not_understood_here)


@pytest.mark.peers
def test_hive_4_1_finds_the_same_partitions(selected_by_hive_4_1: Selected, start: Starter) -> None:
    metastored = start(Generation.HIVE_4_0)
    make(metastored)
    for name, found in selected_by_hive_4_1.items():
        assert _selected(metastored, name, OF_4_1) == found, name
    assert len(selected_by_hive_4_1) > 150


@pytest.mark.peers
def test_hive_4_1_drops_the_same_partitions(hive_4_1_0: ApacheMetastore, start: Starter) -> None:
    metastored = start(Generation.HIVE_4_0)
    drops: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("text of one",), {"ifExists": False}),
        (("text of one",), {"ifExists": False}),
        (("string =", "int ="), {"ifExists": True}),
        (("used int >=",), {"ifExists": True}),
        (("is null",), {"ifExists": True, "needResult": False}),
    ]
    with fresh(hive_4_1_0) as hive:
        for peer in (metastored, hive):
            make(peer)
        for names, settings in drops:
            # Hive 4 has no order for them.
            reported = [_in_order(_outcome(peer, names, settings, OF_4_1)) for peer in (metastored, hive)]
            assert reported[0] == reported[1], names
            assert left(metastored) == left(hive), names


def _selected(peer: Metastore | Client, name: str, of: Expressions) -> tuple[bool | None, list[int]]:
    return selected(peer, name, of, defaultPartitionName=DEFAULT_PARTITION)


def _error(peer: Metastore | Client, garbage: bytes) -> str:
    with pytest.raises(MetaException) as refused:
        peer.call("get_partitions_by_expr", expr_request(garbage))
    return str(refused.value)


@pytest.mark.apache
def test_hive_2_3_drops_the_same_partitions(hive_2_3: ApacheMetastore, start: Starter) -> None:
    metastored = start(Generation.HIVE_2_3)
    drops: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("text of one",), {"ifExists": False}),
        (("text of one",), {"ifExists": False}),
        (("text of one",), {"ifExists": True}),
        (("string =", "text of one"), {"ifExists": False}),
        (("string =", "int ="), {"ifExists": False}),
        ((), {}),
        (("int =", "int >="), {"needResult": True, "ignoreProtection": True}),
        (("null",), {}),
        (("is null",), {"needResult": False}),
    ]
    with fresh(hive_2_3) as hive:
        for peer in (metastored, hive):
            make(peer)
        for names, settings in drops:
            reported = [_outcome(peer, names, settings) for peer in (metastored, hive)]
            assert reported[0] == reported[1], names
            assert left(metastored) == left(hive), names


def _in_order(result: object) -> object:
    return sorted(result) if isinstance(result, list) else result


def _outcome(
    peer: Metastore | Client, names: tuple[str, ...], settings: dict[str, Any], of: Expressions = OF_2_3
) -> object:
    try:
        reply = drop(peer, *(data(name, of) for name in names), **settings)
    except (MetaException, NoSuchObjectException) as error:
        # Hive does not have the text that metastored adds after the colon.
        return type(error), str(error).partition(":")[0]
    return reply.partitions and [USUAL.index(part.values) for part in reply.partitions]
