"""Every struct of the API, written and read again by all three protocols."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metastored.wire.codec import binary
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.message import Call
from metastored.wire.methods import METHODS
from metastored.wire.methods.plan import result_fields
from metastored.wire.types import CALL, REPLY, Type
from tests.support.codecs import PROTOCOLS, decode, encode
from tests.support.examples import examples
from tests.support.values import structs, values, with_defaults

# Every struct of the API, with examples.
pytestmark = pytest.mark.slow

ROUND = settings(
    max_examples=examples(12),
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("name", STRUCTS)
def test_a_struct_is_read_as_it_was_written(name: str) -> None:
    cls = STRUCTS[name]

    @ROUND
    @given(structs(cls))
    def check(value: Any) -> None:
        expected = with_defaults(value)
        for protocol in PROTOCOLS:
            found = decode(cls, encode(value, protocol), protocol)
            assert found == expected, protocol
            assert type(found) is cls
            assert encode(found, protocol) == encode(expected, protocol)

    check()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(ROUND, max_examples=examples(60))
@given(data=st.data())
def test_a_call_and_its_reply_are_read_as_they_were_written(protocol: str, data: st.DataObject) -> None:
    wire = PROTOCOLS[protocol]
    method = data.draw(st.sampled_from(sorted(METHODS.values(), key=lambda method: method.name)))
    seqid = data.draw(st.integers(-(2**31), 2**31 - 1))
    args = tuple(data.draw(st.none() | values(field.type, 2)) for field in method.args)
    message = wire.write(CALL, method.name_bytes, seqid, binary.encode_args(method, args), method)
    call = wire.read_call(message, 0)
    assert (call.kind, call.name, call.seqid) == (CALL, method.name_bytes, seqid)
    assert (call.method, call.end) == (method, len(message))
    assert call.value == tuple(with_defaults(value) for value in args)

    fields = result_fields(method)
    results = tuple(data.draw(st.none() | values(field.type, 2)) for field in fields)
    body = binary.encode_body(REPLY, method, results)
    reply = wire.read_reply(method, wire.write(REPLY, method.name_bytes, seqid, body, method), 0)
    assert reply.body is not None
    assert binary.decode_body(REPLY, method, reply.body) == tuple(with_defaults(value) for value in results)


@settings(ROUND, max_examples=examples(200))
@given(data=st.data())
def test_the_size_of_a_call_that_the_server_makes_is_an_upper_bound(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(sorted(METHODS.values(), key=lambda method: method.name)))
    args = tuple(data.draw(st.none() | values(field.type, 2)) for field in method.args)
    assert len(binary.encode_args(method, args)) <= Call(method, args).size <= MAX_MESSAGE


@pytest.mark.parametrize(("names", "is_counted"), [(("a", "ä" * 100), True), (("a",) * 10_000, False)])
def test_the_size_of_a_call_with_few_values_is_counted(names: tuple[str, ...], is_counted: bool) -> None:
    call = Call(METHODS["get_table_objects_by_name"], ("db", names))
    assert (call.size < 1000) is is_counted
    assert is_counted or call.size == MAX_MESSAGE


def test_there_is_a_strategy_for_every_type_of_the_api() -> None:
    for method in METHODS.values():
        for type in (*(field.type for field in method.args), method.returns or Type("i32")):
            values(type, 1).validate()
