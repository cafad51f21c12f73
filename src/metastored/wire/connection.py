"""A Thrift connection without its socket: `receive_data`, `next_event`, `send`.

`ServerConnection` detects the protocol of its peer and turns bytes into requests and replies into bytes;
`ClientConnection` is the other end. Neither waits, reads a clock or opens anything: the owner of the socket
passes in the bytes that arrived and sends the bytes that are returned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import Final, NamedTuple

from metastored.errors import ApplicationError, LocalProtocolError, RemoteProtocolError
from metastored.wire.codec.arriving import ArrivingList
from metastored.wire.codec.arriving_calls import ArrivingCall
from metastored.wire.codec.binary_protocol import BINARY, read_header
from metastored.wire.codec.protocol import BadMessage, Incoming, Incomplete, Walker, WireProtocol
from metastored.wire.edit.passing import PassingResult
from metastored.wire.limits import MAX_MESSAGE, MAX_REPLY
from metastored.wire.message import CALL, EXCEPTION, ONEWAY, REPLY, Call, Reply, Stream
from metastored.wire.methods import METHODS, Method
from metastored.wire.replies.arriving import ArrivingResult
from metastored.wire.sniff import Kind, sniff

_length = Struct(">I").unpack_from
_pack_length = Struct(">I").pack
_FIELD_0: Final = b"\0\0"
"""The id of the field with the result; the others are declared exceptions."""

DIRECT_LIMIT: Final = 128 * 1024
"""Up to this size an incomplete message is parsed again when more data arrives; longer ones need a walker."""
ARRIVING_LIMIT: Final = 16 * 1024
"""The same for a reply that is decoded while it arrives: what was decoded of it is not decoded again."""
SECURE_FRAME: Final = 4 * 1024 * 1024
"""SASL peers get long messages in frames of this size at most; their transport is a stream."""
MAX_FRAME: Final = 2**31 - 1
"""A frame's length is a signed 32 bit number."""
RELAYED: Final = 1024 * 1024
"""Bytes of a reply from which on it is relayed in pieces, where the caller has asked for that."""
MAX_SASL: Final = 256 * 1024
"""A message of the SASL negotiation, from an unauthenticated peer. Tickets with many groups have 64 KB."""


class NeedData:
    """More bytes are needed for the next event."""

    def __repr__(self) -> str:
        return "NEED_DATA"


NEED_DATA: Final = NeedData()


class Request(NamedTuple):
    """A call. If `error` is set, the call cannot be served and the error is the reply."""

    name: bytes
    seqid: int
    oneway: bool
    call: Call | None
    error: ApplicationError | None
    closes: bool = False
    """The stream cannot be parsed further: reply and close the connection."""


class SaslMessage(NamedTuple):
    """A message of the SASL negotiation: START (1), OK (2), BAD (3), ERROR (4), COMPLETE (5)."""

    status: int
    payload: bytes


class Refused(NamedTuple):
    """The peer cannot be served: send `reply` (it may be empty), log `reason`, close the connection."""

    reason: str
    reply: bytes = b""


class Piece(NamedTuple):
    """A part of a long reply that is relayed: complete values of its result, in Thrift binary."""

    data: bytes
    last: bool


Event = Request | SaslMessage | Refused | NeedData


def protocol_named(name: str) -> WireProtocol:
    """The protocol by its name. Compact and TJSON are imported at their first use."""
    if name == "binary":
        return BINARY
    if name == "compact":
        from metastored.wire.codec.compact_protocol import COMPACT

        return COMPACT
    if name == "json":
        from metastored.wire.codec.tjson_protocol import TJSON

        return TJSON
    raise LocalProtocolError(f"unknown protocol {name!r}; known are binary, compact and json")


