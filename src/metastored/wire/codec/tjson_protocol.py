"""Messages in Apache's TJSONProtocol: `[1,"get_table",1,7,{…}]`.

Bodies travel inside metastored as Thrift binary; here they are decoded and encoded again in both directions. Where a
message ends is found by its brackets, also when it arrives in pieces.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from metastored.wire.codec import binary
from metastored.wire.codec.compiler import Malformed, Reader
from metastored.wire.codec.protocol import BadMessage, BadVersion, Incoming, Incomplete
from metastored.wire.codec.tjson import CODEC, CODEC_2_3_0, MENDING_CODEC, MENDING_CODEC_2_3_0
from metastored.wire.codec.tjson_text import BracketScanner, loads
from metastored.wire.limits import GATHERED, MAX_MESSAGE, MAX_NAME
from metastored.wire.methods import BY_BYTES, Method

VERSION = 1
_HEADER = re.compile(
    rb'\s*\[\s*(-?\d{1,10})\s*,\s*("(?:[^"\\\x00-\x1f]|\\.){0,%d}")\s*,\s*(\d{1,3})\s*,\s*(-?\d{1,10})\s*,' % MAX_NAME
)
MAX_HEADER = MAX_NAME + 128
_NOT_TYPED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""The exceptions that typed reading raises on values of another shape."""


class Header(NamedTuple):
    """The part of a message before its struct."""

    version: int
    name: bytes
    kind: int
    seqid: int
    end: int


def read_header(data: bytes | bytearray, at: int) -> Header | None:
    """The header that starts here, or None if it cannot be read."""
    match = _HEADER.match(data, at)
    if match is None:
        return None
    try:
        name = orjson.loads(match[2])
    except orjson.JSONDecodeError:
        return None
    seqid = int(match[4])
    if not -(2**31) <= seqid < 2**31:
        return None
    return Header(int(match[1]), name.encode(), int(match[3]), seqid, match.end())


class TjsonProtocol:
    """TJSONProtocol."""

    name = "json"
    _codecs = (CODEC, MENDING_CODEC)
    """For writing: the usual compiler, and the compiler for strings that are not valid UTF-8."""

    def read_call(self, data: bytes, at: int) -> Incoming:
        header, end = self._cut(data, at)
        method = BY_BYTES.get(header.name)
        args = self._read(None if method is None else CODEC.args(method)[0], data, header, end)
        return Incoming(header.kind, header.name, header.seqid, method, args, None, end, end - at)

    def read_whole(self, data: bytes) -> Incoming | None:
        """The call that is the complete text, parsed in one go; None where `read_call` must parse it."""
        try:
            version, text, kind, seqid, struct = orjson.loads(data)
        except (ValueError, TypeError):
            return None
        if (type(version), type(text), type(kind), type(seqid), type(struct)) != (int, str, int, int, dict):
            return None
        if version != VERSION or len(text) > MAX_NAME or not 0 <= kind < 1000 or not -(2**31) <= seqid < 2**31:
            return None
        name = text.encode()
        method = BY_BYTES.get(name)
        args = None if method is None else self._typed(CODEC.args(method)[0], struct, name, seqid)
        return Incoming(kind, name, seqid, method, args, None, len(data), len(data))

    def read_reply(self, method: Method, data: bytes, at: int) -> Incoming:
        header, end = self._cut(data, at)
        values = self._read(CODEC.body(header.kind, method)[0], data, header, end)
        body = binary.encode_body(header.kind, method, values)
        return Incoming(header.kind, header.name, header.seqid, method, None, body, end)

    def _cut(self, data: bytes, at: int) -> tuple[Header, int]:
        """The header of a complete message, and the position of its end."""
        end = TjsonWalker(at).end(data)
        if end is None:
            raise Incomplete
        header = read_header(data, at)
        if header is None:
            raise Malformed(f'a message begins with {data[at : at + 40]!r}, not with [1,"name",type,number,')
        if header.version != VERSION:
            raise BadVersion(
                f"version {header.version} of TJSON; only {VERSION} is accepted", header.name, header.seqid
            )
        return header, end

    def _read(self, reader: Reader | None, data: bytes, header: Header, end: int) -> Any:
        try:
            parsed = loads(data[header.end : end - 1])
            if type(parsed) is not dict:
                raise Malformed("a message's struct is not an object")
        except RecursionError:
            raise BadMessage("too many structs inside each other", header.name, header.seqid) from None
        except Malformed as error:
            raise BadMessage(str(error), header.name, header.seqid) from error
        return None if reader is None else self._typed(reader, parsed, header.name, header.seqid)

    def _typed(self, reader: Reader, parsed: Any, name: bytes, seqid: int) -> Any:
        try:
            return reader(parsed)
        except RecursionError:
            raise BadMessage("too many structs inside each other", name, seqid) from None
        except Malformed as error:
            raise BadMessage(str(error), name, seqid) from error
        except _NOT_TYPED as error:
            raise BadMessage(f"not the shape of TJSON: {error}", name, seqid) from error
        finally:
            CODEC.forget()

    def walker(self, at: int, limit: int = MAX_MESSAGE) -> TjsonWalker:
        return TjsonWalker(at, limit)

    def write(self, kind: int, name: bytes, seqid: int, body: bytes, method: Method | None) -> bytes:
        head = b"[%d,%b,%d,%d," % (VERSION, orjson.dumps(name.decode("utf-8", "replace")), kind, seqid)
        values = binary.decode_body(kind, method, body)
        codec, mending = self._codecs
        if len(body) > GATHERED:
            return self._write_long(head, kind, method, values)
        parts = [head]
        try:
            codec.body(kind, method)[1](values, parts.append)
        except orjson.JSONEncodeError:
            parts = [head]
            mending.body(kind, method)[1](values, parts.append)
        parts.append(b"]")
        return b"".join(parts)

    def _write_long(self, head: bytes, kind: int, method: Method | None, values: Any) -> bytes:
        """The same without a list of all parts: orjson gives each of them a kilobyte."""
        codec, mending = self._codecs
        text = bytearray(head)
        try:
            codec.body(kind, method)[1](values, text.extend)
        except orjson.JSONEncodeError:
            text = bytearray(head)
            mending.body(kind, method)[1](values, text.extend)
        text += b"]"
        return bytes(text)


class TjsonWalker:
    """Finds the end of one message in data that grows."""

    def __init__(self, at: int, limit: int = MAX_MESSAGE) -> None:
        self._start = at
        self._limit = limit
        self._scanner = BracketScanner(at)

    def end(self, data: bytes | bytearray) -> int | None:
        try:
            end = self._scanner.end(data)
        except Malformed as error:
            header = read_header(data, self._start)
            if header is None:
                raise
            raise BadMessage(str(error), header.name, header.seqid) from error
        size = (len(data) if end is None else end) - self._start
        if end is None and size > MAX_HEADER and read_header(data, self._start) is None:
            raise Malformed(f"no TJSON header within {MAX_HEADER} bytes")
        if size > self._limit:
            header = read_header(data, self._start)
            if header is None:
                raise Malformed(f"a message of more than {self._limit} bytes")
            raise BadMessage(f"a message of more than {self._limit} bytes", header.name, header.seqid)
        return end


class TjsonProtocol230(TjsonProtocol):
    """TJSONProtocol for peers with Hive 2.3.0's structs: only the fields of these are written."""

    _codecs = (CODEC_2_3_0, MENDING_CODEC_2_3_0)


TJSON = TjsonProtocol()
TJSON_2_3_0 = TjsonProtocol230()
