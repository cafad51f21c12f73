"""Partitions by serialized expressions: found and dropped through the wire, on both databases, and as Hive does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


def asked(data: bytes, **other: Any) -> PartitionsByExprRequest:
    settings = {"dbName": DB, "tblName": "t", "maxParts": -1, **other}
    return PartitionsByExprRequest(expr=data, **settings)


def numbers(found: tuple[Partition, ...]) -> list[int]:
    return sorted(USUAL.index(part.values or ()) for part in found)


def ask(peer: Metastore | Client, name: str, of: Expressions = OF_2_3, **other: Any) -> tuple[bool | None, list[int]]:
    """Whether some are unknown, and the numbers of the partitions."""
    answer = peer.call("get_partitions_by_expr", asked(of.all[name].data, **other))
    return answer.hasUnknownPartitions, numbers(answer.partitions)


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
    assert ask(metastore, name) == (False, expected)
    assert ask(metastore, f"used {name}", OF_3_1) == (False, expected)
    assert ask(metastore, f"used {name}", OF_4_1) == (False, expected)


def test_partitions_come_in_the_order_of_their_names_and_whole(metastore: Metastore) -> None:
    make(metastore)
    answer = metastore.call("get_partitions_by_expr", asked(data("int >")))
    listed = metastore.call("get_partitions", DB, "t", -1)
    assert list(answer.partitions) == [part for part in listed if part in answer.partitions]
    assert len(answer.partitions) == 4


def test_a_comparison_with_null_leaves_the_others_unknown(metastore: Metastore) -> None:
    make(metastore)
    assert ask(metastore, "null") == (True, [0, 1, 2, 3, 7, 8, 9])


@pytest.mark.parametrize("name", ["upper", "like", "not a key"])
def test_what_is_not_understood_lets_all_through_and_says_so(metastore: Metastore, name: str) -> None:
    make(metastore)
    assert ask(metastore, name) == (True, list(range(10)))


def test_the_answer_can_be_limited(metastore: Metastore) -> None:
    make(metastore)
    assert len(ask(metastore, "int >", maxParts=2)[1]) == 2
    assert len(ask(metastore, "is not null", maxParts=3)[1]) == 3
    assert len(ask(metastore, "int >", maxParts=0)[1]) == 4


def test_the_default_partition_may_be_named(metastore: Metastore) -> None:
    make(metastore)
    assert ask(metastore, "is null text", defaultPartitionName="a") == (False, [0])
    assert ask(metastore, "is null text", defaultPartitionName="") == (False, [4, 6])
    assert ask(metastore, "is null text", defaultPartitionName=DEFAULT_PARTITION) == (False, [4, 6])


@pytest.mark.parametrize("generation", Generation)
def test_a_filter_as_text_is_understood_by_every_generation(start: Starter, generation: Generation) -> None:
    metastored = start(generation)
    make(metastored)
    answer = metastored.call("get_partitions_by_expr", asked(b"(ds='b' AND h=2) OR (ds='a')"))
    assert (answer.hasUnknownPartitions, numbers(answer.partitions)) == (False, [0, 1])
    with pytest.raises(MetaException, match="Specified key <nope> is not a partitioning key for the table"):
        metastored.call("get_partitions_by_expr", asked(b"(nope='b')"))


def test_garbage_is_refused_in_hives_words(metastore: Metastore) -> None:
    make(metastore)
    with pytest.raises(MetaException) as refused:
        metastore.call("get_partitions_by_expr", asked(b"\x01\x02"))
    assert str(refused.value) == (
        "Buffer underflow.\nSerialization trace:\nchidren (org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc)"
    )
    with pytest.raises(MetaException, match="Index 95 out of bounds for length 0"):
        metastore.call("get_partitions_by_expr", asked(b"abc"))


def test_what_hive_4s_own_kryo_may_have_written_lets_all_through(start: Starter) -> None:
    make(start())
    answer = start(Generation.HIVE_4_0).call("get_partitions_by_expr", asked(b"\x01\x02"))
    assert (answer.hasUnknownPartitions, len(answer.partitions)) == (True, 10)
    with pytest.raises(MetaException, match="Error parsing the expression"):
        start(Generation.HIVE_4_0).call("get_partitions_by_expr", asked(b"abc"))


def test_a_missing_table_is_named(metastore: Metastore) -> None:
    make(metastore)
    with pytest.raises(NoSuchObjectException, match="nope table not found"):
        metastore.call("get_partitions_by_expr", asked(data("int ="), tblName="nope"))


def test_specs_and_names_are_found_alike(hive_4: Metastore) -> None:
    make(hive_4)
    specs = hive_4.call("get_partitions_spec_by_expr", asked(data("int >")))
    assert specs.hasUnknownPartitions is False
    assert numbers(specs.partitionsSpec[0].partitionList.partitions) == [2, 3, 7, 9]
    assert hive_4.call("get_partitions_spec_by_expr", asked(data("upper"))).hasUnknownPartitions is True
    names = hive_4.call("get_partition_names_req", asked(data("int >")))
    assert len(names) == 4
    assert list(names) == sorted(names)
    assert len(hive_4.call("get_partition_names_req", asked(b""))) == 10
    assert len(hive_4.call("get_partition_names_req", asked(b"", maxParts=3))) == 3
    with pytest.raises(MetaException, match="leave `order` out"):
        hive_4.call("get_partition_names_req", asked(b"", order="0:-"))


# --- dropped ----------------------------------------------------------------------------------------------------


def test_partitions_are_dropped(metastore: Metastore) -> None:
    make(metastore)
    dropped = drop(metastore, data("string ="), data("text of one"))
    assert [USUAL.index(part.values) for part in dropped.partitions] == [1, 5, 8]
    assert left(metastore) == [0, 2, 3, 4, 6, 7, 9]


def test_the_result_can_be_left_out(metastore: Metastore) -> None:
    make(metastore)
    assert drop(metastore, data("string ="), needResult=False).partitions is None
    assert left(metastore) == [0, 2, 3, 4, 6, 7, 8, 9]


def test_what_two_expressions_find_is_dropped_once_and_told_twice(metastore: Metastore) -> None:
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
        ("not a key", "cannot be told from its values"),
        ("null", "cannot be told from its values"),
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
"""Hive has an error for each: no such field, a parser that stumbles over a number, a Kryo that reads another's list."""


