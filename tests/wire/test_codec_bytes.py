"""Small structs and messages, byte by byte, as Thrift's specifications have them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    Decimal,
    DoubleColumnStatsData,
    EnvironmentContext,
    FieldSchema,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.compaction import AbortCompactionResponseElement, AbortCompactResponse
from metastored.wire.generated.files import GetFileMetadataResult
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import HeartbeatTxnRangeResponse
from metastored.wire.methods import METHODS
from metastored.wire.types import CALL, EXCEPTION, ONEWAY, REPLY
from tests.support.codecs import PROTOCOLS, decode, encode

STRUCTS: list[tuple[str, Any, str, str, str]] = [
    ("an empty struct", FieldSchema(), "00", "00", "{}"),
    (
        "strings",
        FieldSchema("a", "int"),
        "0b0001 00000001 61 0b0002 00000003 696e74 00",
        "18 01 61 18 03 696e74 00",
        '{"1":{"str":"a"},"2":{"str":"int"}}',
    ),
    (
        "a string beyond ASCII, with quotes",
        FieldSchema(comment='é"\n'),
        "0b0003 00000004 c3a9220a 00",
        "38 04 c3a9220a 00",
        '{"3":{"str":"é\\"\\n"}}',
    ),
    (
        "binary and i16, which skips an id",
        Decimal(b"\x01\x02\x03\x04", -2),
        "0b0001 00000004 01020304 060003 fffe 00",
        "18 04 01020304 24 03 00",
        '{"1":{"str":"AQIDBA"},"3":{"i16":-2}}',
    ),
    (
        "doubles, big-endian in binary and little-endian in compact",
        DoubleColumnStatsData(lowValue=1.0, highValue=-2.5, numNulls=300, numDVs=-(2**63)),
        "040001 3ff0000000000000 040002 c004000000000000 0a0003 000000000000012c 0a0004 8000000000000000 00",
        "17 000000000000f03f 17 00000000000004c0 16 d804 16 ffffffffffffffffff01 00",
        '{"1":{"dbl":1.0},"2":{"dbl":-2.5},"3":{"i64":300},"4":{"i64":-9223372036854775808}}',
    ),
    (
        "numbers that JSON has no words for",
        DoubleColumnStatsData(lowValue=-math.inf, highValue=math.inf),
        "040001 fff0000000000000 040002 7ff0000000000000 00",
        "17 000000000000f0ff 17 000000000000f07f 00",
        '{"1":{"dbl":"-Infinity"},"2":{"dbl":"Infinity"}}',
    ),
    (
        "bools and a byte, and a step of more than fifteen ids",
        Table(tableName="t", temporary=True, rewriteEnabled=False, accessType=-1, txnId=1),
        "0b0001 00000001 74 02000e 01 02000f 00 030016 ff 0a001c 0000000000000001 00",
        "18 01 74 d1 12 73 ff 66 02 00",
        '{"1":{"str":"t"},"14":{"tf":1},"15":{"tf":0},"22":{"i8":-1},"28":{"i64":1}}',
    ),
    (
        "an id that is too far for a difference",
        Table(txnId=1),
        "0a001c 0000000000000001 00",
        "06 38 02 00",
        '{"28":{"i64":1}}',
    ),
    (
        "a map",
        EnvironmentContext({"k": "v"}),
        "0d0001 0b0b 00000001 00000001 6b 00000001 76 00",
        "1b 01 88 01 6b 01 76 00",
        '{"1":{"map":["str","str",1,{"k":"v"}]}}',
    ),
    (
        "an empty map",
        EnvironmentContext({}),
        "0d0001 0b0b 00000000 00",
        "1b 00 00",
        '{"1":{"map":["str","str",0,{}]}}',
    ),
    (
        "sets of numbers",
        HeartbeatTxnRangeResponse(frozenset({7}), frozenset()),
        "0e0001 0a 00000001 0000000000000007 0e0002 0a 00000000 00",
        "1a 16 0e 1a 06 00",
        '{"1":{"set":["i64",1,7]},"2":{"set":["i64",0]}}',
    ),
    (
        "maps with numbers as keys",
        GetFileMetadataResult({-1: b"\xff"}, True),
        "0d0001 0a0b 00000001 ffffffffffffffff 00000001 ff 020002 01 00",
        "1b 01 68 01 01 ff 11 00",
        '{"1":{"map":["i64","str",1,{"-1":"/w"}]},"2":{"tf":1}}',
    ),
    (
        "a map of structs",
        AbortCompactResponse({5: AbortCompactionResponseElement(5)}),
        "0d0001 0a0c 00000001 0000000000000005 0a0001 0000000000000005 00 00",
        "1b 01 6c 0a 16 0a 00 00",
        '{"1":{"map":["i64","rec",1,{"5":{"1":{"i64":5}}}]}}',
    ),
    (
        "a map whose keys are lists, which TJSON writes in the key's place",
        SkewedInfo(skewedColValueLocationMaps={("a", "b"): "x"}),
        "0d0003 0f0b 00000001 0b 00000002 00000001 61 00000001 62 00000001 78 00",
        "3b 01 98 28 01 61 01 62 01 78 00",
        '{"3":{"map":["lst","str",1,{["str",2,"a","b"]:"x"}]}}',
    ),
    (
        "lists of lists, and one of fifteen, which is long in compact",
        SkewedInfo(("a",) * 15, (("x",), ())),
        "0f0001 0b 0000000f " + "00000001 61" * 15 + "0f0002 0f 00000002 0b 00000001 00000001 78 0b 00000000 00",
        "19 f8 0f " + "01 61" * 15 + "19 29 18 01 78 08 00",
        '{"1":{"lst":["str",15,' + ",".join(['"a"'] * 15) + ']},"2":{"lst":["lst",2,["str",1,"x"],["str",0]]}}',
    ),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("value", "in_binary", "in_compact", "in_json"), [pytest.param(*r[1:], id=r[0]) for r in STRUCTS]
)
def test_a_struct_is_these_bytes(value: Any, in_binary: str, in_compact: str, in_json: str, protocol: str) -> None:
    expected = {"binary": bytes.fromhex(in_binary), "compact": bytes.fromhex(in_compact), "json": in_json.encode()}
    assert encode(value, protocol) == expected[protocol]
    assert decode(type(value), expected[protocol], protocol) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nan_is_decoded_as_nan(protocol: str) -> None:
    data = encode(DoubleColumnStatsData(lowValue=math.nan), protocol)
    assert math.isnan(decode(DoubleColumnStatsData, data, protocol).lowValue)


@pytest.mark.parametrize(("number", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_numbers_that_json_has_not_are_quoted_as_apache_quotes_them(number: float, text: str) -> None:
    data = encode(DoubleColumnStatsData(lowValue=number), "json")
    assert data == b'{"1":{"dbl":"%b"}}' % text.encode()


GET_DATABASE = METHODS["get_database"]
MESSAGES: list[tuple[str, int, int, bytes, str, str, str]] = [
    (
        "a call",
        CALL,
        1,
        binary.encode_args(GET_DATABASE, ("d",)),
        "80010001 0000000c 6765745f6461746162617365 00000001 0b0001 00000001 64 00",
        "8221 01 0c 6765745f6461746162617365 18 01 64 00",
        '[1,"get_database",1,1,{"1":{"str":"d"}}]',
    ),
    (
        "a negative number of the call",
        ONEWAY,
        -1,
        b"\x00",
        "80010004 0000000c 6765745f6461746162617365 ffffffff 00",
        "8281 ffffffff0f 0c 6765745f6461746162617365 00",
        '[1,"get_database",4,-1,{}]',
    ),
    (
        "a declared exception",
        REPLY,
        300,
        binary.encode_exception_result(1, NoSuchObjectException("d")),
        "80010002 0000000c 6765745f6461746162617365 0000012c 0c0001 0b0001 00000001 64 00 00",
        "8241 ac02 0c 6765745f6461746162617365 1c 18 01 64 00 00",
        '[1,"get_database",2,300,{"1":{"rec":{"1":{"str":"d"}}}}]',
    ),
    (
        "a TApplicationException",
        EXCEPTION,
        0,
        binary.encode_application_error(ApplicationError(ApplicationError.UNKNOWN_METHOD, "no")),
        "80010003 0000000c 6765745f6461746162617365 00000000 0b0001 00000002 6e6f 080002 00000001 00",
        "8261 00 0c 6765745f6461746162617365 18 02 6e6f 15 02 00",
        '[1,"get_database",3,0,{"1":{"str":"no"},"2":{"i32":1}}]',
    ),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("kind", "seqid", "body", "in_binary", "in_compact", "in_json"), [pytest.param(*r[1:], id=r[0]) for r in MESSAGES]
)
def test_a_message_is_these_bytes(
    kind: int, seqid: int, body: bytes, in_binary: str, in_compact: str, in_json: str, protocol: str
) -> None:
    wire = PROTOCOLS[protocol]
    expected = {"binary": bytes.fromhex(in_binary), "compact": bytes.fromhex(in_compact), "json": in_json.encode()}
    assert wire.write(kind, b"get_database", seqid, body, GET_DATABASE) == expected[protocol]
    before = b"?" * 3
    found = wire.read_reply(GET_DATABASE, before + expected[protocol] + b"next", len(before))
    assert (found.kind, found.name, found.seqid) == (kind, b"get_database", seqid)
    assert (found.body, found.end) == (body, len(before) + len(expected[protocol]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_call_of_an_unknown_method_is_read_to_its_end(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    body = binary.encode_args(METHODS["get_table"], ("d", "t"))
    message = wire.write(CALL, b"get_tables_of_tomorrow", 3, body, METHODS["get_table"])
    found = wire.read_call(message + message, 0)
    assert (found.name, found.seqid, found.method, found.value) == (b"get_tables_of_tomorrow", 3, None, None)
    assert found.end == len(message)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_text_that_is_no_utf_8_passes(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    method = METHODS["get_fields"]
    body = binary.encode_result(method, (FieldSchema("a", "int", b"caf\xe9".decode("utf-8", "surrogateescape")),))
    reply = wire.read_reply(method, wire.write(REPLY, b"get_fields", 1, body, method), 0)
    assert reply.body is not None
    comment = binary.decode_result(method, reply.body)[0].comment
    # The text is not valid in JSON: the wrong byte becomes U+FFFD, as in Java.
    assert comment == {"json": "caf\ufffd"}.get(protocol, "caf\udce9")


def test_base64_is_read_with_and_without_its_padding() -> None:
    for text in (b'{"1":{"str":"AQ=="},"3":{"i16":0}}', b'{"1":{"str":"AQ"},"3":{"i16":0}}'):
        assert decode(Decimal, text, "json") == Decimal(b"\x01", 0)


def test_json_with_spaces_is_read() -> None:
    text = b' [ 1 , "get_database" , 1 , 7 ,\n { "1" : { "str" : "d" } } ]'
    found = PROTOCOLS["json"].read_call(text, 0)
    assert (found.seqid, found.value, found.end) == (7, ("d",), len(text))


def test_lists_of_partitions_share_repeated_values() -> None:
    method = METHODS["get_partitions"]
    columns = tuple(FieldSchema(f"c{n}", "int") for n in range(3))
    other = (*columns, FieldSchema("d", "int"))
    sent = tuple(
        Partition(
            values=(str(n),), dbName="d", sd=StorageDescriptor(cols=other if n == 2 else columns, location=f"/{n}")
        )
        for n in range(5)
    )
    body = binary.encode_result(method, sent)
    for wire in PROTOCOLS.values():
        reply = wire.read_reply(method, wire.write(REPLY, b"get_partitions", 1, body, method), 0)
        assert reply.body == body
    found = binary.decode_result(method, body)
    assert found == sent
    assert found[0].sd.cols is found[1].sd.cols


EDGES = ["", "a" * 127, "a" * 128, "a" * 255, "a" * 256, "é", "\udc80"]
"""Around the lengths that are no ASCII characters, and with a byte that is not UTF-8."""
READABLE = st.text(st.characters(blacklist_categories=["Cs"]), max_size=300)


@given(st.lists(READABLE | st.sampled_from(EDGES)))
def test_a_list_of_texts_has_the_length_and_the_bytes_of_each(texts: list[str]) -> None:
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    assert binary.pack_texts(texts) == b"".join(len(data).to_bytes(4, "big") + data for data in encoded)