def request_of(incoming: Incoming) -> Request:
    """The request in a complete message: a call, or the error to reply with if it is not a call."""
    oneway = incoming.kind == ONEWAY
    if incoming.kind not in (CALL, ONEWAY):
        error = ApplicationError(
            ApplicationError.INVALID_MESSAGE_TYPE, f"Invalid message type {incoming.kind}: a call was expected"
        )
        return Request(incoming.name, incoming.seqid, False, None, error)
    if incoming.method is None:
        name = incoming.name.decode("utf-8", "replace")
        error = ApplicationError(ApplicationError.UNKNOWN_METHOD, f"Invalid method name: '{name}'")
        return Request(incoming.name, incoming.seqid, oneway, None, error)
    call = Call(incoming.method, incoming.value, incoming.seqid, incoming.body, incoming.size)
    return Request(incoming.name, incoming.seqid, oneway, call, None)


class _Buffer:
    """Bytes that were received and not yet parsed. A message that arrives in one piece is never copied."""

    __slots__ = ("at", "data")

    def __init__(self) -> None:
        self.data: bytes | bytearray = b""
        self.at = 0

    def add(self, data: bytes) -> None:
        if self.at >= len(self.data):
            self.data, self.at = data, 0
        elif isinstance(self.data, bytearray):
            self.data += data
        else:
            self.data = bytearray(self.data[self.at :]) + data
            self.at = 0

    def __len__(self) -> int:
        return len(self.data) - self.at

    def take(self, count: int) -> bytes:
        start = self.at
        self.at += count
        if isinstance(self.data, bytes):
            return self.data[start : self.at]
        # A slice of a bytearray would be copied twice.
        with memoryview(self.data) as view:
            return bytes(view[start : self.at])


class _Messages:
    """Splits a stream of unframed messages: `next` reads one with the function `read`."""

    __slots__ = ("buffer", "limit", "protocol", "walker")

    def __init__(self, protocol: WireProtocol, buffer: _Buffer, limit: int = MAX_MESSAGE) -> None:
        self.limit = limit
        self.protocol = protocol
        self.buffer = buffer
        self.walker: Walker | None = None

    def next(
        self,
        read: Callable[[bytes, int], Incoming],
        walker: Callable[[int, int], Walker] | None = None,
        direct: int = DIRECT_LIMIT,
    ) -> Incoming | None:
        """`walker` makes the walker over a message of more than `direct` bytes; by default, the protocol does."""
        buffer = self.buffer
        if buffer.at >= len(buffer.data):
            return None
        if self.walker is not None:
            end = self.walker.end(buffer.data)
            if end is None:
                return None
            walked, self.walker = self.walker, None
            # From here on the message is parsed from its own buffer; later bytes stay in the stream's buffer.
            if isinstance(walked, ArrivingList) and walked.values is not None:
                head = buffer.take(walked.body - buffer.at)
                return walked.incoming(head, buffer.take(end - walked.body))
            return read(buffer.take(end - buffer.at), 0)
        if isinstance(buffer.data, bytearray):
            buffer.data, buffer.at = bytes(buffer.data[buffer.at :]), 0
        try:
            incoming = read(buffer.data, buffer.at)
        except Incomplete:
            if len(buffer) > direct:
                if buffer.at:
                    buffer.data, buffer.at = buffer.data[buffer.at :], 0
                self.walker = (walker or self.protocol.walker)(0, self.limit)
                if self.walker.end(buffer.data) is not None:
                    raise RemoteProtocolError("a message could not be read to its end") from None
            return None
        buffer.at = incoming.end
        return incoming