@contextmanager
def fresh(hive: ApacheMetastore) -> Iterator[Client]:
    """A client of a Hive that has nothing of these tests when it comes, nor when it goes."""
    with Client(hive.host, hive.port) as client:
        try:
            yield client
        finally:
            client.call("drop_database", DB, True, True)


@pytest.mark.apache
def test_hive_2_3_finds_the_same_partitions(hive_2_3: ApacheMetastore, start: Starter) -> None:
    metastored = start(Generation.HIVE_2_3)
    make(metastored)
    compared = 0
    with fresh(hive_2_3) as hive:
        make(hive)
        for name in OF_2_3.all:
            if name.removeprefix("used ") in NEEDS_MORE_JARS | ANSWERED_OTHERWISE:
                continue
            if name == "used between texts":  # not understood here
                continue
            answers = [ask(peer, name, defaultPartitionName=DEFAULT_PARTITION) for peer in (metastored, hive)]
            assert answers[0] == answers[1], name
            compared += 1
        for garbage in (b"", b"\x01\x02", b"\x00", b"abc"):
            words = [_error(peer, garbage) for peer in (metastored, hive)]
            assert words[0] == words[1]
        for name in ANSWERED_OTHERWISE:
            with pytest.raises(MetaException):
                ask(hive, name)
    assert compared > 100


ANSWERED_OTHERWISE_BY_4 = {
    *("not a key", "and not a key", "or not a key"),  # an error: no such field
    "char",  # compared as a text, with the spaces of its type
    "bigint with int",  # compared as texts, so that 02 is not 2
}


@pytest.mark.peers
def test_hive_4_1_finds_the_same_partitions(hive_4_1_0: ApacheMetastore, start: Starter) -> None:
    metastored = start(Generation.HIVE_4_0)
    make(metastored)
    compared = 0
    with fresh(hive_4_1_0) as hive:
        make(hive)
        for name in OF_4_1.all:
            if name.removeprefix("used ") in ANSWERED_OTHERWISE_BY_4 | {"upper", "like"}:
                continue
            if name == "used between texts":  # not understood here, as are the two above
                continue
            answers = [ask(peer, name, OF_4_1, defaultPartitionName=DEFAULT_PARTITION) for peer in (metastored, hive)]
            assert answers[0] == answers[1], name
            compared += 1
    assert compared > 150


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
            said = [_in_order(_said(peer, names, settings, OF_4_1)) for peer in (metastored, hive)]
            assert said[0] == said[1], names
            assert left(metastored) == left(hive), names


def _error(peer: Metastore | Client, garbage: bytes) -> str:
    with pytest.raises(MetaException) as refused:
        peer.call("get_partitions_by_expr", asked(garbage))
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
            said = [_said(peer, names, settings) for peer in (metastored, hive)]
            assert said[0] == said[1], names
            assert left(metastored) == left(hive), names


def _in_order(found: object) -> object:
    return sorted(found) if isinstance(found, list) else found


def _said(
    peer: Metastore | Client, names: tuple[str, ...], settings: dict[str, Any], of: Expressions = OF_2_3
) -> object:
    try:
        answer = drop(peer, *(data(name, of) for name in names), **settings)
    except (MetaException, NoSuchObjectException) as error:
        # What metastored adds behind the colon, Hive does not know.
        return type(error), str(error).partition(":")[0]
    return answer.partitions and [USUAL.index(part.values) for part in answer.partitions]
