"""Streams of Kryo 5: those of Hive 4's own classes are read, and no others."""

from __future__ import annotations

import contextlib
import random
from datetime import date

import pytest

from metastored.filters.hive.expressions import read_expression
from metastored.filters.hive.kryo import Apply, Constant, MalformedExpression, UnreadableExpression
from metastored.filters.hive.kryo import read_expression as read_expression_3
from metastored.filters.hive.kryo_5 import NAMED_ROOT, read_expression_5
from metastored.hive.generation import Generation
from tests.support.apache import MissingPeer, run_with_hive_4_1
from tests.support.expressions import OF_3_1, OF_4_1, parsed

NOT_UNDERSTOOD = {"upper", "used upper", "used between texts"}


def test_all_expressions_of_hive_are_read_except_the_named_ones() -> None:
    unread = set()
    for one in OF_4_1.all.values():
        try:
            read_expression_5(one.data)
        except UnreadableExpression as error:
            assert not isinstance(error, MalformedExpression), one.name
            unread.add(one.name)
    assert unread == NOT_UNDERSTOOD


def test_the_trees_are_those_that_hive_3_wrote() -> None:
    another_function = {"to string", "used to string"}
    compared = [name for name in OF_4_1.all if name in OF_3_1.all and name not in NOT_UNDERSTOOD | another_function]
    assert len(compared) > 180
    for name in compared:
        assert read_expression_5(OF_4_1.all[name].data) == read_expression_3(OF_3_1.all[name].data), name


def test_dates_and_moments_have_their_short_forms() -> None:
    def value(name: str) -> object:
        tree = read_expression_5(OF_4_1.all[name].data)
        assert isinstance(tree, Apply) and isinstance(tree.operands[1], Constant)
        return tree.operands[1].value

    assert value("date =") == date(2024, 2, 1)
    assert value("timestamp") == "2024-01-01 10:00:00.500000000"
    assert value("date with timestamp") == "2024-01-15 00:00:00.000000000"


@pytest.mark.parametrize("generation", Generation)
def test_a_stream_is_recognised_by_its_beginning(generation: Generation) -> None:
    one = OF_4_1.all["int ="]
    assert one.data.startswith(NAMED_ROOT)
    assert read_expression(one.data, generation) == read_expression_5(one.data)
    assert not any(old.data.startswith(NAMED_ROOT) for old in OF_3_1.all.values())


@pytest.mark.slow
def test_a_stream_that_is_cut_short_is_refused() -> None:
    for name in ("int =", "structs in", "used nested"):
        data = OF_4_1.all[name].data
        for length in range(len(data)):
            with pytest.raises(UnreadableExpression):
                read_expression_5(data[:length])
        with pytest.raises(MalformedExpression, match="1 bytes follow the expression"):
            read_expression_5(data + b"\x00")


def test_a_damaged_stream_is_read_or_refused() -> None:
    chance = random.Random(5)
    streams = [one.data for one in OF_4_1.all.values()]
    for _ in range(3000):
        data = bytearray(chance.choice(streams))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with contextlib.suppress(UnreadableExpression):
            read_expression_5(bytes(data))


def test_a_list_may_not_claim_more_than_there_is() -> None:
    head = OF_4_1.all["int ="].data
    place = head.index(b"java.util.ArrayLis\xf4") + len("java.util.ArrayList") + 1
    for length in (b"\x7f\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x0f", b"\x00"):
        with pytest.raises(UnreadableExpression):
            read_expression_5(head[:place] + length + head[place + 1 :])


def test_depth_is_bounded() -> None:
    root = b"org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDes\xe3"
    first = b"\x01\x01java.util.ArrayLis\xf4\x01\x82\x01\x00\x00\x01"
    deeper = b"\x01\x01\x01\x82\x01\x00\x00\x01"
    with pytest.raises(UnreadableExpression, match="nested deeper than"):
        read_expression_5(NAMED_ROOT + root + b"\x01" + first + deeper * 1000)


@pytest.mark.peers
def test_hive_4_1_still_writes_these() -> None:
    try:
        made = parsed(run_with_hive_4_1("Expressions"), Generation.HIVE_4_0)
    except MissingPeer as reason:
        pytest.skip(str(reason))
    assert {name: one.data for name, one in made.all.items()} == {
        name: one.data for name, one in OF_4_1.all.items() if not name.startswith("used ")
    }
