"""Streams of Kryo: those of Hive's own classes are read, and no others."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal

import pytest

from metastored.filters.hive.kryo import (
    MAX_BYTES,
    Apply,
    Column,
    Constant,
    Expression,
    MalformedExpression,
    SqlDate,
    SqlTimestamp,
    UnreadableExpression,
    read_expression,
)
from metastored.hive.generation import Generation
from tests.support.apache import run_with_hive_2_3
from tests.support.expressions import OF_2_3, OF_3_1, WITHOUT_ALIAS, Expressions, parsed

NOT_UNDERSTOOD = {"upper", "used upper", "used between texts"}
VERSIONS = pytest.mark.parametrize("of", [OF_2_3, OF_3_1], ids=["2.3", "3.1"])


def shown(tree: Expression) -> str:
    """The tree in Hive's words, for the few kinds of literals that both versions of Hive write alike."""
    match tree:
        case Column(name):
            return name
        case Constant("string", str() as text):
            return f"'{text}'"
        case Constant(_, value):
            return str(value)
        case Apply("GenericUDFOPAnd", operands):
            return "(" + " and ".join(map(shown, operands)) + ")"
        case Apply("GenericUDFOPOr", operands):
            return "(" + " or ".join(map(shown, operands)) + ")"
        case Apply("GenericUDFOPNot", (operand,)):
            return f"(not {shown(operand)})"
        case Apply("GenericUDFOPNull", (operand,)):
            return f"{shown(operand)} is null"
        case Apply("GenericUDFOPNotNull", (operand,)):
            return f"{shown(operand)} is not null"
        case Apply("GenericUDFIn", (operand, *members)):
            return f"({shown(operand)}) IN ({', '.join(map(shown, members))})"
        case Apply("GenericUDFBetween", (Constant(_, negated), operand, low, high)):
            return f"{shown(operand)} {'NOT ' if negated else ''}BETWEEN {shown(low)} AND {shown(high)}"
        case Apply(function, (one, other)):
            signs = {
                "GenericUDFOPEqual": "=",
                "GenericUDFOPEqualNS": "=",
                "GenericUDFOPNotEqual": "<>",
                "GenericUDFOPLessThan": "<",
                "GenericUDFOPEqualOrLessThan": "<=",
                "GenericUDFOPGreaterThan": ">",
                "GenericUDFOPEqualOrGreaterThan": ">=",
            }
            return f"({shown(one)} {signs[function]} {shown(other)})"
    raise AssertionError(f"no text for {tree}")


def read(of: Expressions, name: str) -> Expression:
    return read_expression(of.all[name].data)


def value(of: Expressions, name: str) -> object:
    """The constant that a comparison of that name has."""
    tree = read(of, name)
    assert isinstance(tree, Apply) and isinstance(tree.operands[1], Constant)
    return tree.operands[1].value


@VERSIONS
def test_the_tree_matches_hives_text(of: Expressions) -> None:
    plain = ("string", "int", "in ", "in texts", "not", "and", "or", "between", "is ", "reversed", "text", "quotes")
    chosen = [
        one
        for one in of.all.values()
        if one.name.removeprefix("used ").startswith(plain)
        and not any(word in one.name for word in ("date", "null", "double", "decimal", "bigint"))
        and one.name not in NOT_UNDERSTOOD
    ]
    assert len(chosen) > 60
    for one in chosen:
        assert shown(read_expression(one.data)) == one.text, one.name


def test_expressions_of_a_drop_are_read() -> None:
    assert len(WITHOUT_ALIAS.all) == 5
    for one in WITHOUT_ALIAS.all.values():
        assert shown(read_expression(one.data)) == one.text, one.name


@VERSIONS
def test_all_expressions_of_hive_are_read_except_the_named_ones(of: Expressions) -> None:
    unread = set()
    for one in of.all.values():
        try:
            read_expression(one.data)
        except UnreadableExpression as error:
            assert not isinstance(error, MalformedExpression), one.name
            unread.add(one.name)
    assert unread == NOT_UNDERSTOOD


@VERSIONS
def test_that_a_function_was_used_before_makes_no_difference(of: Expressions) -> None:
    for name in of.all:
        if f"used {name}" in of.all and name not in NOT_UNDERSTOOD and f"used {name}" not in NOT_UNDERSTOOD:
            assert read(of, name) == read(of, f"used {name}"), name


@VERSIONS
def test_constants_have_their_types_and_values(of: Expressions) -> None:
    assert value(of, "int with text") == "2"
    assert value(of, "bigint") == -9_000_000_000
    assert value(of, "smallint") == -3
    assert value(of, "tinyint") == 7
    assert value(of, "double") == 0.5
    assert value(of, "float") == 2.5
    assert value(of, "boolean") is True
    assert value(of, "varchar") == "v1"
    assert value(of, "char") == "ab  "
    assert value(of, "null") is None
    assert value(of, "decimal =") == Decimal("1.5")
    assert value(of, "negative decimal") == Decimal("-12345678901234567890.25")
    assert value(of, "other letters") == "grüß 日 🐝"
    assert value(of, "long text") == "0123456789" * 20
    assert value(of, "empty text") == ""


def test_dates_of_hive_2_are_moments_and_those_of_hive_3_days() -> None:
    assert value(OF_2_3, "date =") == SqlDate(1_706_745_600_000)
    assert value(OF_3_1, "date =") == date(2024, 2, 1)
    assert value(OF_2_3, "timestamp") == SqlTimestamp(1_704_103_200_500, 500_000_000)
    assert value(OF_3_1, "timestamp") == "2024-01-01 10:00:00.500000000"


