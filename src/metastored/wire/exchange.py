"""One Thrift message in a body of its own, as HTTP carries it: read whole, answered whole.

What a body is in is told by its first byte, never by a label. This module knows nothing of HTTP.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import ApplicationError, RemoteProtocolError
from metastored.wire.connection import Request, protocol_named, request_of
from metastored.wire.message import Reply, Stream
from metastored.wire.methods import METHODS
from metastored.wire.protocol import BadVersion, Incomplete, WireProtocol
from metastored.wire.sniff import Kind, sniff
from metastored.wire.tjson_protocol import TJSON

SHORT: Final = 4096
"""Bytes of a text that is parsed in one go; whatever is in it, it cannot be deep."""


class Exchange(NamedTuple):
    """A request, and the protocol that it came in and is answered in."""

    protocol: WireProtocol
    request: Request

    def answer(self, reply: Reply) -> bytes:
        """The whole answer. A stream is read to its end: call this where waiting is allowed."""
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        request = self.request
        method = request.call.method if request.call is not None else None
        return self.protocol.write(reply.kind, request.name, request.seqid, body, method)

    def answer_error(self, error: ApplicationError) -> bytes:
        return self.answer(Reply.raised(METHODS["getName"], error))


def read(body: bytes) -> Exchange:
    """The one message of a body; RemoteProtocolError when it is not one whole message and nothing else."""
    if len(body) <= SHORT and body.startswith(b"["):
        whole = TJSON.read_whole(body)
        if whole is not None:
            return Exchange(TJSON, request_of(whole))
    start = len(body) - len(body.lstrip(b" \t\r\n"))
    found = sniff(body[start : start + 8])
    if found is None or found[0] is not Kind.UNFRAMED:
        what = repr(bytes(body[:40])) if body.strip() else "empty"
        raise RemoteProtocolError(f"the body is no Thrift message in binary, compact or JSON: it is {what}")
    protocol = protocol_named(found[1])
    try:
        incoming = protocol.read_call(body, start)
    except BadVersion as error:
        # The message is whole, so it is answered like one: in Thrift.
        failure = ApplicationError(ApplicationError.PROTOCOL_ERROR, str(error))
        return Exchange(protocol, Request(error.name, error.seqid, False, None, failure))
    except Incomplete:
        raise RemoteProtocolError(f"the body ends in the middle of a message, after {len(body)} bytes") from None
    if body[incoming.end :].strip():
        raise RemoteProtocolError(f"the body goes on behind its message, after {incoming.end} bytes")
    return Exchange(protocol, request_of(incoming))
