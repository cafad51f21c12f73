"""Messages in Thrift's strict binary protocol, and a walker for messages that arrive in pieces.

Old-style headers, which begin with the length of the name, are refused, as Apache's servers do.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from metastored.collection import collection_paused
from metastored.wire.codec.binary import (
    FIXED,
    INCOMPLETE,
    SKIPPED,
    SkipMemo,
    request_codec,
    result_codec,
    skip,
    skip_struct,
    unpack_i,
    unpack_u,
)
from metastored.wire.codec.compiler import Malformed
from metastored.wire.codec.protocol import BadMessage, Incoming, Incomplete
from metastored.wire.codec.walker import OPEN_STRUCT, StackWalker
from metastored.wire.limits import MAX_DEPTH, MAX_MESSAGE, MAX_NAME
from metastored.wire.methods import BY_BYTES, Method
from metastored.wire.types import LIST, MAP, REPLY, SET, STOP, STRING, STRUCT

VERSION_1 = 0x80010000
LONG_REPLY = 1 << 20
"""From this many bytes on, the garbage collector pauses while a reply is decoded: its values have no cycles."""
SHORT: Final = 16 * 1024
"""Bytes of an element up to which it is worth waiting for the rest of it."""
_head = Struct(">II").unpack_from
_pack_head = Struct(">II").pack
_pack_seqid = Struct(">i").pack


def read_header(data: bytes | bytearray, at: int) -> tuple[int, bytes, int, int]:
    """(kind, name, seqid, position of the struct)."""
    try:
        version, length = _head(data, at)
    except INCOMPLETE:
        if at < len(data) and data[at] != 0x80:
            raise Malformed(f"a message begins with {data[at]:02x}, not with the strict binary version") from None
        raise Incomplete from None
    if version & 0xFFFF0000 != VERSION_1:
        raise Malformed(f"a message begins with {version:08x}; only strict binary (8001….) is accepted")
    if length > MAX_NAME:
        raise Malformed(f"a method name of {length} bytes; at most {MAX_NAME} are accepted")
    end = at + 12 + length
    if end > len(data):
        raise Incomplete
    return version & 0xFF, bytes(data[at + 8 : end - 4]), unpack_i(data, end - 4)[0], end


class BinaryProtocol:
    """Strict TBinaryProtocol."""

    name = "binary"

    def read_call(self, data: bytes, at: int) -> Incoming:
        kind, name, seqid, start = read_header(data, at)
        method = BY_BYTES.get(name)
        try:
            if method is None:
                end = skip(data, start, STRUCT)
                return Incoming(kind, name, seqid, None, None, None, end)
            args, end = request_codec(method)[0](data, start)
        except INCOMPLETE:
            raise Incomplete from None
        except RecursionError:
            raise BadMessage("too many structs inside each other", name, seqid) from None
        except Malformed as error:
            raise BadMessage(str(error), name, seqid) from error
        if end > len(data):
            raise Incomplete
        return Incoming(kind, name, seqid, method, args, data[start:end], end)

    def read_reply(self, method: Method, data: bytes, at: int) -> Incoming:
        kind, name, seqid, start = read_header(data, at)
        try:
            end = skip(data, start, STRUCT, 0, SkipMemo(SKIPPED))
        except INCOMPLETE:
            raise Incomplete from None
        return Incoming(kind, name, seqid, method, None, data[start:end], end)

    def read_result(self, method: Method, data: bytes, at: int) -> Incoming:
        """A reply with its decoded fields: decoding finds the end of the message, so no walk is needed."""
        kind, name, seqid, start = read_header(data, at)
        if kind != REPLY or name != method.name_bytes:
            return self.read_reply(method, data, at)
        try:
            if len(data) - at < LONG_REPLY:
                values, end = result_codec(method)[0](data, start)
            else:
                with collection_paused():
                    values, end = result_codec(method)[0](data, start)
        except INCOMPLETE:
            raise Incomplete from None
        except RecursionError:
            raise Malformed(f"the result of {method.name} holds too many structs inside each other") from None
        if end > len(data):
            raise Incomplete
        return Incoming(kind, name, seqid, method, values, data[start:end], end)

    def walker(self, at: int, limit: int = MAX_MESSAGE) -> BinaryWalker:
        return BinaryWalker(at, limit)

    def write(self, kind: int, name: bytes, seqid: int, body: bytes, method: Method | None) -> bytes:
        return b"".join((_pack_head(VERSION_1 | kind, len(name)), name, _pack_seqid(seqid), body))


class BinaryWalker(StackWalker):
    """Walks over a message in binary."""

    def __init__(self, at: int, limit: int = MAX_MESSAGE) -> None:
        super().__init__(at, limit)
        self._memo = SkipMemo()
        self._again = 0
        """The size of the data from which on an element that was tried is tried again; 0 if it is not."""

    def _read_header(self, data: bytes | bytearray, at: int) -> tuple[int, bytes, int, int]:
        return read_header(data, at)

    def _skip_elements(self, data: bytes | bytearray, at: int, top: list[int], limit: int) -> int:
        """The position behind the structs of a container that are here whole; of a map, behind one key or value.

        A long one is not read again and again: one that is tried without success is opened, and walked as its bytes
        come. If it is short, and others before it were not, it is tried again when twice as many bytes of it are here.
        """
        depth, memo, start = len(self._stack), self._memo, at
        only_structs = len(top) == 4
        try:
            while top[1]:
                self._tried = at
                at = skip_struct(data, at, depth, memo)
                if at > limit:
                    raise self._bad(f"a message of more than {self._limit} bytes")
                self._done(top)
                if not only_structs:
                    break
        except Malformed:
            pass
        except INCOMPLETE:
            here = len(data) - at
            if at > start and here < SHORT:
                self._again = at + 2 * here
        return at

    def _walk(self, data: bytes | bytearray) -> int | None:
        stack, at, size = self._stack, self._at, len(data)
        limit = self._start + self._limit
        while stack:
            top = stack[-1]
            # `self._at` only moves past complete values: reading continues there when more data arrives.
            self._at = at
            if top[0] == OPEN_STRUCT:
                kind = data[at]
                if kind == STOP:
                    at += 1
                    stack.pop()
                    continue
                at += 3
                if at > size:
                    return None
            else:
                if top[1] == 0:
                    stack.pop()
                    continue
                turn = top[2]
                kind = top[3 + turn]
            fixed = FIXED.get(kind)
            if fixed is not None:
                if top[0] != OPEN_STRUCT and len(top) == 4:
                    # A list of numbers is passed over as a whole.
                    complete = min(top[1], (size - at) // fixed)
                    at += complete * fixed
                    top[1] -= complete
                    if top[1]:
                        self._at = at
                        return None
                    continue
                at += fixed
            elif kind == STRING:
                length = unpack_u(data, at)[0]
                at += 4 + length
            elif len(stack) > MAX_DEPTH:
                raise self._bad(f"more than {MAX_DEPTH} values inside each other")
            elif kind == STRUCT:
                if top[0] != OPEN_STRUCT and (at > self._tried or 0 < self._again <= size):
                    self._again = 0
                    start, at = at, self._skip_elements(data, at, top, limit)
                    if self._again:
                        self._at = at
                        return None
                    if at > start:
                        continue
                self._again = 0
                self._done(top)
                stack.append([OPEN_STRUCT])
                continue
            elif kind in (LIST, SET):
                inner, count = data[at], unpack_u(data, at + 1)[0]
                at += 5
                self._open(top, count, at, inner)
                continue
            elif kind == MAP:
                key, value, count = data[at], data[at + 1], unpack_u(data, at + 2)[0]
                at += 6
                self._open(top, count, at, key, value)
                continue
            else:
                raise self._bad(f"unknown type {kind} at byte {at}")
            if at > limit:
                raise self._bad(f"a message of more than {self._limit} bytes")
            if at > size:
                return None
            self._done(top)
        self._at = at
        return at


BINARY = BinaryProtocol()
