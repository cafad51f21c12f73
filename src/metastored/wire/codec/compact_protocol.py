"""Messages in Thrift's compact protocol, and a walker for messages that arrive in pieces.

Bodies travel inside metastored as Thrift binary; here they are decoded and encoded again in both directions.
"""

from __future__ import annotations

from typing import Any

from metastored.wire.codec import binary
from metastored.wire.codec.compact import (
    BINARY,
    CODEC,
    FALSE,
    FIXED,
    INCOMPLETE,
    LIST,
    MAP,
    MAX_SIZE,
    REQUESTS,
    SET,
    STOP,
    STRUCT,
    TRUE,
    VARINTS,
    pack_size,
    read_size,
    skip,
    skip_varint,
    varint,
)
from metastored.wire.codec.compiler import Malformed, Reader
from metastored.wire.codec.protocol import BadMessage, Incoming, Incomplete
from metastored.wire.codec.walker import OPEN_STRUCT, StackWalker
from metastored.wire.limits import GATHERED, MAX_DEPTH, MAX_MESSAGE, MAX_NAME
from metastored.wire.methods import BY_BYTES, Method

PROTOCOL_ID = 0x82
VERSION = 1


def read_header(data: bytes | bytearray, at: int) -> tuple[int, bytes, int, int]:
    """(kind, name, seqid, position of the struct)."""
    try:
        if data[at] != PROTOCOL_ID:
            raise Malformed(f"a message begins with {data[at]:02x}, not with {PROTOCOL_ID:02x} as compact ones do")
        version, kind = data[at + 1] & 0x1F, data[at + 1] >> 5
        if version != VERSION:
            raise Malformed(f"version {version} of the compact protocol; only {VERSION} is accepted")
        first = data[at + 2]
        seqid, start = (first, at + 3) if first < 128 else varint(data, at + 3, first, 2**32 - 1)
        length, start = read_size(data, start)
    except INCOMPLETE:
        raise Incomplete from None
    if length > MAX_NAME:
        raise Malformed(f"a method name of {length} bytes; at most {MAX_NAME} are accepted")
    end = start + length
    if end > len(data):
        raise Incomplete
    # The number is signed and written as if it were not.
    return kind, bytes(data[start:end]), seqid - 2**32 if seqid > MAX_SIZE else seqid, end


class CompactProtocol:
    """TCompactProtocol."""

    name = "compact"

    def read_call(self, data: bytes, at: int) -> Incoming:
        kind, name, seqid, start = read_header(data, at)
        method = BY_BYTES.get(name)
        reader = _skip_struct if method is None else REQUESTS.args(method)[0]
        args, end = self._read(reader, data, start, name, seqid)
        return Incoming(kind, name, seqid, method, args, None, end, end - at)

    def read_reply(self, method: Method, data: bytes, at: int) -> Incoming:
        kind, name, seqid, start = read_header(data, at)
        values, end = self._read(CODEC.body(kind, method)[0], data, start, name, seqid)
        return Incoming(kind, name, seqid, method, None, binary.encode_body(kind, method, values), end)

    def _read(self, reader: Reader, data: bytes, start: int, name: bytes, seqid: int) -> tuple[Any, int]:
        try:
            value, end = reader(data, start)
        except INCOMPLETE:
            raise Incomplete from None
        except RecursionError:
            raise BadMessage("too many structs inside each other", name, seqid) from None
        except Malformed as error:
            raise BadMessage(str(error), name, seqid) from error
        if end > len(data):
            raise Incomplete
        return value, end

    def walker(self, at: int, limit: int = MAX_MESSAGE) -> CompactWalker:
        return CompactWalker(at, limit)

    def write(self, kind: int, name: bytes, seqid: int, body: bytes, method: Method | None) -> bytes:
        head = bytes((PROTOCOL_ID, VERSION | kind << 5)) + pack_size(seqid & 0xFFFFFFFF) + pack_size(len(name))
        if len(body) > GATHERED:
            message = bytearray(head + name)
            CODEC.body(kind, method)[1](binary.decode_body(kind, method, body), message.extend)
            return bytes(message)
        parts = [head, name]
        CODEC.body(kind, method)[1](binary.decode_body(kind, method, body), parts.append)
        return b"".join(parts)


def _skip_struct(data: bytes, at: int) -> tuple[None, int]:
    return None, skip(data, at, STRUCT)


class CompactWalker(StackWalker):
    """Walks over a message in compact. Field ids do not matter here, so differences need no adding up."""

    def _read_header(self, data: bytes | bytearray, at: int) -> tuple[int, bytes, int, int]:
        return read_header(data, at)

    def _walk(self, data: bytes | bytearray) -> int | None:
        stack, at, size = self._stack, self._at, len(data)
        limit = self._start + self._limit
        while stack:
            top = stack[-1]
            # `self._at` only moves past complete values: reading continues there when more data arrives.
            self._at = at
            if top[0] == OPEN_STRUCT:
                kind = data[at]
                at += 1
                if kind == STOP:
                    stack.pop()
                    continue
                if kind < 16:
                    at = skip_varint(data, at)
                kind &= 15
                if kind in (TRUE, FALSE):
                    continue
            else:
                if top[1] == 0:
                    stack.pop()
                    continue
                kind = top[3 + top[2]]
            fixed = FIXED.get(kind)
            if fixed is not None:
                at += fixed
            elif kind in VARINTS:
                at = skip_varint(data, at)
            elif kind == BINARY:
                length, at = read_size(data, at)
                at += length
            elif len(stack) > MAX_DEPTH:
                raise self._bad(f"more than {MAX_DEPTH} values inside each other")
            elif kind == STRUCT:
                self._done(top)
                stack.append([OPEN_STRUCT])
                continue
            elif kind in (LIST, SET):
                head = data[at]
                count, at = (head >> 4, at + 1) if head < 0xF0 else read_size(data, at + 1)
                self._open(top, count, at, head & 15)
                continue
            elif kind == MAP:
                count, at = read_size(data, at)
                kinds = data[at] if count else 0
                at += 1 if count else 0
                self._open(top, count, at, kinds >> 4, kinds & 15)
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


COMPACT = CompactProtocol()