@pytest.mark.apache
def test_hive_still_writes_what_is_stored_here() -> None:
    now = parsed(run_with_hive_2_3("Expressions"), Generation.HIVE_2_3)
    assert now.keys == OF_2_3.keys and now.partitions == OF_2_3.partitions
    assert set(now.all) == {name for name in OF_2_3.all if not name.startswith("used ")}
    for one in now.all.values():
        if one.name == "structs in":
            # Spark brings Kryo 4, which names the class of the elements of a list of strings.
            assert one.data != OF_2_3.all[one.name].data
            assert read_expression(one.data) == read(OF_2_3, one.name)
        else:
            assert one[:3] == OF_2_3.all[one.name][:3]


def test_an_unsupported_class_is_named_with_its_position() -> None:
    with pytest.raises(UnreadableExpression, match="GenericUDFUpper is not understood, at byte 266, inside genericUD"):
        read(OF_2_3, "upper")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "Buffer underflow."),
        (
            b"\x01\x02",
            "Buffer underflow.\nSerialization trace:\nchidren (org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc)",
        ),
        (b"\x00", "Index -2 out of bounds for length 0"),
        (b"abc", "Index 95 out of bounds for length 0"),
    ],
)
def test_garbage_is_refused_in_the_words_of_kryo(data: bytes, text: str) -> None:
    with pytest.raises(MalformedExpression) as refused:
        read_expression(data)
    assert str(refused.value) == text


def test_a_stream_truncated_anywhere_is_refused() -> None:
    data = OF_2_3.all["nested"].data
    for length in range(len(data)):
        with pytest.raises(UnreadableExpression):
            read_expression(data[:length])


def test_bytes_after_an_expression_are_refused() -> None:
    with pytest.raises(MalformedExpression, match="1 bytes follow the expression"):
        read_expression(OF_2_3.all["int ="].data + b"\x00")


@pytest.mark.parametrize(
    "changes", [pytest.param(5, marks=pytest.mark.slow, id="few"), pytest.param(200, marks=pytest.mark.soak, id="many")]
)
def test_changed_bytes_are_read_or_refused_and_never_anything_else(changes: int) -> None:
    chance = random.Random(7)
    for one in (*OF_2_3.all.values(), *OF_3_1.all.values()):
        for _ in range(changes):
            data = bytearray(one.data)
            data[chance.randrange(len(data))] = chance.randrange(256)
            try:
                read_expression(bytes(data))
            except UnreadableExpression as error:
                assert str(error)


def test_an_expression_beyond_all_measure_is_refused() -> None:
    with pytest.raises(UnreadableExpression, match="longer than"):
        read_expression(b"\x01" * (MAX_BYTES + 1))


def test_a_length_beyond_the_data_is_refused_before_anything_is_made() -> None:
    list_head = b"\x01\x01\x00java.util.ArrayLis\xf4\x01"
    with pytest.raises(MalformedExpression, match="Buffer underflow"):
        read_expression(list_head + b"\xff\xff\xff\xff\x0f")


def _nested(levels: int) -> bytes:
    """NOT of NOT of NOT …, each level in full, as a stream that Kryo could have written."""
    head = (
        b"\x01\x01\x00java.util.ArrayLis\xf4\x01\x01\x01\x01org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDes\xe3"
    )
    return head + b"\x01\x01\x00\x01\x01\x01\x01" * levels


def test_depth_is_bounded() -> None:
    with pytest.raises(UnreadableExpression, match="nested deeper than"):
        read_expression(_nested(500))


def test_an_expression_that_repeats_itself_by_reference_is_counted_in_full() -> None:
    """Each level has the level below twice, so that forty of them are a million million nodes."""
    names = [
        "java.util.ArrayList",
        "org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc",
        "org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc",
        "org.apache.hadoop.hive.serde2.typeinfo.PrimitiveTypeInfo",
        "org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPAnd",
    ]
    out = bytearray()
    seen: list[str] = []
    objects = 0

    def class_of(name: str) -> None:
        number = seen.index(name) if name in seen else len(seen)
        out.extend((1, number))
        if name not in seen:
            seen.append(name)
            text = name.encode()
            out.extend(text[:-1] + bytes([text[-1] | 0x80]))

    def new() -> int:
        nonlocal objects
        out.append(1)
        objects += 1
        return objects - 1

    def back(number: int) -> None:
        mark = number + 2
        out.extend([mark] if mark < 128 else [mark & 127 | 128, mark >> 7])

    types: list[int] = []

    def type_info() -> None:
        class_of(names[3])
        if types:
            back(types[0])
            return
        types.append(new())
        new()
        out.extend(b"boolea\xee")

    def conjunction(level: int) -> int:
        """After its reference mark: children, function, isSortedExpr, type."""
        me = new()
        class_of(names[0])
        new()
        out.append(2)
        if level == 0:
            class_of(names[2])
            column = new()
            new()
            out.extend(b"d\xf3\x01\x00\x00")
            type_info()
            class_of(names[2])
            back(column)
        else:
            class_of(names[1])
            inner = conjunction(level - 1)
            class_of(names[1])
            back(inner)
        class_of(names[4])
        new()
        out.extend(b"\x00\x00")
        type_info()
        return me

    conjunction(3)
    assert isinstance(read_expression(bytes(out)), Apply)
    out.clear()
    seen.clear()
    types.clear()
    objects = 0
    conjunction(40)
    with pytest.raises(UnreadableExpression, match="more than 100000 nodes"):
        read_expression(bytes(out))
