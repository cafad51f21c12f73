"""Messages in bodies of their own: the fast parser has the same results as the slow one."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metastored.errors import RemoteProtocolError
from metastored.wire.codec.protocol import BadMessage, Incomplete
from metastored.wire.codec.tjson_protocol import TJSON
from metastored.wire.exchange import SHORT, read
from tests.support.examples import examples

CALLS = [
    b'[1,"get_all_databases",1,1,{}]',
    b' [1, "get_database", 1, -7, {"1": {"str": "d\\u00e9"}}] \n',
    b'[1,"get_tables",4,2147483647,{"1":{"str":"a"},"2":{"str":"*"},"99":{"i64":1}}]',
    b'[1,"get_partitions",1,1,{"1":{"str":"d"},"2":{"str":"t"},"3":{"i16":-1}}]',
    b'[1,"no_method",1,1,{"1":{"rec":{}}}]',
    b'[1,"get_database",9,1,{}]',
]
OTHERS = [
    b'[2,"get_database",1,1,{}]',
    b'[1,"get_database",1,1,{"1":{"i32":1}}]',
    b'[1,"get_database",1,1,{"1":7}]',
    b'[1,"get_database",1,1,[]]',
    b'[1,"get_database",1,1]',
    b'[1,"get_database",1,1,{},2]',
    b'[1,"get_database",1,3000000000,{}]',
    b'[1,"get_database",true,1,{}]',
    b'[1.0,"get_database",1,1,{}]',
    b'[1,"get_database",1,1,{}] more',
    b'[1,"get_database",1,1,{]}',
    b'["1","2","3","4","5"]',
    b'"abcde"',
    b"[]",
    b"",
]


def closer(data: bytes) -> Any:
    """The result of `read_call`: a message without its end and size, which depend on white space, or the error."""
    try:
        found = TJSON.read_call(data, len(data) - len(data.lstrip()))
    except (RemoteProtocolError, Incomplete) as error:
        return type(error)
    return found._replace(end=0, size=0)


def at_once(data: bytes) -> Any:
    try:
        found = TJSON.read_whole(data)
    except BadMessage as error:
        return type(error)
    return None if found is None else found._replace(end=0, size=0)


@pytest.mark.parametrize("data", CALLS)
def test_a_complete_call_is_parsed_in_one_go_with_the_same_result(data: bytes) -> None:
    assert at_once(data) == closer(data)
    assert at_once(data) is not None


@pytest.mark.parametrize("data", OTHERS)
def test_other_messages_are_left_to_the_slow_parser_or_fail_with_the_same_error(data: bytes) -> None:
    assert at_once(data) in (None, closer(data))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.tuples(
        st.sampled_from((1, 2, -1)),
        st.sampled_from(("get_database", "get_table", "drop_database", "x" * 40, "é")),
        st.integers(-1, 12),
        st.integers(-(2**33), 2**33),
        st.dictionaries(
            st.sampled_from(("1", "2", "3", "x")),
            st.dictionaries(
                st.sampled_from(("str", "tf", "i32", "rec")),
                st.one_of(st.text(), st.integers(-(2**60), 2**60)),
                max_size=2,
            ),
            max_size=3,
        ),
    )
)
def test_any_message_is_parsed_the_same_in_one_go_or_left_to_the_slow_parser(message: tuple[Any, ...]) -> None:
    data = orjson.dumps(message)
    assert at_once(data) in (None, closer(data))


def test_a_long_body_is_read_as_well() -> None:
    name = "d" * SHORT
    exchange = read(b'[1,"get_database",1,5,{"1":{"str":"%b"}}]' % name.encode())
    assert exchange.request.call is not None
    assert (exchange.request.call.args, exchange.request.seqid) == ((name,), 5)