class ServerConnection:
    """The server's end. `http_refusal` is the reply to HTTP peers, e.g. with the address of the HTTPS port."""

    def __init__(self, http_refusal: str = "This port serves Thrift, not HTTP.") -> None:
        self._http_refusal = http_refusal
        self._raw = _Buffer()
        self._kind: Kind | None = None
        self._messages: _Messages | None = None
        self._wrap: Callable[[bytes], bytes] | None = None
        self._unwrap: Callable[[bytes], bytes] | None = None
        self._secure_frame = SECURE_FRAME
        self._stream_head = b""
        self._broken = False

    @property
    def kind(self) -> Kind | None:
        return self._kind

    @property
    def protocol(self) -> WireProtocol:
        return self._messages.protocol if self._messages else BINARY

    @property
    def held(self) -> int:
        """Bytes that were received and not yet parsed: after NEED_DATA, the bytes of an incomplete message."""
        inner = self._messages.buffer if self._messages is not None else self._raw
        return len(self._raw) if inner is self._raw else len(self._raw) + len(inner)

    @property
    def wraps(self) -> bool:
        """Whether sent data is signed or encrypted here, which takes processor time."""
        return self._wrap is not None

    def receive_data(self, data: bytes) -> None:
        self._raw.add(data)

    def next_event(self) -> Event:
        """The next event from the peer. Call it until it returns NEED_DATA."""
        if self._broken:
            return NEED_DATA
        try:
            if self._kind is None:
                return self._begin()
            if self._kind is Kind.UNFRAMED:
                return self._unframed()
            if self._kind is Kind.FRAMED:
                return self._framed()
            return self._sasl()
        except BadMessage as error:
            self._broken = True
            failure = ApplicationError(ApplicationError.PROTOCOL_ERROR, str(error))
            return Request(error.name, error.seqid, False, None, failure, closes=True)
        except RemoteProtocolError as error:
            self._broken = True
            return Refused(str(error))

    def _begin(self) -> Event:
        sniffed = sniff(bytes(self._raw.data[self._raw.at : self._raw.at + 8]))
        if sniffed is None:
            return NEED_DATA
        kind, name = sniffed
        if kind in (Kind.UNFRAMED, Kind.FRAMED):
            self._kind = kind
            protocol = protocol_named(name)
            self._messages = _Messages(protocol, self._raw if kind is Kind.UNFRAMED else _Buffer())
            return self.next_event()
        if kind is Kind.SASL:
            self._kind = kind
            return self.next_event()
        self._broken = True
        if kind is Kind.HTTP:
            body = self._http_refusal.encode() + b"\n"
            head = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            return Refused("an HTTP request", head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        if kind is Kind.TLS:
            return Refused("a TLS handshake, but this port has no certificate")
        if kind is Kind.OLD_BINARY:
            return Refused("an old-style binary header; clients must write strict binary (8001….)")
        return Refused(f"bytes that are no Thrift message: {bytes(self._raw.data[:8]).hex(' ')}")

    def _unframed(self) -> Event:
        assert self._messages is not None
        protocol = self._messages.protocol
        incoming = self._messages.next(protocol.read_call, ArrivingCall if protocol is BINARY else None)
        return NEED_DATA if incoming is None else request_of(incoming)

    def _framed(self) -> Event:
        assert self._messages is not None
        raw = self._raw
        if len(raw) < 4:
            return NEED_DATA
        length = _length(raw.data, raw.at)[0]
        if length > MAX_MESSAGE:
            raise RemoteProtocolError(f"a frame of {length} bytes; at most {MAX_MESSAGE} are accepted")
        if len(raw) < 4 + length:
            return NEED_DATA
        raw.at += 4
        frame = raw.take(length)
        try:
            return request_of(self._messages.protocol.read_call(frame, 0))
        except Incomplete:
            raise RemoteProtocolError(f"the message in a frame of {length} bytes continues behind its end") from None

    # SASL: negotiation first, then a stream of messages inside length-prefixed (and perhaps wrapped) frames.

    def _sasl(self) -> Event:
        raw = self._raw
        if self._unwrap is None:
            if len(raw) < 5:
                return NEED_DATA
            status, length = raw.data[raw.at], _length(raw.data, raw.at + 1)[0]
            if length > MAX_SASL:
                raise RemoteProtocolError(f"a SASL message of {length} bytes; at most {MAX_SASL} are accepted")
            if len(raw) < 5 + length:
                return NEED_DATA
            raw.at += 5
            return SaslMessage(status, raw.take(length))
        while True:
            if self._messages is not None:
                event = self._unframed()
                if event is not NEED_DATA:
                    return event
            if len(raw) < 4:
                return NEED_DATA
            length = _length(raw.data, raw.at)[0]
            if length > MAX_MESSAGE:
                raise RemoteProtocolError(f"a SASL frame of {length} bytes; at most {MAX_MESSAGE} are accepted")
            if len(raw) < 4 + length:
                return NEED_DATA
            raw.at += 4
            plain = self._unwrap(raw.take(length))
            if not plain:
                continue
            if self._messages is None:
                sniffed = sniff(plain[:8])
                if sniffed is None or sniffed[0] is not Kind.UNFRAMED:
                    raise RemoteProtocolError("bytes inside SASL that are no Thrift message")
                self._messages = _Messages(protocol_named(sniffed[1]), _Buffer())
            self._messages.buffer.add(plain)

    def secure(
        self, wrap: Callable[[bytes], bytes], unwrap: Callable[[bytes], bytes], frame_size: int = SECURE_FRAME
    ) -> None:
        """Completes the negotiation: frames are wrapped and unwrapped by these functions from now on.

        A frame holds at most `frame_size` bytes.
        """
        self._wrap, self._unwrap, self._secure_frame = wrap, unwrap, frame_size

    @staticmethod
    def sasl_message(status: int, payload: bytes) -> bytes:
        return bytes((status,)) + _pack_length(len(payload)) + payload

    # Sending

    def send(self, request: Request, reply: Reply) -> bytes:
        """The reply, ready for the socket. Streams are sent by `send_stream`, unless the protocol must decode them."""
        self._stream_head = b""
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        method = request.call.method if request.call is not None else None
        return self._frame(self.protocol.write(reply.kind, request.name, request.seqid, body, method))

    def send_error(self, request: Request, error: ApplicationError) -> bytes:
        return self.send(request, Reply.raised(METHODS["getName"], error))

    def can_stream(self) -> bool:
        """Whether long bodies are sent without transcoding: only in binary."""
        return self.protocol is BINARY

    def can_relay(self) -> bool:
        """Whether a body whose length is not known can be sent: a frame begins with its length."""
        return self.protocol is BINARY and self._kind is not Kind.FRAMED

    def send_stream(self, request: Request, stream: Stream) -> bytes:
        """The bytes to send before the stream's chunks; each chunk is then encoded by `send_chunk`."""
        head = BINARY.write(REPLY, request.name, request.seqid, b"", None)
        if self._wrap is not None:
            # Wrapped messages are numbered: the head is sent with the first chunk, so that an error can replace both.
            self._stream_head = head
            return b""
        if self._kind is not Kind.FRAMED:
            return head
        length = len(head) + stream.length
        if length > MAX_FRAME:
            raise LocalProtocolError(
                f"a reply of {length} bytes does not fit in a frame; request fewer objects or connect unframed"
            )
        return _pack_length(length) + head

    def send_chunk(self, chunk: bytes) -> bytes:
        if self._wrap is None:
            return chunk
        head, self._stream_head = self._stream_head, b""
        return self._frame(head + chunk if head else chunk)

    def _frame(self, message: bytes) -> bytes:
        if self._wrap is not None:
            parts: list[bytes] = []
            for start in range(0, len(message), self._secure_frame):
                wrapped = self._wrap(message[start : start + self._secure_frame])
                parts += (_pack_length(len(wrapped)), wrapped)
            return b"".join(parts)
        if self._kind is Kind.FRAMED:
            return _pack_length(len(message)) + message
        return message


class ClientConnection:
    """The client's end: one call at a time. A reply of more than `max_reply` bytes is refused.

    With `decode`, replies in binary are decoded as they are read, for callers that need the decoded fields.
    """

    def __init__(
        self, protocol: str = "binary", framed: bool = False, max_reply: int = MAX_REPLY, decode: bool = False
    ) -> None:
        self._protocol = protocol_named(protocol)
        self._framed = framed
        self._raw = _Buffer()
        self._max_reply = max_reply
        self._messages = _Messages(self._protocol, self._raw, max_reply)
        self._method: Method | None = None
        self._seqid = 0
        self._relays = False
        self._passing: PassingResult | None = None
        """The reply that is being relayed."""
        self._decodes = decode and self._protocol is BINARY
        self._read = BINARY.read_result if self._decodes else self._protocol.read_reply

    def send(self, method: Method, body: bytes, relays: bool = False) -> bytes:
        """A call around arguments in Thrift binary. With `relays` its reply is read by `next_part`."""
        self._seqid = self._seqid % 0x7FFFFFFF + 1
        self._method = method
        self._relays = relays and not self._framed and self._protocol is BINARY
        kind = ONEWAY if method.oneway else CALL
        message = self._protocol.write(kind, method.name_bytes, self._seqid, body, method)
        return _pack_length(len(message)) + message if self._framed else message

    def receive_data(self, data: bytes) -> None:
        self._raw.add(data)

    def next_part(self) -> Reply | Piece | NeedData:
        """As `next_event`; if `relays`, a long result comes as pieces while it arrives, in unframed binary only."""
        if self._method is not None and self._relays and (self._passing is not None or len(self._raw) >= RELAYED):
            return self._piece(self._method)
        return self.next_event()

    def next_event(self) -> Reply | NeedData:
        """The reply to the call that was sent, or NEED_DATA. Raises RemoteProtocolError on anything else."""
        method = self._method
        if method is None:
            raise LocalProtocolError("no call was sent")

        def read(data: bytes, at: int) -> Incoming:
            return self._read(method, data, at)

        if self._framed:
            raw = self._raw
            if len(raw) < 4:
                return NEED_DATA
            length = _length(raw.data, raw.at)[0]
            if length > self._max_reply:
                raise RemoteProtocolError(f"the server sent a frame of {length} bytes")
            if len(raw) < 4 + length:
                return NEED_DATA
            raw.at += 4
            try:
                incoming: Incoming | None = read(raw.take(length), 0)
            except Incomplete:
                raise RemoteProtocolError("the server's message continues behind the end of its frame") from None
        else:
            arriving = partial(ArrivingResult, method) if self._decodes else None
            incoming = self._messages.next(read, arriving, DIRECT_LIMIT if arriving is None else ARRIVING_LIMIT)
        if incoming is None:
            return NEED_DATA
        self._method = None
        self._check(method, incoming.kind, incoming.name, incoming.seqid)
        assert incoming.body is not None
        return Reply(incoming.body, incoming.kind, fields=incoming.value)

    def _check(self, method: Method, kind: int, name: bytes, seqid: int) -> None:
        if kind not in (REPLY, EXCEPTION):
            raise RemoteProtocolError(f"the server replied with message type {kind}")
        if name != method.name_bytes or seqid != self._seqid:
            raise RemoteProtocolError(
                f"the server replied {name!r} number {seqid} to {method.name} number {self._seqid}"
            )

    def _piece(self, method: Method) -> Reply | Piece | NeedData:
        """The next piece of a long reply; a reply that is an error is not passed on in pieces."""
        raw, passing = self._raw, self._passing
        if passing is None:
            kind, name, seqid, start = read_header(raw.data, raw.at)
            self._check(method, kind, name, seqid)
            if kind != REPLY or bytes(raw.data[start + 1 : start + 3]) != _FIELD_0:
                self._relays = False
                return self.next_event()
            raw.at, self._messages.walker = start, None
            passing = self._passing = PassingResult(method, most=self._max_reply)
        data = passing.feed(raw.take(len(raw)))
        if passing.ended:
            self._method = self._passing = None
            raw.add(passing.rest)
        return Piece(data, passing.ended) if data else NEED_DATA
