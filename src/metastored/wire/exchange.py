"""One Thrift message in a body of its own, as HTTP carries it: one complete request, one complete reply.

The protocol of a body is detected by its first byte, never by its content type. This module is independent of HTTP.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import ApplicationError, RemoteProtocolError
from metastored.wire.codec.protocol import BadVersion, Incomplete, WireProtocol
from metastored.wire.codec.tjson_protocol import TJSON
from metastored.wire.connection import Request, protocol_named, request_of
from metastored.wire.message import Reply, Stream
from metastored.wire.methods import METHODS
from metastored.wire.sniff import Kind, sniff

SHORT: Final = 4096
"""Bytes of a text that is parsed in one go: no text of this size is nested too deeply."""


class Exchange(NamedTuple):
    """A request, and the protocol of both the request and its reply."""

    protocol: WireProtocol
    request: Request

    def encode_reply(self, reply: Reply) -> bytes:
        """The complete reply. A stream is read to its end: call this where blocking is allowed."""
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        request = self.request
        method = request.call.method if request.call is not None else None
        return self.protocol.write(reply.kind, request.name, request.seqid, body, method)

    def encode_error(self, error: ApplicationError) -> bytes:
        return self.encode_reply(Reply.raised(METHODS["getName"], error))


def read(body: bytes) -> Exchange:
    """The message of a body; raises RemoteProtocolError if the body is not exactly one complete message."""
    if len(body) <= SHORT and body.startswith(b"["):
        incoming = TJSON.read_whole(body)
        if incoming is not None:
            return Exchange(TJSON, request_of(incoming))
    start = len(body) - len(body.lstrip(b" \t\r\n"))
    sniffed = sniff(body[start : start + 8])
    if sniffed is None or sniffed[0] is not Kind.UNFRAMED:
        what = repr(bytes(body[:40])) if body.strip() else "empty"
        raise RemoteProtocolError(f"the body is not a Thrift message in binary, compact or JSON: it is {what}")
    protocol = protocol_named(sniffed[1])
    try:
        incoming = protocol.read_call(body, start)
    except BadVersion as error:
        # The message is complete, so the reply is Thrift too.
        failure = ApplicationError(ApplicationError.PROTOCOL_ERROR, str(error))
        return Exchange(protocol, Request(error.name, error.seqid, False, None, failure))
    except Incomplete:
        raise RemoteProtocolError(f"the body ends in the middle of a message, after {len(body)} bytes") from None
    if body[incoming.end :].strip():
        raise RemoteProtocolError(f"the body continues behind its message, after {incoming.end} bytes")
    return Exchange(protocol, request_of(incoming))
