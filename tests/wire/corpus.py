"""Messages for the tests of reading: valid messages, and a corpus of broken ones for each protocol.

A broken message has a name, its bytes, and what reading it as a call must raise: Incomplete, BadMessage (the header
could be read, so the peer gets a reply) or Malformed (it could not). None means that it is read after all.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from metastored.wire.codec import binary
from metastored.wire.codec.compiler import Malformed
from metastored.wire.codec.protocol import BadMessage, BadVersion, Incomplete
from metastored.wire.generated.common import (
    EnvironmentContext,
    FieldSchema,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.locks import LockComponent, LockRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.methods import METHODS, Method
from metastored.wire.types import CALL, REPLY
from tests.support.codecs import PROTOCOLS

DESCRIPTOR = StorageDescriptor(
    cols=(FieldSchema("a", "int", None), FieldSchema('b"', "decimal(10,2)", "größe \\ \n")),
    location="s3a://b/t",
    compressed=False,
    numBuckets=-1,
    serdeInfo=SerDeInfo(None, "lib", {"serialization.format": "1"}),
    skewedInfo=SkewedInfo(("a",), (("1",), ()), {("1", "2"): "s3a://b/t/1"}),
    storedAsSubDirectories=True,
)
TABLE = Table("t", "d", "o", 1700000000, sd=DESCRIPTOR, partitionKeys=(), parameters={"k": "v", "ü": "]}"})
PARTITIONS = tuple(Partition((str(n),), "d", "t", sd=DESCRIPTOR, parameters={}) for n in range(3))
LOCK = LockRequest((LockComponent(3, 2, "d", "t", isTransactional=True),), 1 << 40, "u", "h")

CALLS = {
    "getMetaConf": ("hive.metastore.try.direct.sql",),
    "get_table": ("d", "t"),
    "create_table_with_environment_context": (TABLE, EnvironmentContext({"a": "b"})),
    "lock": (LOCK,),
    "get_all_databases": (),
}


def sound_calls(protocol: str) -> dict[str, bytes]:
    """Calls by the name of their method."""
    wire = PROTOCOLS[protocol]
    return {
        name: wire.write(CALL, name.encode(), 77, binary.encode_args(METHODS[name], args), METHODS[name])
        for name, args in CALLS.items()
    }


def sound_reply(protocol: str) -> tuple[Method, bytes]:
    method = METHODS["get_partitions"]
    body = binary.encode_result(method, PARTITIONS)
    return method, PROTOCOLS[protocol].write(REPLY, method.name_bytes, 77, body, method)


class Broken(NamedTuple):
    """A message of the corpus."""

    name: str
    data: bytes
    raises: type[Exception] | None


def _binary(name: bytes, body: bytes) -> bytes:
    return struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">i", 7) + body


def _compact(name: bytes, body: bytes) -> bytes:
    return b"\x82\x21\x07" + bytes((len(name),)) + name + body


def _json(name: str, body: str) -> bytes:
    return f'[1,"{name}",1,7,{body}]'.encode()


def _broken_binary() -> Iterator[Broken]:
    call = b"get_table"
    yield Broken("nothing", b"", Incomplete)
    yield Broken("another protocol", b"GET / HTTP/1.1\r\n", Malformed)
    yield Broken("an old-style header", b"\0\0\0\x09get_table\x01\0\0\0\x01\0", Malformed)
    yield Broken("another version", b"\x80\x02\0\x01\0\0\0\x01x\0\0\0\x01\0", Malformed)
    yield Broken("a negative name length", b"\x80\x01\0\x01\xff\xff\xff\xffx", Malformed)
    yield Broken("a huge name length", b"\x80\x01\0\x01\x7f\xff\xff\xffx", Malformed)
    yield Broken("a negative string length", _binary(call, b"\x0b\0\x01\xff\xff\xff\xffabc\0"), Incomplete)
    yield Broken("a huge string length", _binary(call, b"\x0b\0\x01\x7f\xff\xff\xffabc\0"), Incomplete)
    yield Broken("an unknown type", _binary(call, b"\x05\0\x01\0\0"), BadMessage)
    yield Broken("an unknown type in an unknown method", _binary(b"nope", b"\x63\0\x01\0\0"), BadMessage)
    yield Broken("another type under the id", _binary(call, b"\x08\0\x01\0\0\0\x01\0"), None)
    yield Broken("a field twice", _binary(call, b"\x0b\0\x01\0\0\0\x01a\x0b\0\x01\0\0\0\x01b\0"), None)
    yield Broken("bad UTF-8", _binary(call, b"\x0b\0\x01\0\0\0\x02\xff\xfe\0"), None)
    for size in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x10\0\0\0"):
        head = b"\x0c\0\x01"
        yield Broken(f"a list of {size.hex()} structs", _binary(b"lock", head + b"\x0f\0\x01\x0c" + size), Incomplete)
        numbers = _binary(b"abort_txns", head + b"\x0f\0\x01\x0a" + size + b"\0" * 80)
        yield Broken(f"a list of {size.hex()} numbers", numbers, Incomplete)
        unknown = _binary(call, b"\x0f\0\x63\x02" + size + b"\0" * 80)
        yield Broken(f"an unknown list of {size.hex()} bools", unknown, Incomplete)
        a_map = _binary(b"create_table", head + b"\x0d\0\x09\x0b\x0b" + size)
        yield Broken(f"a map of {size.hex()}", a_map, Incomplete)
    wrong = _binary(b"create_table", b"\x0c\0\x01\x0f\0\x08\x0b\0\0\0\x01\0\0\0\x01x\0\0")
    yield Broken("a list of strings for one of structs", wrong, BadMessage)
    yield Broken("unknown structs in each other", _binary(call, b"\x0c\0\x63" * 50_000), BadMessage)
    yield Broken("unknown lists in each other", _binary(call, b"\x0f\0\x63" + b"\x0f\0\0\0\x01" * 50_000), BadMessage)
    yield Broken(
        "unknown maps in each other", _binary(call, b"\x0d\0\x63" + b"\x03\x0d\0\0\0\x01\0" * 9_000), BadMessage
    )
    # Table.16 CreationMetadata, its 7 list<SourceTable>, and their 1 Table.
    bomb = b"\x0c\0\x10" + b"\x0f\0\x07\x0c\0\0\0\x01" + b"\x0c\0\x01"
    yield Broken("tables in each other", _binary(b"create_table", b"\x0c\0\x01" + bomb * 5_000), BadMessage)


def _broken_compact() -> Iterator[Broken]:
    call = b"get_table"
    yield Broken("nothing", b"", Incomplete)
    yield Broken("another protocol", b"GET / HTTP/1.1\r\n", Malformed)
    yield Broken("another version", b"\x82\x22\x01\x01x\0", Malformed)
    yield Broken("a negative name length", b"\x82\x21\x01\xff\xff\xff\xff\x0fx", Malformed)
    yield Broken("a huge name length", b"\x82\x21\x01\xff\xff\xff\xff\x07x", Malformed)
    yield Broken("a call number of six bytes", b"\x82\x21\xff\xff\xff\xff\xff\x01\x01x\0", Malformed)
    yield Broken("a negative string length", _compact(call, b"\x18\xff\xff\xff\xff\x0fabc\0"), BadMessage)
    yield Broken("a huge string length", _compact(call, b"\x18\xff\xff\xff\xff\x07abc\0"), Incomplete)
    yield Broken("a length of eleven bytes", _compact(call, b"\x18" + b"\x80" * 10 + b"\x01"), BadMessage)
    yield Broken(
        "a number of eleven bytes", _compact(b"get_index_names", b"\x34" + b"\x80" * 10 + b"\x01\0"), BadMessage
    )
    yield Broken("an unknown number of eleven bytes", _compact(call, b"\x06\xc6\x01" + b"\xff" * 11), BadMessage)
    yield Broken("a number too large for i16", _compact(b"get_index_names", b"\x34\x80\x80\x04\0"), BadMessage)
    yield Broken("an unknown type", _compact(call, b"\x1d\0\0"), BadMessage)
    yield Broken("the type of a STOP with an id", _compact(call, b"\x10\0"), BadMessage)
    yield Broken("an unknown type in an unknown method", _compact(b"nope", b"\x1f\0\0"), BadMessage)
    yield Broken("another type under the id", _compact(call, b"\x15\x02\0"), None)
    yield Broken("a field twice", _compact(call, b"\x18\x01a\x08\x02\x01b\0"), None)
    yield Broken("bad UTF-8", _compact(call, b"\x18\x02\xff\xfe\0"), None)
    for size, raises in ((b"\xff\xff\xff\xff\x0f", BadMessage), (b"\xff\xff\xff\xff\x07", Incomplete)):
        yield Broken(f"a list of {size.hex()} structs", _compact(b"lock", b"\x1c\x19\xfc" + size), raises)
        numbers = _compact(b"abort_txns", b"\x1c\x19\xf6" + size + b"\0" * 80)
        yield Broken(f"a list of {size.hex()} numbers", numbers, raises)
        unknown = _compact(call, b"\x09\xc6\x01\xf1" + size + b"\0" * 80)
        yield Broken(f"an unknown list of {size.hex()} bools", unknown, raises)
        yield Broken(f"a map of {size.hex()}", _compact(b"create_table", b"\x1c\x9b" + size + b"\x88"), raises)
    wrong = _compact(b"create_table", b"\x1c\x89\x18\x01x\0\0")
    yield Broken("a list of strings for one of structs", wrong, BadMessage)
    yield Broken("unknown structs in each other", _compact(call, b"\x0c\xc6\x01" * 50_000), BadMessage)
    yield Broken("unknown lists in each other", _compact(call, b"\x09\xc6\x01" + b"\x19" * 50_000), BadMessage)
    yield Broken("unknown maps in each other", _compact(call, b"\x0b\xc6\x01" + b"\x01\x3b\0" * 50_000), BadMessage)
    bomb = b"\x0c\x20" + b"\x79\x1c" + b"\x1c"
    yield Broken("tables in each other", _compact(b"create_table", b"\x1c" + bomb * 5_000), BadMessage)


def _broken_json() -> Iterator[Broken]:
    call = "get_table"
    yield Broken("nothing", b"", Incomplete)
    yield Broken("another protocol", b"GET / HTTP/1.1\r\n", Malformed)
    yield Broken("an object", b'{"1":{"str":"d"}}', Malformed)
    yield Broken("an empty list", b"[]", Malformed)
    yield Broken("a header without a number", b'[1,"get_table",1,{}]', Malformed)
    yield Broken("a call number of 33 bits", b'[1,"get_table",1,4294967296,{}]', Malformed)
    yield Broken("a name that never ends", b'[1,"' + b"x" * 5_000, Malformed)
    yield Broken("a long name", b'[1,"' + b"x" * 5_000 + b'",1,1,{}]', Malformed)
    yield Broken("another version", b'[2,"get_table",1,7,{}]', BadVersion)
    yield Broken("no struct", b'[1,"get_table",1,7,]', BadMessage)
    yield Broken("a list for the struct", _json(call, "[]"), BadMessage)
    yield Broken("two structs", _json(call, "{},{}"), BadMessage)
    yield Broken("brackets that do not match", _json(call, '{"1":{"str":"d"]}'), BadMessage)
    yield Broken("bad UTF-8", b'[1,"get_table",1,7,{"1":{"str":"\xff\xfe"}}]', BadMessage)
    yield Broken("half a surrogate pair", _json(call, '{"1":{"str":"\\ud800"}}'), BadMessage)
    yield Broken("an unknown escape", _json(call, '{"1":{"str":"\\x"}}'), BadMessage)
    yield Broken("a number for a string", _json(call, '{"1":{"str":1}}'), BadMessage)
    yield Broken("null for a string", _json(call, '{"1":{"str":null}}'), BadMessage)
    yield Broken("a value without its type", _json(call, '{"1":"d"}'), BadMessage)
    yield Broken("a string that holds the name of its type", _json(call, '{"1":"str"}'), BadMessage)
    yield Broken("a number for a field", _json(call, '{"1":1}'), BadMessage)
    yield Broken("another type under the id", _json(call, '{"1":{"i32":1}}'), None)
    yield Broken("an unknown type", _json(call, '{"1":{"uid":"x"}}'), None)
    yield Broken("a field twice", _json(call, '{"1":{"str":"a"},"1":{"str":"b"}}'), None)
    number = '{"3":{"i16":N}}'
    for name, text in (("too large", "32768"), ("a fraction", "1.5"), ("true", "true"), ("in quotes", '"1"')):
        yield Broken(f"a number that is {name}", _json("get_index_names", number.replace("N", text)), BadMessage)
    digits = number.replace("N", "9" * 10_000)
    yield Broken("a number of 10,000 digits", _json("get_index_names", digits), BadMessage)
    columns = '{"1":{"rec":{"8":{"lst":%s}}}}'
    for name, text in (
        ("that is empty", "[]"),
        ("that is a string", '"rec"'),
        ("that is an object", '{"0":"rec"}'),
        ("with a negative count", '["rec",-1]'),
        ("with a huge count", '["rec",2147483647]'),
        ("with too small a count", '["rec",1,{},{}]'),
        ("of strings", '["str",1,"a"]'),
        ("with numbers in it", '["rec",1,1]'),
    ):
        yield Broken(f"a list {name}", _json("create_table", columns % text), BadMessage)
    parameters = '{"1":{"rec":{"9":{"map":%s}}}}'
    for name, text in (
        ("without entries", '["str","str",1]'),
        ("with a huge count", '["str","str",2147483647,{}]'),
        ("of other types", '["str","i32",1,{"a":1}]'),
        ("of a list", '["str","str",0,[]]'),
        ("of numbers for strings", '["str","str",1,{"a":1}]'),
        ("with a list as a key", '["str","str",1,{["str",0]:"x"}]'),
        ("with an object as a key", '["str","str",1,{{}:"x"}]'),
    ):
        yield Broken(f"a map {name}", _json("create_table", parameters % text), BadMessage)
    yield Broken(
        "base64 of a wrong length", _json("get_partitions_by_expr", '{"1":{"rec":{"3":{"str":"A"}}}}'), BadMessage
    )
    yield Broken(
        "base64 of wrong letters", _json("get_partitions_by_expr", '{"1":{"rec":{"3":{"str":"A*=="}}}}'), BadMessage
    )
    yield Broken("lists in each other", _json(call, '{"9":{"lst":' + "[" * 50_000 + "]" * 50_000 + "}}"), BadMessage)
    yield Broken("objects in each other", _json(call, '{"9":' * 50_000 + "{}" + "}" * 50_000), BadMessage)
    yield Broken("objects that only open", b'[1,"get_table",1,7,' + b'{"9":' * 50_000, BadMessage)


CORPUS = {
    "binary": list(_broken_binary()),
    "compact": list(_broken_compact()),
    "json": list(_broken_json()),
}
